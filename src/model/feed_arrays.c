/* feed_arrays.c - batches from arrays in memory, without a copy: a batch is a list of row numbers, and the executor gathers the rows
 * straight into the slice that needs them.
 */
#include <string.h>

#include "base/philox.h"
#include "feed.h"
#include "tensor/tensor.h"

typedef struct array_feeder {
    lks_feeder base;
    lks_array_feed_options options;
    size_t n_x, n_y, n_w;
    lks_tensor *tensors[LKS_MAX_FEEDS]; /* held */
    lks_type types[LKS_MAX_FEEDS];
    int64_t *rows; /* the pass' order; NULL when not shuffled */
    int64_t next;
    lks_preparation preparation;
} array_feeder;

static size_t list_of(lks_tensor *one, lks_tensor *const *many, int64_t n, lks_tensor *const **out, lks_tensor **single)
{
    if (many != NULL && n > 0) {
        *out = many;
        return (size_t)n;
    }
    *single = one;
    *out = single;
    return one != NULL ? 1 : 0;
}

static lks_status check_rows(const char *what, size_t i, const lks_tensor *t, int64_t *rows)
{
    lks_shape s;

    if (t == NULL) return lks__fail(LKS_E_ARG, "%s[%zu] is NULL", what, i);
    s = lks_tensor_shape(t);
    if (s.rank < 1) return lks__fail(LKS_E_SHAPE, "%s[%zu] is a scalar; axis 0 counts the examples", what, i);
    if (*rows >= 0 && s.dim[0] != *rows)
        return lks__fail(LKS_E_SHAPE, "%s[%zu] has %lld rows, the others have %lld: all need one row an example", what,
                         i, (long long)s.dim[0], (long long)*rows);
    *rows = s.dim[0];
    return LKS_OK;
}

lks_status lks__arrays_rows(const lks_arrays *a, int64_t *out)
{
    lks_tensor *const *list, *one;
    int64_t rows = -1;
    size_t n;

    n = list_of(a->x, a->xs, a->n_xs, &list, &one);
    if (n == 0) return lks__fail(LKS_E_ARG, "there is no input array x");
    for (size_t i = 0; i < n; i++) LKS_TRY(check_rows("x", i, list[i], &rows));
    n = list_of(a->y, a->ys, a->n_ys, &list, &one);
    for (size_t i = 0; i < n; i++) LKS_TRY(check_rows("y", i, list[i], &rows));
    n = list_of(a->sample_weight, a->sample_weights, a->n_sample_weights, &list, &one);
    for (size_t i = 0; i < n; i++) LKS_TRY(check_rows("sample_weight", i, list[i], &rows));
    *out = rows;
    return LKS_OK;
}

static bool fed_as_is(lks_dtype d)
{
    return d == LKS_FLOAT32 || d == LKS_UINT8 || d == LKS_INT32 || d == LKS_INT64 || d == LKS_BOOL;
}

lks_status lks__feed_convert(lks_tensor *t, lks_tensor **out)
{
    lks_dtype d = lks_tensor_dtype(t);

    if (d == LKS_STRING) return lks__fail(LKS_E_ARG, "an array of strings cannot be fed to a model");
    if (fed_as_is(d)) *out = lks_tensor_retain(t);
    else if (d == LKS_FLOAT64 || d == LKS_FLOAT16 || d == LKS_BFLOAT16) *out = lks_tensor_cast(t, LKS_FLOAT32);
    else *out = lks_tensor_cast(t, d == LKS_UINT32 || d == LKS_UINT64 ? LKS_INT64 : LKS_INT32);
    return *out != NULL ? LKS_OK : LKS_E_NOMEM;
}

lks_type lks__row_type(const lks_tensor *t)
{
    lks_shape s = lks_tensor_shape(t);
    lks_type type = { .dtype = lks_tensor_dtype(t), .batched = true, .shape = { .rank = s.rank - 1 } };

    for (int64_t i = 1; i < s.rank; i++) type.shape.dim[i - 1] = s.dim[i];
    return type;
}

/* Fisher and Yates' shuffle driven by Philox: key = seed, counter = {position, 0, epoch, stream}. */
static void shuffle(array_feeder *f, int64_t n, int64_t epoch)
{
    uint32_t stream = lks__philox_stream("fit", "shuffle");

    for (int64_t i = 0; i < n; i++) f->rows[i] = f->options.begin + i;
    for (int64_t i = n - 1; i > 0; i--) {
        const uint32_t counter[4] = { (uint32_t)i, (uint32_t)(i >> 32), (uint32_t)epoch, stream };
        lks_philox_block b = lks__philox(f->options.seed, counter);
        uint64_t draw = ((uint64_t)b.word[0] << 32 | b.word[1]) >> 1;
        int64_t j = (int64_t)(draw % (uint64_t)(i + 1)), keep = f->rows[i];
        f->rows[i] = f->rows[j];
        f->rows[j] = keep;
    }
}

static lks_status restart(lks_feeder *base, int64_t epoch)
{
    array_feeder *f = (array_feeder *)base;

    f->next = 0;
    if (f->rows != NULL) shuffle(f, f->options.end - f->options.begin, epoch);
    return LKS_OK;
}

