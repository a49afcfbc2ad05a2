/* conv_vector.c - convolutions whose lanes are channels of x.
 *
 * Depthwise: each lane is an output of its own. Few outputs (fewer than four channels made from eight or more): the order
 * of these is 16 lanes over the summed channels, one block of 16 channels after the other, each over kernel rows and columns;
 * the lanes of some positions are kept in memory, then joined by the tree for many positions at once. Kernels of three columns go
 * by lines (conv_dot.c).
 */
#include "conv_blocks.h"
#include "conv_near.h"
#include "conv_walk.h"
#include "entries.h"

enum { DOT_POSITIONS = 64, LANES = 16, LEAST_ROWS = 8 };

/* `count` positions of a line, in blocks of about the same length where it is not a 3x3 kernel. */
static void vector_line(conv_kind kind, const conv_tile *tile, int64_t count)
{
    const conv_blocks *b = &SIMD(conv_vector_blocks)[tile->last < VF];
    conv_tile t = *tile;

    if (t.last == VF && conv_is_near(&t, kind)) {
        conv_near_line(&t, kind, CONV_VECTOR, count);
        return;
    }
    for (int64_t blocks = (count + b->longest[0] - 1) / b->longest[0]; blocks > 0; blocks--) {
        const int64_t length = (count + blocks - 1) / blocks;

        b->block[0][length](&t);
        t.x += length * t.x_position;
        t.y += length * t.y_position;
        count -= length;
    }
}

static void depthwise_after(const conv_job *j, int64_t c, conv_tile *t)
{
    const bool whole = t->last == VF;
    const lks_after *a = j->what_after;

    if (a->mean != NULL) t->after.mean = whole ? a->mean + c : j->rest[0];
    if (a->mean != NULL) t->after.factor = whole ? a->factor + c : j->rest[1];
    if (a->bias != NULL) t->after.bias = whole ? a->bias + c : j->rest[2];
}

/* Line by line, all channels of each: a line's inputs and neighbours stay in the first caches from one vector of channels to the
 * next, which half a cache line of every pixel of an image would not. */
static void depthwise_lines(const conv_job *j, conv_kind kind, conv_tile *tile, int64_t lines, int64_t count)
{
    conv_tile t = *tile;

    for (int64_t i = 0; i < lines; i++)
        for (int64_t c = j->first; c < j->end; c += VF) {
            t.last = j->groups - c < VF ? j->groups - c : VF;
            t.x = tile->x + i * t.x_line + c;
            t.y = tile->y + i * t.y_line + c;
            t.w = tile->w + c;
            if (j->what_after != NULL) depthwise_after(j, c, &t);
            vector_line(kind, &t, count);
        }
}

/* At most DOT_POSITIONS positions of a line. */
static void dot_positions(const conv_job *j, conv_kind kind, const conv_tile *tile, int64_t count)
{
    float lanes[(DOT_POSITIONS + VF) * LANES], sums[VF];
    conv_tile t = *tile;

    t.y_position = LANES;
    memset(&t.after, 0, sizeof t.after);
    t.depth = 1;
    if (j->depth < LANES) memset(lanes, 0, (size_t)(count * LANES) * sizeof *lanes);
    memset(lanes + count * LANES, 0, (size_t)(VF * LANES) * sizeof *lanes);
    for (int64_t block = 0; block < j->depth; block += LANES)
        for (int p = 0; p < LANES && block + p < j->depth; p += VF) {
            t.safe = NULL;
            t.last = j->depth - block - p < VF ? j->depth - block - p : VF;
            t.carry = block > 0;
            t.x = tile->x + block + p;
            t.w = tile->w + block + p;
            t.y = lanes + p;
            vector_line(kind, &t, count);
        }
    for (int64_t i = 0; i < count; i += VF) {
        float *y = tile->y + i * tile->y_position;
        const int64_t n = count - i < VF ? count - i : VF;
        vf v = vf_join_rows(lanes + i * LANES);

        if (tile->after.bias != NULL) v = vf_add(v, vf_set(*tile->after.bias));
        if (tile->after.relu) v = vf_relu(v);
        if (tile->y_position == 1) {
            if (tile->after.masked) v = vf_where_positive(vf_load_m(conv_mask(&tile->after, y), vf_first(n)), v);
            vf_store_m(y, vf_first(n), v);
            continue;
        }
        vf_store(sums, v);
        for (int64_t l = 0; l < n; l++, y += tile->y_position)
            *y = tile->after.masked && !(*conv_mask(&tile->after, y) > 0.0f) ? 0.0f : sums[l];
    }
}

