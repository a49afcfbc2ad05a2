/* program.c - see program.h. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/tensor.h"

bool golden_program_init(golden_program *p, golden_case *c, bool training)
{
    memset(p, 0, sizeof *p);
    p->c = c;
    p->made = golden_ok(c->report, lks__trace_init(&p->trace, training, 1), "trace");
    return p->made;
}

void golden_program_free(golden_program *p)
{
    if (p->made) lks__trace_free(&p->trace);
    p->made = false;
}

static lks_dtype graph_dtype(lks_dtype dtype)
{
    if (dtype == LKS_INT64) return LKS_INT32;
    if (dtype == LKS_FLOAT64) return LKS_FLOAT32;
    return dtype;
}

lks_node golden_feed(golden_program *p, lks_tensor *value, bool batched)
{
    lks_type type = { .batched = batched };
    lks_tensor *fed;

    if (value == NULL || p->n_feeds == GOLDEN_IO) return lks__no_node;
    type.dtype = graph_dtype(lks_tensor_dtype(value));
    fed = golden_keep(p->c, type.dtype == lks_tensor_dtype(value) ? lks_tensor_retain(value)
                                                                  : lks_tensor_cast(value, type.dtype));
    if (fed == NULL) return lks__no_node;
    type.shape = lks_tensor_shape(value);
    if (batched) {
        if (type.shape.dim[0] > p->batch) p->batch = type.shape.dim[0];
        memmove(type.shape.dim, type.shape.dim + 1, sizeof type.shape.dim - sizeof type.shape.dim[0]);
        type.shape.rank--;
    }
    p->feeds[p->n_feeds] = fed;
    p->batched[p->n_feeds++] = batched;
    return lks__graph_input(p->trace.graph, type);
}

int golden_fetch(golden_program *p, lks_node node)
{
    const lks_type *type;

    if (!lks__node_ok(node) || p->n_fetches == GOLDEN_IO) return -1;
    type = lks__node_type(node);
    p->shapes[p->n_fetches].rank = 0;
    p->fetches[p->n_fetches] = node;
    p->shapes[p->n_fetches] = type->shape;
    return p->n_fetches++;
}

/* The whole shape of a fetch, now that the batch is known; makes its tensor. */
static bool make_result(golden_program *p, int i)
{
    const lks_type *type = lks__node_type(p->fetches[i]);
    lks_shape shape = type->shape;

    if (type->batched) {
        memmove(shape.dim + 1, shape.dim, sizeof shape.dim - sizeof shape.dim[0]);
        shape.dim[0] = p->batch;
        shape.rank++;
    }
    p->results[i] = golden_keep(p->c, lks_tensor_create(type->dtype, shape));
    return p->results[i] != NULL;
}

static lks_status execute(golden_program *p, lks_executable *exe, int times)
{
    void *fetches[GOLDEN_IO];
    lks_feed feeds[GOLDEN_IO];
    lks_run_args args = { .n = p->batch, .feeds = feeds, .fetches = fetches, .seed = 1, .step = 1 };

    for (int i = 0; i < p->n_feeds; i++) feeds[i] = (lks_feed){ .data = lks_tensor_cdata(p->feeds[i]) };
    for (int i = 0; i < p->n_fetches; i++) fetches[i] = lks_tensor_data(p->results[i]);
    for (int i = 0; i < times; i++) LKS_TRY(lks__executable_run(exe, &args));
    for (int i = 0; i < p->n_fetches; i++) {
        const lks_type *type = lks__node_type(p->fetches[i]);
        if (!type->batched) memcpy(fetches[i], lks__executable_value(exe, (size_t)i), lks__type_bytes(type));
    }
    return LKS_OK;
}

bool golden_program_run(golden_program *p, int warmups)
{
    lks_compile_spec spec = { .threads = 1, .isa = lks__isa_choose(), .fetches = p->fetches };
    lks_executable *exe = NULL;
    golden_report *r = p->c->report;
    bool ok;

    if (p->batch == 0) p->batch = 1;
    for (int i = 0; i < p->n_feeds; i++) {
        lks_shape shape = lks_tensor_shape(p->feeds[i]);
        if (!p->batched[i] || shape.dim[0] == p->batch) continue;
        golden_fault(r, "input %d has %lld rows, others %lld", i, (long long)shape.dim[0], (long long)p->batch);
    }
    if (!golden_ok(r, lks__graph_status(p->trace.graph), "graph") || !golden_running(r)) return false;
    for (int i = 0; i < p->n_fetches; i++) {
        if (!make_result(p, i)) return false;
    }
    spec.max_batch = p->batch;
    spec.n_fetches = (size_t)p->n_fetches;
    ok = golden_ok(r, lks__executable_create(&p->trace, &spec, &exe), "compile") &&
         golden_ok(r, execute(p, exe, warmups + 1), "run");
    lks__executable_release(exe);
    return ok;
}

lks_tensor *golden_result(golden_program *p, int i)
{
    return i >= 0 && i < p->n_fetches ? p->results[i] : NULL;
}

bool golden_set_variable(golden_case *c, lks_variable *v, const lks_tensor *value, const char *what)
{
    lks_shape have, given;
    char a[LKS_SHAPE_TEXT], b[LKS_SHAPE_TEXT];

    if (value == NULL) return false;
    have = lks_tensor_shape(v->value);
    given = lks_tensor_shape(value);
    if (!lks_shape_equal(&have, &given)) {
        golden_fault(c->report, "%s: shape %s, expected %s", what, lks__shape_text(&have, a),
                     lks__shape_text(&given, b));
        return false;
    }
    lks__convert(lks_tensor_dtype(value), lks_tensor_cdata(value), lks_tensor_dtype(v->value),
                 lks_tensor_data(v->value), lks_tensor_size(value));
    return true;
}
