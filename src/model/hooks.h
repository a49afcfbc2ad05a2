/* hooks.h - internal. Calling the user's callbacks in order; the first status other than LKS_OK ends the call. */
#ifndef LKS_MODEL_HOOKS_H
#define LKS_MODEL_HOOKS_H

#include "model.h"

typedef struct lks_hooks {
    lks_model *model;
    const lks_callback *callbacks;
    int64_t n;
} lks_hooks;

typedef enum lks_hook {
    LKS_ON_TRAIN_BEGIN,
    LKS_ON_TRAIN_END,
    LKS_ON_EPOCH_BEGIN,
    LKS_ON_EPOCH_END,
    LKS_ON_TRAIN_BATCH_BEGIN,
    LKS_ON_TRAIN_BATCH_END,
    LKS_ON_TEST_BEGIN,
    LKS_ON_TEST_END,
    LKS_ON_TEST_BATCH_BEGIN,
    LKS_ON_TEST_BATCH_END,
    LKS_ON_PREDICT_BEGIN,
    LKS_ON_PREDICT_END
} lks_hook;

/* `number`: epoch or step where the hook takes one. logs may be NULL where it takes none. */
lks_status lks__hooks_call(const lks_hooks *h, lks_hook hook, int64_t number, const lks_logs *logs);
/* Does any callback want values at this hook? */
bool lks__hooks_wanted(const lks_hooks *h, lks_hook hook);

#endif
