/* conv_walk.h - internal. A convolution or its gradient for the input as regions of equal taps, each handed to a function
 * that computes lines of positions.
 */
#ifndef LKS_KERNELS_SIMD_CONV_WALK_H
#define LKS_KERNELS_SIMD_CONV_WALK_H

#include "conv_runs.h"
#include "conv_tile.h"

typedef struct conv_job conv_job;

/* All positions of a region of one example: `lines` lines of `count`. */
typedef void (*conv_lines_fn)(const conv_job *j, conv_kind kind, conv_tile *t, int64_t lines, int64_t count);

struct conv_job {
    conv_axis rows, cols;
    int64_t groups, depth, channels; /* of a group: summed, and made */
    int64_t x_pixel, y_pixel;        /* floats of a position */
    int64_t n;
    const float *x, *w;
    float *y, *panel;
    int64_t x_depth, w_depth, w_col, w_row;
    int64_t last; /* channels of the last vector */
    const float *safe;
    const lks_after *what_after; /* or NULL */
    conv_after after;            /* for the channels at work */
    float rest[3][2 * 16];       /* mean, factor and bias of those, where they are no whole vectors */
    int C;                       /* vectors of channels */
    int64_t first, end;          /* depthwise: these channels only; `first` begins a vector */
    conv_lines_fn lines;
};

/* The outputs of one row run and one column run, all examples. */
LKS_INLINE void conv_region(const conv_job *j, const conv_run *r, const conv_run *c, const float *x, float *y)
{
    const int64_t x_row = j->cols.n_in * j->x_pixel, y_row = j->cols.n_out * j->y_pixel;
    int64_t lines = r->count, count = c->count;
    conv_kind kind = c->k_count == 0 ? CONV_PLAIN : conv_tile_kind(c->k_count, c->in_step, c->in_tap);
    conv_tile t;
    int64_t swap;

    /* Field by field: initialisers this long are cleared by a slow instruction first. */
    t.x_position = c->in_step * j->x_pixel;
    t.x_line = r->in_step * x_row;
    t.x_row_tap = r->in_tap * x_row;
    t.x_col_tap = c->in_tap * j->x_pixel;
    t.x_depth = j->x_depth;
    t.row_taps = c->k_count > 0 ? r->k_count : 0;
    t.col_taps = c->k_count;
    t.depth = j->depth;
    t.w = j->w + r->k_first * j->w_row + c->k_first * j->w_col;
    t.w_row_tap = r->k_step * j->w_row;
    t.w_col_tap = c->k_step * j->w_col;
    t.w_depth = j->w_depth;
    t.y_position = c->step * j->y_pixel;
    t.y_line = r->step * y_row;
    t.last = j->last;
    t.safe = j->safe;
    t.after = j->after;
    t.carry = 0;
    if (count < lines && count < 4) { /* a column of the border: go along the rows */
        swap = t.x_position, t.x_position = t.x_line, t.x_line = swap;
        swap = t.y_position, t.y_position = t.y_line, t.y_line = swap;
        swap = count, count = lines, lines = swap;
        kind = t.col_taps == 1 ? CONV_1 : t.col_taps == 2 ? CONV_2 : CONV_PLAIN;
    }
    x += r->in_first * x_row + c->in_first * j->x_pixel;
    y += r->first * y_row + c->first * j->y_pixel;
    for (int64_t i = 0; i < j->n; i++) {
        t.x = x + i * j->rows.n_in * x_row;
        t.y = y + i * j->rows.n_out * y_row;
        j->lines(j, kind, &t, lines, count);
    }
}

enum { CONV_KEPT_RUNS = 12 };

LKS_INLINE void conv_walk(const conv_job *j, const float *x, float *y)
{
    conv_run r = { .count = 0 }, c = { .count = 0 }, kept[CONV_KEPT_RUNS];
    int n = 0;

    while (n < CONV_KEPT_RUNS && conv_next_run(&j->cols, &c)) kept[n++] = c;
    while (conv_next_run(&j->rows, &r)) {
        for (int i = 0; i < n; i++) conv_region(j, &r, &kept[i], x, y);
        for (c = kept[CONV_KEPT_RUNS - 1]; n == CONV_KEPT_RUNS && conv_next_run(&j->cols, &c);)
            conv_region(j, &r, &c, x, y);
    }
}

/* Numbers of `made` channels, the first of C vectors, as whole vectors. */
LKS_INLINE const float *conv_whole(const float *p, int64_t made, int C, float *rest)
{
    if (p == NULL || made == C * VF) return p;
    memset(rest, 0, 2 * 16 * sizeof *rest);
    memcpy(rest, p, (size_t)made * sizeof *rest);
    return rest;
}

LKS_INLINE const float *conv_from(const float *p, int64_t c)
{
    return p != NULL ? p + c : NULL;
}

/* What comes behind `made` channels from c, the first of C vectors. */
LKS_INLINE void conv_job_after(conv_job *j, int64_t c, int64_t made, int C)
{
    const lks_after *a = j->what_after;

    memset(&j->after, 0, sizeof j->after);
    if (a == NULL) return;
    j->after.relu = a->relu;
    j->after.cap = a->cap;
    j->after.adds = a->add != NULL;
    if (a->add != NULL) j->after.add = (uintptr_t)a->add - (uintptr_t)j->y;
    j->after.masked = a->mask != NULL;
    if (a->mask != NULL) j->after.mask = (uintptr_t)a->mask - (uintptr_t)j->y;
    j->after.mean = conv_whole(conv_from(a->mean, c), made, C, j->rest[0]);
    j->after.factor = conv_whole(conv_from(a->factor, c), made, C, j->rest[1]);
    j->after.bias = conv_whole(conv_from(a->bias, c), made, C, j->rest[2]);
}

LKS_INLINE conv_job conv_job_of(const lks_op_call *call, int backward)
{
    const lks_conv_attrs *a = call->attrs;
    const lks_shape *w = &call->in_type[1]->shape;
    const int64_t cin = w->dim[2], cout = w->dim[3] / a->groups;
    conv_job j = { .rows = conv_axis_of(a, 0, backward),
                   .cols = conv_axis_of(a, 1, backward),
                   .groups = a->groups,
                   .depth = backward ? cout : cin,
                   .channels = backward ? cin : cout,
                   .n = call->n,
                   .x = call->in[0],
                   .y = call->out,
                   .panel = call->scratch,
                   .what_after = call->after };

    j.x_pixel = j.groups * j.depth;
    j.y_pixel = j.groups * j.channels;
    return j;
}

#endif
