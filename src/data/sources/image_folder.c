/* image_folder.c - image_dataset_from_directory as Keras makes it, put together from the other stages:
 *
 *     names and labels -> image_folder (knows class names and files) -> shuffle -> map(read, decode, resize) -> batch -> prefetch
 *
 * The list is made and permuted while the dataset is built; the stage of this file passes elements on as they are.
 */
#include <string.h>

#include "data/sources.h"
#include "data/stages.h"
#include "image_folder_plan.h"
#include "lockstep/image_functions.h"
#include "tensor/tensor.h"

typedef struct folder_dataset {
    lks_dataset base;
    lks_name_list classes, files;
} folder_dataset;

static lks_status next(lks_cursor *n, lks_element **out)
{
    return lks__cursor_next(n->input[0], out);
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    return lks__cursor_skip(n->input[0], count, done);
}

static void destroy(lks_dataset *ds)
{
    folder_dataset *f = (folder_dataset *)ds;

    lks__names_free(&f->classes);
    lks__names_free(&f->files);
}

const lks_stage lks__stage_image_folder = { .name = "image_folder",
                                            .dataset_size = sizeof(folder_dataset),
                                            .cursor_size = sizeof(lks_cursor),
                                            .next = next,
                                            .skip = skip,
                                            .destroy = destroy };

/* ---- names and labels as tensors ---- */

static lks_tensor *names_of(const lks_folder_plan *p, size_t begin, size_t end)
{
    lks_tensor *t = lks_tensor_create(LKS_STRING, (lks_shape){ 1, { (int64_t)(end - begin) } });

    for (size_t i = begin; t != NULL && i < end; i++)
        if (lks__tensor_set_bytes(t, (int64_t)(i - begin), p->files.name[i], strlen(p->files.name[i])) != LKS_OK) {
            lks_tensor_release(t);
            t = NULL;
        }
    return t;
}

static lks_status fill_labels(const lks_folder_plan *p, size_t begin, size_t end, lks_tensor *t)
{
    int64_t classes = (int64_t)p->classes.n;
    float *y = lks_tensor_data(t);

    for (size_t i = begin; i < end; i++) {
        int64_t label = p->label[i];
        if (p->kind == LKS_INT_LABELS) ((int32_t *)lks_tensor_data(t))[i - begin] = (int32_t)label;
        else if (p->kind == LKS_BINARY_LABELS) y[i - begin] = (float)label;
        else if (label < 0 || label >= classes)
            return lks__fail(LKS_E_ARG, "label %lld does not lie in [0, %lld), one of %lld classes", (long long)label,
                             (long long)classes, (long long)classes);
        else y[(int64_t)(i - begin) * classes + label] = 1;
    }
    return LKS_OK;
}

static lks_tensor *labels_of(const lks_folder_plan *p, size_t begin, size_t end)
{
    int64_t n = (int64_t)(end - begin), classes = (int64_t)p->classes.n;
    lks_tensor *t;

    if (p->kind == LKS_INT_LABELS) t = lks_tensor_create(LKS_INT32, (lks_shape){ 1, { n } });
    else t = lks_tensor_create(LKS_FLOAT32, (lks_shape){ 2, { n, p->kind == LKS_BINARY_LABELS ? 1 : classes } });
    if (t == NULL || fill_labels(p, begin, end, t) == LKS_OK) return t;
    lks_tensor_release(t);
    return NULL;
}

static lks_spec *spec_of(const lks_folder_plan *p)
{
    lks_spec *name = lks_spec_tensor(LKS_STRING, (lks_shape){ .rank = 0 }), *label;

    if (p->kind == LKS_NO_LABELS) return name;
    if (p->kind == LKS_INT_LABELS)
        label = lks_spec_label(LKS_INT32, (lks_shape){ .rank = 0 }, p->inferred ? (int64_t)p->classes.n : 0);
    else
        label = lks_spec_tensor(LKS_FLOAT32,
                                (lks_shape){ 1, { p->kind == LKS_BINARY_LABELS ? 1 : (int64_t)p->classes.n } });
    return lks_spec_tuple_of(name, label);
}

static lks_dataset *names_and_labels(const lks_folder_plan *p, size_t begin, size_t end)
{
    lks_tensor *both[2] = { names_of(p, begin, end), NULL };
    lks_dataset *ds = NULL;

    if (both[0] != NULL && p->kind != LKS_NO_LABELS) both[1] = labels_of(p, begin, end);
    if (both[0] != NULL && (both[1] != NULL || p->kind == LKS_NO_LABELS))
        ds = lks__from_slices_of(spec_of(p), both[1] != NULL ? 2 : 1, both);
    lks_tensor_release(both[0]);
    lks_tensor_release(both[1]);
    return ds;
}

/* ---- the pipeline ---- */

static lks_status keep_names(const lks_folder_plan *p, size_t begin, size_t end, folder_dataset *f)
{
    for (size_t i = 0; i < p->classes.n; i++) LKS_TRY(lks__names_add(&f->classes, p->classes.name[i]));
    for (size_t i = begin; i < end; i++) LKS_TRY(lks__names_add(&f->files, p->files.name[i]));
    return LKS_OK;
}

