/* table.c - the kernel set of this instruction set.
 *
 * An AVX-512 vector holds 16 channels; where a convolution makes no more than eight, the kernels of AVX2 do the same work
 * in half the lanes and come next in the table.
 */
#include "entries.h"
#include "ops/build.h"

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define NAME(op) op "/" TEXT(LKS_SIMD_ISA)

#define ISA_avx2 LKS_ISA_AVX2
#define ISA_avx512 LKS_ISA_AVX512
#define ISA_neon LKS_ISA_NEON
#define ISA_pair LKS_ISA_REF
#define ISA_quad LKS_ISA_REF
#define ISA_OF2(isa) ISA_##isa
#define ISA_OF(isa) ISA_OF2(isa)

extern const lks_ew_fn LKS_SIMD_PASTE(lks__ew, LKS_SIMD_ISA)[LKS_EW_COUNT];
extern const lks_kernel_set SIMD(kernels);

void SIMD(add)(float *acc, const float *x, int64_t n)
{
    int64_t i = 0;

    for (; i + VF <= n; i += VF) vf_store(acc + i, vf_add(vf_load(acc + i), vf_load(x + i)));
    for (; i < n; i++) acc[i] += x[i];
}

LKS_INLINE void add_columns(float *acc, const float *x, int64_t rows, int64_t n, const int vectors)
{
    vf sum[8];

    LKS_UNROLL
    for (int v = 0; v < vectors; v++) sum[v] = vf_load(acc + v * VF);
    for (int64_t r = 0; r < rows; r++, x += n) {
        LKS_UNROLL
        for (int v = 0; v < vectors; v++) sum[v] = vf_add(sum[v], vf_load(x + v * VF));
    }
    LKS_UNROLL
    for (int v = 0; v < vectors; v++) vf_store(acc + v * VF, sum[v]);
}

static void add_rows(float *acc, const float *x, int64_t rows, int64_t n)
{
    int64_t i = 0;

    for (; i + 8 * VF <= n; i += 8 * VF) add_columns(acc + i, x + i, rows, n, 8);
    for (; i + 4 * VF <= n; i += 4 * VF) add_columns(acc + i, x + i, rows, n, 4);
    for (; i + 2 * VF <= n; i += 2 * VF) add_columns(acc + i, x + i, rows, n, 2);
    for (; i + VF <= n; i += VF) add_columns(acc + i, x + i, rows, n, 1);
    if (i == n) return;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = i; k < n; k++) acc[k] += x[r * n + k];
}

/* x - x is 0 for finite numbers and NaN for all others, and a sum keeps NaN. */
static int all_finite(const float *x, int64_t n)
{
    vf sum[4] = { vf_zero(), vf_zero(), vf_zero(), vf_zero() };
    float lanes[VF], rest = 0.0f;
    int64_t i = 0;

    for (; i + 4 * VF <= n; i += 4 * VF) {
        LKS_UNROLL
        for (int v = 0; v < 4; v++) {
            vf a = vf_load(x + i + v * VF);
            sum[v] = vf_add(sum[v], vf_sub(a, a));
        }
    }
    for (; i < n; i++) rest += x[i] - x[i];
    vf_store(lanes, vf_add(vf_add(sum[0], sum[1]), vf_add(sum[2], sum[3])));
    for (int l = 0; l < VF; l++) rest += lanes[l];
    return rest == 0.0f;
}

#if defined(__AVX512F__)
void lks__conv2d_avx2(const lks_op_call *call);
void lks__conv2d_input_avx2(const lks_op_call *call);
void lks__conv2d_filter_avx2(const lks_op_call *call);
void lks__conv2d_filter_settle_avx2(const lks_op_call *call, int part, int parts);
extern const lks_parts lks__conv2d_parts_avx2;

static bool wide(int64_t made, int64_t summed)
{
    return made > 8 || (made < 4 && summed > 8);
}

static bool wide_conv2d(const void *attrs, int n_in, const lks_type *const *in, const lks_type *out)
{
    const lks_conv_attrs *a = attrs;

    (void)n_in;
    (void)out;
    return wide(in[1]->shape.dim[3] / a->groups, in[1]->shape.dim[2]) || a->groups > 8;
}

