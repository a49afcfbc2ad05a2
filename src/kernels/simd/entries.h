/* entries.h - internal. The kernels of this instruction set, as table.c lists them, and what they share. */
#ifndef LKS_KERNELS_SIMD_ENTRIES_H
#define LKS_KERNELS_SIMD_ENTRIES_H

#include "kernels/kernels.h"
#include "ops/build.h"
#include "simd.h"

struct conv_job;

void SIMD(conv2d)(const lks_op_call *call);
void SIMD(conv2d_input)(const lks_op_call *call);
extern const lks_parts SIMD(conv2d_parts);
void SIMD(conv_depthwise_part)(const lks_op_call *call, const lks_part *part);
size_t SIMD(conv2d_scratch)(const void *attrs, const lks_type *const *in, const lks_type *out);
void SIMD(conv2d_filter)(const lks_op_call *call);
void SIMD(conv2d_filter_settle)(const lks_op_call *call, int part, int parts);
size_t SIMD(conv2d_filter_scratch)(const void *attrs, const lks_type *const *in, const lks_type *out);
void SIMD(matmul)(const lks_op_call *call);
size_t SIMD(matmul_scratch)(const void *attrs, const lks_type *const *in, const lks_type *out);
extern const lks_parts SIMD(matmul_parts);
void SIMD(matmul_filter)(const lks_op_call *call);
void SIMD(matmul_filter_settle)(const lks_op_call *call, int part, int parts);

extern const lks_wide SIMD(matmul_wide), SIMD(matmul_filter_wide);

void SIMD(reduce_sum)(const lks_op_call *call);
void SIMD(reduce_max)(const lks_op_call *call);
void SIMD(batch_sum)(const lks_op_call *call);
void SIMD(batch_max)(const lks_op_call *call);
bool SIMD(reduce_applicable)(const void *attrs, int n_in, const lks_type *const *in, const lks_type *out);
double SIMD(fma_burst)(int64_t n);
void SIMD(add)(float *acc, const float *x, int64_t n); /* acc[i] += x[i] */

/* The convolutions whose vectors run over the summed channels, or over depthwise channels; false if `job` is none of them. */
int64_t SIMD(conv_depthwise)(const struct conv_job *j, const float *w);
bool SIMD(conv_vector)(struct conv_job *job, const float *w, int backward);

/* Filter gradients whose vectors run over the input channels; false if `call` is none of them. `a`: as one line of positions
 * where the kernel is 1x1. */
bool SIMD(conv2d_filter_x)(const lks_op_call *call, const lks_conv_attrs *a);
size_t SIMD(conv2d_filter_x_scratch)(const lks_shape *w);

/* By lines, for kernels of three columns: one summed channel; one made channel of many. False elsewhere. x and y: of the
 * channels at work; w: of the made channel. */
bool SIMD(conv_one)(const struct conv_job *j, const float *x, float *y);
bool SIMD(conv_dot)(struct conv_job *j, const float *w, int64_t w_position, int64_t w_depth, const float *x, float *y);

/* Three kernel columns and rows two apart, one vector of channels; false elsewhere. */
bool SIMD(conv_stride)(const struct conv_job *j, const float *x, float *y);

/* Parts of matmul. panel: two vectors for each number of the summed axis. */
void SIMD(conv_dense)(int64_t rows, int64_t k, int64_t m, bool transposed, const float *a, const float *w, float *y,
                      float *panel, const lks_after *after);
void SIMD(filter_dense)(int64_t n, int64_t positions, int64_t k, int64_t m, bool carry, const float *a, const float *d,
                        float *w);

#endif
