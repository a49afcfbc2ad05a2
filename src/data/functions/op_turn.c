/* op_turn.c - pictures turned and mirrored. */
#include <math.h>
#include <string.h>

#include "op.h"
#include "tensor/tensor.h"

static lks_status same_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t at;

    return lks__op_picture(op, *dtype, shape, &at);
}

/* ---- flips: n[0], n[1] tell across and down; 1 always, 2 by chance ---- */

static bool flips(const lks_op *op, const lks_op_call *call, int i)
{
    return op->n[i] == 1 || (op->n[i] == 2 && lks__op_draw(call, i) < 0.5f);
}

static void mirror_row(const char *in, int64_t width, size_t pixel, char *out)
{
    const char *from = in + (size_t)width * pixel;

    if (pixel == 1) {
        for (int64_t x = 0; x < width; x++) out[x] = in[width - 1 - x];
    } else if (pixel == 4) {
        for (int64_t x = 0; x < width; x++, out += 4) from -= 4, memcpy(out, from, 4);
    } else if (pixel == 3) {
        for (int64_t x = 0; x < width; x++, out += 3) from -= 3, memcpy(out, from, 3);
    } else if (pixel == 12) {
        for (int64_t x = 0; x < width; x++, out += 12) from -= 12, memcpy(out, from, 12);
    } else {
        for (int64_t x = 0; x < width; x++, out += pixel) from -= pixel, memcpy(out, from, pixel);
    }
}

static lks_status flip(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    lks_pixels p = lks__view_pixels(in);
    size_t pixel = (size_t)p.channels * lks_dtype_size(p.dtype), row = (size_t)p.width * pixel;
    bool across = flips(op, call, 0), down = flips(op, call, 1);

    (void)out;
    for (int64_t y = 0; y < p.height; y++) {
        const char *from = lks__pixel(&p, down ? p.height - 1 - y : y, 0);
        char *to = (char *)data + (size_t)y * row;
        if (across) mirror_row(from, p.width, pixel, to);
        else memcpy(to, from, row);
    }
    return LKS_OK;
}

static const lks_op_class flip_class = { .name = "flip", .per_image = true, .shape = same_shape, .run = flip };
static const lks_op_class random_flip_class = {
    .name = "random_flip", .per_image = true, .random = true, .shape = same_shape, .run = flip
};

const lks_map_fn *lks_fn_flip_left_right(void)
{
    return lks__op_function(&(lks_op){ .class = &flip_class, .n = { 1, 0 } }, "flip_left_right");
}

const lks_map_fn *lks_fn_flip_up_down(void)
{
    return lks__op_function(&(lks_op){ .class = &flip_class, .n = { 0, 1 } }, "flip_up_down");
}

const lks_map_fn *lks_fn_random_flip(const char *mode)
{
    static const struct {
        const char *name;
        int64_t across, down;
    } modes[] = { { "horizontal", 2, 0 }, { "vertical", 0, 2 }, { "horizontal_and_vertical", 2, 2 } };

    if (mode == NULL) mode = "horizontal_and_vertical";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i].name) == 0)
            return lks__op_function(&(lks_op){ .class = &random_flip_class, .n = { modes[i].across, modes[i].down } },
                                    "random_flip(%s)", mode);
    lks__fail(LKS_E_ARG, "random_flip is \"horizontal\", \"vertical\" or \"horizontal_and_vertical\", not \"%s\"",
              mode);
    return lks__op_refused("random_flip");
}

/* ---- rot90 ---- */

static lks_status rot90_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    int64_t at, height;

    LKS_TRY(lks__op_picture(op, *dtype, shape, &at));
    if (op->n[0] % 2 == 0) return LKS_OK;
    height = shape->dim[at];
    shape->dim[at] = shape->dim[at + 1];
    shape->dim[at + 1] = height;
    return LKS_OK;
}

static lks_status rot90(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    lks_pixels p = lks__view_pixels(in);
    size_t pixel = (size_t)p.channels * lks_dtype_size(p.dtype);
    char *to = data;

    (void)call;
    for (int64_t y = 0; y < out->shape.dim[0]; y++)
        for (int64_t x = 0; x < out->shape.dim[1]; x++, to += pixel) {
            int64_t from_y = y, from_x = x;
            if (op->n[0] == 1) from_y = x, from_x = p.width - 1 - y;
            else if (op->n[0] == 2) from_y = p.height - 1 - y, from_x = p.width - 1 - x;
            else if (op->n[0] == 3) from_y = p.height - 1 - x, from_x = y;
            memcpy(to, lks__pixel(&p, from_y, from_x), pixel);
        }
    return LKS_OK;
}

static const lks_op_class rot90_class = { .name = "rot90", .per_image = true, .shape = rot90_shape, .run = rot90 };

const lks_map_fn *lks_fn_rot90(int64_t times)
{
    int64_t k = (times % 4 + 4) % 4;

    return lks__op_function(&(lks_op){ .class = &rot90_class, .n = { k } }, "rot90(%lld)", (long long)k);
}

/* ---- random_rotation: every output pixel looks up its place in the input ---- */

