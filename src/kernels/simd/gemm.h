/* gemm.h - internal. Matrix products of large matrices in packed blocks: what matmul_wide.c is made of.
 *
 * A block of the result, GEMM_ROWS x 2 vectors, stays in registers while GEMM_DEPTH terms pass by; between two such runs it
 * waits in memory. So each element is one sequence of fused multiply-adds over the summed axis, from +0,
 * whatever the blocking.
 *
 * Packed rows: groups of GEMM_ROWS rows, term by term (the last group is padded). Packed columns: panels of GEMM_COLUMNS
 * columns, term by term, padded with zeros.
 */
#ifndef LKS_KERNELS_SIMD_GEMM_H
#define LKS_KERNELS_SIMD_GEMM_H

#include <stdbool.h>

#include "simd.h"

enum { GEMM_ROWS = V_REGISTERS_32 ? 12 : 6, GEMM_COLUMNS = 2 * VF, GEMM_DEPTH = 256 };

typedef struct gemm_tile {
    int64_t depth;     /* terms */
    const float *a;    /* packed rows, GEMM_ROWS a term */
    const float *b;    /* packed columns */
    const float *from; /* the sums of the terms before, or NULL */
    int64_t from_row;
    float *c;
    int64_t c_row;
    const float *add; /* c's shape and rows: added to the sums; or NULL */
    bool stream;      /* c is written past the caches; all of it is aligned */
} gemm_tile;

/* c, `rows` (1 to GEMM_ROWS) x GEMM_COLUMNS. */
void SIMD(gemm_block)(const gemm_tile *t, int64_t rows);

/* The same for the first `columns` of c only. `from` holds GEMM_ROWS x GEMM_COLUMNS all the same. */
void SIMD(gemm_edge)(const gemm_tile *t, int64_t rows, int64_t columns);

/* c[j] += a[0] b[j] + a[1] b[b_term + j] + ..., in this order, for j < n; at most four terms. */
void SIMD(gemm_add_terms)(int64_t terms, const float *a, const float *b, int64_t b_term, int64_t n, float *c);

/* A sum over examples in shards, joined by the fixed tree: a holds GEMM_ROWS numbers an example, b GEMM_COLUMNS. Shard s
 * ends at example ends[s]. stack: GEMM_STACK_FLOATS. stream: c is written past the caches; all of it is aligned. */
typedef struct gemm_sum {
    int shards;
    const int64_t *ends;
    const float *a, *b;
    float *c;
    int64_t c_row, columns;
    float *stack;
    bool stream;
} gemm_sum;

enum { GEMM_STACK_FLOATS = 18 * GEMM_ROWS * GEMM_COLUMNS };

/* Returns whether all of c is finite; numbers beside it that the padding of a and b makes are zeros. */
bool SIMD(gemm_sum_block)(const gemm_sum *s, int64_t rows);

/* Into ceil(rows / GEMM_ROWS) groups: number (row, term) is a[row * a_row + term]; a[term * a_term + row]. */
void SIMD(gemm_pack_rows)(const float *a, int64_t a_row, int64_t rows, int64_t depth, float *to);
void SIMD(gemm_pack_terms)(const float *a, int64_t a_term, int64_t rows, int64_t depth, float *to);

/* Into ceil(columns / GEMM_COLUMNS) panels: number (term, column) is b[term * b_term + column]. */
void SIMD(gemm_pack_columns)(const float *b, int64_t b_term, int64_t columns, int64_t depth, float *to);

/* The same a few lines at a time, with the lines to come already on their way from memory. transposed: number (term,
 * column) is b[column * b_step + term]. Done when at == units. */
typedef struct gemm_packer {
    bool transposed;
    const float *b;
    int64_t b_step, columns, depth;
    float *to;
    int64_t at, units;
} gemm_packer;

gemm_packer SIMD(gemm_packer)(bool transposed, const float *b, int64_t b_step, int64_t columns, int64_t depth,
                              float *to);
void SIMD(gemm_pack_some)(gemm_packer *p, int64_t units);

#endif
