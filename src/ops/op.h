/* op.h - internal. What an op is: shape rule, gradient as graph, reference kernel, self-checks, in one file each.
 *
 * Values and the batch. A value either carries the batch (`batched`: one row of `shape` for every example; the shape
 * leaves the batch axis out) or is shared (weights, constants, sums over the batch). An op that sums or takes the maximum
 * over the batch is an accumulator: its kernel adds the examples of one slice, in order, to what is already in the
 * output; the executor starts it at the neutral element once a shard and joins shards by the fixed tree. That is the
 * only way in which examples may meet.
 *
 * Order. Each op's file states the order of its sums. It may depend on the op and the shapes (without the batch), never
 * on the slice, the batch size or the machine.
 */
#ifndef LKS_OPS_OP_H
#define LKS_OPS_OP_H

#include <stdbool.h>

#include "base/error.h"
#include "lockstep/ops.h"
#include "lockstep/tensor.h"

typedef struct lks_op lks_op;

typedef struct lks_type {
    lks_dtype dtype;
    bool batched;    /* one row of `shape` an example */
    bool local;      /* shared, but one value per replica (local batch normalisation) */
    lks_shape shape; /* without the batch axis; sizes all known */
} lks_type;

/* Elements (bytes) of one row (batched) or of the value (shared). */
int64_t lks__type_size(const lks_type *type);
size_t lks__type_bytes(const lks_type *type);
/* "(None, 28, 28, 1) float32" into LKS_TYPE_TEXT bytes; returns the buffer. */
enum { LKS_TYPE_TEXT = 224 };
const char *lks__type_text(const lks_type *type, char *buffer);

/* Elementwise ops that a kernel may do to its results while they are in registers, in this order. */
typedef struct lks_after {
    const float *mean, *factor; /* (x - mean) factor: a number for each place on the last axis; or both NULL */
    const float *bias;          /* add: one number for each place on the last axis; or NULL */
    const float *add;           /* add: this, of the results' shape; or NULL */
    bool relu;                  /* relu */
    const float *mask;          /* relu_grad: 0 where this, of the results' shape, is not above 0; or NULL */
    float cap;                  /* of relu: this where x is not below it; 0: none */
} lks_after;

/* One run of a kernel over `n` consecutive examples (1 where nothing is batched). */
typedef struct lks_op_call {
    const void *attrs;
    int n_in;
    const lks_type *const *in_type;
    const lks_type *out_type;
    const void *const *in; /* batched: n rows; shared: the value */
    void *out;             /* batched: n rows; accumulators: add to it */
    int64_t n;
    int64_t first;          /* index in the global batch of the first example */
    int64_t batch;          /* examples in the global batch */
    uint64_t seed;          /* random ops: key */
    uint32_t step;          /* random ops: counter word */
    void *scratch;          /* op->scratch bytes of this thread, 64-byte aligned */
    const lks_after *after; /* kernels that take it only (kernels.h); or NULL */
    /* accumulators, kernels that take it only (kernels.h: sums): */
    bool fresh; /* what lies in `out` counts as zeros */
    int n_join; /* these are added to it at the end, one after the other */
    const float *const *join;
} lks_op_call;

/* What a gradient rule gets and fills: d_in[i] for those inputs that have a gradient and are wanted. */
typedef struct lks_vjp {
    const void *attrs;
    int n_in;
    const lks_node *in;
    const bool *wanted;
    lks_node out, d_out;
    lks_node *d_in; /* preset to lks__no_node */
} lks_vjp;

typedef enum lks_op_flags {
    LKS_OP_ELEMENTWISE = 1, /* out[i] depends on element i of the broadcast inputs; may be fused */
    LKS_OP_BATCH_SUM = 2,   /* accumulator: starts at 0, joined by + */
    LKS_OP_BATCH_MAX = 4,   /* accumulator: starts at -inf, joined by max (NaN passes on) */
    LKS_OP_RANDOM = 8,      /* uses seed, step and first */
    LKS_OP_SOURCE = 16,     /* input, variable, constant, batch size: no kernel */
    LKS_OP_VIEW = 32        /* the bytes of input 0 in another shape: no kernel is needed */
} lks_op_flags;

/* A self-check. Tests compare the gradient with differences, and kernels of all instruction sets with the reference. */
typedef struct lks_op_case {
    const char *name; /* NULL ends the list */
    const void *attrs;
    int n_in;
    lks_type in[4];
    double tolerance; /* of the gradient check; 0 = forward only */
    double low, high; /* range of the inputs' values, where the function is defined and smooth; both 0 = -1 to 1 */
} lks_op_case;

/* Types in cases: a row of every example, a shared value; sizes after the rank ("0, 0" for a scalar). */
#define LKS_ROW_OF(type, rank, ...)                                        \
    {                                                                      \
        .dtype = type, .batched = true, .shape = { rank, { __VA_ARGS__ } } \
    }
#define LKS_SHARED_OF(type, rank, ...)                    \
    {                                                     \
        .dtype = type, .shape = { rank, { __VA_ARGS__ } } \
    }
#define LKS_ROW(rank, ...) LKS_ROW_OF(LKS_FLOAT32, rank, __VA_ARGS__)
#define LKS_SHARED(rank, ...) LKS_SHARED_OF(LKS_FLOAT32, rank, __VA_ARGS__)

struct lks_op {
    const char *name;
    unsigned flags;
    size_t attrs_size; /* the graph keeps a bytewise copy: attributes hold no pointers */
    int elementwise;   /* lks_ew_code of an elementwise op */
    lks_status (*infer)(const void *attrs, int n_in, const lks_type *const *in, lks_type *out);
    void (*run)(const lks_op_call *call); /* the reference kernel; types were checked: cannot fail */
    void (*gradient)(const lks_vjp *v);   /* NULL: no gradient passes; builds nodes, errors stick to the graph */
    size_t (*scratch)(const void *attrs, const lks_type *const *in, const lks_type *out); /* may be NULL */
    double (*flop)(const void *attrs, const lks_type *const *in, const lks_type *out); /* a row; NULL = 1 an element */
    const lks_op_case *cases;                                                          /* may be NULL */
};

/* All ops, ended by NULL; and one by name (NULL if unknown). */
extern const lks_op *const lks__ops[];
const lks_op *lks__op_find(const char *name);

#define LKS_OP(name) extern const lks_op lks__op_##name;
#include "op_list.h"
#undef LKS_OP

/* ---- the graph as ops and everything above see it (implemented in src/graph) ---- */

extern const lks_node lks__no_node; /* "no gradient", "absent" */
bool lks__node_ok(lks_node node);   /* a node of a graph, not failed or absent */
const lks_type *lks__node_type(lks_node node);

/* Adds a node: infers its type, keeps a copy of attrs. A failed input or a refusing shape rule gives a failed node and
 * leaves the first cause in the graph. All inputs belong to one graph. */
lks_node lks__node_create(lks_graph *graph, const lks_op *op, const void *attrs, int n_in, const lks_node *in);
/* Records `code` with this thread's error text in the graph; returns a failed node. */
lks_node lks__node_fail(lks_graph *graph, lks_status code);

/* Common shape rules. */
lks_status lks__expect_inputs(const char *op, int want, int got);
lks_status lks__expect_dtype(const char *op, const lks_type *type, lks_dtype want);
/* NumPy broadcasting of two rows (dtype of a); batched if either is, local if either is and the result is shared. A
 * shared operand is aligned to the row of a batched one, from the last axis. */
lks_status lks__broadcast_types(const char *op, const lks_type *a, const lks_type *b, lks_type *out);

#endif
