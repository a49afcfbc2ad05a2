/* kernels.h - internal. Tables of fast kernels, one an instruction set, that override the reference kernels of the op files.
 *
 * A kernel may refuse a call's types (applicable); the reference then takes the job. Its results equal the reference's bit
 * for bit (memcmp tests on data without NaN): free in blocking, bound in order.
 */
#ifndef LKS_KERNELS_KERNELS_H
#define LKS_KERNELS_KERNELS_H

#include "base/cpu.h"
#include "ops/elementwise.h"
#include "ops/op.h"

/* Bias, relu and mask; with LKS_AFTER_ALL also mean, factor, add and cap. */
enum { LKS_AFTER_SIMPLE = 1, LKS_AFTER_ALL = 2 };

/* A kernel's work for several threads, each making a part of one call's result, and by weights in an order of its own. Bits
 * are those of the kernel's run. call->after without a mask, but where weights are packed for each step. */
typedef struct lks_part {
    const void *packed; /* operand 1 as `pack` wrote it; NULL where packed_bytes is 0 */
    int part, parts;    /* more than one: of one example */
} lks_part;

typedef struct lks_parts {
    bool (*applicable)(const void *attrs, const lks_type *const *in);
    size_t (*packed_bytes)(const void *attrs, const lks_type *const *in); /* 0: operand 1 is read as it lies */
    /* One of several parts that together pack all. */
    void (*pack)(const void *attrs, const lks_type *const *in, const void *from, void *to, int part, int parts);
    void (*run)(const lks_op_call *call, const lks_part *part);
    bool
        each_step; /* so cheap and so much better that weights which change are packed in each step; the work is not shared out */
} lks_parts;

typedef struct lks_kernel {
    const lks_op *op; /* NULL ends the table */
    const char *name; /* for reports: "conv2d/avx2/c1" */
    bool (*applicable)(const void *attrs, int n_in, const lks_type *const *in, const lks_type *out); /* NULL = always */
    size_t (*scratch)(const void *attrs, const lks_type *const *in, const lks_type *out);            /* NULL = none */
    void (*run)(const lks_op_call *call);
    int after;              /* what of call->after it does: nothing, LKS_AFTER_SIMPLE, LKS_AFTER_ALL */
    bool sums;              /* an accumulator that does call->fresh and call->join, while it has the sums at hand */
    const lks_parts *parts; /* or NULL */
    /* An accumulator whose numbers lie in an order of the kernel's own until they have been joined: into the op's order,
     * in call->out, in place; one of several parts. Only types and `out` of the call are set. NULL: they lie in the op's order. */
    void (*settle)(const lks_op_call *call, int part, int parts);
} lks_kernel;

/* One thread's part of an op over a worker's whole batch at once (call->n examples). Accumulators are written, not added to:
 * the sums of all shards in order, joined by the fixed tree over them. */
typedef struct lks_wide_call {
    const lks_op_call *call; /* scratch: of this part */
    void *common;            /* memory that all parts see */
    int part, parts;
    int shards; /* accumulators: shard s holds the examples before ends[s] that no earlier one holds */
    const int64_t *ends;
    const float *add; /* matmul: of the result's shape, added to it; or NULL */
    bool stream;      /* matmul: nobody reads the result soon: write it past the caches */
} lks_wide_call;

typedef struct lks_wide {
    size_t (*common)(const lks_type *const *in, const lks_type *out, int64_t n); /* bytes for at most n examples */
    size_t (*scratch)(const lks_type *const *in, const lks_type *out, int64_t n);
    void (*prepare)(const lks_wide_call *wide); /* all parts do this before any runs */
    bool (*run)(const lks_wide_call *wide);     /* true: all outputs of this part are known to be finite */
} lks_wide;

typedef struct lks_kernel_set {
    lks_isa isa;
    const lks_kernel *kernels; /* first applicable wins; ended by op == NULL */
    const lks_ew_fn *elementwise;
    /* acc[i] += x[i]; and max; and whether all are finite */
    void (*add)(float *acc, const float *x, int64_t n);
    /* acc[i] += x[r * n + i], r going through the rows in order */
    void (*add_rows)(float *acc, const float *x, int64_t rows, int64_t n);
    int (*all_finite)(const float *x, int64_t n);
    /* n rounds of multiply-adds in registers; returns the operations done. For measuring the machine's peak. */
    double (*fma_burst)(int64_t n);
    /* Layers with many weights and one position an example (see backend/cpu); NULL = none. matmul: both directions. */
    const lks_wide *matmul_wide, *matmul_filter_wide;
} lks_kernel_set;

/* The set of an instruction set that this machine has; the reference set otherwise. */
const lks_kernel_set *lks__kernels_for(lks_isa isa);
extern const lks_kernel_set lks__kernels_ref;

#endif
