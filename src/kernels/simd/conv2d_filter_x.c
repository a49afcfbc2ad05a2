/* conv2d_filter_x.c - the gradient of a convolution for its kernel where outputs have few channels: vectors run over the input
 * channels.
 *
 * A block holds up to three vectors of inputs (of three neighbouring kernel columns, or of one) times up to four output channels
 * in registers, so that three vectors and four numbers feed twelve multiply-adds. The sums stay in the order in which blocks make
 * them until all shards' sums have been joined (lks_kernel.settle): for each kernel position and vector of input channels,
 * (output channel, lane).
 */
#include "conv_tile.h"
#include "entries.h"
#include "filter_tile.h"

typedef struct x_tile {
    const float *x, *d;            /* of the example: first channels */
    int64_t x_step, d_step;        /* floats from a row at work to the next */
    int64_t x_pixel, d_pixel;      /* from output to output */
    int64_t col, x_tap;            /* from an output to its first tap, tap to tap */
    int64_t rows, out;             /* rows at work; outputs of a row */
    int64_t begin[3], end[3];      /* outputs that tap b of the block meets */
    int64_t all_begin, all_end;    /* and that all of them do */
    int64_t x_short, x_all, d_all; /* the first output, and those, in a row */
    bool begins_short;             /* three taps: the only output before those meets all but the first */
    bool ends_short;               /* the only one behind them meets all but the last */
    int64_t rest;                  /* outputs behind what these words say */
    int64_t last;                  /* lanes of a partial vector */
    float *sum, *part;             /* the output; the example's sums between one run of rows and the next */
    int64_t sum_tap, sum_d, sum_x; /* floats from tap to tap, output channel to output channel, vector to vector */
    bool first, final;             /* run of rows of the example */
    bool fresh;                    /* what lies in the output counts as +0 */
    int n_join; /* these are added behind the sums: of the whole output's shape, which is at `base` */
    const float *const *join;
    const float *base;
} x_tile;

typedef void (*x_fn)(const x_tile *t);

/* How taps meet neighbouring outputs: apart, or three adjacent columns at stride 1 or 2, which the next output meets again. */
enum { X_APART, X_NEXT, X_SECOND };

/* What is constant in a block: T taps, N vectors of inputs of each, B output channels. */
typedef struct x_shape {
    int kind, T, N, B, partial;
} x_shape;

LKS_INLINE vf x_load(const float *p, vmask m, const int partial)
{
    vf v = partial ? vf_load_m(p, m) : vf_load(p);

    LKS_ONCE(v);
    return v;
}

/* One output: the inputs v of its taps [from, to). */
LKS_INLINE void x_add(const x_shape *s, vf *sum, const vf *v, const float *d, const int from, const int to)
{
    const int size = s->T * s->N;

    LKS_UNROLL
    for (int k = 0; k < s->B; k++) {
        vf *to_sum = sum + k * size;
        vf b;

        if (from == 0 && to * s->N == 3) {
            VF_ADD_PRODUCTS(to_sum[0], to_sum[1], to_sum[2], v[0], v[1], v[2], d[k]);
            continue;
        }
        b = vf_set(d[k]);
        LKS_UNROLL
        for (int i = from * s->N; i < to * s->N; i++) VF_ADD_PRODUCT(to_sum[i], v[i], b);
    }
}

LKS_INLINE void x_output(const x_tile *t, const x_shape *s, vf *sum, const float *x, const float *d, vmask m,
                         const int from, const int to)
{
    vf v[3];

    LKS_UNROLL
    for (int i = from * s->N; i < to * s->N; i++) v[i] = x_load(x + i / s->N * t->x_tap + i % s->N * VF, m, s->partial);
    x_add(s, sum, v, d, from, to);
}

/* Outputs [from, to), of which some taps may be beside the row. */
LKS_INLINE void x_border(const x_tile *t, const x_shape *s, vf *sum, const float *x, const float *d, int64_t from,
                         int64_t to, vmask m)
{
    x += from * t->x_pixel + t->col;
    d += from * t->d_pixel;
    for (int64_t j = from; j < to; j++, x += t->x_pixel, d += t->d_pixel) {
        LKS_UNROLL
        for (int b = 0; b < s->T; b++)
            if (j >= t->begin[b] && j < t->end[b]) x_output(t, s, sum, x, d, m, b, b + 1);
    }
}

