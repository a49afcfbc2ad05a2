/* names.h - internal to src/model: small shared pieces of making models. */
#ifndef LKS_MODEL_NAMES_H
#define LKS_MODEL_NAMES_H

#include "model.h"

uint64_t lks__default_seed(void);
uint64_t lks__seed_option(int64_t option); /* 0 = default, LKS_ZERO_INT = 0 */
lks_model *lks__model_alloc(const char *name, const char *fallback);
/* Layer order, call list and names of a model whose recording, inputs and outputs are set. */
lks_status lks__model_assemble(lks_model *m);
/* Gives every layer that has none a name that is unique in the model ("dense", "dense_1") and its weights their paths. */
lks_status lks__name_layers(lks_model *m);
/* Draws initial values of all weights that have none. */
lks_status lks__model_initialize(lks_model *m);
/* Makes one the other's part; ask lks__symbolic_of for the one that is left. Refused where both belong to models. */
lks_status lks__symbolic_join(lks_symbolic *s, lks_symbolic *other);

#endif
