/* map_batch.c - blocks of a map that end as whole batches: where a batch lies right above a parallel map of cheap elements, the thread that runs
 * a block also lays its results into the batches, so that what is handed over between threads is a batch, not an element.
 *
 * The batch above asks for elements as ever (placer.h carries what else the two say to each other) and is given a whole batch where one begins.
 * Nothing else may be seen of it: behind a failure batches begin elsewhere, and rows come out of the batches that were made too early, one
 * by one. From the first row on that failed or did not fit, the results of a block stand by themselves.
 */
#include "data/ledger.h"
#include "data/meter.h"
#include "data/placer.h"
#include "data/records/example.h"
#include "data/stack.h"
#include "map_block.h"
#include "tensor/tensor.h"

enum { MOST_ROWS = 4096, DEAR = 1000000 /* nanoseconds of a batch */, LEAST = 50000, ENOUGH = 500000 };

static lks_placer *asker(const lks_map_cursor *m)
{
    lks_placer *p = m->base.place.placer;

    return p != NULL && p->above != NULL && p->asks ? p : NULL;
}

int lks__map_batch_rows(const lks_map_cursor *m, int *batches, int *most)
{
    const lks_placer *p = asker(m);
    int64_t before;

    *batches = 0;
    *most = LKS_MAP_MOST_ELEMENTS;
    if (p == NULL || m->file >= 0 || p->size > MOST_ROWS || m->cost == 0 || m->cost > DEAR / p->size) return 0;
    before = p->filled;
    for (int k = 0; k < m->count; k++) {
        const lks_map_block *b = m->ring[(m->head + k) % m->room];
        before += b->n - b->taken;
    }
    if (before % p->size != 0) {
        if (p->size - before % p->size < *most) *most = (int)(p->size - before % p->size);
        return 0;
    }
    *batches = m->block_batches;
    while (*batches > 1 && *batches * p->size > MOST_ROWS) --*batches;
    return (int)(*batches * p->size);
}

/* Maps result i and lays it into the batch; false: it stands by itself. One element serves for all. */
static bool add_row(lks_map_block *b, lks_stack *s, lks_element **shell, int i)
{
    lks_map_result *r = &b->result[i];
    lks_status status;

    r->place.shell = *shell;
    if (r->status == LKS_OK) *shell = NULL;
    lks__map_run_one(b, i);
    if (r->status != LKS_OK) return false;
    status = lks__stack_add(s, r->element);
    if (status == LKS_E_SHAPE) return false; /* the batch that it comes into says so */
    if (lks__element_again(r->element)) *shell = r->element;
    else lks_element_release(r->element);
    r->element = NULL;
    if (status != LKS_OK) lks__map_keep_error(r, status);
    return status == LKS_OK;
}

/* Where rows are written in place, the batch is made before them. */
static lks_element *begin_batch(lks_placer *p, lks_map_result *r, int64_t rows)
{
    lks_element *e;

    if (p->batch == NULL || p->rows < rows || lks__batch_of_rows(p->batch, p->rows, &e) != LKS_OK) return NULL;
    for (int64_t i = 0; i < rows; i++) {
        r[i].place.batch = r[i].status == LKS_OK ? lks_element_retain(e) : NULL;
        r[i].place.row = i;
    }
    return e;
}

/* Parses records into the rows of a batch, as far as they are good. */
static int parse_rows(lks_map_block *b, lks_features *f, int first, int end, lks_element *e)
{
    lks_example_batch rows;
    lks_status status = lks__batch_begin(&rows, f, end - first, e);
    int i = first;

    for (; i < end && status == LKS_OK; i++) {
        lks_map_result *r = &b->result[i];
        if (r->status != LKS_OK) break;
        status = lks__parse_row(&rows, i - first, r->element);
        if (status != LKS_OK) break;
        lks_element_release(r->element);
        r->element = NULL;
    }
    lks__batch_free(&rows);
    return i;
}

