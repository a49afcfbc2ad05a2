/* fuse.c - which map may be put off until batching. The elements are the same: choosing and ordering does not look at them, and the
 * functions are pure. Failures would come at other places, so data that could fail (labels out of range) are not fused. */
#include "fuse.h"

#include "stages.h"

static bool only_orders(const lks_stage *stage)
{
    return stage == &lks__stage_shuffle || stage == &lks__stage_take || stage == &lks__stage_skip ||
           stage == &lks__stage_shard || stage == &lks__stage_repeat || stage == &lks__stage_prefetch;
}

lks_dataset *lks__fusable_map(const lks_dataset *batch, lks_fused *kind)
{
    lks_dataset *ds = batch->input[0];
    const lks_tensor *image, *label;
    lks_shape shape;

    while (only_orders(ds->stage)) ds = ds->input[0];
    if (ds->stage != &lks__stage_map || (*kind = lks__map_kind(ds)) == LKS_FUSED_NONE) return NULL;
    image = lks__slices_component(ds->input[0], 0);
    label = lks__slices_component(ds->input[0], 1);
    if (image == NULL || *kind == LKS_FUSED_RESCALE) return image == NULL ? NULL : ds;
    shape = lks_spec_shape(lks_spec_leaf(ds->spec, 1));
    if (label == NULL || !lks__labels_in_range(label, shape.dim[shape.rank - 1])) return NULL;
    return ds;
}

const lks_dataset *lks__rows_source(const lks_dataset *batch, const lks_dataset *bypass)
{
    const lks_dataset *ds = batch->input[0];
    const lks_tensor *t;

    while (ds->n_inputs == 1 && (ds == bypass || ds->stage->next_rows != NULL)) ds = ds->input[0];
    if (lks__slices_component(ds, 0) == NULL) return NULL;
    for (size_t i = 0; (t = lks__slices_component(ds, i)) != NULL; i++)
        if (lks_tensor_dtype(t) == LKS_STRING) return NULL;
    return ds;
}
