/* parse_example.c - the function of lks_parse_example: one record, or the records of a batch, column by column. */
#include <string.h>

#include "base/alloc.h"
#include "data/spec.h"
#include "example.h"

/* ---- one record ---- */

static lks_status no_memory(void)
{
    return lks__error_code() == LKS_OK ? lks__fail(LKS_E_NOMEM, "no memory for a feature") : lks__error_code();
}

/* indices 0..n-1, values, dense_shape (n,) */
static lks_status put_sparse(const lks_column *c, const lks_values *v, size_t leaf, lks_element *out)
{
    lks_tensor *shape = lks__column_output(out, leaf, LKS_INT64, 1, (const int64_t[]){ 1 });
    lks_tensor *indices = lks__column_output(out, leaf + 1, LKS_INT64, 2, (const int64_t[]){ v->n, 1 });
    lks_tensor *values = lks__column_output(out, leaf + 2, c->f.dtype, 1, &v->n);

    if (shape == NULL || indices == NULL || values == NULL) return no_memory();
    *(int64_t *)lks_tensor_data(shape) = v->n;
    for (int64_t i = 0; i < v->n; i++) ((int64_t *)lks_tensor_data(indices))[i] = i;
    return lks__values_put(v, values, 0);
}

/* A vector, or rows of the feature's shape. */
static lks_status put_rows(const lks_column *c, const lks_values *v, size_t leaf, lks_element *out)
{
    int64_t dims[LKS_MAX_RANK] = { v->n }, rank = 1;
    lks_tensor *t;

    if (c->f.kind == LKS_FIXED_LEN_SEQUENCE_FEATURE) {
        if (c->size == 0 ? v->n > 0 : v->n % c->size != 0)
            return lks__fail(LKS_E_ARG, "it holds %lld values, no multiple of the %lld of one row", (long long)v->n,
                             (long long)c->size);
        dims[0] = c->size == 0 ? 0 : v->n / c->size;
        for (; rank <= c->f.shape.rank; rank++) dims[rank] = c->f.shape.dim[rank - 1];
    }
    t = lks__column_output(out, leaf, c->f.dtype, rank, dims);
    return t == NULL ? no_memory() : lks__values_put(v, t, 0);
}

static lks_status put_column(const lks_column *c, lks_wire at, size_t leaf, lks_element *out)
{
    lks_values v;
    lks_status status;
    lks_tensor *t;

    if (c->f.kind == LKS_FIXED_LEN_FEATURE) {
        t = lks__column_output(out, leaf, c->f.dtype, c->f.shape.rank, c->f.shape.dim);
        return t == NULL ? no_memory() : lks__column_fixed(c, at, t, 0);
    }
    LKS_TRY(lks__column_values(c, at, &v));
    status = c->f.kind == LKS_VAR_LEN_FEATURE ? put_sparse(c, &v, leaf, out) : put_rows(c, &v, leaf, out);
    return status == LKS_OK ? status : lks__context(status, "feature '%s'", c->f.key);
}

lks_status lks__example_put(const lks_features *f, const lks_found *found, size_t first_leaf, lks_element *out)
{
    for (size_t i = 0; i < f->n; i++)
        LKS_TRY(put_column(&f->column[i], found->at[i], first_leaf + f->column[i].leaf, out));
    return LKS_OK;
}

/* ---- a batch ---- */

/* Columns whose size is known only when all records were seen; the values of record r, column i stand at [r * n + i]. */
typedef struct batch_parse {
    lks_features *f;
    const lks_bytes *record;
    int64_t rows;
    lks_values *late;
    size_t n_late;
    lks_tensor **fixed;
} batch_parse;

static lks_status scan_row(batch_parse *b, int64_t row)
{
    lks_features *f = b->f;
    lks_found found;
    size_t late = 0;

    LKS_TRY(lks__example_scan(f, &b->record[row], &found));
    for (size_t i = 0; i < f->n; i++) {
        const lks_column *c = &f->column[i];
        lks_values *v = b->n_late > 0 ? b->late + (size_t)row * b->n_late + late : NULL;

        if (c->f.kind == LKS_FIXED_LEN_FEATURE) {
            LKS_TRY(lks__column_fixed(c, found.at[i], b->fixed[i], row * c->size));
            continue;
        }
        LKS_TRY(lks__column_values(c, found.at[i], v));
        if (c->f.kind == LKS_FIXED_LEN_SEQUENCE_FEATURE && (c->size == 0 ? v->n > 0 : v->n % c->size != 0))
            return lks__fail(LKS_E_ARG, "feature '%s' holds %lld values, no multiple of the %lld of one row", c->f.key,
                             (long long)v->n, (long long)c->size);
        late++;
    }
    return LKS_OK;
}

