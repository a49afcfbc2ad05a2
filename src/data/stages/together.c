/* together.c - see together.h. The next some thousand elements of the order are fetched by rising number, so that what lies together is unpacked
 * once for all of them, and copied: a view would hold everything that was unpacked with it. There are two such groups: while one is given
 * out, the other is fetched at the same pace. They begin small, so that the first element is there at once.
 */
#include "together.h"

#include <stdlib.h>

#include "data/ledger.h"
#include "tensor/tensor.h"

enum {
    FIRST = 32,
    MOST_BYTES = 1 << 27, /* of both groups */
    SHARE = 16,           /* of the memory budget, one in so many */
    ENOUGH = 64           /* elements of a group for each piece of the source that is unpacked as a whole */
};

typedef struct wish {
    int64_t number, place;
} wish;

typedef struct group {
    int64_t first, n, done; /* elements first .. first + n - 1 of the order, of which `done` have been asked for */
    wish *wish;             /* by rising number */
    lks_element **element;  /* in order; NULL: given out, not asked for yet, or it failed */
} group;

struct lks_together {
    lks_cursor *cursor;
    lks_number_fn number;
    int64_t most, size; /* elements of a group: at most, and of the next one */
    group group[2];
    int now; /* the one that is given out */
};

/* Elements of a group; 0: groups would hardly find neighbours. */
static int64_t group_size(const lks_cursor *n)
{
    const lks_dataset *source = n->dataset->input[0];
    int64_t unit = source->stage->together == NULL ? 1 : source->stage->together(source),
            bytes = lks__spec_bytes(source->spec), total = source->cardinality,
            room = lks__ledger_budget() / SHARE < MOST_BYTES ? lks__ledger_budget() / SHARE : MOST_BYTES, pieces, size;

    if (unit < 2 || bytes < 1 || total <= FIRST) return 0;
    pieces = (total - 1) / unit + 1;
    size = room / 2 / bytes;
    if (size > total) size = total;
    if (pieces < INT64_MAX / ENOUGH && size > ENOUGH * pieces) size = ENOUGH * pieces;
    return size < FIRST || size < pieces + pieces / 4 ? 0 : size;
}

lks_together *lks__together_begin(lks_cursor *n, lks_number_fn number)
{
    int64_t most = group_size(n);
    lks_together *t = most == 0 ? NULL : lks__calloc(1, sizeof *t);

    if (t == NULL) return NULL;
    *t = (lks_together){ .cursor = n, .number = number, .most = most, .size = FIRST };
    for (int i = 0; i < 2; i++) {
        t->group[i].wish = lks__calloc((size_t)most, sizeof *t->group[i].wish);
        t->group[i].element = lks__calloc((size_t)most, sizeof *t->group[i].element);
        if (t->group[i].wish != NULL && t->group[i].element != NULL) continue;
        lks__together_end(t);
        return NULL;
    }
    return t;
}

static void drop(group *g)
{
    for (int64_t i = 0; i < g->n; i++) {
        lks_element_release(g->element[i]);
        g->element[i] = NULL;
    }
    g->n = g->done = 0;
}

void lks__together_end(lks_together *t)
{
    if (t == NULL) return;
    for (int i = 0; i < 2; i++) {
        if (t->group[i].element != NULL) drop(&t->group[i]);
        lks__free(t->group[i].wish);
        lks__free(t->group[i].element);
    }
    lks__free(t);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = ((const wish *)a)->number, y = ((const wish *)b)->number;

    return (x > y) - (x < y);
}

static void begin_group(lks_together *t, group *g, int64_t first)
{
    int64_t left = t->cursor->dataset->cardinality - first;

    *g = (group){ .first = first, .n = t->size < left ? t->size : left, .wish = g->wish, .element = g->element };
    for (int64_t i = 0; i < g->n; i++) g->wish[i] = (wish){ t->number(t->cursor, first + i), i };
    qsort(g->wish, (size_t)g->n, sizeof *g->wish, by_number);
    if (t->size < t->most && !lks__ledger_tight()) t->size = t->size < t->most / 2 ? 2 * t->size : t->most;
}

/* NULL: it is asked for once more in its place, and says why not. */
static lks_element *copy_of(lks_together *t, int64_t number)
{
    lks_cursor *source = t->cursor->input[0];
    lks_element *e = NULL, *view = NULL;
    lks_status status = source->stage->at(source, number, &view);

    if (status == LKS_OK) e = lks__cursor_element(t->cursor);
    for (size_t i = 0; e != NULL && i < lks_element_count(e) && status == LKS_OK; i++) {
        const lks_tensor *from = view->value[i].tensor;
        lks_shape shape = lks_tensor_shape(from);
        e->value[i].tensor = lks__element_room(e, i, lks_tensor_dtype(from), &shape);
        if (e->value[i].tensor == NULL) status = lks__error_code();
        else status = lks__copy_elements(e->value[i].tensor, 0, from, 0, lks_tensor_size(from));
    }
    lks_element_release(view);
    if (status == LKS_OK) return e;
    lks_element_release(e);
    return NULL;
}

static void fetch(lks_together *t, group *g, int64_t up_to)
{
    for (; g->done < up_to; g->done++) {
        const wish *w = &g->wish[g->done];
        g->element[w->place] = copy_of(t, w->number);
    }
}

/* The group that holds element k, fetched whole. */
static group *group_of(lks_together *t, int64_t k)
{
    group *g = &t->group[t->now], *next = &t->group[1 - t->now];

    if (k >= g->first && k < g->first + g->n) return g;
    t->now = 1 - t->now;
    drop(g);
    if (k != next->first || next->n == 0) { /* the beginning, or a jump */
        drop(next);
        t->size = FIRST;
        begin_group(t, next, k);
    }
    fetch(t, next, next->n);
    begin_group(t, g, next->first + next->n);
    return next;
}

lks_status lks__together_next(lks_together *t, int64_t k, lks_element **out)
{
    group *g = group_of(t, k), *next = &t->group[1 - t->now];
    int64_t at = k - g->first;
    lks_cursor *source = t->cursor->input[0];

    fetch(t, next, next->n * (at + 1) / g->n);
    *out = g->element[at];
    g->element[at] = NULL;
    return *out != NULL ? LKS_OK : source->stage->at(source, t->number(t->cursor, k), out);
}
