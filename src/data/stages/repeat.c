/* repeat.c - passes over the input one after another; each opens the input anew, which is what gives shuffle its next order. An
 * endless repeat of an input whose first pass is empty ends. */
#include "data/stages.h"

typedef struct repeat_dataset {
    lks_dataset base;
    int64_t count; /* negative = for ever */
} repeat_dataset;

typedef struct repeat_cursor {
    lks_cursor base;
    int64_t passes;  /* that have ended */
    bool any, ended; /* any: this pass has yielded something */
} repeat_cursor;

static lks_status open(lks_cursor *n)
{
    if (((const repeat_dataset *)n->dataset)->count == 0) {
        ((repeat_cursor *)n)->ended = true;
        return LKS_OK;
    }
    return lks__cursor_open_inputs(n);
}

/* A pass has ended: opens the next one, or LKS_END. */
static lks_status next_pass(lks_cursor *n)
{
    repeat_cursor *r = (repeat_cursor *)n;
    int64_t count = ((const repeat_dataset *)n->dataset)->count;

    lks__cursor_close_input(n, 0);
    r->passes++;
    if ((count >= 0 && r->passes >= count) || (count < 0 && !r->any && r->passes == 1)) {
        r->ended = true;
        return LKS_END;
    }
    r->any = false;
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    repeat_cursor *r = (repeat_cursor *)n;

    for (;;) {
        lks_status status;
        if (r->ended) return LKS_END;
        LKS_TRY(lks__cursor_open_inputs(n));
        status = lks__cursor_next(n->input[0], out);
        if (status == LKS_OK) r->any = true;
        if (status != LKS_END) return status;
        LKS_TRY(next_pass(n));
    }
}

static lks_status next_rows(lks_cursor *n, int64_t *rows, int64_t want, int64_t *got)
{
    repeat_cursor *r = (repeat_cursor *)n;

    *got = 0;
    while (*got < want && !r->ended) {
        int64_t passed = 0;
        lks_status status;
        LKS_TRY(lks__cursor_open_inputs(n));
        LKS_TRY(lks__cursor_next_rows(n->input[0], rows + *got, want - *got, &passed));
        *got += passed;
        if (passed > 0) r->any = true;
        if (*got == want) return LKS_OK;
        status = next_pass(n);
        if (status != LKS_OK && status != LKS_END) return status;
    }
    return LKS_OK;
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    repeat_cursor *r = (repeat_cursor *)n;

    while (*done < count && !r->ended) {
        int64_t passed = 0;
        lks_status status;
        LKS_TRY(lks__cursor_open_inputs(n));
        LKS_TRY(lks__cursor_skip(n->input[0], count - *done, &passed));
        *done += passed;
        if (passed > 0) r->any = true;
        if (*done == count) return LKS_OK;
        status = next_pass(n);
        if (status != LKS_OK && status != LKS_END) return status;
    }
    return LKS_OK;
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ((const repeat_dataset *)ds)->count);
}

const lks_stage lks__stage_repeat = { .name = "repeat",
                                      .dataset_size = sizeof(repeat_dataset),
                                      .cursor_size = sizeof(repeat_cursor),
                                      .open = open,
                                      .next = next,
                                      .next_rows = next_rows,
                                      .skip = skip,
                                      .describe = describe };

static int64_t cardinality(int64_t n, int64_t count)
{
    if (count == 0 || n == 0) return 0;
    if (count < 0) return LKS_INFINITE_CARDINALITY;
    if (n < 0) return n;
    return n > INT64_MAX / count ? LKS_INFINITE_CARDINALITY : n * count;
}

lks_dataset *lks_repeat(lks_dataset *dataset, int64_t count)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_repeat, dataset);

    if (!lks__dataset_ok(ds)) return ds;
    ((repeat_dataset *)ds)->count = count;
    ds->cardinality = cardinality(ds->cardinality, count);
    return ds;
}
