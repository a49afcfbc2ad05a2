/* files_hostile.c - broken and hostile files: each is refused in a sentence or loads, as its verdict says. A crash or a hang ends
 * this program, which is a failure of the whole set.
 */
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "files/weights.h"
#include "model/model.h"
#include "support/shared.h"

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* "0.25 everywhere" is what the first kernel of some files holds. */
static void check_constant(golden_report *r, lks_model *model)
{
    lks_tensor *kernel = lks_model_weight(model, 0);

    for (int64_t k = 0; kernel != NULL && k < lks_tensor_size(kernel); k++) {
        if (golden_element(kernel, k) == 0.25) continue;
        golden_fault(r, "%s holds %g, expected 0.25", lks_model_weight_path(model, 0), golden_element(kernel, k));
        break;
    }
    lks_tensor_release(kernel);
}

/* Loads it; false: refused, and lks_last_error says why. */
static bool load(golden_report *r, const char *path, const char *expect)
{
    lks_weights weights = { 0 };
    lks_model *model;
    bool loaded;

    if (ends_with(path, ".weights.h5")) {
        loaded = lks__weights_load(path, &weights) == LKS_OK;
        lks__weights_free(&weights);
        return loaded;
    }
    model = lks_load(path);
    if (model != NULL && strstr(expect, "0.25 everywhere") != NULL) check_constant(r, model);
    lks_model_release(model);
    return model != NULL;
}

static void check(golden_report *r, const char *path, const char *verdict, const char *expect)
{
    bool loaded = load(r, path, expect);

    if (r->verbose) printf("  %s: %s%s\n", r->name, loaded ? "loaded" : "refused: ", loaded ? "" : lks_last_error());
    if (!loaded && *lks_last_error() == '\0') golden_fault(r, "refused without a sentence");
    if (strcmp(verdict, "load") == 0 && !loaded)
        golden_fault(r, "refused (%s), expected: %s", lks_last_error(), expect);
    if (strcmp(verdict, "refuse") == 0 && loaded) golden_fault(r, "loaded, expected: %s", expect);
}

void golden_files_hostile(golden_folder *f)
{
    json_t *item;
    size_t i;

    json_array_foreach(json_object_get(f->index, "files"), i, item)
    {
        const char *file = golden_text(item, "file"), *verdict = golden_text(item, "verdict"),
                   *expect = golden_text(item, "expect");
        if (file == NULL || verdict == NULL || expect == NULL || !golden_begin(f->report, file)) continue;
        if (ends_with(file, ".h5") && !ends_with(file, ".weights.h5"))
            golden_not_yet(f->report, "reader of whole models in HDF5");
        else check(f->report, in_folder(f->path, file), verdict, expect);
        golden_end(f->report);
    }
}
