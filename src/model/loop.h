/* loop.h - internal. Pieces that fit, evaluate and predict share. */
#ifndef LKS_MODEL_LOOP_H
#define LKS_MODEL_LOOP_H

#include "function.h"
#include "hooks.h"
#include "progress.h"

typedef struct lks_loop {
    lks_model *model;
    lks_hooks hooks;
    lks_function_options function;
    uint64_t seed;
    int64_t steps;     /* asked for; 0 = all of the data */
    lks_progress *bar; /* NULL: prints nothing */
} lks_loop;

/* Checks that the model can do this: built (a sequential model is built from the batch), compiled where needed. */
lks_status lks__loop_ready(lks_model *m, bool need_compiled);
/* Builds a sequential model from the first batch, if it waits for a shape. */
lks_status lks__loop_build(lks_model *m, const lks_batch *batch);

/* One pass of evaluation over the feeder; the logs stay in the model. val: names get "val_". */
lks_status lks__loop_evaluate(lks_loop *loop, lks_feeder *feed, bool val, lks_logs *logs);

#endif
