/* schedule.h - internal. Learning-rate schedules as graph: the rate from the number of the step. Named by specs such as
 * "exponential_decay:initial_learning_rate=0.1,decay_steps=100,decay_rate=0.9".
 */
#ifndef LKS_SCHEDULES_SCHEDULE_H
#define LKS_SCHEDULES_SCHEDULE_H

#include "graph/graph.h"
#include "layers/config.h"

lks_status lks__schedule_check(const char *spec);
lks_status lks__schedule_to_json(const char *spec, json_t **out);
/* The rate of step s (a float32 scalar, 0 before the first update). */
lks_node lks__schedule_apply(const char *spec, lks_node s);

#endif
