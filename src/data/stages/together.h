/* together.h - internal. Elements of a source by number, in any order, where the source unpacks many neighbours at a time. */
#ifndef LKS_DATA_STAGES_TOGETHER_H
#define LKS_DATA_STAGES_TOGETHER_H

#include "data/stage.h"

typedef struct lks_together lks_together;

/* The number of the element that comes as the k-th. */
typedef int64_t (*lks_number_fn)(const lks_cursor *n, int64_t k);

/* For a cursor whose only input is the source and has the same spec. NULL: elements are as well asked for one by one (no error). */
lks_together *lks__together_begin(lks_cursor *n, lks_number_fn number);
/* The k-th element, with its failure; k counts up by one, and may jump. */
lks_status lks__together_next(lks_together *t, int64_t k, lks_element **out);
void lks__together_end(lks_together *t); /* NULL is fine */

#endif
