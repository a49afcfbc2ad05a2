/* optimizer_list.h - one line an optimizer. */
LKS_OPTIMIZER(adam)
LKS_OPTIMIZER(adamw)
LKS_OPTIMIZER(rmsprop)
LKS_OPTIMIZER(sgd)
