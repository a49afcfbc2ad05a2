/* shape.c - the kinds of numbers, and shapes: names, sizes, text. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tensor.h"

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [LKS_FLOAT32] = { "float32", 4 },   [LKS_UINT8] = { "uint8", 1 },
    [LKS_INT32] = { "int32", 4 },       [LKS_INT64] = { "int64", 8 },
    [LKS_BOOL] = { "bool", 1 },         [LKS_FLOAT64] = { "float64", 8 },
    [LKS_INT8] = { "int8", 1 },         [LKS_INT16] = { "int16", 2 },
    [LKS_UINT16] = { "uint16", 2 },     [LKS_UINT32] = { "uint32", 4 },
    [LKS_UINT64] = { "uint64", 8 },     [LKS_FLOAT16] = { "float16", 2 },
    [LKS_BFLOAT16] = { "bfloat16", 2 }, [LKS_STRING] = { "string", sizeof(lks_bytes) },
};

static int known(lks_dtype dtype)
{
    return (int)dtype > 0 && (size_t)dtype < sizeof dtypes / sizeof *dtypes;
}

const char *lks_dtype_name(lks_dtype dtype)
{
    return known(dtype) ? dtypes[dtype].name : "?";
}

size_t lks_dtype_size(lks_dtype dtype)
{
    return known(dtype) ? dtypes[dtype].size : 0;
}

lks_dtype lks__dtype_from_name(const char *name)
{
    for (size_t i = 1; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(name, dtypes[i].name) == 0) return (lks_dtype)i;
    return (lks_dtype)0;
}

lks_shape lks_shape_of(size_t rank, const int64_t *dims)
{
    lks_shape s = { .rank = -1 };

    if (rank > LKS_MAX_RANK) return s;
    s.rank = (int64_t)rank;
    for (size_t i = 0; i < rank; i++) s.dim[i] = dims[i];
    return s;
}

int64_t lks_shape_size(const lks_shape *shape)
{
    int64_t n = 1;

    if (shape->rank < 0 || shape->rank > LKS_MAX_RANK) return -1;
    for (int64_t i = 0; i < shape->rank; i++) {
        if (shape->dim[i] < 0) return -1;
        if (shape->dim[i] != 0 && n > INT64_MAX / shape->dim[i]) return -1;
        n *= shape->dim[i];
    }
    return n;
}

int lks_shape_equal(const lks_shape *a, const lks_shape *b)
{
    if (a->rank != b->rank) return 0;
    for (int64_t i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return 0;
    return 1;
}

const char *lks__shape_text(const lks_shape *shape, char *buffer)
{
    size_t n = 0;

    if (shape->rank < 0 || shape->rank > LKS_MAX_RANK) {
        snprintf(buffer, LKS_SHAPE_TEXT, "(?)");
        return buffer;
    }
    n += (size_t)snprintf(buffer + n, LKS_SHAPE_TEXT - n, "(");
    for (int64_t i = 0; i < shape->rank; i++) {
        if (i > 0) n += (size_t)snprintf(buffer + n, LKS_SHAPE_TEXT - n, ", ");
        if (shape->dim[i] < 0) n += (size_t)snprintf(buffer + n, LKS_SHAPE_TEXT - n, "None");
        else n += (size_t)snprintf(buffer + n, LKS_SHAPE_TEXT - n, "%lld", (long long)shape->dim[i]);
    }
    snprintf(buffer + n, LKS_SHAPE_TEXT - n, shape->rank == 1 ? ",)" : ")");
    return buffer;
}

lks_status lks__shape_check(const lks_shape *shape)
{
    char text[LKS_SHAPE_TEXT];

    if (shape->rank < 0 || shape->rank > LKS_MAX_RANK)
        return lks__fail(LKS_E_SHAPE, "a shape has %d to %d axes", 0, LKS_MAX_RANK);
    for (int64_t i = 0; i < shape->rank; i++)
        if (shape->dim[i] < 0)
            return lks__fail(LKS_E_SHAPE, "shape %s: size %lld of axis %lld is negative or unknown",
                             lks__shape_text(shape, text), (long long)shape->dim[i], (long long)i);
    if (lks_shape_size(shape) < 0)
        return lks__fail(LKS_E_LIMIT, "shape %s has more elements than fit 63 bits", lks__shape_text(shape, text));
    return LKS_OK;
}
