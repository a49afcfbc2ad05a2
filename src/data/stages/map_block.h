/* map_block.h - internal to the map stage's window: a piece of work for the pool, consecutive elements that one thread runs one after another.
 * Either each result stands by itself, or, where a batch lies right above, the block ends as whole batches (map_batch.c).
 */
#ifndef LKS_DATA_STAGES_MAP_BLOCK_H
#define LKS_DATA_STAGES_MAP_BLOCK_H

#include "data/work.h"
#include "map.h"

enum { LKS_MAP_MOST_ELEMENTS = 64, LKS_MAP_MOST_BATCHES = 16 };

typedef struct lks_map_result {
    lks_element *element; /* the input, then the output */
    lks_call_place place; /* of the call; its batch is taken over by the call */
    lks_status status;
    lks_error *error; /* NULL if there was no memory for it */
    lks_bytes bytes;  /* of the file that the function begins with */
} lks_map_result;

/* Memory for the file of a place in a block; serves again. */
typedef struct lks_map_file {
    void *data;
    size_t room;
} lks_map_file;

struct lks_map_block {
    lks_work work, reading; /* first reading, on the pool for files, if the function begins with that; then work */
    lks_map_cursor *map;
    bool reads; /* its files are read by who runs it */
    /* Under the map's lock; moved: from reading to work, which the consumer has not looked at. */
    bool begun, done, moved;
    int n, taken;
    int64_t reserved; /* bytes in the ledger until its results are there */
    double seconds;
    lks_map_result *result;
    size_t room; /* of results */
    lks_map_file file[LKS_MAP_MOST_ELEMENTS];
    int n_batches; /* that it is to end as; 0: single elements */
    int stacked;   /* results from the first on that stand in batches; all, unless something failed */
    lks_element *batch[LKS_MAP_MOST_BATCHES];
};

void lks__map_keep_error(lks_map_result *r, lks_status status);
/* Calls the function for result i, unless its input failed. */
void lks__map_run_one(lks_map_block *b, int i);

/* ---- map_batch.c ---- */

/* How many elements the next block is to have so that it ends as *batches of them; 0: it is to be one of single elements, at most *most,
 * behind which a batch begins. */
int lks__map_batch_rows(const lks_map_cursor *m, int *batches, int *most);
/* The worker's part. */
void lks__map_run_batches(lks_map_block *b);
/* Whether the block's next results are a whole batch and the batch above wants one: then it is given. */
bool lks__map_take_batch(lks_map_cursor *m, lks_map_block *b, lks_element **out);
/* Result i by itself out of its batch. */
lks_status lks__map_take_row(lks_map_cursor *m, const lks_map_block *b, int i, lks_element **out);
/* More or fewer batches a block. */
void lks__map_batch_adapt(lks_map_cursor *m, const lks_map_block *b);
void lks__map_drop_batches(lks_map_block *b);

#endif
