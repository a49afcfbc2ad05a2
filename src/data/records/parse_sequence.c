/* parse_sequence.c - the function of lks_parse_sequence_example. A feature list is walked twice: once to know its steps and
 * values, once to decode into tensors of that size. */
#include <string.h>

#include "base/alloc.h"
#include "data/spec.h"
#include "example.h"

typedef struct sequence_parse {
    lks_features *context, *lists; /* either may be NULL */
    lks_map_fn fn;
} sequence_parse;

/* What a feature list holds. */
typedef struct steps {
    int64_t n, total, longest;
} steps;

/* The next step of a FeatureList: 1 and its values, 0 at the end, -1 failed. */
static int next_step(const lks_column *c, lks_wire *list, lks_values *v, lks_status *status)
{
    uint32_t number;
    unsigned type;
    lks_wire feature;

    while (list->p < list->end) {
        if (!lks__wire_tag(list, &number, &type)) break;
        if (number != 1 || type != LKS_WIRE_SPAN) {
            if (!lks__wire_skip(list, number, type)) break;
            continue;
        }
        if (!lks__wire_span(list, &feature)) break;
        *status = lks__column_values(c, feature, v);
        return *status == LKS_OK ? 1 : -1;
    }
    if (list->p == list->end) return 0;
    *status = lks__fail(LKS_E_FORMAT, "feature list '%s' is malformed", c->f.key);
    return -1;
}

static lks_status count_steps(const lks_column *c, lks_wire list, steps *out)
{
    lks_status status = LKS_OK;
    lks_values v;
    int more;

    *out = (steps){ 0, 0, 0 };
    while ((more = next_step(c, &list, &v, &status)) > 0) {
        if (c->f.kind == LKS_FIXED_LEN_SEQUENCE_FEATURE && v.n != c->size)
            return lks__fail(LKS_E_ARG, "feature list '%s', step %lld holds %lld values, each step must have %lld",
                             c->f.key, (long long)out->n, (long long)v.n, (long long)c->size);
        out->n++;
        out->total += v.n;
        if (v.n > out->longest) out->longest = v.n;
    }
    return more < 0 ? status : LKS_OK;
}

static lks_status put_values(const lks_column *c, lks_wire list, lks_tensor *values, int64_t *split, int64_t *index)
{
    lks_status status = LKS_OK;
    lks_values v;
    int64_t at = 0;

    for (int64_t step = 0; next_step(c, &list, &v, &status) > 0; step++) {
        LKS_TRY(lks__values_put(&v, values, at));
        at += v.n;
        if (split != NULL) split[step + 1] = at;
        for (int64_t i = 0; index != NULL && i < v.n; i++) {
            *index++ = step;
            *index++ = i;
        }
    }
    return status;
}

static lks_status put_dense(const lks_column *c, lks_wire list, const steps *s, size_t leaf, lks_element *out)
{
    int64_t dims[LKS_MAX_RANK] = { s->n };
    lks_tensor *t;

    memcpy(dims + 1, c->f.shape.dim, (size_t)c->f.shape.rank * sizeof *dims);
    t = lks__column_output(out, leaf, c->f.dtype, c->f.shape.rank + 1, dims);
    return t == NULL ? LKS_E_NOMEM : put_values(c, list, t, NULL, NULL);
}

static lks_status put_sparse(const lks_column *c, lks_wire list, const steps *s, size_t leaf, lks_element *out)
{
    lks_tensor *shape = lks__column_output(out, leaf, LKS_INT64, 1, (const int64_t[]){ 2 });
    lks_tensor *indices = lks__column_output(out, leaf + 1, LKS_INT64, 2, (const int64_t[]){ s->total, 2 });
    lks_tensor *values = lks__column_output(out, leaf + 2, c->f.dtype, 1, &s->total);

    if (shape == NULL || indices == NULL || values == NULL) return LKS_E_NOMEM;
    ((int64_t *)lks_tensor_data(shape))[0] = s->n;
    ((int64_t *)lks_tensor_data(shape))[1] = s->longest;
    return put_values(c, list, values, NULL, lks_tensor_data(indices));
}

static lks_status put_ragged(const lks_column *c, lks_wire list, const steps *s, size_t leaf, lks_element *out)
{
    lks_tensor *values = lks_tensor_create(c->f.dtype, lks_shape(s->total));
    lks_tensor *split = lks_tensor_create(LKS_INT64, lks_shape(s->n + 1));
    lks_status status = LKS_E_NOMEM;

    if (values != NULL && split != NULL) status = put_values(c, list, values, lks_tensor_data(split), NULL);
    if (status == LKS_OK) {
        out->value[leaf].ragged = lks_ragged_create(values, 1, &split);
        if (out->value[leaf].ragged == NULL) status = LKS_E_NOMEM;
    }
    lks_tensor_release(split);
    lks_tensor_release(values);
    return status;
}

static lks_status put_list(const lks_column *c, lks_wire list, size_t leaf, lks_element *out)
{
    bool lenient = c->f.kind != LKS_FIXED_LEN_SEQUENCE_FEATURE;
    steps s;

    if (list.p == NULL && (c->f.allow_missing == LKS_FALSE || (!lenient && c->f.allow_missing != LKS_TRUE)))
        return lks__fail(LKS_E_ARG,
                         "feature list '%s' is required but the record does not have it; .allow_missing = LKS_TRUE "
                         "reads it as empty",
                         c->f.key);
    LKS_TRY(count_steps(c, list, &s));
    switch (c->f.kind) {
    case LKS_VAR_LEN_FEATURE: return put_sparse(c, list, &s, leaf, out);
    case LKS_RAGGED_FEATURE: return put_ragged(c, list, &s, leaf, out);
    default: return put_dense(c, list, &s, leaf, out);
    }
}

