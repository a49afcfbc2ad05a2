/* codec.c - per component: number of tensors (1, or values and splits of a ragged one), then each: dtype, rank, sizes, data;
 * strings as length and bytes. */
#include "codec.h"

#include <string.h>

#include "base/alloc.h"
#include "files/crc32c.h"
#include "files/endian.h"
#include "tensor/tensor.h"

static void put_u64(lks_text *out, uint64_t v)
{
    unsigned char b[8];

    for (int i = 0; i < 8; i++) b[i] = (unsigned char)(v >> 8 * i);
    lks__text_append(out, (const char *)b, 8);
}

static void put_u32(lks_text *out, uint32_t v)
{
    unsigned char b[4] = { (unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                           (unsigned char)(v >> 24) };

    lks__text_append(out, (const char *)b, 4);
}

static void put_tensor(lks_text *out, const lks_tensor *t)
{
    lks_shape shape = lks_tensor_shape(t);
    lks_dtype dtype = lks_tensor_dtype(t);
    const lks_bytes *text = lks_tensor_cdata(t);
    int64_t n = lks_tensor_size(t);

    put_u32(out, (uint32_t)dtype);
    put_u32(out, (uint32_t)shape.rank);
    for (int64_t k = 0; k < shape.rank; k++) put_u64(out, (uint64_t)shape.dim[k]);
    if (dtype != LKS_STRING) {
        lks__text_append(out, (const char *)text, (size_t)n * lks_dtype_size(dtype));
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        put_u64(out, text[i].size);
        if (text[i].size > 0) lks__text_append(out, text[i].data, text[i].size);
    }
}

void lks__element_encode(lks_text *out, const lks_element *e)
{
    for (size_t i = 0; i < lks_element_count(e); i++) {
        const lks_ragged *r = lks_element_ragged(e, i);
        if (r == NULL) {
            put_u32(out, 1);
            put_tensor(out, e->value[i].tensor);
            continue;
        }
        put_u32(out, (uint32_t)(1 + lks_ragged_rank(r)));
        put_tensor(out, lks_ragged_values(r));
        for (size_t k = 0; k < lks_ragged_rank(r); k++) put_tensor(out, lks_ragged_split(r, k));
    }
}

typedef struct source {
    const unsigned char *p;
    size_t left;
} source;

static lks_status cut(void)
{
    return lks__fail(LKS_E_FORMAT, "an element's bytes are cut off");
}

static lks_status get_u64(source *s, uint64_t *out)
{
    if (s->left < 8) return cut();
    *out = lks__le64(s->p);
    s->p += 8;
    s->left -= 8;
    return LKS_OK;
}

static lks_status get_u32(source *s, uint32_t *out)
{
    if (s->left < 4) return cut();
    *out = lks__le32(s->p);
    s->p += 4;
    s->left -= 4;
    return LKS_OK;
}

static lks_status get_shape(source *s, lks_dtype *dtype, lks_shape *shape)
{
    uint32_t d, rank;
    uint64_t size;

    LKS_TRY(get_u32(s, &d));
    LKS_TRY(get_u32(s, &rank));
    if (lks_dtype_size((lks_dtype)d) == 0 || rank > LKS_MAX_RANK)
        return lks__fail(LKS_E_FORMAT, "an element's bytes have dtype %u and %u axes", d, rank);
    *dtype = (lks_dtype)d;
    shape->rank = (int64_t)rank;
    for (uint32_t k = 0; k < rank; k++) {
        LKS_TRY(get_u64(s, &size));
        if (size > INT64_MAX) return lks__fail(LKS_E_FORMAT, "a size in an element's bytes is above 2^63");
        shape->dim[k] = (int64_t)size;
    }
    return LKS_OK;
}

/* The data of t; sizes are compared with what is left before anything is made for them. */
static lks_status get_data(source *s, lks_tensor *t)
{
    size_t bytes = (size_t)lks_tensor_size(t) * lks_dtype_size(lks_tensor_dtype(t));

    if (lks_tensor_dtype(t) != LKS_STRING) {
        if (s->left < bytes) return cut();
        if (bytes > 0) memcpy(lks_tensor_data(t), s->p, bytes);
        s->p += bytes;
        s->left -= bytes;
        return LKS_OK;
    }
    for (int64_t i = 0; i < lks_tensor_size(t); i++) {
        uint64_t size;
        LKS_TRY(get_u64(s, &size));
        if (size > s->left) return cut();
        LKS_TRY(lks__tensor_set_bytes(t, i, s->p, (size_t)size));
        s->p += size;
        s->left -= (size_t)size;
    }
    return LKS_OK;
}

/* At least one byte is needed for each element of a tensor, so no header can ask for more than the bytes that follow. */
static lks_status check_room(const source *s, const lks_shape *shape)
{
    int64_t n = lks_shape_size(shape);

    if (n < 0 || (uint64_t)n > s->left) return cut();
    return LKS_OK;
}

static lks_status get_dense(source *s, lks_element *e, size_t i)
{
    lks_dtype dtype;
    lks_shape shape;

    LKS_TRY(get_shape(s, &dtype, &shape));
    LKS_TRY(lks__leaf_check(lks_element_spec(e), i, dtype, &shape));
    LKS_TRY(check_room(s, &shape));
    e->value[i].tensor = lks__element_room(e, i, dtype, &shape);
    return e->value[i].tensor == NULL ? lks__error_code() : get_data(s, e->value[i].tensor);
}

static lks_status get_ragged(source *s, lks_element *e, size_t i, uint32_t parts)
{
    lks_tensor *part[LKS_MAX_RANK + 2] = { NULL };
    lks_ragged *r = NULL;
    lks_status status = parts < 1 || parts > LKS_MAX_RANK + 1 ? cut() : LKS_OK;
    uint32_t k = 0;

    for (; status == LKS_OK && k < parts; k++) {
        lks_dtype dtype;
        lks_shape shape;
        status = get_shape(s, &dtype, &shape);
        if (status == LKS_OK) status = check_room(s, &shape);
        if (status != LKS_OK) break;
        part[k] = lks_tensor_create(dtype, shape);
        status = part[k] == NULL ? lks__error_code() : get_data(s, part[k]);
    }
    if (status == LKS_OK) {
        r = lks_ragged_create(part[0], parts - 1, part + 1);
        status = r == NULL ? lks__error_code() : lks_element_set_ragged(e, i, r);
    }
    lks_ragged_release(r);
    for (k = 0; k < LKS_MAX_RANK + 2; k++) lks_tensor_release(part[k]);
    return status;
}

lks_status lks__element_decode(const void *data, size_t n, lks_element *e)
{
    source s = { data, n };

    for (size_t i = 0; i < lks_element_count(e); i++) {
        uint32_t parts;
        LKS_TRY(get_u32(&s, &parts));
        if (lks_spec_kind_of(lks_spec_leaf(lks_element_spec(e), i)) == LKS_SPEC_RAGGED) {
            LKS_TRY(get_ragged(&s, e, i, parts));
            continue;
        }
        if (parts != 1) return lks__fail(LKS_E_FORMAT, "component %zu is written with %u parts, must be 1", i, parts);
        LKS_TRY(get_dense(&s, e, i));
    }
    return s.left == 0 ? LKS_OK : lks__fail(LKS_E_FORMAT, "%zu bytes follow an element", s.left);
}

lks_status lks__codec_check(const lks_spec *spec)
{
    for (size_t i = 0; i < lks_spec_leaf_count(spec); i++)
        if (lks_spec_kind_of(lks_spec_leaf(spec, i)) == LKS_SPEC_DATASET)
            return lks__fail(LKS_E_SHAPE, "component %zu is a dataset and can't be written to a file", i);
    return LKS_OK;
}

void lks__frame_append(lks_text *out, const void *payload, size_t n)
{
    unsigned char length[8];

    for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)n >> 8 * i);
    lks__text_append(out, (const char *)length, 8);
    put_u32(out, lks__crc32c_mask(lks__crc32c(0, length, 8)));
    lks__text_append(out, payload, n);
    put_u32(out, lks__crc32c_mask(lks__crc32c(0, payload, n)));
}
