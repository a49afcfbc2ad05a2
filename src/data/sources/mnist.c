/* mnist.c - MNIST and Fashion-MNIST as datasets: the arrays of the files chapter, labels with their ten classes. */
#include "data/sources.h"
#include "data/stages.h"
#include "lockstep/files.h"

typedef lks_status (*load_fn)(const char *split, lks_tensor **images, lks_tensor **labels, const char **source);

/* Stands for the source where it could not be read. */
const lks_stage lks__stage_mnist = { .name = "mnist", .dataset_size = sizeof(lks_dataset) };

static lks_dataset *refuse(lks_status status)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_mnist, 0, NULL);

    return ds == NULL ? NULL : lks__dataset_fail(ds, status);
}

static lks_dataset *build(const char *split, load_fn load)
{
    lks_tensor *images = NULL, *labels = NULL, *pair[2];
    lks_status status = load(split, &images, &labels, NULL);
    lks_dataset *ds = NULL;
    lks_shape shape;
    lks_spec *spec;

    if (status != LKS_OK) return refuse(status);
    shape = lks_tensor_shape(images);
    if (shape.rank == 3) shape.dim[shape.rank++] = 1;
    pair[0] = lks_tensor_reshape(images, shape);
    pair[1] = labels;
    spec = lks_spec_tuple_of(lks_spec_tensor(LKS_UINT8, lks_shape_of((size_t)shape.rank - 1, shape.dim + 1)),
                             lks_spec_label(lks_tensor_dtype(labels), (lks_shape){ .rank = 0 }, 10));
    if (pair[0] != NULL && spec != NULL) ds = lks__from_slices_of(spec, 2, pair);
    else lks_spec_release(spec);
    lks_tensor_release(pair[0]);
    lks_tensor_release(images);
    lks_tensor_release(labels);
    return ds;
}

lks_dataset *lks_mnist(const char *split)
{
    return build(split, lks_mnist_arrays);
}

lks_dataset *lks_fashion_mnist(const char *split)
{
    return build(split, lks_fashion_mnist_arrays);
}
