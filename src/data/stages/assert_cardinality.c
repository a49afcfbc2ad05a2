/* assert_cardinality.c - gives the dataset a number of elements and holds every pass to it. */
#include "data/stages.h"

typedef struct assert_dataset {
    lks_dataset base;
    char *shard; /* NULL, or the file whose records are counted */
} assert_dataset;

typedef struct assert_cursor {
    lks_cursor base;
    int64_t seen;
    bool broken; /* said once; then the pass is over */
    bool failed; /* an element of the input: of a file, that may be all of the rest */
} assert_cursor;

/* Ended early, or one too many has come. */
static lks_status wrong_count(lks_cursor *n, bool ended)
{
    const assert_cursor *a = (const assert_cursor *)n;
    const char *shard = ((const assert_dataset *)n->dataset)->shard;
    long long expected = (long long)n->dataset->cardinality, seen = (long long)a->seen;

    if (shard != NULL)
        return lks__fail(LKS_E_FORMAT, "'%s' %s %lld records, dataset_info.json says %lld: the two are not of one copy",
                         shard, ended ? "has" : "has at least", seen, expected);
    if (expected == LKS_INFINITE_CARDINALITY)
        return lks__cursor_fail(n, LKS_E_STATE, "endless data was promised, it ended after %lld elements", seen);
    return ended ? lks__cursor_fail(n, LKS_E_STATE, "%lld elements were promised, the data ended after %lld", expected,
                                    seen)
                 : lks__cursor_fail(n, LKS_E_STATE, "%lld elements were promised, there are at least %lld", expected,
                                    seen);
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    assert_cursor *a = (assert_cursor *)n;
    int64_t expected = n->dataset->cardinality;
    lks_element *e;
    lks_status status;

    if (a->broken) return LKS_END;
    status = lks__cursor_next(n->input[0], &e);
    a->broken = status == LKS_END && expected != LKS_UNKNOWN_CARDINALITY && a->seen != expected;
    if (a->broken && a->failed && ((const assert_dataset *)n->dataset)->shard != NULL) return LKS_END;
    if (a->broken) return wrong_count(n, true);
    a->failed = a->failed || status != LKS_OK;
    if (status != LKS_OK) return status;
    a->seen++;
    if (expected >= 0 && a->seen > expected) {
        lks_element_release(e);
        a->broken = true;
        return wrong_count(n, false);
    }
    *out = e;
    return LKS_OK;
}

/* The promised elements are passed over as the input can; what is wrong with their number is a result of its own. */
static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    assert_cursor *a = (assert_cursor *)n;
    int64_t left = n->dataset->cardinality - a->seen;

    if (n->dataset->cardinality >= 0 && !a->broken && left > 0) {
        LKS_TRY(lks__cursor_skip(n->input[0], count < left ? count : left, done));
        a->seen += *done;
    }
    while (*done < count) {
        lks_element *e = NULL;
        lks_status status = next(n, &e);
        if (status == LKS_END) break;
        if (status == LKS_E_CANCELED) return status;
        if (status == LKS_OK) lks_element_release(e);
        ++*done;
    }
    return LKS_OK;
}

static void destroy(lks_dataset *ds)
{
    lks__free(((assert_dataset *)ds)->shard);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ds->cardinality);
}

const lks_stage lks__stage_assert_cardinality = { .name = "assert_cardinality",
                                                  .dataset_size = sizeof(assert_dataset),
                                                  .cursor_size = sizeof(assert_cursor),
                                                  .next = next,
                                                  .skip = skip,
                                                  .destroy = destroy,
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

lks_dataset *lks__assert_records(lks_dataset *dataset, int64_t count, const char *shard)
{
    lks_dataset *ds = lks_assert_cardinality(dataset, count);
    assert_dataset *a = (assert_dataset *)ds;

    if (!lks__dataset_ok(ds)) return ds;
    a->shard = lks__strdup(shard);
    return a->shard != NULL ? ds : lks__dataset_fail(ds, lks__fail(LKS_E_NOMEM, "no memory for a file name"));
}
