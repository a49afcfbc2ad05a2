/* concatenate.c - all of the first input, then all of the second. */
#include "data/stages.h"

typedef struct concatenate_cursor {
    lks_cursor base;
    size_t at;
} concatenate_cursor;

static lks_status open_at(lks_cursor *n)
{
    size_t i = ((concatenate_cursor *)n)->at;

    if (n->input == NULL) n->input = lks__calloc(n->dataset->n_inputs, sizeof *n->input);
    if (n->input == NULL) return lks__fail(LKS_E_NOMEM, "no memory for the inputs of 'concatenate'");
    return n->input[i] != NULL ? LKS_OK : lks__cursor_open(n->dataset->input[i], n->place, &n->input[i]);
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    concatenate_cursor *c = (concatenate_cursor *)n;

    while (c->at < n->dataset->n_inputs) {
        lks_status status;
        LKS_TRY(open_at(n));
        status = lks__cursor_next(n->input[c->at], out);
        if (status != LKS_END) return status;
        lks__cursor_close_input(n, c->at++);
    }
    return LKS_END;
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    concatenate_cursor *c = (concatenate_cursor *)n;

    while (c->at < n->dataset->n_inputs && *done < count) {
        int64_t passed = 0;
        LKS_TRY(open_at(n));
        LKS_TRY(lks__cursor_skip(n->input[c->at], count - *done, &passed));
        *done += passed;
        if (*done < count) lks__cursor_close_input(n, c->at++);
    }
    return LKS_OK;
}

const lks_stage lks__stage_concatenate = { .name = "concatenate",
                                           .dataset_size = sizeof(lks_dataset),
                                           .cursor_size = sizeof(concatenate_cursor),
                                           .open = open_at,
                                           .next = next,
                                           .skip = skip };

lks_dataset *lks_dataset_concatenate(lks_dataset *a, lks_dataset *b)
{
    lks_dataset *inputs[2] = { a, b }, *ds = lks__dataset_begin(&lks__stage_concatenate, 2, inputs);
    int64_t n, m;

    if (!lks__dataset_ok(ds)) return ds;
    n = a->cardinality;
    m = b->cardinality;
    if (n == LKS_INFINITE_CARDINALITY || m == LKS_INFINITE_CARDINALITY) ds->cardinality = LKS_INFINITE_CARDINALITY;
    else if (n < 0 || m < 0) ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    else ds->cardinality = n > INT64_MAX - m ? LKS_INFINITE_CARDINALITY : n + m;
    return lks__dataset_spec_is(ds, lks__spec_join(a->spec, b->spec));
}
