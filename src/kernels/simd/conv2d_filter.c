/* conv2d_filter.c - the gradient of a convolution for its kernel: blocks of kernel positions and channels, each over
 * all positions of an example, examples in order.
 *
 * Vectors run over the output channels; over the input channels where there are fewer than four output channels, or few enough
 * for conv2d_filter_x.c; over both in depthwise convolutions.
 */
#include "entries.h"
#include "filter_rows.h"

#define TAP(R, C, partial)                                      \
    static void tap_##R##_##C##_##partial(const filter_tile *t) \
    {                                                           \
        filter_tap(t, R, C, partial);                           \
    }
TAP(1, 1, 0)
TAP(4, 1, 0)
TAP(8, 1, 0)
TAP(1, 1, 1)
TAP(4, 1, 1)
TAP(8, 1, 1)
TAP(1, 2, 0)
TAP(4, 2, 0)
TAP(6, 2, 0)

#define STREAM(stride, R, C, partial)                                           \
    static void stream_d_##stride##_##R##_##C##_##partial(const filter_tile *t) \
    {                                                                           \
        const filter_shape s = { 1, stride, R, C, 0, 1, partial };              \
                                                                                \
        filter_stream(t, &s);                                                   \
    }
#define STREAMS(stride)     \
    STREAM(stride, 1, 1, 0) \
    STREAM(stride, 3, 1, 0) \
    STREAM(stride, 4, 1, 0) \
    STREAM(stride, 1, 1, 1) \
    STREAM(stride, 3, 1, 1) \
    STREAM(stride, 4, 1, 1) \
    STREAM(stride, 1, 2, 0) \
    STREAM(stride, 2, 2, 0)
STREAMS(1)
STREAMS(2)

static const filter_fn stream_d_1[2][2][5] = { /* [stride - 1][partial][R] */
                                               { { NULL, stream_d_1_1_1_0, NULL, stream_d_1_3_1_0, stream_d_1_4_1_0 },
                                                 { NULL, stream_d_1_1_1_1, NULL, stream_d_1_3_1_1, stream_d_1_4_1_1 } },
                                               { { NULL, stream_d_2_1_1_0, NULL, stream_d_2_3_1_0, stream_d_2_4_1_0 },
                                                 { NULL, stream_d_2_1_1_1, NULL, stream_d_2_3_1_1, stream_d_2_4_1_1 } }
};
static const filter_fn stream_d_2[2][3] = { /* [stride - 1][R] */
                                            { NULL, stream_d_1_1_2_0, stream_d_1_2_2_0 },
                                            { NULL, stream_d_2_1_2_0, stream_d_2_2_2_0 }
};
typedef struct filter_job {
    lks_conv_attrs a;
    filter_tile t;
    int64_t groups, cin, cout; /* of a group */
    int64_t n;
    const float *x, *d;
    float *out;
    int streams;             /* three adjacent columns, stride 1 or 2 */
    bool one;                /* channel of x, which three kernel rows take at once */
    const lks_op_call *call; /* of a convolution; or NULL */
} filter_job;

/* Sums start in the first example and meet other shards' in the last. */
static void filter_example(filter_job *j, int64_t i)
{
    j->t.fresh = j->call != NULL && j->call->fresh && i == 0;
    j->t.n_join = j->call != NULL && i == j->n - 1 ? j->call->n_join : 0;
}

/* One block over the rows at work: kernel position (kh, kw), first input channel and output channel counted over groups; `sums`
 * vectors of sums. */
static void filter_run(filter_job *j, filter_fn fn, int64_t kh, int64_t kw, int64_t x_channel, int64_t d_channel,
                       int64_t out_channel, int64_t sums)
{
    filter_tile *t = &j->t;

    t->k_row = kh;
    t->k_col = kw;
    t->out = j->out + kh * t->out_row + kw * t->out_col + out_channel * t->out_depth + d_channel;
    t->x = j->x + x_channel;
    t->d = j->d + d_channel;
    fn(t);
    if (t->part != NULL) t->part += sums * VF;
}

/* The block for the next of `left` input channels: its function, and how many channels it takes. */
static filter_fn filter_block(const filter_job *j, int64_t left, int C, int partial, int64_t *taken)
{
    const int stride = (int)j->a.stride[1] - 1;

    if (j->streams && C == 2) {
        *taken = left >= 2 ? 2 : 1;
        return stream_d_2[stride][*taken];
    }
    if (j->streams) {
        *taken = left >= 4 && left != 6 && left != 9 ? 4 : left >= 3 ? 3 : 1;
        return stream_d_1[stride][partial][*taken];
    }
    if (C == 2) {
        *taken = left >= 6 && left != 8 ? 6 : left >= 4 ? 4 : 1;
        return *taken == 6 ? tap_6_2_0 : *taken == 4 ? tap_4_2_0 : tap_1_2_0;
    }
    *taken = left >= 8 ? 8 : left >= 4 ? 4 : 1;
    if (partial) return *taken == 8 ? tap_8_1_1 : *taken == 4 ? tap_4_1_1 : tap_1_1_1;
    return *taken == 8 ? tap_8_1_0 : *taken == 4 ? tap_4_1_0 : tap_1_1_0;
}

