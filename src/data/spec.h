/* spec.h - internal side of element specs. */
#ifndef LKS_DATA_SPEC_H
#define LKS_DATA_SPEC_H

#include <stdbool.h>

#include "base/error.h"
#include "lockstep/element.h"

enum { LKS_SPEC_TEXT = 256, LKS_LEAF_TEXT = 96 };

/* "(uint8 (28, 28, 1), int64 ())", cut to the buffer of LKS_SPEC_TEXT bytes; returns it. */
const char *lks__spec_text(const lks_spec *spec, char *buffer);
/* How messages call component i: "component 1 (label)", or "the element" where there is only one. */
const char *lks__leaf_text(const lks_spec *spec, size_t i, char *buffer);

/* Equal structures (kinds, counts, names), whatever the leaves. */
bool lks__spec_same_structure(const lks_spec *a, const lks_spec *b);
/* A concrete shape is one of those that `pattern` (with unknown sizes) allows. */
bool lks__shape_fits(const lks_shape *pattern, const lks_shape *shape);
/* Everything that `found` describes is also allowed by `want`: same structure and dtypes, shapes that fit. */
bool lks__spec_allows(const lks_spec *want, const lks_spec *found);
/* The most precise shape that both fit. */
lks_shape lks__shape_join(const lks_shape *a, const lks_shape *b);

/* A copy of the tree with every leaf replaced by fn(user, leaf number, leaf): one reference, NULL on failure. */
typedef lks_spec *(*lks_leaf_fn)(void *user, size_t i, const lks_spec *leaf);
lks_spec *lks__spec_map(const lks_spec *spec, lks_leaf_fn fn, void *user);
/* The same structure with shapes widened to hold both; NULL with LKS_E_SHAPE if structures or dtypes differ. */
lks_spec *lks__spec_join(const lks_spec *a, const lks_spec *b);

#endif
