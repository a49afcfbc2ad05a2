/* weights.h - internal. The tree of a weights file in memory: groups and arrays by path, in the file's order. What the
 * paths mean is the model's business. */
#ifndef LKS_FILES_WEIGHTS_H
#define LKS_FILES_WEIGHTS_H

#include <stdbool.h>

#include "lockstep/tensor.h"

/* A text attribute: one string, or a list of them. */
typedef struct lks_weight_attr {
    char *name;
    bool is_list;
    size_t count;
    char **values;
} lks_weight_attr;

typedef struct lks_weight_entry {
    char *path;         /* "layers/dense/vars/0"; "" is the root group */
    lks_tensor *tensor; /* NULL: a group */
    lks_weight_attr *attrs;
    size_t n_attrs, attr_capacity;
} lks_weight_entry;

/* Start from { 0 }. */
typedef struct lks_weights {
    lks_weight_entry *entries;
    size_t count, capacity;
    size_t *table; /* by path: index + 1, or 0; open addressing */
    size_t table_size;
} lks_weights;

void lks__weights_free(lks_weights *w); /* leaves it empty */

/* Both fail with LKS_E_ARG if the path is there already. Groups above need no entry of their own. */
lks_status lks__weights_add(lks_weights *w, const char *path, lks_tensor *tensor); /* shares tensor */
lks_status lks__weights_add_group(lks_weights *w, const char *path);
/* On an entry that exists. */
lks_status lks__weights_set_attr(lks_weights *w, const char *path, const char *name, const char *value);
lks_status lks__weights_set_list(lks_weights *w, const char *path, const char *name, size_t n, const char *const *v);
/* The two lines that every Keras object needs: the group `path` with the attribute "name". */
lks_status lks__weights_add_named_group(lks_weights *w, const char *path, const char *name);

const lks_weight_entry *lks__weights_find(const lks_weights *w, const char *path); /* or NULL */
lks_tensor *lks__weights_tensor(const lks_weights *w, const char *path);           /* borrowed; NULL if none */
const lks_weight_attr *lks__weights_attr(const lks_weights *w, const char *path, const char *name); /* or NULL */

/* ---- HDF5 (both run as file jobs) ---- */

/* Reads every array of an HDF5 file in memory, in the order of names. Links to elsewhere, external and virtual storage,
 * and arrays that are not numbers are refused by path. `what` names the file in errors. *out is replaced. */
lks_status lks__weights_read_h5(const void *data, size_t n, const char *what, lks_weights *out);
/* Writes the tree as h5py does by default: superblock 0, contiguous arrays, variable-length UTF-8 attributes. *out is
 * freed with lks__free. The bytes depend on nothing but the tree. */
lks_status lks__weights_write_h5(const lks_weights *w, void **out, size_t *n);

/* A ".weights.h5" file. */
lks_status lks__weights_load(const char *path, lks_weights *out);
lks_status lks__weights_save(const char *path, const lks_weights *w);

#endif
