/* lockstep.h - the whole public interface of Lockstep; each header below can also be included alone. */
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#include "lockstep/dataset.h"
#include "lockstep/dataset_more.h"
#include "lockstep/element.h"
#include "lockstep/files.h"
#include "lockstep/layers.h"
#include "lockstep/layers_named.h"
#include "lockstep/losses.h"
#include "lockstep/metrics.h"
#include "lockstep/model.h"
#include "lockstep/ops.h"
#include "lockstep/optimizers.h"
#include "lockstep/status.h"
#include "lockstep/strategy.h"
#include "lockstep/tensor.h"
#include "lockstep/train.h"

#endif
