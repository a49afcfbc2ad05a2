/* initializer.h - internal. Initial values of weights: drawn on the host, by the counter-based generator keyed with
 * (seed, weight path), so that they depend on nothing else. Initializers are named by specs (layers/config.h).
 */
#ifndef LKS_INITIALIZERS_INITIALIZER_H
#define LKS_INITIALIZERS_INITIALIZER_H

#include "layers/config.h"
#include "tensor/tensor.h"

lks_status lks__initializer_check(const char *spec);
lks_status lks__initializer_to_json(const char *spec, json_t **out);

/* Fills `out` (shape elements). An initializer with a seed of its own uses that instead of `seed`, and no path. */
lks_status lks__initializer_draw(const char *spec, lks_shape shape, uint64_t seed, const char *path, float *out);

/* Keras' fans of a weight's shape. */
void lks__initializer_fans(const lks_shape *shape, double *fan_in, double *fan_out);

#endif
