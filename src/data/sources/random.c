/* random.c - endless 32-bit draws of TensorFlow's generator, and the choices that sample_from_datasets makes of them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "data/stages.h"
#include "data/stream.h"

typedef struct random_dataset {
    lks_dataset base;
    uint64_t seed[2];
    bool rerandomize;
    _Atomic int64_t passes;
    size_t n;    /* sampling: number of inputs; 0 = plain draws */
    double *sum; /* running sums of their weights */
} random_dataset;

typedef struct random_cursor {
    lks_cursor base;
    lks_tf_stream draws;
} random_cursor;

static lks_status open(lks_cursor *n)
{
    random_dataset *d = (random_dataset *)n->dataset;
    lks_tf_stream *draws = &((random_cursor *)n)->draws;

    draws->seed[0] = d->seed[0];
    draws->seed[1] = d->seed[1];
    if (d->rerandomize) {
        lks_tf_stream generator = *draws;
        lks__tf_stream_seek(&generator, 2 * (uint64_t)atomic_fetch_add(&d->passes, 1));
        draws->seed[0] = lks__tf_stream_next(&generator);
        draws->seed[1] = lks__tf_stream_next(&generator);
    }
    return LKS_OK;
}

/* One categorical draw of TensorFlow's stateless kind, seeded by two draws (spec 1.7). */
static int64_t sample(const random_dataset *d, lks_tf_stream *draws)
{
    uint32_t a = lks__tf_stream_next(draws), b = lks__tf_stream_next(draws);
    const uint32_t seeds[4] = { a, 0, b, 0 };
    lks_philox_block mix = lks__philox(0x02461E293EC8F720u, seeds);
    const uint32_t counter[4] = { 0, 0, mix.word[2], mix.word[3] };
    lks_philox_block x = lks__philox(mix.word[0] | (uint64_t)mix.word[1] << 32, counter);
    uint64_t bits = (uint64_t)(x.word[0] & 0xFFFFFu) << 32 | x.word[1];
    double u = (double)bits * 0x1p-52 * d->sum[d->n - 1];

    for (size_t i = 0; i + 1 < d->n; i++)
        if (d->sum[i] > u) return (int64_t)i;
    return (int64_t)d->n - 1;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    const random_dataset *d = (const random_dataset *)n->dataset;
    lks_tf_stream *draws = &((random_cursor *)n)->draws;
    lks_element *e = lks__cursor_element(n);
    lks_tensor *t = e == NULL ? NULL : lks_element_output(e, 0);

    if (t == NULL) {
        lks_element_release(e);
        return LKS_E_NOMEM;
    }
    *(int64_t *)lks_tensor_data(t) = d->n > 0 ? sample(d, draws) : (int64_t)lks__tf_stream_next(draws);
    *out = e;
    return LKS_OK;
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    lks_tf_stream *draws = &((random_cursor *)n)->draws;
    uint64_t words = ((const random_dataset *)n->dataset)->n > 0 ? 2 : 1;

    lks__tf_stream_seek(draws, draws->position + words * (uint64_t)count);
    *done = count;
    return LKS_OK;
}

static void destroy(lks_dataset *ds)
{
    lks__free(((random_dataset *)ds)->sum);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const random_dataset *d = (const random_dataset *)ds;

    lks__recipe_int(r, (int64_t)d->seed[0]);
    lks__recipe_int(r, (int64_t)d->seed[1]);
    lks__recipe_int(r, d->rerandomize);
    if (d->n > 0) lks__recipe_bytes(r, d->sum, d->n * sizeof *d->sum);
}

static void counters(lks_dataset *ds, lks_counters *c)
{
    lks__counter_atomic(c, &((random_dataset *)ds)->passes);
}

const lks_stage lks__stage_random = { .name = "random",
                                      .dataset_size = sizeof(random_dataset),
                                      .cursor_size = sizeof(random_cursor),
                                      .open = open,
                                      .next = next,
                                      .skip = skip,
                                      .destroy = destroy,
                                      .describe = describe,
                                      .counters = counters };

static lks_dataset *build(int64_t seed, int64_t global_seed, bool rerandomize)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_random, 0, NULL);
    random_dataset *d = (random_dataset *)ds;

    if (ds == NULL) return NULL;
    lks__seeds(seed, global_seed, 1, d->seed);
    d->rerandomize = rerandomize;
    ds->cardinality = LKS_INFINITE_CARDINALITY;
    return lks__dataset_spec_is(ds, lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 }));
}

