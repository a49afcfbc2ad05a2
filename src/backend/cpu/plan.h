/* plan.h - internal to backend/cpu. The compiled form of a graph: phases of per-example work in slices, stages of shared work
 * between them, and where every value lives.
 *
 *   stage 0 | phase 0 | join | stage 1 | phase 1 | join | ... | stage P | check | update
 *
 * Where a layer is wide (wide.c), phases alternate: the even ones work in slices, the odd ones over the whole batch.
 * Batched values live in a slot of the lane's arena for one slice, or, when a later phase needs them, in rows kept for the whole
 * batch. Accumulators live in the lane's tree nodes until they are joined.
 */
#ifndef LKS_BACKEND_CPU_PLAN_H
#define LKS_BACKEND_CPU_PLAN_H

#include <stdatomic.h>

#include "backend/backend.h"
#include "kernels/kernels.h"

/* Does the node sum (or take the maximum) over the batch? Over shared values such an op is ordinary shared work. */
static inline bool lks__cpu_accumulates(const lks_graph_node *n)
{
    return (n->op->flags & (LKS_OP_BATCH_SUM | LKS_OP_BATCH_MAX)) != 0 && n->in_type[0]->batched;
}

typedef enum cpu_where {
    AT_NOWHERE = 0,
    AT_SLOT,   /* offset in the lane's arena */
    AT_FULL,   /* offset in the executable's row storage + example * bytes */
    AT_FEED,   /* the caller's rows */
    AT_FETCH,  /* the caller's output rows */
    AT_SHARED, /* offset in the shared arena (+ replica * bytes if local) */
    AT_RESULT, /* joined accumulator: offset in the phase's result block */
    AT_FIXED   /* constant or variable: an address */
} cpu_where;

typedef struct cpu_value {
    cpu_where where;
    int64_t root; /* the node whose storage this one shares; itself if none */
    bool needed;
    bool wide;    /* runs over the whole batch at once (wide.c) */
    bool whole;   /* such a node reads it: its rows are kept */
    int phase;    /* batched and accumulators: phase; shared: stage */
    size_t bytes; /* a row, or the value */
    size_t offset;
    int first, last; /* instruction numbers that write and last read it (of its phase, or all for FULL) */
    int last_phase;
    int64_t index; /* feed or fetch number; accumulators: float index in the block */
    void *fixed;
    bool finite; /* known of the running step */
} cpu_value;

typedef struct ew_program ew_program;
typedef struct cpu_band cpu_band;

enum {
    LKS_CPU_MAX_LEVELS = 24, /* of the tree over shards */
    LKS_CPU_BAND = 3         /* instructions that run in bands together */
};

typedef struct cpu_instr {
    void (*run)(const lks_op_call *call);
    const char *name, *scope;
    const lks_op *op; /* NULL: a program */
    const void *attrs;
    int n_in, n_out;
    int n_args;        /* inputs of the op itself; what follows belongs to `after` */
    int64_t *in, *out; /* node ids */
    const lks_type **in_type;
    const lks_type *out_type;
    const cpu_band *band;   /* not NULL: this and the next ones may run in bands of rows (band.c) */
    ew_program *program;    /* not NULL: a fused elementwise group */
    const lks_wide *wide;   /* not NULL: over the whole batch */
    int takes_after;        /* lks_kernel.after */
    const lks_parts *parts; /* the kernel's, where it suits; or NULL */
    const void *packed;     /* the weights in their order, of this step; or NULL (fixed.c) */
    bool packs;             /* `parts` needs them */
    bool fixed;             /* follows from variables that the function does not write: made once (fixed.c) */
    bool sums;              /* some output is an accumulator of a lane's tree nodes */
    bool takes_sums;        /* lks_kernel.sums */
    void (*settle)(const lks_op_call *call, int part, int parts); /* lks_kernel.settle */
    bool after;                        /* the kernel does these elementwise ops too (plan_after.c): */
    int mean, factor, bias, add, mask; /* inputs, or 0 */
    bool relu;
    float cap; /* of relu; 0: none */
    size_t scratch;
    double flop;      /* a row, or a run of shared work */
    int64_t elements; /* shared elementwise work: splittable range; else 0 */
    bool local;       /* shared, once a replica */
    bool replica_mean;
    int64_t order; /* graph id of the last node: position for messages */
} cpu_instr;