static lks_dataset *failed(lks_status status)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_image_folder, 0, NULL);

    return ds == NULL ? NULL : lks__dataset_fail(ds, status);
}

static const lks_map_fn *resizer(const lks_image_folder_options *o)
{
    if (o->pad_to_aspect_ratio != LKS_TRUE)
        return lks_fn_resize(o->height, o->width, .method = o->interpolation,
                             .crop_to_aspect_ratio = o->crop_to_aspect_ratio);
    return lks_fn_resize_with_pad(o->height, o->width, .method = o->interpolation,
                                  .crop_to_aspect_ratio = o->crop_to_aspect_ratio); /* refused if true */
}

static const lks_map_fn *loader(const lks_folder_plan *p)
{
    bool reduced = p->o.reduced_jpeg == LKS_TRUE;

    return lks_fn_chain(lks_fn_read_file(),
                        lks_fn_decode_image(.channels = p->channels, .at_least_height = reduced ? p->o.height : 0,
                                            .at_least_width = reduced ? p->o.width : 0),
                        resizer(&p->o));
}

static lks_dataset *build(const lks_folder_plan *p, bool validation, bool shuffle)
{
    size_t begin, end;
    lks_dataset *ds;
    lks_status status;

    lks__folder_plan_part(p, validation, &begin, &end);
    if (begin == end)
        return failed(lks__fail(LKS_E_ARG, "no file is left for the %s subset of %zu",
                                validation ? "validation" : "training", p->files.n));
    ds = names_and_labels(p, begin, end);
    if (ds == NULL) return failed(lks__error_code());
    ds = lks__dataset_begin1(&lks__stage_image_folder, ds);
    if (!lks__dataset_ok(ds)) return ds;
    status = keep_names(p, begin, end, (folder_dataset *)ds);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    if (shuffle)
        ds = lks_shuffle(ds, p->batch > 0 ? 8 * p->batch : 1024, .seed = p->seed == 0 ? LKS_ZERO_INT : p->seed);
    ds = lks_map(ds, loader(p), .num_parallel_calls = lks__option_int(p->o.num_parallel_calls, LKS_AUTOTUNE));
    if (p->batch > 0) ds = lks_batch(ds, p->batch);
    return lks_prefetch(ds, LKS_AUTOTUNE);
}

lks_dataset *lks_image_dataset_from_directory_with(const char *directory, const lks_image_folder_options *options)
{
    lks_folder_plan p;
    lks_dataset *ds;

    if (lks__folder_plan(directory, options, &p) != LKS_OK) return failed(lks__error_code());
    if (p.o.subset != NULL && strcmp(p.o.subset, "both") == 0)
        ds = failed(lks__fail(LKS_E_ARG, "subset \"both\" is lks_image_datasets_from_directory"));
    else ds = build(&p, p.o.subset != NULL && strcmp(p.o.subset, "validation") == 0, p.shuffle);
    lks__folder_plan_free(&p);
    return ds;
}

lks_status lks_image_datasets_from_directory_with(const char *directory, lks_dataset **training,
                                                  lks_dataset **validation, const lks_image_folder_options *options)
{
    lks_image_folder_options o;
    lks_folder_plan p;
    lks_dataset *parts[2];
    lks_status status;

    if (training == NULL || validation == NULL)
        return lks__fail(LKS_E_ARG, "lks_image_datasets_from_directory: training and validation must not be NULL");
    lks__options(&o, sizeof o, options);
    if (o.subset == NULL) o.subset = "both";
    o.struct_size = sizeof o;
    LKS_TRY(lks__folder_plan(directory, &o, &p));
    parts[0] = build(&p, false, p.shuffle);
    parts[1] = build(&p, true, false);
    lks__folder_plan_free(&p);
    status = lks_dataset_status(parts[0]);
    if (status == LKS_OK) status = lks_dataset_status(parts[1]);
    if (status != LKS_OK) {
        lks_dataset_release(parts[0]);
        lks_dataset_release(parts[1]);
        return status;
    }
    *training = parts[0];
    *validation = parts[1];
    return LKS_OK;
}

/* ---- what it knows ---- */

static const folder_dataset *find(const lks_dataset *ds)
{
    while (ds != NULL && ds->error == NULL && ds->stage != &lks__stage_image_folder)
        ds = ds->n_inputs == 1 ? ds->input[0] : NULL;
    return ds != NULL && ds->error == NULL ? (const folder_dataset *)ds : NULL;
}

int64_t lks_dataset_class_count(const lks_dataset *dataset)
{
    const folder_dataset *f = find(dataset);

    return f != NULL ? (int64_t)f->classes.n : 0;
}

const char *lks_dataset_class_name(const lks_dataset *dataset, int64_t i)
{
    const folder_dataset *f = find(dataset);

    return f != NULL && i >= 0 && (size_t)i < f->classes.n ? f->classes.name[i] : NULL;
}

int64_t lks_dataset_file_count(const lks_dataset *dataset)
{
    const folder_dataset *f = find(dataset);

    return f != NULL ? (int64_t)f->files.n : 0;
}

const char *lks_dataset_file_path(const lks_dataset *dataset, int64_t i)
{
    const folder_dataset *f = find(dataset);

    return f != NULL && i >= 0 && (size_t)i < f->files.n ? f->files.name[i] : NULL;
}
