/* feed.h - internal. Where batches come from: arrays gathered by row number, or a dataset's elements. */
#ifndef LKS_MODEL_FEED_H
#define LKS_MODEL_FEED_H

#include "base/text.h"
#include "model.h"

enum { LKS_MAX_FEEDS = 3 * LKS_MAX_IO };

/* What is done to fed values inside the function (lks_arrays). */
typedef struct lks_preparation {
    double x_divisor, y_divisor;
    int64_t y_one_hot;
} lks_preparation;

/* One batch: inputs, then targets, then sample weights. */
typedef struct lks_batch {
    int64_t n; /* examples */
    size_t n_x, n_y, n_w;
    lks_feed feeds[LKS_MAX_FEEDS];
    lks_type types[LKS_MAX_FEEDS]; /* of rows */
    lks_preparation preparation;
} lks_batch;

typedef struct lks_feeder lks_feeder;
struct lks_feeder {
    /* The next batch; LKS_END. Its memory is good until the next call. */
    lks_status (*next)(lks_feeder *f, lks_batch *out);
    /* Starts a new pass; `epoch` keys the order of shuffled arrays. */
    lks_status (*restart)(lks_feeder *f, int64_t epoch);
    void (*release)(lks_feeder *f);
    /* What a later process needs to go on from here; without `position`, only what passes share. */
    lks_status (*save)(lks_feeder *f, bool position, lks_text *out);
    lks_status (*resume)(lks_feeder *f, bool position, const char *bytes, size_t n, int64_t pass);
    int64_t batches; /* of a pass; LKS_INFINITE_CARDINALITY, LKS_UNKNOWN_CARDINALITY */
    double wait_s;   /* time spent in next */
};

typedef struct lks_array_feed_options {
    int64_t batch_size;
    int64_t begin, end; /* rows; end -1 = all */
    bool shuffle;
    uint64_t seed;
} lks_array_feed_options;

lks_status lks__feed_arrays(const lks_arrays *arrays, bool need_targets, const lks_array_feed_options *options,
                            lks_feeder **out);
/* Steals the dataset. n_inputs: how many leaves a bare (not tuple) element's x has: all of them. */
lks_status lks__feed_dataset(lks_dataset *dataset, lks_feeder **out);
/* What can be fed as it lies, else a converted copy; and the row type of a fed tensor. */
lks_status lks__feed_convert(lks_tensor *t, lks_tensor **out);
lks_type lks__row_type(const lks_tensor *t);
void lks__feeder_release(lks_feeder *f); /* NULL is fine */

/* Number of rows of the arrays, after checking that all agree. */
lks_status lks__arrays_rows(const lks_arrays *arrays, int64_t *out);

#endif
