/* sequence.h - internal. The feature lists of SequenceExamples. */
#ifndef LKS_DATA_RECORDS_SEQUENCE_H
#define LKS_DATA_RECORDS_SEQUENCE_H

#include "example.h"

/* The dict of what the lists give for one record, or for batches of `rows`. NULL on failure. */
lks_spec *lks__lists_spec(const lks_features *f, bool batch, int64_t rows);
/* The dict of the lengths of padded lists in batches of `rows`. */
lks_spec *lks__lengths_spec(const lks_features *f, int64_t rows);
/* All lists of n records, those of record r at list[r * f->n_wanted], into the element from `leaf` on; batch: with a batch axis,
 * and the lengths behind them. */
lks_status lks__lists_put(const lks_features *f, const lks_wire *list, int64_t n, bool batch, size_t leaf,
                          lks_element *out);

#endif
