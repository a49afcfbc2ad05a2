/* data_functions.h - internal to data_functions*.c: arguments, scalars and the form of the language's functions. */
#ifndef LKS_TESTS_GOLDEN_DATA_FUNCTIONS_H
#define LKS_TESTS_GOLDEN_DATA_FUNCTIONS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "tensor/tensor.h"

/* The argument, which functions get as `user`. */
typedef struct data_arg {
    double value;
    int64_t integer;
} data_arg;

static inline int64_t arg_of(const void *user)
{
    return ((const data_arg *)user)->integer;
}

static inline int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t m = a % b;

    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

static inline double get(const lks_element *e, size_t i)
{
    const lks_tensor *t = lks_element_tensor(e, i);

    switch (lks_tensor_dtype(t)) {
    case LKS_INT64: return (double)*(const int64_t *)lks_tensor_cdata(t);
    case LKS_INT32: return (double)*(const int32_t *)lks_tensor_cdata(t);
    case LKS_FLOAT32: return (double)*(const float *)lks_tensor_cdata(t);
    case LKS_FLOAT64: return *(const double *)lks_tensor_cdata(t);
    default: return (double)*(const uint8_t *)lks_tensor_cdata(t);
    }
}

static inline int64_t geti(const lks_element *e, size_t i)
{
    return (int64_t)get(e, i);
}

/* A scalar of whatever number dtype component i has. */
static inline lks_status set(lks_element *e, size_t i, double v)
{
    lks_tensor *t = lks_element_output(e, i);
    void *p;

    if (t == NULL) return LKS_E_SHAPE;
    p = lks_tensor_data(t);
    switch (lks_tensor_dtype(t)) {
    case LKS_INT64: *(int64_t *)p = (int64_t)v; break;
    case LKS_INT32: *(int32_t *)p = (int32_t)v; break;
    case LKS_FLOAT32: *(float *)p = (float)v; break;
    case LKS_FLOAT64: *(double *)p = v; break;
    default: *(uint8_t *)p = (uint8_t)v; break;
    }
    return LKS_OK;
}

static inline lks_shape scalar(void)
{
    return (lks_shape){ .rank = 0 };
}

static inline lks_spec *first(const lks_spec *in)
{
    return lks_spec_retain(lks_spec_leaf(in, 0));
}

#define SPEC(name) static lks_spec *name##_spec(const lks_map_context *context, const lks_spec *in, void *user)
#define APPLY(name) \
    static lks_status name(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
#define UNUSED (void)context, (void)in, (void)user

typedef struct data_named {
    const char *name;
    lks_spec *(*spec)(const lks_map_context *context, const lks_spec *in, void *user);
    lks_status (*apply)(const lks_map_context *context, lks_element *in, lks_element *out, void *user);
} data_named;

/* Those that make or take datasets; ends with a NULL name. */
extern const data_named data_dataset_functions[];

#endif
