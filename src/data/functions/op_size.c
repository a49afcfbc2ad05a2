/* op_size.c - pictures in other sizes: resized, padded, cropped. */
#include <math.h>
#include <string.h>

#include "op.h"
#include "tensor/tensor.h"

enum { KEEP = 0, CROP = 1, PAD = 2 }; /* flags: preserve, crop_to, pad_to aspect ratio */

static lks_status check_target(const char *name, int64_t height, int64_t width)
{
    enum { MOST = 1 << 20 };

    if (height >= 1 && width >= 1 && height <= MOST && width <= MOST) return LKS_OK;
    return lks__fail(LKS_E_ARG, "%s takes sizes of 1 to %d, found %lld x %lld", name, MOST, (long long)height,
                     (long long)width);
}

static bool bad_target(const char *name, int64_t height, int64_t width)
{
    return check_target(name, height, width) != LKS_OK;
}

static void set_size(lks_shape *shape, int64_t at, int64_t height, int64_t width)
{
    shape->dim[at] = height;
    shape->dim[at + 1] = width;
}

static lks_status check_not_empty(const lks_view *in)
{
    if (in->shape.dim[0] > 0 && in->shape.dim[1] > 0) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "the picture is empty");
}

/* Puts p into the middle of zeros: row `top`, column `left` of height x width. */
static void pad_into(const lks_pixels *p, int64_t top, int64_t left, int64_t height, int64_t width, void *out)
{
    size_t item = lks_dtype_size(p->dtype), pixel = (size_t)p->channels * item, row = (size_t)p->width * pixel;
    char *to = out;

    memset(to, 0, (size_t)(height * width) * pixel);
    for (int64_t y = 0; y < p->height; y++)
        memcpy(to + ((size_t)(top + y) * (size_t)width + (size_t)left) * pixel, lks__pixel(p, y, 0), row);
}

static void copy_pixels(const lks_pixels *p, void *out)
{
    pad_into(p, 0, 0, p->height, p->width, out);
}

/* ---- resize ---- */

static void fit(int64_t height, int64_t width, int64_t *to_height, int64_t *to_width)
{
    double by_height = (double)*to_height / (double)height, by_width = (double)*to_width / (double)width;
    double scale = by_height < by_width ? by_height : by_width;

    *to_height = (int64_t)rint(scale * (double)height);
    *to_width = (int64_t)rint(scale * (double)width);
    if (*to_height < 1) *to_height = 1;
    if (*to_width < 1) *to_width = 1;
}

static lks_status resize_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t at, height = op->n[0], width = op->n[1];

    LKS_TRY(lks__op_picture(op, *dtype, shape, &at));
    if (op->flag[KEEP] && (shape->dim[at] < 1 || shape->dim[at + 1] < 1)) height = width = -1;
    else if (op->flag[KEEP]) fit(shape->dim[at], shape->dim[at + 1], &height, &width);
    set_size(shape, at, height, width);
    if (op->method != LKS_RESIZE_NEAREST) *dtype = LKS_FLOAT32;
    return LKS_OK;
}

static int64_t same_form(int64_t side, int64_t target, int64_t other_target)
{
    return (int64_t)((double)(side * target) / (double)other_target);
}

static int64_t at_most(int64_t side, int64_t most)
{
    return side < 1 ? 1 : side < most ? side : most;
}

lks_row_resize lks__op_resize_part(const lks_op *op, int64_t height, int64_t width)
{
    lks_row_resize s = {
        .width = width, .part_height = height, .part_width = width, .to_height = op->n[0], .to_width = op->n[1]
    };

    if (!op->flag[CROP]) return s;
    s.part_height = at_most(same_form(width, op->n[0], op->n[1]), height);
    s.part_width = at_most(same_form(height, op->n[1], op->n[0]), width);
    s.top = (height - s.part_height) / 2;
    s.left = (width - s.part_width) / 2;
    return s;
}

bool lks__op_resizes_rows(const lks_op *op)
{
    return op->class == &lks__op_resize && op->method == LKS_RESIZE_BILINEAR && !op->antialias && !op->flag[KEEP] &&
           !op->flag[PAD];
}

/* As Keras: equal bars on both sides, so an odd difference leaves the form one pixel off, and one pixel is none. */
static lks_status padded(lks_pixels *p, int64_t height, int64_t width, lks_scratch *room)
{
    int64_t down = (same_form(p->width, height, width) - p->height) / 2;
    int64_t across = down > 0 ? 0 : (same_form(p->height, width, height) - p->width) / 2;
    int64_t h = p->height + 2 * (down > 0 ? down : 0), w = p->width + 2 * (across > 0 ? across : 0);
    void *data;

    if (h == p->height && w == p->width) return LKS_OK;
    if ((uint64_t)h > ((uint64_t)1 << 31) / (uint64_t)w / (uint64_t)(p->channels > 0 ? p->channels : 1))
        return lks__fail(LKS_E_LIMIT, "padding to the wanted form makes %lld x %lld pixels", (long long)h,
                         (long long)w);
    data = lks__scratch_room(room, (size_t)(h * w * p->channels) * lks_dtype_size(p->dtype));
    if (data == NULL) return LKS_E_NOMEM;
    pad_into(p, (h - p->height) / 2, (w - p->width) / 2, h, w, data);
    *p = (lks_pixels){ data, p->dtype, h, w, p->channels, w * p->channels };
    return LKS_OK;
}

