/* op_basic.c - bytes and numbers: reading, decoding, casting, scaling, one-hot rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/endian.h"
#include "files/image.h"
#include "files/reader.h"
#include "op.h"
#include "tensor/tensor.h"

static lks_status need_string(const lks_op *op, lks_dtype dtype, const lks_shape *shape)
{
    char text[LKS_SHAPE_TEXT];

    if (dtype == LKS_STRING && shape->rank <= 0) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "%s takes one string, found %s %s", op->class->name, lks_dtype_name(dtype),
                     lks__shape_text(shape, text));
}

static lks_status need_numbers(const lks_op *op, lks_dtype dtype)
{
    if (dtype != LKS_STRING) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "%s takes numbers, found strings", op->class->name);
}

/* ---- read_file ---- */

static lks_status read_file_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    LKS_TRY(need_string(op, *dtype, shape));
    *shape = (lks_shape){ .rank = 0 };
    return LKS_OK;
}

static lks_status read_file(const lks_op *op, lks_op_call *call, const lks_view *in, lks_view *out)
{
    const lks_bytes *name = in->data;
    const lks_shape scalar = { .rank = 0 };
    char path[4096];
    size_t n;
    lks_status status;

    (void)op;
    if (name->size >= sizeof path || memchr(name->data, 0, name->size) != NULL)
        return lks__fail(LKS_E_ARG, "a string of %zu bytes is no file name", name->size);
    memcpy(path, name->data, name->size);
    path[name->size] = '\0';
    if (call->number == 0 && call->out->read != NULL) {
        call->bytes = *call->out->read;
    } else {
        status = lks__read_file_again(path, &call->result->data, &call->result->size, &n);
        if (status != LKS_OK) return status;
        call->bytes = (lks_bytes){ call->result->data, n };
    }
    if (!call->last) {
        *out = (lks_view){ LKS_STRING, scalar, &call->bytes };
        return LKS_OK;
    }
    if (lks__op_room(call, LKS_STRING, &scalar, out) == NULL) return lks__error_code();
    return lks_element_set_bytes(call->out, (size_t)call->component, 0, call->bytes.data, call->bytes.size);
}

const lks_op_class lks__op_read_file = { .name = "read_file", .shape = read_file_shape, .make = read_file };

const lks_map_fn *lks_fn_read_file(void)
{
    return lks__op_function(&(lks_op){ .class = &lks__op_read_file }, "read_file");
}

/* ---- decode_image ---- */

static lks_status decode_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t channels = op->decode.channels != 0 ? op->decode.channels : -1;
    lks_decode_options o;

    LKS_TRY(need_string(op, *dtype, shape));
    LKS_TRY(lks__decode_options(&op->decode, &o));
    *dtype = o.dtype;
    *shape = o.expand_animations == LKS_TRUE ? (lks_shape){ .rank = -1 } : (lks_shape){ 3, { -1, -1, channels } };
    return LKS_OK;
}

typedef struct op_sink {
    lks_image_sink sink;
    lks_op_call *call;
    lks_view *out;
} op_sink;

static void *sink_room(lks_image_sink *sink, lks_dtype dtype, const lks_shape *shape)
{
    op_sink *s = (op_sink *)sink;

    return lks__op_room(s->call, dtype, shape, s->out);
}

lks_status lks__op_decode_rows(const lks_op *op, lks_op_call *call, const lks_view *in, lks_view *out,
                               lks_image_rows *rows)
{
    const lks_bytes *bytes = in->data;
    op_sink sink = { { sink_room, rows }, call, out };
    lks_decode_options o;

    LKS_TRY(lks__decode_options(&op->decode, &o));
    return lks__image_decode(bytes->data, bytes->size, &o, &sink.sink);
}

static lks_status decode(const lks_op *op, lks_op_call *call, const lks_view *in, lks_view *out)
{
    return lks__op_decode_rows(op, call, in, out, NULL);
}

