/* image_folder_plan.c - options checked, files listed, labelled and permuted as Keras does it. */
#include "image_folder_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/stage.h"

typedef lks_folder_plan plan;

void lks__folder_plan_free(plan *p)
{
    lks__names_free(&p->classes);
    lks__names_free(&p->files);
    lks__free(p->label);
    *p = (plan){ .label = NULL };
}

/* ---- options ---- */

/* words: separated by blanks, the first is the default; *out: which. */
static lks_status choice(const char *what, const char *found, const char *words, int *out)
{
    const char *at = words;
    size_t n;

    *out = 0;
    if (found == NULL) return LKS_OK;
    for (; *at != '\0'; at += n + (at[n] == ' '), ++*out) {
        n = strcspn(at, " ");
        if (strlen(found) == n && memcmp(found, at, n) == 0) return LKS_OK;
    }
    return lks__fail(LKS_E_ARG, "%s is \"%s\"; it must be one of: %s", what, found, words);
}

static lks_status check_split(const plan *p)
{
    const lks_image_folder_options *o = &p->o;

    if ((o->validation_split != 0) != (o->subset != NULL))
        return lks__fail(LKS_E_ARG, "validation_split and subset must be given together");
    if (o->validation_split != 0 && !(o->validation_split > 0 && o->validation_split < 1))
        return lks__fail(LKS_E_ARG, "validation_split must lie between 0 and 1, found %g", o->validation_split);
    if (o->subset != NULL && p->shuffle && o->seed == 0)
        return lks__fail(LKS_E_ARG,
                         "shuffled data that are split need a seed, so that training and validation files do not "
                         "overlap (LKS_ZERO_INT is seed 0)");
    return LKS_OK;
}

static lks_status check_words(plan *p)
{
    static const lks_label_kind kinds[] = { LKS_INT_LABELS, LKS_BINARY_LABELS, LKS_CATEGORICAL_LABELS, LKS_NO_LABELS };
    static const int64_t channels[] = { 3, 4, 1 };
    int i;

    LKS_TRY(choice("labels", p->o.labels, "inferred none", &i));
    p->inferred = i == 0 && p->o.label_list == NULL;
    if (i == 1) p->o.label_mode = "none";
    LKS_TRY(choice("label_mode", p->o.label_mode, "int binary categorical none", &i));
    p->kind = kinds[i];
    if (p->kind == LKS_NO_LABELS) p->inferred = false;
    LKS_TRY(choice("color_mode", p->o.color_mode, "rgb rgba grayscale", &i));
    p->channels = channels[i];
    return choice("subset", p->o.subset, "training validation both", &i);
}

static lks_status check_options(const lks_image_folder_options *options, plan *p)
{
    lks__options(&p->o, sizeof p->o, options);
    p->shuffle = p->o.shuffle != LKS_FALSE;
    p->batch = lks__option_int(p->o.batch_size, 32);
    p->seed = lks__option_int(p->o.seed, 0);
    if (p->o.height == 0) p->o.height = 256;
    if (p->o.width == 0) p->o.width = 256;
    if (p->batch < 0) return lks__fail(LKS_E_ARG, "batch_size must not be negative");
    if (p->seed < 0 || p->seed > UINT32_MAX)
        return lks__fail(LKS_E_ARG, "seed must lie between 0 and 2^32 - 1, found %lld", (long long)p->seed);
    if ((p->o.n_class_names > 0) != (p->o.class_names != NULL) || (p->o.n_labels > 0) != (p->o.label_list != NULL) ||
        p->o.n_class_names < 0)
        return lks__fail(LKS_E_ARG, "class_names and n_class_names, label_list and n_labels must be given together");
    LKS_TRY(check_words(p));
    return check_split(p);
}

/* ---- the list ---- */

static lks_status choose_classes(const char *directory, plan *p)
{
    lks_name_list found = { NULL, 0, 0 };
    lks_status status = lks__subfolders(directory, &found);

    for (int64_t i = 0; status == LKS_OK && i < p->o.n_class_names; i++) {
        const char *name = p->o.class_names[i];
        size_t k = 0;
        while (name != NULL && k < found.n && strcmp(found.name[k], name) != 0) k++;
        if (name == NULL || k == found.n)
            status = lks__fail(LKS_E_ARG, "class_names has \"%s\", and '%s' has no such folder",
                               name != NULL ? name : "NULL", directory);
        else status = lks__names_add(&p->classes, name);
    }
    if (p->o.n_class_names == 0 && status == LKS_OK) {
        p->classes = found;
        return LKS_OK;
    }
    lks__names_free(&found);
    return status;
}

static lks_status label_files(plan *p, size_t from, int64_t label)
{
    lks_status status = p->files.n > 0 ? lks__grow(&p->label, &p->label_room, p->files.n, sizeof *p->label) : LKS_OK;

    for (size_t i = from; status == LKS_OK && i < p->files.n; i++) p->label[i] = label;
    return status;
}