static lks_status resize(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    int64_t height = out->shape.dim[0], width = out->shape.dim[1];
    lks_pixels p = lks__view_pixels(in);

    LKS_TRY(check_not_empty(in));
    if (op->flag[CROP]) {
        lks_row_resize part = lks__op_resize_part(op, p.height, p.width);
        p = lks__pixels_crop(&p, part.top, part.left, part.part_height, part.part_width);
    }
    if (op->flag[PAD]) LKS_TRY(padded(&p, height, width, call->more));
    return lks__resize(&p, height, width, op->method, op->antialias, data, call->work);
}

const lks_op_class lks__op_resize = { .name = "resize", .per_image = true, .shape = resize_shape, .run = resize };

static const lks_op_class with_pad_class;

static const lks_map_fn *sized(lks_op *op, int64_t height, int64_t width, const lks_resize_options *options)
{
    const char *name = op->class->name;
    lks_resize_options o;

    lks__options(&o, sizeof o, options);
    op->n[0] = height;
    op->n[1] = width;
    op->antialias = o.antialias == LKS_TRUE;
    op->flag[KEEP] = o.preserve_aspect_ratio == LKS_TRUE;
    op->flag[CROP] = o.crop_to_aspect_ratio == LKS_TRUE;
    op->flag[PAD] = o.pad_to_aspect_ratio == LKS_TRUE;
    if (bad_target(name, height, width) || lks__resize_method(o.method, &op->method) != LKS_OK)
        return lks__op_refused(name);
    if (op->flag[KEEP] + op->flag[CROP] + op->flag[PAD] + (op->class == &with_pad_class) > 1) {
        lks__fail(LKS_E_ARG, "%s: only one of preserve, crop_to and pad_to aspect ratio can be true", name);
        return lks__op_refused(name);
    }
    return lks__op_function(op, "%s(%lld, %lld, %s, %d%d%d%d)", name, (long long)height, (long long)width,
                            lks__resize_method_name(op->method), op->antialias, op->flag[KEEP], op->flag[CROP],
                            op->flag[PAD]);
}

const lks_map_fn *lks_fn_resize_with(int64_t height, int64_t width, const lks_resize_options *options)
{
    return sized(&(lks_op){ .class = &lks__op_resize }, height, width, options);
}

lks_status lks_image_resize_with(lks_tensor *picture, int64_t height, int64_t width, lks_tensor **out,
                                 const lks_resize_options *options)
{
    return lks_fn_call(lks_fn_resize_with(height, width, options), picture, 0, out);
}

/* ---- resize_with_pad ---- */

static lks_status with_pad_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t at;

    LKS_TRY(lks__op_picture(op, *dtype, shape, &at));
    set_size(shape, at, op->n[0], op->n[1]);
    if (op->method != LKS_RESIZE_NEAREST) *dtype = LKS_FLOAT32;
    return LKS_OK;
}

static lks_status with_pad(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    lks_pixels p = lks__view_pixels(in), small;
    double by_height = (double)p.height / (double)op->n[0], by_width = (double)p.width / (double)op->n[1];
    double ratio = by_height > by_width ? by_height : by_width;
    int64_t height, width, top, left;
    size_t item = lks_dtype_size(out->dtype);
    void *resized;

    LKS_TRY(check_not_empty(in));
    height = (int64_t)floor((double)p.height / ratio);
    width = (int64_t)floor((double)p.width / ratio);
    height = height < 1 ? 1 : height;
    width = width < 1 ? 1 : width;
    top = (int64_t)floor(((double)op->n[0] - (double)p.height / ratio) / 2);
    left = (int64_t)floor(((double)op->n[1] - (double)p.width / ratio) / 2);
    resized = lks__scratch_room(call->more, (size_t)(height * width * p.channels) * item + 1);
    if (resized == NULL) return LKS_E_NOMEM;
    LKS_TRY(lks__resize(&p, height, width, op->method, op->antialias, resized, call->work));
    small = (lks_pixels){ resized, out->dtype, height, width, p.channels, width * p.channels };
    pad_into(&small, top > 0 ? top : 0, left > 0 ? left : 0, op->n[0], op->n[1], data);
    return LKS_OK;
}

static const lks_op_class with_pad_class = {
    .name = "resize_with_pad", .per_image = true, .shape = with_pad_shape, .run = with_pad
};

const lks_map_fn *lks_fn_resize_with_pad_with(int64_t height, int64_t width, const lks_resize_options *options)
{
    return sized(&(lks_op){ .class = &with_pad_class }, height, width, options);
}