/* Three at stride 1, as often as they go; the first two inputs of each are the last two of the one before. */
LKS_INLINE int64_t x_next(const x_tile *t, const x_shape *s, vf *sum, const float *x, const float *d, vmask m)
{
    const int64_t tap = t->x_tap;
    int64_t left = t->all_end - t->all_begin;
    vf a, b, c;

    if (left < 3) return 0;
    a = x_load(x, m, s->partial);
    b = x_load(x + tap, m, s->partial);
    for (; left >= 3; left -= 3, d += 3 * t->d_pixel) {
        c = x_load(x + 2 * tap, m, s->partial);
        x_add(s, sum, (const vf[]){ a, b, c }, d, 0, 3);
        x += 3 * tap;
        a = x_load(x, m, s->partial);
        x_add(s, sum, (const vf[]){ b, c, a }, d + t->d_pixel, 0, 3);
        b = x_load(x + tap, m, s->partial);
        x_add(s, sum, (const vf[]){ c, a, b }, d + 2 * t->d_pixel, 0, 3);
    }
    return t->all_end - t->all_begin - left;
}

/* All of them at stride 2, and one more that meets all but the last: the first input of each is the last of the one before. */
LKS_INLINE void x_second(const x_tile *t, const x_shape *s, vf *sum, const float *x, const float *d, vmask m)
{
    const int64_t tap = t->x_tap, pixel = t->x_pixel, d_pixel = t->d_pixel;
    int64_t left = t->all_end - t->all_begin;
    vf a, b, c;

    if (left == 0 && !t->ends_short) return;
    a = x_load(x, m, s->partial);
    for (; left >= 2; left -= 2) {
        b = x_load(x + tap, m, s->partial);
        c = x_load(x + 2 * tap, m, s->partial);
        x_add(s, sum, (const vf[]){ a, b, c }, d, 0, 3);
        CONV_NEXT(x, pixel);
        CONV_NEXT(d, d_pixel);
        b = x_load(x + tap, m, s->partial);
        a = x_load(x + 2 * tap, m, s->partial);
        x_add(s, sum, (const vf[]){ c, b, a }, d, 0, 3);
        CONV_NEXT(x, pixel);
        CONV_NEXT(d, d_pixel);
    }
    if (left > 0) {
        b = x_load(x + tap, m, s->partial);
        c = x_load(x + 2 * tap, m, s->partial);
        x_add(s, sum, (const vf[]){ a, b, c }, d, 0, 3);
        CONV_NEXT(x, pixel);
        CONV_NEXT(d, d_pixel);
        a = c;
    }
    if (t->ends_short) x_add(s, sum, (const vf[]){ a, x_load(x + tap, m, s->partial) }, d, 0, 2);
}

/* Outputs from the first that all taps meet; those at the end that all taps but the last one meet, too. */
LKS_INLINE void x_row(const x_tile *t, const x_shape *s, vf *sum, const float *x, const float *d, vmask m)
{
    int64_t n = t->all_end - t->all_begin, done = 0;

    if (s->kind == X_SECOND) {
        x_second(t, s, sum, x, d, m);
        return;
    }
    if (s->kind == X_NEXT) done = x_next(t, s, sum, x, d, m);
    x += done * t->x_pixel;
    d += done * t->d_pixel;
    for (n -= done; n > 0; n--, x += t->x_pixel, d += t->d_pixel) x_output(t, s, sum, x, d, m, 0, s->T);
    if (s->T == 3 && t->ends_short) x_output(t, s, sum, x, d, m, 0, 2);
}

/* Where sum i of a block lies, by distances that are known to change under no store. */
typedef struct x_places {
    int64_t tap, d, x;
} x_places;

LKS_INLINE int64_t x_place(const x_places *at, const x_shape *s, int i)
{
    const int size = s->T * s->N;

    return i % size / s->N * at->tap + i / size * at->d + i % s->N * at->x;
}

LKS_INLINE void x_store(float *p, vf v, vmask m, const int partial)
{
    if (partial) vf_store_m(p, m, v);
    else vf_store(p, v);
}

