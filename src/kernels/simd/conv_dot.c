/* conv_dot.c - convolutions by kernels of three columns that make few channels from eight or more: lanes are summed
 * channels. Order: as op_conv2d.c, 16 lanes, each over blocks of 16 channels, kernel rows and columns, then the tree.
 */
#include "conv_dot.h"
#include "entries.h"

enum { LANES = 16, KEPT = 64 }; /* lanes of KEPT positions wait for the tree */

/* A row of inputs, each loaded once for all taps that meet it, against three vectors of weights. far: three pixels. */
LKS_INLINE void dot_row(const float *x, int64_t pixel, int64_t far, const vf *wv, vf *sum, int begin, int end,
                        const int tap, const int length, const bool whole, vmask m)
{
    const int inputs = length + 2;

    LKS_UNROLL
    for (int q = 0; q < inputs; q++) {
        if (conv_line_has(q, inputs, begin, end)) {
            const float *from = x + q % 3 * pixel;
            vf v = whole ? vf_load(from) : vf_load_m(from, m);

            LKS_ONCE(v);
            LKS_UNROLL
            for (int b = 0; b < 3; b++) {
                const int i = conv_line_position(q, b, 1, tap, length);

                if (i >= 0) VF_ADD_PRODUCT(sum[i], v, wv[b]);
            }
        }
        if (q % 3 == 2 && q + 1 < inputs) CONV_NEXT(x, far);
    }
}

LKS_INLINE void dot_blocks(const dot_part *d, const float *line, float *lanes, const int tap, const int length,
                           const bool whole)
{
    const int64_t pixel = d->pixel, far = d->far, block = d->block, x_row = d->x_row, w_row = d->w_row, rows = d->rows;
    const float *first = line, *const weights = d->w;
    int before = d->before;

    for (int64_t k = d->blocks; k > 0; k--, first += block, lanes += length * VF, before = 0) {
        const float *x = first, *w = weights;
        int begin, end;
        const bool inside = conv_line_inside(before, k == 1 ? d->behind : 0, tap, length + 2, &begin, &end) && whole;
        vf sum[DOT_LONGEST];

        LKS_UNROLL
        for (int i = 0; i < length; i++) sum[i] = vf_zero();
        if (d->carry) {
            LKS_UNROLL
            for (int i = 0; i < length; i++) sum[i] = vf_load(lanes + i * VF);
        }
        for (int64_t a = rows; a > 0; a--, x += x_row, w += w_row) {
            const vf wv[3] = { vf_load(w), vf_load(w + VF), vf_load(w + 2 * VF) };

            if (inside) dot_row(x, pixel, far, wv, sum, 0, length + 2, tap, length, whole, d->m);
            else dot_row(x, pixel, far, wv, sum, begin, end, tap, length, whole, d->m);
        }
        LKS_UNROLL
        for (int i = 0; i < length; i++) vf_store(lanes + i * VF, sum[i]);
    }
}

LKS_INLINE void dot_part_lines(const dot_part *d, const int tap, const int length, const bool whole)
{
    for (int64_t l = 0; l < d->lines; l++)
        dot_blocks(d, d->x + l * d->line, d->lanes + l * d->blocks * length * VF, tap, length, whole);
}

/* What comes behind, for n positions that lie apart. */
static void dot_store_apart(const conv_tile *t, float *y, vf sum, int64_t n)
{
    float sums[VF];

    vf_store(sums, sum);
    for (int64_t i = 0; i < n; i++, y += t->y_position)
        *y = t->after.masked && !(*conv_mask(&t->after, y) > 0.0f) ? 0.0f : sums[i];
}

/* The tree over the lanes of some positions (the last vector of which may hold fewer), and what comes behind. */
static void dot_join(const conv_tile *t, const float *lanes, float *y, int64_t count)
{
    for (int64_t i = 0; i < count; i += VF, lanes += VF * VF, y += VF * t->y_position) {
        const int64_t n = count - i;
        vf v[VF], sum;

        LKS_UNROLL
        for (int p = 0; p < VF; p++) v[p] = vf_fold(lanes + p * VF, KEPT * VF);
        sum = vf_join(v);
        if (t->after.bias != NULL) sum = vf_add(sum, vf_set(*t->after.bias));
        if (t->after.relu) sum = vf_relu(sum);
        if (t->y_position != 1) {
            dot_store_apart(t, y, sum, n < VF ? n : VF);
            continue;
        }
        if (t->after.masked) sum = vf_where_positive(vf_load_m(conv_mask(&t->after, y), vf_first(n)), sum);
        if (n >= VF) vf_store(y, sum);
        else vf_store_m(y, vf_first(n), sum);
    }
}

#define BLOCK(name, tap, length)                            \
    static void whole_##name##_##length(const dot_part *d)  \
    {                                                       \
        dot_part_lines(d, tap, length, true);               \
    }                                                       \
    static void masked_##name##_##length(const dot_part *d) \
    {                                                       \
        dot_part_lines(d, tap, length, false);              \
    }
