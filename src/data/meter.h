/* meter.h - internal. What diagnosis counts and times, stage by stage. A cursor without a meter pays one comparison. */
#ifndef LKS_DATA_METER_H
#define LKS_DATA_METER_H

#include <pthread.h>
#include <stdatomic.h>

#include "stage.h"

typedef struct lks_meter {
    lks_dataset *dataset; /* one reference: names stay */
    bool inner;
    int segment; /* which thread pulls here: 0 the consumer's, then one below each prefetch */
    atomic_int_fast64_t elements;
    atomic_int_fast64_t wall_ns;                       /* inside next, inputs' left out */
    atomic_int_fast64_t longest_ns;                    /* of wall_ns, the longest call's */
    atomic_int_fast64_t sample_cpu_ns, sample_wall_ns; /* the same for some calls */
    atomic_int_fast64_t work_cpu_ns;                   /* of pieces on the work pool */
    atomic_int_fast64_t wait_ns, full_ns;
    atomic_int_fast64_t window, bytes;
} lks_meter;

enum { LKS_MAX_METERS = 64 };

struct lks_meters {
    pthread_mutex_t lock;
    size_t n;
    lks_meter meter[LKS_MAX_METERS];
};

/* The meter of a stage, made at the first call; NULL where there are too many. Inner datasets are told apart by stage and number. */
lks_meter *lks__meter_of(lks_meters *m, lks_dataset *ds, bool inner);
lks_status lks__metered_next(lks_cursor *n, lks_element **out);
lks_status lks__metered_rows(lks_cursor *n, int64_t *rows, int64_t want, int64_t *got);

int64_t lks__wall_ns(void);
int64_t lks__cpu_ns(void); /* of this thread */
/* The present thread waited: not counted as its stage's own time. NULL meters are fine. */
void lks__meter_waited(lks_meter *m, int64_t ns);
static inline void lks__meter_full(lks_meter *m, int64_t ns)
{
    if (m != NULL) atomic_fetch_add_explicit(&m->full_ns, ns, memory_order_relaxed);
}
static inline void lks__meter_work(lks_meter *m, int64_t cpu_ns)
{
    if (m != NULL) atomic_fetch_add_explicit(&m->work_cpu_ns, cpu_ns, memory_order_relaxed);
}
static inline void lks__meter_window(lks_meter *m, int64_t window, int64_t bytes)
{
    if (m == NULL) return;
    atomic_store_explicit(&m->window, window, memory_order_relaxed);
    atomic_store_explicit(&m->bytes, bytes, memory_order_relaxed);
}

#endif
