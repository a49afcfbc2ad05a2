/* files_resize.c - pictures in other sizes: tf.image.resize by every method, padding, cropping, turning, and Keras' Resizing. */
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "lockstep/image_functions.h"
#include "support/shared.h"

static lks_tristate yes(bool on)
{
    return on ? LKS_TRUE : LKS_FALSE;
}

/* The operation by the name that it has in the index; NULL: this program does not know it. */
static const lks_map_fn *operation(const char *name)
{
    const lks_map_fn *made = NULL;

    if (strcmp(name, "pad_12x16") == 0) made = lks_fn_resize_with_pad(12, 16);
    if (strcmp(name, "crop_or_pad_7x20") == 0) made = lks_fn_resize_with_crop_or_pad(7, 20);
    if (strcmp(name, "central_crop_half") == 0) made = lks_fn_central_crop(0.5);
    if (strcmp(name, "flip_lr") == 0) made = lks_fn_flip_left_right();
    if (strcmp(name, "rot90") == 0) made = lks_fn_rot90(1);
    if (strcmp(name, "keras_resizing_8x8") == 0) made = lks_fn_resize(8, 8);
    if (strcmp(name, "keras_resizing_8x8_crop") == 0) made = lks_fn_resize(8, 8, .crop_to_aspect_ratio = LKS_TRUE);
    if (strcmp(name, "keras_resizing_8x8_pad") == 0) made = lks_fn_resize(8, 8, .pad_to_aspect_ratio = LKS_TRUE);
    if (strcmp(name, "smart_resize_8x5") == 0) made = lks_fn_resize(8, 5, .crop_to_aspect_ratio = LKS_TRUE);
    return made;
}

static const lks_map_fn *function_of(const json_t *item)
{
    const json_t *size = json_object_get(item, "size");

    if (golden_text(item, "operation") != NULL) return operation(golden_text(item, "operation"));
    return lks_fn_resize(json_integer_value(json_array_get(size, 0)), json_integer_value(json_array_get(size, 1)),
                         .method = golden_text(item, "method"), .antialias = yes(golden_true(item, "antialias")),
                         .preserve_aspect_ratio = yes(golden_true(item, "preserve_aspect_ratio")));
}

/* Exact where pixels are only moved; sums of some hundred products in float32 else. Keras' layer rounds to the input's bytes. */
static void compare_pixels(golden_report *r, const lks_tensor *got, const lks_tensor *want)
{
    bool bytes = lks_tensor_dtype(want) == LKS_UINT8, rounded = bytes && lks_tensor_dtype(got) == LKS_FLOAT32;

    if (lks_tensor_dtype(got) != lks_tensor_dtype(want) && !rounded) golden_fault(r, "another dtype");
    golden_compare(r, "pixels", got, want, 2e-6, rounded ? 0.5001 : bytes ? 0 : 1e-4);
}

static void check(golden_report *r, lks_npz *npz, const json_t *item)
{
    const lks_map_fn *fn = function_of(item);
    lks_tensor *source = NULL, *want = NULL, *got = NULL;

    if (fn == NULL) {
        golden_not_yet(r, "%s", golden_text(item, "operation"));
        return;
    }
    if (golden_text(item, "array") == NULL || lks__npz_read(npz, golden_text(item, "array"), &want) != LKS_OK ||
        lks__npz_read(npz, golden_text(item, "source"), &source) != LKS_OK) {
        golden_fault(r, "the arrays are not there");
        fn->release(fn->user);
    } else if (golden_ok(r, lks_fn_call(fn, source, 0, &got), "resize")) {
        compare_pixels(r, got, want);
    }
    lks_tensor_release(source);
    lks_tensor_release(want);
    lks_tensor_release(got);
}

void golden_files_resize(golden_folder *f)
{
    json_t *index = NULL, *item;
    lks_npz *npz = NULL;
    size_t i;

    if (!golden_is_file(in_folder(f->path, "resize.json"))) return;
    index = golden_read_json(in_folder(f->path, "resize.json"));
    if (index == NULL || lks__npz_open(in_folder(f->path, golden_text(index, "arrays_in")), &npz) != LKS_OK) {
        f->report->failed++;
        json_decref(index);
        return;
    }
    json_array_foreach(json_object_get(index, "cases"), i, item)
    {
        char name[GOLDEN_NAME];
        if (json_object_get(item, "error") != NULL) continue; /* what the reference refuses */
        snprintf(name, sizeof name, "resize/%s", golden_text(item, "array"));
        if (!golden_begin(f->report, name)) continue;
        check(f->report, npz, item);
        golden_end(f->report);
    }
    lks__npz_close(npz);
    json_decref(index);
}
