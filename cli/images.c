/* images.c - "--data images:DIR": a folder of pictures with one subfolder a class, in the size that the model takes.
 *
 * DIR may hold the splits as subfolders: train; test, validation or val. Pictures are kept as bytes in memory where the model
 * wants them from 0 to 1, else as float32. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "program.h"

typedef enum range { UNIT, SIGNED, BYTES } range;

static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void split_folder(const char *dir, const char *split, char *out, size_t size)
{
    static const char *const test[] = { "test", "validation", "val", NULL }, *const train[] = { "train", NULL };
    const char *const *names = strcmp(split, "train") == 0 ? train : test;

    for (; *names != NULL; names++) {
        snprintf(out, size, "%s/%s", dir, *names);
        if (is_folder(out)) return;
    }
    snprintf(out, size, "%s", dir);
}

static int read_range(const char *command, const cli_options *o, const cli_program *p, range *out)
{
    static const char *const words[] = { "unit", "signed", "bytes", NULL };

    *out = p->builtin != NULL && strcmp(p->builtin->name, "mobilenet_v2") == 0 ? SIGNED : UNIT;
    if (o->pixels == NULL) return CLI_OK;
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], o->pixels) == 0) {
            *out = (range)i;
            return CLI_OK;
        }
    return cli_usage(command, "--pixels is unit, signed or bytes, not \"%s\"%s", o->pixels,
                     cli_suggestion(o->pixels, words));
}

/* (height, width, channels) of what the model takes. */
static int picture_shape(const cli_program *p, lks_shape *out)
{
    *out = lks_model_input_shape(p->model, 0);
    if (out->rank == 4 && out->dim[1] > 0 && out->dim[2] > 0 &&
        (out->dim[3] == 1 || out->dim[3] == 3 || out->dim[3] == 4))
        return CLI_OK;
    return cli_fail(
        "--data images: needs a model that takes pictures (height, width, 1, 3 or 4 channels) of a known size");
}

/* Training files are permuted by the seed, so that --limit and --validation-split take of every class; others keep their order. */
static lks_dataset *open_folder(const cli_options *o, const char *path, const lks_shape *s, bool train, bool labels)
{
    return lks_image_dataset_from_directory(path, .labels = labels ? "inferred" : "none", .height = s->dim[1],
                                            .width = s->dim[2], .shuffle = train ? LKS_TRUE : LKS_FALSE,
                                            .seed = o->seed > 0 ? o->seed : LKS_ZERO_INT,
                                            .color_mode = s->dim[3] == 1   ? "grayscale"
                                                          : s->dim[3] == 3 ? "rgb"
                                                                           : "rgba");
}

static void put_pixels(const lks_tensor *from, range r, lks_tensor *to, int64_t at)
{
    const float *x = lks_tensor_cdata(from);
    int64_t n = lks_tensor_size(from);
    unsigned char *bytes = lks_tensor_data(to);
    float *y = lks_tensor_data(to);

    for (int64_t i = 0; i < n; i++) {
        if (r == UNIT) bytes[at + i] = (unsigned char)(x[i] + 0.5f);
        else y[at + i] = r == SIGNED ? x[i] / 127.5f - 1.0f : x[i];
    }
}

/* One pass over the folder, into arrays. */
static int fill(lks_dataset *ds, range r, int64_t limit, cli_set *set)
{
    int64_t picture = lks_tensor_size(set->x) / cli_set_size(set), row = 0;
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status = lks_iter_create(ds, &it);

    while (status == LKS_OK && row < limit && (status = lks_iter_next(it, &e)) == LKS_OK) {
        lks_tensor *x = lks_element_tensor(e, 0), *y = lks_element_tensor(e, 1), *cut = NULL;
        int64_t n = lks_tensor_shape(x).dim[0];
        if (n > limit - row) x = cut = lks_tensor_rows(x, 0, n = limit - row);
        if (x == NULL) status = LKS_E_NOMEM;
        else put_pixels(x, r, set->x, row * picture);
        for (int64_t i = 0; i < n && set->y != NULL; i++)
            ((int64_t *)lks_tensor_data(set->y))[row + i] = ((const int32_t *)lks_tensor_cdata(y))[i];
        row += n;
        lks_tensor_release(cut);
        lks_element_release(e);
    }
    lks_iter_release(it);
    return status == LKS_OK || status == LKS_END ? CLI_OK : cli_library_failed();
}

static int read_folder(const cli_options *o, const char *path, const lks_shape *s, range r, bool train, cli_set *set)
{
    lks_dataset *ds = open_folder(o, path, s, train, true);
    bool labels = lks_dataset_status(ds) == LKS_OK;
    int64_t n;
    int code = CLI_OK;

    if (!labels) { /* pictures without classes will do for predict */
        lks_dataset *all = open_folder(o, path, s, train, false);
        if (lks_dataset_status(all) == LKS_OK) lks_dataset_release(ds), ds = all;
        else lks_dataset_release(all);
    }
    if (lks_dataset_status(ds) != LKS_OK) {
        code = cli_library_failed();
        lks_dataset_release(ds);
        return code;
    }
    n = lks_dataset_file_count(ds);
    if (o->limit > 0 && o->limit < n) n = o->limit;
    if (o->verbose > 0)
        cli_say("%s: %lld pictures of %lld classes\n", path, (long long)n, (long long)lks_dataset_class_count(ds));
    set->pixels = r == UNIT;
    set->x = lks_tensor_create(r == UNIT ? LKS_UINT8 : LKS_FLOAT32, lks_shape(n, s->dim[1], s->dim[2], s->dim[3]));
    if (labels) set->y = lks_tensor_create(LKS_INT64, lks_shape(n));
    if (set->x == NULL || (labels && set->y == NULL)) code = cli_library_failed();
    if (code == CLI_OK) code = fill(ds, r, n, set);
    lks_dataset_release(ds);
    return code;
}

int cli_read_images(const char *command, const cli_options *o, const cli_program *p, const char *split, cli_set *out)
{
    char path[4096];
    lks_shape s;
    range r;
    int code = picture_shape(p, &s);

    if (code == CLI_OK) code = read_range(command, o, p, &r);
    if (code != CLI_OK) return code;
    split_folder(o->data + strlen("images:"), split, path, sizeof path);
    return read_folder(o, path, &s, r, strcmp(split, "train") == 0, out);
}
