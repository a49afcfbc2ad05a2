/* draw.c - a labelled grid of pictures as a PNG. Pixels of the pictures are enlarged as sharp squares by hand; cairo
 * draws frames and text. */
#include <string.h>

#include "base/alloc.h"
#include "base/options.h"
#include "job.h"
#include "lockstep/files.h"
#include "png.h"
#include "save.h"
#include "tensor/tensor.h"

#ifdef LKS_HAVE_CAIRO
#include "cairo_late.h"

#ifdef LKS_LATE_CAIRO
lks_cairo_late lks__cairo_late;
LKS_LATE_LIBRARY(lks__cairo_library, LKS_CAIRO_NAMES, lks__cairo_late, LKS_LATE_CAIRO, "pictures", "libcairo2");
#endif

enum { MARGIN = 14, GAP = 10, CAPTION = 20, TITLE = 26, COLUMN_TITLE = 22, WANTED_SIDE = 84, MAX_IMAGES = 10000 };

typedef struct layout {
    int64_t n, height, width, channels; /* of the pictures */
    int64_t columns, rows, scale, cell_w, cell_h, top;
    int captions;
} layout;

static double sample(const lks_tensor *t, int64_t i)
{
    if (lks_tensor_dtype(t) == LKS_UINT8) return ((const uint8_t *)lks_tensor_cdata(t))[i];
    return (double)((const float *)lks_tensor_cdata(t))[i] * 255.0;
}

static uint32_t level(double v)
{
    return v >= 255 ? 255 : v > 0 ? (uint32_t)(v + 0.5) : 0; /* NaN is black */
}

/* One pixel as cairo holds it. Transparent pictures stand on white. */
static uint32_t colour(const lks_tensor *t, const layout *l, int64_t pixel)
{
    int64_t at = pixel * l->channels;
    uint32_t rgb[3], alpha = l->channels == 4 ? level(sample(t, at + 3)) : 255;

    for (int c = 0; c < 3; c++) {
        uint32_t v = level(sample(t, at + (l->channels >= 3 ? c : 0)));
        rgb[c] = (v * alpha + 255 * (255 - alpha) + 127) / 255;
    }
    return 0xff000000u | rgb[0] << 16 | rgb[1] << 8 | rgb[2];
}

static void paint(cairo_surface_t *surface, const lks_tensor *t, const layout *l, int64_t image, int64_t x, int64_t y)
{
    unsigned char *data = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);

    for (int64_t row = 0; row < l->height * l->scale; row++) {
        unsigned char *line = data + (y + row) * stride + x * 4;
        for (int64_t column = 0; column < l->width; column++) {
            uint32_t p = colour(t, l, (image * l->height + row / l->scale) * l->width + column);
            for (int64_t k = 0; k < l->scale; k++, line += 4) memcpy(line, &p, 4);
        }
    }
}

static void frame(cairo_t *cr, int64_t x, int64_t y, int64_t w, int64_t h)
{
    cairo_set_source_rgb(cr, 0.78, 0.78, 0.78);
    cairo_set_line_width(cr, 1);
    cairo_rectangle(cr, (double)x - 0.5, (double)y - 0.5, (double)w + 1, (double)h + 1);
    cairo_stroke(cr);
}

static void write_centred(cairo_t *cr, const char *text, double size, double middle, double baseline, int bold, int red)
{
    cairo_text_extents_t e;

    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
    cairo_text_extents(cr, text, &e);
    if (red) cairo_set_source_rgb(cr, 0.78, 0.11, 0.11);
    else cairo_set_source_rgb(cr, 0.13, 0.13, 0.13);
    cairo_move_to(cr, (double)(int64_t)(middle - e.x_advance / 2), baseline);
    cairo_show_text(cr, text);
}

