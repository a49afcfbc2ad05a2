/* function.h - internal. A stage's copy of a user's function, and calling it. */
#ifndef LKS_DATA_FUNCTION_H
#define LKS_DATA_FUNCTION_H

#include "stage.h"

typedef struct lks_data_fn {
    lks_map_fn fn;  /* name is our copy */
    char stage[32]; /* "map_3": enters the random streams */
    char label[40]; /* "map (stage 3)": stands in sentences */
    int64_t depth;
    uint64_t key;
} lks_data_fn;

/* The datasets of map, flat_map and interleave begin so. */
typedef struct lks_fn_dataset {
    lks_dataset base;
    lks_data_fn f;
} lks_fn_dataset;

/* Fills *f from the caller's struct. On failure fn->release has been called already. */
lks_status lks__data_fn_init(lks_data_fn *f, const lks_dataset *stage, const lks_map_fn *fn);
/* For a builder that gives up before init: releases the function, returns ds. */
lks_dataset *lks__data_fn_unused(lks_dataset *ds, const lks_map_fn *fn);
void lks__data_fn_destroy(lks_data_fn *f); /* a zeroed one is fine */

/* What a function of the user returned (not LKS_OK) as a status that there is, with a sentence where it left none; `before`: the
 * error's serial number before the call. */
lks_status lks__returned_status(lks_status status, unsigned before);

/* The output spec for these inputs, one reference; NULL on refusal. */
lks_spec *lks__data_fn_spec(const lks_data_fn *f, const lks_spec *in);
/* LKS_E_SHAPE unless the outputs for `in` are one scalar of dtype ("must return a bool scalar, returns ..."). */
lks_status lks__data_fn_yields(const lks_data_fn *f, const lks_spec *in, lks_dtype dtype);
/* The element spec of the one nested dataset that the outputs for `in` must be; NULL with an error otherwise. */
lks_spec *lks__data_fn_dataset(const lks_data_fn *f, const lks_spec *in);

/* Which call: pass and element number; where the result is to stand (steals a reference to `batch`, which may be NULL). Takes an element of `buffers` and fills it. */
typedef struct lks_call_place {
    int64_t epoch, index;
    uint64_t lineage;
    lks_element *batch;
    int64_t row;
    const lks_bytes *read; /* NULL, or what a function that begins with read_file would read */
    lks_element *shell;    /* NULL, or an empty element of the buffers that serves again; stolen */
} lks_call_place;
lks_status lks__data_fn_apply(const lks_data_fn *f, lks_call_place place, lks_element *in, lks_buffers *buffers,
                              lks_element **out);

/* The functions of consecutive maps, lowest first, as one: what the elements are, and what a failure says, is as if each map had run its
 * own. `epoch` and `spec` (behind each) go with them; place.epoch is not looked at. */
enum { LKS_MOST_JOINED = 8 };
typedef struct lks_joined_fn {
    const lks_data_fn *f;
    const lks_spec *spec;
    int64_t epoch;
} lks_joined_fn;
lks_status lks__data_fn_apply_joined(const lks_joined_fn *fn, size_t n, lks_call_place place, lks_element *in,
                                     lks_buffers *buffers, lks_element **out);

/* Calls a function whose output is one nested dataset (borrows in) and opens a cursor over it, read `ahead` elements ahead by
 * a thread if that is not 0. `made` are buffers for the function's output. */
lks_status lks__data_fn_open(const lks_data_fn *f, lks_cursor_place parent, int64_t index, lks_element *in,
                             lks_buffers *made, int64_t ahead, lks_cursor **out);

/* Parameters for the fingerprint. */
void lks__data_fn_describe(const lks_data_fn *f, lks_recipe *r);
/* The reason why a pass can't be saved, or NULL. */
const char *lks__data_fn_unsavable(const lks_data_fn *f);

#endif
