/* files_folder.c - image_dataset_from_directory: files, classes, split, labels and pictures as Keras gives them for the same arguments. */
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "lockstep/dataset.h"
#include "lockstep/image_folder.h"
#include "support/shared.h"

enum { MOST = 64 };

typedef struct lists {
    const char *class_name[MOST];
    int64_t label[MOST];
} lists;

static lks_tristate tristate(const json_t *args, const char *key)
{
    const json_t *value = json_object_get(args, key);

    return value == NULL ? LKS_DEFAULT : json_is_true(value) ? LKS_TRUE : LKS_FALSE;
}

static const char *word(const json_t *args, const char *key)
{
    const json_t *value = json_object_get(args, key);

    return json_is_null(value) ? "none" : json_string_value(value);
}

static lks_image_folder_options options_of(const json_t *args, lists *l)
{
    const json_t *size = json_object_get(args, "image_size"), *names = json_object_get(args, "class_names");
    const json_t *labels = json_object_get(args, "labels"), *seed = json_object_get(args, "seed");
    lks_image_folder_options o = { .struct_size = sizeof o };

    o.height = json_integer_value(json_array_get(size, 0));
    o.width = json_integer_value(json_array_get(size, 1));
    o.batch_size = golden_int(args, "batch_size", LKS_ZERO_INT);
    o.shuffle = tristate(args, "shuffle");
    o.crop_to_aspect_ratio = tristate(args, "crop_to_aspect_ratio");
    o.pad_to_aspect_ratio = tristate(args, "pad_to_aspect_ratio");
    o.label_mode = word(args, "label_mode");
    o.labels = json_is_array(labels) ? NULL : word(args, "labels");
    o.color_mode = word(args, "color_mode");
    o.interpolation = word(args, "interpolation");
    o.subset = word(args, "subset");
    if (seed != NULL) o.seed = json_integer_value(seed) == 0 ? LKS_ZERO_INT : json_integer_value(seed);
    o.validation_split = json_number_value(json_object_get(args, "validation_split"));
    for (size_t i = 0; i < json_array_size(names) && i < MOST; i++)
        l->class_name[i] = json_string_value(json_array_get(names, i));
    for (size_t i = 0; json_is_array(labels) && i < json_array_size(labels) && i < MOST; i++)
        l->label[i] = json_integer_value(json_array_get(labels, i));
    if (names != NULL) o.class_names = l->class_name, o.n_class_names = (int64_t)json_array_size(names);
    if (json_is_array(labels)) o.label_list = l->label, o.n_labels = (int64_t)json_array_size(labels);
    return o;
}

static void check_names(golden_report *r, const lks_dataset *ds, const char *root, const json_t *want)
{
    const json_t *classes = json_object_get(want, "class_names"), *files = json_object_get(want, "file_paths");

    if ((int64_t)json_array_size(files) != lks_dataset_file_count(ds))
        golden_fault(r, "%lld files, expected %zu", (long long)lks_dataset_file_count(ds), json_array_size(files));
    if ((int64_t)json_array_size(classes) != lks_dataset_class_count(ds))
        golden_fault(r, "%lld classes, expected %zu", (long long)lks_dataset_class_count(ds), json_array_size(classes));
    for (size_t i = 0; i < json_array_size(files) && golden_running(r); i++) {
        const char *have = lks_dataset_file_path(ds, (int64_t)i) + strlen(root) + 1;
        const char *name = json_string_value(json_array_get(files, i));
        if (strcmp(have, name) != 0) golden_fault(r, "file %zu is %s, expected %s", i, have, name);
    }
    for (size_t i = 0; i < json_array_size(classes) && golden_running(r); i++)
        if (strcmp(lks_dataset_class_name(ds, (int64_t)i), json_string_value(json_array_get(classes, i))) != 0)
            golden_fault(r, "class %zu is %s", i, lks_dataset_class_name(ds, (int64_t)i));
    if (golden_int(want, "cardinality", -9) != lks_dataset_cardinality(ds))
        golden_fault(r, "cardinality %lld", (long long)lks_dataset_cardinality(ds));
}

static void check_labels(golden_report *r, const lks_tensor *t, const json_t *labels, int64_t *at)
{
    lks_shape s = lks_tensor_shape(t);
    int64_t n = s.rank == 0 ? 1 : s.dim[0], width = n > 0 ? lks_tensor_size(t) / n : 0;

    for (int64_t i = 0; i < n && golden_running(r); i++, ++*at) {
        const json_t *row = json_array_get(labels, (size_t)*at);
        for (int64_t k = 0; k < width; k++)
            golden_number(r, "label", golden_element(t, i * width + k),
                          golden_double(json_is_array(row) ? json_array_get(row, (size_t)k) : row), 0, 0);
    }
}

