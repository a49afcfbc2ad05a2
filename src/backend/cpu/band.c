/* band.c - a convolution, the depthwise one behind it and the 1x1 one behind that, a band of rows after the other: what lies
 * between them is many times what goes in and comes out, and would leave the caches before it is read.
 *
 * Lanes share out the bands. For one, a lane makes the rows of the first result that the middle one reads, except those that its
 * last band has left, then the middle one's, then those of the last. So a few rows are made twice where a lane begins, and none
 * waits for another in between. Every number is made as it would be with one layer after the other: bits cannot change.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "ops/build.h"
#include "plan.h"

enum {
    MEMBERS = LKS_CPU_BAND,
    LEAST_ROWS = 8, /* of the last result: below, too much would be made twice */
    LANE_BANDS = 4  /* at least so many for a lane, so that a slow one does not keep the others waiting */
};

struct cpu_band {
    int64_t rows;         /* of the last result in a band */
    int64_t kept;         /* rows of the first result there is room for */
    size_t first, middle; /* where rows of the first and middle one lie in a lane's scratch memory */
    int64_t row[MEMBERS]; /* floats of a row of each result */
    int64_t in_row;       /* and of the first one's input */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static size_t aligned(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

/* ---- planning ---- */

static bool is_conv(const cpu_instr *instr)
{
    return instr->op == &lks__op_conv2d && instr->program == NULL && instr->wide == NULL && instr->mask == 0;
}

static bool is_depthwise(const cpu_instr *instr)
{
    const lks_conv_attrs *a = instr->attrs;

    return is_conv(instr) && a->groups > 1 && a->groups == instr->out_type->shape.dim[2] &&
           instr->in_type[1]->shape.dim[2] == 1;
}

static bool is_pointwise(const cpu_instr *instr)
{
    const lks_conv_attrs *a = instr->attrs;

    if (!is_conv(instr) || a->groups != 1) return false;
    for (int i = 0; i < 2; i++)
        if (a->kernel[i] != 1 || a->stride[i] != 1 || a->before[i] != 0 || a->in[i] != a->out[i]) return false;
    return true;
}

/* Instruction `at` makes what only the next one reads, as its first operand and as it lies. */
static bool feeds_next(const lks_executable *exe, const cpu_list *list, size_t at)
{
    const cpu_instr *instr = &list->instrs[at], *next = &list->instrs[at + 1];
    const lks_conv_attrs *a = instr->attrs, *b = next->attrs;
    const int64_t out = instr->out[0];
    const cpu_value *v = &exe->values[out];

    if (v->where != AT_SLOT || v->root != out || v->last != (int)at + 1) return false;
    for (int k = 1; k < next->n_in; k++)
        if (exe->values[next->in[k]].root == out) return false;
    return exe->values[next->in[0]].root == out && a->out[0] == b->in[0] && a->out[1] == b->in[1] &&
           instr->out_type->shape.dim[2] == next->in_type[0]->shape.dim[2];
}

/* Large enough to leave the second cache, and with enough rows. */
static bool suits(const lks_executable *exe, const cpu_list *list, size_t at)
{
    const cpu_instr *m = &list->instrs[at];

    if (at + MEMBERS > list->n || !is_conv(&m[0]) || !is_depthwise(&m[1]) || !is_pointwise(&m[2])) return false;
    if (m[0].add > 0 || m[1].add > 0 || !feeds_next(exe, list, at) || !feeds_next(exe, list, at + 1)) return false;
    return m[1].out_type->shape.dim[0] >= LEAST_ROWS &&
           lks__type_bytes(m[0].out_type) >= (size_t)lks__cache_bytes(2) / 2;
}

/* Rows of the first result that so many of the others need. */
static int64_t rows_read(const lks_conv_attrs *a, int64_t rows)
{
    return (rows - 1) * a->stride[0] + (a->kernel[0] - 1) * a->dilation[0] + 1;
}

/* As many rows as leave half of the second cache to what comes in and goes out. */
static int64_t choose_rows(const cpu_band *b, const cpu_instr *middle, int lanes)
{
    const lks_conv_attrs *a = middle->attrs;
    const int64_t room = lks__cache_bytes(2) / 2 / (int64_t)sizeof(float);
    const int64_t most = (a->out[0] + LANE_BANDS * lanes - 1) / (LANE_BANDS * lanes);
    int64_t rows = 1;

    while (rows < most && rows_read(a, rows + 1) * b->row[0] + (rows + 1) * b->row[1] <= room) rows++;
    return rows;
}

static lks_status plan_band(lks_executable *exe, cpu_instr *m)
{
    const lks_conv_attrs *in = m[0].attrs;
    cpu_band *b = lks__arena_calloc(&exe->arena, sizeof *b);
    size_t scratch = 0;

    if (b == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a plan");
    for (int i = 0; i < MEMBERS; i++) {
        b->row[i] = m[i].out_type->shape.dim[1] * m[i].out_type->shape.dim[2];
        if (m[i].scratch > scratch) scratch = m[i].scratch;
    }
    b->in_row = in->in[1] * m[0].in_type[0]->shape.dim[2];
    b->rows = choose_rows(b, &m[1], exe->threads);
    b->kept = rows_read(m[1].attrs, 2 * b->rows);
    b->first = aligned(scratch);
    b->middle = b->first + aligned((size_t)(b->kept * b->row[0]) * sizeof(float));
    m[0].scratch = b->middle + aligned((size_t)(b->rows * b->row[1]) * sizeof(float));
    m[0].band = b;
    return LKS_OK;
}

/* What the members read from outside is there until the last one is done. */
static void extend_lives(lks_executable *exe, const cpu_instr *m, int last)
{
    for (int i = 0; i < MEMBERS; i++)
        for (int k = 0; k < m[i].n_in; k++) {
            const int64_t root = exe->values[m[i].in[k]].root;

            if (lks__graph_at(exe->graph, root)->type.batched && exe->values[root].last < last)
                exe->values[root].last = last;
        }
}

lks_status lks__cpu_plan_bands(lks_executable *exe)
{
    for (int p = 0; p < exe->n_phases; p++) {
        cpu_list *list = &exe->phases[p].list;

        for (size_t i = 0; i < list->n; i++) {
            if (!suits(exe, list, i)) continue;
            LKS_TRY(plan_band(exe, &list->instrs[i]));
            extend_lives(exe, &list->instrs[i], (int)i + MEMBERS - 1);
            i += MEMBERS - 1;
        }
    }
    return LKS_OK;
}

/* ---- running ---- */

typedef struct band_work {
    lks_executable *exe;
    const cpu_instr *m;
    cpu_call call[MEMBERS]; /* of all rows; the results between have no memory */
    const void *in[MEMBERS][2];
} band_work;

/* What a lane has of the first result: rows [first, end). */
typedef struct band_rows {
    float *memory;
    int64_t first, end;
} band_rows;

/* Rows [begin, begin + rows) of member i from `x`, which begins with row `from` of its input, to `y`: a convolution with fewer
 * rows and another number of them in front. */
static void run_rows(const band_work *w, int i, int64_t begin, int64_t rows, const float *x, int64_t from, float *y,
                     void *scratch)
{
    const cpu_instr *instr = &w->m[i];
    lks_conv_attrs a = *(const lks_conv_attrs *)instr->attrs;
    lks_op_call call = w->call[i].call;
    lks_after after = w->call[i].after;
    const void *in[2] = { x, w->in[i][1] };

    a.out[0] = rows;
    a.in[0] -= from;
    a.before[0] += from - begin * a.stride[0];
    call.attrs = &a;
    call.in = in;
    call.out = y;
    call.scratch = scratch;
    if (after.add != NULL) after.add += begin * w->m->band->row[i];
    if (instr->after) call.after = &after;
    if (instr->parts != NULL) instr->parts->run(&call, &(lks_part){ instr->packed, 0, 1 });
    else instr->run(&call);
}

/* Makes rows up to `end` of the first result, of which those from `begin` on are wanted. */
static void run_first(const band_work *w, band_rows *r, int64_t begin, int64_t end, void *scratch)
{
    const cpu_band *b = w->m->band;
    const int64_t from = is_pointwise(w->m) ? 1 : 0; /* such kernels read what lies at the first row */

    if (begin >= r->end || begin < r->first) r->first = r->end = begin; /* nothing of use is there */
    if (end - r->first > b->kept) {
        memmove(r->memory, r->memory + (begin - r->first) * b->row[0],
                (size_t)((r->end - begin) * b->row[0]) * sizeof *r->memory);
        r->first = begin;
    }
    if (end <= r->end) return;
    run_rows(w, 0, r->end, end - r->end, (const float *)w->in[0][0] + from * r->end * b->in_row, from * r->end,
             r->memory + (r->end - r->first) * b->row[0], scratch);
    r->end = end;
}

static void run_bands(void *user, int task)
{
    const band_work *w = user;
    const cpu_band *b = w->m->band;
    const lks_conv_attrs *a = w->m[1].attrs;
    char *scratch = w->exe->lanes[task].scratch;
    band_rows r = { (float *)(scratch + b->first), 0, 0 };
    float *middle = (float *)(scratch + b->middle), *y = w->call[2].call.out;

    for (int64_t unit; (unit = lks__cpu_take_unit(w->exe, task)) >= 0;) {
        const int64_t at = unit * b->rows, rows = least(b->rows, a->out[0] - at);
        const int64_t in = at * a->stride[0] - a->before[0];

        run_first(w, &r, in > 0 ? in : 0, least(in + rows_read(a, rows), a->in[0]), scratch);
        run_rows(w, 1, at, rows, r.memory, r.first, middle, scratch);
        run_rows(w, 2, at, rows, middle, at, y + at * b->row[2], scratch);
    }
}

/* One example of which all members' weights are known. */
bool lks__cpu_can_band(const lks_executable *exe, const cpu_instr *instr, int64_t n)
{
    if (instr->band == NULL || n != 1 || !exe->alone || exe->tracing) return false;
    for (int i = 0; i < MEMBERS; i++)
        if (instr[i].packs && instr[i].packed == NULL) return false;
    return true;
}

void lks__cpu_run_band(lks_executable *exe, cpu_lane *lane, const cpu_instr *instr, int64_t first, int64_t n)
{
    band_work w = { .exe = exe, .m = instr };
    const lks_shape *out;

    for (int i = 0; i < MEMBERS; i++) {
        lks__cpu_fill_call(exe, lane, &instr[i], first, n, &w.call[i]);
        memcpy(w.in[i], lane->in, sizeof w.in[i]);
    }
    out = &instr[1].out_type->shape;
    lks__cpu_deal_units(exe, (out->dim[0] + instr->band->rows - 1) / instr->band->rows);
    lks__pool_run(exe->threads, exe->n_lanes, run_bands, &w);
}