typedef struct cpu_list {
    cpu_instr *instrs;
    size_t n, capacity;
} cpu_list;

typedef struct cpu_phase {
    cpu_list list;
    int64_t sum_floats, max_floats; /* accumulators: sums first, then maxima, both padded to 16 */
    int64_t unwide_floats;          /* of them: would be wide, had the instruction set a kernel for that */
    size_t result_offset;           /* floats into the result storage, replica-major */
    size_t slot_bytes;              /* arena for one slice */
    int64_t slice;
    size_t n_feeds; /* batched inputs read in this phase, and their slots for gathered rows */
    int64_t *feeds;
    size_t *feed_offsets; /* in the lane's arena; of a wide phase: in the rows of the whole batch */
} cpu_phase;

/* A tree node that a lane holds: covers shards [index << level, (index + 1) << level). */
typedef struct cpu_tree_node {
    int level, index;
    int buffer; /* which of the lane's accumulator buffers */
} cpu_tree_node;

typedef struct cpu_lane {
    int replica;
    int shard_begin, shard_end;
    atomic_ullong run;   /* which of these nobody has taken yet, or examples of the replica that somebody has: take.c */
    atomic_ullong units; /* parts of the running instruction that nobody has taken yet: take.c */
    char *arena;         /* slots of the running phase */
    char *scratch;
    float **buffers; /* accumulator buffers */
    int n_buffers;
    cpu_tree_node *nodes; /* stack of finished nodes */
    int n_nodes;
    unsigned free_buffers; /* bit mask */
    bool fresh;            /* the running slice is its shard's first: accumulators hold what is no longer wanted */
    int n_join; /* and its last: nodes that the shard's sums meet, each instruction's as soon as it is done */
    const float *join[LKS_CPU_MAX_LEVELS];
    const char **feeds; /* rows of each input for the running slice */
    const void **in;    /* pointer scratch for calls */
    void **out;
    bool finite;     /* its part of the last wide instruction is */
    int64_t bad;     /* tracing: first instruction with a result that is not finite, or -1 */
    double *seconds; /* profiling: of each instruction of the running list, then of gathering rows; else NULL */
} cpu_lane;

typedef struct cpu_copy { /* assignment by copy at the end of the update */
    void *to;
    int64_t from; /* node, or -1: shared storage at offset */
    size_t offset, bytes;
} cpu_copy;

typedef struct cpu_save { /* a variable's old value that a copy needs */
    const void *from;
    size_t offset; /* in shared storage */
    size_t bytes;
} cpu_save;

/* Weights that the kernel of an instruction keeps in an order of its own. */
typedef struct cpu_pack {
    cpu_instr *instr;
    size_t variable; /* number of exe->watched */
    void *memory;
    bool again; /* an earlier one packs the same into the same memory */
} cpu_pack;

/* A variable from which something follows that is made only when it has changed. */
typedef struct cpu_watched {
    lks_variable *variable;
    bool written;     /* by the function: in every step */
    unsigned version; /* when it was last used */
    bool known;       /* there was such a time, and nobody outside held the tensor then */
    bool changed;     /* in the running step: since then, or it may have been */
} cpu_watched;

/* A kernel's call and what it points to. */
typedef struct cpu_call {
    lks_op_call call;
    lks_after after;
    const float *join[LKS_CPU_MAX_LEVELS];
} cpu_call;

