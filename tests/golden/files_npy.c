/* files_npy.c - NumPy's arrays and archives of arrays: values, or a refusal. */
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "lockstep/files.h"
#include "support/shared.h"
#include "tensor/tensor.h"

static void flatten(const json_t *value, double *out, int64_t *n, int64_t limit)
{
    json_t *item;
    size_t i;

    if (json_is_array(value)) {
        json_array_foreach((json_t *)value, i, item) flatten(item, out, n, limit);
        return;
    }
    if (*n < limit) out[*n] = json_is_boolean(value) ? json_is_true(value) : golden_double(value);
    ++*n;
}

static void check_values(golden_report *r, const json_t *item, const lks_tensor *t)
{
    double values[4096];
    int64_t n = 0;
    const char *dtype = golden_text(item, "dtype");
    json_t *shape = json_object_get(item, "shape");
    lks_shape have = lks_tensor_shape(t);

    if (dtype != NULL && strcmp(dtype, lks_dtype_name(lks_tensor_dtype(t))) != 0) {
        golden_fault(r, "dtype %s, expected %s", lks_dtype_name(lks_tensor_dtype(t)), dtype);
    }
    if (json_is_array(shape) && json_array_size(shape) != (size_t)have.rank)
        golden_fault(r, "%lld axes", (long long)have.rank);
    for (int64_t i = 0; json_is_array(shape) && i < have.rank; i++) {
        if (json_integer_value(json_array_get(shape, (size_t)i)) != have.dim[i])
            golden_fault(r, "axis %lld differs", (long long)i);
    }
    if (json_object_get(item, "values") == NULL || !golden_running(r)) return;
    flatten(json_object_get(item, "values"), values, &n, 4096);
    if (n != lks_tensor_size(t))
        golden_fault(r, "%lld values, expected %lld", (long long)lks_tensor_size(t), (long long)n);
    for (int64_t i = 0; i < n && golden_running(r); i++)
        golden_number(r, "value", golden_element(t, i), values[i], 0, 0);
}

/* "load...": must load; "refuse" or "error" at the start: must not; both words: either. */
static void judge(golden_report *r, const char *expect, bool loaded)
{
    bool may_load = strncmp(expect, "load", 4) == 0 || strstr(expect, " or ") != NULL || strncmp(expect, "raw", 3) == 0;
    bool may_refuse = strncmp(expect, "load", 4) != 0 || strstr(expect, " or ") != NULL;

    if (r->verbose && !loaded) printf("  %s: refused: %s\n", r->name, lks_last_error());
    if (loaded && !may_load) golden_fault(r, "loaded, expected: %s", expect);
    if (!loaded && !may_refuse) golden_fault(r, "refused (%s), expected: %s", lks_last_error(), expect);
}

static void check_npy(golden_folder *f, const json_t *item)
{
    lks_tensor *t = NULL;
    bool loaded = lks_read_npy(in_folder(f->path, golden_text(item, "file")), &t) == LKS_OK;

    judge(f->report, golden_text(item, "expect"), loaded);
    if (loaded) check_values(f->report, item, t);
    lks_tensor_release(loaded ? t : NULL);
}

/* All arrays of the archive can be read. */
static void check_npz(golden_folder *f, const json_t *item)
{
    lks_npz *npz = NULL;
    bool ok = lks__npz_open(in_folder(f->path, golden_text(item, "file")), &npz) == LKS_OK;

    for (size_t i = 0; ok && i < lks__npz_count(npz); i++) {
        lks_tensor *t = NULL;
        ok = lks__npz_read(npz, lks__npz_name(npz, i), &t) == LKS_OK;
        if (ok) lks_tensor_release(t);
    }
    judge(f->report, golden_text(item, "expect"), ok);
    lks__npz_close(npz);
}

void golden_files_npy(golden_folder *f)
{
    static const char *const lists[] = { "npy", "npz" };
    json_t *item;
    size_t i;

    for (int k = 0; k < 2; k++) {
        json_array_foreach(json_object_get(f->index, lists[k]), i, item)
        {
            if (golden_text(item, "file") == NULL || golden_text(item, "expect") == NULL) continue;
            if (!golden_begin(f->report, golden_text(item, "file"))) continue;
            if (k == 0) check_npy(f, item);
            else check_npz(f, item);
            golden_end(f->report);
        }
    }
}
