/* cairo_late.h - internal to draw.c: cairo's names, as functions of a library that is loaded when the first picture is drawn
 * (base/library.h). A name that is used is in the list and has its line below.
 */
#ifndef LKS_FILES_CAIRO_LATE_H
#define LKS_FILES_CAIRO_LATE_H

#include <cairo.h>

#include "base/library.h"

#ifdef LKS_LATE_CAIRO
/* clang-format off */
#define LKS_CAIRO_NAMES(F) \
    F(cairo_create) F(cairo_destroy) F(cairo_image_surface_create) F(cairo_image_surface_get_data) \
    F(cairo_image_surface_get_height) F(cairo_image_surface_get_stride) F(cairo_image_surface_get_width) \
    F(cairo_move_to) F(cairo_paint) F(cairo_rectangle) F(cairo_select_font_face) F(cairo_set_font_size) \
    F(cairo_set_line_width) F(cairo_set_source_rgb) F(cairo_show_text) F(cairo_status) \
    F(cairo_status_to_string) F(cairo_stroke) F(cairo_surface_destroy) F(cairo_surface_flush) \
    F(cairo_surface_mark_dirty) F(cairo_text_extents)
/* clang-format on */

typedef struct lks_cairo_late {
#define LKS_MEMBER(name) __typeof__(name) *name;
    LKS_CAIRO_NAMES(LKS_MEMBER)
#undef LKS_MEMBER
} lks_cairo_late;

extern lks_cairo_late lks__cairo_late;
extern lks_library lks__cairo_library;

#define cairo_create lks__cairo_late.cairo_create
#define cairo_destroy lks__cairo_late.cairo_destroy
#define cairo_image_surface_create lks__cairo_late.cairo_image_surface_create
#define cairo_image_surface_get_data lks__cairo_late.cairo_image_surface_get_data
#define cairo_image_surface_get_height lks__cairo_late.cairo_image_surface_get_height
#define cairo_image_surface_get_stride lks__cairo_late.cairo_image_surface_get_stride
#define cairo_image_surface_get_width lks__cairo_late.cairo_image_surface_get_width
#define cairo_move_to lks__cairo_late.cairo_move_to
#define cairo_paint lks__cairo_late.cairo_paint
#define cairo_rectangle lks__cairo_late.cairo_rectangle
#define cairo_select_font_face lks__cairo_late.cairo_select_font_face
#define cairo_set_font_size lks__cairo_late.cairo_set_font_size
#define cairo_set_line_width lks__cairo_late.cairo_set_line_width
#define cairo_set_source_rgb lks__cairo_late.cairo_set_source_rgb
#define cairo_show_text lks__cairo_late.cairo_show_text
#define cairo_status lks__cairo_late.cairo_status
#define cairo_status_to_string lks__cairo_late.cairo_status_to_string
#define cairo_stroke lks__cairo_late.cairo_stroke
#define cairo_surface_destroy lks__cairo_late.cairo_surface_destroy
#define cairo_surface_flush lks__cairo_late.cairo_surface_flush
#define cairo_surface_mark_dirty lks__cairo_late.cairo_surface_mark_dirty
#define cairo_text_extents lks__cairo_late.cairo_text_extents
#endif

#endif