static bool wide_conv2d_input(const void *attrs, int n_in, const lks_type *const *in, const lks_type *out)
{
    const lks_conv_attrs *a = attrs;

    (void)n_in;
    (void)out;
    return wide(in[1]->shape.dim[2], in[1]->shape.dim[3] / a->groups) || a->groups > 8;
}

static bool wide_conv2d_filter(const void *attrs, int n_in, const lks_type *const *in, const lks_type *out)
{
    const lks_conv_attrs *a = attrs;

    (void)n_in;
    (void)in;
    return wide(out->shape.dim[3] / a->groups, out->shape.dim[2]) || a->groups > 8;
}
#else
#define wide_conv2d NULL
#define wide_conv2d_input NULL
#define wide_conv2d_filter NULL
#endif

#define NO_PARTS NULL

static const lks_kernel table[] = {
    { &lks__op_conv2d, NAME("conv2d"), wide_conv2d, SIMD(conv2d_scratch), SIMD(conv2d), LKS_AFTER_ALL, false,
      &SIMD(conv2d_parts), NULL },
    { &lks__op_conv2d_input, NAME("conv2d_input"), wide_conv2d_input, SIMD(conv2d_scratch), SIMD(conv2d_input),
      LKS_AFTER_SIMPLE, false, NO_PARTS, NULL },
    { &lks__op_conv2d_filter, NAME("conv2d_filter"), wide_conv2d_filter, SIMD(conv2d_filter_scratch),
      SIMD(conv2d_filter), 0, true, NO_PARTS, SIMD(conv2d_filter_settle) },
#if defined(__AVX512F__)
    { &lks__op_conv2d, "conv2d/avx2", NULL, SIMD(conv2d_scratch), lks__conv2d_avx2, LKS_AFTER_ALL, false,
      &lks__conv2d_parts_avx2, NULL },
    { &lks__op_conv2d_input, "conv2d_input/avx2", NULL, SIMD(conv2d_scratch), lks__conv2d_input_avx2, LKS_AFTER_SIMPLE,
      false, NO_PARTS, NULL },
    { &lks__op_conv2d_filter, "conv2d_filter/avx2", NULL, SIMD(conv2d_filter_scratch), lks__conv2d_filter_avx2, 0, true,
      NO_PARTS, lks__conv2d_filter_settle_avx2 },
#endif
    { &lks__op_matmul, NAME("matmul"), NULL, SIMD(matmul_scratch), SIMD(matmul), LKS_AFTER_SIMPLE, false,
      &SIMD(matmul_parts), NULL },
    { &lks__op_matmul_filter, NAME("matmul_filter"), NULL, NULL, SIMD(matmul_filter), 0, true, NO_PARTS,
      SIMD(matmul_filter_settle) },
    { &lks__op_reduce_sum, NAME("reduce_sum"), SIMD(reduce_applicable), NULL, SIMD(reduce_sum), 0, false, NO_PARTS,
      NULL },
    { &lks__op_reduce_max, NAME("reduce_max"), SIMD(reduce_applicable), NULL, SIMD(reduce_max), 0, false, NO_PARTS,
      NULL },
    { &lks__op_batch_sum, NAME("batch_sum"), SIMD(reduce_applicable), NULL, SIMD(batch_sum), 0, false, NO_PARTS, NULL },
    { &lks__op_batch_max, NAME("batch_max"), SIMD(reduce_applicable), NULL, SIMD(batch_max), 0, false, NO_PARTS, NULL },
    { NULL, NULL, NULL, NULL, NULL, 0, false, NO_PARTS, NULL },
};

const lks_kernel_set SIMD(kernels) = {
    .isa = ISA_OF(LKS_SIMD_ISA),
    .kernels = table,
    .elementwise = LKS_SIMD_PASTE(lks__ew, LKS_SIMD_ISA),
    .add = SIMD(add),
    .add_rows = add_rows,
    .all_finite = all_finite,
    .fma_burst = SIMD(fma_burst),
    .matmul_wide = &SIMD(matmul_wide),
    .matmul_filter_wide = &SIMD(matmul_filter_wide),
};