static lks_status check_images(const lks_tensor *images, layout *l)
{
    lks_shape s = lks_tensor_shape(images);
    char text[LKS_SHAPE_TEXT];
    int dtype = lks_tensor_dtype(images) == LKS_UINT8 || lks_tensor_dtype(images) == LKS_FLOAT32;
    int64_t channels = s.rank == 4 ? s.dim[3] : 1;

    if (!dtype || (s.rank != 3 && s.rank != 4) || (channels != 1 && channels != 3 && channels != 4) || s.dim[0] < 1 ||
        s.dim[1] < 1 || s.dim[2] < 1)
        return lks__fail(LKS_E_SHAPE,
                         "lks_draw_grid: images are uint8 or float32 of shape (n, height, width) or "
                         "(n, height, width, 1, 3 or 4), these are %s %s",
                         lks_dtype_name(lks_tensor_dtype(images)), lks__shape_text(&s, text));
    *l = (layout){ .n = s.dim[0], .height = s.dim[1], .width = s.dim[2], .channels = channels };
    if (l->n > MAX_IMAGES) return lks__fail(LKS_E_LIMIT, "lks_draw_grid: at most %d images", MAX_IMAGES);
    return LKS_OK;
}

static lks_status lay_out(const lks_tensor *images, const lks_grid_options *o, layout *l)
{
    int64_t side;

    LKS_TRY(check_images(images, l));
    if (o->columns < 0 || o->scale < 0 || o->columns > MAX_IMAGES)
        return lks__fail(LKS_E_ARG, "lks_draw_grid: columns and scale must not be negative");
    if (o->beside != NULL) {
        layout other;
        LKS_TRY(check_images(o->beside, &other));
        if (other.n != l->n || other.height != l->height || other.width != l->width || other.channels != l->channels)
            return lks__fail(LKS_E_SHAPE, "lks_draw_grid: the images beside must have the shape of the others");
    }
    side = l->width > l->height ? l->width : l->height;
    l->scale = o->scale > 0 ? o->scale : WANTED_SIDE / side > 0 ? WANTED_SIDE / side : 1;
    l->columns = o->beside != NULL ? 2 : o->columns;
    if (l->columns == 0)
        for (l->columns = 1; l->columns * l->columns < l->n;) l->columns++;
    l->rows = o->beside != NULL ? l->n : (l->n + l->columns - 1) / l->columns;
    l->captions = o->captions != NULL;
    l->cell_w = l->width * l->scale + GAP;
    l->cell_h = l->height * l->scale + GAP + (l->captions ? CAPTION : 0);
    l->top = MARGIN + (o->title != NULL ? TITLE : 0) + (o->column_titles != NULL ? COLUMN_TITLE : 0);
    if (l->scale > 4096 || l->columns * l->cell_w > 30000 || l->rows * l->cell_h > 30000)
        return lks__fail(LKS_E_LIMIT, "lks_draw_grid: the picture would be larger than 30000 pixels on a side");
    return LKS_OK;
}

static void draw_cell(cairo_surface_t *surface, cairo_t *cr, const lks_tensor *images, const lks_grid_options *o,
                      const layout *l, int64_t row, int64_t column)
{
    int64_t image = o->beside != NULL ? row : row * l->columns + column;
    int64_t x = MARGIN + GAP / 2 + column * l->cell_w, y = l->top + row * l->cell_h;
    int caption = l->captions && (o->beside == NULL || column == 0) && image < l->n && o->captions[image] != NULL;

    if (image >= l->n) return;
    cairo_surface_flush(surface);
    paint(surface, o->beside != NULL && column == 1 ? o->beside : images, l, image, x, y);
    cairo_surface_mark_dirty(surface);
    frame(cr, x, y, l->width * l->scale, l->height * l->scale);
    if (caption)
        write_centred(cr, o->captions[image], 13, (double)x + (double)(l->width * l->scale) / 2,
                      (double)(y + l->height * l->scale + 16), 0, o->wrong != NULL && o->wrong[image]);
}