const lks_op_class lks__op_decode = { .name = "decode_image", .shape = decode_shape, .make = decode };

/* What differs from the defaults; enters fingerprints, so nothing that matters may be missing. */
static const char *decode_name(const lks_decode_options *o, char text[256])
{
    char number[LKS_OP_NUMBER];
    int n = snprintf(text, 256, "%lld", (long long)o->channels);

    if (o->dtype != LKS_UINT8) n += snprintf(text + n, 256 - (size_t)n, ", %s", lks_dtype_name(o->dtype));
    if (o->expand_animations == LKS_TRUE) n += snprintf(text + n, 256 - (size_t)n, ", animations");
    if (o->ratio != 1) n += snprintf(text + n, 256 - (size_t)n, ", 1/%lld", (long long)o->ratio);
    if (o->at_least_height != 0 || o->at_least_width != 0)
        n += snprintf(text + n, 256 - (size_t)n, ", at least %lld x %lld", (long long)o->at_least_height,
                      (long long)o->at_least_width);
    if (o->fancy_upscaling == LKS_FALSE) n += snprintf(text + n, 256 - (size_t)n, ", plain upscaling");
    if (o->try_recover_truncated == LKS_TRUE)
        n += snprintf(text + n, 256 - (size_t)n, ", recover %s", lks__op_number(o->acceptable_fraction, number));
    if (o->dct_method != NULL) n += snprintf(text + n, 256 - (size_t)n, ", %s", o->dct_method);
    if (o->max_bytes != LKS_IMAGE_MAX_BYTES) snprintf(text + n, 256 - (size_t)n, ", %lld", (long long)o->max_bytes);
    return text;
}

const lks_map_fn *lks_fn_decode_image_with(const lks_decode_options *options)
{
    lks_op op = { .class = &lks__op_decode };
    lks_decode_options *o = &op.decode;
    char text[256];

    if (lks__decode_options(options, o) != LKS_OK) return lks__op_refused("decode_image");
    o->struct_size = sizeof *o;
    o->dct_method = o->dct_method != NULL && strcmp(o->dct_method, "INTEGER_ACCURATE") == 0 ? "INTEGER_ACCURATE" : NULL;
    return lks__op_function(&op, "decode_image(%s)", decode_name(o, text));
}

/* ---- decode_raw ---- */

static lks_status raw_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    LKS_TRY(need_string(op, *dtype, shape));
    *dtype = op->dtype;
    *shape = op->shape.rank < 0 ? (lks_shape){ 1, { -1 } } : op->shape;
    return LKS_OK;
}

/* The one unknown size follows from the count; false if nothing fits. */
static bool settle(lks_shape *shape, int64_t n)
{
    int64_t known = 1, open = -1;

    for (int64_t i = 0; i < shape->rank; i++) {
        if (shape->dim[i] >= 0) known *= shape->dim[i];
        else open = i;
    }
    if (open < 0) return known == n;
    shape->dim[open] = known > 0 ? n / known : 0;
    return known > 0 && n % known == 0;
}

static lks_status decode_raw(const lks_op *op, lks_op_call *call, const lks_view *in, lks_view *out)
{
    const lks_bytes *bytes = in->data;
    const unsigned char *p = (const unsigned char *)bytes->data;
    size_t item = lks_dtype_size(op->dtype);
    lks_shape shape = op->shape.rank < 0 ? (lks_shape){ 1, { -1 } } : op->shape;
    char text[LKS_SHAPE_TEXT];
    void *data;

    if (bytes->size % item != 0 || !settle(&shape, (int64_t)(bytes->size / item))) {
        bool proto = bytes->size > 4 && p[0] == 0x08 && p[2] == 0x12; /* TensorProto: dtype, shape */
        return lks__fail(LKS_E_SHAPE, "%zu bytes do not make %s %s of %zu byte%s each%s", bytes->size,
                         lks_dtype_name(op->dtype), lks__shape_text(&op->shape, text), item, item == 1 ? "" : "s",
                         proto ? "; they begin like a serialized tensor, which parse_tensor would read" : "");
    }
    data = lks__op_room(call, op->dtype, &shape, out);
    if (data == NULL) return lks__error_code();
    if (bytes->size > 0) memcpy(data, bytes->data, bytes->size);
    if (!lks__host_is_little()) lks__swap_bytes(data, bytes->size / item, item);
    for (size_t i = 0; op->dtype == LKS_BOOL && i < bytes->size; i++) ((uint8_t *)data)[i] = p[i] != 0;
    return LKS_OK;
}

