/* test_ops_gradient.c - the gradient of every op, present and future, against differences, for all of its cases; and the
 * conventions at kinks and ties.
 *
 * The gradient comes from the op's rule through lks__graph_gradients. Values are spread evenly over the case's range, no two
 * of them equal, and the step is smaller than half their distance: no difference crosses a kink.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/build.h"
#include "support/evaluate.h"

enum { EXAMPLES = 3, MOST_INPUTS = 4 };

typedef struct check {
    const lks_op *op;
    const lks_op_case *k;
    lks_graph *graph;
    lks_node in[MOST_INPUTS], y, d[MOST_INPUTS];
    void *data[MOST_INPUTS];
    int64_t size[MOST_INPUTS], n_y;
    double *weight; /* of each output element, the same for each example */
} check;

static int64_t elements(const lks_type *t)
{
    return lks__type_size(t) * (t->batched ? EXAMPLES : 1);
}

static void set_element(lks_dtype dtype, void *data, int64_t i, double value)
{
    switch (dtype) {
    case LKS_FLOAT32: ((float *)data)[i] = (float)value; break;
    case LKS_INT32: ((int32_t *)data)[i] = (int32_t)floor(value); break;
    case LKS_INT64: ((int64_t *)data)[i] = (int64_t)floor(value); break;
    case LKS_BOOL: ((unsigned char *)data)[i] = (i * 7 + i / 5) % 3 == 1; break;
    default: ((unsigned char *)data)[i] = (unsigned char)value; break;
    }
}

/* All inputs' elements share one grid of values, dealt in a scattered order. */
static void fill_inputs(check *c)
{
    double low = c->k->low, high = c->k->high;
    int64_t total = 0, dealt = 0, stride;

    if (low == 0 && high == 0) low = -1, high = 1;
    for (int i = 0; i < c->k->n_in; i++) total += c->size[i] = elements(&c->k->in[i]);
    for (stride = total * 5 / 8 + 1; stride > 1; stride--) { /* coprime to the total: a permutation */
        int64_t a = stride, b = total;
        while (b != 0) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) break;
    }
    for (int i = 0; i < c->k->n_in; i++) {
        c->data[i] = malloc((size_t)c->size[i] * lks_dtype_size(c->k->in[i].dtype) + 1);
        for (int64_t j = 0; j < c->size[i]; j++, dealt++) {
            double place = ((double)(dealt * stride % total) + 0.25) / (double)total;
            set_element(c->k->in[i].dtype, c->data[i], j, low + (high - low) * place);
        }
    }
}

/* loss = sum of weight * y over everything. */
static void build(check *c, const lks_op *op, const lks_op_case *k)
{
    lks_type w_type;
    lks_node loss;
    float *w;

    memset(c, 0, sizeof *c);
    c->op = op;
    c->k = k;
    assert_int_equal(lks__graph_create(&c->graph), LKS_OK);
    for (int i = 0; i < k->n_in; i++) c->in[i] = lks__graph_input(c->graph, k->in[i]);
    c->y = lks__node_create(c->graph, op, k->attrs, k->n_in, c->in);
    if (!lks__node_ok(c->y)) fail_msg("%s, %s: %s", op->name, k->name, lks_last_error());
    w_type = *lks__node_type(c->y);
    w_type.batched = w_type.local = false;
    c->n_y = lks__type_size(&w_type);
    c->weight = malloc((size_t)c->n_y * sizeof *c->weight + 1);
    w = malloc((size_t)c->n_y * sizeof *w + 1);
    for (int64_t i = 0; i < c->n_y; i++) c->weight[i] = w[i] = 0.5f + 0.25f * (float)(i % 7 - 2);
    if (k->tolerance > 0) {
        loss = lks_ops_sum(lks_ops_multiply(c->y, lks__graph_constant(c->graph, w_type, w)), 0, NULL, 0);
        assert_int_equal(lks__graph_gradients(loss, (size_t)k->n_in, c->in, c->d), LKS_OK);
    }
    free(w);
    fill_inputs(c);
}

static void destroy(check *c)
{
    for (int i = 0; i < c->k->n_in; i++) free(c->data[i]);
    free(c->weight);
    lks__graph_release(c->graph);
}

