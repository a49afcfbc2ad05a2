/* skip.c - passes over the first `count` elements at the first call. A failure among them is returned; the next call goes on. */
#include "data/stages.h"

typedef struct skip_dataset {
    lks_dataset base;
    int64_t count; /* negative = everything */
} skip_dataset;

typedef struct skip_cursor {
    lks_cursor base;
    int64_t skipped;
} skip_cursor;

static lks_status pass_over(lks_cursor *n)
{
    skip_cursor *s = (skip_cursor *)n;
    int64_t count = ((const skip_dataset *)n->dataset)->count;

    if (count < 0) return LKS_END;
    while (s->skipped < count) {
        LKS_TRY(lks__cursor_pass(n->input[0]));
        s->skipped++;
    }
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    LKS_TRY(pass_over(n));
    return lks__cursor_next(n->input[0], out);
}

static lks_status next_rows(lks_cursor *n, int64_t *rows, int64_t want, int64_t *got)
{
    skip_cursor *s = (skip_cursor *)n;
    int64_t count = ((const skip_dataset *)n->dataset)->count, passed;

    if (count < 0) return LKS_OK;
    while (s->skipped < count) {
        LKS_TRY(
            lks__cursor_next_rows(n->input[0], rows, want < count - s->skipped ? want : count - s->skipped, &passed));
        if (passed == 0) return LKS_OK;
        s->skipped += passed;
    }
    return lks__cursor_next_rows(n->input[0], rows, want, got);
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    lks_status status = pass_over(n);

    if (status == LKS_END) return LKS_OK;
    if (status != LKS_OK) return status;
    return lks__cursor_skip(n->input[0], count, done);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ((const skip_dataset *)ds)->count);
}

const lks_stage lks__stage_skip = { .name = "skip",
                                    .dataset_size = sizeof(skip_dataset),
                                    .cursor_size = sizeof(skip_cursor),
                                    .next = next,
                                    .next_rows = next_rows,
                                    .skip = skip,
                                    .describe = describe };

lks_dataset *lks_skip(lks_dataset *dataset, int64_t count)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_skip, dataset);

    if (!lks__dataset_ok(ds)) return ds;
    ((skip_dataset *)ds)->count = count;
    if (ds->cardinality < 0) return ds;
    ds->cardinality = count < 0 || count >= ds->cardinality ? 0 : ds->cardinality - count;
    return ds;
}
