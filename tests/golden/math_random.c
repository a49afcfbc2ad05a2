/* math_random.c - what is random: initializers and the dropout family. Our numbers are our own, so the properties are
 * compared, with a margin of five standard errors; the seeds are fixed, so a case passes always or never. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "initializers/initializer.h"
#include "layers/layer.h"
#include "math_kinds.h"
#include "program.h"

typedef struct sample {
    double n, mean, std, low, high;
} sample;

static sample measure(const float *x, int64_t n)
{
    sample s = { (double)n, 0, 0, INFINITY, -INFINITY };

    for (int64_t i = 0; i < n; i++) {
        s.mean += (double)x[i];
        s.low = fmin(s.low, (double)x[i]);
        s.high = fmax(s.high, (double)x[i]);
    }
    s.mean /= s.n;
    for (int64_t i = 0; i < n; i++) s.std += ((double)x[i] - s.mean) * ((double)x[i] - s.mean);
    s.std = sqrt(s.std / s.n);
    return s;
}

static lks_shape read_shape(const json_t *list)
{
    lks_shape shape = { 0 };
    json_t *item;
    size_t i;

    json_array_foreach((json_t *)list, i, item)
    {
        if (i < LKS_MAX_RANK) shape.dim[shape.rank++] = json_integer_value(item);
    }
    return shape;
}

/* ---- initializers ---- */

static void check_theory(golden_case *c, const char *spec, lks_shape shape)
{
    json_t *theory = json_object_get(c->json, "theory"), *low = json_object_get(theory, "low");
    int64_t size = lks_shape_size(&shape), draws = 20000 / size + 1;
    double mean = golden_double(json_object_get(theory, "mean")), std = golden_double(json_object_get(theory, "std"));
    float *values = malloc((size_t)(draws * size) * sizeof *values);
    bool ok = values != NULL;
    sample s;

    for (int64_t k = 0; ok && k < draws; k++) {
        ok = golden_ok(c->report,
                       lks__initializer_draw(spec, shape, 1000 + (uint64_t)k, "dense/kernel", values + k * size),
                       "draw");
    }
    if (ok) {
        s = measure(values, draws * size);
        golden_number(c->report, "mean", s.mean, mean, 0, 5 * std / sqrt(s.n));
        golden_number(c->report, "std", s.std, std, 5 / sqrt(2 * s.n), 0);
        if (json_is_number(low)) {
            double high = golden_double(json_object_get(theory, "high"));
            double margin = 1e-6 * fmax(fabs(high), fabs(json_number_value(low)));
            golden_number(c->report, "low", fmin(s.low, json_number_value(low)), json_number_value(low), 0, margin);
            golden_number(c->report, "high", fmax(s.high, high), high, 0, margin);
        }
    }
    free(values);
}

/* Q^T Q or Q Q^T is gain^2 I. */
static void check_orthogonal(golden_case *c, const float *q)
{
    json_t *property = json_object_get(c->json, "property");
    int64_t rows = golden_int(property, "rows", 0), cols = golden_int(property, "cols", 0);
    bool wide = strcmp(golden_text(property, "gram"), "QQt") == 0;
    int64_t n = wide ? rows : cols, m = wide ? cols : rows;
    double gain = golden_double(json_object_get(property, "gain")), atol = golden_atol(c, "");

    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < m; k++) {
                sum += wide ? (double)q[i * cols + k] * (double)q[j * cols + k]
                            : (double)q[k * cols + i] * (double)q[k * cols + j];
            }
            golden_number(c->report, "gram", sum, i == j ? gain * gain : 0, 0, atol);
        }
    }
}

static void check_values(golden_case *c, const char *spec, lks_shape shape)
{
    lks_tensor *t = golden_keep(c, lks_tensor_create(LKS_FLOAT32, shape));
    const json_t *outputs = json_object_get(c->json, "outputs");

    if (t == NULL) return;
    if (!golden_ok(c->report, lks__initializer_draw(spec, shape, 1, "dense/kernel", lks_tensor_data(t)), "draw"))
        return;
    if (json_object_get(c->json, "property") != NULL) check_orthogonal(c, lks_tensor_cdata(t));
    else golden_expect(c, json_string_value(json_array_get(outputs, 0)), t);
}

/* The config with the arguments that Keras' own config forgets. */
static json_t *whole_config(const golden_case *c)
{
    json_t *config = json_deep_copy(json_object_get(c->json, "config"));

    json_object_update_missing(json_object_get(config, "config"), json_object_get(c->json, "arguments"));
    return config;
}

