/* stage.h - internal. What a dataset and a cursor (its running form) are; what a stage file provides.
 *
 * A stage is one file under stages/ or sources/: two structs that begin with lks_dataset and lks_cursor, a static table of
 * functions, a public builder. The builder calls lks__dataset_begin, returns at once if that is not ok, fills its fields and
 * the spec and cardinality; on a refusal it returns lks__dataset_fail.
 */
#ifndef LKS_DATA_STAGE_H
#define LKS_DATA_STAGE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "element.h"
#include "lockstep/dataset.h"

typedef struct lks_cursor lks_cursor;
typedef struct lks_recipe lks_recipe;
typedef struct lks_counters lks_counters;
typedef struct lks_meters lks_meters;

typedef struct lks_stage {
    const char *name; /* as tf.data calls it */
    size_t dataset_size, cursor_size;

    lks_status (*open)(lks_cursor *n);                    /* NULL: opens the inputs, as lks__cursor_open_inputs */
    lks_status (*next)(lks_cursor *n, lks_element **out); /* LKS_END may come again and again */
    lks_status (*skip)(lks_cursor *n, int64_t count, int64_t *done); /* NULL: next and drop; like next `count` times */
    lks_status (*pass)(lks_cursor *n); /* NULL: next and drop. Over one element, whose failure it returns; LKS_END */
    void (*close)(lks_cursor *n);      /* NULL: nothing of its own; also after a failed open */
    void (*destroy)(lks_dataset *ds);  /* NULL: no fields to free; also after a failed builder */
    void (*describe)(const lks_dataset *ds, lks_recipe *r); /* parameters that decide what the elements are */
    void (*counters)(lks_dataset *ds, lks_counters *c);     /* state that all passes over the dataset object share */
    const char *(*unsavable)(const lks_dataset *ds);        /* NULL, or the reason why a pass can't be saved */
    /* Any element of a source by its number; the pass itself does not move. NULL: the source can't. */
    lks_status (*at)(lks_cursor *n, int64_t index, lks_element **out);
    /* How many neighbours such a call unpacks, which others of them then need not. NULL: one. */
    int64_t (*together)(const lks_dataset *ds);
    /* For stages that only order and pick: up to `want` of the next elements as row numbers of the from_tensor_slices below; fewer
     * only at the end. A cursor is asked for elements or for rows, never both. NULL: the stage can't. */
    lks_status (*next_rows)(lks_cursor *n, int64_t *rows, int64_t want, int64_t *got);
    bool is_files; /* the dataset struct begins with lks_file_list: its files can be dealt out to workers */
} lks_stage;

struct lks_dataset {
    atomic_int references;
    const lks_stage *stage;
    lks_spec *spec;
    int64_t cardinality;
    lks_error *error; /* not NULL: failed; nothing else is valid then but the inputs */
    int number;       /* place in the pipeline: sources are 1 */
    size_t n_inputs;
    lks_dataset **input;
    lks_dataset *original;          /* not NULL: a clone (clone.h), whose fields belong to this one, but for `extra` */
    void *extra;                    /* freed with the dataset */
    atomic_bool warned;             /* traps.c has looked at it */
    _Atomic(lks_buffers *) resting; /* NULL, or the pool of the last pass (lks__buffers_rest) */
};

/* Steals the inputs. NULL (no memory, or a NULL input), the first input that had failed, or a new dataset of
 * stage->dataset_size zeroed bytes; with one input, spec and cardinality are copied from it. */
lks_dataset *lks__dataset_begin(const lks_stage *stage, size_t n, lks_dataset *const *inputs);
lks_dataset *lks__dataset_begin1(const lks_stage *stage, lks_dataset *input);
/* The builder goes on only if ok (and `ds` is of its own stage). */
bool lks__dataset_ok(const lks_dataset *ds);
/* Makes ds failed with this thread's last error, the stage's name in front. */
lks_dataset *lks__dataset_fail(lks_dataset *ds, lks_status code);
/* Gives ds this spec (steals it; the old one goes); fails it if spec is NULL. */
lks_dataset *lks__dataset_spec_is(lks_dataset *ds, lks_spec *spec);

/* Copies an options struct: fields beyond the caller's struct_size stay zero. NULL = all defaults. */
void lks__options(void *out, size_t size, const void *options);
/* LKS_ZERO_INT is 0, 0 is the default. */
int64_t lks__option_int(int64_t value, int64_t default_value);
/* LKS_E_ARG unless an option like num_parallel_calls is 0 (not given), LKS_AUTOTUNE or at least 1. */
lks_status lks__option_parallel(const char *name, int64_t value);
/* As tf.data's seed pairs (spec 2.18); a global seed of 0 is "unset". */
void lks__seeds(int64_t seed, int64_t global_seed, int64_t default_seed, uint64_t pair[2]);

/* ---- cursors: one stage of one running iterator ---- */

