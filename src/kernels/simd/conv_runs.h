/* conv_runs.h - internal. Borders without a branch a tap: along an axis, outputs fall into runs with the same taps.
 *
 * A convolution (in -> out) and the gradient for its input (out -> in, also the transposed convolution) are one thing
 * here: every output of a run sums the same kernel positions, at inputs that move by a fixed step from output to output.
 * With stride s the gradient has s phases, whose outputs are s apart.
 */
#ifndef LKS_KERNELS_SIMD_CONV_RUNS_H
#define LKS_KERNELS_SIMD_CONV_RUNS_H

#include "ops/build.h"
#include "simd.h"

typedef struct conv_axis {
    int64_t n_out, n_in; /* of this direction */
    int64_t kernel, stride, dilation, before;
    int backward; /* the gradient for the input */
} conv_axis;

typedef struct conv_run {
    int64_t first, step, count;       /* outputs */
    int64_t k_first, k_step, k_count; /* kernel positions, ascending */
    int64_t in_first, in_tap,
        in_step; /* input of the first tap of the first output; from tap to tap, output to output */
} conv_run;

LKS_INLINE conv_axis conv_axis_of(const lks_conv_attrs *a, int axis, int backward)
{
    conv_axis x = { .n_out = backward ? a->in[axis] : a->out[axis],
                    .n_in = backward ? a->out[axis] : a->in[axis],
                    .kernel = a->kernel[axis],
                    .stride = a->stride[axis],
                    .dilation = a->dilation[axis],
                    .before = a->before[axis],
                    .backward = backward };

    return x;
}

LKS_INLINE int64_t conv_ceil_div(int64_t a, int64_t b)
{
    return a <= 0 ? 0 : (a + b - 1) / b;
}

LKS_INLINE void conv_forward_taps(const conv_axis *a, int64_t out, conv_run *r)
{
    int64_t start = out * a->stride - a->before;
    int64_t end = conv_ceil_div(a->n_in - start, a->dilation);

    r->k_first = conv_ceil_div(-start, a->dilation);
    r->k_count = (end < a->kernel ? end : a->kernel) - r->k_first;
    r->k_step = 1;
    r->in_first = start + r->k_first * a->dilation;
    r->in_tap = a->dilation;
    r->in_step = a->stride;
}

LKS_INLINE void conv_backward_taps(const conv_axis *a, int64_t out, conv_run *r)
{
    int64_t period = 1, k = 0, in, end;

    while (period * a->dilation % a->stride != 0) period++;
    while (k < period && (out + a->before - k * a->dilation) % a->stride != 0) k++;
    r->k_step = period;
    r->in_tap = -period * a->dilation / a->stride;
    r->in_step = 1;
    r->k_first = r->k_count = r->in_first = 0;
    if (k == period) return;
    in = (out + a->before - k * a->dilation) / a->stride;
    if (in < 0) return;
    end = in / -r->in_tap + 1;
    if (in >= a->n_in) {
        int64_t skip = conv_ceil_div(in - a->n_in + 1, -r->in_tap);

        k += skip * period;
        in += skip * r->in_tap;
        end -= skip;
    }
    r->k_count = conv_ceil_div(a->kernel - k, period);
    if (end < r->k_count) r->k_count = end;
    r->k_first = k;
    r->in_first = in;
}

LKS_INLINE void conv_taps(const conv_axis *a, int64_t out, conv_run *r)
{
    if (a->backward) conv_backward_taps(a, out, r);
    else conv_forward_taps(a, out, r);
    if (r->k_count < 0) r->k_count = 0;
}

/* Outputs from `first` whose taps are all inside, counted without looking at each. */
LKS_INLINE int64_t conv_inner_count(const conv_axis *a, const conv_run *r)
{
    const int64_t left = (a->n_out - r->first + r->step - 1) / r->step;
    int64_t n;

    if (a->backward) n = a->n_in - r->in_first;
    else n = (a->n_in - 1 - r->in_first - (a->kernel - 1) * a->dilation) / a->stride + 1;
    return n < left ? n : left;
}

LKS_INLINE int conv_run_is_inner(const conv_axis *a, const conv_run *r)
{
    if (r->k_count == 0) return 0;
    if (!a->backward) return r->k_count == a->kernel;
    return r->k_first < r->k_step && r->k_first + r->k_count * r->k_step >= a->kernel;
}

/* The next run; start with count = 0. False at the end. */
LKS_INLINE int conv_next_run(const conv_axis *a, conv_run *r)
{
    int64_t next = 0;

    r->step = a->backward ? a->stride : 1;
    if (r->count > 0) {
        next = r->first + r->count * r->step;
        if (next >= a->n_out) {
            next = r->first % r->step + 1;
            if (next >= r->step) return 0;
        }
    }
    if (next >= a->n_out) return 0;
    conv_taps(a, next, r);
    r->first = next;
    if (conv_run_is_inner(a, r)) {
        r->count = conv_inner_count(a, r);
        return 1;
    }
    for (r->count = 1; next + r->step < a->n_out; r->count++) {
        conv_run other;

        next += r->step;
        conv_taps(a, next, &other);
        if (other.k_count != r->k_count || (r->k_count > 0 && other.k_first != r->k_first)) break;
    }
    return 1;
}

#endif
