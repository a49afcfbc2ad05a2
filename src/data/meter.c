/* meter.c - timing of nested requests: what a stage's inputs take on the same thread, and what it waits, is subtracted from its own
 * time. Processor time is read for every eighth outermost request only, since asking for it costs more. */
#include "meter.h"

#include <time.h>

enum { SAMPLE = 8 };

static _Thread_local struct {
    int depth;
    unsigned turn;
    bool sampled;
    int64_t inner_wall, inner_cpu; /* of what the present request asked for */
} here;

static int64_t read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t lks__wall_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t lks__cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static void add(atomic_int_fast64_t *to, int64_t value)
{
    atomic_fetch_add_explicit(to, value, memory_order_relaxed);
}

lks_meter *lks__meter_of(lks_meters *m, lks_dataset *ds, bool inner)
{
    lks_meter *found = NULL;

    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n && found == NULL; i++) {
        lks_meter *one = &m->meter[i];
        if (one->dataset == ds ||
            (inner && one->inner && one->dataset->stage == ds->stage && one->dataset->number == ds->number))
            found = one;
    }
    if (found == NULL && m->n < LKS_MAX_METERS) {
        found = &m->meter[m->n++];
        found->dataset = lks_dataset_retain(ds);
        found->inner = inner;
        found->segment = -1;
    }
    pthread_mutex_unlock(&m->lock);
    return found;
}

void lks__meter_waited(lks_meter *m, int64_t ns)
{
    if (m == NULL) return;
    add(&m->wait_ns, ns);
    here.inner_wall += ns;
}

typedef struct request {
    int64_t outer_wall, outer_cpu, wall, cpu;
} request;

static request enter(void)
{
    request r = { here.inner_wall, here.inner_cpu, 0, 0 };

    if (here.depth++ == 0) here.sampled = here.turn++ % SAMPLE == 0;
    here.inner_wall = here.inner_cpu = 0;
    if (here.sampled) r.cpu = lks__cpu_ns();
    r.wall = lks__wall_ns();
    return r;
}

static void raise_to(atomic_int_fast64_t *most, int64_t value)
{
    int_fast64_t seen = atomic_load_explicit(most, memory_order_relaxed);

    while (value > seen &&
           !atomic_compare_exchange_weak_explicit(most, &seen, value, memory_order_relaxed, memory_order_relaxed)) {}
}

static void leave(lks_meter *m, request r, int64_t elements)
{
    r.wall = lks__wall_ns() - r.wall;
    add(&m->wall_ns, r.wall - here.inner_wall);
    raise_to(&m->longest_ns, r.wall - here.inner_wall);
    if (here.sampled) {
        r.cpu = lks__cpu_ns() - r.cpu;
        add(&m->sample_cpu_ns, r.cpu - here.inner_cpu);
        add(&m->sample_wall_ns, r.wall - here.inner_wall);
    }
    here.inner_wall = r.outer_wall + r.wall;
    here.inner_cpu = r.outer_cpu + r.cpu;
    here.depth--;
    if (elements > 0) add(&m->elements, elements);
}

lks_status lks__metered_next(lks_cursor *n, lks_element **out)
{
    request r = enter();
    lks_status status = n->stage->next(n, out);

    leave(n->meter, r, status == LKS_OK);
    return status;
}

lks_status lks__metered_rows(lks_cursor *n, int64_t *rows, int64_t want, int64_t *got)
{
    request r = enter();
    lks_status status = n->stage->next_rows(n, rows, want, got);

    leave(n->meter, r, *got);
    return status;
}
