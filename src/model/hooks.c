/* hooks.c - see hooks.h. A callback struct of an older program is shorter: fields beyond its struct_size are absent. */
#include "hooks.h"

#include <string.h>

static lks_callback at(const lks_hooks *h, int64_t i)
{
    const char *p = (const char *)h->callbacks;
    lks_callback c = { 0 };
    size_t size = h->callbacks[0].struct_size; /* one program, one size: the array's stride */

    p += (size_t)i * size;
    memcpy(&c, p, size < sizeof c ? size : sizeof c);
    return c;
}

static lks_status call_one(const lks_hooks *h, const lks_callback *c, lks_hook hook, int64_t n, const lks_logs *logs)
{
    lks_model *m = h->model;
    void *u = c->user;

    switch (hook) {
    case LKS_ON_TRAIN_BEGIN: return c->on_train_begin ? c->on_train_begin(u, m) : LKS_OK;
    case LKS_ON_TRAIN_END: return c->on_train_end ? c->on_train_end(u, m, logs) : LKS_OK;
    case LKS_ON_EPOCH_BEGIN: return c->on_epoch_begin ? c->on_epoch_begin(u, m, n) : LKS_OK;
    case LKS_ON_EPOCH_END: return c->on_epoch_end ? c->on_epoch_end(u, m, n, logs) : LKS_OK;
    case LKS_ON_TRAIN_BATCH_BEGIN: return c->on_train_batch_begin ? c->on_train_batch_begin(u, m, n) : LKS_OK;
    case LKS_ON_TRAIN_BATCH_END: return c->on_train_batch_end ? c->on_train_batch_end(u, m, n, logs) : LKS_OK;
    case LKS_ON_TEST_BEGIN: return c->on_test_begin ? c->on_test_begin(u, m) : LKS_OK;
    case LKS_ON_TEST_END: return c->on_test_end ? c->on_test_end(u, m, logs) : LKS_OK;
    case LKS_ON_TEST_BATCH_BEGIN: return c->on_test_batch_begin ? c->on_test_batch_begin(u, m, n) : LKS_OK;
    case LKS_ON_TEST_BATCH_END: return c->on_test_batch_end ? c->on_test_batch_end(u, m, n, logs) : LKS_OK;
    case LKS_ON_PREDICT_BEGIN: return c->on_predict_begin ? c->on_predict_begin(u, m) : LKS_OK;
    case LKS_ON_PREDICT_END: return c->on_predict_end ? c->on_predict_end(u, m) : LKS_OK;
    }
    return LKS_OK;
}

lks_status lks__hooks_call(const lks_hooks *h, lks_hook hook, int64_t number, const lks_logs *logs)
{
    if (h->n > 0 && h->callbacks[0].struct_size < sizeof(size_t) + sizeof(void *)) /* else none would ever be called */
        return lks__fail(LKS_E_ARG, "callbacks: struct_size is %zu; set it to sizeof(lks_callback)",
                         h->callbacks[0].struct_size);
    for (int64_t i = 0; i < h->n; i++) {
        lks_callback c = at(h, i);
        LKS_TRY(call_one(h, &c, hook, number, logs));
    }
    return LKS_OK;
}

bool lks__hooks_wanted(const lks_hooks *h, lks_hook hook)
{
    for (int64_t i = 0; i < h->n; i++) {
        lks_callback c = at(h, i);
        if (hook == LKS_ON_TRAIN_BATCH_END && c.on_train_batch_end != NULL) return true;
        if (hook == LKS_ON_TEST_BATCH_END && c.on_test_batch_end != NULL) return true;
    }
    return false;
}

void lks_model_stop_training(lks_model *model)
{
    if (model != NULL) model->stop_training = true;
}
