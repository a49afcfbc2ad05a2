/* ragged_put.c - values cut into rows by partitions. The levels are made from the innermost one outwards: each turns the entries
 * that an item has on the level below into rows, and those are the entries of the level above. */
#include <string.h>

#include "base/alloc.h"
#include "example.h"
#include "tensor/tensor.h"

enum { MOST_ROWS = 1 << 26 }; /* of an item by row numbers, which a few bytes could make as many as they like */

static lks_status mismatch(const char *what, int64_t found, int64_t want)
{
    return lks__fail(LKS_E_ARG, "%s %lld, there are %lld values to cut into rows", what, (long long)found,
                     (long long)want);
}

static lks_status check_rising(const char *what, const int64_t *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (p[i] < (i == 0 ? 0 : p[i - 1]))
            return lks__fail(LKS_E_ARG, "its %s must rise from 0 on, entry %lld is %lld", what, (long long)i,
                             (long long)p[i]);
    return LKS_OK;
}

static lks_status check_lengths(const int64_t *p, int64_t n, int64_t entries)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < n; i++) {
        if (p[i] < 0) return lks__fail(LKS_E_ARG, "the length of its row %lld is %lld", (long long)i, (long long)p[i]);
        if (p[i] > entries - sum) return mismatch("its row lengths sum to more than", entries, entries);
        sum += p[i];
    }
    return sum == entries ? LKS_OK : mismatch("its row lengths sum to", sum, entries);
}

/* How many rows the n partition values of one item make of its entries. */
static lks_status count_rows(const lks_level *l, const int64_t *p, int64_t n, int64_t entries, int64_t *rows)
{
    *rows = n;
    if (l->kind == LKS_UNIFORM_ROW_LENGTH) {
        *rows = entries / l->length;
        return entries % l->length == 0 ? LKS_OK
                                        : lks__fail(LKS_E_ARG, "%lld values are no multiple of the row length %lld",
                                                    (long long)entries, (long long)l->length);
    }
    if (l->kind == LKS_ROW_LENGTHS) return check_lengths(p, n, entries);
    if (l->kind == LKS_VALUE_ROWIDS) {
        if (n != entries) return mismatch("its row numbers are", n, entries);
        LKS_TRY(check_rising("row numbers", p, n));
        if (n > 0 && p[n - 1] >= MOST_ROWS)
            return lks__fail(LKS_E_LIMIT, "its row number %lld is beyond the limit of %d rows", (long long)p[n - 1],
                             (int)MOST_ROWS);
        *rows = n == 0 ? 0 : p[n - 1] + 1;
        return LKS_OK;
    }
    if (n == 0) return entries == 0 ? LKS_OK : mismatch("its row boundaries are missing: it holds", 0, entries);
    if (l->kind == LKS_ROW_SPLITS) *rows = n - 1;
    LKS_TRY(check_rising("row boundaries", p, n));
    if (l->kind != LKS_ROW_LIMITS && p[0] != 0) return mismatch("its first row begins at", p[0], entries);
    if (l->kind == LKS_ROW_STARTS ? p[n - 1] > entries : p[n - 1] != entries)
        return mismatch(l->kind == LKS_ROW_STARTS ? "its last row begins at" : "its last row ends at", p[n - 1],
                        entries);
    return LKS_OK;
}

/* Where its rows end, behind `base`. */
static void write_ends(const lks_level *l, const int64_t *p, int64_t n, int64_t entries, int64_t rows, int64_t base,
                       int64_t *out)
{
    int64_t end = 0;

    for (int64_t row = 0, i = 0; row < rows; row++) {
        switch (l->kind) {
        case LKS_ROW_SPLITS: end = p[row + 1]; break;
        case LKS_ROW_LENGTHS: end += p[row]; break;
        case LKS_ROW_STARTS: end = row + 1 < n ? p[row + 1] : entries; break;
        case LKS_ROW_LIMITS: end = p[row]; break;
        case LKS_VALUE_ROWIDS:
            while (i < n && p[i] == row) i++;
            end = i;
            break;
        case LKS_UNIFORM_ROW_LENGTH: end += l->length; break;
        }
        out[row] = base + end;
    }
}

/* The partition values of all items, one after another. */
static lks_status read_partition(lks_items items, size_t k, int64_t **out)
{
    size_t total = 0;
    int64_t *at;

    for (int64_t i = 0; i < items.n; i++) total += (size_t)items.v[(size_t)i * items.stride + 1 + k].n;
    *out = at = lks__calloc(total + 1, sizeof *at);
    if (at == NULL) return lks__feature_no_memory();
    for (int64_t i = 0; i < items.n; i++) {
        const lks_values *v = &items.v[(size_t)i * items.stride + 1 + k];
        if (v->n > 0 && !lks__values_int64(*v, at))
            return lks__fail(LKS_E_FORMAT, "an integer of its partition has more than ten bytes");
        at += v->n;
    }
    return LKS_OK;
}

