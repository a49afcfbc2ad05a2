/* enumerate.c - (number, element). An element that failed has its number too, as in the zip with a range that tf.data makes of it. */
#include "data/stages.h"

typedef struct enumerate_dataset {
    lks_dataset base;
    int64_t start;
} enumerate_dataset;

typedef struct enumerate_cursor {
    lks_cursor base;
    int64_t count;
} enumerate_cursor;

static lks_status next(lks_cursor *n, lks_element **out)
{
    enumerate_cursor *c = (enumerate_cursor *)n;
    lks_element *in, *e;
    lks_tensor *t;
    uint64_t number;
    lks_status status;

    status = lks__cursor_next(n->input[0], &in);
    if (status == LKS_END || status == LKS_E_CANCELED) return status;
    number = (uint64_t)((const enumerate_dataset *)n->dataset)->start + (uint64_t)c->count++;
    if (status != LKS_OK) return status;
    e = lks__cursor_element(n);
    t = e == NULL ? NULL : lks_element_output(e, 0);
    if (t == NULL) {
        lks_element_release(in);
        lks_element_release(e);
        return LKS_E_NOMEM;
    }
    *(int64_t *)lks_tensor_data(t) = (int64_t)number;
    for (size_t i = 0; i < lks_element_count(in); i++) lks__element_share(e, i + 1, in, i);
    lks_element_release(in);
    *out = e;
    return LKS_OK;
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    lks_status status = lks__cursor_skip(n->input[0], count, done);

    ((enumerate_cursor *)n)->count += *done;
    return status;
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ((const enumerate_dataset *)ds)->start);
}

const lks_stage lks__stage_enumerate = { .name = "enumerate",
                                         .dataset_size = sizeof(enumerate_dataset),
                                         .cursor_size = sizeof(enumerate_cursor),
                                         .next = next,
                                         .skip = skip,
                                         .describe = describe };

lks_dataset *lks_enumerate(lks_dataset *dataset, int64_t start)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_enumerate, dataset);

    if (!lks__dataset_ok(ds)) return ds;
    ((enumerate_dataset *)ds)->start = start;
    return lks__dataset_spec_is(
        ds, lks_spec_tuple_of(lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 }), lks_spec_retain(ds->spec)));
}
