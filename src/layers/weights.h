/* weights.h - internal. What acts on a weight or a value by name: activations, regularizers, constraints. All build graph.
 * Each is named by a spec (config.h), such as "relu" or "l2:l2=0.001".
 */
#ifndef LKS_LAYERS_WEIGHTS_H
#define LKS_LAYERS_WEIGHTS_H

#include "config.h"
#include "graph/graph.h"

/* LKS_OK if there is such a thing and its options are good. */
lks_status lks__activation_check(const char *spec);
lks_status lks__regularizer_check(const char *spec);
lks_status lks__constraint_check(const char *spec);

/* f(x); a failed node if the spec is no good. */
lks_node lks__activation_apply(const char *spec, lks_node x);
/* The penalty of the whole of w, a shared scalar. */
lks_node lks__regularizer_apply(const char *spec, lks_node w);
lks_node lks__regularizer_penalty(double l1, double l2, lks_node w); /* l1 sum|w| + l2 sum w^2 */
/* w as it may be after an update. */
lks_node lks__constraint_apply(const char *spec, lks_node w);

/* As Keras writes them: a bare string for built-in activations, objects for the others. New references. */
lks_status lks__activation_to_json(const char *spec, json_t **out);
lks_status lks__regularizer_to_json(const char *spec, json_t **out);
lks_status lks__constraint_to_json(const char *spec, json_t **out);

#endif
