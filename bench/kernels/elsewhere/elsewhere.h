/* elsewhere.h - the same work in other libraries, on one thread: convolutions in oneDNN (in the layouts it likes best, without the
 * reordering that this takes), products of matrices in OpenBLAS. Seconds of the fastest of many runs; 0 where the library is
 * missing or does not take the shape.
 */
#ifndef LOCKSTEP_BENCH_ELSEWHERE_H
#define LOCKSTEP_BENCH_ELSEWHERE_H

#include "ops/build.h"

extern const char *const bench_conv_library, *const bench_gemm_library; /* names; NULL: missing */

/* which: 1 forward, 2 gradient of the input, 4 gradient of the filter. cin and cout of the whole. */
double bench_conv_elsewhere(int which, const lks_conv_attrs *a, int64_t cin, int64_t cout, int64_t n);
/* c (m, n) = a (m, k) x b (k, n); transposed: a or b lies in memory the other way round. */
double bench_gemm_elsewhere(int64_t m, int64_t n, int64_t k, bool a_transposed, bool b_transposed);

#endif
