/* take.c - the first `count` elements; never pulls one more. */
#include "data/stages.h"

typedef struct take_dataset {
    lks_dataset base;
    int64_t count; /* negative = all */
} take_dataset;

typedef struct take_cursor {
    lks_cursor base;
    int64_t taken;
} take_cursor;

static int64_t left(const lks_cursor *n)
{
    int64_t count = ((const take_dataset *)n->dataset)->count;

    return count < 0 ? INT64_MAX : count - ((const take_cursor *)n)->taken;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    lks_status status;

    if (left(n) <= 0) return LKS_END;
    status = lks__cursor_next(n->input[0], out);
    if (status == LKS_OK) ((take_cursor *)n)->taken++;
    return status;
}

static lks_status next_rows(lks_cursor *n, int64_t *rows, int64_t want, int64_t *got)
{
    int64_t most = left(n);

    if (most <= 0) return LKS_OK;
    LKS_TRY(lks__cursor_next_rows(n->input[0], rows, want < most ? want : most, got));
    ((take_cursor *)n)->taken += *got;
    return LKS_OK;
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ((const take_dataset *)ds)->count);
}

const lks_stage lks__stage_take = { .name = "take",
                                    .dataset_size = sizeof(take_dataset),
                                    .cursor_size = sizeof(take_cursor),
                                    .next = next,
                                    .next_rows = next_rows,
                                    .describe = describe };

lks_dataset *lks_take(lks_dataset *dataset, int64_t count)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_take, dataset);

    if (!lks__dataset_ok(ds)) return ds;
    ((take_dataset *)ds)->count = count;
    if (count >= 0 && (ds->cardinality == LKS_INFINITE_CARDINALITY || ds->cardinality > count)) ds->cardinality = count;
    return ds;
}