/* JPEG pictures may be 2 levels off; all are compared so. */
static void check_images(golden_report *r, const lks_tensor *t, const lks_tensor *want, int64_t *at)
{
    if (lks_tensor_dtype(t) != lks_tensor_dtype(want))
        golden_fault(r, "pictures are %s", lks_dtype_name(lks_tensor_dtype(t)));
    for (int64_t i = 0; i < lks_tensor_size(t) && golden_running(r); i++, ++*at) {
        if (*at >= lks_tensor_size(want)) golden_fault(r, "too many pictures");
        else golden_number(r, "pixel", golden_element(t, i), golden_element(want, *at), 0, 2);
    }
}

static void check_pass(golden_report *r, lks_dataset *ds, const json_t *want, lks_npz *npz)
{
    const json_t *labels = NULL, *value;
    const char *key, *images = golden_text(want, "images");
    lks_tensor *pixels = NULL;
    int64_t label = 0, pixel = 0;
    lks_iter *it = NULL;
    lks_element *e;

    json_object_foreach((json_t *)want, key, value) if (strncmp(key, "labels_in", 9) == 0) labels = value;
    if (images != NULL && lks__npz_read(npz, images, &pixels) != LKS_OK) golden_fault(r, "no array %s", images);
    if (!golden_ok(r, lks_iter_create(ds, &it), "iterate")) it = NULL;
    while (golden_running(r)) {
        lks_status status = lks_iter_next(it, &e);
        if (status == LKS_END || !golden_ok(r, status, "read")) break;
        if (lks_element_count(e) == 2) check_labels(r, lks_element_tensor(e, 1), labels, &label);
        if (pixels != NULL) check_images(r, lks_element_tensor(e, 0), pixels, &pixel);
        lks_element_release(e);
    }
    if (golden_running(r) && label != (int64_t)json_array_size(labels))
        golden_fault(r, "%lld labels", (long long)label);
    lks_iter_release(it);
    lks_tensor_release(pixels);
}

static void check_one(golden_report *r, lks_dataset *ds, const char *root, const json_t *want, lks_npz *npz)
{
    if (golden_ok(r, lks_dataset_status(ds), "list")) {
        check_names(r, ds, root, want);
        check_pass(r, ds, want, npz);
    }
}

static void check(golden_folder *f, const char *root, lks_npz *npz, const json_t *item)
{
    static const lists none;
    lists l = none;
    lks_image_folder_options o = options_of(json_object_get(item, "args"), &l);
    lks_dataset *ds[2] = { NULL, NULL };

    if (json_object_get(item, "training") != NULL) {
        o.subset = NULL;
        if (golden_ok(f->report, lks_image_datasets_from_directory_with(root, &ds[0], &ds[1], &o), "list both")) {
            check_one(f->report, ds[0], root, json_object_get(item, "training"), npz);
            check_one(f->report, ds[1], root, json_object_get(item, "validation"), npz);
        }
    } else {
        ds[0] = lks_image_dataset_from_directory_with(root, &o);
        if (json_object_get(item, "result") != NULL)
            check_one(f->report, ds[0], root, json_object_get(item, "result"), npz);
        else if (lks_dataset_status(ds[0]) == LKS_OK &&
                 golden_text(json_object_get(item, "args"), "color_mode") == NULL)
            golden_fault(f->report, "taken, it must be refused"); /* numbers of channels are converted */
        else if (f->report->verbose) printf("  %s: %s\n", f->report->name, lks_last_error());
    }
    lks_dataset_release(ds[0]);
    lks_dataset_release(ds[1]);
}

void golden_files_folder(golden_folder *f)
{
    char root[2048];
    lks_npz *npz = NULL;
    json_t *item;
    size_t i;

    snprintf(root, sizeof root, "%s/%s", f->path, golden_text(f->index, "folder"));
    if (lks__npz_open(in_folder(f->path, golden_text(f->index, "arrays_in")), &npz) != LKS_OK) return;
    json_array_foreach(json_object_get(f->index, "cases"), i, item)
    {
        if (!golden_begin(f->report, golden_text(item, "name"))) continue;
        check(f, root, npz, item);
        golden_end(f->report);
    }
    lks__npz_close(npz);
}