static lks_status malformed(size_t byte)
{
    return lks__fail(LKS_E_FORMAT, "byte %zu: the message is malformed; is the record a serialized SequenceExample?",
                     byte);
}

static lks_status scan(const sequence_parse *p, const lks_bytes *record, lks_found *context, lks_found *lists)
{
    static const unsigned char nothing[1];
    const unsigned char *start = record->size > 0 ? (const unsigned char *)record->data : nothing;
    lks_wire w = { start, start + record->size }, inner;
    uint32_t number;
    unsigned type;

    while (w.p < w.end) {
        size_t here = (size_t)(w.p - start);
        if (!lks__wire_tag(&w, &number, &type)) return malformed(here);
        if (number < 1 || number > 2 || type != LKS_WIRE_SPAN) {
            if (!lks__wire_skip(&w, number, type)) return malformed(here);
            continue;
        }
        if (!lks__wire_span(&w, &inner)) return malformed(here);
        if (number == 1 && p->context != NULL) LKS_TRY(lks__features_scan(p->context, inner, start, context));
        if (number == 2 && p->lists != NULL) LKS_TRY(lks__features_scan(p->lists, inner, start, lists));
    }
    return LKS_OK;
}

static lks_status apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const sequence_parse *p = user;
    lks_found features, lists;
    size_t leaf = 0;

    (void)context;
    if (p->context != NULL) memset(features.at, 0, p->context->n * sizeof *features.at);
    if (p->lists != NULL) memset(lists.at, 0, p->lists->n * sizeof *lists.at);
    LKS_TRY(scan(p, lks_tensor_cdata(in->value[0].tensor), &features, &lists));
    if (p->context != NULL) {
        LKS_TRY(lks__example_put(p->context, &features, 0, out));
        leaf = p->context->n_leaves;
    }
    for (size_t i = 0; p->lists != NULL && i < p->lists->n; i++) {
        const lks_column *c = &p->lists->column[i];
        LKS_TRY(put_list(c, lists.at[i], leaf + c->leaf, out));
    }
    return LKS_OK;
}

/* ---- the function ---- */

static lks_spec *list_spec(const lks_column *c)
{
    static const char *const names[] = { "dense_shape", "indices", "values" };
    lks_shape shape = lks_shape(-1);
    lks_spec *part[3];

    switch (c->f.kind) {
    case LKS_RAGGED_FEATURE: return lks_spec_ragged(c->f.dtype, lks_shape(-1, -1), 1);
    case LKS_VAR_LEN_FEATURE:
        part[0] = lks_spec_tensor(LKS_INT64, lks_shape(2));
        part[1] = lks_spec_tensor(LKS_INT64, lks_shape(-1, 2));
        part[2] = lks_spec_tensor(c->f.dtype, shape);
        return lks_spec_dict(3, names, part);
    default:
        for (int64_t k = 0; k < c->f.shape.rank; k++) shape.dim[shape.rank++] = c->f.shape.dim[k];
        return lks_spec_tensor(c->f.dtype, shape);
    }
}

static lks_spec *lists_spec(const lks_features *f)
{
    const char *name[LKS_MAX_FEATURES];
    lks_spec *part[LKS_MAX_FEATURES];

    for (size_t i = 0; i < f->n; i++)
        if (f->column[i].f.kind == LKS_FIXED_LEN_FEATURE) {
            lks__fail(LKS_E_ARG, "feature list '%s' must be of kind FIXED_LEN_SEQUENCE, VAR_LEN or RAGGED",
                      f->column[i].f.key);
            return NULL;
        }
    for (size_t i = 0; i < f->n; i++) {
        name[i] = f->column[i].f.key;
        part[i] = list_spec(&f->column[i]);
    }
    return lks_spec_dict(f->n, name, part);
}

static lks_spec *output_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    const sequence_parse *p = user;
    char text[LKS_SPEC_TEXT];
    lks_spec *part[2];

    (void)context;
    if (lks_spec_kind_of(in) != LKS_SPEC_TENSOR || lks_spec_dtype(in) != LKS_STRING || lks_spec_shape(in).rank != 0) {
        lks__fail(LKS_E_SHAPE, "takes one string (a serialized SequenceExample), found %s", lks__spec_text(in, text));
        return NULL;
    }
    part[0] = p->context != NULL ? lks__features_spec(p->context, false, 0) : lks_spec_tuple(0, NULL);
    part[1] = p->lists != NULL ? lists_spec(p->lists) : lks_spec_tuple(0, NULL);
    return lks_spec_tuple(2, part);
}

static void release(void *user)
{
    sequence_parse *p = user;

    lks_features_release(p->context);
    lks_features_release(p->lists);
    lks__free(p);
}

const lks_map_fn *lks_parse_sequence_example(lks_features *context, lks_features *sequence)
{
    sequence_parse *p = context == NULL && sequence == NULL ? NULL : lks__calloc(1, sizeof *p);

    if (p == NULL) {
        lks_features_release(context);
        lks_features_release(sequence);
        return &lks__parse_nothing;
    }
    *p = (sequence_parse){ context,
                           sequence,
                           { .struct_size = sizeof p->fn,
                             .name = "parse_sequence_example",
                             .output_spec = output_spec,
                             .apply = apply,
                             .flags = LKS_FN_PURE,
                             .user = p,
                             .release = release } };
    return &p->fn;
}