/* Cancellation is per subtree: every stage with a thread opens a scope below its parent's. */
typedef struct lks_cancel_scope {
    const struct lks_cancel_scope *parent;
    atomic_int cancelled;
} lks_cancel_scope;
bool lks__cancelled(const lks_cancel_scope *scope);

typedef struct lks_cursor_place {
    const lks_cancel_scope *scope;
    uint64_t lineage;                 /* which inner dataset of which element: enters the keys of random functions */
    _Atomic(const char *) *unsavable; /* the iterator's: set where an inner dataset can't be replayed */
    const lks_dataset *bypass;        /* a map that a batch above applies itself: its input is opened in its place */
    bool has_thread;                  /* a stage above has a thread of its own, which pulls here: nobody sees it wait */
    struct lks_placer *placer;        /* of a batch right above, for a map */
    lks_meters *meters;               /* NULL, or who measures this iterator */
    int64_t held;                     /* elements that the stages above and the consumer may hold at the same time */
} lks_cursor_place;
/* The place of a stage's inputs where it keeps `n` elements of theirs, or, if all is true, none of what it was given
 * goes on above it. */
lks_cursor_place lks__place_below(lks_cursor_place place, int64_t n, bool all);

struct lks_cursor {
    const lks_stage *stage;
    lks_dataset *dataset; /* one reference */
    lks_cursor_place place;
    struct lks_meter *meter; /* NULL, or what this stage's work is counted in */
    lks_buffers *buffers;    /* for the elements that this stage makes itself */
    lks_cursor **input;      /* opened by lks__cursor_open_inputs, one for each of the dataset's */
};

lks_status lks__cursor_open(lks_dataset *ds, lks_cursor_place place, lks_cursor **out);
lks_status lks__cursor_open_inputs(lks_cursor *n);
lks_status lks__cursor_open_inputs_at(lks_cursor *n, lks_cursor_place place);
/* Closes input i, if open. */
void lks__cursor_close_input(lks_cursor *n, size_t i);
lks_status lks__cursor_next(lks_cursor *n, lks_element **out);
/* Passes over up to `count` results of next (failures count); fewer only at the end. */
lks_status lks__cursor_skip(lks_cursor *n, int64_t count, int64_t *done);
/* Passes over one element like next, without making it where the stage can. */
lks_status lks__cursor_pass(lks_cursor *n);
/* The skip of a stage of known cardinality whose place is a number: *next moves on, at most to the end. */
lks_status lks__cursor_skip_to(const lks_cursor *n, int64_t *next, int64_t count, int64_t *done);
lks_status lks__cursor_next_rows(lks_cursor *n, int64_t *rows, int64_t want, int64_t *got);
void lks__cursor_close(lks_cursor *n); /* NULL is fine */
/* The buffers for elements of the dataset's spec, made at the first call. */
lks_buffers *lks__cursor_buffers(lks_cursor *n);
lks_element *lks__cursor_element(lks_cursor *n); /* a new element of them; NULL on failure */
/* lks__fail with "batch (stage 4): " in front. */
lks_status lks__cursor_fail(const lks_cursor *n, lks_status code, const char *fmt, ...) LKS_PRINTF(3, 4);

/* Steals ds, which is read up to `size` (at least 1) elements ahead on the pool for files, fewer where memory is short. */
lks_dataset *lks__read_ahead(lks_dataset *dataset, size_t size);
/* Steals ds, which must have `count` elements; a pass says so of the file `shard`. */
lks_dataset *lks__assert_records(lks_dataset *dataset, int64_t count, const char *shard);
/* The user's number of elements or LKS_AUTOTUNE, of a prefetch. */
int64_t lks__prefetch_size(const lks_dataset *ds);
/* The buffer of a shuffle; INT64_MAX = everything. */
int64_t lks__shuffle_buffer(const lks_dataset *ds);
/* Warnings about well-known traps, once a dataset object; all: also those that are only worth a look. */
void lks__warn_traps(lks_dataset *ds, bool all);
/* A shuffle whose order is another one in every pass. */
bool lks__shuffle_is_new_each_pass(const lks_dataset *ds);

/* ---- recipes and counters, for saved state ---- */
void lks__recipe_int(lks_recipe *r, int64_t value);
void lks__recipe_text(lks_recipe *r, const char *text);
void lks__recipe_bytes(lks_recipe *r, const void *data, size_t size);
void lks__recipe_tensor(lks_recipe *r, const lks_tensor *t); /* dtype, shape, values (a sample of many); or NULL */
/* The fingerprint of anything that describes itself. */
uint64_t lks__recipe_of(void (*describe)(const void *what, lks_recipe *r), const void *what);
uint64_t lks__recipe_fingerprint(const lks_dataset *ds);
/* Writes the value to the state, or reads it back from there. */
void lks__counter(lks_counters *c, int64_t *value);
void lks__counter_u64(lks_counters *c, uint64_t *value);
void lks__counter_atomic(lks_counters *c, _Atomic int64_t *value);

#endif
