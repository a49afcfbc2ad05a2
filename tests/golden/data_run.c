/* data_run.c - the data topic: every case of transforms, shuffle, cardinality, files and special.json. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data.h"
#include "golden.h"

enum { MAX_ERRORS = 5, WHY = 160 };

/* Where the manual states that we differ from the reference on purpose: what is expected instead (JSON of the passes), or NULL for
 * a refusal when the dataset is built. */
static const struct {
    const char *name, *passes;
} departures[] = {
    /* a stray quote is reported and the next line is read, where tf.data stays inside the quotes to the end of the file */
    { "csv badquote", "[[{\"error\": {\"type\": \"InvalidArgumentError\"}}, {\"tuple\": [2, \"c\"]}]]" },
    /* names that start with a dot match only patterns that do */
    { "list_files dotfile by star", NULL },
};

/* From element i on the record shows nothing but errors of the kind that stands there: the reference never gets past it. We do. */
static bool stuck(const json_t *want, size_t i)
{
    const json_t *error = json_object_get(json_array_get(want, i), "error");

    if (error == NULL || i + 1 >= json_array_size(want)) return false;
    for (size_t k = i + 1; k < json_array_size(want); k++)
        if (!json_equal(json_object_get(error, "type"),
                        json_object_get(json_object_get(json_array_get(want, k), "error"), "type")))
            return false;
    return true;
}

/* Nothing but refusals was recorded: refusing when the dataset is built is the same, only sooner. */
static bool only_errors(const json_t *passes, lks_status status)
{
    for (size_t i = 0; i < json_array_size(passes); i++)
        for (size_t k = 0; k < json_array_size(json_array_get(passes, i)); k++)
            if (!data_error_equal(status, json_object_get(json_array_get(json_array_get(passes, i), k), "error")))
                return false;
    return json_array_size(passes) > 0 && json_array_size(json_array_get(passes, 0)) > 0;
}

/* Reads on to the end, which must come. */
static void run_out(golden_report *r, lks_iter *it)
{
    lks_status status = LKS_OK;

    for (int i = 0; i < 10000 && status != LKS_END; i++) {
        lks_element *e = NULL;
        status = lks_iter_next(it, &e);
        if (status == LKS_OK) lks_element_release(e);
    }
    if (status != LKS_END) golden_fault(r, "the pass does not end");
}

/* One pass against the recorded list: elements and errors in their places; the pass ends where the record says so. */
static void run_pass(golden_report *r, lks_dataset *ds, const json_t *want, bool cut, int pass)
{
    char why[WHY] = "";
    lks_iter *it = NULL;
    int errors = 0;
    bool ran_out = false;

    if (!golden_ok(r, lks_iter_create(ds, &it), "making an iterator")) return;
    for (size_t i = 0; i < json_array_size(want) && golden_running(r); i++) {
        const json_t *expected = json_array_get(want, i);
        lks_element *e = NULL;
        lks_status status = lks_iter_next(it, &e);
        if (status == LKS_E_UNSUPPORTED) {
            golden_ok(r, status, "an element");
        } else if (status == LKS_OK) {
            if (!data_equal(e, expected, why, sizeof why)) golden_fault(r, "pass %d, element %zu: %s", pass, i, why);
            lks_element_release(e);
        } else if (!data_error_equal(status, json_object_get(expected, "error"))) {
            golden_fault(r, "pass %d, element %zu: %s (%s)", pass, i, lks_status_name(status),
                         status == LKS_END ? "too soon" : lks_last_error());
        } else if (stuck(want, i)) {
            run_out(r, it);
            ran_out = true;
            break;
        } else {
            errors++;
        }
    }
    if (golden_running(r) && !cut && errors < MAX_ERRORS && !ran_out) {
        lks_element *e = NULL;
        lks_status status = lks_iter_next(it, &e);
        if (status == LKS_OK) lks_element_release(e);
        if (status != LKS_END) golden_fault(r, "pass %d does not end after %zu", pass, json_array_size(want));
    }
    lks_iter_release(it);
}