/* An example's sums: to the output, or to where they wait for the next rows. */
LKS_INLINE void x_put(const x_tile *t, const x_shape *s, vf *sum, vmask m)
{
    const int sums = s->T * s->N * s->B;
    const x_places at = { t->sum_tap, t->sum_d, t->sum_x };
    float *to = t->final ? t->sum : t->part;

    if (!t->final) {
        LKS_UNROLL
        for (int i = 0; i < sums; i++) x_store(to + x_place(&at, s, i), sum[i], m, s->partial);
        return;
    }
    if (t->fresh) {
        LKS_UNROLL
        for (int i = 0; i < sums; i++) sum[i] = vf_add(vf_zero(), sum[i]);
    } else {
        LKS_UNROLL
        for (int i = 0; i < sums; i++) sum[i] = vf_add(x_load(to + x_place(&at, s, i), m, s->partial), sum[i]);
    }
    for (int k = 0; k < t->n_join; k++) {
        const float *other = t->join[k] + (to - t->base);

        LKS_UNROLL
        for (int i = 0; i < sums; i++) sum[i] = vf_add(sum[i], x_load(other + x_place(&at, s, i), m, s->partial));
    }
    LKS_UNROLL
    for (int i = 0; i < sums; i++) x_store(to + x_place(&at, s, i), sum[i], m, s->partial);
}

LKS_INLINE void x_block(const x_tile *t, const x_shape *s)
{
    const int sums = s->T * s->N * s->B;
    const vmask m = vf_first(t->last);
    const float *x = t->x, *d = t->d;
    vf sum[12];

    LKS_UNROLL
    for (int i = 0; i < sums; i++) sum[i] = vf_zero();
    if (!t->first) {
        const x_places at = { t->sum_tap, t->sum_d, t->sum_x };

        LKS_UNROLL
        for (int i = 0; i < sums; i++) sum[i] = x_load(t->part + x_place(&at, s, i), m, s->partial);
    }
    for (int64_t i = t->rows; i > 0; i--, x += t->x_step, d += t->d_step) {
        if (t->begins_short) x_output(t, s, sum, x + t->x_short, d, m, 1, s->T);
        else if (t->all_begin > 0) x_border(t, s, sum, x, d, 0, t->all_begin, m);
        x_row(t, s, sum, x + t->x_all, d + t->d_all, m);
        if (t->rest < t->out) x_border(t, s, sum, x, d, t->rest, t->out, m);
    }
    x_put(t, s, sum, m);
}

