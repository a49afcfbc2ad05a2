/* stages.h - internal. One line a stage or source: its table of functions is lks__stage_NAME, in a file of its own. */
#ifndef LKS_DATA_STAGES_H
#define LKS_DATA_STAGES_H

#include "stage.h"

#define LKS_STAGES(X)     \
    X(ahead)              \
    X(assert_cardinality) \
    X(batch)              \
    X(bucket)             \
    X(cache)              \
    X(cache_file)         \
    X(choose)             \
    X(cifar)              \
    X(concatenate)        \
    X(csv)                \
    X(elements)           \
    X(enumerate)          \
    X(filter)             \
    X(fixed_length)       \
    X(flat_map)           \
    X(from_json)          \
    X(generator)          \
    X(group_by_window)    \
    X(hdf5)               \
    X(ignore_errors)      \
    X(image_folder)       \
    X(interleave)         \
    X(list_files)         \
    X(map)                \
    X(mnist)              \
    X(padded_batch)       \
    X(permute)            \
    X(prefetch)           \
    X(ragged_batch)       \
    X(random)             \
    X(range)              \
    X(rebatch)            \
    X(rejection_resample) \
    X(repeat)             \
    X(scan)               \
    X(shard)              \
    X(shuffle)            \
    X(skip)               \
    X(split_batches)      \
    X(take)               \
    X(take_while)         \
    X(tensor_slices)      \
    X(tensors)            \
    X(text_lines)         \
    X(tfds)               \
    X(tfrecord)           \
    X(unbatch)            \
    X(unique)             \
    X(webdataset)         \
    X(window)             \
    X(zip)

#define LKS_STAGE_EXTERN(name) extern const lks_stage lks__stage_##name;
LKS_STAGES(LKS_STAGE_EXTERN)
#undef LKS_STAGE_EXTERN

#endif
