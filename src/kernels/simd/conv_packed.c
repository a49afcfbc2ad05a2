/* conv_packed.c - 1x1 convolutions by weights that were packed once for many calls, in parts for several threads; and depthwise
 * ones in parts.
 *
 * The order is that of op_conv2d.c: every output is one sequence of multiply-adds over the input channels, from +0. Between
 * two runs of terms it waits in y. Packed weights: runs of terms one after the other; in a run panels of two vectors of output
 * channels (the last one has three or one where their number is odd), term by term, padded with zeros.
 */
#include "conv_packed.h"
#include "conv_walk.h"
#include "entries.h"

enum {
    LONGEST = 192,      /* terms in one run, if there is but one */
    RUN = 128,          /* in one of several */
    NEAR_FLOATS = 4096, /* inputs that stay in the first cache while the panels pass by */
    FEW_POSITIONS = 200 /* up to here threads share out the channels, from here on the positions */
};

typedef struct packed_job {
    int64_t depth, run; /* terms, of a run */
    int64_t channels, vectors, panels;
    int64_t positions;
} packed_job;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static packed_job job_of(const lks_type *const *in, int64_t positions)
{
    const lks_shape *w = &in[1]->shape;
    packed_job j = { .depth = w->dim[2], .channels = w->dim[3], .positions = positions };

    j.run = j.depth <= LONGEST ? j.depth : ceil_div(ceil_div(j.depth, ceil_div(j.depth, RUN)), 4) * 4;
    j.vectors = ceil_div(j.channels, VF);
    j.panels = j.vectors == 1 ? 1 : j.vectors / 2;
    return j;
}

static int vectors_of(const packed_job *j, int64_t panel)
{
    return panel + 1 < j->panels ? 2 : (int)(j->vectors - 2 * (j->panels - 1));
}

static bool is_pointwise(const lks_conv_attrs *a, const lks_type *const *in)
{
    for (int i = 0; i < 2; i++)
        if (a->kernel[i] != 1 || a->stride[i] != 1 || a->before[i] != 0 || a->in[i] != a->out[i]) return false;
    return a->groups == 1 && in[1]->shape.dim[3] >= 4 && in[1]->shape.dim[2] > 0;
}

static bool is_depthwise(const lks_conv_attrs *a, const lks_type *const *in)
{
    return a->groups >= 4 && in[1]->shape.dim[2] == 1 && in[1]->shape.dim[3] == a->groups;
}

static bool parts_applicable(const void *attrs, const lks_type *const *in)
{
    return is_pointwise(attrs, in) || is_depthwise(attrs, in);
}

static size_t packed_bytes(const void *attrs, const lks_type *const *in)
{
    const packed_job j = job_of(in, 0);

    return is_pointwise(attrs, in) ? (size_t)(j.depth * j.vectors * VF) * sizeof(float) : 0;
}

static void pack(const void *attrs, const lks_type *const *in, const void *from, void *to, int part, int parts)
{
    const packed_job j = job_of(in, 0);
    float *p = to;

    (void)attrs;
    (void)parts;
    if (part > 0) return;
    for (int64_t first = 0; first < j.depth; first += j.run)
        for (int64_t panel = 0; panel < j.panels; panel++) {
            const int64_t width = vectors_of(&j, panel) * VF, made = least(width, j.channels - panel * 2 * VF);
            const int64_t end = least(first + j.run, j.depth);

            for (int64_t k = first; k < end; k++, p += width) {
                memcpy(p, (const float *)from + k * j.channels + panel * 2 * VF, (size_t)made * sizeof *p);
                memset(p + made, 0, (size_t)(width - made) * sizeof *p);
            }
        }
}

/* What comes behind the channels from c; numbers of a partial vector are copied to `rest`. */
static void after_of(const lks_op_call *call, int64_t c, int64_t made, int C, float rest[3][3 * VF], conv_after *out)
{
    const lks_after *a = call->after;
    const float *from[3];
    const float **to[3] = { &out->mean, &out->factor, &out->bias };

    memset(out, 0, sizeof *out);
    if (a == NULL) return;
    from[0] = a->mean, from[1] = a->factor, from[2] = a->bias;
    out->relu = a->relu;
    out->cap = a->cap;
    out->adds = a->add != NULL;
    if (a->add != NULL) out->add = (uintptr_t)a->add - (uintptr_t)call->out;
    for (int i = 0; i < 3; i++) {
        if (from[i] == NULL) continue;
        *to[i] = from[i] + c;
        if (made == C * VF) continue;
        memset(rest[i], 0, 3 * VF * sizeof *rest[i]);
        memcpy(rest[i], from[i] + c, (size_t)made * sizeof *rest[i]);
        *to[i] = rest[i];
    }
}

