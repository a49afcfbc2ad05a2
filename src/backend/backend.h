/* backend.h - internal. A compiled function on some device: what the model asks of a backend.
 *
 * A function is a trace (graph + assignments) with values to fetch and values to check. It is compiled once for batches of
 * up to max_batch examples and then run with any smaller batch without compiling or allocating.
 */
#ifndef LKS_BACKEND_BACKEND_H
#define LKS_BACKEND_BACKEND_H

#include "base/cpu.h"
#include "graph/trace.h"

typedef struct lks_executable lks_executable;

/* Who can have the same bits again (strategy.h, the public one): decides shards and who sums what. */
typedef enum lks_reproducible { LKS_ANY_WORLD, LKS_SAME_WORLD, LKS_FASTEST } lks_reproducible;

typedef struct lks_compile_spec {
    int64_t max_batch;  /* examples in the largest global batch */
    int threads;        /* compute threads; 0 = usable cores */
    int replicas;       /* contiguous runs of shards; 0 = 1 */
    int virtual_shards; /* 0 = by batch and model, at most 16; LKS_ANY_WORLD only */
    lks_reproducible reproducible;
    lks_isa isa;
    size_t n_fetches;
    const lks_node *fetches; /* batched: written to the caller's rows; shared: read with lks__executable_value */
    size_t n_checks;
    const lks_node *checks; /* shared: must be finite, else nothing is assigned */
} lks_compile_spec;

/* Rows of input i: row e is rows ? data[rows[e]] : data[e]. A shared input: the value itself. */
typedef struct lks_feed {
    const void *data;
    const int64_t *rows;
} lks_feed;

typedef struct lks_run_args {
    int64_t n;             /* examples in this global batch, 0 <= n <= max_batch */
    const lks_feed *feeds; /* one an input of the graph */
    void *const *fetches;  /* one a fetch: n rows of memory for batched ones, ignored for shared ones */
    uint64_t seed;         /* of random ops */
    uint32_t step;
    bool dry; /* assign nothing */
} lks_run_args;

/* The trace must outlive the executable. */
lks_status lks__executable_create(lks_trace *trace, const lks_compile_spec *spec, lks_executable **out);
void lks__executable_release(lks_executable *exe); /* NULL is fine */

/* Runs one step. LKS_E_NONFINITE: a checked value is not finite; nothing was assigned, and the text names the layer in which
 * the first such value appeared. Allocates nothing. */
lks_status lks__executable_run(lks_executable *exe, const lks_run_args *args);

/* A shared fetch after a run; valid until the next one. */
const void *lks__executable_value(const lks_executable *exe, size_t fetch);

/* What was decided, for plan, --json and tests. */
typedef struct lks_plan_report {
    int threads, replicas, shards, phases;
    lks_reproducible reproducible;
    int64_t slice; /* examples, of the first phase */
    lks_isa isa;
    size_t slice_bytes, full_bytes, accumulator_bytes, shared_bytes, scratch_bytes,
        packed_bytes;        /* of the whole executable */
    double flop_per_example; /* useful work of one run; multiply-add = 2 */
    int instructions;
} lks_plan_report;
void lks__executable_report(const lks_executable *exe, lks_plan_report *out);

/* Where the time of a step goes: one row an instruction, then gathering rows, joining and waiting, checks and assignments. The
 * seconds are wall time of one step, means of `repeats` steps (which assign, as any step) and of the threads; they add up to the
 * step. For `lockstep bench --roofline`. */
typedef struct lks_profile_row {
    char op[48], scope[80]; /* kernel; layer, "" for work that belongs to none */
    bool batched;           /* runs over the examples; else once a step */
    double seconds, flop;
    double bytes;        /* of all operands, once each (of batched ones every row) */
    double memory_bytes; /* of those that do not live in the slice, so that they come from memory or a large cache */
} lks_profile_row;
lks_status lks__executable_profile(lks_executable *exe, const lks_run_args *args, int repeats, lks_profile_row **rows,
                                   size_t *n_rows); /* rows freed with lks__free */

#endif
