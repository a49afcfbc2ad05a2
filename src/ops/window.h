/* window.h - internal. The geometry that convolution and pooling share: which taps of a window lie inside the input. */
#ifndef LKS_OPS_WINDOW_H
#define LKS_OPS_WINDOW_H

#include "ops/build.h"

/* Place in the input of tap k of output o on one axis; the caller checks that it is inside [0, in). */
static inline int64_t lks__conv_place(const lks_conv_attrs *a, int axis, int64_t o, int64_t k)
{
    return o * a->stride[axis] + k * a->dilation[axis] - a->before[axis];
}

/* The output that tap k of input place i belongs to on one axis, or -1. */
static inline int64_t lks__conv_output(const lks_conv_attrs *a, int axis, int64_t i, int64_t k)
{
    int64_t t = i + a->before[axis] - k * a->dilation[axis];

    if (t < 0 || t % a->stride[axis] != 0) return -1;
    t /= a->stride[axis];
    return t < a->out[axis] ? t : -1;
}

/* Attributes alone; then that a row is (size, size, channels), channels >= 1; out gets the channels. */
lks_status lks__conv_check(const char *op, const lks_conv_attrs *a);
lks_status lks__expect_image(const char *op, const lks_type *type, const int64_t size[2], int64_t *channels);
/* That w is a shared (kernel, kernel, channels in / groups, channels out). */
lks_status lks__conv_check_kernel(const char *op, const lks_conv_attrs *a, const lks_type *w, int64_t c_in,
                                  int64_t c_out);

/* 2 operations for each tap of each output channel; padding counts as if it were computed. */
double lks__conv_flop(const lks_conv_attrs *a, int64_t c_in, int64_t c_out);

/* Pooling: first and last + 1 tap of output o that lie inside, on one axis. */
typedef struct lks_tap_range {
    int64_t begin, end; /* places in the input */
} lks_tap_range;

static inline lks_tap_range lks__pool_range(const lks_pool_attrs *a, int axis, int64_t o)
{
    int64_t begin = o * a->stride[axis] - a->before[axis], end = begin + a->size[axis];

    return (lks_tap_range){ begin > 0 ? begin : 0, end < a->in[axis] ? end : a->in[axis] };
}

/* What the two poolings share: shape rule (their gradients check the attributes alone), kernel, self-checks. */
lks_status lks__pool_check(const char *op, const lks_pool_attrs *a);
lks_status lks__pool_infer(const char *op, const void *attrs, int n_in, const lks_type *const *in, lks_type *out);
void lks__pool_windows(const lks_op_call *call,
                       void (*one_output)(const lks_pool_attrs *a, int64_t channels, const float *x, int64_t oy,
                                          int64_t ox, float *restrict y));
extern const lks_op_case lks__pool_cases[];
double lks__pool_flop(const void *attrs, const lks_type *const *in, const lks_type *out);

#endif