struct lks_executable {
    lks_trace *trace;
    lks_graph *graph;
    const lks_kernel_set *kernels;
    int64_t max_batch;
    int threads, replicas, shards, n_phases;
    lks_reproducible reproducible;
    bool wide; /* odd phases are wide */
    size_t n_nodes;
    cpu_value *values;
    cpu_phase *phases; /* n_phases */
    cpu_list *stages;  /* n_phases + 2: the last one is the update */
    int64_t *fetches;
    size_t n_fetches;
    int64_t *checks;
    size_t n_checks;
    lks_assignment *assignments; /* the trace's, with this graph's nodes */
    size_t n_assignments;
    lks_graph rewritten; /* nodes in `arena`, their list of its own; see plan_recompute.c */
    cpu_copy *copies;    /* after the update; first n_saves of `saves` before it */
    size_t n_copies;
    cpu_save *saves;
    size_t n_saves;
    lks_arena arena; /* plan objects */
    char *shared;    /* shared values */
    size_t shared_bytes;
    char *full;
    size_t full_bytes;
    float *results;       /* all phases, all replicas */
    size_t result_floats; /* of one replica */
    size_t accumulator_floats, scratch_bytes;
    int64_t wide_floats; /* accumulators that are wide by their shape */
    void *common;        /* memory that all parts of a wide kernel see */
    size_t common_bytes;
    int wide_shards; /* of wide kernels: shards, or 1 where their number need not be the same everywhere */
    cpu_watched *watched;
    cpu_pack *packs;
    size_t n_watched, n_packs, packed_bytes;
    bool fixed_known; /* the results of fixed instructions are those of the running step */
    char *packed;
    int64_t *shard_ends; /* wide kernels: example at which each shard of the running step ends */
    int max_in, max_out;
    cpu_lane *lanes;
    int n_lanes;
    double flop_per_example;
    int64_t batch_size_node;
    /* the running step */
    const lks_run_args *args;
    int phase;
    atomic_bool joined_finite; /* so far, of the phase being joined */
    bool alone;                /* one lane has all examples: the others help it (split.c) */
    bool tracing;
};

/* plan_order.c: which nodes are needed, in which phase or stage. */
lks_status lks__cpu_plan_order(lks_executable *exe, const lks_compile_spec *spec);
/* plan_recompute.c: values that are made again in later phases instead of kept; exe->graph becomes a rewritten one. */
lks_status lks__cpu_plan_recompute(lks_executable *exe);
/* plan_fuse.c: instruction lists with fused elementwise groups. */
lks_status lks__cpu_plan_fuse(lks_executable *exe);
/* plan_after.c: elementwise groups that the kernel in front of them can do. */
lks_status lks__cpu_plan_after(lks_executable *exe, const bool *kept);
void lks__cpu_share_masks(lks_executable *exe, int phase);
/* plan_memory.c: slices, slots, rows, shared storage; plan_lanes.c: shards and lanes; plan_assign.c: where new values of
 * variables are written. */
lks_status lks__cpu_plan_memory(lks_executable *exe, const lks_compile_spec *spec);
lks_status lks__cpu_plan_lanes(lks_executable *exe);
int lks__cpu_default_shards(const lks_executable *exe);
int lks__cpu_lanes_a_replica(const lks_executable *exe);
lks_status lks__cpu_plan_assign(lks_executable *exe);

/* program.c: a fused group. Members are graph ids in order; outputs are those that somebody outside reads; sums are batch_sum
 * nodes over members or over whole operands of them. */
lks_status lks__ew_program_create(lks_executable *exe, size_t n, const int64_t *members, size_t n_out,
                                  const int64_t *outs, size_t n_sums, const int64_t *sums, cpu_instr *instr);
bool lks__ew_fusible(const lks_graph *g, int64_t id);
/* A batch_sum whose input's rows are positions of channels: what a program can sum as it goes. */
bool lks__ew_summable(const lks_graph *g, int64_t id);
/* Elements [begin, end) of the iteration space of n rows. in/out: bases of the instruction's values. */
void lks__ew_program_run(const ew_program *p, const lks_kernel_set *kernels, const void *const *in, void *const *out,
                         int64_t begin, int64_t end, void *scratch);
/* Output k is the memory of one of the inputs: write it only after all reads of a block. */
void lks__ew_program_in_place(ew_program *p, int out);

/* join.c: the fixed tree. A lane starts a shard, runs its slices with `fresh` and `n_join` set for the first and last of them, and
 * finishes it. Around each instruction of a slice: its accumulators start at zero; they meet those of other shards. */
void lks__cpu_lane_start_shard(lks_executable *exe, cpu_lane *lane, const cpu_phase *phase, bool empty);
void lks__cpu_lane_last_slice(cpu_lane *lane, int shard);
void lks__cpu_lane_finish_shard(lks_executable *exe, cpu_lane *lane, const cpu_phase *phase, int shard);
void lks__cpu_start_sums(const lks_executable *exe, const cpu_lane *lane, const cpu_instr *instr);
void lks__cpu_join_sums(const lks_executable *exe, const cpu_lane *lane, const cpu_instr *instr);
void lks__cpu_join(lks_executable *exe, int phase);
/* Do the two nodes have one parent? */
static inline bool lks__cpu_sisters(const cpu_tree_node *a, const cpu_tree_node *b)
{
    return a->level == b->level && a->index != b->index && a->index / 2 == b->index / 2;
}

