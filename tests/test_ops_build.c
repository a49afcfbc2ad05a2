/* test_ops_build.c - the operations of lockstep/ops.h as users call them: dtypes, broadcasting, axes that count the batch,
 * values, and refusals that say what is wrong and leave outputs alone.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/build.h"
#include "support/evaluate.h"
#include "support/failing_alloc.h"

enum { N = 2 };

static lks_graph *g;

static int setup(void **state)
{
    (void)state;
    return lks__graph_create(&g) == LKS_OK ? 0 : 1;
}

static int teardown(void **state)
{
    (void)state;
    lks__graph_release(g);
    return 0;
}

static lks_node input(lks_type type)
{
    return lks__graph_input(g, type);
}

#define IN(...) input((lks_type)LKS_ROW(__VA_ARGS__))
#define IN_SHARED(...) input((lks_type)LKS_SHARED(__VA_ARGS__))

/* Values of y for one input x of N examples. */
static void expect(lks_node y, const float *x, const float *want, int n)
{
    const void *inputs[] = { x };
    evaluation e;

    if (!lks__node_ok(y)) fail_msg("%s", lks_last_error());
    e = evaluate(g, N, inputs, 0, 0);
    for (int i = 0; i < n; i++) {
        float got = evaluated(&e, y)[i];
        if (!(fabsf(got - want[i]) <= 1e-6f * (1 + fabsf(want[i]))))
            fail_msg("element %d is %g, expected %g", i, (double)got, (double)want[i]);
    }
    evaluation_free(&e);
}

static void expect_shape(lks_node y, const char *want)
{
    char text[LKS_TYPE_TEXT];

    if (!lks__node_ok(y)) fail_msg("%s", lks_last_error());
    assert_string_equal(lks__type_text(lks__node_type(y), text), want);
}

/* y failed, and the graph's sentence holds the words. */
static void expect_refused(lks_node y, lks_status code, const char *words)
{
    assert_false(lks__node_ok(y));
    assert_int_equal(lks__graph_status(g), code);
    if (strstr(lks_last_error(), words) == NULL) fail_msg("\"%s\" lacks \"%s\"", lks_last_error(), words);
}

/* ---- dtypes and broadcasting ---- */

static void operands_are_brought_to_one_dtype(void **state)
{
    lks_node f = IN(1, 3), i = input((lks_type)LKS_ROW_OF(LKS_INT32, 1, 3)),
             b = input((lks_type)LKS_ROW_OF(LKS_BOOL, 1, 3));
    lks_node u = input((lks_type)LKS_ROW_OF(LKS_UINT8, 1, 3)), l = input((lks_type)LKS_ROW_OF(LKS_INT64, 1, 3));

    (void)state;
    assert_int_equal(lks_node_dtype(lks_ops_add(f, i)), LKS_FLOAT32);
    assert_int_equal(lks_node_dtype(lks_ops_add(i, i)), LKS_INT32);
    assert_int_equal(lks_node_dtype(lks_ops_multiply(i, b)), LKS_INT32);
    assert_int_equal(lks_node_dtype(lks_ops_multiply(f, b)), LKS_FLOAT32);
    assert_int_equal(lks_node_dtype(lks_ops_subtract(u, l)), LKS_FLOAT32);
    assert_int_equal(lks_node_dtype(lks_ops_add(i, lks_ops_number(i, 0.0))), LKS_FLOAT32);
    assert_int_equal(lks_node_dtype(lks_ops_divide(i, i)), LKS_FLOAT32);
    assert_int_equal(lks_node_dtype(lks_ops_negative(i)), LKS_INT32);
    assert_int_equal(lks_node_dtype(lks_ops_abs(i)), LKS_INT32);
    assert_int_equal(lks_node_dtype(lks_ops_relu(i)), LKS_INT32);
    assert_int_equal(lks_node_dtype(lks_ops_exp(i)), LKS_FLOAT32);
    assert_int_equal(lks_node_dtype(lks_ops_equal(b, b)), LKS_BOOL);
    assert_int_equal(lks_node_dtype(lks_ops_less(i, f)), LKS_BOOL);
    assert_int_equal(lks_node_dtype(lks_ops_where(f, b, b)), LKS_BOOL);
    assert_int_equal(lks_node_dtype(lks_ops_where(b, i, f)), LKS_FLOAT32);
    assert_int_equal(lks_node_dtype(lks_ops_logical_and(b, f)), LKS_BOOL);
    assert_int_equal(lks_node_dtype(lks_ops_logical_not(f)), LKS_BOOL);
    assert_int_equal(lks_node_dtype(lks_ops_isfinite(f)), LKS_BOOL);
    assert_int_equal(lks_node_dtype(lks_ops_sum(i, 0, NULL, 0)), LKS_FLOAT32);
    assert_int_equal(lks__graph_status(g), LKS_OK);
}

