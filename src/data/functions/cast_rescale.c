/* cast_rescale.c - uint8 images to float32 in [0, 1], labels to one-hot vectors. The quotients come from a table of the 256
 * true divisions, so they are x / 255 to the last bit. */
#include <string.h>

#include "data/element.h"
#include "data/functions/rescale.h"
#include "lockstep/dataset.h"

typedef struct pixel_table {
    float value[256];
} pixel_table;

/* Compile-time constants, so that no thread has to fill it. */
#define P1(i) ((float)(i) / 255.0f)
#define P4(i) P1(i), P1((i) + 1), P1((i) + 2), P1((i) + 3)
#define P16(i) P4(i), P4((i) + 4), P4((i) + 8), P4((i) + 12)
#define P64(i) P16(i), P16((i) + 16), P16((i) + 32), P16((i) + 48)
static const pixel_table quotients = { { P64(0), P64(64), P64(128), P64(192) } };

static void rescale_bytes(const uint8_t *x, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = quotients.value[x[i]];
}

static void rescale(const lks_tensor *in, float *y)
{
    rescale_bytes(lks_tensor_cdata(in), lks_tensor_size(in), y);
}

static bool is_image(const lks_spec *in)
{
    const lks_spec *leaf = lks_spec_leaf(in, 0);

    return leaf != NULL && lks_spec_kind_of(leaf) == LKS_SPEC_TENSOR && lks_spec_dtype(leaf) == LKS_UINT8;
}

static bool is_label(const lks_spec *leaf)
{
    lks_dtype d = lks_spec_dtype(leaf);

    return lks_spec_kind_of(leaf) == LKS_SPEC_TENSOR &&
           (d == LKS_INT64 || d == LKS_INT32 || d == LKS_UINT8 || d == LKS_INT8 || d == LKS_INT16 || d == LKS_UINT16) &&
           lks_spec_shape(leaf).rank >= 0 && lks_spec_shape(leaf).rank < LKS_MAX_RANK;
}

typedef struct spec_args {
    bool one_hot;
    int64_t depth;
} spec_args;

static lks_spec *leaf_spec(void *user, size_t i, const lks_spec *leaf)
{
    const spec_args *args = user;
    lks_shape shape = lks_spec_shape(leaf);

    if (i == 0) return lks_spec_tensor(LKS_FLOAT32, shape);
    if (i != 1 || !args->one_hot) return lks_spec_retain(leaf);
    shape.dim[shape.rank++] = args->depth;
    return lks_spec_tensor(LKS_FLOAT32, shape);
}

static lks_spec *rescale_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    spec_args args = { false, 0 };
    char text[LKS_SPEC_TEXT];

    (void)context, (void)user;
    if (is_image(in)) return lks__spec_map(in, leaf_spec, &args);
    lks__fail(LKS_E_SHAPE, "takes elements whose first component is a uint8 image, found %s", lks__spec_text(in, text));
    return NULL;
}

static lks_spec *onehot_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    spec_args args = { true, context->depth };
    char text[LKS_SPEC_TEXT];

    (void)user;
    if (!is_image(in) || lks_spec_leaf_count(in) < 2 || !is_label(lks_spec_leaf(in, 1))) {
        lks__fail(LKS_E_SHAPE, "takes elements (uint8 image, integer label), found %s", lks__spec_text(in, text));
        return NULL;
    }
    if (args.depth == 0) args.depth = lks_spec_num_classes(lks_spec_leaf(in, 1));
    if (args.depth > 0) return lks__spec_map(in, leaf_spec, &args);
    lks__fail(LKS_E_ARG, "the number of classes is not known from the labels: say it with .depth in lks_map");
    return NULL;
}

static lks_status apply_rescale(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *x = lks_element_tensor(in, 0), *y = lks_element_output_shaped(out, 0, lks_tensor_shape(x));

    (void)context, (void)user;
    if (y == NULL) return LKS_E_NOMEM;
    rescale(x, lks_tensor_data(y));
    for (size_t i = 1; i < lks_element_count(in); i++) lks__element_share(out, i, in, i);
    return LKS_OK;
}

static int64_t label_at(const lks_tensor *labels, int64_t i)
{
    const void *data = lks_tensor_cdata(labels);

    switch (lks_tensor_dtype(labels)) {
    case LKS_INT64: return ((const int64_t *)data)[i];
    case LKS_INT32: return ((const int32_t *)data)[i];
    case LKS_INT16: return ((const int16_t *)data)[i];
    case LKS_UINT16: return ((const uint16_t *)data)[i];
    case LKS_INT8: return ((const int8_t *)data)[i];
    default: return ((const uint8_t *)data)[i];
    }
}

static lks_status one_hot(const lks_tensor *labels, lks_tensor *out)
{
    int64_t n = lks_tensor_size(labels), depth = n > 0 ? lks_tensor_size(out) / n : 0;
    float *y = lks_tensor_data(out);

    memset(y, 0, (size_t)lks_tensor_size(out) * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        int64_t label = label_at(labels, i);
        if (label < 0 || label >= depth)
            return lks__fail(LKS_E_ARG, "label %lld does not lie in [0, %lld)", (long long)label, (long long)depth);
        y[i * depth + label] = 1.0f;
    }
    return LKS_OK;
}