/* ---- crops ---- */

static int64_t floor_half(int64_t x)
{
    return x >= 0 ? x / 2 : -((1 - x) / 2);
}

static lks_status crop_or_pad_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t at;

    LKS_TRY(lks__op_picture(op, *dtype, shape, &at));
    set_size(shape, at, op->n[0], op->n[1]);
    return LKS_OK;
}

static lks_status crop_or_pad(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    lks_pixels p = lks__view_pixels(in);
    int64_t down = op->n[0] - p.height, across = op->n[1] - p.width;
    int64_t top = down < 0 ? floor_half(-down) : 0, left = across < 0 ? floor_half(-across) : 0;

    (void)call, (void)out;
    LKS_TRY(check_not_empty(in));
    p = lks__pixels_crop(&p, top, left, down < 0 ? op->n[0] : p.height, across < 0 ? op->n[1] : p.width);
    pad_into(&p, down > 0 ? down / 2 : 0, across > 0 ? across / 2 : 0, op->n[0], op->n[1], data);
    return LKS_OK;
}

static const lks_op_class crop_or_pad_class = {
    .name = "resize_with_crop_or_pad", .per_image = true, .shape = crop_or_pad_shape, .run = crop_or_pad
};

static const lks_map_fn *plain_sized(const lks_op_class *class, int64_t height, int64_t width)
{
    if (bad_target(class->name, height, width)) return lks__op_refused(class->name);
    return lks__op_function(&(lks_op){ .class = class, .n = { height, width } }, "%s(%lld, %lld)", class->name,
                            (long long)height, (long long)width);
}

const lks_map_fn *lks_fn_resize_with_crop_or_pad(int64_t height, int64_t width)
{
    return plain_sized(&crop_or_pad_class, height, width);
}

static int64_t margin(const lks_op *op, int64_t side)
{
    return (int64_t)(((double)side - (double)side * op->x[0]) / 2);
}

static lks_status central_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t at;

    LKS_TRY(lks__op_picture(op, *dtype, shape, &at));
    for (int64_t i = at; i < at + 2; i++)
        if (shape->dim[i] > 0) shape->dim[i] -= 2 * margin(op, shape->dim[i]);
    return LKS_OK;
}

static lks_status central(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    lks_pixels p = lks__view_pixels(in);

    (void)call;
    LKS_TRY(check_not_empty(in));
    p = lks__pixels_crop(&p, margin(op, p.height), margin(op, p.width), out->shape.dim[0], out->shape.dim[1]);
    copy_pixels(&p, data);
    return LKS_OK;
}

static const lks_op_class central_class = {
    .name = "central_crop", .per_image = true, .shape = central_shape, .run = central
};

const lks_map_fn *lks_fn_central_crop(double fraction)
{
    char number[LKS_OP_NUMBER];

    if (!(fraction > 0 && fraction <= 1)) {
        lks__fail(LKS_E_ARG, "central_crop takes a fraction above 0 and up to 1, found %g", fraction);
        return lks__op_refused("central_crop");
    }
    return lks__op_function(&(lks_op){ .class = &central_class, .x = { fraction } }, "central_crop(%s)",
                            lks__op_number(fraction, number));
}

/* Of a fixed size, from the middle or from anywhere. */
static lks_status crop_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t at;

    LKS_TRY(lks__op_picture(op, *dtype, shape, &at));
    if ((shape->dim[at] >= 0 && shape->dim[at] < op->n[0]) ||
        (shape->dim[at + 1] >= 0 && shape->dim[at + 1] < op->n[1]))
        return lks__fail(LKS_E_SHAPE, "a crop of %lld x %lld does not fit into a picture of %lld x %lld",
                         (long long)op->n[0], (long long)op->n[1], (long long)shape->dim[at],
                         (long long)shape->dim[at + 1]);
    set_size(shape, at, op->n[0], op->n[1]);
    return LKS_OK;
}

static lks_status crop(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    lks_pixels p = lks__view_pixels(in);
    int64_t down = p.height - op->n[0], across = p.width - op->n[1], top = down / 2, left = across / 2;

    (void)out;
    if (op->class->random) {
        top = (int64_t)((double)lks__op_draw(call, 0) * (double)(down + 1));
        left = (int64_t)((double)lks__op_draw(call, 1) * (double)(across + 1));
    }
    p = lks__pixels_crop(&p, top, left, op->n[0], op->n[1]);
    copy_pixels(&p, data);
    return LKS_OK;
}

static const lks_op_class center_class = { .name = "center_crop", .per_image = true, .shape = crop_shape, .run = crop };
static const lks_op_class random_class = {
    .name = "random_crop", .per_image = true, .random = true, .shape = crop_shape, .run = crop
};

const lks_map_fn *lks_fn_center_crop(int64_t height, int64_t width)
{
    return plain_sized(&center_class, height, width);
}

const lks_map_fn *lks_fn_random_crop(int64_t height, int64_t width)
{
    return plain_sized(&random_class, height, width);
}
