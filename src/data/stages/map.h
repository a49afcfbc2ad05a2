/* map.h - internal to the map stage. map.c is the stage and the serial way, map_window.c the parallel one, map_batch.c its blocks that are
 * batches, map_join.c joins consecutive maps, map_pace.c decides who runs a cheap function. */
#ifndef LKS_DATA_STAGES_MAP_H
#define LKS_DATA_STAGES_MAP_H

#include <pthread.h>

#include "data/function.h"
#include "data/tuner.h"
#include "map_pace.h"

typedef struct lks_map_dataset {
    lks_dataset base;
    lks_data_fn f;
    int64_t parallel; /* 0 = none, LKS_AUTOTUNE, or elements at once */
    bool deterministic;
    _Atomic int64_t passes;
    lks_pace_learned pace;
    _Atomic int block, window; /* elements of a block, blocks of the window, as passes found them best */
} lks_map_dataset;

typedef struct lks_map_block lks_map_block;

typedef struct lks_map_cursor {
    lks_cursor base;
    int64_t epoch, index;
    lks_joined_fn joined[LKS_MOST_JOINED]; /* this map's function last, in front those that run as one with it */
    int n_joined;
    /* parallel only */
    pthread_mutex_t lock;
    pthread_cond_t finished;
    bool has_lock, input_ended;
    unsigned forks;
    lks_map_block **ring;    /* made one by one, room for `room` */
    lks_map_block *awaited;  /* under the lock: whose end the consumer sleeps for */
    lks_window window;       /* size 0: serial */
    _Atomic int64_t read_ns; /* what a file takes, smoothed; 0: not known */
    int64_t file;            /* the component that names a file to be read before the function runs; -1: none */
    int room, head, count, block_size, block_batches;
    _Atomic int64_t expected;     /* bytes of an output */
    struct lks_features *rows_of; /* not NULL: records that are parsed into rows of a batch */
    int64_t ahead;                /* elements that the window holds when it is full */
    int64_t cost;                 /* nanoseconds of the function for an element of late; 0: not known */
    lks_pace pace;
} lks_map_cursor;

static inline const lks_map_dataset *lks__map_recipe(const lks_map_cursor *m)
{
    return (const lks_map_dataset *)m->base.dataset;
}

/* One call; lets `in` go. */
lks_status lks__map_apply(lks_map_cursor *m, lks_call_place place, lks_element *in, lks_element **out);
/* Of the next result; the pulling thread asks. `row`: in a batch above, if that gives places. */
lks_call_place lks__map_place(lks_map_cursor *m, int64_t index, bool row);

/* ---- map_window.c ---- */
lks_status lks__map_open_window(lks_map_cursor *m);
lks_status lks__map_next_parallel(lks_map_cursor *m, lks_element **out);
void lks__map_close_window(lks_map_cursor *m);

/* ---- map_join.c ---- */
/* Opens the input, or what lies below consecutive maps that run as one with this. */
lks_status lks__map_open_below(lks_map_cursor *m, lks_cursor_place place);

#endif