static const lks_op_class raw_class = { .name = "decode_raw", .shape = raw_shape, .make = decode_raw };

const lks_map_fn *lks_fn_decode_raw(lks_dtype dtype, lks_shape shape)
{
    lks_op op = { .class = &raw_class, .dtype = dtype, .shape = shape };
    char text[LKS_SHAPE_TEXT];
    int open = 0;

    for (int64_t i = 0; i < shape.rank && i < LKS_MAX_RANK; i++) open += shape.dim[i] < 0;
    if (lks_dtype_size(dtype) == 0 || dtype == LKS_STRING || shape.rank > LKS_MAX_RANK || open > 1) {
        lks__fail(LKS_E_ARG, "decode_raw takes a dtype of numbers and a shape with at most one unknown size");
        return lks__op_refused("decode_raw");
    }
    return lks__op_function(&op, "decode_raw(%s, %s)", lks_dtype_name(dtype), lks__shape_text(&shape, text));
}

/* ---- cast, rescale, expand_dims ---- */

static lks_status cast_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    (void)shape;
    LKS_TRY(need_numbers(op, *dtype));
    *dtype = op->dtype;
    return LKS_OK;
}

static lks_status cast(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    (void)op, (void)call;
    lks__convert(in->dtype, in->data, out->dtype, data, lks_shape_size(&in->shape));
    return LKS_OK;
}

static const lks_op_class cast_class = { .name = "cast", .shape = cast_shape, .run = cast };

const lks_map_fn *lks_fn_cast(lks_dtype dtype)
{
    if (lks_dtype_size(dtype) == 0 || dtype == LKS_STRING) {
        lks__fail(LKS_E_ARG, "cast takes a dtype of numbers");
        return lks__op_refused("cast");
    }
    return lks__op_function(&(lks_op){ .class = &cast_class, .dtype = dtype }, "cast(%s)", lks_dtype_name(dtype));
}

static lks_status to_float_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    (void)shape;
    LKS_TRY(need_numbers(op, *dtype));
    *dtype = LKS_FLOAT32;
    return LKS_OK;
}

static lks_status rescale(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    float scale = (float)op->x[0], offset = (float)op->x[1], *y = data;
    int64_t n = lks_shape_size(&in->shape);
    const uint8_t *bytes = in->data;
    const float *x = in->data;

    (void)call, (void)out;
    if (in->dtype == LKS_UINT8) {
        for (int64_t i = 0; i < n; i++) y[i] = (float)(int)bytes[i] * scale + offset;
        return LKS_OK;
    }
    if (in->dtype != LKS_FLOAT32) {
        lks__convert(in->dtype, in->data, LKS_FLOAT32, y, n);
        x = y;
    }
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * scale + offset;
    return LKS_OK;
}

static const lks_op_class rescale_class = { .name = "rescale", .shape = to_float_shape, .run = rescale };

const lks_map_fn *lks_fn_rescale(double scale, double offset)
{
    char a[LKS_OP_NUMBER], b[LKS_OP_NUMBER];

    if (!isfinite(scale) || !isfinite(offset)) {
        lks__fail(LKS_E_ARG, "rescale takes finite numbers, found %s and %s", lks__op_number(scale, a),
                  lks__op_number(offset, b));
        return lks__op_refused("rescale");
    }
    return lks__op_function(&(lks_op){ .class = &rescale_class, .x = { scale, offset } }, "rescale(%s, %s)",
                            lks__op_number(scale, a), lks__op_number(offset, b));
}