/* One panel's terms of a run, for `count` positions in blocks of about the same length. */
static void panel_blocks(packed_tile *p, int C, int64_t count)
{
    static const int longest[3] = { PACKED_ROWS_1, PACKED_ROWS_2, PACKED_ROWS_3 };

    const int64_t blocks = ceil_div(count, longest[C - 1]), length = ceil_div(count, blocks);
    const int64_t longer = count - blocks * (length - 1); /* blocks of this length; the others are one shorter */

    p->ahead_step = (C * VF + blocks - 1) / blocks;
    SIMD(packed_blocks)[C - 1][length](p, longer);
    if (longer == blocks) return;
    p->t.x += longer * length * p->t.x_position;
    p->t.y += longer * length * p->t.y_position;
    p->ahead += longer * p->t.depth * p->ahead_step;
    SIMD(packed_blocks)[C - 1][length - 1](p, blocks - longer);
}

/* Where the terms from `first` on begin in panel `panel`. */
static const float *next_run(const packed_job *j, const float *packed, int64_t first, int64_t panel)
{
    const int64_t left = j->depth - first;

    return packed + first * j->vectors * VF + panel * 2 * VF * (left < j->run ? left : j->run);
}

/* Panels [begin, end) for `count` positions that stay in the first cache. */
static void chunk_panels(const packed_job *j, const lks_op_call *call, const float *packed, int64_t at, int64_t count,
                         int64_t begin, int64_t end)
{
    const float *x = (const float *)call->in[0] + at * j->depth;
    float *y = (float *)call->out + at * j->channels, rest[3][3 * VF];
    packed_tile p = { .t = { .x_position = j->depth, .y_position = j->channels } };

    for (int64_t first = 0; first < j->depth; first += j->run) {
        const float *w = packed + first * j->vectors * VF;

        p.t.depth = least(j->run, j->depth - first);
        p.t.carry = first > 0;
        p.t.row_taps = first + p.t.depth == j->depth;
        for (int64_t panel = begin; panel < end; panel++) {
            const int64_t c = panel * 2 * VF;
            const int C = vectors_of(j, panel);

            p.t.x = x + first;
            p.t.y = y + c;
            p.t.w = w + c * p.t.depth;
            p.ahead = panel + 1 < end ? p.t.w + C * VF * p.t.depth : next_run(j, packed, first + p.t.depth, begin);
            p.t.last = least(VF, j->channels - c - (C - 1) * VF);
            p.t.safe = p.t.last == VF ? (const float *)UINTPTR_MAX : NULL;
            if (p.t.row_taps) after_of(call, c, (C - 1) * VF + p.t.last, C, rest, &p.t.after);
            panel_blocks(&p, C, count);
        }
    }
}

static void pointwise(const lks_op_call *call, const lks_part *part)
{
    const lks_conv_attrs *a = call->attrs;
    const packed_job j = job_of(call->in_type, call->n * a->out[0] * a->out[1]);
    const bool by_channels = j.positions < FEW_POSITIONS && j.panels >= part->parts;
    const int64_t begin = by_channels ? j.panels * part->part / part->parts : 0;
    const int64_t end = by_channels ? j.panels * (part->part + 1) / part->parts : j.panels;
    int64_t at = by_channels ? 0 : j.positions * part->part / part->parts;
    int64_t left = (by_channels ? j.positions : j.positions * (part->part + 1) / part->parts) - at;

    for (int64_t chunks = ceil_div(left * j.run, NEAR_FLOATS); chunks > 0; chunks--) {
        const int64_t count = ceil_div(left, chunks);

        chunk_panels(&j, call, part->packed, at, count, begin, end);
        at += count;
        left -= count;
    }
}

static void run(const lks_op_call *call, const lks_part *part)
{
    if (part->packed != NULL) pointwise(call, part);
    else SIMD(conv_depthwise_part)(call, part);
}

const lks_parts SIMD(conv2d_parts) = { parts_applicable, packed_bytes, pack, run, false };