static void shapes_broadcast_as_in_numpy_from_the_last_axis(void **state)
{
    lks_node x = IN(3, 5, 4, 3);

    (void)state;
    expect_shape(lks_ops_add(x, IN_SHARED(1, 3)), "(None, 5, 4, 3) float32");
    expect_shape(lks_ops_add(IN_SHARED(2, 4, 1), x), "(None, 5, 4, 3) float32");
    expect_shape(lks_ops_add(IN(2, 5, 1), IN(2, 1, 7)), "(None, 5, 7) float32");
    expect_shape(lks_ops_add(IN_SHARED(1, 3), IN_SHARED(2, 2, 1)), "(2, 3) float32");
    expect_shape(lks_ops_add(IN(1, 3), IN_SHARED(2, 1, 3)), "(None, 3) float32"); /* the 1 is the batch's */
    expect_shape(lks_ops_add(IN(0, 0), IN_SHARED(0, 0)), "(None,) float32");
    expect_refused(lks_ops_add(x, IN_SHARED(1, 4)), LKS_E_SHAPE, "add: (None, 5, 4, 3) float32 and (4,) float32");
}

static void arithmetic_that_changes_nothing_gives_the_operand(void **state)
{
    lks_node x = IN(1, 3), one = lks_ops_number(x, 1), zero = lks_ops_number(x, 0);

    (void)state;
    assert_int_equal(lks_ops_multiply(x, one).id, x.id);
    assert_int_equal(lks_ops_multiply(one, x).id, x.id);
    assert_int_equal(lks_ops_add(x, zero).id, x.id);
    assert_int_equal(lks_ops_add(zero, x).id, x.id);
    assert_int_equal(lks_ops_subtract(x, zero).id, x.id);
    assert_int_equal(lks_ops_divide(x, one).id, x.id);
    assert_int_equal(lks_ops_power(x, one).id, x.id);
    assert_int_not_equal(lks_ops_subtract(zero, x).id, x.id);
    assert_int_equal(lks_ops_cast(x, LKS_FLOAT32).id, x.id);
    assert_int_equal(lks_ops_reshape(x, lks_shape(3)).id, x.id);
    assert_int_equal(lks_ops_broadcast_like(x, x).id, x.id);
    assert_int_equal(lks_ops_slice(x, 1, 0, 3, 1).id, x.id);
}

/* ---- reductions ---- */

static void reductions_count_the_batch_as_axis_0(void **state)
{
    const float x[N * 6] = { 1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60 };
    const int64_t batch = 0, last = -1, both[2] = { 0, 2 };
    lks_node in = IN(2, 2, 3);

    (void)state;
    expect(lks_ops_sum(in, 1, &batch, 0), x, (const float[]){ 11, 22, 33, 44, 55, 66 }, 6);
    expect(lks_ops_sum(in, 1, &last, 0), x, (const float[]){ 6, 15, 60, 150 }, 4);
    expect(lks_ops_sum(in, 0, NULL, 0), x, (const float[]){ 231 }, 1);
    expect(lks_ops_mean(in, 0, NULL, 0), x, (const float[]){ 19.25f }, 1);
    expect(lks_ops_mean(in, 2, both, 0), x, (const float[]){ 11, 27.5f }, 2);
    expect(lks_ops_mean(in, 1, &last, 1), x, (const float[]){ 2, 5, 20, 50 }, 4);
    expect(lks_ops_max(in, 2, both, 0), x, (const float[]){ 30, 60 }, 2);
    expect(lks_ops_min(in, 1, &last, 0), x, (const float[]){ 1, 4, 10, 40 }, 4);
    expect(lks_ops_min(in, 0, NULL, 0), x, (const float[]){ 1 }, 1);
    expect_shape(lks_ops_sum(in, 1, &last, 1), "(None, 2, 1) float32");
    expect_shape(lks_ops_sum(in, 2, both, 1), "(1, 2, 1) float32");
    expect_shape(lks_ops_sum(in, 0, NULL, 1), "(1, 1, 1) float32");
    expect_shape(lks_ops_max(in, 1, &batch, 1), "(1, 2, 3) float32");
    expect_shape(lks_ops_subtract(in, lks_ops_mean(in, 1, &batch, 1)), "(None, 2, 3) float32");
}

