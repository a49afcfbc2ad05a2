/* conv_back.h - internal. Gradients for the input of convolutions with three kernel columns two apart, also the transposed
 * convolutions of stride 2: outputs in pairs.
 */
#ifndef LKS_KERNELS_SIMD_CONV_BACK_H
#define LKS_KERNELS_SIMD_CONV_BACK_H

#include "conv_walk.h"

/* As conv_walk; false where the job is none of these. */
bool SIMD(conv_back)(const conv_job *j, const float *x, float *y);

#endif
