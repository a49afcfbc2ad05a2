/* rejection_resample.c - elements are left out at random until the classes have the wanted shares. Class i is kept with probability
 * (target_i / initial_i) / max over all classes; shares that are not given are learned from what has come so far. */
#include "base/philox.h"
#include "data/function.h"
#include "data/stages.h"
#include "lockstep/dataset_sampling.h"

typedef struct resample_dataset {
    lks_dataset base;
    lks_data_fn f;
    size_t n;
    double *target, *initial; /* initial NULL: learned */
    uint64_t seed;
    _Atomic int64_t passes;
} resample_dataset;

typedef struct resample_cursor {
    lks_cursor base;
    lks_buffers *classes; /* for the class function's outputs */
    double *count;
    int64_t epoch, index;
} resample_cursor;

static lks_status open(lks_cursor *n)
{
    enum { SMOOTHING = 10 }; /* elements of each class that are taken as seen before the first */
    resample_cursor *c = (resample_cursor *)n;
    resample_dataset *d = (resample_dataset *)n->dataset;
    lks_spec *spec = lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 });

    if (spec == NULL) return LKS_E_NOMEM;
    c->epoch = atomic_fetch_add(&d->passes, 1);
    c->classes = lks__buffers_create(spec, 2);
    lks_spec_release(spec);
    c->count = lks__calloc(d->n, sizeof *c->count);
    if (c->classes == NULL || c->count == NULL) return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for the classes");
    for (size_t i = 0; i < d->n; i++) c->count[i] = SMOOTHING;
    return lks__cursor_open_inputs(n);
}

/* The share of class i to keep. */
static double chance(const resample_cursor *c, size_t class_)
{
    const resample_dataset *d = (const resample_dataset *)c->base.dataset;
    const double *have = d->initial != NULL ? d->initial : c->count;
    double most = 0;

    for (size_t i = 0; i < d->n; i++)
        if (d->target[i] > 0 && d->target[i] / have[i] > most) most = d->target[i] / have[i];
    return d->target[class_] / have[class_] / most;
}

static bool kept(const resample_cursor *c, int64_t index, size_t class_)
{
    const resample_dataset *d = (const resample_dataset *)c->base.dataset;
    const uint32_t counter[4] = { (uint32_t)index, (uint32_t)(index >> 32), (uint32_t)c->epoch,
                                  lks__philox_stream("rejection_resample", "keep") };
    lks_philox_block b = lks__philox(d->seed, counter);
    double draw = (double)(((uint64_t)b.word[0] << 32 | b.word[1]) >> 11) * 0x1p-53;

    return draw < chance(c, class_);
}

static lks_status classify(resample_cursor *c, lks_element *e, int64_t *out)
{
    const resample_dataset *d = (const resample_dataset *)c->base.dataset;
    lks_element *answer = NULL;
    lks_call_place place = { .epoch = c->epoch, .index = c->index, .lineage = c->base.place.lineage };

    LKS_TRY(lks__data_fn_apply(&d->f, place, e, c->classes, &answer));
    *out = *(const int64_t *)lks_tensor_cdata(answer->value[0].tensor);
    lks_element_release(answer);
    if (*out >= 0 && *out < (int64_t)d->n) return LKS_OK;
    return lks__cursor_fail(&c->base, LKS_E_ARG, "function '%s' gave class %lld, the target has classes 0 to %zu",
                            d->f.fn.name, (long long)*out, d->n - 1);
}