/* The same as run_batch where the function writes rows. */
static bool parse_batch(lks_map_block *b, int j, int first, int end)
{
    lks_map_cursor *m = b->map;
    lks_element *e = lks__buffers_element(m->base.place.placer->above->buffers);
    int i = e == NULL ? first : parse_rows(b, m->rows_of, first, end, e);

    if (i == first) {
        lks_element_release(e);
    } else {
        for (size_t k = 0; k < lks_element_count(e); k++) lks__tensor_set_rows(e->value[k].tensor, i - first);
        if (first == 0) m->expected = lks__expected_bytes(m->expected, lks__element_bytes(e) / (i - first) + 1);
        b->batch[j] = e;
    }
    b->stacked = i;
    for (; i < end; i++) lks__map_run_one(b, i); /* which says what is wrong with the first */
    return b->stacked == end;
}

/* Rows [first, end); false: one failed or did not fit. */
static bool run_batch(lks_map_block *b, int j, int first, int end)
{
    lks_placer *p = b->map->base.place.placer;
    lks_stack stack = { .cursor = p->above, .limit = p->size };
    lks_element *placed = begin_batch(p, b->result + first, end - first);
    lks_element *shell = NULL;
    int i = first;
    lks_status status = LKS_OK;

    while (i < end && add_row(b, &stack, &shell, i)) i++;
    lks_element_release(shell);
    lks_element_release(placed);
    if (i > first) status = lks__stack_take(&stack, &b->batch[j]);
    else lks__stack_drop(&stack);
    for (int k = first; k < i && status != LKS_OK; k++) lks__map_keep_error(&b->result[k], status);
    b->stacked = status == LKS_OK ? i : first;
    for (int k = i + 1; k < end; k++) lks__map_run_one(b, k);
    return b->stacked == end;
}

void lks__map_run_batches(lks_map_block *b)
{
    int size = (int)b->map->base.place.placer->size, done = 0;

    b->stacked = 0;
    for (int j = 0; done < b->n; j++) {
        int end = b->n - done < size ? b->n : done + size;
        bool whole = b->map->rows_of != NULL ? parse_batch(b, j, done, end) : run_batch(b, j, done, end);
        done = end;
        if (!whole) break;
    }
    for (; done < b->n; done++) lks__map_run_one(b, done);
}

bool lks__map_take_batch(lks_map_cursor *m, lks_map_block *b, lks_element **out)
{
    lks_placer *p = asker(m);
    int size, j;

    if (p == NULL || b->n_batches == 0 || p->filled > 0) return false;
    size = (int)p->size;
    j = b->taken / size;
    if (b->taken % size != 0 || b->stacked - b->taken < size) return false;
    *out = b->batch[j];
    b->batch[j] = NULL;
    b->taken += size;
    p->is_whole = true;
    if (m->base.meter != NULL) atomic_fetch_add_explicit(&m->base.meter->elements, size - 1, memory_order_relaxed);
    return true;
}

lks_status lks__map_take_row(lks_map_cursor *m, const lks_map_block *b, int i, lks_element **out)
{
    int size = (int)m->base.place.placer->size;
    const lks_element *batch = b->batch[i / size];
    lks_element *e = lks__buffers_element(m->base.buffers);

    if (e == NULL) return LKS_E_NOMEM;
    for (size_t k = 0; k < lks_element_count(e); k++) {
        e->value[k].tensor = lks__element_row(e, k, batch->value[k].tensor, i % size);
        if (e->value[k].tensor == NULL) {
            lks_element_release(e);
            return lks__error_code();
        }
    }
    *out = e;
    return LKS_OK;
}

void lks__map_batch_adapt(lks_map_cursor *m, const lks_map_block *b)
{
    int64_t ns = (int64_t)(b->seconds * 1e9);

    if (ns < LEAST && b->n_batches == m->block_batches && m->block_batches < LKS_MAP_MOST_BATCHES)
        m->block_batches *= 2;
    if (ns > ENOUGH && m->block_batches > 1) m->block_batches /= 2;
}

void lks__map_drop_batches(lks_map_block *b)
{
    for (int j = 0; j < b->n_batches; j++) {
        lks_element_release(b->batch[j]);
        b->batch[j] = NULL;
    }
}
