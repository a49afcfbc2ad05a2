/* history.h - internal side of lks_history. */
#ifndef LKS_MODEL_HISTORY_H
#define LKS_MODEL_HISTORY_H

#include "base/error.h"
#include "lockstep/train.h"

lks_status lks__history_create(lks_history **out);
lks_status lks__history_add(lks_history *h, int64_t epoch, double seconds, const lks_logs *logs);

#endif
