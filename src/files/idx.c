/* idx.c - see idx.h. The data is read straight into the tensor, after its size was compared with what can come. */
#include "idx.h"

#include "base/alloc.h"
#include "endian.h"
#include "lockstep/files.h"
#include "tensor/tensor.h"

static lks_dtype type_of(unsigned char code)
{
    switch (code) {
    case 0x08: return LKS_UINT8;
    case 0x09: return LKS_INT8;
    case 0x0b: return LKS_INT16;
    case 0x0c: return LKS_INT32;
    case 0x0d: return LKS_FLOAT32;
    case 0x0e: return LKS_FLOAT64;
    default: return (lks_dtype)0;
    }
}

static lks_status read_header(lks_reader *r, lks_dtype *dtype, lks_shape *shape)
{
    unsigned char head[4], size[4];

    LKS_TRY(lks__read_exact(r, head, sizeof head, "the magic number"));
    *dtype = type_of(head[2]);
    if (head[0] != 0 || head[1] != 0 || *dtype == 0)
        return lks__fail(LKS_E_FORMAT, "not an IDX file: it starts with %02x %02x %02x %02x, expected 00 00 TYPE RANK",
                         head[0], head[1], head[2], head[3]);
    if (head[3] > LKS_MAX_RANK)
        return lks__fail(LKS_E_LIMIT, "the IDX array has %d axes, at most %d are supported", head[3], LKS_MAX_RANK);
    shape->rank = head[3];
    for (int i = 0; i < head[3]; i++) {
        LKS_TRY(lks__read_exact(r, size, sizeof size, "the sizes"));
        shape->dim[i] = lks__be32(size);
    }
    return LKS_OK;
}

/* The reader's own memory where it can be had: behind a header of 4 bytes an axis and 4 more, so not for wider numbers. */
static bool take_data(lks_reader *r, lks_dtype dtype, const lks_shape *shape, size_t bytes, void **data, void **owner)
{
    return bytes > 0 && (4 + 4 * (size_t)shape->rank) % lks_dtype_size(dtype) == 0 &&
           lks__reader_take(r, bytes, data, owner);
}

static lks_status read_data(lks_reader *r, lks_dtype dtype, lks_shape shape, size_t bytes, lks_tensor **out)
{
    void *data, *owner;
    void (*release)(void *) = lks__free;
    lks_status status = LKS_OK;

    if (!take_data(r, dtype, &shape, bytes, &data, &owner)) {
        data = owner = lks__aligned_malloc(bytes);
        release = lks__aligned_free;
        if (data == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu bytes of data", bytes);
        status = lks__read_exact(r, data, bytes, "the data");
    }
    if (status == LKS_OK) status = lks__read_end(r);
    if (status != LKS_OK) {
        release(owner);
        return status;
    }
    *out = lks_tensor_wrap(dtype, shape, data, release, owner);
    return *out != NULL ? LKS_OK : LKS_E_NOMEM;
}

lks_status lks__idx_read(lks_reader *r, lks_tensor **out)
{
    lks_dtype dtype;
    lks_shape shape = { 0 };
    char text[LKS_SHAPE_TEXT];
    size_t bytes;
    lks_tensor *t;

    LKS_TRY(read_header(r, &dtype, &shape));
    LKS_TRY(lks__shape_check(&shape));
    if (!lks__mul_size((size_t)lks_shape_size(&shape), lks_dtype_size(dtype), &bytes) || bytes > r->left)
        return lks__fail(LKS_E_FORMAT, "the header says %s %s, more than the file holds", lks__shape_text(&shape, text),
                         lks_dtype_name(dtype));
    LKS_TRY(read_data(r, dtype, shape, bytes, &t));
    if (lks__host_is_little()) lks__swap_bytes(lks_tensor_data(t), (size_t)lks_tensor_size(t), lks_dtype_size(dtype));
    *out = t;
    return LKS_OK;
}

static lks_status read_and_close(lks_reader *r, lks_tensor **out)
{
    lks_status status;

    LKS_TRY(lks__reader_maybe_gzip(r, &r));
    status = lks__idx_read(r, out);
    lks__reader_close(r);
    return status;
}

lks_status lks__idx_read_memory(const void *data, size_t n, lks_tensor **out)
{
    lks_reader *r;

    LKS_TRY(lks__reader_memory(data, n, &r));
    return read_and_close(r, out);
}

lks_status lks_read_idx(const char *path, lks_tensor **out)
{
    lks_reader *r;
    lks_status status;

    if (path == NULL || out == NULL) return lks__fail(LKS_E_ARG, "lks_read_idx: path and out must not be NULL");
    LKS_TRY(lks__reader_file(path, &r));
    status = read_and_close(r, out);
    return status == LKS_OK ? LKS_OK : lks__context(status, "'%s'", path);
}
