/* iterator.c - the public iterator: a lock, a cancellation scope, the top cursor of the tree. */
#include <string.h>

#include "base/pool.h"
#include "iterator.h"
#include "work.h"

struct lks_iter {
    pthread_mutex_t lock;
    lks_cancel_scope scope;
    lks_cursor *top;
    unsigned forks;
    bool ended;
};

lks_status lks_iter_create(lks_dataset *dataset, lks_iter **out)
{
    lks_iter *it;
    lks_status status = lks_dataset_status(dataset);

    if (status != LKS_OK) return status;
    it = lks__calloc(1, sizeof *it);
    if (it == NULL || pthread_mutex_init(&it->lock, NULL) != 0) {
        lks__free(it);
        return lks__fail(LKS_E_NOMEM, "no memory for an iterator");
    }
    it->forks = lks__fork_count();
    status = lks__cursor_open(dataset, (lks_cursor_place){ &it->scope, 0, 2 }, &it->top);
    if (status != LKS_OK) {
        pthread_mutex_destroy(&it->lock);
        lks__free(it);
        return status;
    }
    *out = it;
    return LKS_OK;
}

lks_status lks_iter_next(lks_iter *it, lks_element **out)
{
    lks_status status = LKS_END;
    lks_element *e = NULL;
    lks_fenv fenv;

    if (it == NULL || out == NULL) return lks__fail(LKS_E_ARG, "lks_iter_next: iterator or output is NULL");
    if (it->forks != lks__fork_count())
        return lks__fail(LKS_E_STATE, "the iterator belongs to the parent process: make one after fork()");
    lks__fenv_enter(&fenv);
    pthread_mutex_lock(&it->lock);
    if (!it->ended) status = lks__cursor_next(it->top, &e);
    if (status == LKS_END) it->ended = true;
    pthread_mutex_unlock(&it->lock);
    lks__fenv_leave(&fenv);
    if (status == LKS_OK) *out = e;
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
    lks__cursor_close(it->top);
    if (it->forks == lks__fork_count()) pthread_mutex_destroy(&it->lock);
    lks__free(it);
}
