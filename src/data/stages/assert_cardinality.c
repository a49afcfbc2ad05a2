/* assert_cardinality.c - gives the dataset a number of elements and holds every pass to it. */
#include "data/stages.h"

typedef struct assert_cursor {
    lks_cursor base;
    int64_t seen;
    bool broken; /* said once; then the pass is over */
} assert_cursor;

static lks_status next(lks_cursor *n, lks_element **out)
{
    assert_cursor *a = (assert_cursor *)n;
    int64_t expected = n->dataset->cardinality;
    lks_element *e;
    lks_status status;

    if (a->broken) return LKS_END;
    status = lks__cursor_next(n->input[0], &e);
    a->broken = status == LKS_END && expected != LKS_UNKNOWN_CARDINALITY && a->seen != expected;
    if (a->broken && expected == LKS_INFINITE_CARDINALITY)
        return lks__cursor_fail(n, LKS_E_STATE, "endless data was promised, it ended after %lld elements",
                                (long long)a->seen);
    if (a->broken)
        return lks__cursor_fail(n, LKS_E_STATE, "%lld elements were promised, the data ended after %lld",
                                (long long)expected, (long long)a->seen);
    if (status != LKS_OK) return status;
    a->seen++;
    if (expected >= 0 && a->seen > expected) {
        lks_element_release(e);
        a->broken = true;
        return lks__cursor_fail(n, LKS_E_STATE, "%lld elements were promised, there are at least %lld",
                                (long long)expected, (long long)a->seen);
    }
    *out = e;
    return LKS_OK;
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ds->cardinality);
}

const lks_stage lks__stage_assert_cardinality = { .name = "assert_cardinality",
                                                  .dataset_size = sizeof(lks_dataset),
                                                  .cursor_size = sizeof(assert_cursor),
                                                  .next = next,
                                                  .describe = describe };

lks_dataset *lks_assert_cardinality(lks_dataset *dataset, int64_t cardinality)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_assert_cardinality, dataset);

    if (!lks__dataset_ok(ds)) return ds;
    if (cardinality < LKS_UNKNOWN_CARDINALITY)
        return lks__dataset_fail(ds, lks__fail(LKS_E_ARG,
                                               "a cardinality is at least 0, or -1 (endless), -2 (unknown); "
                                               "found %lld",
                                               (long long)cardinality));
    ds->cardinality = cardinality;
    return ds;
}
