/* iterator.h - internal. The names by which the other chapters of the library pull elements. */
#ifndef LKS_DATA_ITERATOR_H
#define LKS_DATA_ITERATOR_H

#include "stage.h"

#define lks__iter_create lks_iter_create
#define lks__iter_next lks_iter_next
#define lks__iter_release lks_iter_release

/* An iterator whose stages count and time in `meters`, which must outlive it. */
lks_status lks__iter_create_metered(lks_dataset *dataset, lks_meters *meters, lks_iter **out);
/* The pass is over. */
bool lks__iter_ended(const lks_iter *it);

#endif