/* Values of all rows one after another. */
static lks_status put_all(const batch_parse *b, size_t k, lks_tensor *values)
{
    int64_t at = 0;

    for (int64_t r = 0; r < b->rows; r++) {
        const lks_values *v = &b->late[(size_t)r * b->n_late + k];
        LKS_TRY(lks__values_put(v, values, at));
        at += v->n;
    }
    return LKS_OK;
}

static lks_status late_sparse(const batch_parse *b, const lks_column *c, size_t k, int64_t total, int64_t longest,
                              lks_element *out)
{
    lks_tensor *shape = lks__column_output(out, c->leaf, LKS_INT64, 1, (const int64_t[]){ 2 });
    lks_tensor *indices = lks__column_output(out, c->leaf + 1, LKS_INT64, 2, (const int64_t[]){ total, 2 });
    lks_tensor *values = lks__column_output(out, c->leaf + 2, c->f.dtype, 1, &total);
    int64_t *at;

    if (shape == NULL || indices == NULL || values == NULL) return no_memory();
    ((int64_t *)lks_tensor_data(shape))[0] = b->rows;
    ((int64_t *)lks_tensor_data(shape))[1] = longest;
    at = lks_tensor_data(indices);
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t i = 0; i < b->late[(size_t)r * b->n_late + k].n; i++) {
            *at++ = r;
            *at++ = i;
        }
    return put_all(b, k, values);
}

static lks_status late_ragged(const batch_parse *b, const lks_column *c, size_t k, int64_t total, lks_element *out)
{
    lks_tensor *values = lks_tensor_create(c->f.dtype, lks_shape(total));
    lks_tensor *split = lks_tensor_create(LKS_INT64, lks_shape(b->rows + 1));
    lks_status status = values == NULL || split == NULL ? LKS_E_NOMEM : put_all(b, k, values);

    if (status == LKS_OK) {
        int64_t *at = lks_tensor_data(split);
        for (int64_t r = 0; r < b->rows; r++) at[r + 1] = at[r] + b->late[(size_t)r * b->n_late + k].n;
        out->value[c->leaf].ragged = lks_ragged_create(values, 1, &split);
        if (out->value[c->leaf].ragged == NULL) status = LKS_E_NOMEM;
    }
    lks_tensor_release(split);
    lks_tensor_release(values);
    return status;
}

static lks_status late_padded(const batch_parse *b, const lks_column *c, size_t k, int64_t longest, lks_element *out)
{
    int64_t dims[LKS_MAX_RANK] = { b->rows, c->size == 0 ? 0 : longest / c->size }, rank = 2;
    int64_t row_size = c->size == 0 ? 0 : longest;
    lks_tensor *t;

    for (; rank < c->f.shape.rank + 2; rank++) dims[rank] = c->f.shape.dim[rank - 2];
    t = lks__column_output(out, c->leaf, c->f.dtype, rank, dims);
    if (t == NULL) return no_memory();
    for (int64_t r = 0; r < b->rows; r++) {
        const lks_values *v = &b->late[(size_t)r * b->n_late + k];
        LKS_TRY(lks__values_put(v, t, r * row_size));
        LKS_TRY(lks__column_pad(c, t, r * row_size + v->n, row_size - v->n));
    }
    return LKS_OK;
}