static void softmax_and_its_kin_are_stable(void **state)
{
    const float x[N * 3] = { 1000, 1001, 1002, -5, -5, -1000 };
    const float p[3] = { 0.09003057f, 0.24472847f, 0.66524096f };
    lks_node in = IN(1, 3), y = lks_ops_softmax(in, -1);

    (void)state;
    expect(y, x, (const float[]){ p[0], p[1], p[2], 0.5f, 0.5f, 0 }, 6);
    expect(lks_ops_log_softmax(in, 1), x,
           (const float[]){ -2.4076059f, -1.4076059f, -0.4076059f, -0.6931472f, -0.6931472f, -995.69315f }, 6);
    expect(lks_ops_logsumexp(in, -1, 0), x, (const float[]){ 1002.4076f, -4.3068528f }, 2);
    expect_shape(lks_ops_logsumexp(in, -1, 1), "(None, 1) float32");
    assert_int_equal(lks__graph_logits(y, false).id, in.id);
    expect_refused(lks_ops_softmax(in, 0), LKS_E_UNSUPPORTED, "softmax: over the batch");
}

static void logsumexp_of_minus_infinities_is_minus_infinity(void **state)
{
    const float x[N * 2] = { -INFINITY, -INFINITY, INFINITY, 0 };
    const void *inputs[] = { x };
    lks_node in = IN(1, 2), y = lks_ops_logsumexp(in, -1, 0);
    evaluation e = evaluate(g, N, inputs, 0, 0);

    (void)state;
    assert_true(evaluated(&e, y)[0] == -INFINITY && evaluated(&e, y)[1] == INFINITY);
    evaluation_free(&e);
}

/* ---- shape ---- */

static void shapes_change_around_the_batch(void **state)
{
    const int64_t swap[3] = { 0, 2, 1 }, pads[3][2] = { { 0, 0 }, { 1, 0 }, { 0, 2 } };
    lks_node x = IN(2, 2, 3), c = IN_SHARED(2, 2, 5), two[2] = { x, c };

    (void)state;
    expect_shape(lks_ops_reshape(x, lks_shape(3, -1)), "(None, 3, 2) float32");
    expect_shape(lks_ops_reshape(x, lks_shape(6)), "(None, 6) float32");
    expect_shape(lks_ops_expand_dims(x, -1), "(None, 2, 3, 1) float32");
    expect_shape(lks_ops_expand_dims(x, 1), "(None, 1, 2, 3) float32");
    expect_shape(lks_ops_expand_dims(c, 0), "(1, 2, 5) float32");
    expect_shape(lks_ops_squeeze(lks_ops_expand_dims(x, 2), 2), "(None, 2, 3) float32");
    expect_shape(lks_ops_transpose(x, 3, swap), "(None, 3, 2) float32");
    expect_shape(lks_ops_transpose(c, 0, NULL), "(5, 2) float32");
    expect_shape(lks_ops_concatenate(2, two, -1), "(None, 2, 8) float32");
    expect_shape(lks_ops_pad(x, 3, pads, 0), "(None, 3, 5) float32");
    expect_shape(lks_ops_slice(x, 2, -2, INT64_MAX, 1), "(None, 2, 2) float32");
    expect_shape(lks_ops_slice(x, -1, 0, 3, 2), "(None, 2, 2) float32");
    expect_shape(lks_ops_broadcast_like(lks_ops_number(x, 2), x), "(None, 2, 3) float32");
    expect_shape(lks_ops_full_like(x, 3), "(None, 2, 3) float32");
    expect_shape(lks_ops_one_hot(input((lks_type)LKS_ROW_OF(LKS_INT64, 0, 0)), 10), "(None, 10) float32");
    expect_shape(lks_ops_argmax(x, -1), "(None, 2) int32");
    expect_shape(lks_ops_arange(x, 4), "(4,) int32");
    expect_shape(lks_ops_matmul(x, IN_SHARED(2, 3, 7)), "(None, 2, 7) float32");
    assert_int_equal(lks_node_shape(x).rank, 3);
    assert_int_equal(lks_node_shape(x).dim[0], -1);
    assert_int_equal(lks_node_shape(c).dim[0], 2);
    assert_int_equal(lks_node_shape(lks__no_node).rank, -1);
}

