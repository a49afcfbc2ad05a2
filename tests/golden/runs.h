/* runs.h - the parts of the topic "runs"; the topic's README says what stands in each file. */
#ifndef LKS_TESTS_GOLDEN_RUNS_H
#define LKS_TESTS_GOLDEN_RUNS_H

#include "golden.h"
#include "lockstep/train.h"

/* Each counts the cases of one file of the folder. */
typedef struct golden_run {
    const char *folder, *name; /* "cnn": cnn.json, cnn.npz, ... */
    json_t *json;
    golden_report *report;
} golden_run;

void golden_runs_trajectory(golden_run *run);
void golden_runs_pets(golden_run *run);
void golden_runs_bands(golden_run *run);
void golden_runs_fit(golden_run *run);
void golden_runs_summaries(golden_run *run);

/* The allowed difference after `step` steps; and what the step numbered `step` from 0 put out, compared. */
double golden_run_tolerance(const golden_run *run, const char *key, int64_t step);
void golden_run_check_step(golden_run *run, int64_t step, const lks_logs *logs);

/* MNIST from the shared folder: images as float32 (n, 28, 28, 1) divided by 255, labels int. part: "train" or "t10k".
 * False: not there. */
typedef struct golden_mnist {
    lks_tensor *images; /* uint8 (n, 28, 28) */
    lks_tensor *labels; /* uint8 (n) */
} golden_mnist;
bool golden_mnist_open(golden_run *run, const char *part, golden_mnist *out);
void golden_mnist_close(golden_mnist *m);
/* Rows [begin, begin + n) as float32 (n, 28, 28, 1) / 255, and labels as one-hot float32 (n, 10). */
lks_tensor *golden_mnist_images(const golden_mnist *m, int64_t begin, int64_t n);
lks_tensor *golden_mnist_one_hot(const golden_mnist *m, int64_t begin, int64_t n);

/* "FOLDER/NAMESUFFIX" in a buffer used again by every fourth call. */
const char *golden_run_path(const golden_run *run, const char *name, const char *suffix);

#endif