static lks_status expand_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t axis = op->n[0] < 0 ? op->n[0] + shape->rank + 1 : op->n[0];

    LKS_TRY(need_numbers(op, *dtype));
    if (shape->rank < 0) return LKS_OK;
    if (axis < 0 || axis > shape->rank || shape->rank == LKS_MAX_RANK)
        return lks__fail(LKS_E_SHAPE, "axis %lld cannot be added to %lld axes", (long long)op->n[0],
                         (long long)shape->rank);
    for (int64_t i = shape->rank; i > axis; i--) shape->dim[i] = shape->dim[i - 1];
    shape->dim[axis] = 1;
    shape->rank++;
    return LKS_OK;
}

static lks_status expand(const lks_op *op, lks_op_call *call, const lks_view *in, lks_view *out)
{
    lks_view v = *in;
    void *data;

    LKS_TRY(expand_shape(op, &v.dtype, &v.shape));
    *out = v;
    if (!call->last) return LKS_OK;
    data = lks__op_room(call, v.dtype, &v.shape, out);
    if (data == NULL) return lks__error_code();
    memcpy(data, in->data, (size_t)lks_shape_size(&v.shape) * lks_dtype_size(v.dtype));
    return LKS_OK;
}

static const lks_op_class expand_class = { .name = "expand_dims", .shape = expand_shape, .make = expand };

const lks_map_fn *lks_fn_expand_dims(int64_t axis)
{
    return lks__op_function(&(lks_op){ .class = &expand_class, .n = { axis } }, "expand_dims(%lld)", (long long)axis);
}

/* ---- one_hot ---- */

static lks_status one_hot_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    LKS_TRY(need_numbers(op, *dtype));
    if (op->n[0] < 1)
        return lks__fail(LKS_E_ARG, "the number of classes is not known from the labels: give lks_fn_one_hot a depth");
    if (*dtype == LKS_FLOAT32 || *dtype == LKS_FLOAT64 || *dtype == LKS_FLOAT16 || *dtype == LKS_BFLOAT16 ||
        shape->rank == LKS_MAX_RANK)
        return lks__fail(LKS_E_SHAPE, "one_hot takes integers, found %s", lks_dtype_name(*dtype));
    *dtype = LKS_FLOAT32;
    if (shape->rank >= 0) shape->dim[shape->rank++] = op->n[0];
    return LKS_OK;
}

static lks_status one_hot(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    int64_t n = lks_shape_size(&in->shape), depth = op->n[0];
    float *y = data;

    (void)call, (void)out;
    memset(y, 0, (size_t)(n * depth) * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        int64_t label;
        lks__convert(in->dtype, (const char *)in->data + (size_t)i * lks_dtype_size(in->dtype), LKS_INT64, &label, 1);
        if (label < 0 || label >= depth)
            return lks__fail(LKS_E_ARG, "label %lld does not lie in [0, %lld)", (long long)label, (long long)depth);
        y[i * depth + label] = 1.0f;
    }
    return LKS_OK;
}

const lks_op_class lks__op_one_hot = { .name = "one_hot", .shape = one_hot_shape, .run = one_hot };

const lks_map_fn *lks_fn_one_hot(int64_t depth)
{
    if (depth < 0) {
        lks__fail(LKS_E_ARG, "one_hot takes a depth of at least 1 (0: as the labels say), found %lld",
                  (long long)depth);
        return lks__op_refused("one_hot");
    }
    return lks__op_function(&(lks_op){ .class = &lks__op_one_hot, .component = -1, .n = { depth } }, "one_hot(%lld)",
                            (long long)depth);
}