static void elements_move_to_where_they_belong(void **state)
{
    const float x[N * 4] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    const int64_t swap[3] = { 0, 2, 1 }, pads[3][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 } };
    lks_tensor *column = lks_tensor_from(LKS_FLOAT32, lks_shape(2, 1), (const float[]){ -1, -2 });
    lks_node in = IN(2, 2, 2), two[2] = { in, lks_ops_constant(in, column) };

    (void)state;
    lks_tensor_release(column);
    expect(lks_ops_transpose(in, 3, swap), x, (const float[]){ 1, 3, 2, 4, 5, 7, 6, 8 }, 8);
    expect(lks_ops_pad(in, 3, pads, 9), x, (const float[]){ 9, 1, 2, 9, 3, 4, 9, 9, 9, 9, 5, 6, 9, 7, 8, 9, 9, 9 }, 18);
    expect(lks_ops_slice(in, 1, 1, 2, 1), x, (const float[]){ 3, 4, 7, 8 }, 4);
    expect(lks_ops_concatenate(2, two, 2), x, (const float[]){ 1, 2, -1, 3, 4, -2, 5, 6, -1, 7, 8, -2 }, 12);
    expect(lks_ops_one_hot(lks_ops_argmax(in, 2), 2), x, (const float[]){ 0, 1, 0, 1, 0, 1, 0, 1 }, 8);
    expect(lks_ops_clip(in, 2, 6), x, (const float[]){ 2, 2, 3, 4, 5, 6, 6, 6 }, 8);
    expect(lks_ops_multiply(in, lks_ops_batch_size(in)), x, (const float[]){ 2, 4, 6, 8, 10, 12, 14, 16 }, 8);
}

/* ---- refusals ---- */

