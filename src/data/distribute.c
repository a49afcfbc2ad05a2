/* distribute.c - a dataset of global batches as the pieces of one worker's replicas. */
#include "lockstep/dataset_distribute.h"

#include "stack.h"
#include "stages.h"

lks_status lks_batch_sizes_for_worker(int64_t global_batch, int64_t num_workers, int64_t num_replicas, int64_t worker,
                                      int64_t *sizes)
{
    int64_t n, more;

    if (sizes == NULL) return lks__fail(LKS_E_ARG, "lks_batch_sizes_for_worker: sizes is NULL");
    if (global_batch < 0 || num_workers < 1 || num_replicas < 1 || worker < 0 || worker >= num_workers ||
        num_workers > 1 << 20 || num_replicas > 1 << 10)
        return lks__fail(LKS_E_ARG,
                         "a batch of %lld for worker %lld of %lld with %lld replicas: the batch must not be negative, "
                         "the worker's number lies in [0, workers)",
                         (long long)global_batch, (long long)worker, (long long)num_workers, (long long)num_replicas);
    n = num_workers * num_replicas;
    more = global_batch % n;
    for (int64_t i = 0; i < n; i++) sizes[i] = global_batch / n + ((i + worker * num_replicas) % n < more);
    return LKS_OK;
}

lks_status lks_per_replica_batch_size(const lks_input_context *context, int64_t global_batch, int64_t *out)
{
    lks_input_context c;

    lks__options(&c, sizeof c, context);
    if (out == NULL || c.num_replicas_in_sync < 1)
        return lks__fail(LKS_E_ARG, "lks_per_replica_batch_size: no replicas, or the output is NULL");
    if (global_batch % c.num_replicas_in_sync != 0)
        return lks__fail(LKS_E_ARG, "the global batch of %lld rows can't be divided by %lld replicas",
                         (long long)global_batch, (long long)c.num_replicas_in_sync);
    *out = global_batch / c.num_replicas_in_sync;
    return LKS_OK;
}

/* A stage that leaves its input's batches as large as they are. */
static bool keeps_batches(const lks_stage *s)
{
    static const lks_stage *const keeping[] = { &lks__stage_prefetch,     &lks__stage_shuffle,
                                                &lks__stage_take,         &lks__stage_skip,
                                                &lks__stage_repeat,       &lks__stage_cache,
                                                &lks__stage_cache_file,   &lks__stage_shard,
                                                &lks__stage_map,          &lks__stage_assert_cardinality,
                                                &lks__stage_ignore_errors };

    for (size_t i = 0; i < sizeof keeping / sizeof *keeping; i++)
        if (s == keeping[i]) return true;
    return false;
}

/* Rows of every batch but the last; 0 = not known. */
static int64_t batch_size(const lks_dataset *ds)
{
    while (ds->n_inputs == 1 && keeps_batches(ds->stage)) ds = ds->input[0];
    return lks__batch_size(ds);
}

/* This worker reads its own elements: its share of the global batch a step, dealt to its replicas. */
static lks_dataset *own_stream(lks_dataset *ds, int64_t rows, const lks_distribute_options *o)
{
    int64_t n = o->num_workers * o->num_replicas, *sizes;
    lks_status status;

    if (rows == 0) return lks_split_batches(ds, n, 0, n, o->tf_pieces == LKS_TRUE);
    sizes = lks__calloc((size_t)n, sizeof *sizes);
    if (sizes == NULL) {
        lks_dataset_release(ds);
        lks__fail(LKS_E_NOMEM, "no memory for %lld batch sizes", (long long)n);
        return NULL;
    }
    status = lks_batch_sizes_for_worker(rows, o->num_workers, o->num_replicas, o->worker, sizes);
    for (int64_t step = 0; status == LKS_OK && step < o->num_workers; step++) {
        int64_t sum = 0;
        for (int64_t r = 0; r < o->num_replicas; r++) sum += sizes[step * o->num_replicas + r];
        sizes[step] = sum;
    }
    ds = lks_rebatch_with(ds, (size_t)o->num_workers, sizes, NULL);
    lks__free(sizes);
    return lks_split_batches(ds, o->num_replicas, 0, o->num_replicas, o->tf_pieces == LKS_TRUE);
}

/* AUTO and FILE shard; where that ends in dealing out elements, the rows of every batch are dealt out instead. */
static lks_dataset *shard(lks_dataset *ds, const lks_distribute_options *o)
{
    lks_shard_policy policy = o->policy == LKS_SHARD_AUTO ? LKS_SHARD_FILE : o->policy;
    int64_t rows = batch_size(ds), n = o->num_workers * o->num_replicas;
    lks_dataset *own = policy == LKS_SHARD_DATA
                           ? NULL
                           : lks_auto_shard(lks_dataset_retain(ds), o->num_workers, o->worker, policy);

    if (policy == LKS_SHARD_DATA ||
        (o->policy == LKS_SHARD_AUTO && !lks__dataset_ok(own) && lks_dataset_status(own) == LKS_E_NOTFOUND)) {
        lks_dataset_release(own);
        return lks_split_batches(ds, n, o->worker * o->num_replicas, o->num_replicas, o->tf_pieces == LKS_TRUE);
    }
    lks_dataset_release(ds);
    return own_stream(own, rows, o);
}

lks_dataset *lks_distribute_with(lks_dataset *dataset, const lks_distribute_options *options)
{
    lks_distribute_options o;

    if (!lks__dataset_ok(dataset)) return dataset;
    lks__options(&o, sizeof o, options);
    if (o.num_workers == 0) o.num_workers = 1;
    if (o.num_replicas == 0) o.num_replicas = 1;
    if (o.num_workers < 1 || o.num_workers > 1 << 20 || o.num_replicas < 1 || o.num_replicas > 1 << 10 ||
        o.worker < 0 || o.worker >= o.num_workers) {
        lks_dataset *failed = lks__dataset_begin1(&lks__stage_split_batches, dataset);
        lks_status status = lks__fail(
            LKS_E_ARG, "worker %lld of %lld with %lld replicas: counts must be at least 1, the number in [0, workers)",
            (long long)o.worker, (long long)o.num_workers, (long long)o.num_replicas);
        return failed == NULL ? NULL : lks__dataset_fail(failed, status);
    }
    if (o.num_workers == 1 && o.policy != LKS_SHARD_HINTED) /* each batch is cut as it comes */
        return lks_split_batches(dataset, o.num_replicas, 0, o.num_replicas, o.tf_pieces == LKS_TRUE);
    return shard(dataset, &o);
}
