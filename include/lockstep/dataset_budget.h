/* dataset_budget.h - what all pipelines of the process may use together: memory for elements, threads for functions.
 *
 * Numbers that a pipeline gives itself (prefetch(64), num_parallel_calls = 8, a shuffle buffer) are never changed. Where it
 * says LKS_AUTOTUNE, windows grow only as far as the budget allows; one element a stage is always allowed. Elements and their
 * order never depend on any of this.
 */
#ifndef LOCKSTEP_DATASET_BUDGET_H
#define LOCKSTEP_DATASET_BUDGET_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lks_data_budget {
    size_t struct_size;
    int64_t
        memory_bytes; /* for elements of all pipelines; 0: the environment variable LOCKSTEP_DATA_MEMORY ("300M", "2G"), else
                             a quarter of the memory that the machine or the cgroup has */
    int64_t
        threads; /* that run functions; 0: LOCKSTEP_DATA_THREADS, else the usable cores (affinity and cgroup respected) */
    int64_t io_threads; /* that wait for files; 0: LOCKSTEP_DATA_IO_THREADS, else 8 */
} lks_data_budget;
/* Holds from now on; threads that run already stay. LKS_E_ARG for negative numbers. */
LKS_API lks_status lks_set_data_budget(const lks_data_budget *budget);

typedef struct lks_data_usage {
    size_t struct_size;
    int64_t memory_budget, memory_bytes,
        peak_bytes; /* of buffers for elements, those that wait for their next use included */
    int64_t threads, io_threads;
} lks_data_usage;
LKS_API void lks_get_data_usage(lks_data_usage *out);

#ifdef __cplusplus
}
#endif
#endif
