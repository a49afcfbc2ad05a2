/* pad.h - internal. How the components of padded batches are padded. */
#ifndef LKS_DATA_PAD_H
#define LKS_DATA_PAD_H

#include "stage.h"

/* Shapes and values for each component of a spec. */
typedef struct lks_padding {
    size_t n;
    lks_shape *shape;   /* -1 = the largest of the batch */
    lks_tensor **value; /* NULL = 0 or "" */
} lks_padding;

/* From the options; LKS_E_... if they do not fit the spec. Shares the values. */
lks_status lks__padding_init(lks_padding *p, const lks_spec *in, const lks_padded_batch_options *o);
/* Shapes and values, for fingerprints. */
void lks__padding_describe(const lks_padding *p, lks_recipe *r);
void lks__padding_free(lks_padding *p);
/* The n elements (at least one) as one batch of the cursor's dataset. */
lks_status lks__padding_stack(const lks_padding *p, lks_cursor *n, size_t rows, lks_element *const *row,
                              lks_element **out);

#endif
