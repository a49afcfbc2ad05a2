/* list_files.c - the names that match patterns, as strings: sorted, then (unless told otherwise) shuffled anew in every pass.
 * The disk is looked at when the dataset is built. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "data/stages.h"
#include "tensor/tensor.h"

typedef struct name_list {
    char **name;
    size_t n, room;
} name_list;

static void free_names(name_list *l)
{
    for (size_t i = 0; i < l->n; i++) lks__free(l->name[i]);
    lks__free(l->name);
    memset(l, 0, sizeof *l);
}

/* The class [..] at p holds c; *after gets the place behind it. NULL class end: an ordinary '['. */
static bool in_class(const char *p, size_t n, char c, size_t *after)
{
    bool negated = n > 1 && (p[1] == '^' || p[1] == '!'), found = false;
    size_t i = negated ? 2 : 1, first = i;

    for (; i < n && (p[i] != ']' || i == first); i++) {
        if (i + 2 < n && p[i + 1] == '-' && p[i + 2] != ']') {
            if (c >= p[i] && c <= p[i + 2]) found = true;
            i += 2;
        } else if (p[i] == c) {
            found = true;
        }
    }
    *after = i < n ? i + 1 : 0;
    return found != negated;
}

/* One path component against one pattern component; dots are ordinary here. */
static bool matches(const char *p, size_t n, const char *name)
{
    for (; n > 0; name++) {
        size_t step = 1;
        if (*p == '*') {
            for (const char *rest = name;; rest++) {
                if (matches(p + 1, n - 1, rest)) return true;
                if (*rest == '\0') return false;
            }
        }
        if (*name == '\0') return false;
        if (*p == '[') {
            bool in = in_class(p, n, *name, &step);
            if (step > 0 && !in) return false;
            if (step == 0 && *name != '[') return false;
            if (step == 0) step = 1;
        } else if (*p == '\\' && n > 1) {
            if (p[1] != *name) return false;
            step = 2;
        } else if (*p != '?' && *p != *name) {
            return false;
        }
        p += step;
        n -= step;
    }
    return *name == '\0';
}

static bool is_wild(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] == '*' || p[i] == '?' || p[i] == '[' || p[i] == '\\') return true;
    return false;
}

static lks_status add_name(name_list *l, const char *path)
{
    char *copy = lks__strdup(path);
    lks_status status = copy == NULL ? lks__fail(LKS_E_NOMEM, "no memory for file names")
                                     : lks__grow(&l->name, &l->room, l->n + 1, sizeof *l->name);

    if (status != LKS_OK) lks__free(copy);
    else l->name[l->n++] = copy;
    return status;
}

static lks_status expand(name_list *found, const char *folder, const char *pattern);

/* "FOLDER/NAME" (or NAME alone), then the rest of the pattern below it. */
static lks_status descend(name_list *found, const char *folder, const char *name, size_t size, const char *rest)
{
    lks_text path = { 0 };
    struct stat info;
    lks_status status = LKS_OK;

    lks__text_puts(&path, folder);
    lks__text_append(&path, name, size);
    if (path.failed) return lks__fail(LKS_E_NOMEM, "no memory for a file name");
    if (*rest == '\0') {
        if (lstat(path.data, &info) == 0) status = add_name(found, path.data);
    } else {
        lks__text_puts(&path, "/");
        while (*rest == '/') rest++;
        status = path.failed ? lks__fail(LKS_E_NOMEM, "no memory for a file name") : expand(found, path.data, rest);
    }
    lks__text_free(&path);
    return status;
}

/* All names below `folder` (which ends with '/' or is empty) that the pattern matches. What can't be listed has no names. */
static lks_status expand(name_list *found, const char *folder, const char *pattern)
{
    size_t n = strcspn(pattern, "/");
    const char *rest = pattern + n;
    lks_status status = LKS_OK;
    struct dirent *entry;
    DIR *dir;

    if (!is_wild(pattern, n)) return descend(found, folder, pattern, n, rest);
    dir = opendir(*folder == '\0' ? "." : folder);
    if (dir == NULL) return LKS_OK;
    while (status == LKS_OK && (entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (name[0] == '.' && pattern[0] != '.')
            continue; /* our rule, not tf.data's: dotfiles are asked for by a dot */
        if (matches(pattern, n, name)) status = descend(found, folder, name, strlen(name), rest);
    }
    closedir(dir);
    return status;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static lks_status find(name_list *found, size_t n, const char *const *patterns)
{
    if (n == 0) return lks__fail(LKS_E_ARG, "no pattern given");
    for (size_t i = 0; i < n; i++) {
        const char *p = patterns[i];
        if (p == NULL) return lks__fail(LKS_E_ARG, "pattern %zu is NULL", i);
        if (*p == '/') {
            while (*p == '/') p++;
            LKS_TRY(expand(found, "/", p));
        } else {
            LKS_TRY(expand(found, "", p));
        }
    }
    if (found->n == 0)
        return lks__fail(LKS_E_ARG, "no file matches '%s'%s", patterns[0], n > 1 ? " nor the other patterns" : "");
    qsort(found->name, found->n, sizeof *found->name, by_bytes);
    return LKS_OK;
}

static lks_tensor *as_tensor(const name_list *l)
{
    lks_tensor *t = lks_tensor_create(LKS_STRING, (lks_shape){ .rank = 1, .dim = { (int64_t)l->n } });

    for (size_t i = 0; t != NULL && i < l->n; i++)
        if (lks__tensor_set_bytes(t, (int64_t)i, l->name[i], strlen(l->name[i])) != LKS_OK) {
            lks_tensor_release(t);
            t = NULL;
        }
    return t;
}

/* Stands for the source where nothing was found. */
const lks_stage lks__stage_list_files = { .name = "list_files", .dataset_size = sizeof(lks_dataset) };

lks_dataset *lks_list_files_with(size_t n, const char *const *patterns, const lks_list_files_options *options)
{
    name_list found = { NULL, 0, 0 };
    lks_status status = find(&found, n, patterns);
    lks_tensor *names = status == LKS_OK ? as_tensor(&found) : NULL;
    lks_list_files_options o;
    lks_dataset *ds;

    lks__options(&o, sizeof o, options);
    if (names == NULL) {
        ds = lks__dataset_begin(&lks__stage_list_files, 0, NULL);
        free_names(&found);
        return ds == NULL ? NULL : lks__dataset_fail(ds, lks__error_code());
    }
    ds = lks_from_tensor_slices_n(1, &names);
    if (o.shuffle != LKS_FALSE) ds = lks_shuffle(ds, (int64_t)found.n, .seed = o.seed, .global_seed = o.global_seed);
    lks_tensor_release(names);
    free_names(&found);
    return ds;
}