void golden_math_initializer(golden_case *c)
{
    json_t *config = whole_config(c);
    lks_shape shape = read_shape(json_object_get(json_object_get(c->json, "options"), "shape"));
    char *spec = NULL;

    if (golden_ok(c->report, lks__spec_from_json(config, &spec), "config") &&
        golden_ok(c->report, lks__initializer_check(spec), "initializer")) {
        if (json_object_get(c->json, "theory") != NULL) check_theory(c, spec, shape);
        else check_values(c, spec, shape);
    }
    lks_free(spec);
    json_decref(config);
}

/* ---- dropout ---- */

static bool is_one_of(double x, const json_t *values)
{
    json_t *value;
    size_t i;

    json_array_foreach((json_t *)values, i, value)
    {
        if (fabs(x - json_number_value(value)) <= 1e-6 * fabs(json_number_value(value))) return true;
    }
    return false;
}

/* Values that share a draw along the given axes (1 and 2 of an image) are equal. */
static void check_constant(golden_case *c, const float *y, lks_shape shape, const json_t *axes)
{
    int64_t stride[LKS_MAX_RANK], n = lks_shape_size(&shape);
    json_t *axis;
    size_t k;

    for (int64_t i = shape.rank, step = 1; i-- > 0; step *= shape.dim[i]) stride[i] = step;
    json_array_foreach((json_t *)axes, k, axis)
    {
        int64_t a = json_integer_value(axis);
        for (int64_t i = 0; i < n; i++) {
            int64_t at = i / stride[a] % shape.dim[a];
            if (y[i] == y[i - at * stride[a]]) continue;
            golden_fault(c->report, "values differ along axis %lld", (long long)a);
            return;
        }
    }
}

static void check_dropout(golden_case *c, const lks_tensor *out)
{
    json_t *theory = json_object_get(c->json, "theory"), *values = json_object_get(theory, "values");
    const float *y = lks_tensor_cdata(out);
    double draws = golden_double(json_object_get(c->json, "independent_draws"));
    sample s = measure(y, lks_tensor_size(out));
    int64_t kept = 0;

    golden_number(c->report, "mean", s.mean, golden_double(json_object_get(theory, "mean")), 0,
                  5 * s.std / sqrt(draws));
    for (int64_t i = 0; i < lks_tensor_size(out); i++) {
        kept += y[i] != 0.0f;
        if (json_is_array(values) && !is_one_of((double)y[i], values)) {
            golden_fault(c->report, "value %.9g is none of those possible", (double)y[i]);
            break;
        }
    }
    if (json_is_number(json_object_get(theory, "kept_fraction"))) {
        double p = golden_double(json_object_get(theory, "kept_fraction"));
        golden_number(c->report, "kept", (double)kept / s.n, p, 0, 5 * sqrt(p * (1 - p) / draws));
    }
    check_constant(c, y, lks_tensor_shape(out), json_object_get(theory, "constant_over_axes"));
}

static void run_dropout(golden_case *c, lks_layer *layer)
{
    lks_shape shape = read_shape(json_object_get(json_object_get(c->json, "options"), "shape"));
    lks_tensor *ones = golden_keep(c, lks_tensor_create(LKS_FLOAT32, shape));
    golden_program p;
    lks_node in, out;
    int y;

    if (ones == NULL || !golden_program_init(&p, c, true)) return;
    for (int64_t i = 0; i < lks_tensor_size(ones); i++) ((float *)lks_tensor_data(ones))[i] = 1.0f;
    in = golden_feed(&p, ones, true);
    lks__layer_apply(layer, &p.trace, 1, &in, &out);
    y = golden_fetch(&p, out);
    if (golden_program_run(&p, 0)) check_dropout(c, golden_result(&p, y));
    golden_program_free(&p);
}

void golden_math_statistics(golden_case *c)
{
    const json_t *config = json_object_get(c->json, "config");
    const char *name = golden_text(config, "class_name");
    lks_layer *layer = NULL;

    if (name == NULL || lks__layer_class_find(name) == NULL) {
        golden_not_yet(c->report, "layer %s", name != NULL ? name : "?");
        return;
    }
    if (golden_ok(c->report, lks__layer_from_config(config, &layer), "from config")) run_dropout(c, layer);
    lks_layer_release(layer);
}