static lks_status put_late(const batch_parse *b, lks_element *out)
{
    size_t k = 0;

    for (size_t i = 0; i < b->f->n; i++) {
        const lks_column *c = &b->f->column[i];
        int64_t total = 0, longest = 0;
        lks_status status;
        if (c->f.kind == LKS_FIXED_LEN_FEATURE) continue;
        for (int64_t r = 0; r < b->rows; r++) {
            int64_t n = b->late[(size_t)r * b->n_late + k].n;
            total += n;
            if (n > longest) longest = n;
        }
        if (c->f.kind == LKS_VAR_LEN_FEATURE) status = late_sparse(b, c, k, total, longest, out);
        else if (c->f.kind == LKS_RAGGED_FEATURE) status = late_ragged(b, c, k, total, out);
        else status = late_padded(b, c, k, longest, out);
        if (status != LKS_OK) return lks__context(status, "feature '%s'", c->f.key);
        k++;
    }
    return LKS_OK;
}

static lks_status apply_batch(lks_features *f, const lks_tensor *in, lks_element *out)
{
    lks_tensor *fixed[LKS_MAX_FEATURES];
    batch_parse b = { f, lks_tensor_cdata(in), lks_tensor_size(in), NULL, 0, fixed };
    lks_status status = LKS_OK;
    size_t spans;

    for (size_t i = 0; i < f->n; i++) {
        const lks_column *c = &f->column[i];
        int64_t dims[LKS_MAX_RANK + 1] = { b.rows };
        if (c->f.kind != LKS_FIXED_LEN_FEATURE) {
            b.n_late++;
            continue;
        }
        memcpy(dims + 1, c->f.shape.dim, (size_t)c->f.shape.rank * sizeof *dims);
        fixed[i] = lks__column_output(out, c->leaf, c->f.dtype, c->f.shape.rank + 1, dims);
        if (fixed[i] == NULL) return no_memory();
    }
    if (b.n_late > 0) {
        if (!lks__mul_size(b.n_late, (size_t)b.rows, &spans)) return lks__fail(LKS_E_LIMIT, "the batch is too large");
        b.late = lks__calloc(spans, sizeof *b.late);
        if (b.late == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a batch of %lld records", (long long)b.rows);
    }
    for (int64_t r = 0; r < b.rows && status == LKS_OK; r++) {
        status = scan_row(&b, r);
        if (status != LKS_OK) lks__context(status, "record %lld of the batch", (long long)r);
    }
    if (status == LKS_OK) status = put_late(&b, out);
    lks__free(b.late);
    return status;
}

/* ---- the function ---- */

static lks_status apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_features *f = user;
    const lks_tensor *t = in->value[0].tensor;
    lks_found found;

    (void)context;
    if (lks_tensor_shape(t).rank > 0) return apply_batch(f, t, out);
    LKS_TRY(lks__example_scan(f, lks_tensor_cdata(t), &found));
    return lks__example_put(f, &found, 0, out);
}

static lks_spec *output_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    lks_shape shape = lks_spec_shape(in);
    char text[LKS_SPEC_TEXT];

    (void)context;
    if (lks_spec_kind_of(in) == LKS_SPEC_TENSOR && lks_spec_dtype(in) == LKS_STRING && shape.rank >= 0 &&
        shape.rank <= 1)
        return lks__features_spec(user, shape.rank == 1, shape.rank == 1 ? shape.dim[0] : 0);
    lks__fail(LKS_E_SHAPE, "takes one string (a serialized Example) or a vector of them, found %s",
              lks__spec_text(in, text));
    return NULL;
}

static void release(void *user)
{
    lks_features_release(user);
}

/* Stands for a list of features that could not be made: fails with the reason. */
static lks_spec *no_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    lks_error e = { .code = LKS_OK };

    (void)context, (void)in, (void)user;
    lks__error_capture(&e, lks__error_code());
    lks__fail(e.code == LKS_OK ? LKS_E_ARG : e.code, "%s", e.code == LKS_OK ? "the list of features is NULL" : e.text);
    return NULL;
}

const lks_map_fn lks__parse_nothing = {
    .struct_size = sizeof(lks_map_fn), .name = "parse_example", .output_spec = no_spec, .apply = apply
};

const lks_map_fn *lks_parse_example(lks_features *features)
{
    if (features == NULL) return &lks__parse_nothing;
    features->fn = (lks_map_fn){ .struct_size = sizeof features->fn,
                                 .name = "parse_example",
                                 .output_spec = output_spec,
                                 .apply = apply,
                                 .flags = LKS_FN_PURE,
                                 .user = features,
                                 .release = release };
    return &features->fn;
}
