/* npy.c - npy files and members: magic, header, data. Nothing is allocated for a size that cannot be there. */
#include "npy.h"

#include <string.h>

#include "base/alloc.h"
#include "endian.h"
#include "lockstep/files.h"
#include "save.h"
#include "tensor/tensor.h"

enum { HEADER_LIMIT = 1 << 20 };

static lks_status read_header_length(lks_reader *r, size_t *n)
{
    unsigned char magic[8], length[4] = { 0 };
    size_t got = 0;

    LKS_TRY(lks__read_some(r, magic, sizeof magic, &got));
    if (got == 0) return lks__fail(LKS_E_FORMAT, "the file is empty, an npy array was expected");
    if (got < 6 || memcmp(magic, "\x93NUMPY", 6) != 0)
        return lks__fail(LKS_E_FORMAT, "not an npy file: it does not start with \\x93NUMPY");
    if (got < 8) return lks__fail(LKS_E_FORMAT, "the npy header is cut off");
    if (magic[6] < 1 || magic[6] > 3)
        return lks__fail(LKS_E_UNSUPPORTED, "npy version %d.%d is not known (1 to 3 are)", magic[6], magic[7]);
    LKS_TRY(lks__read_exact(r, length, magic[6] == 1 ? 2 : 4, "the npy header"));
    *n = lks__le32(length);
    if (*n > r->left)
        return lks__fail(LKS_E_FORMAT, "the npy header is cut off: it should have %zu bytes, %llu are left", *n,
                         (unsigned long long)r->left);
    if (*n > HEADER_LIMIT)
        return lks__fail(LKS_E_LIMIT, "the npy header has %zu bytes, at most %d are read", *n, HEADER_LIMIT);
    return LKS_OK;
}

static lks_status read_info(lks_reader *r, lks_npy_info *info)
{
    size_t n = 0;
    char *text;
    lks_status status;

    LKS_TRY(read_header_length(r, &n));
    text = lks__malloc(n);
    if (text == NULL) return lks__fail(LKS_E_NOMEM, "no memory for an npy header of %zu bytes", n);
    status = lks__read_exact(r, text, n, "the npy header");
    if (status == LKS_OK) status = lks__npy_parse_header(text, n, info);
    lks__free(text);
    return status;
}

/* From first-axis-fastest to last-axis-fastest order. */
static void to_c_order(const lks_shape *shape, size_t size, const char *from, char *to)
{
    int64_t index[LKS_MAX_RANK] = { 0 }, n = lks_shape_size(shape);

    for (int64_t i = 0; i < n; i++) {
        int64_t source = 0;
        for (int64_t a = shape->rank - 1; a >= 0; a--) source = source * shape->dim[a] + index[a];
        memcpy(to + (size_t)i * size, from + (size_t)source * size, size);
        for (int64_t a = shape->rank - 1; a >= 0 && ++index[a] == shape->dim[a]; a--) index[a] = 0;
    }
}

static lks_status reorder(lks_tensor **t)
{
    lks_shape shape = lks_tensor_shape(*t);
    lks_tensor *c = lks_tensor_create(lks_tensor_dtype(*t), shape);

    if (c == NULL) return LKS_E_NOMEM;
    to_c_order(&shape, lks_dtype_size(lks_tensor_dtype(*t)), lks_tensor_cdata(*t), lks_tensor_data(c));
    lks_tensor_release(*t);
    *t = c;
    return LKS_OK;
}

static lks_status check_size(const lks_npy_info *info, uint64_t left, size_t *bytes)
{
    char text[LKS_SHAPE_TEXT];

    if (lks_shape_size(&info->shape) < 0 ||
        !lks__mul_size((size_t)lks_shape_size(&info->shape), lks_dtype_size(info->dtype), bytes))
        return lks__fail(LKS_E_FORMAT, "the size of shape %s overflows", lks__shape_text(&info->shape, text));
    if (*bytes > left)
        return lks__fail(LKS_E_FORMAT, "the file is too short: %zu bytes of data wanted for %s %s, %llu found", *bytes,
                         lks__shape_text(&info->shape, text), lks_dtype_name(info->dtype), (unsigned long long)left);
    return LKS_OK;
}

lks_status lks__npy_read(lks_reader *r, lks_tensor **out)
{
    lks_npy_info info;
    size_t bytes = 0, size;
    lks_tensor *t;
    lks_status status;

    LKS_TRY(read_info(r, &info));
    LKS_TRY(check_size(&info, r->left, &bytes));
    t = lks_tensor_create(info.dtype, info.shape);
    if (t == NULL) return LKS_E_NOMEM;
    status = lks__read_exact(r, lks_tensor_data(t), bytes, "the data");
    if (status == LKS_OK) status = lks__read_end(r);
    if (status != LKS_OK) goto release;
    size = lks_dtype_size(info.dtype);
    if (info.swapped) lks__swap_bytes(lks_tensor_data(t), (size_t)lks_tensor_size(t), size);
    if (info.dtype == LKS_BOOL)
        for (size_t i = 0; i < bytes; i++)
            ((unsigned char *)lks_tensor_data(t))[i] = ((unsigned char *)lks_tensor_data(t))[i] != 0;
    if (info.fortran && info.shape.rank > 1) status = reorder(&t);
    if (status != LKS_OK) goto release;
    *out = t;
    return LKS_OK;

release:
    lks_tensor_release(t);
    return status;
}

lks_status lks_read_npy(const char *path, lks_tensor **out)
{
    lks_reader *r;
    lks_status status;

    if (path == NULL || out == NULL) return lks__fail(LKS_E_ARG, "lks_read_npy: path and out must not be NULL");
    LKS_TRY(lks__reader_file(path, &r));
    status = lks__npy_read(r, out);
    lks__reader_close(r);
    return status == LKS_OK ? LKS_OK : lks__context(status, "'%s'", path);
}

static lks_status write_parts(lks_saving *s, const lks_text *header, const lks_tensor *t)
{
    LKS_TRY(lks__save_write_at(s, 0, header->data, header->length));
    return lks__save_write_at(s, header->length, lks_tensor_cdata(t),
                              (size_t)lks_tensor_size(t) * lks_dtype_size(lks_tensor_dtype(t)));
}

lks_status lks_write_npy(const char *path, const lks_tensor *tensor)
{
    lks_text header = { 0 };
    lks_saving s;
    lks_status status;

    if (path == NULL || tensor == NULL) return lks__fail(LKS_E_ARG, "lks_write_npy: path and tensor must not be NULL");
    status = lks__npy_header(tensor, &header);
    if (status != LKS_OK) goto free_header;
    status = lks__save_begin(path, &s);
    if (status != LKS_OK) goto free_header;
    status = write_parts(&s, &header, tensor);
    if (status == LKS_OK) status = lks__save_commit(&s);
    else lks__save_abort(&s);

free_header:
    lks__text_free(&header);
    return status;
}
