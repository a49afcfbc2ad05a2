/* batch_gather.h - internal. Batches of rows of arrays in memory, gathered by the work pool: a few under way, given in order. */
#ifndef LKS_DATA_STAGES_BATCH_GATHER_H
#define LKS_DATA_STAGES_BATCH_GATHER_H

#include "data/stage.h"

typedef struct lks_gather_window lks_gather_window;
/* Makes the batch of these rows; on any thread, several at a time. */
typedef lks_status (*lks_gather_batch)(void *user, const int64_t *rows, int64_t n, lks_element **out);

/* Batches of up to `limit` rows and `bytes` bytes, whose numbers the cursor's input gives. */
lks_status lks__gather_open(lks_cursor *n, int64_t limit, int64_t bytes, bool drop, lks_gather_batch gather, void *user,
                            lks_gather_window **out);
lks_status lks__gather_next(lks_gather_window *w, lks_element **out);
/* No batch is under way. */
bool lks__gather_is_empty(const lks_gather_window *w);
int lks__gather_window_size(void);
void lks__gather_close(lks_gather_window *w); /* NULL is fine */

#endif
