/* history.h - internal side of lks_history. */
#ifndef LKS_MODEL_HISTORY_H
#define LKS_MODEL_HISTORY_H

#include "base/text.h"
#include "lockstep/train.h"

lks_status lks__history_create(lks_history **out);
lks_status lks__history_add(lks_history *h, int64_t epoch, double seconds, const lks_logs *logs);

/* All of it as bytes, and back into an empty history. LKS_E_FORMAT if they are no such bytes. */
void lks__history_write(const lks_history *h, lks_text *out);
lks_status lks__history_read(lks_history *h, const char *bytes, size_t n);

#endif
