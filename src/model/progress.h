/* progress.h - internal. What fit, evaluate and predict print on request: Keras' progress bar (verbose 1) and its line an
 * epoch (verbose 2), byte for byte.
 *
 * One lks_progress lives for a whole call. fit:
 *
 *     lks_progress bar;
 *     lks__progress_begin(&bar, &(lks_progress_setup){ .verbose = 1, .epochs = 10, .target = steps });
 *     for each epoch: lks__progress_epoch(&bar, epoch);
 *                     for each step: if (lks__progress_step(&bar, steps done)) lks__progress_draw(&bar, &running_logs);
 *                     lks__progress_finish(&bar, &logs_with_val);
 *     lks__progress_end(&bar);
 *
 * evaluate and predict do the same with .epochs = 1 and one epoch 0; predict gives logs NULL. With verbose 0 every call
 * returns at once. Nothing fails: where there is no memory, nothing is printed.
 */
#ifndef LKS_MODEL_PROGRESS_H
#define LKS_MODEL_PROGRESS_H

#include "base/text.h"
#include "lockstep/train.h"

typedef double (*lks_progress_clock)(void *user); /* seconds from any origin, never going back */

typedef struct lks_progress_setup {
    int64_t verbose;          /* 0, 1, 2 */
    int64_t epochs;           /* above 1: "Epoch i/N" stands before each */
    int64_t target;           /* steps an epoch; -1 unknown */
    lks_progress_clock clock; /* NULL: the monotonic clock */
    void *clock_user;
} lks_progress_setup;

typedef struct lks_progress {
    lks_progress_setup setup;
    int64_t seen;             /* steps done in this epoch */
    double start, first_step; /* of this epoch; first_step < 0: not seen at exactly one step */
    double now, per_step;     /* as the last step found them */
    double last_draw;
    bool drawn;
    int64_t width; /* of the line on the screen, in visible characters */
    lks_text line; /* reused: later draws allocate nothing */
} lks_progress;

void lks__progress_begin(lks_progress *p, const lks_progress_setup *setup);
/* A new bar from now on; prints the epoch's heading. Epochs count from 0. */
void lks__progress_epoch(lks_progress *p, int64_t epoch);
/* Call after every step: `seen` steps of this epoch are done. True if a draw is due (at most every 0.05 s): then read the
 * running values and draw. */
bool lks__progress_step(lks_progress *p, int64_t seen);
void lks__progress_draw(lks_progress *p, const lks_logs *logs);
/* The epoch's last line. Its number of steps becomes the target of the next where none was known. */
void lks__progress_finish(lks_progress *p, const lks_logs *logs);
void lks__progress_end(lks_progress *p);

#endif
