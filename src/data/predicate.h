/* predicate.h - internal. Functions from an element to one scalar: predicates, keys, lengths. */
#ifndef LKS_DATA_PREDICATE_H
#define LKS_DATA_PREDICATE_H

#include "function.h"

/* One function in one pass. */
typedef struct lks_scalar_call {
    const lks_data_fn *f;
    lks_buffers *results;
    int64_t index; /* calls so far */
} lks_scalar_call;

lks_status lks__scalar_open(lks_scalar_call *c, const lks_data_fn *f, const lks_spec *in);
void lks__scalar_close(lks_scalar_call *c);
/* Borrows e. bool, int32 and int64 results come as int64. */
lks_status lks__scalar_of(lks_scalar_call *c, uint64_t lineage, lks_element *e, int64_t *out);

/* The value of an integer or bool scalar tensor. */
int64_t lks__scalar_value(const lks_tensor *t);

#endif