bool lks__labels_in_range(const lks_tensor *labels, int64_t depth)
{
    for (int64_t i = 0; i < lks_tensor_size(labels); i++) {
        int64_t label = label_at(labels, i);
        if (label < 0 || label >= depth) return false;
    }
    return true;
}

void lks__fused_shape(lks_fused kind, const lks_spec *out, size_t i, const lks_tensor *in, lks_dtype *dtype,
                      lks_shape *shape)
{
    lks_shape want = lks_spec_shape(lks_spec_leaf(out, i));

    *dtype = lks_spec_dtype(lks_spec_leaf(out, i));
    *shape = lks_tensor_shape(in);
    if (i == 1 && kind == LKS_FUSED_RESCALE_ONEHOT) shape->dim[shape->rank++] = want.dim[want.rank - 1];
}

void lks__fused_write(lks_fused kind, size_t i, const lks_tensor *in, void *to, int64_t depth)
{
    int64_t n = lks_tensor_size(in);

    if (i == 0) {
        rescale(in, to);
    } else if (i == 1 && kind == LKS_FUSED_RESCALE_ONEHOT) {
        memset(to, 0, (size_t)(n * depth) * sizeof(float));
        for (int64_t k = 0; k < n; k++) ((float *)to)[k * depth + label_at(in, k)] = 1.0f;
    } else if (n > 0) {
        memcpy(to, lks_tensor_cdata(in), (size_t)n * lks_dtype_size(lks_tensor_dtype(in)));
    }
}

/* Rows come in any order, so the processor cannot guess the next one: it is told some rows ahead. */
static inline void row_to_come(const char *data, size_t bytes, const int64_t *rows, int64_t k, int64_t n)
{
    enum { AHEAD = 8, LINE = 64, MOST = 2048 };
    size_t size = bytes < MOST ? bytes : MOST;

    if (k + AHEAD >= n) return;
#if defined(__GNUC__)
    for (size_t i = 0; i < size; i += LINE) __builtin_prefetch(data + (size_t)rows[k + AHEAD] * bytes + i);
#else
    (void)data, (void)size, (void)rows;
#endif
}

void lks__fused_gather(lks_fused kind, size_t i, const lks_tensor *in, const int64_t *rows, int64_t n, void *to,
                       int64_t depth)
{
    int64_t all = lks_tensor_shape(in).dim[0], row = all > 0 ? lks_tensor_size(in) / all : 0;
    size_t bytes = (size_t)row * lks_dtype_size(lks_tensor_dtype(in));
    const char *data = lks_tensor_cdata(in);
    float *y = to;

    if (i == 0 && kind != LKS_FUSED_NONE) {
        for (int64_t k = 0; k < n; k++) {
            row_to_come(data, bytes, rows, k, n);
            rescale_bytes((const uint8_t *)data + rows[k] * row, row, y + k * row);
        }
    } else if (i == 1 && kind == LKS_FUSED_RESCALE_ONEHOT) {
        memset(to, 0, (size_t)(n * row * depth) * sizeof *y);
        for (int64_t k = 0; k < n * row; k++) y[k * depth + label_at(in, rows[k / row] * row + k % row)] = 1.0f;
    } else {
        for (int64_t k = 0; k < n; k++) {
            row_to_come(data, bytes, rows, k, n);
            memcpy((char *)to + (size_t)k * bytes, data + (size_t)rows[k] * bytes, bytes);
        }
    }
}

static lks_status apply_onehot(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *x = lks_element_tensor(in, 0), *label = lks_element_tensor(in, 1), *y, *hot;
    const lks_spec *leaf = lks_spec_leaf(lks_element_spec(out), 1);
    lks_shape shape = lks_tensor_shape(label), want = lks_spec_shape(leaf);

    (void)context, (void)user;
    shape.dim[shape.rank++] = want.dim[want.rank - 1];
    y = lks_element_output_shaped(out, 0, lks_tensor_shape(x));
    hot = lks_element_output_shaped(out, 1, shape);
    if (y == NULL || hot == NULL) return LKS_E_NOMEM;
    rescale(x, lks_tensor_data(y));
    for (size_t i = 2; i < lks_element_count(in); i++) lks__element_share(out, i, in, i);
    return one_hot(label, hot);
}

const lks_map_fn lks_cast_rescale[1] = { { .struct_size = sizeof(lks_map_fn),
                                           .name = "cast_rescale",
                                           .output_spec = rescale_spec,
                                           .apply = apply_rescale,
                                           .flags = LKS_FN_PURE,
                                           .kind = LKS_FUSED_RESCALE } };
const lks_map_fn lks_cast_rescale_onehot[1] = { { .struct_size = sizeof(lks_map_fn),
                                                  .name = "cast_rescale_onehot",
                                                  .output_spec = onehot_spec,
                                                  .apply = apply_onehot,
                                                  .flags = LKS_FN_PURE,
                                                  .kind = LKS_FUSED_RESCALE_ONEHOT } };
