/* dataset_diagnose.h - where a pipeline spends its time, what holds it up, and what to change. */
#ifndef LOCKSTEP_DATASET_DIAGNOSE_H
#define LOCKSTEP_DATASET_DIAGNOSE_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lks_stage_report {
    const char *stage; /* "map"; borrowed from the diagnosis */
    const char *what;  /* name of its function, or ""; "first, second" where several run as one */
    int number;        /* as messages have it: "map (stage 2)"; sources are 1 */
    int inner;         /* 1: in a dataset that a function made */
    int64_t elements;  /* that it gave (row numbers where a batch gathers rows) */
    double per_s;      /* of them */
    double cpu_ms;     /* processor time an element, its inputs' left out, on all threads */
    double busy_ms;    /* wall time an element, its inputs' and waiting left out */
    double wait_s;     /* waited for elements or for its own workers */
    double full_s;     /* waited for room in its queue */
    int64_t window;    /* elements under way or ready at most, as last chosen; 0: none */
    int64_t bytes;     /* of an element, as expected last; 0: not measured */
} lks_stage_report;

typedef enum lks_bottleneck {
    LKS_BOUND_BY_NOTHING = 0, /* too little was read to tell */
    LKS_BOUND_BY_STAGE = 1,   /* one thread computes in this stage */
    LKS_BOUND_BY_CORES = 2,   /* its function keeps all threads busy */
    LKS_BOUND_BY_SOURCE = 3,  /* waiting for a disk or network */
    LKS_BOUND_BY_CONSUMER = 4 /* the data are there in time */
} lks_bottleneck;

typedef struct lks_diagnosis lks_diagnosis;

typedef struct lks_diagnose_options {
    size_t struct_size;
    double seconds;     /* at most; default 5 */
    int64_t elements;   /* at most; default no limit */
    double consumer_ms; /* what the consumer does with each element: so long it sleeps */
} lks_diagnose_options;
/* Reads the dataset (shares it) for a while and measures. Also gives the warnings about well-known traps. One reference in *out. A
 * failure of the data ends the reading and is returned. */
LKS_API lks_status lks_dataset_diagnose_with(lks_dataset *dataset, lks_diagnosis **out,
                                             const lks_diagnose_options *options);
#ifndef __cplusplus
#define lks_dataset_diagnose(...) LKS_CALL2(lks_dataset_diagnose_with, lks_diagnose_options, __VA_ARGS__, )
#endif
LKS_API void lks_diagnosis_release(lks_diagnosis *diagnosis); /* NULL is fine */

LKS_API int64_t lks_diagnosis_elements(const lks_diagnosis *diagnosis);  /* that were read */
LKS_API double lks_diagnosis_seconds(const lks_diagnosis *diagnosis);    /* from the first request to the end */
LKS_API double lks_diagnosis_wait_share(const lks_diagnosis *diagnosis); /* of the time: the consumer waited */
LKS_API size_t lks_diagnosis_stages(const lks_diagnosis *diagnosis);     /* sink first */
LKS_API const lks_stage_report *lks_diagnosis_stage(const lks_diagnosis *diagnosis, size_t i);
/* What limits the pipeline, and the stage (index; -1 for the consumer or nothing). */
LKS_API lks_bottleneck lks_diagnosis_bottleneck(const lks_diagnosis *diagnosis, int64_t *stage);
/* Bytes that the process read from files a second meanwhile, and the share of their time that the threads for files were at work. NULL
 * outputs are fine. */
LKS_API void lks_diagnosis_files(const lks_diagnosis *diagnosis, double *bytes_per_s, double *busy);
LKS_API const char *lks_diagnosis_advice(const lks_diagnosis *diagnosis); /* a sentence or two */
LKS_API const char *lks_diagnosis_text(const lks_diagnosis *diagnosis);   /* all of it as a table and sentences */

/* The sentences about well-known traps that fit the recipe (split after a reshuffle, randomness below a cache, shards of a shuffled
 * listing, a prefetch of very many large batches, a small shuffle buffer), through the warning hook; once a dataset object. */
LKS_API void lks_dataset_warn_traps(lks_dataset *dataset);

#ifdef __cplusplus
}
#endif
#endif
