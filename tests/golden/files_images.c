/* files_images.c - pictures of many kinds: every way to decode them, and what must be refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "lockstep/image.h"
#include "support/shared.h"

/* "jpeg_ratio4" and the like as options; false for a way that this program does not know. */
static bool options_of(const char *how, lks_decode_options *o)
{
    *o = (lks_decode_options){ .struct_size = sizeof *o };
    if (strncmp(how, "image_c", 7) == 0) {
        o->channels = atoi(how + 7);
        return true;
    }
    if (strcmp(how, "image_animated") == 0) {
        o->expand_animations = LKS_TRUE;
        return true;
    }
    if (strcmp(how, "png_u16") == 0) {
        o->dtype = LKS_UINT16;
        return true;
    }
    o->channels = 3;
    if (strcmp(how, "image_float") == 0) o->dtype = LKS_FLOAT32;
    else if (strncmp(how, "jpeg_ratio", 10) == 0) o->ratio = atoi(how + 10);
    else if (strcmp(how, "jpeg_accurate_dct") == 0) o->dct_method = "INTEGER_ACCURATE";
    else if (strcmp(how, "jpeg_no_fancy") == 0) o->fancy_upscaling = LKS_FALSE;
    else if (strcmp(how, "jpeg_try_recover") == 0) o->try_recover_truncated = LKS_TRUE, o->acceptable_fraction = 0.3;
    else return false;
    return true;
}

/* The reference's alpha of these is not a target. */
static bool spoiled_alpha(const char *file)
{
    return strcmp(file, "gray1.png") == 0 || strcmp(file, "gray2.png") == 0 || strcmp(file, "gray4.png") == 0 ||
           strcmp(file, "palette4.png") == 0;
}

static void compare(golden_report *r, const char *file, const lks_tensor *got, const lks_tensor *want, double levels)
{
    lks_shape a = lks_tensor_shape(got), b = lks_tensor_shape(want);
    bool skip_alpha = spoiled_alpha(file) && a.rank == 3 && a.dim[2] == 4;

    if (!lks_shape_equal(&a, &b) || lks_tensor_dtype(got) != lks_tensor_dtype(want)) {
        golden_fault(r, "%s (%lld, %lld, %lld), expected %s (%lld, %lld, %lld)", lks_dtype_name(lks_tensor_dtype(got)),
                     (long long)a.dim[0], (long long)a.dim[1], (long long)a.dim[2],
                     lks_dtype_name(lks_tensor_dtype(want)), (long long)b.dim[0], (long long)b.dim[1],
                     (long long)b.dim[2]);
        return;
    }
    for (int64_t i = 0; i < lks_tensor_size(want) && golden_running(r); i++) {
        double x = skip_alpha && i % 4 == 3 ? 255 : golden_element(want, i);
        golden_number(r, "pixel", golden_element(got, i), x, 0, levels);
    }
}

static void check(golden_folder *f, lks_npz *npz, const json_t *entry, const char *how, const json_t *result)
{
    const char *file = golden_text(entry, "file"), *array = golden_text(result, "array");
    lks_tensor *got = NULL, *want = NULL;
    lks_decode_options o;
    lks_status status;

    if (!options_of(how, &o)) {
        golden_not_yet(f->report, "%s", how);
        return;
    }
    status = lks_read_image_with(in_folder(f->path, file), &got, &o);
    if (f->report->verbose && status != LKS_OK) printf("  %s: refused: %s\n", f->report->name, lks_last_error());
    if (array == NULL) { /* of a good file: a number of channels that we convert to and the reference does not */
        if (status == LKS_OK && strncmp(file, "bad_", 4) == 0) golden_fault(f->report, "decoded, it must be refused");
    } else if (golden_ok(f->report, status, "decode") && lks__npz_read(npz, array, &want) == LKS_OK) {
        compare(f->report, file, got, want, golden_double(json_object_get(entry, "tolerance_levels")));
    }
    lks_tensor_release(got);
    lks_tensor_release(want);
}

void golden_files_images(golden_folder *f)
{
    lks_npz *npz = NULL;
    json_t *entry, *result;
    const char *how;
    size_t i;

    if (lks__npz_open(in_folder(f->path, golden_text(f->index, "arrays_in")), &npz) != LKS_OK) return;
    json_array_foreach(json_object_get(f->index, "files"), i, entry)
    {
        json_object_foreach(json_object_get(entry, "results"), how, result)
        {
            char name[GOLDEN_NAME];
            snprintf(name, sizeof name, "%s/%s", golden_text(entry, "file"), how);
            if (!golden_begin(f->report, name)) continue;
            check(f, npz, entry, how, result);
            golden_end(f->report);
        }
    }
    lks__npz_close(npz);
    golden_files_resize(f);
}
