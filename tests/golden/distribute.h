/* distribute.h - internal to the distribute topic. */
#ifndef LKS_TESTS_GOLDEN_DISTRIBUTE_H
#define LKS_TESTS_GOLDEN_DISTRIBUTE_H

#include "data.h"
#include "golden.h"

/* The elements of a pass as JSON: numbers, strings, lists of them for batches, a list a component for tuples; a failure
 * ends the list with {"error": STATUS_NAME}. At most `max` elements. One reference. */
json_t *distribute_elements(lks_dataset *ds, size_t max);
void distribute_pipelines(golden_report *r, const json_t *set);

#endif