lks_dataset *lks_random_with(const lks_random_options *options)
{
    lks_random_options o;

    lks__options(&o, sizeof o, options);
    return build(o.seed, o.global_seed, o.rerandomize_each_iteration == LKS_TRUE);
}

/* Running float64 sums of exp(log w - log of the largest), the logs as float32, as TensorFlow has them. */
static lks_dataset *weigh(lks_dataset *ds, size_t n, const double *weights)
{
    random_dataset *d = (random_dataset *)ds;
    double total = 0, top = -INFINITY;

    if (!lks__dataset_ok(ds)) return ds;
    d->sum = lks__calloc(n, sizeof *d->sum);
    if (d->sum == NULL) return lks__dataset_fail(ds, lks__fail(LKS_E_NOMEM, "no memory for %zu weights", n));
    d->n = n;
    for (size_t i = 0; i < n; i++) {
        d->sum[i] = weights == NULL ? 1.0 : (double)(float)log((double)(float)weights[i]);
        if (d->sum[i] > top) top = d->sum[i];
    }
    for (size_t i = 0; i < n; i++) d->sum[i] = total += exp(d->sum[i] - top);
    return ds;
}

/* The datasets with a positive weight move to the front; the others are let go. */
static size_t keep_positive(size_t n, lks_dataset **kept, double *weights)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        if (!((float)weights[i] > 0)) {
            lks_dataset_release(kept[i]);
            continue;
        }
        kept[left] = kept[i];
        weights[left++] = weights[i];
    }
    return left;
}

/* As float32, which they are drawn by: one that is not finite there would have no share that any number can state. */
static lks_status check_weights(size_t n, const double *weights)
{
    for (size_t i = 0; weights != NULL && i < n; i++)
        if (isnan(weights[i]) || weights[i] > (double)FLT_MAX)
            return lks__fail(LKS_E_ARG, "the weight of dataset %zu is %g: weights are finite float32 numbers", i,
                             weights[i]);
    return LKS_OK;
}

/* A failed dataset with this thread's last error. */
static lks_dataset *refuse(size_t n, lks_dataset *const *datasets, lks_status status)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_random, 0, NULL);

    for (size_t i = 0; i < n; i++) lks_dataset_release(datasets[i]);
    return ds == NULL ? NULL : lks__dataset_fail(ds, lks__context(status, "sample_from_datasets"));
}

lks_dataset *lks_sample_from_datasets_with(size_t n, lks_dataset *const *datasets, const lks_sample_options *options)
{
    lks_dataset **kept, *ds;
    double *weights = NULL;
    lks_sample_options o;
    size_t left = n;

    lks__options(&o, sizeof o, options);
    if (n == 0) return refuse(n, datasets, lks__fail(LKS_E_ARG, "no dataset given"));
    if (o.n_weights != 0 && o.n_weights != n)
        return refuse(n, datasets, lks__fail(LKS_E_ARG, "%zu weights for %zu datasets", o.n_weights, n));
    if (check_weights(n, o.weights) != LKS_OK) return refuse(n, datasets, LKS_E_ARG);
    kept = lks__memdup(datasets, n * sizeof *kept);
    if (o.weights != NULL) weights = lks__memdup(o.weights, n * sizeof *weights);
    if (kept == NULL || (o.weights != NULL && weights == NULL)) {
        ds = refuse(n, datasets, lks__fail(LKS_E_NOMEM, "no memory for %zu datasets", n));
        goto done;
    }
    if (weights != NULL) {
        lks_dataset *first = lks_dataset_retain(datasets[0]);
        left = keep_positive(n, kept, weights);
        if (left == 0) {
            ds = lks_take(first, 0);
            goto done;
        }
        lks_dataset_release(first);
    }
    if (left == 1) {
        ds = kept[0];
        goto done;
    }
    ds = weigh(build(o.seed, o.global_seed, o.rerandomize_each_iteration == LKS_TRUE), left, weights);
    ds = lks_choose_from_datasets(ds, left, kept,
                                  .stop_on_empty_dataset = o.stop_on_empty_dataset == LKS_TRUE ? LKS_TRUE : LKS_FALSE);
done:
    lks__free(kept);
    lks__free(weights);
    return ds;
}
