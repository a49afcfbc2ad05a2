/* profile.c - the time of each instruction of a step. Every lane keeps seconds of its own, written between two reads of the
 * clock; a row is their mean over the lanes, so that the rows and the rests add up to the step's wall time.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "plan.h"

typedef struct profile {
    lks_executable *exe;
    size_t stride; /* seconds of one lane, padded: lanes share no cache line */
    double *
        seconds; /* lane-major: of every list one an instruction and one for gathering rows, in the order of the step */
    double join, rest; /* waiting for other lanes and joining shards; checks and copies */
    int steps;
} profile;

static size_t list_size(const cpu_list *list)
{
    return list->n + 1;
}

/* Calls `visit` for every list of the step in order; batched: it is a phase's. */
static void for_lists(const lks_executable *exe,
                      void (*visit)(void *user, const cpu_list *list, bool batched, size_t at), void *user)
{
    size_t at = 0;

    for (int s = 0; s <= exe->n_phases + 1; s++) {
        visit(user, &exe->stages[s], false, at);
        at += list_size(&exe->stages[s]);
        if (s >= exe->n_phases) continue;
        visit(user, &exe->phases[s].list, true, at);
        at += list_size(&exe->phases[s].list);
    }
}

static void add_size(void *user, const cpu_list *list, bool batched, size_t at)
{
    (void)batched, (void)at;
    *(size_t *)user += list_size(list);
}

static void aim(profile *p, size_t at)
{
    for (int l = 0; l < p->exe->n_lanes; l++) p->exe->lanes[l].seconds = p->seconds + (size_t)l * p->stride + at;
}

/* Shared work runs on lane 0 (large elementwise work on all, within lane 0's time), batched work on all lanes. */
static double seconds_of(const profile *p, bool batched, size_t at)
{
    double sum = 0;

    if (!batched || p->exe->alone) return p->seconds[at]; /* one example: the first lane has it, the others help */
    for (int l = 0; l < p->exe->n_lanes; l++) sum += p->seconds[(size_t)l * p->stride + at];
    return sum / p->exe->n_lanes;
}

static double list_seconds(const profile *p, const cpu_list *list, bool batched, size_t at)
{
    double sum = 0;

    for (size_t i = 0; i < list_size(list); i++) sum += seconds_of(p, batched, at + i);
    return sum;
}

static lks_status run_step(profile *p, bool dry)
{
    lks_executable *exe = p->exe;
    size_t at = 0;
    lks_status status;
    double start, before;

    for (int s = 0; s <= exe->n_phases; s++) {
        aim(p, at);
        lks__cpu_run_stage(exe, s);
        at += list_size(&exe->stages[s]);
        if (s == exe->n_phases) break;
        aim(p, at);
        before = list_seconds(p, &exe->phases[s].list, true, at);
        start = lks__now();
        lks__cpu_run_phase(exe, s);
        p->join += lks__now() - start - (list_seconds(p, &exe->phases[s].list, true, at) - before);
        at += list_size(&exe->phases[s].list);
    }
    aim(p, at);
    before = list_seconds(p, &exe->stages[exe->n_phases + 1], false, at);
    start = lks__now();
    status = lks__cpu_end_step(exe, dry);
    p->rest += lks__now() - start - (list_seconds(p, &exe->stages[exe->n_phases + 1], false, at) - before);
    p->steps++;
    return status;
}

/* ---- rows ---- */

typedef struct rows {
    const profile *p;
    double batch;
    lks_profile_row *list;
    size_t n;
} rows;

static bool far_from_slice(const lks_executable *exe, int64_t node)
{
    return exe->values[exe->values[node].root].where != AT_SLOT;
}

static void count_bytes(const lks_executable *exe, const cpu_instr *instr, double batch, lks_profile_row *out)
{
    for (int k = 0; k < instr->n_in + instr->n_out; k++) {
        int64_t id = k < instr->n_in ? instr->in[k] : instr->out[k - instr->n_in];
        const lks_type *t = &lks__graph_at(exe->graph, id)->type;
        double bytes = (double)lks__type_bytes(t) * (t->batched ? batch : 1.0);
        out->bytes += bytes;
        if (far_from_slice(exe, id)) out->memory_bytes += bytes;
    }
}

static void add_row(rows *r, const char *name, const char *scope, double seconds)
{
    lks_profile_row *row = &r->list[r->n++];

    snprintf(row->op, sizeof row->op, "%s", name);
    snprintf(row->scope, sizeof row->scope, "%s", scope);
    row->seconds = seconds / r->p->steps;
}

static void add_list(void *user, const cpu_list *list, bool batched, size_t at)
{
    rows *r = user;

    for (size_t i = 0; i < list->n; i++) {
        const cpu_instr *instr = &list->instrs[i];
        double n = batched ? r->batch : 1.0;
        lks_profile_row *row = &r->list[r->n];
        add_row(r, instr->name, instr->scope, seconds_of(r->p, batched, at + i));
        row->batched = batched;
        row->flop = instr->flop * n;
        count_bytes(r->p->exe, instr, n, row);
        if (!batched || !lks__cpu_can_band(r->p->exe, instr, (int64_t)r->batch)) continue;
        snprintf(row->op, sizeof row->op, "%d %s in bands", LKS_CPU_BAND, instr->op->name);
        for (size_t end = i + LKS_CPU_BAND; i + 1 < end; i++) { /* their time is the first one's */
            row->flop += list->instrs[i + 1].flop * n;
            count_bytes(r->p->exe, &list->instrs[i + 1], n, row);
        }
    }
    if (batched) add_row(r, "gather rows", "", seconds_of(r->p, true, at + list->n));
}

static lks_status make_rows(profile *p, const lks_run_args *args, lks_profile_row **out, size_t *n_out)
{
    rows r = { .p = p, .batch = (double)args->n };

    r.list = lks__calloc(p->stride + 2, sizeof *r.list);
    if (r.list == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a profile");
    for_lists(p->exe, add_list, &r);
    add_row(&r, "join shards, wait", "", p->join);
    add_row(&r, "check, assign", "", p->rest);
    *out = r.list;
    *n_out = r.n;
    return LKS_OK;
}

lks_status lks__executable_profile(lks_executable *exe, const lks_run_args *args, int repeats, lks_profile_row **out,
                                   size_t *n_rows)
{
    profile p = { .exe = exe };
    lks_status status = LKS_OK;
    lks_fenv host;

    LKS_TRY(lks__executable_run(exe, args)); /* checks the arguments, warms up */
    for_lists(exe, add_size, &p.stride);
    p.stride = (p.stride + 15) & ~(size_t)7;
    p.seconds = lks__calloc(p.stride * (size_t)exe->n_lanes, sizeof *p.seconds);
    if (p.seconds == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a profile");
    lks__fenv_enter(&host);
    for (int r = 0; r < repeats && status == LKS_OK; r++) status = run_step(&p, args->dry);
    lks__fenv_leave(&host);
    for (int l = 0; l < exe->n_lanes; l++) exe->lanes[l].seconds = NULL;
    if (status == LKS_OK) status = make_rows(&p, args, out, n_rows);
    lks__free(p.seconds);
    return status;
}