/* take.c: all lanes have their own shards before them; the next shard of a lane, of its own or another's run, or -1.
 * back: a run is walked from its end. */
void lks__cpu_deal_shards(lks_executable *exe);
int lks__cpu_take_shard(lks_executable *exe, cpu_lane *lane, bool back);
/* LKS_FASTEST: the next slice of the lane's replica that nobody has taken: false if none is left. */
bool lks__cpu_take_slice(lks_executable *exe, const cpu_lane *lane, bool back, int64_t *first, int64_t *n);
/* How many parts the lanes should share an instruction of so many operations out in, at most `most` or one a lane. Dealing out parts
 * [0, units); the next one of a lane, first its own run in order, then others' from the end, or -1. */
int64_t lks__cpu_units(const lks_executable *exe, double flop, int64_t most);
void lks__cpu_deal_units(lks_executable *exe, int64_t units);
int lks__cpu_take_unit(lks_executable *exe, int lane);

/* Checks the wanted values, then assigns: the end of every step. */
lks_status lks__cpu_end_step(lks_executable *exe, bool dry);
/* Runs shared work of one stage on the caller and, where large, on all lanes. */
void lks__cpu_run_stage(lks_executable *exe, int stage);
/* Runs one phase on all lanes and joins its accumulators. */
void lks__cpu_run_phase(lks_executable *exe, int phase);
/* Memory that wide phases need. */
lks_status lks__cpu_plan_wide(lks_executable *exe);
/* split.c: may all threads make parts of this instruction's result for n examples, and doing so. call: of a kernel. */
bool lks__cpu_can_split(const lks_executable *exe, const cpu_instr *instr, int64_t n);
void lks__cpu_run_parts(lks_executable *exe, cpu_lane *lane, const cpu_instr *instr, const lks_op_call *call,
                        int64_t n);
/* The call of an instruction that is no program, for n examples. It points to `out` and the lane's lists. */
void lks__cpu_fill_call(const lks_executable *exe, cpu_lane *lane, const cpu_instr *instr, int64_t first, int64_t n,
                        cpu_call *out);
/* band.c: finds convolutions that may run in bands, once it is known where values live; may instr and those that follow it run so
 * now, for n examples; running all LKS_CPU_BAND of them. */
lks_status lks__cpu_plan_bands(lks_executable *exe);
bool lks__cpu_can_band(const lks_executable *exe, const cpu_instr *instr, int64_t n);
void lks__cpu_run_band(lks_executable *exe, cpu_lane *lane, const cpu_instr *instr, int64_t first, int64_t n);
/* fixed.c: what follows from variables that the function does not write: packed weights and shared values; making again what
 * has changed, at the begin of a step. */
lks_status lks__cpu_plan_fixed(lks_executable *exe);
void lks__cpu_refresh_fixed(lks_executable *exe);
/* wide.c: should a node run over the whole batch, as far as it goes by shapes; its kernel, or NULL; such phases; running one. */
bool lks__cpu_is_wide(const lks_executable *exe, const lks_graph_node *n);
const lks_wide *lks__cpu_wide_kernel(const lks_executable *exe, const lks_graph_node *n);
bool lks__cpu_phase_is_wide(const lks_executable *exe, int phase);
void lks__cpu_run_wide(lks_executable *exe, int phase);
/* Tracing: notes instruction `number` if lane->out holds something that is not finite. */
void lks__cpu_trace_outputs(const lks_executable *exe, cpu_lane *lane, const cpu_instr *instr, int64_t number,
                            int64_t n);
/* Where the rows of a batched value from example `first` lie, or a shared value. */
void *lks__cpu_address(const lks_executable *exe, const cpu_lane *lane, int64_t node, int64_t first);
/* Where a shared value lies. */
void *lks__cpu_shared_address(const lks_executable *exe, int64_t node, int replica);

#endif