static lks_status wrap(resample_cursor *c, int64_t class_, const lks_element *e, lks_element **out)
{
    lks_element *pair = lks__cursor_element(&c->base);
    lks_tensor *t = pair == NULL ? NULL : lks_element_output(pair, 0);

    if (t == NULL) {
        lks_element_release(pair);
        return LKS_E_NOMEM;
    }
    *(int64_t *)lks_tensor_data(t) = class_;
    for (size_t i = 0; i < lks_element_count(e); i++) lks__element_share(pair, i + 1, e, i);
    *out = pair;
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    resample_cursor *c = (resample_cursor *)n;

    for (;;) {
        lks_element *e = NULL;
        int64_t class_ = 0;
        lks_status status = lks__cursor_next(n->input[0], &e);
        if (status == LKS_OK) status = classify(c, e, &class_);
        if (status == LKS_END) return status;
        c->index++;
        if (status == LKS_OK) {
            c->count[class_] += 1;
            if (kept(c, c->index - 1, (size_t)class_)) status = wrap(c, class_, e, out);
            else {
                lks_element_release(e);
                continue;
            }
        }
        lks_element_release(e);
        return status;
    }
}

static void close(lks_cursor *n)
{
    lks__free(((resample_cursor *)n)->count);
    lks__buffers_release(((resample_cursor *)n)->classes);
}

static void destroy(lks_dataset *ds)
{
    resample_dataset *d = (resample_dataset *)ds;

    lks__data_fn_destroy(&d->f);
    lks__free(d->target);
    lks__free(d->initial);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const resample_dataset *d = (const resample_dataset *)ds;

    lks__data_fn_describe(&d->f, r);
    lks__recipe_bytes(r, d->target, d->n * sizeof *d->target);
    if (d->initial != NULL) lks__recipe_bytes(r, d->initial, d->n * sizeof *d->initial);
    lks__recipe_int(r, (int64_t)d->seed);
}

static void counters(lks_dataset *ds, lks_counters *c)
{
    lks__counter_atomic(c, &((resample_dataset *)ds)->passes);
}

static const char *unsavable(const lks_dataset *ds)
{
    return lks__data_fn_unsavable(&((const resample_dataset *)ds)->f);
}

const lks_stage lks__stage_rejection_resample = { .name = "rejection_resample",
                                                  .dataset_size = sizeof(resample_dataset),
                                                  .cursor_size = sizeof(resample_cursor),
                                                  .open = open,
                                                  .next = next,
                                                  .close = close,
                                                  .destroy = destroy,
                                                  .describe = describe,
                                                  .counters = counters,
                                                  .unsavable = unsavable };

/* A copy of n shares; `positive`: none may be 0. */
static lks_status shares(const char *what, size_t n, const double *given, bool positive, double **out)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (!(given[i] >= 0) || (positive && given[i] == 0) || given[i] > 1e300)
            return lks__fail(LKS_E_ARG, "%s[%zu] is %g: shares must be %s and finite", what, i, given[i],
                             positive ? "above 0" : "0 or more");
        sum += given[i];
    }
    if (sum == 0) return lks__fail(LKS_E_ARG, "all shares of %s are 0", what);
    *out = lks__memdup(given, n * sizeof *given);
    return *out != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for %zu classes", n);
}

lks_dataset *lks_rejection_resample_with(lks_dataset *dataset, const lks_map_fn *class_func, size_t n,
                                         const double *target_dist, const lks_rejection_resample_options *options)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_rejection_resample, dataset);
    resample_dataset *d = (resample_dataset *)ds;
    lks_rejection_resample_options o;
    lks_status status;

    if (!lks__dataset_ok(ds)) return lks__data_fn_unused(ds, class_func);
    lks__options(&o, sizeof o, options);
    status = lks__data_fn_init(&d->f, ds, class_func);
    if (status == LKS_OK) status = lks__data_fn_yields(&d->f, ds->spec, LKS_INT64);
    if (status == LKS_OK && (n == 0 || target_dist == NULL)) status = lks__fail(LKS_E_ARG, "no target_dist is given");
    if (status == LKS_OK) status = shares("target_dist", n, target_dist, false, &d->target);
    if (status == LKS_OK && o.initial_dist != NULL)
        status = shares("initial_dist", n, o.initial_dist, true, &d->initial);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    d->n = n;
    d->seed = (uint64_t)lks__option_int(o.seed, 0);
    ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    return lks__dataset_spec_is(
        ds, lks_spec_tuple_of(lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 }), lks_spec_retain(ds->spec)));
}
