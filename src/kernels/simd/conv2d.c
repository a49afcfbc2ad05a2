/* conv2d.c - conv2d and conv2d_input: one walk over runs of equal taps, panels of weights and examples.
 *
 * Both sum, for every output, kernel rows, then channels, then kernel columns, from +0. Weights are read in place where
 * a block of output channels is a whole row of theirs; else a panel of C * VF channels is copied (for
 * conv2d_input: transposed) to the scratch memory, once for all examples of the call.
 */
#include "conv_back.h"
#include "conv_blocks.h"
#include "conv_near.h"
#include "conv_walk.h"
#include "entries.h"

/* `count` positions of one line or two, cut into blocks of about the same length. */
static void conv_span(const conv_blocks *b, const conv_tile *tile, int64_t count, int lines)
{
    const int longest = b->longest[lines - 1];
    const conv_block_fn *block = b->block[lines - 1];
    conv_tile t = *tile;

    for (int64_t blocks = (count + longest - 1) / longest; blocks > 0; blocks--) {
        int64_t length = (count + blocks - 1) / blocks;

        block[length](&t);
        t.x += length * t.x_position;
        t.y += length * t.y_position;
        count -= length;
    }
}

/* One summed channel: vector by vector of the made ones. */
static void conv_near_lines(const conv_job *j, conv_kind kind, conv_tile *t, int64_t lines, int64_t count)
{
    conv_tile one = *t;

    for (int c = 0; c < j->C; c++)
        for (int64_t i = 0; i < lines; i++) {
            one.x = t->x + i * t->x_line;
            one.y = t->y + i * t->y_line + c * VF;
            one.w = t->w + c * VF;
            one.after.mean = conv_from(t->after.mean, c * VF);
            one.after.factor = conv_from(t->after.factor, c * VF);
            one.after.bias = conv_from(t->after.bias, c * VF);
            conv_near_line(&one, kind, CONV_NUMBER, count);
        }
}

/* All lines; in pairs where a line is too short to keep the multiply-adders busy. */
static void conv_lines(const conv_job *j, conv_kind kind, conv_tile *t, int64_t lines, int64_t count)
{
    const conv_blocks *b = &SIMD(conv_blocks)[kind][j->C - 1];
    const float *x = t->x;
    float *y = t->y;
    int64_t i = 0;

    if (conv_is_near(t, kind)) {
        conv_near_lines(j, kind, t, lines, count);
        return;
    }
    for (; count <= b->longest[1] && i + 2 <= lines; i += 2) {
        t->x = x + i * t->x_line;
        t->y = y + i * t->y_line;
        conv_span(b, t, count, 2);
    }
    for (; i < lines; i++) {
        t->x = x + i * t->x_line;
        t->y = y + i * t->y_line;
        conv_span(b, t, count, 1);
    }
}

/* Channels [first, first + made) of a group's weights as rows of `width`, one for each kernel position and depth. */
static void pack_forward(const conv_job *j, const float *w, int64_t made, int width)
{
    const int64_t rows = j->rows.kernel * j->cols.kernel * j->depth;
    const int64_t row = j->groups * j->channels;
    float *p = j->panel;

    for (int64_t i = 0; made == width && i < rows; i++, w += row, p += width) /* the usual case, without a call a row */
        for (int c = 0; c < width; c += VF) vf_store(p + c, vf_load(w + c));
    if (made == width) return;
    for (int64_t i = 0; i < rows; i++, w += row, p += width) {
        memcpy(p, w, (size_t)made * sizeof *p);
        if (made < width) memset(p + made, 0, (size_t)(width - made) * sizeof *p);
    }
}

/* Depths [k, depth) of one kernel position, transposed number by number. */
static void pack_rest(const conv_job *j, const float *w, int64_t row, int64_t k, int64_t made, int width, float *p)
{
    for (; k < j->depth; k++)
        for (int64_t c = 0; c < width; c++) p[k * width + c] = c < made ? w[c * row + k] : 0.0f;
}

/* The same where a kernel position holds (made channels, depth): each is transposed, VF channels x 4 depths at a time. */
static void pack_backward(const conv_job *j, const float *w, int64_t made, int width)
{
    const int64_t positions = j->rows.kernel * j->cols.kernel, row = j->groups * j->depth;
    float *p = j->panel;

    for (int64_t i = 0; i < positions; i++, w += j->channels * row, p += j->depth * width) {
        int64_t k = 0;

        for (; made == width && k + 4 <= j->depth; k += 4)
            for (int64_t c = 0; c < width; c += VF) {
                vf columns[4];

                vf_load_columns(w + c * row + k, row, columns);
                LKS_UNROLL
                for (int l = 0; l < 4; l++) vf_store(p + (k + l) * width + c, columns[l]);
            }
        pack_rest(j, w, row, k, made, width, p);
    }
}