/* All kernel positions and input channels of the group for output channels [c, c + C * VF). */
static void filter_channels(filter_job *j, int64_t g, int64_t c, int C)
{
    const int partial = C == 1 && j->t.last < VF, stride = (int)j->a.stride[1] - 1;
    const int64_t first = g * j->cin, d = g * j->cout + c, columns = j->streams ? 1 : j->a.kernel[1];

    for (int64_t kh = 0; kh < j->a.kernel[0]; kh++) {
        if (j->one && kh + 3 <= j->a.kernel[0]) {
            filter_run(j, SIMD(filter_rows)[1][stride][partial], kh, 0, first, d, 0, 9);
            kh += 2;
            continue;
        }
        for (int64_t kw = 0; kw < columns; kw++)
            for (int64_t r = 0, taken; r < j->cin; r += taken) {
                const filter_fn fn = filter_block(j, j->cin - r, C, partial, &taken);

                filter_run(j, fn, kh, kw, first + r, d, r, taken * C * (j->streams ? 3 : 1));
            }
    }
}

static void filter_over_d(filter_job *j)
{
    for (int64_t g = 0; g < j->groups; g++)
        for (int64_t c = 0; c < j->cout;) {
            const int64_t left = j->cout - c;
            const int C = left >= 2 * VF && !j->one ? 2 : 1;

            j->t.last = left < VF ? left : VF;
            filter_channels(j, g, c, C);
            c += C * VF;
        }
}

/* Vectors over the input channels, one output channel at a time. */
static void filter_over_x(filter_job *j)
{
    j->t.out_lane = j->groups * j->cout;
    for (int64_t kh = 0; kh + 3 <= j->a.kernel[0]; kh += 3)
        for (int64_t g = 0; g < j->groups; g++)
            for (int64_t co = 0; co < j->cout; co++)
                for (int64_t c = 0; c < j->cin; c += VF) {
                    j->t.last = j->cin - c < VF ? j->cin - c : VF;
                    filter_run(j, SIMD(filter_rows)[0][j->a.stride[1] - 1][j->t.last < VF], kh, 0, g * j->cin + c,
                               g * j->cout + co, c, 9);
                }
}

enum { FILTER_L1 = 20 << 10 };

/* Examples in order. Blocks walk over the same rows many times: few enough of them to stay in the L1 cache (where a block's sums are
 * taken up again cannot change bits). */
static void filter_all(filter_job *j, void (*over)(filter_job *j))
{
    const lks_conv_attrs *a = &j->a;
    const int64_t row = (a->stride[0] * j->t.x_row + j->t.d_row) * (int64_t)sizeof(float), out = a->out[0];
    int64_t rows = row > 0 ? (FILTER_L1 - (a->kernel[0] - 1) * a->dilation[0] * j->t.x_row * 4) / row : out;

    if (rows < 2) rows = 2;
    if (j->t.part == NULL || rows * 3 >= out * 2) rows = out;
    for (int64_t i = 0; i < j->n; i++) {
        float *part = j->t.part;

        filter_example(j, i);
        for (j->t.begin = 0; j->t.begin < out; j->t.begin = j->t.end) {
            j->t.end = j->t.begin + rows < out ? j->t.begin + rows : out;
            over(j);
            j->t.part = part;
        }
        j->x += a->in[0] * j->t.x_row;
        j->d += out * j->t.d_row;
    }
}

/* Three rows of three, each channel alone; sums: those of one example, nine vectors for each vector of channels. */
static void filter_depthwise(filter_job *j, float *sums)
{
    const int64_t vectors = (j->groups + VF - 1) / VF;
    filter_tile *t = &j->t;

    for (int64_t e = 0; e < j->n; e++) {
        memset(sums, 0, (size_t)(vectors * 9 * VF) * sizeof *sums);
        filter_example(j, e);
        t->x = j->x + e * j->a.in[0] * t->x_row;
        t->d = j->d + e * j->a.out[0] * t->d_row;
        for (int64_t i = 0; i < j->a.out[0]; i++) {
            if (j->a.stride[1] == 1) filter_depthwise_row(t, i, j->groups, sums, 1);
            else filter_depthwise_row(t, i, j->groups, sums, 2);
        }
        for (int64_t c = 0; c < j->groups; c += VF)
            for (int k = 0; k < 9; k++) {
                const vmask m = vf_first(j->groups - c);
                float *o = j->out + k * j->groups + c;

                vf_store_m(o, m, filter_added(t, o, vf_load(sums + (c / VF * 9 + k) * VF), m, 1));
            }
    }
}