static void dot_lines(const conv_job *j, conv_kind kind, conv_tile *t, int64_t lines, int64_t count)
{
    const float *x = t->x;
    float *y = t->y;

    for (int64_t i = 0; i < lines; i++)
        for (int64_t k = 0; k < count; k += DOT_POSITIONS) {
            t->x = x + i * t->x_line + k * t->x_position;
            t->y = y + i * t->y_line + k * t->y_position;
            dot_positions(j, kind, t, count - k < DOT_POSITIONS ? count - k : DOT_POSITIONS);
        }
}

/* One group's weights for one made channel, as (kernel positions, depth). */
static void dot_pack(const conv_job *j, const float *w, int64_t w_position, int64_t w_depth)
{
    const int64_t positions = j->rows.kernel * j->cols.kernel;
    float *p = j->panel;

    for (int64_t i = 0; i < positions; i++, w += w_position)
        for (int64_t k = 0; k < j->depth; k++) *p++ = w[k * w_depth];
}

static void dot_groups(conv_job *j, const float *w, int backward)
{
    const int64_t cin = backward ? j->channels : j->depth, cout = j->groups * (backward ? j->depth : j->channels);

    j->lines = dot_lines;
    j->w_col = j->depth;
    for (int64_t g = 0; g < j->groups; g++)
        for (int64_t c = 0; c < j->channels; c++) {
            const float *from = backward ? w + c * cout + g * j->depth : w + g * j->channels + c;
            const int64_t step = backward ? 1 : cout;

            conv_job_after(j, g * j->channels + c, 1, 1);
            if (SIMD(conv_dot)(j, from, cin * cout, step, j->x + g * j->depth, j->y + g * j->channels + c)) continue;
            dot_pack(j, from, cin * cout, step);
            j->w = j->panel;
            j->w_row = j->cols.kernel * j->w_col;
            conv_walk(j, j->x + g * j->depth, j->y + g * j->channels + c);
        }
}

static void depthwise_groups(conv_job *j, const float *w, int64_t first, int64_t end)
{
    const int64_t whole = j->groups / VF * VF;

    j->first = first;
    j->end = end;
    j->lines = depthwise_lines;
    j->w_col = j->groups;
    j->w_row = j->cols.kernel * j->w_col;
    conv_job_after(j, whole, j->groups - whole, 1); /* what comes behind a partial vector is kept in the job */
    j->first = SIMD(conv_depthwise)(j, w);
    if (j->first == j->end) return;
    j->safe = NULL;
    j->w = w;
    conv_walk(j, j->x, j->y);
}

/* Rows of an image; of a small one channels, since rows are few and each reads its neighbours. The rows from `begin` are a convolution
 * with so many fewer rows of padding in front. */
void SIMD(conv_depthwise_part)(const lks_op_call *call, const lks_part *part)
{
    const lks_conv_attrs *whole = call->attrs;
    const bool rows = part->parts > 1 && whole->out[0] >= LEAST_ROWS * part->parts;
    const int64_t vectors = (whole->groups + VF - 1) / VF, units = rows ? whole->out[0] : vectors;
    const int64_t begin = units * part->part / part->parts, end = units * (part->part + 1) / part->parts;
    lks_conv_attrs a = *whole;
    lks_op_call mine = *call;
    lks_after after;
    conv_job j;

    if (begin == end) return;
    if (rows) {
        a.out[0] = end - begin;
        a.before[0] -= begin * whole->stride[0];
        mine.attrs = &a;
        mine.out = (float *)call->out + begin * whole->out[1] * whole->groups;
        if (call->after != NULL && call->after->add != NULL) {
            after = *call->after;
            after.add += (float *)mine.out - (float *)call->out;
            mine.after = &after;
        }
    }
    j = conv_job_of(&mine, 0);
    depthwise_groups(&j, call->in[1], rows ? 0 : begin * VF, rows || end == vectors ? whole->groups : end * VF);
}

bool SIMD(conv_vector)(conv_job *j, const float *w, int backward)
{
    if (j->channels < 4 && j->depth >= 8) dot_groups(j, w, backward);
    else if (j->groups >= 4 && j->depth == 1 && j->channels == 1) depthwise_groups(j, w, 0, j->groups);
    else return false;
    return true;
}