static lks_status walk_classes(const char *directory, plan *p)
{
    bool follow = p->o.follow_links == LKS_TRUE;
    lks_status status = choose_classes(directory, p);

    if (status == LKS_OK && p->kind == LKS_BINARY_LABELS && p->classes.n != 2)
        return lks__fail(LKS_E_ARG, "label_mode \"binary\" needs two classes, '%s' has %zu", directory, p->classes.n);
    for (size_t i = 0; status == LKS_OK && i < p->classes.n; i++) {
        size_t from = p->files.n;
        char *path = lks__join_path(directory, p->classes.name[i]);
        status = path != NULL ? lks__walk_pictures(path, follow, &p->files) : LKS_E_NOMEM;
        lks__free(path);
        if (status == LKS_OK) status = label_files(p, from, (int64_t)i);
    }
    return status;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* The distinct labels, as words, are the class names. */
static lks_status name_labels(plan *p)
{
    size_t n = p->files.n;
    int64_t *sorted = lks__malloc((n > 0 ? n : 1) * sizeof *sorted);
    lks_status status = sorted != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for labels");

    if (status == LKS_OK) memcpy(sorted, p->label, n * sizeof *sorted);
    if (status == LKS_OK && n > 1) qsort(sorted, n, sizeof *sorted, by_value);
    for (size_t i = 0; status == LKS_OK && i < n; i++) {
        char text[24];
        if (i > 0 && sorted[i] == sorted[i - 1]) continue;
        snprintf(text, sizeof text, "%lld", (long long)sorted[i]);
        status = lks__names_add(&p->classes, text);
    }
    lks__free(sorted);
    return status;
}

static lks_status walk_all(const char *directory, plan *p)
{
    lks_name_list unused = { NULL, 0, 0 };
    lks_status status = lks__subfolders(directory, &unused); /* says so if there is no directory */

    lks__names_free(&unused);
    LKS_TRY(status);
    LKS_TRY(lks__walk_pictures(directory, p->o.follow_links == LKS_TRUE, &p->files));
    if (p->kind == LKS_NO_LABELS) return LKS_OK;
    if ((size_t)p->o.n_labels != p->files.n)
        return lks__fail(LKS_E_ARG, "label_list has %lld labels for %zu pictures in '%s'", (long long)p->o.n_labels,
                         p->files.n, directory);
    LKS_TRY(label_files(p, 0, 0));
    if (p->files.n > 0) memcpy(p->label, p->o.label_list, p->files.n * sizeof *p->label);
    return name_labels(p);
}

/* ---- permutation and split ---- */

static lks_status permute(plan *p)
{
    size_t n = p->files.n, *order = lks__malloc((n > 0 ? n : 1) * sizeof *order);
    char **name = lks__malloc((n > 0 ? n : 1) * sizeof *name);
    int64_t *label = lks__malloc((n > 0 ? n : 1) * sizeof *label);
    lks_status status = order != NULL && name != NULL && label != NULL
                            ? LKS_OK
                            : lks__fail(LKS_E_NOMEM, "no memory for file names");

    if (status == LKS_OK) {
        lks__numpy_shuffle((uint32_t)p->seed, n, order);
        for (size_t i = 0; i < n; i++) {
            name[i] = p->files.name[order[i]];
            label[i] = p->label != NULL ? p->label[order[i]] : 0;
        }
        memcpy(p->files.name, name, n * sizeof *name);
        if (p->label != NULL) memcpy(p->label, label, n * sizeof *label);
    }
    lks__free(order);
    lks__free(name);
    lks__free(label);
    return status;
}

void lks__folder_plan_part(const plan *p, bool validation, size_t *begin, size_t *end)
{
    size_t n = p->files.n, last = (size_t)(p->o.validation_split * (double)n);

    *begin = validation ? n - last : 0;
    *end = validation || p->o.validation_split == 0 ? n : n - last;
}

lks_status lks__folder_plan(const char *directory, const lks_image_folder_options *options, plan *out)
{
    plan p = { .label = NULL };
    lks_status status = directory != NULL ? check_options(options, &p) : lks__fail(LKS_E_ARG, "no directory given");

    if (status == LKS_OK) status = p.inferred ? walk_classes(directory, &p) : walk_all(directory, &p);
    if (status == LKS_OK && p.files.n == 0)
        status = lks__fail(LKS_E_ARG, "no picture found in '%s' (names end in .bmp, .gif, .jpeg, .jpg or .png)%s",
                           directory, p.inferred ? "; there should be one subfolder for each class" : "");
    if (status == LKS_OK && p.o.check_files != LKS_FALSE) status = lks__check_pictures(&p.files);
    if (status == LKS_OK && p.shuffle) status = permute(&p);
    if (status != LKS_OK) {
        lks__folder_plan_free(&p);
        return status;
    }
    *out = p;
    return LKS_OK;
}