/* The loss in double, of the values with element j of input i moved by h. */
static double moved_loss(const check *c, int i, int64_t j, float h)
{
    float *x = (float *)c->data[i] + j, keep = *x;
    const void *inputs[MOST_INPUTS];
    evaluation e;
    double sum = 0;
    int64_t rows = lks__node_type(c->y)->batched ? EXAMPLES : 1;

    *x = keep + h;
    for (int k = 0; k < c->k->n_in; k++) inputs[k] = c->data[k];
    e = evaluate(c->graph, EXAMPLES, inputs, 0, 0);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < c->n_y; k++) sum += c->weight[k] * (double)evaluated(&e, c->y)[r * c->n_y + k];
    evaluation_free(&e);
    *x = keep;
    return sum;
}

static void compare_input(const check *c, const evaluation *e, int i)
{
    const float h = 4e-4f;
    const float *d = lks__node_ok(c->d[i]) ? evaluated(e, c->d[i]) : NULL;

    if (d != NULL) assert_int_equal(elements(lks__node_type(c->d[i])), c->size[i]);
    for (int64_t j = 0; j < c->size[i]; j++) {
        float x = ((float *)c->data[i])[j];
        double width = (double)(x + h) - (double)(x - h);
        double slope = (moved_loss(c, i, j, h) - moved_loss(c, i, j, -h)) / width, got = d != NULL ? (double)d[j] : 0;
        if (!(fabs(got - slope) <= c->k->tolerance * fmax(1, fabs(slope))))
            fail_msg("%s, %s: element %lld of input %d at %g: gradient %g, differences %g", c->op->name, c->k->name,
                     (long long)j, i, (double)x, got, slope);
    }
}

static void every_op_matches_its_numerical_gradient(void **state)
{
    int cases = 0;

    (void)state;
    for (const lks_op *const *op = lks__ops; *op != NULL; op++)
        for (const lks_op_case *k = (*op)->cases; k != NULL && k->name != NULL; k++) {
            const void *inputs[MOST_INPUTS];
            evaluation e;
            check c;
            build(&c, *op, k);
            for (int i = 0; i < k->n_in; i++) inputs[i] = c.data[i];
            e = evaluate(c.graph, EXAMPLES, inputs, 0, 0); /* forward always runs, in memory of exact size */
            for (int i = 0; i < k->n_in && k->tolerance > 0; i++)
                if (k->in[i].dtype == LKS_FLOAT32) compare_input(&c, &e, i);
            evaluation_free(&e);
            cases += k->tolerance > 0;
            destroy(&c);
        }
    print_message("%d cases\n", cases);
    assert_true(cases > 100);
}

static void every_op_with_a_gradient_has_a_case_that_checks_it(void **state)
{
    (void)state;
    for (const lks_op *const *op = lks__ops; *op != NULL; op++) {
        bool checked = false;
        for (const lks_op_case *k = (*op)->cases; k != NULL && k->name != NULL; k++)
            if (k->tolerance > 0) checked = true;
        if ((*op)->gradient != NULL && !checked && *op != &lks__op_pool_max_grad)
            fail_msg("%s has no such case", (*op)->name);
        if (((*op)->flags & LKS_OP_SOURCE) == 0 && (*op)->cases == NULL) fail_msg("%s has no cases", (*op)->name);
        assert_ptr_equal(lks__op_find((*op)->name), *op);
    }
}

/* ---- conventions ---- */

typedef lks_node one_fn(lks_node x);
typedef lks_node two_fn(lks_node a, lks_node b);

static lks_node clip_one(lks_node x)
{
    return lks_ops_clip(x, -1.0, 1.0);
}

/* The derivative of f at x for one example. */
static float slope_at(one_fn *f, float x)
{
    lks_type scalar = LKS_ROW(0, 0);
    const void *inputs[1] = { &x };
    lks_graph *g;
    lks_node in, d;
    evaluation e;
    float got;

    assert_int_equal(lks__graph_create(&g), LKS_OK);
    in = lks__graph_input(g, scalar);
    assert_int_equal(lks__graph_gradients(lks_ops_sum(f(in), 0, NULL, 0), 1, &in, &d), LKS_OK);
    e = evaluate(g, 1, inputs, 0, 0);
    got = lks__node_ok(d) ? *evaluated(&e, d) : 0;
    evaluation_free(&e);
    lks__graph_release(g);
    return got;
}

