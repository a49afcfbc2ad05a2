/* math_loss.c - one loss: its value, and the gradient for the predictions of the value, or of sum(value x upstream). */
#include "losses/loss.h"
#include "math_kinds.h"
#include "program.h"

typedef struct loss_run {
    golden_program p;
    lks_loss *loss;
    lks_tensor *y_true, *y_pred, *weight, *mask, *upstream;
    lks_node pred, value;
} loss_run;

static lks_tensor *optional(golden_case *c, const char *key)
{
    const char *array = golden_text(c->json, key);

    return array != NULL ? golden_array(c, array) : NULL;
}

static bool read_arrays(golden_case *c, loss_run *run)
{
    json_t *inputs = json_object_get(c->json, "inputs");

    run->y_true = golden_array(c, json_string_value(json_array_get(inputs, 0)));
    run->y_pred = golden_array(c, json_string_value(json_array_get(inputs, 1)));
    run->weight = optional(c, "sample_weight");
    run->mask = optional(c, "mask");
    run->upstream = optional(c, "upstream");
    return golden_running(c->report);
}

static bool has_rows(const lks_tensor *t, int64_t rows)
{
    lks_shape shape;

    if (t == NULL) return true;
    shape = lks_tensor_shape(t);
    return shape.rank > 0 && shape.dim[0] == rows;
}

/* Axis 0 is fed as the batch where all arrays have the same. Otherwise the arrays are whole values; also where weights have
 * fewer axes than the losses and NumPy's rule lays their first axis along another one than the batch. */
static bool is_batched(const loss_run *run)
{
    lks_shape shape = lks_tensor_shape(run->y_pred);

    if (run->weight != NULL && lks_tensor_shape(run->weight).rank < shape.rank - 1) return false;
    return shape.rank > 0 && has_rows(run->y_true, shape.dim[0]) && has_rows(run->weight, shape.dim[0]) &&
           has_rows(run->mask, shape.dim[0]);
}

/* The mask that Keras carries with y_pred joins the one that the loss itself makes. */
static lks_node join_masks(loss_run *run, lks_node own, bool batched)
{
    lks_node given;

    if (run->mask == NULL) return own;
    given = golden_feed(&run->p, run->mask, batched);
    if (lks__node_type(given)->dtype != LKS_BOOL) given = lks_ops_cast(given, LKS_BOOL);
    return lks__node_ok(own) ? lks_ops_logical_and(own, given) : given;
}

static void build(golden_case *c, loss_run *run)
{
    bool batched = is_batched(run);
    lks_node truth = golden_feed(&run->p, run->y_true, batched), weight = lks__no_node, mask = lks__no_node, values;

    run->pred = golden_feed(&run->p, run->y_pred, batched);
    if (run->weight != NULL) weight = golden_feed(&run->p, run->weight, batched);
    values = lks__loss_values(run->loss, truth, run->pred, &mask);
    run->value = lks__loss_reduce(run->loss, values, weight, join_masks(run, mask, batched));
    golden_ok(c->report, lks__graph_status(run->p.trace.graph), "loss");
}

static lks_node gradient(golden_case *c, loss_run *run)
{
    lks_node total = run->value, d = lks__no_node;

    if (run->upstream != NULL) {
        lks_node u = golden_feed(&run->p, run->upstream, lks__node_type(run->value)->batched);
        total = lks_ops_sum(lks_ops_multiply(run->value, u), 0, NULL, 0);
    }
    golden_ok(c->report, lks__graph_gradients(total, 1, &run->pred, &d), "gradient");
    return d;
}

static void check(golden_case *c, loss_run *run, int value, int d)
{
    const char *name = json_string_value(json_array_get(json_object_get(c->json, "grad_inputs"), 1));

    golden_expect(c, json_string_value(json_array_get(json_object_get(c->json, "outputs"), 0)),
                  golden_result(&run->p, value));
    if (name == NULL) return;
    if (d >= 0) golden_expect(c, name, golden_result(&run->p, d));
    else golden_expect(c, name, golden_keep(c, lks_tensor_create(LKS_FLOAT32, lks_tensor_shape(run->y_pred))));
}

/* Keras' own config forgets some arguments. */
static json_t *whole_config(const golden_case *c)
{
    json_t *config = json_deep_copy(json_object_get(c->json, "config"));

    json_object_update_missing(json_object_get(config, "config"), json_object_get(c->json, "arguments"));
    return config;
}

void golden_math_loss(golden_case *c)
{
    loss_run run = { .loss = NULL };
    json_t *config = whole_config(c);

    if (golden_ok(c->report, lks__loss_from_config(config, &run.loss), "from config") && read_arrays(c, &run) &&
        golden_program_init(&run.p, c, true)) {
        int value, d = -1;
        build(c, &run);
        value = golden_fetch(&run.p, run.value);
        if (golden_running(c->report)) d = golden_fetch(&run.p, gradient(c, &run));
        if (golden_running(c->report) && golden_program_run(&run.p, 0)) check(c, &run, value, d);
    }
    golden_program_free(&run.p);
    lks_loss_release(run.loss);
    json_decref(config);
}
