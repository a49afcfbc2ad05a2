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

/* A feature to look for in a record, by one column or by several. */
typedef struct lks_wanted {
    char *key;
    size_t size;
    lks_list_kind list;
} lks_wanted;

/* One ragged partition or one index of a column. */
typedef struct lks_level {
    lks_partition_kind kind; /* 0: an index */
    size_t at;               /* which wanted feature; not for UNIFORM_ROW_LENGTH */
    int64_t length;
} lks_level;

typedef struct lks_column {
    lks_feature f; /* our own key and default_value; what it says of other keys stands below */
    lks_list_kind list;
    int64_t size;    /* values in `shape` */
    size_t leaf;     /* the first of this column in the dict */
    size_t at;       /* which wanted feature the values are */
    size_t n_levels; /* partitions, outermost first, or indices */
    size_t n_ragged; /* the first of them, with no UNIFORM_ROW_LENGTH at their end: those are axes of the values */
    size_t late;     /* number of its lks_values before it, of columns that a batch puts in the end */
    lks_level level[LKS_MAX_RANK];
} lks_column;

struct lks_features {
    atomic_int references;
    size_t n, n_leaves, n_late, n_wanted, slots; /* slots: a power of two, at least 3 n_wanted */
    lks_column *column;                          /* sorted by key */
    lks_wanted *wanted;                          /* sorted by key */
    uint16_t *slot;                              /* hash table: wanted + 1, 0 = free */
    atomic_bool warned;                          /* of a key that came twice */
    lks_map_fn fn;
};

/* The wanted feature of this key, or -1. */
int lks__wanted_find(const lks_features *f, const unsigned char *key, size_t n);
/* One more; *at is its number until lks__wanted_sort, which gives the columns the final ones and makes the table. */
lks_status lks__wanted_add(lks_features *f, const char *key, lks_list_kind list, size_t *at);
lks_status lks__wanted_sort(lks_features *f);
void lks__wanted_free(lks_features *f);
/* The dict of what the columns give for one record or for batches of `rows` (-1 = unknown). */
lks_spec *lks__features_spec(const lks_features *f, bool batch, int64_t rows);
/* What one column gives for elements of these outer sizes: none for a record, the batch, the steps. */
lks_spec *lks__column_spec(const lks_column *c, int64_t n_outer, const int64_t *outer);
/* The column takes its shape from its values: VAR_LEN, RAGGED, FIXED_LEN_SEQUENCE, SPARSE. */
static inline bool lks__column_late(const lks_column *c)
{
    return c->f.kind != LKS_FIXED_LEN_FEATURE;
}

/* Where the Feature message of each wanted feature stands; p NULL = absent. */
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
/* The one string of a Feature that holds nothing but one of at least `least` bytes. */
bool lks__values_long_string(lks_wire feature, size_t least, lks_wire *out);
/* By the tensor's dtype, from element `at` on. */
lks_status lks__values_put(const lks_values *v, lks_tensor *out, int64_t at);

/* ---- one column ---- */

/* The values of a wanted feature; absent = no kind. Says when the message is malformed or holds another kind. */
lks_status lks__wanted_values(const lks_wanted *w, lks_wire at, lks_values *v);
/* Those of a late column: its own in v[0], its level i's in v[1 + i]. */
lks_status lks__column_values(const lks_features *f, const lks_column *c, const lks_found *found, lks_values *v);
/* A FIXED_LEN column of one record into elements [at, at + size) of t; a record without it gives the default. */
lks_status lks__column_fixed(const lks_features *f, const lks_column *c, lks_wire at, lks_tensor *t, int64_t first);
/* A new tensor for leaf `leaf` of the element; NULL on failure. */
lks_tensor *lks__column_output(lks_element *out, size_t leaf, lks_dtype dtype, int64_t rank, const int64_t *dims);
/* n copies of the padding (or nothing) from element `at` on. */
lks_status lks__column_pad(const lks_column *c, lks_tensor *t, int64_t at, int64_t n);
/* Where a record stands whose bytes may be taken: string i of `strings`; strings NULL: they may not. */
typedef struct lks_record_place {
    lks_tensor *strings;
    int64_t i;
} lks_record_place;
/* The column with a string that makes up most of the record, which its tensor may take instead of a copy, when all others have been
 * written (it destroys what stands around the string); NULL: there is none. */
const lks_column *lks__column_to_take(const lks_features *f, const lks_found *found, lks_record_place from,
                                      lks_wire *text);
/* Takes it, or copies. */
lks_status lks__column_take(lks_wire text, lks_record_place from, lks_tensor *t, int64_t at);
/* All columns of one record into the element, from leaf 0 on. */
lks_status lks__example_put(const lks_features *f, const lks_found *found, lks_record_place from, lks_element *out);
extern const lks_map_fn lks__parse_nothing; /* fails with the last error: for a list of features that is NULL */
/* The message of an Example under construction; valid until it is changed. */
lks_status lks__example_bytes(lks_example *x, const char **data, size_t *size);
const char *lks__list_name(lks_list_kind kind); /* "int64", ... */
lks_status lks__feature_no_memory(void);

/* ---- a batch of records ---- */

/* Columns whose size is known only when all records were seen: the values of record r stand at [r * f->n_late]. */
typedef struct lks_example_batch {
    lks_features *f;
    int64_t rows;
    lks_values *late;
    lks_tensor *fixed[LKS_MAX_FEATURES]; /* by column */
} lks_example_batch;

/* Makes the fixed columns, in leaf 0 and on; then every record once; then the late ones. lks__batch_free in any case. */
lks_status lks__batch_begin(lks_example_batch *b, lks_features *f, int64_t rows, lks_element *out);
lks_status lks__batch_row(lks_example_batch *b, int64_t row, const lks_found *found, lks_record_place from);
lks_status lks__batch_end(lks_example_batch *b, lks_element *out);
void lks__batch_free(lks_example_batch *b);

/* The features of a parse_example of single records whose columns are all FIXED_LEN, so that it can write rows of a batch; or NULL. */
lks_features *lks__parses_rows(const lks_map_fn *fn, const lks_spec *in);
/* Parses one record into a row of the batch. A failure has no place in its sentence. */
lks_status lks__parse_row(lks_example_batch *b, int64_t row, lks_element *in);

/* ---- columns of several features ---- */

/* The items of a column: records, or steps of feature lists. Item i's values stand at v[i * stride]. */
typedef struct lks_items {
    const lks_values *v;
    size_t stride;
    int64_t n;
    const char *called; /* "record"; NULL: there is one, and it is no row of the output */
} lks_items;

/* A RAGGED column. `above` (stolen, also on failure; NULL: none): the row splits whose rows are the items. */
lks_status lks__ragged_put(const lks_column *c, lks_items items, lks_tensor *above, size_t leaf, lks_element *out);
/* A SPARSE column; where items are rows, their number is the first index. */
lks_status lks__sparse_put(const lks_column *c, lks_items items, size_t leaf, lks_element *out);

#endif