static lks_status next(lks_feeder *base, lks_batch *out)
{
    array_feeder *f = (array_feeder *)base;
    int64_t total = f->options.end - f->options.begin, n = f->options.batch_size;

    if (f->next >= total) return LKS_END;
    if (n > total - f->next) n = total - f->next;
    out->n = n;
    out->n_x = f->n_x;
    out->n_y = f->n_y;
    out->n_w = f->n_w;
    out->preparation = f->preparation;
    for (size_t i = 0; i < f->n_x + f->n_y + f->n_w; i++) {
        const char *data = lks_tensor_cdata(f->tensors[i]);
        out->types[i] = f->types[i];
        if (f->rows != NULL) out->feeds[i] = (lks_feed){ data, f->rows + f->next };
        else
            out->feeds[i] = (lks_feed){ data + (size_t)(f->options.begin + f->next) * lks__type_bytes(&f->types[i]),
                                        NULL };
    }
    f->next += n;
    return LKS_OK;
}

/* The order follows from the seed and the pass: the next row is all there is to know. */
static lks_status save(lks_feeder *base, bool position, lks_text *out)
{
    int64_t next_row = ((const array_feeder *)base)->next;

    if (position) lks__text_append(out, (const char *)&next_row, sizeof next_row);
    return LKS_OK;
}

static lks_status resume(lks_feeder *base, bool position, const char *bytes, size_t n, int64_t pass)
{
    array_feeder *f = (array_feeder *)base;
    int64_t next_row;

    if (!position) return LKS_OK;
    if (n != sizeof next_row) return lks__fail(LKS_E_ARG, "it was made with a dataset, here the data are arrays");
    memcpy(&next_row, bytes, sizeof next_row);
    if (next_row < 0 || next_row > f->options.end - f->options.begin)
        return lks__fail(LKS_E_ARG, "it stands at row %lld, but the data have %lld", (long long)next_row,
                         (long long)(f->options.end - f->options.begin));
    LKS_TRY(restart(base, pass > 0 ? pass - 1 : 0));
    f->next = next_row;
    return LKS_OK;
}

static void release(lks_feeder *base)
{
    array_feeder *f = (array_feeder *)base;

    for (size_t i = 0; i < LKS_MAX_FEEDS; i++) lks_tensor_release(f->tensors[i]);
    lks__free(f->rows);
    lks__free(f);
}

static lks_status take(array_feeder *f, size_t *at, const char *what, lks_tensor *one, lks_tensor *const *many,
                       int64_t count, size_t *n)
{
    lks_tensor *const *list, *single;

    *n = list_of(one, many, count, &list, &single);
    if (*n > LKS_MAX_IO) return lks__fail(LKS_E_LIMIT, "%zu %s arrays; at most %d", *n, what, LKS_MAX_IO);
    for (size_t i = 0; i < *n; i++) {
        LKS_TRY(lks__feed_convert(list[i], &f->tensors[*at]));
        f->types[*at] = lks__row_type(f->tensors[*at]);
        (*at)++;
    }
    return LKS_OK;
}

static lks_status fill(array_feeder *f, const lks_arrays *a, bool need_targets)
{
    size_t at = 0;
    int64_t rows;
    lks_array_feed_options *o = &f->options;

    LKS_TRY(lks__arrays_rows(a, &rows));
    if (a->x_divisor < 0 || a->y_divisor < 0 || a->y_one_hot < 0)
        return lks__fail(LKS_E_ARG, "x_divisor, y_divisor and y_one_hot cannot be negative");
    f->preparation = (lks_preparation){ a->x_divisor, a->y_divisor, a->y_one_hot };
    if (o->end < 0) o->end = rows;
    if (o->end <= o->begin)
        return lks__fail(LKS_E_ARG, "there are no examples (%lld rows)", (long long)(o->end - o->begin));
    LKS_TRY(take(f, &at, "x", a->x, a->xs, a->n_xs, &f->n_x));
    if (need_targets) {
        LKS_TRY(take(f, &at, "y", a->y, a->ys, a->n_ys, &f->n_y));
        LKS_TRY(take(f, &at, "sample_weight", a->sample_weight, a->sample_weights, a->n_sample_weights, &f->n_w));
    }
    if (o->shuffle) {
        f->rows = lks__calloc((size_t)(o->end - o->begin), sizeof *f->rows);
        if (f->rows == NULL)
            return lks__fail(LKS_E_NOMEM, "no memory for an order of %lld rows", (long long)(o->end - o->begin));
    }
    f->base.batches = (o->end - o->begin + o->batch_size - 1) / o->batch_size;
    return restart(&f->base, 0);
}

lks_status lks__feed_arrays(const lks_arrays *arrays, bool need_targets, const lks_array_feed_options *options,
                            lks_feeder **out)
{
    array_feeder *f;
    lks_status status;

    if (options->batch_size < 1)
        return lks__fail(LKS_E_ARG, "batch_size must be at least 1, got %lld", (long long)options->batch_size);
    f = lks__calloc(1, sizeof *f);
    if (f == NULL) return lks__fail(LKS_E_NOMEM, "no memory for an array feed");
    f->base = (lks_feeder){ next, restart, release, save, resume, 0, 0 };
    f->options = *options;
    status = fill(f, arrays, need_targets);
    if (status != LKS_OK) {
        release(&f->base);
        return status;
    }
    *out = &f->base;
    return LKS_OK;
}

void lks__feeder_release(lks_feeder *f)
{
    if (f != NULL) f->release(f);
}
