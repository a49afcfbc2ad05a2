/* math_kinds.h - the kinds of the topic "math"; one file each. The topic's README says what stands in a case. */
#ifndef LKS_TESTS_GOLDEN_MATH_H
#define LKS_TESTS_GOLDEN_MATH_H

#include "golden.h"

typedef void (*golden_kind_fn)(golden_case *c);

void golden_math_layer(golden_case *c);
void golden_math_values(golden_case *c);
void golden_math_statistics(golden_case *c);
void golden_math_initializer(golden_case *c);
void golden_math_loss(golden_case *c);
void golden_math_metric(golden_case *c);
void golden_math_optimizer(golden_case *c);
void golden_math_schedule(golden_case *c);
void golden_math_model(golden_case *c);
void golden_math_error(golden_case *c);

/* "not yet" if the case has another dtype policy than float32; true then. */
bool golden_other_policy(golden_case *c);

#endif
