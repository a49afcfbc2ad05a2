/* op_matmul.c - (..., k) x (k, m) -> (..., m), or with the attribute transposed (..., m) x (k, m) -> (..., k). The matrix is
 * shared and of rank 2.
 *
 * Order: each output starts at +0 and takes its terms by fused multiply-add one after the other, over k (over m). Where there
 * are fewer than 16 columns and the matrix is not transposed, an output has 16 lanes over k and their tree (order.h): vectors
 * along k are then full, however few the columns.
 */
#include "build.h"
#include "order.h"

static lks_status infer(const void *attrs, int n_in, const lks_type *const *in, lks_type *out)
{
    bool transposed = *(const bool *)attrs;
    char text_a[LKS_TYPE_TEXT], text_b[LKS_TYPE_TEXT];
    const lks_shape *a, *b;

    LKS_TRY(lks__expect_inputs("matmul", 2, n_in));
    LKS_TRY(lks__expect_dtype("matmul", in[0], LKS_FLOAT32));
    LKS_TRY(lks__expect_dtype("matmul", in[1], LKS_FLOAT32));
    a = &in[0]->shape;
    b = &in[1]->shape;
    if (in[1]->batched || b->rank != 2)
        return lks__fail(LKS_E_UNSUPPORTED, "matmul: the second operand must be a shared matrix, got %s",
                         lks__type_text(in[1], text_b));
    if (a->rank < 1 || a->dim[a->rank - 1] != b->dim[transposed])
        return lks__fail(LKS_E_SHAPE, "matmul: the last axis of %s must have the size of the %s axis of %s",
                         lks__type_text(in[0], text_a), transposed ? "last" : "first", lks__type_text(in[1], text_b));
    *out = *in[0];
    out->local = !out->batched && (in[0]->local || in[1]->local);
    out->shape.dim[a->rank - 1] = b->dim[!transposed];
    return LKS_OK;
}

static void row_times_matrix(int64_t k, int64_t m, const float *a, const float *b, float *restrict y)
{
    for (int64_t j = 0; j < m; j++) y[j] = 0.0f;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < m; j++) y[j] = lks__fma_f(a[i], b[i * m + j], y[j]);
}

static void row_times_few(int64_t k, int64_t m, const float *a, const float *b, float *y)
{
    for (int64_t j = 0; j < m; j++) {
        float lane[LKS_LANES] = { 0 };

        for (int64_t i = 0; i < k; i++) lane[i % LKS_LANES] = lks__fma_f(a[i], b[i * m + j], lane[i % LKS_LANES]);
        y[j] = lks__tree_sum16(lane);
    }
}

static void row_times_transposed(int64_t k, int64_t m, const float *a, const float *b, float *y)
{
    for (int64_t i = 0; i < k; i++) {
        float sum = 0.0f;
        for (int64_t j = 0; j < m; j++) sum = lks__fma_f(a[j], b[i * m + j], sum);
        y[i] = sum;
    }
}

static void run(const lks_op_call *call)
{
    bool transposed = *(const bool *)call->attrs;
    const lks_shape *b = &call->in_type[1]->shape, *out = &call->out_type->shape;
    int64_t k = b->dim[0], m = b->dim[1], rows = call->n;
    const float *a = call->in[0];
    float *y = call->out;

    for (int64_t i = 0; i < out->rank - 1; i++) rows *= out->dim[i];
    for (int64_t i = 0; i < rows; i++) {
        if (transposed) row_times_transposed(k, m, a + i * m, call->in[1], y + i * k);
        else if (m < 16) row_times_few(k, m, a + i * k, call->in[1], y + i * m);
        else row_times_matrix(k, m, a + i * k, call->in[1], y + i * m);
    }
}

static void gradient(const lks_vjp *v)
{
    bool transposed = *(const bool *)v->attrs;

    if (v->wanted[0]) v->d_in[0] = lks__graph_matmul(v->d_out, v->in[1], !transposed);
    if (!v->wanted[1]) return;
    if (transposed) v->d_in[1] = lks__graph_matmul_filter(v->d_out, v->in[0]);
    else v->d_in[1] = lks__graph_matmul_filter(v->in[0], v->d_out);
}

static double flop(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    const lks_shape *a = &in[0]->shape;

    (void)attrs;
    return 2.0 * (double)lks__type_size(out) * (double)a->dim[a->rank - 1];
}

static const bool plain = false, transposed_b = true;

static const lks_op_case cases[] = {
    { .name = "dense", .attrs = &plain, .n_in = 2, .in = { LKS_ROW(1, 20), LKS_SHARED(2, 20, 10) }, .tolerance = 2e-2 },
    { .name = "leading axes",
      .attrs = &plain,
      .n_in = 2,
      .in = { LKS_ROW(3, 2, 3, 5), LKS_SHARED(2, 5, 4) },
      .tolerance = 2e-2 },
    { .name = "transposed",
      .attrs = &transposed_b,
      .n_in = 2,
      .in = { LKS_ROW(1, 10), LKS_SHARED(2, 20, 10) },
      .tolerance = 2e-2 },
    { .name = "transposed, leading axes",
      .attrs = &transposed_b,
      .n_in = 2,
      .tolerance = 2e-2,
      .in = { LKS_ROW(3, 2, 3, 4), LKS_SHARED(2, 5, 4) } },
    { .name = "shared",
      .attrs = &plain,
      .n_in = 2,
      .in = { LKS_SHARED(2, 3, 5), LKS_SHARED(2, 5, 4) },
      .tolerance = 2e-2 },
    { .name = "one output",
      .attrs = &plain,
      .n_in = 2,
      .in = { LKS_ROW(1, 33), LKS_SHARED(2, 33, 1) },
      .tolerance = 2e-2 },
    { .name = NULL },
};

const lks_op lks__op_matmul = {
    .name = "matmul",
    .attrs_size = sizeof(bool),
    .infer = infer,
    .run = run,
    .gradient = gradient,
    .flop = flop,
    .cases = cases,
};
