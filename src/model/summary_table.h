/* summary_table.h - internal. The boxed table of a summary: columns of a fixed width, text wrapped at blanks. */
#ifndef LKS_MODEL_SUMMARY_TABLE_H
#define LKS_MODEL_SUMMARY_TABLE_H

#include "base/text.h"

enum { LKS_SUMMARY_COLUMNS = 4 };

typedef struct lks_summary_table {
    int n_columns;
    int width[LKS_SUMMARY_COLUMNS];  /* inside the lines, the blank on each side included */
    bool right[LKS_SUMMARY_COLUMNS]; /* aligned to the right */
    const char *head[LKS_SUMMARY_COLUMNS];
    lks_text *out;
    bool rows; /* one was written */
} lks_summary_table;

/* Columns that end at the given shares of line_length, as Keras and rich lay them out. LKS_E_ARG if it is too short. */
lks_status lks__summary_layout(lks_summary_table *t, int64_t line_length, const double *positions);
void lks__summary_head(lks_summary_table *t);
void lks__summary_row(lks_summary_table *t, const char *const *cells);
void lks__summary_end(lks_summary_table *t);

#endif
