/* split.c - a dataset's first elements and its last ones, whatever order its passes have: shuffling below a split that is drawn anew in
 * every pass would mix the two sides. */
#include <math.h>

#include "lockstep/dataset_sampling.h"
#include "stage.h"
#include "stages.h"

static lks_status count(lks_dataset *ds, int64_t *n)
{
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status;

    *n = ds->cardinality;
    if (*n >= 0) return LKS_OK;
    if (*n == LKS_INFINITE_CARDINALITY) return lks__fail(LKS_E_ARG, "an endless dataset can't be split");
    LKS_TRY(lks_iter_create(ds, &it));
    for (*n = 0; (status = lks_iter_next(it, &e)) == LKS_OK; ++*n) lks_element_release(e);
    lks_iter_release(it);
    return status == LKS_END ? LKS_OK : status;
}

/* One side's number of elements; -1: not given. */
static lks_status side(const char *name, double fraction, int64_t size, int64_t n, int64_t *out)
{
    *out = -1;
    if (fraction == 0 && size == 0) return LKS_OK;
    if (fraction != 0 && size != 0)
        return lks__fail(LKS_E_ARG, "%s_fraction and %s_size are both given: one of them says it", name, name);
    if (size < 0 || size > n)
        return lks__fail(LKS_E_ARG, "%s_size is %lld, but there are %lld elements", name, (long long)size,
                         (long long)n);
    if (fraction != 0 && !(fraction > 0 && fraction < 1))
        return lks__fail(LKS_E_ARG, "%s_fraction must lie between 0 and 1, found %g", name, fraction);
    *out = size > 0 ? size : (int64_t)nearbyint(fraction * (double)n);
    return LKS_OK;
}

static lks_status sizes(const lks_split_options *o, int64_t n, int64_t *left, int64_t *right)
{
    LKS_TRY(side("left", o->left_fraction, o->left_size, n, left));
    LKS_TRY(side("right", o->right_fraction, o->right_size, n, right));
    if (*left < 0 && *right < 0) return lks__fail(LKS_E_ARG, "neither the left nor the right side's size is given");
    if (*left < 0) *left = n - *right;
    if (*right < 0) *right = n - *left;
    if (*left > n - *right)
        return lks__fail(LKS_E_ARG, "%lld elements on the left and %lld on the right are more than the %lld there are",
                         (long long)*left, (long long)*right, (long long)n);
    if (*left == 0 || *right == 0)
        return lks__fail(LKS_E_ARG, "a split of %lld elements into %lld and %lld leaves one side empty", (long long)n,
                         (long long)*left, (long long)*right);
    return LKS_OK;
}

static bool random_access(const lks_dataset *ds)
{
    while (ds->stage == &lks__stage_map) ds = ds->input[0];
    return ds->stage->at != NULL;
}

static lks_dataset *shuffled(lks_dataset *ds, int64_t n, int64_t seed)
{
    if (random_access(ds)) return lks_shuffle_indexed(ds, .seed = seed, .reshuffle_each_iteration = LKS_FALSE);
    return lks_shuffle(ds, n, .seed = seed, .reshuffle_each_iteration = LKS_FALSE);
}

static bool reshuffles(const lks_dataset *ds)
{
    bool found = ds->stage == &lks__stage_shuffle && lks__shuffle_is_new_each_pass(ds);

    for (size_t i = 0; i < ds->n_inputs && !found; i++) found = reshuffles(ds->input[i]);
    return found;
}

static lks_status split(lks_dataset *ds, const lks_split_options *o, lks_dataset **left, lks_dataset **right)
{
    int64_t n, n_left, n_right;

    LKS_TRY(lks_dataset_status(ds));
    if (reshuffles(ds))
        return lks__fail(LKS_E_ARG,
                         "the dataset has a shuffle that draws a new order in every pass, so its sides would "
                         "mix: split first, or give that shuffle .reshuffle_each_iteration = LKS_FALSE");
    LKS_TRY(count(ds, &n));
    LKS_TRY(sizes(o, n, &n_left, &n_right));
    lks_dataset_retain(ds);
    if (o->shuffle == LKS_TRUE && n > 0) ds = shuffled(ds, n, o->seed);
    *left = lks_take(lks_dataset_retain(ds), n_left);
    *right = lks_take(lks_skip(ds, n - n_right), n_right);
    return LKS_OK;
}

lks_status lks_dataset_split_with(lks_dataset *dataset, lks_dataset **left, lks_dataset **right,
                                  const lks_split_options *options)
{
    lks_dataset *a = NULL, *b = NULL;
    lks_split_options o;
    lks_status status;

    lks__options(&o, sizeof o, options);
    status = left == NULL || right == NULL ? lks__fail(LKS_E_ARG, "an output is NULL") : split(dataset, &o, &a, &b);
    if (status == LKS_OK) status = lks_dataset_status(a);
    if (status == LKS_OK) status = lks_dataset_status(b);
    lks_dataset_release(dataset);
    if (status == LKS_OK) {
        *left = a;
        *right = b;
        return LKS_OK;
    }
    lks_dataset_release(a);
    lks_dataset_release(b);
    return lks__context(status, "lks_dataset_split");
}
