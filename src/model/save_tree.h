/* save_tree.h - internal. Where the weights of a model stand in Keras' weights file (spec/keras.md 7.3), for writer and reader. */
#ifndef LKS_MODEL_SAVE_TREE_H
#define LKS_MODEL_SAVE_TREE_H

#include "model.h"

/* Called for the model ("vars"), each layer and each nested model ("layers/dense_1/vars"), each object once. layer is NULL
 * for models, which hold no weights of their own. */
typedef lks_status (*lks_tree_fn)(void *user, const char *path, const char *name, const lks_layer *layer);
lks_status lks__save_tree(const lks_model *model, lks_tree_fn fn, void *user);

#define LKS_OPTIMIZER_PATH "optimizer/vars"

#endif
