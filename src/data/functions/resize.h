/* resize.h - internal. Pictures in other sizes, values as tf.image.resize gives them (half-pixel centres). */
#ifndef LKS_DATA_FUNCTIONS_RESIZE_H
#define LKS_DATA_FUNCTIONS_RESIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "lockstep/tensor.h"

/* Memory that is used again: grows, never shrinks. Start from { 0 }. */
typedef struct lks_scratch {
    void *data;
    size_t size;
} lks_scratch;
void *lks__scratch_room(lks_scratch *s, size_t bytes); /* NULL with LKS_E_NOMEM; contents are undefined */
void lks__scratch_free(lks_scratch *s);

typedef enum lks_resize_method {
    LKS_RESIZE_BILINEAR,
    LKS_RESIZE_NEAREST,
    LKS_RESIZE_BICUBIC,
    LKS_RESIZE_AREA,
    LKS_RESIZE_LANCZOS3,
    LKS_RESIZE_LANCZOS5,
    LKS_RESIZE_GAUSSIAN,
    LKS_RESIZE_MITCHELLCUBIC
} lks_resize_method;

/* NULL is "bilinear". LKS_E_ARG with the names that exist. */
lks_status lks__resize_method(const char *name, lks_resize_method *out);
const char *lks__resize_method_name(lks_resize_method method);

/* A picture in memory; a crop of one has a longer stride. */
typedef struct lks_pixels {
    const void *data;
    lks_dtype dtype;
    int64_t height, width, channels;
    int64_t stride; /* items from row to row */
} lks_pixels;
const void *lks__pixel(const lks_pixels *p, int64_t y, int64_t x);
/* The part of p; must lie within. */
lks_pixels lks__pixels_crop(const lks_pixels *p, int64_t top, int64_t left, int64_t height, int64_t width);

/* Sizes are at least 1. `out` holds height x width x channels items: of the same dtype for nearest, else float32. */
lks_status lks__resize(const lks_pixels *in, int64_t height, int64_t width, lks_resize_method method, bool antialias,
                       void *out, lks_scratch *scratch);

/* ---- one axis (resize_axis.c): output i = sum over k < count[i] of weight[i * taps + k] * input[start[i] + k] ---- */
typedef struct lks_axis {
    int64_t n;
    int taps;
    int32_t *start, *count;
    float *weight;
} lks_axis;
/* Bytes that an axis takes. */
size_t lks__axis_bytes(int64_t in, int64_t out, lks_resize_method method, bool antialias);
/* Builds it in `memory` of that size, aligned as for int32_t. */
void lks__axis_build(lks_axis *a, int64_t in, int64_t out, lks_resize_method method, bool antialias, void *memory);

/* resize_rgb.c: uint8, three channels, axes of two taps at most. */
void lks__resize_rgb(const lks_pixels *in, const lks_axis *rows, const lks_axis *columns, float *out);

/* ---- resize_rows.c: bilinear, without antialiasing, of a picture whose rows come one by one ---- */
typedef struct lks_row_resizer {
    lks_axis rows, columns;
    int64_t top, left, next; /* of the part that is taken; row of the output */
    uint8_t *kept;           /* the latest two rows */
    size_t stride;
    float *pairs; /* of a row of the output: the two pixels that each of its pixels is made of */
    float *out;
} lks_row_resizer;
/* Of height x width pixels the part of part_height x part_width from row `top`, column `left`: becomes to_height x to_width in `out`. */
typedef struct lks_row_resize {
    int64_t width, top, left, part_height, part_width, to_height, to_width;
} lks_row_resize;
lks_status lks__row_resizer_init(lks_row_resizer *r, const lks_row_resize *sizes, float *out, lks_scratch *scratch);
/* Where row y of the picture goes, four bytes a pixel. All rows come, in order. */
uint8_t *lks__row_resizer_place(lks_row_resizer *r, int64_t y);
void lks__row_resizer_arrived(lks_row_resizer *r, int64_t y);

#endif
