/* stages.h - internal. One line a stage or source: its table of functions is lks__stage_NAME, in a file of its own. */
#ifndef LKS_DATA_STAGES_H
#define LKS_DATA_STAGES_H

#include "stage.h"

#define LKS_STAGES(X) \
    X(batch)          \
    X(cache)          \
    X(concatenate)    \
    X(filter)         \
    X(generator)      \
    X(map)            \
    X(prefetch)       \
    X(range)          \
    X(repeat)         \
    X(shuffle)        \
    X(skip)           \
    X(take)           \
    X(tensor_slices)  \
    X(tensors)

#define LKS_STAGE_EXTERN(name) extern const lks_stage lks__stage_##name;
LKS_STAGES(LKS_STAGE_EXTERN)
#undef LKS_STAGE_EXTERN

#endif
