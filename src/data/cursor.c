/* cursor.c - opening, asking and closing the cursors of a running iterator. Every request looks at the cancellation scope, so any
 * loop over an input ends soon after a cancel. */
#include <stdarg.h>
#include <stdio.h>

#include "fuse.h"
#include "meter.h"
#include "stages.h"

bool lks__cancelled(const lks_cancel_scope *scope)
{
    for (; scope != NULL; scope = scope->parent)
        if (atomic_load_explicit(&((lks_cancel_scope *)scope)->cancelled, memory_order_relaxed)) return true;
    return false;
}

lks_cursor_place lks__place_below(lks_cursor_place place, int64_t n, bool all)
{
    place.held = all ? n : n > INT64_MAX - place.held ? INT64_MAX : place.held + n;
    return place;
}

lks_status lks__cursor_open(lks_dataset *ds, lks_cursor_place place, lks_cursor **out)
{
    lks_status status = lks_dataset_status(ds);
    lks_cursor *n;

    if (status != LKS_OK) return status;
    if (ds == place.bypass) {
        lks__map_begin_pass(ds);
        place.bypass = NULL;
        ds = ds->input[0];
    }
    n = lks__calloc(1, ds->stage->cursor_size);
    if (n == NULL) return lks__fail(LKS_E_NOMEM, "no memory for an iterator of stage '%s'", ds->stage->name);
    n->stage = ds->stage;
    n->dataset = lks_dataset_retain(ds);
    if (ds->stage != &lks__stage_map) place.placer = NULL;
    n->place = place;
    if (place.meters != NULL) n->meter = lks__meter_of(place.meters, ds, place.lineage != 0);
    status = ds->stage->open != NULL ? ds->stage->open(n) : lks__cursor_open_inputs(n);
    if (status != LKS_OK) {
        lks__cursor_close(n);
        return status;
    }
    *out = n;
    return LKS_OK;
}

lks_status lks__cursor_open_inputs(lks_cursor *n)
{
    return lks__cursor_open_inputs_at(n, n->place);
}

lks_status lks__cursor_open_inputs_at(lks_cursor *n, lks_cursor_place place)
{
    if (n->dataset->n_inputs == 0) return LKS_OK;
    if (n->input == NULL) n->input = lks__calloc(n->dataset->n_inputs, sizeof *n->input);
    if (n->input == NULL) return lks__fail(LKS_E_NOMEM, "no memory for the inputs of '%s'", n->stage->name);
    for (size_t i = 0; i < n->dataset->n_inputs; i++)
        if (n->input[i] == NULL) LKS_TRY(lks__cursor_open(n->dataset->input[i], place, &n->input[i]));
    return LKS_OK;
}

void lks__cursor_close_input(lks_cursor *n, size_t i)
{
    if (n->input == NULL) return;
    lks__cursor_close(n->input[i]);
    n->input[i] = NULL;
}

void lks__cursor_close(lks_cursor *n)
{
    if (n == NULL) return;
    if (n->stage->close != NULL) n->stage->close(n);
    for (size_t i = 0; n->input != NULL && i < n->dataset->n_inputs; i++) lks__cursor_close(n->input[i]);
    lks__free(n->input);
    lks__buffers_rest(n->buffers, &n->dataset->resting);
    lks_dataset_release(n->dataset);
    lks__free(n);
}

static lks_status cancelled(void)
{
    return lks__fail(LKS_E_CANCELED, "the iterator was cancelled");
}

lks_status lks__cursor_next(lks_cursor *n, lks_element **out)
{
    if (lks__cancelled(n->place.scope)) return cancelled();
    return n->meter == NULL ? n->stage->next(n, out) : lks__metered_next(n, out);
}

lks_status lks__cursor_skip(lks_cursor *n, int64_t count, int64_t *done)
{
    lks_element *e;

    *done = 0;
    if (lks__cancelled(n->place.scope)) return cancelled();
    if (n->stage->skip != NULL) return n->stage->skip(n, count, done);
    for (; *done < count; (*done)++) {
        lks_status status = lks__cursor_next(n, &e);
        if (status == LKS_OK) lks_element_release(e);
        else if (status == LKS_END) return LKS_OK;
        else if (status == LKS_E_CANCELED) return status;
    }
    return LKS_OK;
}

lks_status lks__cursor_pass(lks_cursor *n)
{
    lks_element *e;

    if (n->stage->pass != NULL) return lks__cancelled(n->place.scope) ? cancelled() : n->stage->pass(n);
    LKS_TRY(lks__cursor_next(n, &e));
    lks_element_release(e);
    return LKS_OK;
}

lks_status lks__cursor_skip_to(const lks_cursor *n, int64_t *next, int64_t count, int64_t *done)
{
    const int64_t left = n->dataset->cardinality - *next;

    *done = count < left ? count : left;
    *next += *done;
    return LKS_OK;
}

lks_status lks__cursor_next_rows(lks_cursor *n, int64_t *rows, int64_t want, int64_t *got)
{
    *got = 0;
    if (lks__cancelled(n->place.scope)) return cancelled();
    return n->meter == NULL ? n->stage->next_rows(n, rows, want, got) : lks__metered_rows(n, rows, want, got);
}

lks_buffers *lks__cursor_buffers(lks_cursor *n)
{
    if (n->buffers == NULL) n->buffers = lks__buffers_wake(&n->dataset->resting, n->dataset->spec, n->place.held);
    return n->buffers;
}

lks_element *lks__cursor_element(lks_cursor *n)
{
    lks_buffers *b = lks__cursor_buffers(n);

    return b == NULL ? NULL : lks__buffers_element(b);
}

lks_status lks__cursor_fail(const lks_cursor *n, lks_status code, const char *fmt, ...)
{
    char text[LKS_ERROR_TEXT];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    lks__fail(code, "%s (stage %d): %s", n->stage->name, n->dataset->number, text);
    return code;
}
