/* split.c - more threads than examples: one instruction at a time, each made by all threads, by rows of an image or ranges of
 * elements. Every element is made as it would be by one thread, so bits cannot change.
 *
 * Worth it from some microseconds of work on; below, the caller goes on alone.
 */
#include <string.h>

#include "base/pool.h"
#include "ops/build.h"
#include "plan.h"
#include "program.h"

/* Operations below which waking and joining the others costs more than it brings. */
enum { LEAST_FLOP = 200000, LEAST_ELEMENTS = 100000, LEAST_PART = 100000 };

typedef struct part_work {
    lks_executable *exe;
    const cpu_instr *instr;
    const lks_op_call *call; /* a convolution */
    cpu_lane *lane;          /* whose pointers all use */
    int64_t elements;
    int64_t units;
} part_work;

static bool is_image_rows(const cpu_instr *instr)
{
    const lks_conv_attrs *a = instr->attrs;

    return instr->op == &lks__op_conv2d && instr->flop >= LEAST_FLOP && a->out[0] >= 2 && instr->mask == 0;
}

/* The kernel itself knows how to share its work out. */
static bool can_part(const cpu_instr *instr)
{
    if (instr->parts == NULL || instr->parts->each_step || instr->flop < LEAST_PART) return false;
    return instr->packed != NULL || !instr->packs;
}

static void run_part(void *user, int task)
{
    const part_work *w = user;
    lks_part part = { w->instr->packed, 0, (int)w->units };
    lks_op_call call = *w->call;

    call.scratch = w->exe->lanes[task].scratch;
    while ((part.part = lks__cpu_take_unit(w->exe, task)) >= 0) w->instr->parts->run(&call, &part);
}

bool lks__cpu_can_split(const lks_executable *exe, const cpu_instr *instr, int64_t n)
{
    if (!exe->alone || exe->n_lanes < 2 || exe->tracing || n != 1) return false;
    if (instr->program != NULL) return lks__type_size(instr->out_type) >= LEAST_ELEMENTS && instr->program->n_sums == 0;
    return can_part(instr) || is_image_rows(instr);
}

/* Rows [begin, end) of the output are a convolution with so many fewer rows of padding in front. */
static void run_rows(void *user, int task)
{
    const part_work *w = user;
    const lks_conv_attrs *whole = w->instr->attrs;
    const int64_t begin = whole->out[0] * task / w->exe->n_lanes, end = whole->out[0] * (task + 1) / w->exe->n_lanes;
    lks_conv_attrs a = *whole;
    lks_op_call call = *w->call;
    lks_after after;

    if (begin == end) return;
    a.out[0] = end - begin;
    a.before[0] -= begin * whole->stride[0];
    call.attrs = &a;
    call.out = (float *)call.out + begin * whole->out[1] * w->instr->out_type->shape.dim[2];
    call.scratch = w->exe->lanes[task].scratch;
    if (call.after != NULL && call.after->add != NULL) {
        after = *call.after;
        after.add += (float *)call.out - (float *)w->call->out;
        call.after = &after;
    }
    w->instr->run(&call);
}

static void run_elements(void *user, int task)
{
    const part_work *w = user;
    const int64_t blocks = (w->elements + LKS_EW_BLOCK - 1) / LKS_EW_BLOCK;
    const int64_t begin = blocks * task / w->exe->n_lanes * LKS_EW_BLOCK,
                  end = blocks * (task + 1) / w->exe->n_lanes * LKS_EW_BLOCK;

    lks__ew_program_run(w->instr->program, w->exe->kernels, w->lane->in, w->lane->out, begin,
                        end < w->elements ? end : w->elements, w->exe->lanes[task].scratch);
}

/* Where positions are few, a kernel shares out its channels in parts of a cache line or more. */
static int64_t most_units(const cpu_instr *instr)
{
    const lks_shape *s = &instr->out_type->shape;

    return s->dim[0] * s->dim[1] >= 200 ? INT64_MAX : s->dim[2] / 16;
}

void lks__cpu_run_parts(lks_executable *exe, cpu_lane *lane, const cpu_instr *instr, const lks_op_call *call, int64_t n)
{
    part_work w = { exe, instr, call, lane, n * lks__type_size(instr->out_type), 0 };

    if (instr->program == NULL && can_part(instr)) {
        w.units = lks__cpu_units(exe, instr->flop, most_units(instr));
        lks__cpu_deal_units(exe, w.units);
    }
    lks__pool_run(exe->threads, exe->n_lanes,
                  instr->program != NULL ? run_elements
                  : can_part(instr)      ? run_part
                                         : run_rows,
                  &w);
}