static void draw_all(cairo_surface_t *surface, cairo_t *cr, const lks_tensor *images, const lks_grid_options *o,
                     const layout *l)
{
    double middle = (double)cairo_image_surface_get_width(surface) / 2;

    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    if (o->title != NULL) write_centred(cr, o->title, 15, middle, MARGIN + 13, 1, 0);
    for (int64_t c = 0; o->column_titles != NULL && c < l->columns; c++)
        if (o->column_titles[c] != NULL)
            write_centred(cr, o->column_titles[c], 13,
                          MARGIN + GAP / 2.0 + (double)(c * l->cell_w) + (double)(l->width * l->scale) / 2,
                          (double)(l->top - 8), 1, 0);
    for (int64_t row = 0; row < l->rows; row++)
        for (int64_t column = 0; column < l->columns; column++) draw_cell(surface, cr, images, o, l, row, column);
}

static lks_status save_surface(cairo_surface_t *surface, const char *path)
{
    int w = cairo_image_surface_get_width(surface), h = cairo_image_surface_get_height(surface);
    lks_tensor *t = lks_tensor_create(LKS_UINT8, lks_shape(h, w, 3));
    unsigned char *to;
    lks_status status;

    if (t == NULL) return LKS_E_NOMEM;
    to = lks_tensor_data(t);
    cairo_surface_flush(surface);
    for (int y = 0; y < h; y++) {
        const unsigned char *line = cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface);
        for (int x = 0; x < w; x++, line += 4, to += 3) {
            uint32_t p;
            memcpy(&p, line, 4);
            to[0] = (unsigned char)(p >> 16), to[1] = (unsigned char)(p >> 8), to[2] = (unsigned char)p;
        }
    }
    status = lks_write_png(path, t);
    lks_tensor_release(t);
    return status;
}

static lks_status surface_status(cairo_status_t code)
{
    if (code == CAIRO_STATUS_SUCCESS) return LKS_OK;
    if (code == CAIRO_STATUS_INVALID_STRING) return lks__fail(LKS_E_ARG, "lks_draw_grid: a text is not UTF-8");
    return lks__fail(code == CAIRO_STATUS_NO_MEMORY ? LKS_E_NOMEM : LKS_E_INTERNAL, "lks_draw_grid: cairo says: %s",
                     cairo_status_to_string(code));
}

static lks_status draw(const char *path, const lks_tensor *images, const lks_grid_options *o)
{
    layout l;
    cairo_surface_t *surface;
    cairo_t *cr;
    lks_status status;

    LKS_TRY(lay_out(images, o, &l));
#ifdef LKS_LATE_CAIRO
    LKS_TRY(lks__library_load(&lks__cairo_library));
#endif
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(2 * MARGIN + l.columns * l.cell_w),
                                         (int)(l.top + l.rows * l.cell_h + MARGIN - GAP / 2));
    cr = cairo_create(surface);
    status = surface_status(cairo_status(cr));
    if (status == LKS_OK) {
        draw_all(surface, cr, images, o, &l);
        status = surface_status(cairo_status(cr));
    }
    if (status == LKS_OK) status = save_surface(surface, path);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return status;
}
#else
static lks_status draw(const char *path, const lks_tensor *images, const lks_grid_options *o)
{
    (void)path, (void)images, (void)o;
    return lks__fail(LKS_E_UNSUPPORTED, "this build cannot draw: it was made without cairo");
}
#endif

/* cairo and fontconfig are deep. */
typedef struct draw_job {
    const char *path;
    const lks_tensor *images;
    const lks_grid_options *options;
} draw_job;

static lks_status run_draw(void *user)
{
    const draw_job *j = user;

    return draw(j->path, j->images, j->options);
}

lks_status lks_draw_grid_with(const char *path, const lks_tensor *images, const lks_grid_options *options)
{
    lks_grid_options o = { .struct_size = sizeof o };
    draw_job job = { path, images, &o };

    if (path == NULL || images == NULL) return lks__fail(LKS_E_ARG, "lks_draw_grid: path and images must not be NULL");
    lks__options_copy(&o, sizeof o, options);
    return lks__file_job(run_draw, &job);
}
