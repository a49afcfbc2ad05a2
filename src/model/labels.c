/* labels.c - class numbers are checked before a step: one out of range would read as "no class" in the graph and train silently on
 * nothing.
 */
#include "function.h"

static double label_at(const lks_type *t, const void *row, int64_t i)
{
    switch (t->dtype) {
    case LKS_INT32: return (double)((const int32_t *)row)[i];
    case LKS_INT64: return (double)((const int64_t *)row)[i];
    case LKS_FLOAT32: return (double)((const float *)row)[i];
    default: return (double)((const uint8_t *)row)[i];
    }
}

static lks_status check_target(const lks_function *f, const lks_batch *b, size_t y)
{
    const lks_type *t = &b->types[b->n_x + y];
    const lks_feed *feed = &b->feeds[b->n_x + y];
    const int64_t size = lks__type_size(t);
    const size_t bytes = lks__type_bytes(t);

    for (int64_t e = 0; e < b->n; e++) {
        int64_t r = feed->rows != NULL ? feed->rows[e] : e;
        const char *row = (const char *)feed->data + (size_t)r * bytes;
        for (int64_t i = 0; i < size; i++) {
            double label = label_at(t, row, i);
            if (label >= 0 && label < (double)f->classes[y]) continue;
            if (f->ignored[y] != -1 && label == (double)f->ignored[y]) continue;
            return lks__fail(LKS_E_ARG,
                             "target %zu: example %lld of the batch has class %g, but the model has classes 0 to %lld",
                             y, (long long)e, label, (long long)f->classes[y] - 1);
        }
    }
    return LKS_OK;
}

lks_status lks__check_labels(const lks_function *f, const lks_batch *batch)
{
    for (size_t y = 0; y < batch->n_y && y < LKS_MAX_IO; y++)
        if (f->classes[y] > 0) LKS_TRY(check_target(f, batch, y));
    return LKS_OK;
}
