/* parse_sequence.c - the function of lks_parse_sequence_example: one record, or the records of a batch. */
#include <string.h>

#include "base/alloc.h"
#include "data/spec.h"
#include "sequence.h"

typedef struct sequence_parse {
    lks_features *context, *lists; /* either may be NULL */
    lks_map_fn fn;
} sequence_parse;

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

/* Of one record, or of each of a batch. */
static lks_status scan_record(const sequence_parse *p, const lks_bytes *record, lks_found *context, lks_wire *list)
{
    lks_found lists;

    if (p->context != NULL) memset(context->at, 0, p->context->n_wanted * sizeof *context->at);
    if (p->lists != NULL) memset(lists.at, 0, p->lists->n_wanted * sizeof *lists.at);
    LKS_TRY(scan(p, record, context, &lists));
    if (p->lists != NULL) memcpy(list, lists.at, p->lists->n_wanted * sizeof *list);
    return LKS_OK;
}

static lks_status apply_one(const sequence_parse *p, const lks_bytes *record, lks_element *out)
{
    lks_wire list[LKS_MAX_FEATURES];
    lks_found context;

    LKS_TRY(scan_record(p, record, &context, list));
    if (p->context != NULL) LKS_TRY(lks__example_put(p->context, &context, (lks_record_place){ NULL, 0 }, out));
    if (p->lists == NULL) return LKS_OK;
    return lks__lists_put(p->lists, list, 1, false, p->context != NULL ? p->context->n_leaves : 0, out);
}

static lks_status apply_batch(const sequence_parse *p, const lks_bytes *record, int64_t rows, lks_element *out)
{
    size_t n = p->lists != NULL ? p->lists->n_wanted : 0, spans;
    lks_example_batch b = { 0 };
    lks_status status = LKS_OK;
    lks_wire *list;
    lks_found context;

    if (!lks__mul_size((size_t)rows + 1, n + 1, &spans)) return lks__fail(LKS_E_LIMIT, "the batch is too large");
    list = lks__calloc(spans, sizeof *list);
    if (list == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a batch of %lld records", (long long)rows);
    if (p->context != NULL) status = lks__batch_begin(&b, p->context, rows, out);
    for (int64_t r = 0; r < rows && status == LKS_OK; r++) {
        status = scan_record(p, &record[r], &context, list + (size_t)r * n);
        if (status == LKS_OK && p->context != NULL)
            status = lks__batch_row(&b, r, &context, (lks_record_place){ NULL, 0 });
        if (status != LKS_OK) lks__context(status, "record %lld of the batch", (long long)r);
    }
    if (status == LKS_OK && p->context != NULL) status = lks__batch_end(&b, out);
    if (status == LKS_OK && p->lists != NULL)
        status = lks__lists_put(p->lists, list, rows, true, p->context != NULL ? p->context->n_leaves : 0, out);
    lks__batch_free(&b);
    lks__free(list);
    return status;
}

static lks_status apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const lks_tensor *t = in->value[0].tensor;

    (void)context;
    if (lks_tensor_shape(t).rank == 0) return apply_one(user, lks_tensor_cdata(t), out);
    return apply_batch(user, lks_tensor_cdata(t), lks_tensor_size(t), out);
}

/* ---- the function ---- */

static lks_spec *output_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    const sequence_parse *p = user;
    lks_shape shape = lks_spec_shape(in);
    char text[LKS_SPEC_TEXT];
    lks_spec *part[3];
    bool batch = shape.rank == 1;
    int64_t rows = batch ? shape.dim[0] : 0;

    (void)context;
    if (lks_spec_kind_of(in) != LKS_SPEC_TENSOR || lks_spec_dtype(in) != LKS_STRING || shape.rank < 0 ||
        shape.rank > 1) {
        lks__fail(LKS_E_SHAPE, "takes one string (a serialized SequenceExample) or a vector of them, found %s",
                  lks__spec_text(in, text));
        return NULL;
    }
    part[0] = p->context != NULL ? lks__features_spec(p->context, batch, rows) : lks_spec_tuple(0, NULL);
    part[1] = p->lists != NULL ? lks__lists_spec(p->lists, batch, rows) : lks_spec_tuple(0, NULL);
    part[2] = !batch ? NULL : p->lists != NULL ? lks__lengths_spec(p->lists, rows) : lks_spec_tuple(0, NULL);
    return lks_spec_tuple(batch ? 3 : 2, part);
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
