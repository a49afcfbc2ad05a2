/* example_batch.c - the records of a batch, column by column. Fixed columns are written record by record; what depends on all
 * records is noted (where its values stand) and put when the last record was seen. */
#include <string.h>

#include "base/alloc.h"
#include "example.h"

static const lks_values *late_at(const lks_example_batch *b, int64_t row, const lks_column *c)
{
    return &b->late[(size_t)row * b->f->n_late + c->late];
}

lks_status lks__batch_begin(lks_example_batch *b, lks_features *f, int64_t rows, lks_element *out)
{
    size_t spans;

    b->f = f;
    b->rows = rows;
    b->late = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const lks_column *c = &f->column[i];
        int64_t dims[LKS_MAX_RANK + 1] = { rows };
        if (lks__column_late(c)) continue;
        memcpy(dims + 1, c->f.shape.dim, (size_t)c->f.shape.rank * sizeof *dims);
        b->fixed[i] = lks__column_output(out, c->leaf, c->f.dtype, c->f.shape.rank + 1, dims);
        if (b->fixed[i] == NULL) return lks__feature_no_memory();
    }
    if (f->n_late == 0) return LKS_OK;
    if (!lks__mul_size(f->n_late, (size_t)rows, &spans)) return lks__fail(LKS_E_LIMIT, "the batch is too large");
    b->late = lks__calloc(spans > 0 ? spans : 1, sizeof *b->late);
    return b->late != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for a batch of %lld records", (long long)rows);
}

void lks__batch_free(lks_example_batch *b)
{
    lks__free(b->late);
}

lks_status lks__batch_row(lks_example_batch *b, int64_t row, const lks_found *found, lks_record_place from)
{
    const lks_features *f = b->f;
    lks_wire text;
    const lks_column *taken = lks__column_to_take(f, found, from, &text);

    for (size_t i = 0; i < f->n; i++) {
        const lks_column *c = &f->column[i];
        lks_values *v;

        if (c == taken) continue;
        if (!lks__column_late(c)) {
            LKS_TRY(lks__column_fixed(f, c, found->at[c->at], b->fixed[i], row * c->size));
            continue;
        }
        v = &b->late[(size_t)row * f->n_late + c->late];
        LKS_TRY(lks__column_values(f, c, found, v));
        if (c->f.kind == LKS_FIXED_LEN_SEQUENCE_FEATURE && (c->size == 0 ? v->n > 0 : v->n % c->size != 0))
            return lks__fail(LKS_E_ARG, "feature '%s' holds %lld values, no multiple of the %lld of one row", c->f.key,
                             (long long)v->n, (long long)c->size);
    }
    return taken == NULL ? LKS_OK : lks__column_take(text, from, b->fixed[taken - f->column], row);
}

/* Values of all rows one after another. */
static lks_status put_all(const lks_example_batch *b, const lks_column *c, lks_tensor *values)
{
    int64_t at = 0;

    for (int64_t r = 0; r < b->rows; r++) {
        const lks_values *v = late_at(b, r, c);
        LKS_TRY(lks__values_put(v, values, at));
        at += v->n;
    }
    return LKS_OK;
}

static lks_status put_sparse(const lks_example_batch *b, const lks_column *c, int64_t total, int64_t longest,
                             lks_element *out)
{
    lks_tensor *shape = lks__column_output(out, c->leaf, LKS_INT64, 1, (const int64_t[]){ 2 });
    lks_tensor *indices = lks__column_output(out, c->leaf + 1, LKS_INT64, 2, (const int64_t[]){ total, 2 });
    lks_tensor *values = lks__column_output(out, c->leaf + 2, c->f.dtype, 1, &total);
    int64_t *at;

    if (shape == NULL || indices == NULL || values == NULL) return lks__feature_no_memory();
    ((int64_t *)lks_tensor_data(shape))[0] = b->rows;
    ((int64_t *)lks_tensor_data(shape))[1] = longest;
    at = lks_tensor_data(indices);
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t i = 0; i < late_at(b, r, c)->n; i++) {
            *at++ = r;
            *at++ = i;
        }
    return put_all(b, c, values);
}

static lks_status put_padded(const lks_example_batch *b, const lks_column *c, int64_t longest, lks_element *out)
{
    int64_t dims[LKS_MAX_RANK] = { b->rows, c->size == 0 ? 0 : longest / c->size }, rank = 2;
    int64_t row_size = c->size == 0 ? 0 : longest;
    lks_tensor *t;

    for (; rank < c->f.shape.rank + 2; rank++) dims[rank] = c->f.shape.dim[rank - 2];
    t = lks__column_output(out, c->leaf, c->f.dtype, rank, dims);
    if (t == NULL) return lks__feature_no_memory();
    for (int64_t r = 0; r < b->rows; r++) {
        const lks_values *v = late_at(b, r, c);
        LKS_TRY(lks__values_put(v, t, r * row_size));
        LKS_TRY(lks__column_pad(c, t, r * row_size + v->n, row_size - v->n));
    }
    return LKS_OK;
}

lks_status lks__batch_end(lks_example_batch *b, lks_element *out)
{
    for (size_t i = 0; i < b->f->n; i++) {
        const lks_column *c = &b->f->column[i];
        lks_items records = { NULL, b->f->n_late, b->rows, "record" };
        int64_t total = 0, longest = 0;
        lks_status status;

        if (!lks__column_late(c)) continue;
        records.v = b->late + c->late;
        for (int64_t r = 0; r < b->rows; r++) {
            int64_t n = late_at(b, r, c)->n;
            total += n;
            if (n > longest) longest = n;
        }
        switch (c->f.kind) {
        case LKS_VAR_LEN_FEATURE: status = put_sparse(b, c, total, longest, out); break;
        case LKS_SPARSE_FEATURE: status = lks__sparse_put(c, records, c->leaf, out); break;
        case LKS_RAGGED_FEATURE: status = lks__ragged_put(c, records, NULL, c->leaf, out); break;
        default: status = put_padded(b, c, longest, out); break;
        }
        if (status != LKS_OK) return lks__context(status, "feature '%s'", c->f.key);
    }
    return LKS_OK;
}