#define BLOCK(kind, T, N, B, partial)                                   \
    static void x_##kind##_##T##_##N##_##B##_##partial(const x_tile *t) \
    {                                                                   \
        const x_shape s = { X_##kind, T, N, B, partial };               \
                                                                        \
        x_block(t, &s);                                                 \
    }
#define BLOCKS(kind, T, N, partial) \
    BLOCK(kind, T, N, 1, partial)   \
    BLOCK(kind, T, N, 2, partial)   \
    BLOCK(kind, T, N, 3, partial)   \
    BLOCK(kind, T, N, 4, partial)
#define LIST(kind, T, N, partial)                                                     \
    {                                                                                 \
        NULL, x_##kind##_##T##_##N##_1_##partial, x_##kind##_##T##_##N##_2_##partial, \
            x_##kind##_##T##_##N##_3_##partial, x_##kind##_##T##_##N##_4_##partial    \
    }
BLOCKS(APART, 1, 1, 0)
BLOCKS(APART, 1, 1, 1)
BLOCKS(APART, 1, 2, 0)
BLOCKS(APART, 1, 3, 0)
BLOCKS(APART, 2, 1, 0)
BLOCKS(APART, 2, 1, 1)
BLOCKS(APART, 3, 1, 0)
BLOCKS(APART, 3, 1, 1)
BLOCKS(NEXT, 3, 1, 0)
BLOCKS(NEXT, 3, 1, 1)
BLOCKS(SECOND, 3, 1, 0)
BLOCKS(SECOND, 3, 1, 1)

static const x_fn of_one[2][5] = { LIST(APART, 1, 1, 0), LIST(APART, 1, 1, 1) }; /* one tap: [partial][B] */
static const x_fn of_two[2][5] = { LIST(APART, 2, 1, 0), LIST(APART, 2, 1, 1) };
static const x_fn of_three[3][2][5] = { /* [kind][partial][B] */
                                        { LIST(APART, 3, 1, 0), LIST(APART, 3, 1, 1) },
                                        { LIST(NEXT, 3, 1, 0), LIST(NEXT, 3, 1, 1) },
                                        { LIST(SECOND, 3, 1, 0), LIST(SECOND, 3, 1, 1) }
};
static const x_fn of_vectors[2][5] = { LIST(APART, 1, 2, 0), LIST(APART, 1, 3, 0) }; /* one tap: [N - 2][B] */

typedef struct x_job {
    const lks_conv_attrs *a;
    x_tile t;
    int64_t cin, cout;
    int64_t x_row, d_row; /* floats of a row */
    const float *x, *d;   /* the example */
    float *sums, *parts;
    int kind; /* of blocks of three taps */
} x_job;

/* What the block's taps [kw, kw + T) meet in a row. */
static void x_columns(x_job *j, int64_t kw, int T)
{
    const lks_conv_attrs *a = j->a;
    x_tile *t = &j->t;

    t->all_begin = 0;
    t->all_end = t->out = a->out[1];
    for (int b = 0; b < T; b++) {
        const int64_t tap = (kw + b) * a->dilation[1] - a->before[1];

        t->begin[b] = filter_begin(tap, a->stride[1]);
        t->end[b] = filter_end(tap, a->stride[1], a->in[1], a->out[1]);
        if (t->begin[b] > t->all_begin) t->all_begin = t->begin[b];
        if (t->end[b] < t->all_end) t->all_end = t->end[b];
    }
    if (t->all_begin > t->out) t->all_begin = t->out;
    if (t->all_end < t->all_begin) t->all_end = t->all_begin;
    t->begins_short = T == 3 && t->all_begin == 1 && t->begin[1] == 0 && t->end[2] > 0;
    t->ends_short = T == 3 && t->all_end + 1 == t->out && t->begin[0] <= t->all_end && t->end[1] == t->out;
    t->rest = t->all_end + t->ends_short;
    t->col = (kw * a->dilation[1] - a->before[1]) * j->cin;
    t->x_tap = a->dilation[1] * j->cin;
    t->x_pixel = a->stride[1] * j->cin;
    t->d_pixel = j->cout;
    t->x_short = t->col;
    t->x_all = t->all_begin * t->x_pixel + t->col;
    t->d_all = t->all_begin * t->d_pixel;
}

/* All channels for taps [kw, kw + T) of kernel row kh. */
static void x_channels(x_job *j, int64_t kh, int64_t kw, int T, const float *x, const float *d)
{
    const int64_t at = (kh * j->a->kernel[1] + kw) * j->t.sum_tap;
    x_tile *t = &j->t;

    for (int64_t c = 0, N; c < j->cin; c += N * VF) {
        const int64_t whole = (j->cin - c) / VF;

        N = T > 1 || whole < 2 ? 1 : whole == 2 || whole == 4 ? 2 : 3;
        t->last = whole > 0 ? VF : j->cin - c;
        t->x = x + c;
        t->sum_d = t->last;
        for (int64_t k = 0, blocks = (j->cout + 3) / 4, B; k < j->cout; k += B, blocks--) {
            B = (j->cout - k + blocks - 1) / blocks;
            t->d = d + k;
            t->sum = j->sums + at + c * j->cout + k * t->sum_d;
            t->part = j->parts + (t->sum - j->sums);
            if (N > 1) of_vectors[N - 2][B](t);
            else if (T == 1) of_one[whole == 0][B](t);
            else if (T == 2) of_two[whole == 0][B](t);
            else of_three[j->kind][whole == 0][B](t);
        }
    }
}

/* Rows [begin, end) of d: kernel rows and columns, the latter three at a time. */
static void x_rows(x_job *j, int64_t begin, int64_t end)
{
    const lks_conv_attrs *a = j->a;
    x_tile *t = &j->t;

    t->first = begin == 0;
    t->final = end == a->out[0];
    t->x_step = a->stride[0] * j->x_row;
    t->d_step = j->d_row;
    for (int64_t kw = 0, T; kw < a->kernel[1]; kw += T) {
        T = a->kernel[1] - kw >= 3 ? 3 : a->kernel[1] - kw;
        if (a->kernel[1] > 3) x_columns(j, kw, (int)T);
        for (int64_t kh = 0; kh < a->kernel[0]; kh++) {
            const int64_t tap = kh * a->dilation[0] - a->before[0], least = filter_begin(tap, a->stride[0]);
            const int64_t most = filter_end(tap, a->stride[0], a->in[0], a->out[0]);
            const int64_t from = least > begin ? least : begin, to = most < end ? most : end;

            t->rows = to > from ? to - from : 0;
            x_channels(j, kh, kw, (int)T, j->x + (t->rows > 0 ? (from * a->stride[0] + tap) * j->x_row : 0),
                       j->d + (t->rows > 0 ? from * j->d_row : 0));
        }
    }
}

/* Few output channels leave most lanes empty, or too few multiply-adds for what is loaded. w: (kh, kw, cin, cout). */
static bool x_wanted(const lks_type *x, const lks_shape *w)
{
    const int64_t cin = w->dim[2], cout = w->dim[3], padded_in = (cin + VF - 1) / VF * VF;
    const int64_t padded_out = (cout + VF - 1) / VF * VF;

    return x->shape.dim[2] == cin && cout >= 4 && cout < 2 * VF && 5 * padded_in * cout <= 6 * padded_out * cin;
}

/* Kernel positions and vectors of input channels each by itself, from (output channel, lane) to (input channel, output channel). */
void SIMD(conv2d_filter_settle)(const lks_op_call *call, int part, int parts)
{
    const lks_shape *w = &call->out_type->shape;
    const int64_t positions = w->dim[0] * w->dim[1], cin = w->dim[2], cout = w->dim[3];
    float sums[VF * 2 * VF];

    if (!x_wanted(call->in_type[0], w)) return;
    for (int64_t i = positions * part / parts; i < positions * (part + 1) / parts; i++)
        for (int64_t c = 0; c < cin; c += VF) {
            const int64_t lanes = cin - c < VF ? cin - c : VF;
            float *out = (float *)call->out + (i * cin + c) * cout;

            memcpy(sums, out, (size_t)(lanes * cout) * sizeof *sums);
            for (int64_t l = 0; l < lanes; l++)
                for (int64_t k = 0; k < cout; k++) *out++ = sums[k * lanes + l];
        }
}

enum { X_L1 = 32 << 10 };

/* Rows of d that are worked on together: few enough for their inputs to stay in the L1 cache from block to block. */
static int64_t x_run(const x_job *j)
{
    const lks_conv_attrs *a = j->a;
    const int64_t row = (a->stride[0] * j->x_row + j->d_row) * 4,
                  above = (a->kernel[0] - 1) * a->dilation[0] * j->x_row * 4;
    int64_t rows = row > 0 ? (X_L1 - above) / row : a->out[0];

    if (rows < 2) rows = 2;
    return rows * 3 >= a->out[0] * 2 ? a->out[0] : rows;
}

bool SIMD(conv2d_filter_x)(const lks_op_call *call, const lks_conv_attrs *a)
{
    const lks_shape *w = &call->out_type->shape;
    x_job j = { .a = a,
                .cin = w->dim[2],
                .cout = w->dim[3],
                .x = call->in[0],
                .d = call->in[1],
                .sums = call->out,
                .parts = call->scratch };
    int64_t rows;

    if (!x_wanted(call->in_type[0], w)) return false;
    j.x_row = a->in[1] * j.cin;
    j.d_row = a->out[1] * j.cout;
    j.kind = a->dilation[1] != 1 || a->stride[1] > 2 ? X_APART : a->stride[1] == 1 ? X_NEXT : X_SECOND;
    j.t.sum_tap = j.cin * j.cout;
    j.t.sum_x = VF * j.cout;
    j.t.join = call->join;
    j.t.base = call->out;
    if (a->kernel[1] <= 3) x_columns(&j, 0, (int)a->kernel[1]);
    rows = x_run(&j);
    for (int64_t i = 0; i < call->n; i++, j.x += a->in[0] * j.x_row, j.d += a->out[0] * j.d_row) {
        j.t.fresh = call->fresh && i == 0;
        j.t.n_join = i == call->n - 1 ? call->n_join : 0;
        for (int64_t begin = 0; begin < a->out[0]; begin += rows)
            x_rows(&j, begin, begin + rows < a->out[0] ? begin + rows : a->out[0]);
    }
    return true;
}

/* The sums of an example. */
size_t SIMD(conv2d_filter_x_scratch)(const lks_shape *w)
{
    return (size_t)(w->dim[0] * w->dim[1] * w->dim[2] * w->dim[3]) * sizeof(float);
}
