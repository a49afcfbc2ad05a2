/* math_values.c - functions by name: activations (on the batch), regularizers and constraints (on a weight). */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "layers/weights.h"
#include "math_kinds.h"
#include "program.h"

/* {"function": "elu", "alpha": 2.0} as "elu:alpha=2.0". */
static char *function_spec(const json_t *config)
{
    lks_text text = { 0 };
    const char *key, *before = ":";
    char *spec = NULL;
    json_t *value;

    lks__text_puts(&text, golden_text(config, "function"));
    json_object_foreach((json_t *)config, key, value)
    {
        if (strcmp(key, "function") == 0 || json_is_null(value)) continue;
        lks__text_printf(&text, "%s%s=", before, key);
        lks__json_text(value, &text);
        before = ",";
    }
    return lks__text_take(&text, &spec) == LKS_OK ? spec : NULL;
}

static lks_node apply(golden_case *c, golden_program *p, lks_tensor *x, lks_node *in)
{
    const json_t *config = json_object_get(c->json, "config");
    const char *module = golden_text(config, "module");
    lks_node y = lks__no_node;
    char *spec = NULL;

    if (module == NULL) {
        *in = golden_feed(p, x, true);
        spec = function_spec(config);
        if (golden_ok(c->report, lks__activation_check(spec), "function")) y = lks__activation_apply(spec, *in);
    } else {
        *in = golden_feed(p, x, false);
        if (!golden_ok(c->report, lks__spec_from_json(config, &spec), "config")) return y;
        if (strcmp(module, "keras.regularizers") == 0) {
            if (golden_ok(c->report, lks__regularizer_check(spec), "regularizer"))
                y = lks__regularizer_apply(spec, *in);
        } else {
            if (golden_ok(c->report, lks__constraint_check(spec), "constraint")) y = lks__constraint_apply(spec, *in);
        }
    }
    lks_free(spec);
    return y;
}

void golden_math_values(golden_case *c)
{
    const char *grad = json_string_value(json_array_get(json_object_get(c->json, "grad_inputs"), 0));
    lks_tensor *x = golden_array(c, json_string_value(json_array_get(json_object_get(c->json, "inputs"), 0)));
    const json_t *config = json_object_get(c->json, "config");
    golden_program p;
    lks_node in, out, d = lks__no_node;
    int y, dx;

    if (golden_text(config, "module") == NULL && golden_text(config, "function") == NULL) {
        golden_not_yet(c->report, "function %s", c->name);
        return;
    }
    if (x == NULL || !golden_program_init(&p, c, true)) return;
    out = apply(c, &p, x, &in);
    if (golden_running(c->report) && grad != NULL) {
        golden_ok(c->report, lks__graph_gradients(lks_ops_sum(out, 0, NULL, 0), 1, &in, &d), "gradient");
    }
    y = golden_fetch(&p, out);
    dx = golden_fetch(&p, d);
    if (golden_running(c->report) && golden_program_run(&p, 0)) {
        golden_expect(c, json_string_value(json_array_get(json_object_get(c->json, "outputs"), 0)),
                      golden_result(&p, y));
        if (grad != NULL && dx >= 0) golden_expect(c, grad, golden_result(&p, dx));
        else if (grad != NULL)
            golden_expect(c, grad, golden_keep(c, lks_tensor_create(LKS_FLOAT32, lks_tensor_shape(x))));
    }
    golden_program_free(&p);
}
