/* zip.c - one element of each input; ends with the shortest. After a failure in one input the others still advance one step, so
 * that they stay aligned. */
#include <string.h>

#include "data/stages.h"

/* Takes one element of every input, up to the first that has ended; a failure before it is told first. */
static lks_status take_all(lks_cursor *n, lks_element **in)
{
    lks_error error = { LKS_OK, "" };
    lks_status first = LKS_OK;

    for (size_t i = 0; i < n->dataset->n_inputs; i++) {
        lks_status status = lks__cursor_next(n->input[i], &in[i]);
        if (status == LKS_OK) continue;
        in[i] = NULL;
        if (status == LKS_END) return first == LKS_OK ? LKS_END : lks__error_raise(&error);
        if (first == LKS_OK) {
            first = status;
            lks__error_capture(&error, status);
        }
    }
    return lks__error_raise(&error);
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    size_t inputs = n->dataset->n_inputs, at = 0;
    lks_element *few[8] = { NULL }, **in = inputs <= 8 ? few : lks__calloc(inputs, sizeof *in), *e = NULL;
    lks_status status;

    if (in == NULL) return lks__cursor_fail(n, LKS_E_NOMEM, "no memory for %zu elements", inputs);
    status = take_all(n, in);
    if (status == LKS_OK && (e = lks__cursor_element(n)) == NULL) status = LKS_E_NOMEM;
    for (size_t i = 0; i < inputs; i++) {
        for (size_t k = 0; e != NULL && k < lks_element_count(in[i]); k++) lks__element_share(e, at++, in[i], k);
        lks_element_release(in[i]);
    }
    if (in != few) lks__free(in);
    if (status == LKS_OK) *out = e;
    return status;
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    *done = count;
    for (size_t i = 0; i < n->dataset->n_inputs; i++) {
        int64_t passed = 0;
        LKS_TRY(lks__cursor_skip(n->input[i], count, &passed));
        if (passed < *done) *done = passed;
    }
    return LKS_OK;
}

const lks_stage lks__stage_zip = {
    .name = "zip", .dataset_size = sizeof(lks_dataset), .cursor_size = sizeof(lks_cursor), .next = next, .skip = skip
};

static int64_t cardinality(const lks_dataset *ds)
{
    int64_t n = LKS_INFINITE_CARDINALITY;

    for (size_t i = 0; i < ds->n_inputs; i++) {
        int64_t c = ds->input[i]->cardinality;
        if (c == LKS_UNKNOWN_CARDINALITY) return c;
        if (c >= 0 && (n < 0 || c < n)) n = c;
    }
    return n;
}

static bool all_named(size_t n, const char *const *names)
{
    for (size_t i = 0; i < n; i++)
        if (names[i] == NULL) return false;
    return true;
}

static lks_dataset *build(size_t n, const char *const *names, lks_dataset *const *datasets)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_zip, n, datasets);
    lks_spec **child;
    lks_spec *spec;

    if (!lks__dataset_ok(ds)) return ds;
    if (n == 0) return lks__dataset_fail(ds, lks__fail(LKS_E_ARG, "no dataset given"));
    if (names != NULL && !all_named(n, names))
        return lks__dataset_fail(ds, lks__fail(LKS_E_ARG, "each of the %zu datasets needs a name", n));
    child = lks__calloc(n, sizeof *child);
    if (child == NULL) return lks__dataset_fail(ds, lks__fail(LKS_E_NOMEM, "no memory for an element spec"));
    for (size_t i = 0; i < n; i++) child[i] = lks_spec_retain(ds->input[i]->spec);
    spec = names == NULL ? lks_spec_tuple(n, child) : lks_spec_dict(n, names, child);
    lks__free(child);
    ds->cardinality = cardinality(ds);
    return lks__dataset_spec_is(ds, spec);
}

lks_dataset *lks_zip_n(size_t n, lks_dataset *const *datasets)
{
    return build(n, NULL, datasets);
}

/* Dict components stand in the order of their names: so must the inputs. rank[i] = how many names sort before. */
lks_dataset *lks_zip_named(size_t n, const char *const *names, lks_dataset *const *datasets)
{
    lks_dataset **sorted, *ds;

    if (!all_named(n, names)) return build(n, names, datasets);
    sorted = lks__calloc(n, sizeof *sorted);
    if (sorted == NULL) {
        for (size_t i = 0; i < n; i++) lks_dataset_release(datasets[i]);
        lks__fail(LKS_E_NOMEM, "no memory for the dataset stage 'zip'");
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        size_t rank = 0;
        for (size_t j = 0; j < n; j++) {
            int order = strcmp(names[j], names[i]);
            rank += order < 0 || (order == 0 && j < i);
        }
        sorted[rank] = datasets[i];
    }
    ds = build(n, names, sorted);
    lks__free(sorted);
    return ds;
}
