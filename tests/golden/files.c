/* files.c - the topic "files": archives, arrays, hostile files. A folder that this program cannot read counts its files as "not
 * yet"; folders that are not there are passed over.
 */
#include "files.h"

#include <stdio.h>
#include <string.h>

#include "support/shared.h"

static const struct {
    const char *name;
    void (*run)(golden_folder *f);
    const char *list; /* of the index, where there is no reader */
} groups[] = {
    { "keras", golden_files_keras, NULL },
    { "older", golden_files_older, NULL },
    { "hostile", golden_files_hostile, NULL },
    { "npy", golden_files_npy, NULL },
    { "weights_h5", NULL, NULL },
    { "legacy_h5", NULL, "files" },
    { "images", golden_files_images, NULL },
    { "folder", golden_files_folder, NULL },
    { "tfrecord", golden_files_tfrecord, NULL },
    { "tensorboard", NULL, "cases" },
};

static void count_only(golden_folder *f, const char *name, const char *list)
{
    json_t *items = list != NULL ? json_object_get(f->index, list) : f->index;

    for (size_t i = 0; i < json_array_size(items); i++) {
        if (!golden_begin(f->report, name)) continue;
        golden_not_yet(f->report, "reader of %s", name);
        golden_end(f->report);
    }
}

static bool run_group(const char *folder, size_t k, golden_report *sum)
{
    golden_report report = { .verbose = sum->verbose, .only = sum->only };
    char path[2048];
    golden_folder f = { path, NULL, &report };

    snprintf(path, sizeof path, "%s/%s", folder, groups[k].name);
    if (!golden_is_file(in_folder(path, "index.json"))) return false;
    f.index = golden_read_json(in_folder(path, "index.json"));
    if (f.index == NULL) report.failed++;
    else if (groups[k].run != NULL) groups[k].run(&f);
    else count_only(&f, groups[k].name, groups[k].list);
    json_decref(f.index);
    if (report.passed + report.failed + report.not_yet > 0) golden_print(groups[k].name, &report);
    golden_add(sum, &report);
    return true;
}

static bool run(const char *folder, golden_report *sum)
{
    bool any = false;

    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) any = run_group(folder, k, sum) || any;
    if (!any) printf("%s holds no group of golden files\n", folder);
    return any;
}

const golden_topic golden_files = { "files", run };