/* Channels [c, c + made) of group g, at most C vectors of them. */
static void conv_panel(conv_job *j, const float *weights, int backward, int64_t g, int64_t c, int64_t made, int C)
{
    const int64_t row = j->groups * (backward ? j->depth : j->channels);
    const int width = C * VF;
    const float *x = j->x + g * j->depth;
    float *y = j->y + g * j->channels + c;

    conv_job_after(j, g * j->channels + c, made, C);
    j->C = C;
    j->last = made - (C - 1) * VF;
    j->w_depth = width;
    j->w_col = j->depth * width;
    j->w_row = j->cols.kernel * j->w_col;
    j->w = j->panel;
    if (backward) pack_backward(j, weights + c * row + g * j->depth, made, width);
    else if (row == width && made == width) j->w = weights;
    else pack_forward(j, weights + g * j->channels + c, made, width);
    if (SIMD(conv_one)(j, x, y) || SIMD(conv_back)(j, x, y) || SIMD(conv_stride)(j, x, y)) return;
    conv_walk(j, x, y);
}

/* A partial vector goes first: as long as it only spills into channels of the next position that are made later, whole vectors
 * can be stored. */
static void conv_groups(conv_job *j, const float *weights, int backward)
{
    const int64_t whole = j->channels / VF * VF;
    const float *end = j->y + j->n * j->rows.n_out * j->cols.n_out * j->y_pixel;
    const bool in_place = j->what_after != NULL &&
                          j->what_after->mask == j->y; /* what it spills into is not read yet */

    j->x_depth = 1;
    j->lines = conv_lines;
    if (j->rows.kernel * j->cols.kernel == 0 || j->n == 0) return;
    for (int64_t g = 0; g < j->groups; g++) {
        j->safe = j->groups == 1 && whole > 0 && !in_place ? end : NULL;
        if (whole < j->channels) conv_panel(j, weights, backward, g, whole, j->channels - whole, 1);
        j->safe = end;
        for (int64_t c = 0; c < whole; c += 2 * VF)
            conv_panel(j, weights, backward, g, c, whole - c < 2 * VF ? VF : 2 * VF, whole - c < 2 * VF ? 1 : 2);
    }
}

/* A 1x1 kernel sees one long line of positions. */
static void conv_flatten(conv_job *j)
{
    const conv_axis *r = &j->rows, *c = &j->cols;

    if (r->kernel != 1 || c->kernel != 1 || r->stride != 1 || c->stride != 1) return;
    if (r->n_in != r->n_out || c->n_in != c->n_out || r->before != 0 || c->before != 0) return;
    j->cols.n_in = j->cols.n_out = j->n * r->n_in * c->n_in;
    j->rows.n_in = j->rows.n_out = 1;
    j->n = 1;
}

static void conv_run_call(const lks_op_call *call, int backward)
{
    conv_job j = conv_job_of(call, backward);

    if (SIMD(conv_vector)(&j, call->in[1], backward)) return;
    conv_flatten(&j);
    conv_groups(&j, call->in[1], backward);
}

/* A matrix is a kernel of 1x1: a (rows, k) times w (k, m), or a (rows, m) times w transposed. */
void SIMD(conv_dense)(int64_t rows, int64_t k, int64_t m, bool transposed, const float *a, const float *w, float *y,
                      float *panel, const lks_after *after)
{
    const conv_axis one = { 1, 1, 1, 1, 1, 0, transposed }, line = { rows, rows, 1, 1, 1, 0, transposed };
    conv_job j = { .rows = one,
                   .cols = line,
                   .groups = 1,
                   .depth = transposed ? m : k,
                   .channels = transposed ? k : m,
                   .n = 1,
                   .x = a,
                   .y = y,
                   .panel = panel,
                   .what_after = after };

    j.x_pixel = j.depth;
    j.y_pixel = j.channels;
    conv_groups(&j, w, transposed);
}

void SIMD(conv2d)(const lks_op_call *call)
{
    conv_run_call(call, 0);
}

void SIMD(conv2d_input)(const lks_op_call *call)
{
    conv_run_call(call, 1);
}

size_t SIMD(conv2d_scratch)(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    const lks_conv_attrs *a = attrs;
    const lks_shape *w = &in[1]->shape;
    int64_t depth = w->dim[2], other = w->dim[3] / a->groups;

    (void)out;
    if (other > depth) depth = other; /* either direction */
    return (size_t)(w->dim[0] * w->dim[1] * depth * 2 * VF) * sizeof(float);
}
