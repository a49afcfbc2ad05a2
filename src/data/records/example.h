/* example.h - internal. Reading Examples: the compiled list of features, and the values of one Feature message.
 *
 * Reading one record has two halves: a scan notes for every wanted key where its (last) Feature message stands, then each
 * column decodes from there. Nothing is allocated for either.
 */
#ifndef LKS_DATA_RECORDS_EXAMPLE_H
#define LKS_DATA_RECORDS_EXAMPLE_H

#include "data/element.h"
#include "lockstep/records.h"
#include "wire.h"

enum { LKS_MAX_FEATURES = 512 };

/* The kinds by their field numbers in Feature. */
typedef enum lks_list_kind {
    LKS_LIST_NONE = 0,
    LKS_LIST_BYTES = 1,
    LKS_LIST_FLOAT = 2,
    LKS_LIST_INT64 = 3
} lks_list_kind;

typedef struct lks_column {
    lks_feature f; /* our own key and default_value */
    size_t key_size;
    lks_list_kind list;
    int64_t size; /* values in `shape` */
    size_t leaf;  /* the first of this column in the dict */
} lks_column;

struct lks_features {
    atomic_int references;
    size_t n, n_leaves, slots; /* slots: a power of two, at least 2 n */
    lks_column *column;        /* sorted by key */
    uint16_t *slot;            /* hash table: column + 1, 0 = free */
    atomic_bool warned;        /* of a key that came twice */
    lks_map_fn fn;
};

/* The column of this key, or -1. */
int lks__features_find(const lks_features *f, const unsigned char *key, size_t n);
/* The dict of what the columns give for one record or for batches of `rows` (-1 = unknown). */
lks_spec *lks__features_spec(const lks_features *f, bool batch, int64_t rows);

/* Where the Feature message of each column stands; p NULL = absent. */
typedef struct lks_found {
    lks_wire at[LKS_MAX_FEATURES];
} lks_found;

/* `body` is the content of a Features (or, with lists = true, FeatureLists) message; found is added to. */
lks_status lks__features_scan(lks_features *f, lks_wire body, const unsigned char *start, lks_found *found);
/* A whole Example. */
lks_status lks__example_scan(lks_features *f, const lks_bytes *record, lks_found *found);

/* ---- the values of one Feature ---- */

/* A walk over the lists of a Feature message that belong to its kind. */
typedef struct lks_values {
    lks_wire feature, list;
    lks_list_kind kind;
    int64_t n; /* strings, floats or integers in all */
} lks_values;

/* Finds kind and number of values. False: malformed. */
bool lks__values_begin(lks_values *v, lks_wire feature);
/* Writes all of them; false: malformed (integers above 64 bits). */
bool lks__values_int64(lks_values v, int64_t *out);
bool lks__values_float(lks_values v, float *out);
lks_status lks__values_bytes(lks_values v, lks_tensor *out, int64_t at);
/* By the tensor's dtype, from element `at` on. */
lks_status lks__values_put(const lks_values *v, lks_tensor *out, int64_t at);

/* ---- one column ---- */

/* The values of column c; absent = no kind. Says when the message is malformed or holds another kind. */
lks_status lks__column_values(const lks_column *c, lks_wire at, lks_values *v);
/* A FIXED_LEN column of one record into elements [at, at + size) of t; a record without it gives the default. */
lks_status lks__column_fixed(const lks_column *c, lks_wire at, lks_tensor *t, int64_t first);
/* A new tensor for leaf `leaf` of the element; NULL on failure. */
lks_tensor *lks__column_output(lks_element *out, size_t leaf, lks_dtype dtype, int64_t rank, const int64_t *dims);
/* n copies of the padding (or nothing) from element `at` on. */
lks_status lks__column_pad(const lks_column *c, lks_tensor *t, int64_t at, int64_t n);
/* All columns of one record into the element, from leaf `first_leaf` on. */
lks_status lks__example_put(const lks_features *f, const lks_found *found, size_t first_leaf, lks_element *out);
extern const lks_map_fn lks__parse_nothing; /* fails with the last error: for a list of features that is NULL */
/* The message of an Example under construction; valid until it is changed. */
lks_status lks__example_bytes(lks_example *x, const char **data, size_t *size);
const char *lks__list_name(lks_list_kind kind); /* "int64", ... */

#endif
