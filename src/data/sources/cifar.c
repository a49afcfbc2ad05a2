/* cifar.c - the binary files of CIFAR: records of one or two label bytes and an image in planes, which becomes rows of pixels. */
#include "data/file_source.h"
#include "data/stages.h"
#include "lockstep/sources.h"

enum { SIDE = 32, PIXELS = SIDE * SIDE, IMAGE = 3 * PIXELS };

typedef struct cifar_dataset {
    lks_file_list list;
    size_t labels, label; /* label bytes of a record, and the one that counts */
    int64_t classes;
} cifar_dataset;

static const cifar_dataset *recipe(const lks_file_cursor *c)
{
    return (const cifar_dataset *)c->base.dataset;
}

static lks_status begin(lks_file_cursor *c)
{
    const size_t record = recipe(c)->labels + IMAGE;
    const uint64_t size = lks__stream_size(&c->stream);

    if (size == UINT64_MAX || size % record == 0) return LKS_OK;
    return lks__fail(
        LKS_E_FORMAT,
        "'%s' has %lld bytes, no multiple of the %zu of a record: is it cut off, or CIFAR-%d, or the archive "
        "itself?",
        c->stream.path, (long long)size, record, recipe(c)->labels == 1 ? 100 : 10);
}

static void interleave(const unsigned char *planes, unsigned char *pixels)
{
    for (int i = 0; i < PIXELS; i++)
        for (int k = 0; k < 3; k++) pixels[3 * i + k] = planes[k * PIXELS + i];
}

static lks_status record(lks_file_cursor *c, lks_element **out)
{
    const cifar_dataset *d = recipe(c);
    unsigned char bytes[2 + IMAGE];
    lks_tensor *image, *label;
    lks_element *e;
    size_t got;

    LKS_TRY(lks__stream_read(&c->stream, bytes, d->labels + IMAGE, &got));
    if (got == 0) return LKS_END;
    if (got < d->labels + IMAGE) return lks__file_fail(c, LKS_E_FORMAT, "the file ends inside a record: it is cut off");
    if (bytes[d->label] >= d->classes)
        return lks__file_fail(c, LKS_E_FORMAT, "label %d does not lie in [0, %lld): is this CIFAR-%d?", bytes[d->label],
                              (long long)d->classes, d->labels == 1 ? 10 : 100);
    e = lks__cursor_element(&c->base);
    if (e == NULL) return LKS_E_NOMEM;
    image = lks_element_output(e, 0);
    label = lks_element_output(e, 1);
    if (image == NULL || label == NULL) {
        lks_element_release(e);
        return LKS_E_NOMEM;
    }
    interleave(bytes + d->labels, lks_tensor_data(image));
    *(int64_t *)lks_tensor_data(label) = bytes[d->label];
    *out = e;
    return LKS_OK;
}

static lks_status pass(lks_file_cursor *c, lks_element **out)
{
    const size_t size = recipe(c)->labels + IMAGE;
    unsigned char bytes[2 + IMAGE];
    size_t got;

    *out = NULL;
    LKS_TRY(lks__stream_read(&c->stream, bytes, size, &got));
    return got == size ? LKS_OK : LKS_END;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    return lks__file_next((lks_file_cursor *)n, begin, record, out);
}

static lks_status skip(lks_cursor *n, int64_t count, int64_t *done)
{
    return lks__file_skip((lks_file_cursor *)n, begin, pass, count, done);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const cifar_dataset *d = (const cifar_dataset *)ds;

    lks__file_list_describe(ds, r);
    lks__recipe_int(r, (int64_t)d->labels);
    lks__recipe_int(r, (int64_t)d->label);
}

const lks_stage lks__stage_cifar = { .name = "cifar",
                                     .dataset_size = sizeof(cifar_dataset),
                                     .cursor_size = sizeof(lks_file_cursor),
                                     .next = next,
                                     .skip = skip,
                                     .close = lks__file_close,
                                     .destroy = lks__file_list_destroy,
                                     .describe = describe,
                                     .is_files = true };

static lks_dataset *build(size_t n, const char *const *files, size_t labels, size_t label, int64_t classes,
                          const lks_files_options *options)
{
    static const int64_t size[] = { SIDE, SIDE, 3 };
    lks_dataset *ds = lks__dataset_begin(&lks__stage_cifar, 0, NULL);
    cifar_dataset *d = (cifar_dataset *)ds;
    lks_files_options o;
    lks_status status;

    if (ds == NULL) return NULL;
    lks__options(&o, sizeof o, options);
    d->labels = labels;
    d->label = label;
    d->classes = classes;
    status = lks__file_list_init(&d->list, n, files, &o);
    if (status != LKS_OK) return lks__dataset_fail(ds, status);
    ds = lks__dataset_spec_is(ds, lks_spec_tuple_of(lks_spec_tensor(LKS_UINT8, lks_shape_of(3, size)),
                                                    lks_spec_label(LKS_INT64, lks_shape_of(0, NULL), classes)));
    return lks__parallel_reads(ds, o.num_parallel_reads);
}

lks_dataset *lks_cifar10(size_t n, const char *const *files)
{
    return lks_cifar10_with(n, files, NULL);
}

lks_dataset *lks_cifar100(size_t n, const char *const *files, int coarse_labels)
{
    return lks_cifar100_with(n, files, coarse_labels, NULL);
}

lks_dataset *lks_cifar10_with(size_t n, const char *const *files, const lks_files_options *options)
{
    return build(n, files, 1, 0, 10, options);
}

lks_dataset *lks_cifar100_with(size_t n, const char *const *files, int coarse_labels, const lks_files_options *options)
{
    return build(n, files, 2, coarse_labels ? 0 : 1, coarse_labels ? 20 : 100, options);
}
