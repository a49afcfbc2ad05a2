/* parse_example.c - the function of lks_parse_example: one record, or the records of a batch, column by column. */
#include <string.h>

#include "base/alloc.h"
#include "data/spec.h"
#include "example.h"

/* ---- one record ---- */

/* indices 0..n-1, values, dense_shape (n,) */
static lks_status put_sparse(const lks_column *c, const lks_values *v, size_t leaf, lks_element *out)
{
    lks_tensor *shape = lks__column_output(out, leaf, LKS_INT64, 1, (const int64_t[]){ 1 });
    lks_tensor *indices = lks__column_output(out, leaf + 1, LKS_INT64, 2, (const int64_t[]){ v->n, 1 });
    lks_tensor *values = lks__column_output(out, leaf + 2, c->f.dtype, 1, &v->n);

    if (shape == NULL || indices == NULL || values == NULL) return lks__feature_no_memory();
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
    return t == NULL ? lks__feature_no_memory() : lks__values_put(v, t, 0);
}

static lks_status put_column(const lks_features *f, const lks_column *c, const lks_found *found, lks_element *out)
{
    lks_values v[1 + LKS_MAX_RANK];
    lks_items record = { v, 0, 1, NULL };
    lks_status status;
    lks_tensor *t;

    if (c->f.kind == LKS_FIXED_LEN_FEATURE) {
        t = lks__column_output(out, c->leaf, c->f.dtype, c->f.shape.rank, c->f.shape.dim);
        return t == NULL ? lks__feature_no_memory() : lks__column_fixed(f, c, found->at[c->at], t, 0);
    }
    LKS_TRY(lks__column_values(f, c, found, v));
    if (c->f.kind == LKS_VAR_LEN_FEATURE) status = put_sparse(c, v, c->leaf, out);
    else if (c->f.kind == LKS_SPARSE_FEATURE) status = lks__sparse_put(c, record, c->leaf, out);
    else if (c->n_levels > 0) status = lks__ragged_put(c, record, NULL, c->leaf, out);
    else status = put_rows(c, v, c->leaf, out);
    return status == LKS_OK ? status : lks__context(status, "feature '%s'", c->f.key);
}

lks_status lks__example_put(const lks_features *f, const lks_found *found, lks_record_place from, lks_element *out)
{
    lks_wire text;
    const lks_column *taken = lks__column_to_take(f, found, from, &text);
    lks_tensor *t;

    for (size_t i = 0; i < f->n; i++)
        if (&f->column[i] != taken) LKS_TRY(put_column(f, &f->column[i], found, out));
    if (taken == NULL) return LKS_OK;
    t = lks__column_output(out, taken->leaf, taken->f.dtype, taken->f.shape.rank, taken->f.shape.dim);
    return t == NULL ? lks__feature_no_memory() : lks__column_take(text, from, t, 0);
}

/* ---- a batch ---- */

static lks_status apply_batch(lks_features *f, const lks_tensor *in, lks_tensor *given, lks_element *out)
{
    const lks_bytes *record = lks_tensor_cdata(in);
    lks_example_batch b;
    lks_found found;
    lks_status status = lks__batch_begin(&b, f, lks_tensor_size(in), out);

    for (int64_t r = 0; r < b.rows && status == LKS_OK; r++) {
        status = lks__example_scan(f, &record[r], &found);
        if (status == LKS_OK) status = lks__batch_row(&b, r, &found, (lks_record_place){ given, r });
        if (status != LKS_OK) lks__context(status, "record %lld of the batch", (long long)r);
    }
    if (status == LKS_OK) status = lks__batch_end(&b, out);
    lks__batch_free(&b);
    return status;
}

/* ---- the function ---- */

static lks_status apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_features *f = user;
    const lks_tensor *t = in->value[0].tensor;
    lks_tensor *given = in->given ? in->value[0].tensor : NULL;
    lks_found found;

    (void)context;
    if (lks_tensor_shape(t).rank > 0) return apply_batch(f, t, given, out);
    LKS_TRY(lks__example_scan(f, lks_tensor_cdata(t), &found));
    return lks__example_put(f, &found, (lks_record_place){ given, 0 }, out);
}

lks_features *lks__parses_rows(const lks_map_fn *fn, const lks_spec *in)
{
    lks_features *f = fn->user;

    if (fn->apply != apply || f == NULL || f->n_late > 0) return NULL;
    return lks_spec_kind_of(in) == LKS_SPEC_TENSOR && lks_spec_shape(in).rank == 0 ? f : NULL;
}

lks_status lks__parse_row(lks_example_batch *b, int64_t row, lks_element *in)
{
    lks_tensor *record = in->value[0].tensor;
    lks_found found;

    LKS_TRY(lks__example_scan(b->f, lks_tensor_cdata(record), &found));
    return lks__batch_row(b, row, &found, (lks_record_place){ atomic_load(&in->references) == 1 ? record : NULL, 0 });
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
