/* mnist.c - where MNIST comes from: the cache, $LOCKSTEP_DATA, public mirrors, a package of the Python registry, and in
 * the very end drawn digits. Official files are recognised by the SHA-256 of their decoded bytes, so it does not matter
 * who sent them or how they were packed. */
#include "mnist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "base/text.h"
#include "inflate.h"
#include "job.h"
#include "lockstep/files.h"

/* Source of the sums: the official files. */
const lks_mnist_file lks__mnist_files[LKS_MNIST_FILES] = {
    { "train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", 0xe9f4d8b3, 60000,
      true },
    { "train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", 0xe0cb4ad2, 60000,
      false },
    { "t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7", 0x91373bdf, 10000,
      true },
    { "t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2", 0x4ab9eff9, 10000,
      false },
};

void lks__mnist_release(lks_mnist_set *s)
{
    for (int i = 0; i < LKS_MNIST_FILES; i++) lks_tensor_release(s->t[i]);
    memset(s, 0, sizeof *s);
}

/* The header that its file has; false if the array is no such file's. */
static bool make_header(const lks_mnist_file *f, const lks_tensor *t, unsigned char head[16])
{
    lks_shape s = lks_tensor_shape(t);
    const unsigned char start[4] = { 0, 0, 8, (unsigned char)s.rank };

    if (lks_tensor_dtype(t) != LKS_UINT8 || s.rank != (f->images ? 3 : 1) || s.dim[0] != f->count) return false;
    memcpy(head, start, sizeof start);
    for (int64_t i = 0; i < s.rank; i++)
        for (int k = 0; k < 4; k++) head[4 + 4 * i + k] = (unsigned char)(s.dim[i] >> (24 - 8 * k));
    return true;
}

bool lks__mnist_is_official(const lks_mnist_file *f, const lks_tensor *t)
{
    unsigned char head[16], digest[32];
    char hex[LKS_SHA256_HEX];
    lks_sha256 sum;

    if (!make_header(f, t, head)) return false;
    lks__sha256_init(&sum);
    lks__sha256_update(&sum, head, f->images ? 16 : 8);
    lks__sha256_update(&sum, lks_tensor_cdata(t), (size_t)lks_tensor_size(t));
    lks__sha256_final(&sum, digest);
    lks__sha256_to_hex(digest, hex);
    return strcmp(hex, f->sha256) == 0;
}

bool lks__mnist_looks_official(const lks_mnist_file *f, const lks_tensor *t)
{
    unsigned char head[16];

    if (!make_header(f, t, head)) return false;
    return lks__crc32(lks__crc32(0, head, f->images ? 16 : 8), lks_tensor_cdata(t), (size_t)lks_tensor_size(t)) ==
           f->crc32;
}

static bool official_pair(const lks_mnist_set *s, int first)
{
    return lks__mnist_looks_official(&lks__mnist_files[first], s->t[first]) &&
           lks__mnist_looks_official(&lks__mnist_files[first + 1], s->t[first + 1]);
}

/* Only a lack of memory stops the search: whatever else is wrong with a source, another may do. */
static bool go_on(lks_status status)
{
    return status != LKS_OK && status != LKS_E_NOMEM;
}

static lks_status from_cache(const char *cache, int first, lks_mnist_set *set, char *source)
{
    lks_status status = *cache != '\0' ? lks__mnist_from_folder(cache, first, true, set) : LKS_E_NOTFOUND;

    if (go_on(status) && *cache != '\0') {
        status = lks__mnist_from_wheels(cache, set);
        if (status == LKS_OK) status = lks__mnist_cache_store(cache, set);
    }
    if (status == LKS_OK) snprintf(source, LKS_SOURCE_TEXT, "MNIST from the cache %s", cache);
    return status;
}

/* What stands in the user's own folder is used as it is; a broken file there is an error. */
static lks_status from_data_folder(const char *folder, int first, lks_mnist_set *set, char *source)
{
    static const char *const places[] = { "mnist", "." };
    lks_status status = LKS_E_NOTFOUND;

    for (size_t i = 0; i < 2 && status == LKS_E_NOTFOUND; i++) {
        char *path;
        LKS_TRY(lks__mnist_path(folder, places[i], &path));
        status = lks__mnist_from_folder(path, first, false, set);
        if (status == LKS_E_NOTFOUND) status = lks__mnist_from_wheels(path, set);
        lks__free(path);
    }
    if (status == LKS_OK)
        snprintf(source, LKS_SOURCE_TEXT, "MNIST from %s%s", folder,
                 official_pair(set, first) ? "" : " (not the official files)");
    return status;
}

static lks_status from_network(const char *cache, int first, lks_mnist_set *set, char *source)
{
    lks_status status = lks__mnist_from_mirrors(first, set, source);

    if (go_on(status)) status = lks__mnist_from_registry(set, source);
    if (status == LKS_OK) return lks__mnist_cache_store(cache, set);
    return status;
}