static lks_status blame(lks_status status, lks_items items, int64_t i)
{
    return items.called == NULL ? status : lks__context(status, "%s %lld", items.called, (long long)i);
}

/* entries[i] of item i become rows: the split of level k, and entries[i] is their number. */
static lks_status cut(const lks_level *l, size_t k, lks_items items, int64_t *entries, lks_tensor **split)
{
    int64_t *partition = NULL, *rows = lks__calloc((size_t)items.n + 1, sizeof *rows), *p, *end;
    int64_t total = 0, base = 0;
    lks_status status = rows == NULL ? lks__feature_no_memory() : read_partition(items, k, &partition);

    p = partition;
    for (int64_t i = 0; i < items.n && status == LKS_OK; i++) {
        int64_t n = items.v[(size_t)i * items.stride + 1 + k].n;
        status = count_rows(l, p, n, entries[i], &rows[i]);
        if (status != LKS_OK) blame(status, items, i);
        p += n;
        total += rows[i];
    }
    *split = status == LKS_OK ? lks_tensor_create(LKS_INT64, lks_shape(total + 1)) : NULL;
    if (*split == NULL) goto done;
    end = lks_tensor_data(*split);
    *end++ = 0;
    p = partition;
    for (int64_t i = 0; i < items.n; i++) {
        int64_t n = items.v[(size_t)i * items.stride + 1 + k].n;
        write_ends(l, p, n, entries[i], rows[i], base, end);
        end += rows[i];
        p += n;
        base += entries[i];
        entries[i] = rows[i];
    }

done:
    lks__free(partition);
    lks__free(rows);
    return status == LKS_OK && *split == NULL ? LKS_E_NOMEM : status;
}

/* The values of all items, their uniform axes inside; entries[i]: rows of those that item i has. A new tensor, or where there is
 * nothing ragged the one of the element. */
static lks_status read_values(const lks_column *c, lks_items items, int64_t *entries, bool ragged, size_t leaf,
                              lks_element *out, lks_tensor **values)
{
    lks_shape shape = { .rank = 1 };
    int64_t each = 1, at = 0;

    for (size_t k = c->n_ragged; k < c->n_levels; k++) {
        shape.dim[shape.rank++] = c->level[k].length;
        if (each > INT32_MAX / c->level[k].length) return lks__fail(LKS_E_LIMIT, "its uniform rows are too large");
        each *= c->level[k].length;
    }
    for (int64_t i = 0; i < items.n; i++) {
        int64_t n = items.v[(size_t)i * items.stride].n;
        if (n % each != 0)
            return blame(lks__fail(LKS_E_ARG, "%lld values are no multiple of the row length %lld", (long long)n,
                                   (long long)each),
                         items, i);
        entries[i] = n / each;
        shape.dim[0] += entries[i];
    }
    *values = ragged ? lks_tensor_create(c->f.dtype, shape)
                     : lks_tensor_retain(lks__column_output(out, leaf, c->f.dtype, shape.rank, shape.dim));
    if (*values == NULL) return lks__feature_no_memory();
    for (int64_t i = 0; i < items.n; i++) {
        const lks_values *v = &items.v[(size_t)i * items.stride];
        LKS_TRY(lks__values_put(v, *values, at));
        at += v->n;
    }
    return LKS_OK;
}

static lks_status split_items(lks_items items, const int64_t *entries, lks_tensor **split)
{
    int64_t *at;

    *split = lks_tensor_create(LKS_INT64, lks_shape(items.n + 1));
    if (*split == NULL) return lks__feature_no_memory();
    at = lks_tensor_data(*split);
    at[0] = 0;
    for (int64_t i = 0; i < items.n; i++) at[i + 1] = at[i] + entries[i];
    return LKS_OK;
}

lks_status lks__ragged_put(const lks_column *c, lks_items items, lks_tensor *above, size_t leaf, lks_element *out)
{
    size_t first = (above != NULL) + (items.called != NULL ? 1U : 0U), n = first + c->n_ragged;
    lks_tensor *split[LKS_MAX_RANK + 2] = { above }, *values = NULL;
    int64_t *entries = lks__calloc((size_t)items.n + 1, sizeof *entries);
    lks_status status = LKS_E_NOMEM;

    if (entries == NULL) lks__feature_no_memory();
    else status = read_values(c, items, entries, n > 0, leaf, out, &values);
    for (size_t k = c->n_ragged; k-- > 0 && status == LKS_OK;)
        status = cut(&c->level[k], k, items, entries, &split[first + k]);
    if (status == LKS_OK && items.called != NULL) status = split_items(items, entries, &split[first - 1]);
    if (status == LKS_OK && n > 0) {
        lks_ragged *ragged = lks_ragged_create(values, n, split);
        if (ragged == NULL) {
            status = LKS_E_NOMEM;
        } else {
            lks_ragged_release(out->value[leaf].ragged);
            out->value[leaf].ragged = ragged;
        }
    }
    for (size_t k = 0; k < n; k++) lks_tensor_release(split[k]);
    lks_tensor_release(values);
    lks__free(entries);
    return status;
}
