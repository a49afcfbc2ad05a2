/* bucket.c - bucket_by_sequence_length: group_by_window whose key is the bucket of the element's length and whose windows become
 * (padded) batches. */
#include <stdio.h>
#include <string.h>

#include "data/elements.h"
#include "data/pad.h"
#include "data/predicate.h"
#include "data/stages.h"

/* What the three functions share; counted, because each of them releases it. */
typedef struct buckets {
    atomic_int references;
    lks_data_fn length;
    lks_buffers *lengths;
    size_t n;
    int64_t *boundary, *batch_size;
    bool to_boundary, no_padding, drop_remainder;
    lks_padding padding;
    char name[48]; /* of the function for sizes, with what else decides the batches: for the fingerprint */
} buckets;

static void release(void *user)
{
    buckets *b = user;

    if (b == NULL || atomic_fetch_sub(&b->references, 1) != 1) return;
    lks__data_fn_destroy(&b->length);
    lks__buffers_release(b->lengths);
    lks__padding_free(&b->padding);
    lks__free(b->boundary);
    lks__free(b->batch_size);
    lks__free(b);
}

static lks_status put_int64(lks_element *out, int64_t value)
{
    lks_tensor *t = lks_element_output(out, 0);

    if (t == NULL) return LKS_E_NOMEM;
    *(int64_t *)lks_tensor_data(t) = value;
    return LKS_OK;
}

/* Stands for the stage where it could not be built; else it is a group_by_window. */
const lks_stage lks__stage_bucket = { .name = "bucket_by_sequence_length", .dataset_size = sizeof(lks_dataset) };

/* Element -> bucket number. */
static lks_status bucket_of(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const buckets *b = user;
    lks_call_place place = { .epoch = context->epoch, .index = context->index };
    lks_element *e;
    int64_t length;
    size_t i = 0;

    LKS_TRY(lks__data_fn_apply(&b->length, place, in, b->lengths, &e));
    length = lks__scalar_value(lks_element_tensor(e, 0));
    lks_element_release(e);
    while (i < b->n && length >= b->boundary[i]) i++;
    return put_int64(out, (int64_t)i);
}

static lks_status size_of(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    int64_t key = lks__scalar_value(lks_element_tensor(in, 0));

    (void)context;
    return put_int64(out, ((const buckets *)user)->batch_size[key]);
}

static lks_dataset *batch_up(const buckets *b, lks_dataset *window, int64_t key, bool to_boundary, bool drop_remainder)
{
    lks_tristate drop = drop_remainder ? LKS_TRUE : LKS_FALSE;
    lks_shape *shape;
    lks_dataset *ds;

    if (b->no_padding) return lks_batch(window, b->batch_size[key], .drop_remainder = drop);
    shape = lks__memdup(b->padding.shape, b->padding.n * sizeof *shape);
    if (shape == NULL) {
        lks_dataset_release(window);
        return NULL;
    }
    for (size_t i = 0; to_boundary && i < b->padding.n; i++)
        for (int64_t k = 0; k < shape[i].rank; k++)
            if (shape[i].dim[k] < 0) shape[i].dim[k] = b->boundary[key] - 1;
    ds = lks_padded_batch(window, b->batch_size[key], .drop_remainder = drop, .padded_shapes = shape,
                          .padding_values = b->padding.value);
    lks__free(shape);
    return ds;
}

/* (bucket, dataset of its elements) -> dataset of batches. */
static lks_status reduce(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const buckets *b = user;
    int64_t key = lks__scalar_value(lks_element_tensor(in, 0));

    (void)context;
    if (b->to_boundary && (size_t)key == b->n)
        return lks__fail(LKS_E_ARG,
                         "an element is as long as the last boundary %lld or longer, so there is no boundary to "
                         "pad it to",
                         (long long)b->boundary[b->n - 1]);
    return lks_element_set_dataset(
        out, 0, batch_up(b, lks_dataset_retain(lks_element_dataset(in, 1)), key, b->to_boundary, b->drop_remainder));
}

/* The batches' spec, by building such a stage over a dataset of the window's spec. */
static lks_spec *reduced_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    const buckets *b = user;
    const lks_spec *element = lks_spec_child(lks_spec_child(in, 1), 0);
    lks_dataset *ds;
    lks_spec *spec = NULL;

    (void)context;
    /* Neither to one boundary nor to one size: they differ from bucket to bucket. */
    ds = batch_up(b, lks__from_elements(element, 0, NULL, -1), 0, false, false);
    if (lks_dataset_status(ds) == LKS_OK) spec = lks_spec_dataset(lks_spec_retain(ds->spec));
    lks_dataset_release(ds);
    return spec;
}

