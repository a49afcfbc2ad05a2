/* file_source.h - internal. What sources over lists of files share: the list, the bytes of one file after another, parallel
 * reading. A source gives `next_record` and, if files begin with something, `begin_file`. */
#ifndef LKS_DATA_FILE_SOURCE_H
#define LKS_DATA_FILE_SOURCE_H

#include "byte_stream.h"
#include "stage.h"

/* First in the dataset structs of such sources. */
typedef struct lks_file_list {
    lks_dataset base;
    size_t n;
    char **path;
    lks_compression compression;
    size_t buffer_size;
} lks_file_list;

typedef struct lks_file_cursor lks_file_cursor;
/* First in the cursor structs of such sources. */
struct lks_file_cursor {
    lks_cursor base;
    size_t file;
    lks_byte_stream stream;
    int64_t record;   /* of this file */
    const char *name; /* the open file's, for the origins of elements */
    bool go_on;       /* the record that failed was read to its end: the file goes on behind it */
};

/* Fills the list from the caller's; the builder returns lks__dataset_fail on failure. */
lks_status lks__file_list_init(lks_file_list *list, size_t n, const char *const *files, const lks_files_options *o);
/* The same for names with ranges of numbers: "train-{000..146}.tar" (file_ranges.c). */
lks_status lks__file_list_ranges(lks_file_list *list, size_t n, const char *const *files, const lks_files_options *o);
void lks__file_list_destroy(lks_dataset *ds); /* as a stage's destroy */
void lks__file_list_describe(const lks_dataset *ds, lks_recipe *r);

/* The walk over the files: asks `record` for the next element of the open file (LKS_END at its end), opens the next, drops a file
 * after a failure. `begin` (NULL: nothing) runs on each new file. */
typedef lks_status (*lks_record_fn)(lks_file_cursor *c, lks_element **out);
lks_status lks__file_next(lks_file_cursor *c, lks_status (*begin)(lks_file_cursor *c), lks_record_fn record,
                          lks_element **out);
/* The same `count` times with a `pass` that gives no element; as a stage's skip. */
lks_status lks__file_skip(lks_file_cursor *c, lks_status (*begin)(lks_file_cursor *c), lks_record_fn pass,
                          int64_t count, int64_t *done);
void lks__file_close(lks_cursor *n); /* as a stage's close */
/* lks__fail with the file's name, record and offset. */
lks_status lks__file_fail(const lks_file_cursor *c, lks_status code, const char *fmt, ...) LKS_PRINTF(3, 4);

/* A failure with LKS_E_FORMAT that says what is wrong at `offset`, with the file's name, record and offset in front (those of the
 * stream say the file themselves) and `hint` behind it. */
lks_status lks__file_place(const lks_file_cursor *c, uint64_t offset, const char *hint);

/* An element that is one string. */
lks_status lks__string_element(lks_cursor *n, const void *data, size_t size, lks_element **out);

/* Turns the dataset of a source over all files into one that reads `reads` files in turn (0: leaves it as it is). Steals ds; a
 * failed one comes back. */
lks_dataset *lks__parallel_reads(lks_dataset *ds, int64_t reads);

/* A source of strings that needs nothing but the list and the options, parallel reads included. */
lks_dataset *lks__string_files(const lks_stage *stage, size_t n, const char *const *files,
                               const lks_files_options *options);

#endif