#define BLOCKS(name, tap) \
    BLOCK(name, tap, 1)   \
    BLOCK(name, tap, 2)   \
    BLOCK(name, tap, 3)   \
    BLOCK(name, tap, 4)   \
    BLOCK(name, tap, 5)   \
    BLOCK(name, tap, 6)   \
    BLOCK(name, tap, 7)
#define LIST(name)                                                                 \
    {                                                                              \
        NULL, name##_1, name##_2, name##_3, name##_4, name##_5, name##_6, name##_7 \
    }

BLOCKS(plain, 1)
BLOCKS(back, -1)

/* [backwards][partial vector][length] */
static const dot_fn blocks_of[2][2][DOT_LONGEST + 1] = { { LIST(whole_plain), LIST(masked_plain) },
                                                         { LIST(whole_back), LIST(masked_back) } };

/* Blocks [k, end) of some lines, whose outputs follow each other: 16 lanes over the channels, then the tree. */
LKS_INLINE void dot_some(const conv_line *l, dot_part *d, const dot_fn whole, const dot_fn partial, const float *x,
                         float *y, int64_t k, int64_t end)
{
    const conv_tile *t = &l->t;
    const int64_t count = d->lines * (end - k) * l->length;
    float lanes[(VP * KEPT + VF) * VF]; /* of what lies behind the last position nothing is kept */
    int64_t c = 0;

    d->blocks = end - k;
    d->before = k == 0 ? l->before : 0;
    d->behind = end == l->blocks ? l->behind : 0;
    d->w = t->w;
    for (; c < t->depth; c += VF, d->w += t->w_depth) {
        d->x = x + c;
        d->lanes = lanes + c % LANES * KEPT;
        d->carry = c >= LANES;
        (t->depth - c < VF ? partial : whole)(d);
    }
    for (; c < LANES; c += VF) memset(lanes + c * KEPT, 0, (size_t)(count * VF) * sizeof *lanes);
    dot_join(t, lanes, y, count);
}

static void dot_lines(const conv_line *l)
{
    const conv_tile *t = &l->t;
    const int backward = t->x_col_tap < 0;
    const int64_t most = KEPT / l->length, line = l->blocks * l->length;
    const int64_t together = t->y_line == line * t->y_position && line <= KEPT ? KEPT / line : 1;
    const bool near = l->length >= DOT_NEAR && (t->row_taps == 2 || t->row_taps == 3);
    const dot_fn whole = near ? SIMD(conv_dot_near)[backward][t->row_taps - 2][l->length - DOT_NEAR]
                              : blocks_of[backward][0][l->length];
    dot_part d;

    d.x_row = t->x_row_tap; /* field by field: initialisers this long are cleared by a slow instruction first */
    d.w_row = t->w_row_tap;
    d.rows = t->row_taps;
    d.pixel = t->x_col_tap;
    d.far = 3 * t->x_col_tap;
    d.block = t->x_position;
    d.line = t->x_line;
    d.m = vf_first(t->depth % VF);
    for (int64_t i = 0; i < l->lines; i += together) {
        d.lines = l->lines - i < together ? l->lines - i : together;
        for (int64_t k = 0; k < l->blocks; k += most)
            dot_some(l, &d, whole, blocks_of[backward][1][l->length], t->x + i * t->x_line + k * t->x_position,
                     t->y + i * t->y_line + k * l->length * t->y_position, k,
                     k + most < l->blocks ? k + most : l->blocks);
    }
}

/* One group's weights for one made channel as vectors of channels, each (kernel positions, lanes). */
static void dot_pack(const conv_job *j, const float *w, int64_t w_position, int64_t w_depth)
{
    const int64_t positions = j->rows.kernel * j->cols.kernel;
    float *p = j->panel;

    for (int64_t c = 0; c < j->depth; c += VF)
        for (int64_t i = 0; i < positions; i++, p += VF) {
            const float *from = w + i * w_position + c * w_depth;

            if (w_depth == 1 && j->depth - c >= VF) vf_store(p, vf_load(from));
            else
                for (int64_t k = 0; k < VF; k++) p[k] = c + k < j->depth ? from[k * w_depth] : 0.0f;
        }
}

bool SIMD(conv_dot)(conv_job *j, const float *w, int64_t w_position, int64_t w_depth, const float *x, float *y)
{
    conv_line_blocks blocks = { .longest = DOT_LONGEST };
    conv_line l;

    if (!conv_line_suits(&j->cols) || j->cols.stride != 1) return false;
    dot_pack(j, w, w_position, w_depth);
    j->w = j->panel;
    j->w_row = 3 * VF;
    for (int i = 1; i <= DOT_LONGEST; i++) blocks.block[j->cols.backward ? 2 : 0][i] = dot_lines;
    memset(&l, 0, sizeof l);
    l.t.x_col_tap = j->cols.backward ? -j->x_pixel : j->x_pixel;
    l.t.depth = j->depth;
    l.t.w_depth = j->rows.kernel * 3 * VF; /* from vector to vector */
    l.t.y_position = j->y_pixel;
    l.t.after = j->after;
    return conv_line_walk(j, &l, x, y, &blocks);
}