static void kinks_have_the_derivatives_of_keras(void **state)
{
    static const struct {
        const char *name;
        one_fn *f;
        float x, want;
    } t[] = {
        { "relu at 0", lks_ops_relu, 0, 0 },       { "relu at -0", lks_ops_relu, -0.0f, 0 },
        { "relu above", lks_ops_relu, 1e-30f, 1 }, { "abs at 0", lks_ops_abs, 0, 0 },
        { "abs below", lks_ops_abs, -2, -1 },      { "clip at low", clip_one, -1, 1 },
        { "clip at high", clip_one, 1, 1 },        { "clip inside", clip_one, 0.5f, 1 },
        { "clip outside", clip_one, 1.5f, 0 },     { "sqrt at 0", lks_ops_sqrt, 0, INFINITY },
        { "round", lks_ops_round, 0.3f, 0 },       { "floor", lks_ops_floor, 0.3f, 0 },
        { "sign", lks_ops_sign, 0.3f, 0 },         { "stop", lks_ops_stop_gradient, 0.3f, 0 },
        { "softplus", lks_ops_softplus, 0, 0.5f }, { "square", lks_ops_square, 3, 6 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        float got = slope_at(t[i].f, t[i].x);
        if (got != t[i].want) fail_msg("%s: %g, expected %g", t[i].name, (double)got, (double)t[i].want);
    }
}

static void equal_operands_give_the_whole_gradient_to_the_first(void **state)
{
    static two_fn *const f[] = { lks_ops_maximum, lks_ops_minimum };

    (void)state;
    for (int i = 0; i < 2; i++) {
        lks_type scalar = LKS_ROW(0, 0);
        const float x = 2;
        const void *inputs[2] = { &x, &x };
        lks_graph *g;
        lks_node in[2], d[2];
        evaluation e;
        assert_int_equal(lks__graph_create(&g), LKS_OK);
        in[0] = lks__graph_input(g, scalar);
        in[1] = lks__graph_input(g, scalar);
        assert_int_equal(lks__graph_gradients(lks_ops_sum(f[i](in[0], in[1]), 0, NULL, 0), 2, in, d), LKS_OK);
        e = evaluate(g, 1, inputs, 0, 0);
        assert_true(*evaluated(&e, d[0]) == 1 && *evaluated(&e, d[1]) == 0);
        evaluation_free(&e);
        lks__graph_release(g);
    }
}

static void equal_maxima_of_a_window_give_it_to_the_first_and_of_a_reduction_share_it(void **state)
{
    const lks_pool_attrs pool = { { 2, 2 }, { 2, 2 }, { 0, 0 }, { 2, 2 }, { 1, 1 } };
    const float x[4] = { 1, 3, 3, 3 }, first[4] = { 0, 1, 0, 0 };
    const void *inputs[1] = { x };
    lks_type image = LKS_ROW(3, 2, 2, 1);
    lks_node in, d, e_in;
    evaluation e;
    lks_graph *g;

    (void)state;
    assert_int_equal(lks__graph_create(&g), LKS_OK);
    in = lks__graph_input(g, image);
    assert_int_equal(lks__graph_gradients(lks_ops_sum(lks__graph_pool_max(in, &pool), 0, NULL, 0), 1, &in, &d), LKS_OK);
    assert_int_equal(lks__graph_gradients(lks_ops_sum(lks__graph_reduce_max(in, 7, false), 0, NULL, 0), 1, &in, &e_in),
                     LKS_OK);
    e = evaluate(g, 1, inputs, 0, 0);
    assert_memory_equal(evaluated(&e, d), first, sizeof first);
    for (int i = 0; i < 4; i++) assert_true(fabsf(evaluated(&e, e_in)[i] - (i > 0 ? 1 / 3.0f : 0)) < 1e-6f);
    evaluation_free(&e);
    lks__graph_release(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_matches_its_numerical_gradient),
        cmocka_unit_test(every_op_with_a_gradient_has_a_case_that_checks_it),
        cmocka_unit_test(kinks_have_the_derivatives_of_keras),
        cmocka_unit_test(equal_operands_give_the_whole_gradient_to_the_first),
        cmocka_unit_test(equal_maxima_of_a_window_give_it_to_the_first_and_of_a_reduction_share_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
