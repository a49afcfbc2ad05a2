/* sequence_lists.c - feature lists: the steps of all records in one row, then tensors of that size. */
#include <string.h>

#include "base/alloc.h"
#include "sequence.h"
#include "tensor/tensor.h"

/* The steps of one column in all records. */
typedef struct steps {
    int64_t records;
    bool batch;
    int64_t *first; /* of each record, and the end */
    lks_values *v;  /* 1 + n_levels of each step */
    size_t stride;
    int64_t n, most;        /* steps in all, of one record */
    int64_t total, longest; /* values in all, of one step */
} steps;

/* The next Feature of a FeatureList: 1, 0 at the end, -1 malformed. */
static int next_step(lks_wire *list, lks_wire *feature)
{
    uint32_t number;
    unsigned type;

    while (list->p < list->end) {
        if (!lks__wire_tag(list, &number, &type)) return -1;
        if (number == 1 && type == LKS_WIRE_SPAN) return lks__wire_span(list, feature) ? 1 : -1;
        if (!lks__wire_skip(list, number, type)) return -1;
    }
    return 0;
}

static lks_status count_steps(const lks_wanted *w, lks_wire list, int64_t *n)
{
    lks_wire feature;
    int more;

    *n = 0;
    while ((more = next_step(&list, &feature)) > 0) ++*n;
    return more == 0 ? LKS_OK : lks__fail(LKS_E_FORMAT, "feature list '%s' is malformed", w->key);
}

/* The values of one wanted list, `want` steps, into every stride-th place. */
static lks_status read_steps(const lks_wanted *w, lks_wire list, int64_t want, size_t stride, lks_values *v)
{
    lks_wire feature;
    int64_t n;

    LKS_TRY(count_steps(w, list, &n));
    if (n != want)
        return lks__fail(LKS_E_ARG, "feature list '%s' has %lld steps, the values have %lld", w->key, (long long)n,
                         (long long)want);
    for (int64_t step = 0; next_step(&list, &feature) > 0; step++) {
        lks_status status = lks__wanted_values(w, feature, &v[(size_t)step * stride]);
        if (status != LKS_OK) return lks__context(status, "step %lld", (long long)step);
    }
    return LKS_OK;
}

static lks_status read_record(const lks_features *f, const lks_column *c, const lks_wire *list, steps *s, int64_t r)
{
    lks_values *v = s->v + (size_t)s->first[r] * s->stride;
    int64_t n = s->first[r + 1] - s->first[r];

    LKS_TRY(read_steps(&f->wanted[c->at], list[c->at], n, s->stride, v));
    for (size_t k = 0; k < c->n_levels; k++)
        if (c->level[k].kind != LKS_UNIFORM_ROW_LENGTH)
            LKS_TRY(read_steps(&f->wanted[c->level[k].at], list[c->level[k].at], n, s->stride, v + 1 + k));
    for (int64_t i = 0; i < n; i++, v += s->stride) {
        if (c->f.kind == LKS_FIXED_LEN_SEQUENCE_FEATURE && v->n != c->size)
            return lks__fail(LKS_E_ARG, "feature list '%s', step %lld holds %lld values, each step must have %lld",
                             f->wanted[c->at].key, (long long)i, (long long)v->n, (long long)c->size);
        s->total += v->n;
        if (v->n > s->longest) s->longest = v->n;
    }
    return LKS_OK;
}

static lks_status blame(lks_status status, const steps *s, int64_t r)
{
    return status != LKS_OK && s->batch ? lks__context(status, "record %lld of the batch", (long long)r) : status;
}

static lks_status check_present(const lks_features *f, const lks_column *c, const lks_wire *list)
{
    bool lenient = c->f.kind != LKS_FIXED_LEN_SEQUENCE_FEATURE;

    if (list[c->at].p != NULL || c->f.allow_missing == LKS_TRUE || (lenient && c->f.allow_missing != LKS_FALSE))
        return LKS_OK;
    return lks__fail(
        LKS_E_ARG,
        "feature list '%s' is required but the record does not have it; .allow_missing = LKS_TRUE reads it "
        "as empty",
        f->wanted[c->at].key);
}

static lks_status read_all(const lks_features *f, const lks_column *c, const lks_wire *list, steps *s)
{
    size_t spans;

    s->stride = 1 + c->n_levels;
    s->first = lks__calloc((size_t)s->records + 1, sizeof *s->first);
    if (s->first == NULL) return lks__feature_no_memory();
    for (int64_t r = 0; r < s->records; r++) {
        const lks_wire *of = &list[(size_t)r * f->n_wanted];
        int64_t n = 0;
        lks_status status = check_present(f, c, of);
        if (status == LKS_OK) status = count_steps(&f->wanted[c->at], of[c->at], &n);
        if (status != LKS_OK) return blame(status, s, r);
        s->first[r + 1] = s->first[r] + n;
        if (n > s->most) s->most = n;
    }
    s->n = s->first[s->records];
    if (!lks__mul_size((size_t)s->n + 1, s->stride, &spans)) return lks__fail(LKS_E_LIMIT, "the lists are too long");
    s->v = lks__calloc(spans, sizeof *s->v);
    if (s->v == NULL) return lks__feature_no_memory();
    for (int64_t r = 0; r < s->records; r++)
        LKS_TRY(blame(read_record(f, c, &list[(size_t)r * f->n_wanted], s, r), s, r));
    return LKS_OK;
}

