/* dataset.c - recipes: counted, immutable once built, carrying the first failure through all further builders. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stage.h"

lks_dataset *lks_dataset_retain(lks_dataset *dataset)
{
    if (dataset != NULL) atomic_fetch_add(&dataset->references, 1);
    return dataset;
}

static void drop_inputs(lks_dataset *ds)
{
    for (size_t i = 0; i < ds->n_inputs; i++) lks_dataset_release(ds->input[i]);
    lks__free(ds->input);
    ds->input = NULL;
    ds->n_inputs = 0;
}

/* Long chains are let go one by one, not by recursion. */
void lks_dataset_release(lks_dataset *dataset)
{
    while (dataset != NULL && atomic_fetch_sub(&dataset->references, 1) == 1) {
        lks_dataset *next = NULL;
        if (dataset->original == NULL && dataset->stage->destroy != NULL) dataset->stage->destroy(dataset);
        lks_dataset_release(dataset->original);
        lks__free(dataset->extra);
        if (dataset->n_inputs > 0) {
            next = dataset->input[0];
            dataset->input[0] = NULL;
        }
        drop_inputs(dataset);
        lks__buffers_release(atomic_load(&dataset->resting));
        lks_spec_release(dataset->spec);
        lks__free(dataset->error);
        lks__free(dataset);
        dataset = next;
    }
}

lks_status lks_dataset_status(const lks_dataset *dataset)
{
    if (dataset == NULL)
        return lks__fail(LKS_E_NOMEM, "the dataset is NULL: a builder found no memory, or it was never built");
    return dataset->error == NULL ? LKS_OK : lks__error_raise(dataset->error);
}

int64_t lks_dataset_cardinality(const lks_dataset *dataset)
{
    return lks__dataset_ok(dataset) ? dataset->cardinality : LKS_UNKNOWN_CARDINALITY;
}

const lks_spec *lks_dataset_spec(const lks_dataset *dataset)
{
    return lks__dataset_ok(dataset) ? dataset->spec : NULL;
}

bool lks__dataset_ok(const lks_dataset *ds)
{
    return ds != NULL && ds->error == NULL;
}

/* The input that decides alone: a NULL one (then NULL) or the first failed one. The others are let go. */
static bool stuck(size_t n, lks_dataset *const *inputs, lks_dataset **out)
{
    size_t pick = n;

    for (size_t i = 0; i < n && pick == n; i++)
        if (inputs[i] == NULL) pick = i;
    for (size_t i = 0; i < n && pick == n; i++)
        if (inputs[i]->error != NULL) pick = i;
    if (pick == n) return false;
    *out = inputs[pick];
    for (size_t i = 0; i < n; i++)
        if (i != pick) lks_dataset_release(inputs[i]);
    return true;
}

lks_dataset *lks__dataset_begin(const lks_stage *stage, size_t n, lks_dataset *const *inputs)
{
    lks_dataset *ds;

    if (stuck(n, inputs, &ds)) return ds;
    ds = lks__calloc(1, stage->dataset_size);
    if (ds != NULL) ds->input = lks__calloc(n, sizeof *ds->input);
    if (ds == NULL || ds->input == NULL) {
        lks__free(ds);
        for (size_t i = 0; i < n; i++) lks_dataset_release(inputs[i]);
        lks__fail(LKS_E_NOMEM, "no memory for the dataset stage '%s'", stage->name);
        return NULL;
    }
    atomic_init(&ds->references, 1);
    ds->stage = stage;
    ds->n_inputs = n;
    ds->cardinality = LKS_UNKNOWN_CARDINALITY;
    ds->number = 1;
    for (size_t i = 0; i < n; i++) {
        ds->input[i] = inputs[i];
        if (inputs[i]->number >= ds->number) ds->number = inputs[i]->number + 1;
    }
    if (n == 1) {
        ds->spec = lks_spec_retain(inputs[0]->spec);
        ds->cardinality = inputs[0]->cardinality;
    }
    return ds;
}

lks_dataset *lks__dataset_begin1(const lks_stage *stage, lks_dataset *input)
{
    return lks__dataset_begin(stage, 1, &input);
}

lks_dataset *lks__dataset_fail(lks_dataset *ds, lks_status code)
{
    code = lks__context(code, "%s (stage %d)", ds->stage->name, ds->number);
    ds->error = lks__calloc(1, sizeof *ds->error);
    if (ds->error == NULL) {
        lks_dataset_release(ds);
        return NULL;
    }
    lks__error_capture(ds->error, code);
    drop_inputs(ds);
    return ds;
}

lks_dataset *lks__dataset_spec_is(lks_dataset *ds, lks_spec *spec)
{
    if (spec == NULL) return lks__dataset_fail(ds, lks__error_code());
    lks_spec_release(ds->spec);
    ds->spec = spec;
    return ds;
}

void lks__options(void *out, size_t size, const void *options)
{
    size_t given = 0;

    memset(out, 0, size);
    if (options == NULL) return;
    memcpy(&given, options, sizeof given);
    memcpy(out, options, given < size ? given : size);
}

lks_status lks__option_parallel(const char *name, int64_t value)
{
    if (value >= LKS_AUTOTUNE) return LKS_OK;
    return lks__fail(LKS_E_ARG, "%s must be at least 1 or LKS_AUTOTUNE (-1), found %lld", name,
                     (long long)lks__option_int(value, 0));
}

int64_t lks__option_int(int64_t value, int64_t default_value)
{
    if (value == LKS_ZERO_INT) return 0;
    return value == 0 ? default_value : value;
}

void lks__seeds(int64_t seed, int64_t global_seed, int64_t default_seed, uint64_t pair[2])
{
    const int64_t modulus = INT32_MAX;
    int64_t first = global_seed == 0 ? 87654321 : lks__option_int(global_seed, 0);
    int64_t second = lks__option_int(seed, default_seed);

    pair[0] = (uint64_t)(((first % modulus) + modulus) % modulus);
    pair[1] = (uint64_t)(((second % modulus) + modulus) % modulus);
    if (pair[0] == 0 && pair[1] == 0) pair[1] = (uint64_t)modulus;
}