static void check_static(golden_report *r, const lks_dataset *ds, const json_t *c)
{
    const json_t *spec = json_object_get(c, "element_spec"), *n = json_object_get(c, "cardinality");
    const char *word = json_string_value(n);
    int64_t want = json_integer_value(n), got = lks_dataset_cardinality(ds);

    if (word != NULL) want = strcmp(word, "INFINITE") == 0 ? LKS_INFINITE_CARDINALITY : LKS_UNKNOWN_CARDINALITY;
    if (n != NULL && got != want) golden_fault(r, "cardinality %lld, expected %lld", (long long)got, (long long)want);
    if (spec != NULL && !data_spec_equal(lks_dataset_spec(ds), spec)) golden_fault(r, "the element spec differs");
}

static void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.') unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL) closedir(dir);
    rmdir(path);
}

static void run_case(golden_report *r, const char *folder, const json_t *c)
{
    char scratch[] = "/tmp/golden-data-XXXXXX";
    const json_t *passes = json_object_get(c, "passes"), *g = json_object_get(c, "global_seed");
    const json_t *build_error = json_object_get(c, "build_error");
    json_t *instead = NULL;
    data_world world = { folder, scratch, json_is_integer(g), json_integer_value(g), NULL };
    lks_dataset *ds = mkdtemp(scratch) == NULL ? NULL : data_build(&world, json_object_get(c, "pipeline"));

    for (size_t i = 0; i < sizeof departures / sizeof *departures; i++) {
        if (strcmp(departures[i].name, json_string_value(json_object_get(c, "name"))) != 0) continue;
        instead = departures[i].passes == NULL ? json_null() : json_loads(departures[i].passes, 0, NULL);
        passes = instead;
    }
    if (world.not_yet != NULL) {
        golden_not_yet(r, "%s", world.not_yet);
        remove_folder(scratch);
        return;
    }
    if (build_error != NULL || json_is_null(passes)) {
        if (build_error == NULL ? lks_dataset_status(ds) == LKS_OK
                                : !data_error_equal(lks_dataset_status(ds), build_error))
            golden_fault(r, "building was not refused");
    } else if (lks_dataset_status(ds) != LKS_OK && only_errors(passes, lks_dataset_status(ds))) {
        if (*lks_last_error() == '\0') golden_fault(r, "a refusal without a sentence");
    } else if (golden_ok(r, lks_dataset_status(ds), "building")) {
        check_static(r, ds, c);
        for (size_t i = 0; i < json_array_size(passes) && golden_running(r); i++)
            run_pass(r, ds, json_array_get(passes, i), json_object_get(c, "cut_at") != NULL, (int)i);
    }
    json_decref(instead);
    lks_dataset_release(ds);
    remove_folder(scratch);
}

static bool run_file(const char *folder, const char *name, golden_report *sum)
{
    char path[2048], sources[2048];
    golden_report r = { .verbose = sum->verbose, .only = sum->only };
    json_t *set, *cases;

    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    snprintf(sources, sizeof sources, "%s/sources", folder);
    if (!golden_is_file(path)) return false;
    set = golden_read_json(path);
    cases = json_object_get(set, "cases");
    if (cases == NULL) data_special(&r, set);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i);
        const char *title = json_string_value(json_object_get(c, "name"));
        if (!golden_begin(&r, title == NULL ? "?" : title)) continue;
        run_case(&r, sources, c);
        golden_end(&r);
    }
    json_decref(set);
    golden_print(name, &r);
    golden_add(sum, &r);
    return true;
}

static bool run(const char *folder, golden_report *sum)
{
    static const char *const files[] = { "transforms", "shuffle", "cardinality", "files", "special" };
    bool any = false;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) any |= run_file(folder, files[i], sum);
    return any;
}

const golden_topic golden_data = { "data", run };