static void impossible_shapes_are_refused_in_a_sentence(void **state)
{
    static const int64_t batch_swap[3] = { 1, 0, 2 }, twice[2] = { 1, -1 }, pads[3][2] = { { 1, 0 } };
    const struct {
        int call;
        lks_status code;
        const char *words;
    } t[] = {
        { 0, LKS_E_SHAPE, "reshape: (None, 2, 3) float32 (6 elements an example) does not fit shape (4,)" },
        { 1, LKS_E_ARG, "squeeze: axis 0 is the batch" },
        { 2, LKS_E_SHAPE, "squeeze: axis 1 of (None, 2, 3) float32 has size 2" },
        { 3, LKS_E_ARG, "transpose: axis 0 is the batch" },
        { 4, LKS_E_ARG, "pad: axis 0 is the batch" },
        { 5, LKS_E_ARG, "reduce_sum: axis 3 is outside of (None, 2, 3) float32" },
        { 6, LKS_E_SHAPE, "matmul: the last axis of (None, 2, 3) float32" },
        { 7, LKS_E_UNSUPPORTED, "matmul: the second operand must be a shared matrix" },
        { 8, LKS_E_ARG, "slice: 0 up to 2 in steps of 0" },
        { 9, LKS_E_SHAPE, "concatenate" },
        { 10, LKS_E_ARG, "constant: the tensor is NULL" },
        { 11, LKS_E_ARG, "is listed twice" },
        { 12, LKS_E_UNSUPPORTED, "argmax: over the batch" },
        { 13, LKS_E_ARG, "expand_dims: axis 0 is the batch" },
        { 14, LKS_E_ARG, "arange" },
        { 15, LKS_E_SHAPE, "broadcast" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(lks__graph_create(&g), LKS_OK);
        lks_node x = IN(2, 2, 3), y = lks__no_node, odd[2] = { x, IN(2, 3, 3) };
        switch (t[i].call) {
        case 0: y = lks_ops_reshape(x, lks_shape(4)); break;
        case 1: y = lks_ops_squeeze(x, 0); break;
        case 2: y = lks_ops_squeeze(x, 1); break;
        case 3: y = lks_ops_transpose(x, 3, batch_swap); break;
        case 4: y = lks_ops_pad(x, 3, pads, 0); break;
        case 5: y = lks_ops_sum(x, 1, (const int64_t[]){ 3 }, 0); break;
        case 6: y = lks_ops_matmul(x, IN_SHARED(2, 4, 5)); break;
        case 7: y = lks_ops_matmul(x, x); break;
        case 8: y = lks_ops_slice(x, 1, 0, 2, 0); break;
        case 9: y = lks_ops_concatenate(2, odd, 2); break;
        case 10: y = lks_ops_constant(x, NULL); break;
        case 11: y = lks_ops_mean(IN(1, 3), 2, twice, 0); break;
        case 12: y = lks_ops_argmax(x, 0); break;
        case 13: y = lks_ops_expand_dims(x, 0); break;
        case 14: y = lks_ops_arange(x, -1); break;
        default: y = lks_ops_broadcast_like(x, IN(1, 3)); break;
        }
        expect_refused(y, t[i].code, t[i].words);
        expect_refused(lks_ops_exp(lks_ops_add(y, x)), t[i].code, t[i].words); /* the first cause stays */
        lks__graph_release(g);
    }
}

static void shape_rules_of_windows_refuse_what_does_not_fit(void **state)
{
    const lks_conv_attrs good = { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 1, { 5, 4 }, { 5, 4 } };
    const lks_type x = LKS_ROW(3, 5, 4, 3), w = LKS_SHARED(4, 3, 3, 3, 4), wrong = LKS_SHARED(4, 3, 3, 2, 4);
    const lks_type *const fits[] = { &x, &w }, *const other[] = { &x, &wrong };
    const lks_type *const shared[] = { &w, &w };
    lks_type out = { .dtype = LKS_BOOL };
    lks_conv_attrs a = good;

    (void)state;
    assert_int_equal(lks__op_conv2d.infer(&a, 2, other, &out), LKS_E_SHAPE);
    assert_non_null(strstr(lks_last_error(), "expected a kernel of shape (3, 3, 3, 4), got (3, 3, 2, 4) float32"));
    assert_int_equal(lks__op_conv2d.infer(&a, 2, shared, &out), LKS_E_SHAPE);
    assert_int_equal(lks__op_conv2d.infer(&a, 1, fits, &out), LKS_E_ARG);
    a.groups = 2;
    assert_int_equal(lks__op_conv2d.infer(&a, 2, fits, &out), LKS_E_SHAPE);
    assert_non_null(strstr(lks_last_error(), "do not divide into 2 groups"));
    a = good;
    a.stride[1] = 0;
    assert_int_equal(lks__op_conv2d.infer(&a, 2, fits, &out), LKS_E_ARG);
    assert_non_null(strstr(lks_last_error(), "the stride must be at least 1, got (1, 0)"));
    assert_int_equal(out.dtype, LKS_BOOL); /* outputs are untouched on failure */
    assert_int_equal(lks__op_conv2d.infer(&good, 2, fits, &out), LKS_OK);
    assert_int_equal(out.dtype, LKS_FLOAT32);
}

static void every_shape_rule_counts_its_inputs_and_leaves_the_output_alone(void **state)
{
    const lks_type scalar = LKS_ROW(0, 0);
    const lks_type *const in[8] = { &scalar, &scalar, &scalar, &scalar, &scalar, &scalar, &scalar, &scalar };

    (void)state;
    for (const lks_op *const *op = lks__ops; *op != NULL; op++) {
        lks_type out = { .dtype = LKS_UINT16 };
        static const char attrs[1024];
        if (*op == &lks__op_concatenate) continue; /* any number */
        assert_int_equal((*op)->infer(attrs, 7, in, &out), LKS_E_ARG);
        assert_non_null(strstr(lks_last_error(), (*op)->name));
        assert_int_equal(out.dtype, LKS_UINT16);
    }
}

static void absent_nodes_are_refused_without_a_graph(void **state)
{
    (void)state;
    assert_false(lks__node_ok(lks_ops_exp(lks__no_node)));
    assert_non_null(strstr(lks_last_error(), "absent"));
    assert_false(lks__node_ok(lks_ops_add(lks__no_node, lks__no_node)));
    assert_false(lks__node_ok(lks_ops_sum(lks__no_node, 0, NULL, 0)));
    assert_false(lks__node_ok(lks_ops_number(lks__no_node, 1)));
    assert_false(lks__node_ok(lks_ops_concatenate(0, NULL, 0)));
}

/* A bit of everything, forward and backward. */
static lks_status build_much(void)
{
    const lks_conv_attrs conv = { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 1, { 4, 4 }, { 4, 4 } };
    const lks_pool_attrs pool = { { 2, 2 }, { 2, 2 }, { 0, 0 }, { 4, 4 }, { 2, 2 } };
    const int64_t swap[4] = { 0, 2, 1, 3 }, batch = 0, pads[4][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 0, 0 } };
    lks_node x, y, w[2], d[2], parts[2];
    lks_status status;

    g = NULL;
    status = lks__graph_create(&g);
    if (status != LKS_OK) return status;
    x = IN(3, 4, 4, 2);
    w[0] = IN_SHARED(4, 3, 3, 2, 3);
    w[1] = IN_SHARED(2, 3, 10);
    y = lks_ops_relu(lks__graph_conv2d(x, w[0], &conv));
    y = lks_ops_subtract(y, lks_ops_mean(y, 1, &batch, 1));
    y = lks_ops_pad(lks_ops_transpose(y, 4, swap), 4, pads, 0);
    y = lks_ops_slice(lks_ops_slice(y, 1, 1, 5, 1), 2, 0, 4, 1);
    parts[0] = parts[1] = lks_ops_clip(lks__graph_pool_max(y, &pool), -2, 2);
    y = lks_ops_power(lks_ops_abs(lks_ops_concatenate(2, parts, 1)), lks_ops_number(y, 2));
    y = lks_ops_softmax(lks_ops_matmul(lks_ops_max(y, 1, (const int64_t[]){ 1 }, 0), w[1]), -1);
    y = lks_ops_where(lks_ops_one_hot(lks_ops_argmax(y, -1), 10), lks_ops_logsumexp(y, -1, 1), y);
    lks__graph_gradients(lks_ops_sum(y, 0, NULL, 0), 2, w, d);
    return lks__graph_status(g);
}

static void every_allocation_of_a_graph_may_fail(void **state)
{
    lks_status status;

    (void)state;
    EVERY_ALLOCATION_FAILS(
        {
            status = build_much();
            if (status != LKS_OK) lks__graph_release(g);
        },
        lks__graph_release(g));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(operands_are_brought_to_one_dtype),
        TEST(shapes_broadcast_as_in_numpy_from_the_last_axis),
        TEST(arithmetic_that_changes_nothing_gives_the_operand),
        TEST(reductions_count_the_batch_as_axis_0),
        TEST(softmax_and_its_kin_are_stable),
        TEST(logsumexp_of_minus_infinities_is_minus_infinity),
        TEST(shapes_change_around_the_batch),
        TEST(elements_move_to_where_they_belong),
        cmocka_unit_test(impossible_shapes_are_refused_in_a_sentence),
        TEST(shape_rules_of_windows_refuse_what_does_not_fit),
        TEST(every_shape_rule_counts_its_inputs_and_leaves_the_output_alone),
        TEST(absent_nodes_are_refused_without_a_graph),
        cmocka_unit_test(every_allocation_of_a_graph_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
