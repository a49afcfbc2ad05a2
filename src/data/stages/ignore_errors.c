/* ignore_errors.c - passes over failed elements; a cancel is not one of them. What was left out is counted file by file and
 * told in one warning at the end of the pass. */
#include <string.h>

#include "base/error_file.h"
#include "base/text.h"
#include "data/stages.h"

/* So many failures without one element between them are taken for a source that will never get well. */
enum { GIVE_UP = 1000000, NAMED = 8 };

typedef struct file_count {
    char name[LKS_ERROR_FILE];
    int64_t n;
} file_count;

typedef struct ignore_cursor {
    lks_cursor base;
    int64_t dropped;
    file_count *file;
    size_t n_files, room;
} ignore_cursor;

static void count(ignore_cursor *c)
{
    const char *name = lks__error_file();
    size_t i = c->n_files;

    c->dropped++;
    if (*name == '\0') return;
    while (i > 0 && strcmp(c->file[i - 1].name, name) != 0) i--; /* most often the last one */
    if (i > 0) {
        c->file[i - 1].n++;
        return;
    }
    if (lks__grow(&c->file, &c->room, c->n_files + 1, sizeof *c->file) != LKS_OK) return; /* it counts in the sum */
    memcpy(c->file[c->n_files].name, name, strlen(name) + 1);
    c->file[c->n_files++].n = 1;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    for (int64_t row = 0; row < GIVE_UP; row++) {
        lks_status status = lks__cursor_next(n->input[0], out);
        if (status == LKS_OK || status == LKS_END || status == LKS_E_CANCELED) return status;
        count((ignore_cursor *)n);
    }
    return lks__context(LKS_E_STATE, "ignore_errors (stage %d): gave up after %d failures in a row, the last was",
                        n->dataset->number, GIVE_UP);
}

/* ": 2 of 'a.csv', 1 of 'b.csv', 4 of 3 more files" */
static void tell_files(const ignore_cursor *c, lks_text *t)
{
    int64_t rest = 0;

    for (size_t i = 0; i < c->n_files; i++) {
        if (i >= NAMED) rest += c->file[i].n;
        else lks__text_printf(t, "%s%lld of '%s'", i == 0 ? ": " : ", ", (long long)c->file[i].n, c->file[i].name);
    }
    if (rest > 0) lks__text_printf(t, ", %lld of %zu more files", (long long)rest, c->n_files - NAMED);
}

static void close(lks_cursor *n)
{
    ignore_cursor *c = (ignore_cursor *)n;
    lks_text files = { 0 };

    tell_files(c, &files);
    if (c->dropped > 0)
        lks__warn("ignore_errors (stage %d): %lld failed elements were left out of this pass%s", n->dataset->number,
                  (long long)c->dropped, files.length > 0 && !files.failed ? files.data : "");
    lks__text_free(&files);
    lks__free(c->file);
}

const lks_stage lks__stage_ignore_errors = { .name = "ignore_errors",
                                             .dataset_size = sizeof(lks_dataset),
                                             .cursor_size = sizeof(ignore_cursor),
                                             .next = next,
                                             .close = close };

lks_dataset *lks_ignore_errors(lks_dataset *dataset)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_ignore_errors, dataset);

    if (!lks__dataset_ok(ds)) return ds;
    ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    return ds;
}
