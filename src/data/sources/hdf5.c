/* hdf5.c - datasets of an HDF5 file as columns, in blocks of rows: a pass holds one, elements are views into it. A block is whole
 * chunks of the file, because a chunk is unpacked as a whole. Small columns are read at once and are arrays like any others. */
#include <string.h>

#include "data/sources.h"
#include "data/stages.h"
#include "files/h5_columns.h"
#include "lockstep/sources.h"

enum { SMALL = 16 << 20, BLOCK_BYTES = 1 << 20, BLOCKS = 8, MAX_COLUMNS = 256 };

typedef struct hdf5_dataset {
    lks_dataset base;
    lks_h5_columns *columns;
    char *path;
    size_t n;
    int64_t block, unit; /* rows of a block of a pass, and of what is read for a single row */
} hdf5_dataset;

typedef struct hdf5_block {
    int64_t first, rows; /* rows 0: empty */
    lks_tensor **column;
} hdf5_block;

typedef struct hdf5_cursor {
    lks_cursor base;
    int64_t next;
    size_t turn; /* the block that goes next */
    hdf5_block block[BLOCKS];
} hdf5_cursor;

static const hdf5_dataset *recipe(const hdf5_cursor *c)
{
    return (const hdf5_dataset *)c->base.dataset;
}

static void drop_block(const hdf5_dataset *d, hdf5_block *b)
{
    for (size_t i = 0; b->column != NULL && i < d->n; i++) {
        lks_tensor_release(b->column[i]);
        b->column[i] = NULL;
    }
    b->rows = 0;
}

