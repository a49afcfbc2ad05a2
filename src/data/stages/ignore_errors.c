/* ignore_errors.c - passes over failed elements; a cancel is not one of them. */
#include "data/stages.h"

/* So many failures without one element between them are taken for a source that will never get well. */
enum { GIVE_UP = 1000000 };

typedef struct ignore_cursor {
    lks_cursor base;
    int64_t dropped;
} ignore_cursor;

static lks_status next(lks_cursor *n, lks_element **out)
{
    for (int64_t row = 0; row < GIVE_UP; row++) {
        lks_status status = lks__cursor_next(n->input[0], out);
        if (status == LKS_OK || status == LKS_END || status == LKS_E_CANCELED) return status;
        ((ignore_cursor *)n)->dropped++;
    }
    return lks__context(LKS_E_STATE, "ignore_errors (stage %d): gave up after %d failures in a row, the last was",
                        n->dataset->number, GIVE_UP);
}

static void close(lks_cursor *n)
{
    int64_t dropped = ((ignore_cursor *)n)->dropped;

    if (dropped > 0)
        lks__warn("ignore_errors (stage %d): %lld failed elements were left out of this pass", n->dataset->number,
                  (long long)dropped);
}

const lks_stage lks__stage_ignore_errors = { .name = "ignore_errors",
                                             .dataset_size = sizeof(lks_dataset),
                                             .cursor_size = sizeof(ignore_cursor),
                                             .next = next,
                                             .close = close };

lks_dataset *lks_ignore_errors(lks_dataset *dataset)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_ignore_errors, dataset);

    if (!lks__dataset_ok(ds)) return ds;
    ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    return ds;
}