typedef enum fill { REFLECT, WRAP, NEAREST, CONSTANT } fill;
static const char *const fills[] = { "reflect", "wrap", "nearest", "constant" };

/* A coordinate brought into the picture, as TensorFlow's ImageProjectiveTransformV3 does. */
static float bring_in(float x, int64_t size, fill mode)
{
    float n = (float)size, last = n - 1;

    if ((x >= 0 && x <= last) || mode == CONSTANT) return x;
    if (mode == NEAREST) return x < 0 ? 0 : last;
    if (size <= 1) return 0;
    if (mode == WRAP) {
        if (x < 0) x += last * (truncf(-x / last) + 1);
        else x -= last * truncf(x / last);
    } else {
        float twice = 2 * n;
        if (x < 0) {
            if (x < twice) x = twice * truncf(-x / twice) + x;
            x = x < -n ? x + twice : -x - 1;
        } else {
            x -= twice * truncf(x / twice);
            if (x >= n) x = twice - x - 1;
        }
    }
    return x < 0 ? 0 : x > last ? last : x;
}

static float at(const lks_pixels *p, int64_t y, int64_t x, int64_t c, float outside)
{
    const void *pixel;

    if (y < 0 || x < 0 || y >= p->height || x >= p->width) return outside;
    pixel = lks__pixel(p, y, x);
    return p->dtype == LKS_UINT8 ? (float)((const uint8_t *)pixel)[c] : ((const float *)pixel)[c];
}

static float sample(const lks_pixels *p, float y, float x, int64_t c, bool nearest, float outside)
{
    int64_t y0, x0;
    float top, bottom, dx, dy;

    if (nearest) return at(p, (int64_t)roundf(y), (int64_t)roundf(x), c, outside);
    y0 = (int64_t)floorf(y);
    x0 = (int64_t)floorf(x);
    dy = y - (float)y0;
    dx = x - (float)x0;
    top = (1 - dx) * at(p, y0, x0, c, outside) + dx * at(p, y0, x0 + 1, c, outside);
    bottom = (1 - dx) * at(p, y0 + 1, x0, c, outside) + dx * at(p, y0 + 1, x0 + 1, c, outside);
    return (1 - dy) * top + dy * bottom;
}

static lks_status rotate(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data)
{
    lks_pixels p = lks__view_pixels(in);
    float angle = (float)((2 * (double)lks__op_draw(call, 0) - 1) * op->x[0] * 6.283185307179586);
    float cosine = cosf(angle), sine = sinf(angle), right = (float)(p.width - 1), low = (float)(p.height - 1);
    float x_offset = (right - (cosine * right - sine * low)) / 2, y_offset = (low - (sine * right + cosine * low)) / 2;
    fill mode = (fill)op->n[0];

    (void)out;
    for (int64_t y = 0, k = 0; y < p.height; y++)
        for (int64_t x = 0; x < p.width; x++) {
            float from_x = bring_in(cosine * (float)x - sine * (float)y + x_offset, p.width, mode);
            float from_y = bring_in(sine * (float)x + cosine * (float)y + y_offset, p.height, mode);
            for (int64_t c = 0; c < p.channels; c++, k++) {
                float v = sample(&p, from_y, from_x, c, op->n[1] != 0, (float)op->x[1]);
                if (p.dtype == LKS_UINT8) ((uint8_t *)data)[k] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
                else ((float *)data)[k] = v;
            }
        }
    return LKS_OK;
}

static lks_status rotate_shape(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    LKS_TRY(same_shape(op, dtype, shape));
    if (*dtype == LKS_UINT8 || *dtype == LKS_FLOAT32) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "%s takes uint8 or float32 pictures, found %s; cast them first", op->class->name,
                     lks_dtype_name(*dtype));
}

static const lks_op_class rotation_class = {
    .name = "random_rotation", .per_image = true, .random = true, .shape = rotate_shape, .run = rotate
};

const lks_map_fn *lks_fn_random_rotation_with(double factor, const lks_rotation_options *options)
{
    lks_op op = { .class = &rotation_class, .x = { factor } };
    char a[LKS_OP_NUMBER], b[LKS_OP_NUMBER];
    lks_rotation_options o;
    size_t mode = 0;

    lks__options(&o, sizeof o, options);
    while (o.fill_mode != NULL && mode < 4 && strcmp(o.fill_mode, fills[mode]) != 0) mode++;
    if (mode == 4 || !(factor >= 0 && factor <= 1) ||
        (o.interpolation != NULL && strcmp(o.interpolation, "bilinear") != 0 &&
         strcmp(o.interpolation, "nearest") != 0)) {
        lks__fail(LKS_E_ARG,
                  "random_rotation takes a factor from 0 to 1, fill_mode reflect, wrap, nearest or constant, "
                  "interpolation bilinear or nearest");
        return lks__op_refused("random_rotation");
    }
    op.n[0] = (int64_t)mode;
    op.n[1] = o.interpolation != NULL && strcmp(o.interpolation, "nearest") == 0;
    op.x[1] = o.fill_value;
    return lks__op_function(&op, "random_rotation(%s, %s, %d, %s)", lks__op_number(factor, a), fills[mode],
                            (int)op.n[1], lks__op_number(op.x[1], b));
}