/* A 1x1 kernel sees one long line of positions. */
static void filter_flatten(lks_conv_attrs *a)
{
    for (int i = 0; i < 2; i++)
        if (a->kernel[i] != 1 || a->stride[i] != 1 || a->before[i] != 0 || a->in[i] != a->out[i]) return;
    a->in[1] *= a->in[0];
    a->out[1] *= a->out[0];
    a->in[0] = a->out[0] = 1;
}

/* w (k, m) += a (positions, k) transposed times d (positions, m), for each of n examples. carry: the positions continue
 * the sums in w one by one (a position is an example). */
void SIMD(filter_dense)(int64_t n, int64_t positions, int64_t k, int64_t m, bool carry, const float *a, const float *d,
                        float *w)
{
    filter_job j = { .a = { .kernel = { 1, 1 },
                            .stride = { 1, 1 },
                            .dilation = { 1, 1 },
                            .groups = 1,
                            .in = { 1, positions },
                            .out = { 1, positions } },
                     .groups = 1,
                     .cin = k,
                     .cout = m,
                     .n = n,
                     .x = a,
                     .d = d,
                     .out = w };

    j.t.a = &j.a;
    j.t.carry = carry;
    j.t.x_pixel = k;
    j.t.x_row = positions * k;
    j.t.d_pixel = j.t.out_depth = m;
    j.t.d_row = positions * m;
    j.t.out_lane = 1;
    filter_all(&j, filter_over_d);
}

/* A row of x, in whole vectors. */
static size_t filter_zeros(const lks_type *const *in)
{
    return (size_t)(in[0]->shape.dim[1] * in[0]->shape.dim[2] + 15) / 16 * 16;
}

void SIMD(conv2d_filter)(const lks_op_call *call)
{
    const lks_conv_attrs *a = call->attrs;
    const lks_shape *w = &call->out_type->shape;
    filter_job j = { .a = *a,
                     .groups = a->groups,
                     .cin = w->dim[2],
                     .cout = w->dim[3] / a->groups,
                     .n = call->n,
                     .x = call->in[0],
                     .d = call->in[1],
                     .out = call->out,
                     .call = call };
    const int64_t size = lks__type_size(call->out_type);
    int rows3;

    if (call->n == 0 || a->out[0] == 0) { /* no example that would start or join the sums */
        if (call->fresh) memset(call->out, 0, (size_t)size * sizeof(float));
        for (int i = 0; i < call->n_join; i++) SIMD(add)(call->out, call->join[i], size);
        return;
    }
    j.t.join = call->join;
    j.t.base = call->out;
    memset(call->scratch, 0, filter_zeros(call->in_type) * sizeof(float));
    j.t.zeros = call->scratch;
    j.t.part = (float *)call->scratch + filter_zeros(call->in_type);

    filter_flatten(&j.a);
    if (SIMD(conv2d_filter_x)(call, &j.a)) return;
    j.streams = a->kernel[1] == 3 && a->dilation[1] == 1 && (a->stride[1] == 1 || a->stride[1] == 2);
    rows3 = j.streams && a->kernel[0] == 3;
    j.t.a = &j.a;
    j.t.x_pixel = j.groups * j.cin;
    j.t.x_row = j.a.in[1] * j.t.x_pixel;
    j.t.d_pixel = j.t.out_depth = j.groups * j.cout;
    j.t.d_row = j.a.out[1] * j.t.d_pixel;
    j.t.out_col = j.cin * j.t.out_depth;
    j.t.out_row = a->kernel[1] * j.t.out_col;
    j.t.out_lane = 1;
    j.one = j.t.x_pixel == 1 && a->kernel[0] >= 3 && filter_rows_suit(a);
    if (rows3 && a->stride[0] == a->stride[1] && a->dilation[0] == 1 && j.groups > 1 && j.cin == 1 && j.cout == 1)
        filter_depthwise(&j, j.t.part);
    else if (rows3 && filter_rows_suit(a) && j.cout < 4 && j.cin > j.cout) filter_all(&j, filter_over_x);
    else filter_all(&j, filter_over_d);
}

size_t SIMD(conv2d_filter_scratch)(const void *attrs, const lks_type *const *in, const lks_type *out)
{
    const lks_conv_attrs *a = attrs;
    const lks_shape *w = &out->shape;
    const int64_t positions = w->dim[0] * w->dim[1], depthwise = a->groups > 1 ? (a->groups + VF) * 9 : 0;
    const int64_t over_d = w->dim[2] * (w->dim[3] / a->groups + VF) * a->groups;
    const int64_t over_x = (w->dim[2] + VF) * (w->dim[3] + VF);
    const int64_t sums = positions * (over_d > over_x ? over_d : over_x);
    const size_t x = SIMD(conv2d_filter_x_scratch)(w);
    const size_t bytes = (filter_zeros(in) + (size_t)(sums > depthwise ? sums : depthwise)) * sizeof(float);

    return x > bytes ? x : bytes;
}
