/* iterator.c - the public iterator: a lock, a cancellation scope, the top cursor of the tree. */
#include "iterator.h"
#include "base/pool.h"
#include "state.h"
#include "work.h"

struct lks_iter {
    pthread_mutex_t lock;
    lks_cancel_scope scope;
    _Atomic(const char *) unsavable; /* what an inner dataset said */
    lks_cursor *top;
    unsigned forks;
    lks_state state; /* counters as at the start; results so far */
};

static void destroy(lks_iter *it)
{
    lks__cursor_close(it->top);
    lks__counters_free(&it->state.counters);
    if (it->forks == lks__fork_count()) pthread_mutex_destroy(&it->lock);
    lks__free(it);
}

/* An iterator whose place lies before the first element; the counters are noted before the cursors change them. */
static lks_status create(lks_dataset *dataset, lks_meters *meters, lks_iter **out)
{
    lks_iter *it = lks__calloc(1, sizeof *it);
    lks_cursor_place place = { 0 };
    lks_status status;

    if (it == NULL || pthread_mutex_init(&it->lock, NULL) != 0) {
        lks__free(it);
        return lks__fail(LKS_E_NOMEM, "no memory for an iterator");
    }
    it->forks = lks__fork_count();
    lks__counters_walk(dataset, &it->state.counters);
    place.scope = &it->scope;
    place.unsavable = &it->unsavable;
    place.held = 2;
    place.meters = meters;
    status = it->state.counters.failed ? lks__fail(LKS_E_NOMEM, "no memory for an iterator")
                                       : lks__cursor_open(dataset, place, &it->top);
    if (status == LKS_OK) *out = it;
    else destroy(it);
    return status;
}

lks_status lks_iter_create(lks_dataset *dataset, lks_iter **out)
{
    if (out == NULL) return lks__fail(LKS_E_ARG, "lks_iter_create: the output is NULL");
    LKS_TRY(lks_dataset_status(dataset));
    return create(dataset, NULL, out);
}

lks_status lks__iter_create_metered(lks_dataset *dataset, lks_meters *meters, lks_iter **out)
{
    LKS_TRY(lks_dataset_status(dataset));
    return create(dataset, meters, out);
}

bool lks__iter_ended(const lks_iter *it)
{
    return it->state.ended;
}

/* One result, noted. */
static lks_status step(lks_iter *it, lks_element **out)
{
    lks_status status;

    if (it->state.ended) return LKS_END;
    status = lks__cursor_next(it->top, out);
    if (status == LKS_END) it->state.ended = true;
    else if (status != LKS_E_CANCELED) it->state.results++;
    if (status != LKS_OK && status != LKS_END) it->state.had_failures = true;
    return status;
}

lks_status lks_iter_next(lks_iter *it, lks_element **out)
{
    lks_element *e = NULL;
    lks_status status;
    lks_fenv fenv;

    if (it == NULL || out == NULL) return lks__fail(LKS_E_ARG, "lks_iter_next: iterator or output is NULL");
    if (it->forks != lks__fork_count())
        return lks__fail(LKS_E_STATE, "the iterator belongs to the parent process: make one after fork()");
    lks__fenv_enter(&fenv);
    pthread_mutex_lock(&it->lock);
    status = step(it, &e);
    pthread_mutex_unlock(&it->lock);
    lks__fenv_leave(&fenv);
    if (status == LKS_OK) *out = e;
    return status;
}

lks_status lks_iter_save(lks_iter *it, void **bytes, size_t *size)
{
    const char *stage = "a function's dataset", *why;
    lks_status status;

    if (it == NULL || bytes == NULL || size == NULL) return lks__fail(LKS_E_ARG, "lks_iter_save: an argument is NULL");
    if (it->forks != lks__fork_count())
        return lks__fail(LKS_E_STATE, "the iterator belongs to the parent process: make one after fork()");
    why = lks__unsavable(it->top->dataset, &stage);
    if (why == NULL && (why = atomic_load(&it->unsavable)) != NULL) stage = "an inner dataset";
    if (why != NULL) return lks__fail(LKS_E_STATE, "the pass can't be saved because of '%s': %s", stage, why);
    pthread_mutex_lock(&it->lock);
    it->state.fingerprint = lks__recipe_fingerprint(it->top->dataset);
    status = lks__state_write(&it->state, bytes, size);
    pthread_mutex_unlock(&it->lock);
    return status;
}

/* Goes to where the saved iterator stood. After failures only the same steps lead to the same place. */
static lks_status replay(lks_iter *it, const lks_state *s)
{
    int64_t done = 0;
    lks_status status = LKS_OK;

    if (!s->had_failures) status = lks__cursor_skip(it->top, s->results, &done);
    for (; s->had_failures && done < s->results && status != LKS_END && status != LKS_E_CANCELED; done++) {
        lks_element *e = NULL;
        status = lks__cursor_next(it->top, &e);
        if (status == LKS_OK) lks_element_release(e);
    }
    if (status == LKS_E_NOMEM || status == LKS_E_CANCELED) return status;
    if (done < s->results)
        return lks__fail(LKS_E_STATE, "the data has become shorter: it ended after %lld of %lld results",
                         (long long)done, (long long)s->results);
    it->state.results = s->results;
    it->state.had_failures = s->had_failures;
    it->state.ended = s->ended;
    return LKS_OK;
}

static lks_status restore(lks_dataset *dataset, lks_state *s, lks_iter **out)
{
    lks_iter *it;
    lks_status status;
    lks_fenv fenv;

    if (s->fingerprint != lks__recipe_fingerprint(dataset))
        return lks__fail(LKS_E_ARG,
                         "the saved iterator belongs to another pipeline: stages, parameters and element spec must "
                         "be the same");
    lks__counters_walk(dataset, &s->counters);
    if (s->counters.failed || s->counters.at != s->counters.n)
        return lks__fail(LKS_E_FORMAT, "the saved iterator has other counters than the pipeline");
    LKS_TRY(create(dataset, NULL, &it));
    lks__fenv_enter(&fenv);
    status = replay(it, s);
    lks__fenv_leave(&fenv);
    if (status == LKS_OK) *out = it;
    else destroy(it);
    return status;
}

lks_status lks_iter_restore(lks_dataset *dataset, const void *bytes, size_t size, lks_iter **out)
{
    lks_state s;
    lks_status status = lks_dataset_status(dataset);

    if (status != LKS_OK) return status;
    if (bytes == NULL || out == NULL) return lks__fail(LKS_E_ARG, "lks_iter_restore: the bytes or the output are NULL");
    status = lks__state_read(bytes, size, &s);
    if (status == LKS_OK) status = restore(dataset, &s, out);
    lks__counters_free(&s.counters);
    return status;
}

void lks_iter_cancel(lks_iter *it)
{
    if (it != NULL) atomic_store(&it->scope.cancelled, 1);
}

void lks_iter_release(lks_iter *it)
{
    if (it == NULL) return;
    atomic_store(&it->scope.cancelled, 1);
    destroy(it);
}