/* The block of `unit` rows that has this row. One of a pass takes the place of the last one. */
static lks_status find_block(hdf5_cursor *c, int64_t row, int64_t unit, bool pass, hdf5_block **out)
{
    const hdf5_dataset *d = recipe(c);
    hdf5_block *b;
    int64_t rows;

    for (size_t i = 0; i < BLOCKS; i++) {
        b = &c->block[i];
        if (row < b->first || row >= b->first + b->rows) continue;
        *out = b;
        return LKS_OK;
    }
    b = &c->block[pass ? 0 : c->turn++ % BLOCKS];
    drop_block(d, b);
    if (b->column == NULL) b->column = lks__calloc(d->n, sizeof *b->column);
    if (b->column == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a block of '%s'", d->path);
    b->first = row - row % unit;
    rows = c->base.dataset->cardinality - b->first;
    if (rows > unit) rows = unit;
    LKS_TRY(lks__h5_columns_read(d->columns, b->first, rows, b->column));
    b->rows = rows;
    *out = b;
    return LKS_OK;
}

static lks_status make(hdf5_cursor *c, int64_t row, int64_t unit, bool pass, lks_element **out)
{
    hdf5_block *b = NULL;
    lks_status status = find_block(c, row, unit, pass, &b);
    lks_element *e;

    if (status != LKS_OK) return lks__context(status, "hdf5");
    e = lks__cursor_element(&c->base);
    if (e == NULL) return LKS_E_NOMEM;
    for (size_t i = 0; i < recipe(c)->n; i++) {
        e->value[i].tensor = lks__element_row(e, i, b->column[i], row - b->first);
        if (e->value[i].tensor != NULL) continue;
        lks_element_release(e);
        return LKS_E_NOMEM;
    }
    *out = e;
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    hdf5_cursor *c = (hdf5_cursor *)n;
    int64_t row = c->next;

    if (row >= n->dataset->cardinality) return LKS_END;
    c->next++; /* also behind a row that can't be read */
    return make(c, row, recipe(c)->block, true, out);
}

static lks_status at(lks_cursor *n, int64_t index, lks_element **out)
{
    hdf5_cursor *c = (hdf5_cursor *)n;

    return make(c, index, recipe(c)->unit, false, out);
}

static int64_t together(const lks_dataset *ds)
{
    return ((const hdf5_dataset *)ds)->unit;
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    hdf5_cursor *c = (hdf5_cursor *)n;

    return lks__cursor_skip_to(n, &c->next, count, done);
}

static void close_cursor(lks_cursor *n)
{
    hdf5_cursor *c = (hdf5_cursor *)n;

    for (size_t i = 0; i < BLOCKS; i++) {
        drop_block(recipe(c), &c->block[i]);
        lks__free(c->block[i].column);
    }
}

static void destroy(lks_dataset *ds)
{
    hdf5_dataset *d = (hdf5_dataset *)ds;

    lks__h5_columns_close(d->columns);
    lks__free(d->path);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_text(r, ((const hdf5_dataset *)ds)->path);
    lks__recipe_int(r, ds->cardinality);
}

const lks_stage lks__stage_hdf5 = { .name = "hdf5",
                                    .dataset_size = sizeof(hdf5_dataset),
                                    .cursor_size = sizeof(hdf5_cursor),
                                    .next = next,
                                    .skip = skip,
                                    .close = close_cursor,
                                    .at = at,
                                    .together = together,
                                    .destroy = destroy,
                                    .describe = describe };

/* ---- building ---- */

/* All rows now: arrays in memory. */
static lks_dataset *read_all(hdf5_dataset *d, int64_t rows)
{
    lks_tensor *column[MAX_COLUMNS];
    lks_status status = lks__h5_columns_read(d->columns, 0, rows, column);
    lks_dataset *ds = status == LKS_OK ? lks_from_tensor_slices_n(d->n, column) : NULL;

    for (size_t i = 0; status == LKS_OK && i < d->n; i++) lks_tensor_release(column[i]);
    if (status != LKS_OK) return lks__dataset_fail(&d->base, status);
    lks_dataset_release(&d->base);
    return ds;
}

/* A pass reads whole chunks of all columns. A single row comes with the chunk of the widest column; narrow ones may have longer chunks, which
 * HDF5 keeps unpacked. */
static void choose_blocks(hdf5_dataset *d, int64_t row_bytes)
{
    int64_t rows = row_bytes > 0 ? BLOCK_BYTES / row_bytes : BLOCK_BYTES, longest = 1, widest = 0;

    d->unit = 1;
    for (size_t i = 0; i < d->n; i++) {
        int64_t chunk = lks__h5_columns_chunk(d->columns, i);
        lks_shape shape = lks__h5_columns_shape(d->columns, i);
        int64_t bytes = lks_shape_size(&shape) * (int64_t)lks_dtype_size(lks__h5_columns_dtype(d->columns, i));
        if (chunk > longest) longest = chunk;
        if (bytes <= widest) continue;
        widest = bytes;
        d->unit = chunk > 1 ? chunk : 1;
    }
    d->block = (rows + longest - 1) / longest * longest;
    if (d->block < longest) d->block = longest;
}

static lks_spec *spec_of(const hdf5_dataset *d)
{
    lks_spec *leaf[MAX_COLUMNS];

    for (size_t i = 0; i < d->n; i++) {
        lks_shape shape = lks__h5_columns_shape(d->columns, i);
        shape.rank--;
        memmove(shape.dim, shape.dim + 1, (size_t)shape.rank * sizeof *shape.dim);
        leaf[i] = lks_spec_tensor(lks__h5_columns_dtype(d->columns, i), shape);
    }
    return d->n == 1 ? leaf[0] : lks_spec_tuple(d->n, leaf);
}

lks_dataset *lks_hdf5_n(const char *path, size_t n, const char *const *names)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_hdf5, 0, NULL);
    hdf5_dataset *d = (hdf5_dataset *)ds;
    int64_t rows, row_bytes;
    lks_status status;

    if (ds == NULL) return NULL;
    d->n = n;
    d->path = lks__strdup(path);
    if (path == NULL || n < 1 || n > MAX_COLUMNS)
        status = lks__fail(LKS_E_ARG, "a path and 1 to %d columns must be given, found %zu", MAX_COLUMNS, n);
    else if (d->path == NULL) status = lks__fail(LKS_E_NOMEM, "no memory for a path");
    else status = lks__h5_columns_open(path, n, names, &d->columns);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    rows = lks__h5_columns_shape(d->columns, 0).dim[0];
    row_bytes = lks__h5_columns_row_bytes(d->columns);
    if (rows == 0 || row_bytes <= SMALL / rows) return read_all(d, rows);
    choose_blocks(d, row_bytes);
    ds->cardinality = rows;
    return lks__dataset_spec_is(ds, spec_of(d));
}