static lks_status find(const char *cache, int first, bool online, lks_mnist_set *set, char *source)
{
    const char *folder = getenv("LOCKSTEP_DATA");
    lks_status status = from_cache(cache, first, set, source);

    if (go_on(status) && folder != NULL && *folder != '\0') {
        status = from_data_folder(folder, first, set, source);
        if (go_on(status) && status != LKS_E_NOTFOUND) return lks__context(status, "$LOCKSTEP_DATA");
    }
    if (go_on(status) && online) status = from_network(cache, first, set, source);
    if (!go_on(status)) return status;
    snprintf(source, LKS_SOURCE_TEXT, "drawn digits, not MNIST: none in the cache or in $LOCKSTEP_DATA, %s",
             online ? "and neither the mirrors nor a Python registry could be reached"
                    : "and the network was not asked");
    lks__warn("%s", source);
    return lks__mnist_draw(first, set);
}

lks_status lks__mnist_load(const char *split, bool online, lks_tensor **images, lks_tensor **labels,
                           char source[LKS_SOURCE_TEXT])
{
    int first = strcmp(split, "train") == 0 ? 0 : strcmp(split, "test") == 0 ? 2 : -1;
    lks_mnist_set set = { { 0 } };
    char *cache;
    lks_tensor *wide;
    lks_status status;

    if (first < 0) return lks__fail(LKS_E_ARG, "MNIST has the splits \"train\" and \"test\", not \"%s\"", split);
    LKS_TRY(lks__mnist_cache_folder(&cache));
    status = find(cache, first, online, &set, source);
    lks__free(cache);
    if (status != LKS_OK) goto release;
    wide = lks_tensor_cast(set.t[first + 1], LKS_INT64);
    if (wide == NULL) {
        status = LKS_E_NOMEM;
        goto release;
    }
    *images = lks_tensor_retain(set.t[first]);
    *labels = wide;

release:
    lks__mnist_release(&set);
    return status;
}

static const char *keep_source(const char *text)
{
    static _Thread_local char kept[LKS_SOURCE_TEXT];

    memcpy(kept, text, sizeof kept);
    return kept;
}

/* A download's encryption wants more stack than a caller may have. */
typedef struct load_job {
    const char *split;
    bool online;
    lks_tensor **images, **labels;
    char *source;
} load_job;

static lks_status run_load(void *user)
{
    load_job *j = user;

    return lks__mnist_load(j->split, j->online, j->images, j->labels, j->source);
}

lks_status lks_mnist_arrays(const char *split, lks_tensor **images, lks_tensor **labels, const char **source)
{
    char text[LKS_SOURCE_TEXT] = "";
    const char *offline = getenv("LOCKSTEP_OFFLINE");
    load_job job = { .split = split, .images = images, .labels = labels, .source = text };

    if (split == NULL || images == NULL || labels == NULL)
        return lks__fail(LKS_E_ARG, "lks_mnist_arrays: split, images and labels must not be NULL");
    job.online = offline == NULL || *offline == '\0' || strcmp(offline, "0") == 0;
    LKS_TRY(lks__file_job(run_load, &job));
    if (source != NULL) *source = keep_source(text);
    return LKS_OK;
}

/* Debian's package dataset-fashion-mnist puts the files here. */
static const char packaged[] = "/usr/share/datasets/fashion-mnist";

lks_status lks_fashion_mnist_arrays(const char *split, lks_tensor **images, lks_tensor **labels, const char **source)
{
    const char *data = getenv("LOCKSTEP_DATA");
    int first = split != NULL && strcmp(split, "train") == 0 ? 0 : split != NULL && strcmp(split, "test") == 0 ? 2 : -1;
    lks_mnist_set set = { { 0 } };
    char *folder = NULL, text[LKS_SOURCE_TEXT] = "";
    lks_status status = LKS_E_NOTFOUND;

    if (first < 0 || images == NULL || labels == NULL)
        return lks__fail(LKS_E_ARG, "lks_fashion_mnist_arrays: split is \"train\" or \"test\", images and labels are "
                                    "not NULL");
    if (data != NULL && *data != '\0') {
        LKS_TRY(lks__mnist_path(data, "fashion-mnist", &folder));
        status = lks__mnist_from_folder(folder, first, false, &set);
    }
    snprintf(text, sizeof text, "Fashion-MNIST from %s", status == LKS_OK ? folder : packaged);
    lks__free(folder);
    if (status == LKS_E_NOTFOUND) status = lks__mnist_from_folder(packaged, first, false, &set);
    if (status == LKS_E_NOTFOUND)
        return lks__fail(LKS_E_NOTFOUND,
                         "Fashion-MNIST is neither in $LOCKSTEP_DATA/fashion-mnist nor in %s; on Debian "
                         "install the package dataset-fashion-mnist",
                         packaged);
    if (status != LKS_OK) return status;
    *images = lks_tensor_retain(set.t[first]);
    *labels = lks_tensor_cast(set.t[first + 1], LKS_INT64);
    lks__mnist_release(&set);
    if (*labels == NULL) {
        lks_tensor_release(*images);
        *images = NULL;
        return LKS_E_NOMEM;
    }
    if (source != NULL) *source = keep_source(text);
    return LKS_OK;
}
