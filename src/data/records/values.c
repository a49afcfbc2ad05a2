/* values.c - the values of one Feature message. Every list comes as chunks of packed values: an unpacked value is a packed
 * chunk of one, a string a chunk of its own. So packed, unpacked and mixed lists take one way. */
#include <string.h>

#include "example.h"
#include "files/endian.h"
#include "tensor/tensor.h"

/* A group has fields of its own up to its end; nesting is counted, not recursed. */
static bool skip_group(lks_wire *w, uint32_t outermost)
{
    enum { DEEPEST = 100 };
    uint32_t open[DEEPEST] = { outermost }, number;
    unsigned type;
    int depth = 1;

    while (depth > 0) {
        if (!lks__wire_tag(w, &number, &type)) return false;
        if (type == LKS_WIRE_GROUP) {
            if (depth == DEEPEST) return false;
            open[depth++] = number;
        } else if (type == LKS_WIRE_END_GROUP) {
            if (open[--depth] != number) return false;
        } else if (!lks__wire_skip(w, number, type)) {
            return false;
        }
    }
    return true;
}

bool lks__wire_skip(lks_wire *w, uint32_t number, unsigned type)
{
    lks_wire inner;
    uint64_t value;
    ptrdiff_t n = type == LKS_WIRE_FIXED64 ? 8 : 4;

    switch (type) {
    case LKS_WIRE_VARINT: return lks__wire_varint(w, &value);
    case LKS_WIRE_SPAN: return lks__wire_span(w, &inner);
    case LKS_WIRE_GROUP: return skip_group(w, number);
    case LKS_WIRE_FIXED64:
    case LKS_WIRE_FIXED32:
        if (w->end - w->p < n) return false;
        w->p += n;
        return true;
    default: return false;
    }
}

/* The next chunk of the walk: 1, 0 at the end, -1 malformed. */
static int next_chunk(lks_values *v, lks_wire *chunk)
{
    uint32_t number;
    unsigned type;

    for (;;) {
        while (v->list.p >= v->list.end) {
            if (v->feature.p >= v->feature.end) return 0;
            if (!lks__wire_tag(&v->feature, &number, &type)) return -1;
            if (number == (uint32_t)v->kind && type == LKS_WIRE_SPAN) {
                if (!lks__wire_span(&v->feature, &v->list)) return -1;
            } else if (!lks__wire_skip(&v->feature, number, type)) {
                return -1;
            }
        }
        if (!lks__wire_tag(&v->list, &number, &type)) return -1;
        if (number == 1 && type == LKS_WIRE_SPAN) return lks__wire_span(&v->list, chunk) ? 1 : -1;
        chunk->p = v->list.p;
        if (!lks__wire_skip(&v->list, number, type)) return -1;
        chunk->end = v->list.p;
        if (number == 1 && ((v->kind == LKS_LIST_INT64 && type == LKS_WIRE_VARINT) ||
                            (v->kind == LKS_LIST_FLOAT && type == LKS_WIRE_FIXED32)))
            return 1;
    }
}

/* How many integers end in this chunk; -1 if the last does not. */
static int64_t count_integers(const lks_wire *chunk)
{
    size_t n = (size_t)(chunk->end - chunk->p), count = 0;

    if (n > 0 && chunk->end[-1] >= 128) return -1;
    for (size_t i = 0; i < n; i++) count += chunk->p[i] < 128;
    return (int64_t)count;
}

static bool count_values(lks_values v, int64_t *n)
{
    lks_wire chunk;
    int more;

    *n = 0;
    while ((more = next_chunk(&v, &chunk)) > 0) {
        int64_t here = 1;
        if (v.kind == LKS_LIST_INT64) here = count_integers(&chunk);
        else if (v.kind == LKS_LIST_FLOAT) here = (chunk.end - chunk.p) % 4 == 0 ? (chunk.end - chunk.p) / 4 : -1;
        if (here < 0) return false;
        *n += here;
    }
    return more == 0;
}

/* The kind is the last one that occurs; lists of it that stand behind the last other kind are one list. */
bool lks__values_begin(lks_values *v, lks_wire feature)
{
    lks_wire at = feature, inner;
    uint32_t number;
    unsigned type;

    *v = (lks_values){ .feature = feature };
    while (at.p < at.end) {
        const unsigned char *here = at.p;
        if (!lks__wire_tag(&at, &number, &type)) return false;
        if (type != LKS_WIRE_SPAN) {
            if (!lks__wire_skip(&at, number, type)) return false;
            continue;
        }
        if (!lks__wire_span(&at, &inner)) return false;
        if (number < 1 || number > 3 || number == (uint32_t)v->kind) continue;
        v->kind = (lks_list_kind)number;
        v->feature.p = here;
    }
    v->list.p = v->list.end = v->feature.end;
    return v->kind == LKS_LIST_NONE || count_values(*v, &v->n);
}

bool lks__values_int64(lks_values v, int64_t *out)
{
    lks_wire chunk;
    uint64_t value;

    while (next_chunk(&v, &chunk) > 0)
        while (chunk.p < chunk.end) {
            if (*chunk.p < 128) {
                *out++ = *chunk.p++;
                continue;
            }
            if (!lks__wire_varint(&chunk, &value)) return false;
            *out++ = (int64_t)value;
        }
    return true;
}

bool lks__values_float(lks_values v, float *out)
{
    lks_wire chunk;

    while (next_chunk(&v, &chunk) > 0) {
        size_t n = (size_t)(chunk.end - chunk.p) / 4;
        memcpy(out, chunk.p, n * 4);
        if (!lks__host_is_little()) lks__swap_bytes(out, n, 4);
        out += n;
    }
    return true;
}

lks_status lks__values_bytes(lks_values v, lks_tensor *out, int64_t at)
{
    lks_wire chunk;

    while (next_chunk(&v, &chunk) > 0)
        LKS_TRY(lks__tensor_set_bytes(out, at++, chunk.p, (size_t)(chunk.end - chunk.p)));
    return LKS_OK;
}

bool lks__values_long_string(lks_wire feature, size_t least, lks_wire *out)
{
    lks_values v;

    return (size_t)(feature.end - feature.p) >= least && lks__values_begin(&v, feature) && v.kind == LKS_LIST_BYTES &&
           v.n == 1 && next_chunk(&v, out) > 0 && (size_t)(out->end - out->p) >= least;
}

lks_status lks__values_put(const lks_values *v, lks_tensor *out, int64_t at)
{
    void *data = lks_tensor_data(out);
    bool ok = true;

    if (v->n == 0) return LKS_OK;
    switch (v->kind) {
    case LKS_LIST_BYTES: return lks__values_bytes(*v, out, at);
    case LKS_LIST_FLOAT: ok = lks__values_float(*v, (float *)data + at); break;
    default: ok = lks__values_int64(*v, (int64_t *)data + at); break;
    }
    return ok ? LKS_OK : lks__fail(LKS_E_FORMAT, "an integer of its list has more than ten bytes");
}
