/* batch_rows.h - internal. All components of a batch have the same number of rows: the check of stages that take batches apart. */
#ifndef LKS_DATA_BATCH_ROWS_H
#define LKS_DATA_BATCH_ROWS_H

#include "stage.h"

/* The rows of element e, which cursor n got; LKS_E_SHAPE names the component that has others. */
lks_status lks__batch_rows(const lks_cursor *n, const lks_element *e, int64_t *rows);
/* LKS_E_SHAPE if the spec says that components will differ. */
lks_status lks__batch_rows_agree(const lks_spec *spec);

#endif
