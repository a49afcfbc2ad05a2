/* choose.c - choose_from_datasets: a dataset of numbers says which input gives the next element. */
#include "data/predicate.h"
#include "data/stages.h"

typedef struct choose_dataset {
    lks_dataset base; /* inputs: choice, then the datasets */
    bool stop_on_empty;
} choose_dataset;

typedef struct choose_cursor {
    lks_cursor base;
    bool *exhausted;
    size_t left;
    bool ended;
} choose_cursor;

static lks_status open(lks_cursor *n)
{
    choose_cursor *c = (choose_cursor *)n;

    c->left = n->dataset->n_inputs - 1;
    c->exhausted = lks__calloc(n->dataset->n_inputs, sizeof *c->exhausted);
    if (c->exhausted == NULL) return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for %zu inputs", c->left);
    return lks__cursor_open_inputs(n);
}

/* The number of the next input (from 1). */
static lks_status choice(lks_cursor *n, size_t *out)
{
    int64_t inputs = (int64_t)n->dataset->n_inputs - 1, picked;
    lks_element *e;

    LKS_TRY(lks__cursor_next(n->input[0], &e));
    picked = lks__scalar_value(lks_element_tensor(e, 0));
    lks_element_release(e);
    if (picked < 0 || picked >= inputs)
        return lks__cursor_fail(n, LKS_E_ARG, "the choice %lld does not lie in [0, %lld)", (long long)picked,
                                (long long)inputs);
    *out = (size_t)picked + 1;
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    choose_cursor *c = (choose_cursor *)n;

    while (!c->ended && c->left > 0) {
        size_t picked = 0;
        lks_status status;
        LKS_TRY(choice(n, &picked));
        if (c->exhausted[picked]) continue;
        status = lks__cursor_next(n->input[picked], out);
        if (status != LKS_END) return status;
        c->exhausted[picked] = true;
        c->left--;
        c->ended = ((const choose_dataset *)n->dataset)->stop_on_empty;
    }
    return LKS_END;
}

static void close(lks_cursor *n)
{
    lks__free(((choose_cursor *)n)->exhausted);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_int(r, ((const choose_dataset *)ds)->stop_on_empty);
}

const lks_stage lks__stage_choose = { .name = "choose_from_datasets",
                                      .dataset_size = sizeof(choose_dataset),
                                      .cursor_size = sizeof(choose_cursor),
                                      .open = open,
                                      .next = next,
                                      .close = close,
                                      .describe = describe };

static lks_status check_choice(const lks_spec *spec)
{
    char text[LKS_SPEC_TEXT];

    if (lks_spec_kind_of(spec) == LKS_SPEC_TENSOR && lks_spec_dtype(spec) == LKS_INT64 &&
        lks_spec_shape(spec).rank == 0)
        return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "choices must be int64 scalars, found %s", lks__spec_text(spec, text));
}

/* The spec that all inputs but the first share. */
static lks_spec *common_spec(const lks_dataset *ds)
{
    lks_spec *spec = lks_spec_retain(ds->input[1]->spec);

    for (size_t i = 2; i < ds->n_inputs && spec != NULL; i++) {
        lks_spec *wider = lks__spec_join(spec, ds->input[i]->spec);
        lks_spec_release(spec);
        spec = wider;
    }
    return spec;
}

lks_dataset *lks_choose_from_datasets_with(lks_dataset *choice, size_t n, lks_dataset *const *datasets,
                                           const lks_choose_options *options)
{
    lks_dataset **inputs = lks__calloc(n + 1, sizeof *inputs), *ds;
    lks_choose_options o;
    lks_status status;

    if (inputs == NULL) {
        lks_dataset_release(choice);
        for (size_t i = 0; i < n; i++) lks_dataset_release(datasets[i]);
        lks__fail(LKS_E_NOMEM, "no memory for the dataset stage 'choose_from_datasets'");
        return NULL;
    }
    lks__options(&o, sizeof o, options);
    inputs[0] = choice;
    for (size_t i = 0; i < n; i++) inputs[i + 1] = datasets[i];
    ds = lks__dataset_begin(&lks__stage_choose, n + 1, inputs);
    lks__free(inputs);
    if (!lks__dataset_ok(ds)) return ds;
    status = n == 0 ? lks__fail(LKS_E_ARG, "no dataset given") : check_choice(ds->input[0]->spec);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    ((choose_dataset *)ds)->stop_on_empty = o.stop_on_empty_dataset != LKS_FALSE;
    ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    for (size_t i = 1; i <= n; i++)
        if (ds->input[i]->cardinality == LKS_INFINITE_CARDINALITY) ds->cardinality = LKS_INFINITE_CARDINALITY;
    return lks__dataset_spec_is(ds, common_spec(ds));
}