static lks_status check(const lks_bucket_options *o)
{
    size_t sizes = o->n_batch_sizes != 0 ? o->n_batch_sizes : o->n_boundaries + 1;

    if ((o->n_boundaries > 0 && o->boundaries == NULL) || o->batch_sizes == NULL)
        return lks__fail(LKS_E_ARG, "boundaries and batch_sizes must be given");
    if (o->n_boundaries == 0 && o->pad_to_bucket_boundary == LKS_TRUE)
        return lks__fail(LKS_E_ARG, "pad_to_bucket_boundary needs a boundary to pad to");
    if (sizes != o->n_boundaries + 1)
        return lks__fail(LKS_E_ARG, "%zu boundaries need %zu batch sizes, found %zu", o->n_boundaries,
                         o->n_boundaries + 1, sizes);
    for (size_t i = 0; i < sizes; i++)
        if (o->batch_sizes[i] < 1) return lks__fail(LKS_E_ARG, "batch size %zu must be at least 1", i);
    for (size_t i = 1; i < o->n_boundaries; i++)
        if (o->boundaries[i] <= o->boundaries[i - 1]) return lks__fail(LKS_E_ARG, "boundary %zu does not rise", i);
    return LKS_OK;
}

static void describe_all(const void *what, lks_recipe *r)
{
    const buckets *b = what;

    lks__data_fn_describe(&b->length, r);
    for (size_t i = 0; i < b->n; i++) lks__recipe_int(r, b->boundary[i]);
    for (size_t i = 0; i <= b->n; i++) lks__recipe_int(r, b->batch_size[i]);
    lks__recipe_int(r, b->to_boundary + 2 * b->no_padding + 4 * b->drop_remainder);
    lks__padding_describe(&b->padding, r);
}

static lks_status set_up(buckets *b, lks_dataset *ds, const lks_map_fn *length, const lks_bucket_options *o)
{
    lks_status status = lks__data_fn_init(&b->length, ds, length), second;
    lks_spec *spec;

    if (status == LKS_OK) status = check(o);
    if (status != LKS_OK) return status;
    status = lks__data_fn_yields(&b->length, ds->spec, LKS_INT64);
    second = status == LKS_OK ? LKS_OK : lks__data_fn_yields(&b->length, ds->spec, LKS_INT32);
    if (second != LKS_OK) return second;
    spec = lks__data_fn_spec(&b->length, ds->spec);
    if (spec != NULL) b->lengths = lks__buffers_create(spec, 0);
    lks_spec_release(spec);
    b->n = o->n_boundaries;
    b->boundary = lks__memdup(b->n > 0 ? o->boundaries : o->batch_sizes, (b->n > 0 ? b->n : 1) * sizeof *b->boundary);
    b->batch_size = lks__memdup(o->batch_sizes, (b->n + 1) * sizeof *b->batch_size);
    if (b->lengths == NULL || b->boundary == NULL || b->batch_size == NULL)
        return lks__fail(LKS_E_NOMEM, "no memory for %zu buckets", b->n);
    b->to_boundary = o->pad_to_bucket_boundary == LKS_TRUE;
    b->no_padding = o->no_padding == LKS_TRUE;
    b->drop_remainder = o->padding.drop_remainder == LKS_TRUE;
    return b->no_padding ? LKS_OK : lks__padding_init(&b->padding, ds->spec, &o->padding);
}

lks_dataset *lks_bucket_by_sequence_length_with(lks_dataset *dataset, const lks_map_fn *length_func,
                                                const lks_bucket_options *options)
{
    buckets *b;
    lks_bucket_options o;
    lks_status status;

    if (!lks__dataset_ok(dataset)) return lks__data_fn_unused(dataset, length_func);
    lks__options(&o, sizeof o, options);
    b = lks__calloc(1, sizeof *b);
    if (b == NULL) {
        lks_dataset_release(dataset);
        return lks__data_fn_unused(NULL, length_func);
    }
    atomic_init(&b->references, 3);
    status = set_up(b, dataset, length_func, &o);
    if (status != LKS_OK) {
        atomic_store(&b->references, 1);
        release(b);
        dataset = lks__dataset_begin1(&lks__stage_bucket, dataset);
        return dataset == NULL ? NULL : lks__dataset_fail(dataset, status);
    }
    snprintf(b->name, sizeof b->name, "bucket_batch_size %016llx", (unsigned long long)lks__recipe_of(describe_all, b));
    const int64_t flags = b->length.fn.flags;
    const lks_map_fn key = { sizeof key, "bucket", lks_spec_fn_int64, bucket_of, flags, b, release, 0 };
    const lks_map_fn size = { sizeof size, b->name, lks_spec_fn_int64, size_of, LKS_FN_PURE, b, release, 0 };
    const lks_map_fn batches = { sizeof batches, "bucket_batch", reduced_spec, reduce, LKS_FN_PURE, b, release, 0 };
    return lks_group_by_window(dataset, &key, &batches, .window_size_func = &size);
}
