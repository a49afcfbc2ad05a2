/* placer.h - internal. Results of a map written where the batch above it wants them, so that no row is copied.
 *
 * The map asks for a place when it takes an input; its elements' large tensors then are views of rows of a batch that is being made.
 * Or the map makes whole batches (map_batch.c). It is an offer: a batch that gets other elements than it expected (one failed) copies as ever, and nobody can see the difference.
 */
#ifndef LKS_DATA_PLACER_H
#define LKS_DATA_PLACER_H

#include "stage.h"

typedef struct lks_placer {
    lks_cursor *batch; /* its buffers hold the batches; NULL: no places are given */
    int64_t rows;      /* of a batch */
    lks_element *next; /* the batch whose rows are given out, NULL: the next call makes one */
    int64_t row;
    /* Whole batches: the map may give one in place of an element where the batch says so. */
    lks_cursor *above;    /* the batch; NULL: never */
    int64_t size, filled; /* rows of its batches, and of the one that it is making */
    bool asks, is_whole;  /* it asks for its next element now; what it got is a whole batch */
} lks_placer;

/* Switches the placer on where batches of `rows` elements of the cursor's input have rows of a known size that are worth it. */
void lks__placer_begin(lks_placer *p, lks_cursor *batch, int64_t rows);
/* No more rows of the present batch: elements of others come in between. */
void lks__placer_end(lks_placer *p);
/* The batch (one reference) and row of one more element; NULL: none. On the pulling thread. */
lks_element *lks__placer_take(lks_placer *p, int64_t *row);

/* An element with tensors for `rows` rows as the cursor's spec has them; sizes beyond the first axis must be known. */
lks_status lks__batch_of_rows(lks_cursor *n, int64_t rows, lks_element **out);

#endif
