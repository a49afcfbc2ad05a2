/* lockstep.h - the whole public interface of Lockstep; each header below can also be included alone. */
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#include "lockstep/applications.h"
#include "lockstep/dataset.h"
#include "lockstep/dataset_budget.h"
#include "lockstep/dataset_diagnose.h"
#include "lockstep/dataset_distribute.h"
#include "lockstep/dataset_json.h"
#include "lockstep/dataset_more.h"
#include "lockstep/dataset_sampling.h"
#include "lockstep/element.h"
#include "lockstep/files.h"
#include "lockstep/image.h"
#include "lockstep/image_folder.h"
#include "lockstep/image_functions.h"
#include "lockstep/layers.h"
#include "lockstep/layers_named.h"
#include "lockstep/losses.h"
#include "lockstep/metrics.h"
#include "lockstep/model.h"
#include "lockstep/ops.h"
#include "lockstep/optimizers.h"
#include "lockstep/records.h"
#include "lockstep/sources.h"
#include "lockstep/status.h"
#include "lockstep/strategy.h"
#include "lockstep/tensor.h"
#include "lockstep/tensor_ops.h"
#include "lockstep/train.h"

#ifndef __cplusplus
/* One more reference to a dataset, model, strategy, layer, loss, metric, optimizer or tensor, for builders steal the one they are
 * given; and one fewer. NULL is fine. From C++ use the functions named after the type. */
#define LKS_BY_TYPE(object, what)                 \
    _Generic((object), lks_dataset *              \
             : lks_dataset_##what, lks_model *    \
             : lks_model_##what, lks_strategy *   \
             : lks_strategy_##what, lks_layer *   \
             : lks_layer_##what, lks_loss *       \
             : lks_loss_##what, lks_metric *      \
             : lks_metric_##what, lks_optimizer * \
             : lks_optimizer_##what, lks_tensor * \
             : lks_tensor_##what)(object)
#define lks_retain(object) LKS_BY_TYPE(object, retain)
#define lks_release(object) LKS_BY_TYPE(object, release)
#endif

#endif
