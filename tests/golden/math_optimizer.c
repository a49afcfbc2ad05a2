/* math_optimizer.c - one optimizer: variables after each step of given gradients, its own variables at the end. */
#include <stdio.h>
#include <string.h>

#include "math_kinds.h"
#include "optimizers/optimizer.h"
#include "program.h"

enum { MAX_VARIABLES = 16 };

typedef struct optimizer_run {
    golden_case *c;
    lks_optimizer *optimizer;
    size_t n;
    lks_variable *variables[MAX_VARIABLES];
    char *constraints[MAX_VARIABLES];
} optimizer_run;

/* What Keras is told by a call and not by its config. */
static json_t *whole_config(const golden_case *c)
{
    json_t *config = json_deep_copy(json_object_get(c->json, "config")), *words, *word;
    char text[256] = "";
    size_t i;

    words = json_object_get(json_object_get(json_object_get(c->json, "options"), "exclude_from_weight_decay"),
                            "var_names");
    if (words == NULL) words = json_object_get(json_object_get(c->json, "options"), "exclude_from_weight_decay");
    json_array_foreach(words, i, word)
    {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s", i > 0 ? "," : "", json_string_value(word));
    }
    if (i > 0 && *text != '\0') {
        json_object_set_new(json_object_get(config, "config"), "exclude_from_weight_decay", json_string(text));
    }
    return config;
}

static bool make_variables(optimizer_run *run)
{
    json_t *list = json_object_get(run->c->json, "variables"), *item;
    json_t *constraints = json_object_get(json_object_get(run->c->json, "options"), "constraints");
    size_t i;

    json_array_foreach(list, i, item)
    {
        lks_tensor *start = golden_array(run->c, golden_text(item, "array"));
        const json_t *constraint = json_array_get(constraints, i);
        if (start == NULL || i == MAX_VARIABLES) return false;
        if (!golden_ok(run->c->report,
                       lks__variable_create(golden_text(item, "path"), LKS_FLOAT32, lks_tensor_shape(start), true,
                                            &run->variables[i]),
                       "variable"))
            return false;
        run->n = i + 1;
        if (!golden_set_variable(run->c, run->variables[i], start, "variable")) return false;
        if (constraint == NULL || json_is_null(constraint)) continue;
        if (!golden_ok(run->c->report, lks__spec_from_json(constraint, &run->constraints[i]), "constraint"))
            return false;
    }
    return golden_ok(run->c->report, lks__optimizer_build(run->optimizer, run->n, run->variables), "build");
}

static bool apply(optimizer_run *run, const json_t *gradients, int64_t step)
{
    lks_tensor *iterations = golden_keep(run->c, lks_tensor_create(LKS_FLOAT32, lks_shape_of(0, NULL)));
    lks_node nodes[MAX_VARIABLES];
    golden_program p;
    bool ok = false;

    if (iterations == NULL || !golden_program_init(&p, run->c, true)) return false;
    *(float *)lks_tensor_data(iterations) = (float)step;
    p.trace.iterations = golden_feed(&p, iterations, false);
    for (size_t i = 0; i < run->n; i++) {
        const char *array = json_string_value(json_array_get(gradients, i));
        nodes[i] = array != NULL ? golden_feed(&p, golden_array(run->c, array), false) : lks__no_node;
    }
    lks__optimizer_apply_constrained(run->optimizer, &p.trace, run->n, run->variables, nodes,
                                     (const char *const *)run->constraints);
    ok = golden_program_run(&p, 0);
    golden_program_free(&p);
    lks__optimizer_set_iterations(run->optimizer, step + 1);
    return ok;
}

static void expect_all(optimizer_run *run, const json_t *arrays)
{
    for (size_t i = 0; i < run->n; i++) {
        const char *array = json_string_value(json_array_get(arrays, i));
        if (array != NULL) golden_expect(run->c, array, run->variables[i]->value);
    }
}

static void expect_own(optimizer_run *run)
{
    json_t *list = json_object_get(run->c->json, "optimizer_variables"), *item;
    size_t n, i;
    lks_variable **own = lks__optimizer_variables(run->optimizer, &n);

    if (n != json_array_size(list)) {
        golden_fault(run->c->report, "%zu optimizer variables, expected %zu", n, json_array_size(list));
        return;
    }
    json_array_foreach(list, i, item) golden_expect(run->c, golden_text(item, "array"), own[i]->value);
}

static void run_steps(optimizer_run *run)
{
    json_t *gradients = json_object_get(run->c->json, "gradients"), *step,
           *after = json_object_get(run->c->json, "after");
    json_t *finalized = json_object_get(run->c->json, "finalized");
    size_t s;

    json_array_foreach(gradients, s, step)
    {
        if (!apply(run, step, (int64_t)s)) return;
        expect_all(run, json_array_get(after, s));
    }
    expect_own(run);
    if (!json_is_array(finalized)) return;
    lks__optimizer_finalize(run->optimizer);
    expect_all(run, finalized);
}

void golden_math_optimizer(golden_case *c)
{
    optimizer_run run = { .c = c };
    json_t *config = whole_config(c);

    if (golden_ok(c->report, lks__optimizer_from_config(config, &run.optimizer), "from config") &&
        make_variables(&run)) {
        run_steps(&run);
    }
    lks_optimizer_release(run.optimizer);
    for (size_t i = 0; i < run.n; i++) {
        lks__variable_release(run.variables[i]);
        lks_free(run.constraints[i]);
    }
    json_decref(config);
}