/* [steps] + shape, or [batch, most steps] + shape with zeros behind the end of a record. */
static lks_status put_dense(const lks_column *c, const steps *s, size_t leaf, lks_element *out)
{
    int64_t dims[LKS_MAX_RANK + 2] = { s->records, s->most }, rank = c->f.shape.rank, at = 0;
    const int64_t *from = s->batch ? dims : dims + 1;
    lks_tensor *t;

    memcpy(dims + 2, c->f.shape.dim, (size_t)rank * sizeof *dims);
    t = lks__column_output(out, leaf, c->f.dtype, rank + 1 + s->batch, from);
    if (t == NULL) return lks__feature_no_memory();
    for (int64_t r = 0; r < s->records; r++) {
        int64_t empty = (s->most - (s->first[r + 1] - s->first[r])) * c->size;
        for (int64_t i = s->first[r]; i < s->first[r + 1]; i++, at += c->size)
            LKS_TRY(lks__values_put(&s->v[(size_t)i * s->stride], t, at));
        LKS_TRY(lks__column_pad(c, t, at, empty));
        at += empty;
    }
    return LKS_OK;
}

static lks_status put_sparse(const lks_column *c, const steps *s, size_t leaf, lks_element *out)
{
    int64_t rank = 2 + s->batch, at = 0, *place;
    lks_tensor *shape = lks__column_output(out, leaf, LKS_INT64, 1, &rank);
    lks_tensor *indices = lks__column_output(out, leaf + 1, LKS_INT64, 2, (const int64_t[]){ s->total, rank });
    lks_tensor *values = lks__column_output(out, leaf + 2, c->f.dtype, 1, &s->total);

    if (shape == NULL || indices == NULL || values == NULL) return lks__feature_no_memory();
    place = lks_tensor_data(shape);
    if (s->batch) *place++ = s->records;
    place[0] = s->most;
    place[1] = s->longest;
    place = lks_tensor_data(indices);
    for (int64_t r = 0; r < s->records; r++)
        for (int64_t i = s->first[r]; i < s->first[r + 1]; i++) {
            const lks_values *v = &s->v[(size_t)i * s->stride];
            for (int64_t k = 0; k < v->n; k++) {
                if (s->batch) *place++ = r;
                *place++ = i - s->first[r];
                *place++ = k;
            }
            LKS_TRY(lks__values_put(v, values, at));
            at += v->n;
        }
    return LKS_OK;
}

static lks_status put_ragged(const lks_column *c, const steps *s, size_t leaf, lks_element *out)
{
    lks_items items = { s->v, s->stride, s->n, "step" };
    lks_tensor *above = NULL;

    if (s->batch) {
        above = lks_tensor_from(LKS_INT64, lks_shape(s->records + 1), s->first);
        if (above == NULL) return lks__feature_no_memory();
    }
    return lks__ragged_put(c, items, above, leaf, out);
}

static lks_status put_lengths(const steps *s, size_t leaf, lks_element *out)
{
    lks_tensor *t = lks__column_output(out, leaf, LKS_INT64, 1, &s->records);

    if (t == NULL) return lks__feature_no_memory();
    for (int64_t r = 0; r < s->records; r++) ((int64_t *)lks_tensor_data(t))[r] = s->first[r + 1] - s->first[r];
    return LKS_OK;
}

lks_status lks__lists_put(const lks_features *f, const lks_wire *list, int64_t n, bool batch, size_t leaf,
                          lks_element *out)
{
    size_t lengths = leaf + f->n_leaves;

    for (size_t i = 0; i < f->n; i++) {
        const lks_column *c = &f->column[i];
        steps s = { .records = n, .batch = batch };
        lks_status status = read_all(f, c, list, &s);

        if (status == LKS_OK) {
            if (c->f.kind == LKS_VAR_LEN_FEATURE) status = put_sparse(c, &s, leaf + c->leaf, out);
            else if (c->f.kind == LKS_RAGGED_FEATURE) status = put_ragged(c, &s, leaf + c->leaf, out);
            else status = put_dense(c, &s, leaf + c->leaf, out);
            if (status != LKS_OK) lks__context(status, "feature list '%s'", c->f.key);
        }
        if (status == LKS_OK && batch && c->f.kind == LKS_FIXED_LEN_SEQUENCE_FEATURE)
            status = put_lengths(&s, lengths++, out);
        lks__free(s.v);
        lks__free(s.first);
        if (status != LKS_OK) return status;
    }
    return LKS_OK;
}

/* ---- what they give ---- */

lks_spec *lks__lists_spec(const lks_features *f, bool batch, int64_t rows)
{
    const int64_t outer[] = { rows, -1 };
    const char *name[LKS_MAX_FEATURES];
    lks_spec *part[LKS_MAX_FEATURES];

    for (size_t i = 0; i < f->n; i++)
        if (f->column[i].f.kind == LKS_FIXED_LEN_FEATURE || f->column[i].f.kind == LKS_SPARSE_FEATURE) {
            lks__fail(LKS_E_ARG, "feature list '%s' must be of kind FIXED_LEN_SEQUENCE, VAR_LEN or RAGGED",
                      f->column[i].f.key);
            return NULL;
        }
    for (size_t i = 0; i < f->n; i++) {
        const lks_column *c = &f->column[i]; /* a dense sequence brings the axis of the steps with it */
        int64_t n = c->f.kind == LKS_FIXED_LEN_SEQUENCE_FEATURE ? 0 : 1;
        name[i] = c->f.key;
        part[i] = lks__column_spec(c, n + batch, batch ? outer : outer + 1);
    }
    return lks_spec_dict(f->n, name, part);
}

lks_spec *lks__lengths_spec(const lks_features *f, int64_t rows)
{
    const char *name[LKS_MAX_FEATURES];
    lks_spec *part[LKS_MAX_FEATURES];
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        if (f->column[i].f.kind == LKS_FIXED_LEN_SEQUENCE_FEATURE) {
            name[n] = f->column[i].f.key;
            part[n++] = lks_spec_tensor(LKS_INT64, lks_shape(rows));
        }
    return lks_spec_dict(n, name, part);
}
