/* csv.h - internal to csv*.c. */
#ifndef LKS_DATA_SOURCES_CSV_H
#define LKS_DATA_SOURCES_CSV_H

#include "base/text.h"
#include "data/file_source.h"

typedef struct csv_dataset {
    lks_file_list list;
    size_t n; /* components */
    lks_dtype *dtype;
    lks_tensor **fallback; /* NULL = required */
    size_t *column;        /* of the file */
    size_t file_columns;   /* exactly so many, or 0: at least min_columns */
    size_t min_columns;
    bool header, quotes;
    char delimiter;
    char *na;
} csv_dataset;

typedef struct csv_field {
    size_t at, size; /* in the text */
} csv_field;

typedef struct csv_cursor {
    lks_file_cursor base;
    lks_text text; /* the fields of the present record one behind another */
    csv_field *field;
    size_t n_fields, room;
    bool after_cr;             /* a following \n belongs to the end of the last record */
    int64_t line, record_line; /* line ends passed so far; the line on which the present record begins, from 1 */
    uint64_t record_offset;
    lks_text names; /* the fields of the header line, each with a zero byte behind it */
} csv_cursor;

/* Splitting: the state while one record is read. */
typedef struct csv_scan {
    csv_cursor *c;
    const csv_dataset *d;
    int byte;          /* the present one, -1 = end of file */
    const char *fault; /* the first thing that is wrong */
} csv_scan;
lks_status lks__csv_split(csv_scan *s);
/* The next byte of the file, its line counted. */
lks_status lks__csv_byte(csv_cursor *c, int *byte);

/* Component i from its field. */
lks_status lks__csv_convert(csv_cursor *c, lks_element *e, size_t i);
/* A failure that costs this record alone. */
lks_status lks__csv_fault(csv_cursor *c, const char *fmt, ...) LKS_PRINTF(2, 3);

#endif
