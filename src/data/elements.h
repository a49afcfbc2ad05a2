/* elements.h - internal. A source over elements in memory: what windows and groups are made of. */
#ifndef LKS_DATA_ELEMENTS_H
#define LKS_DATA_ELEMENTS_H

#include "stage.h"

/* The n elements (each shared) of this spec; `component` >= 0 = that one alone (spec is its leaf). */
lks_dataset *lks__from_elements(const lks_spec *spec, size_t n, lks_element *const *elements, int64_t component);

#endif
