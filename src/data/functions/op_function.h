/* op_function.h - internal to functions/. What a library function is made of, and running one or several of them. */
#ifndef LKS_DATA_FUNCTIONS_OP_FUNCTION_H
#define LKS_DATA_FUNCTIONS_OP_FUNCTION_H

#include "op.h"

enum { LKS_OP_SLOTS = 64, LKS_OP_MOST = 32 };

typedef struct lks_op_scratch {
    lks_scratch work, more, result[LKS_OP_MOST];
} lks_op_scratch;

typedef struct lks_op_list {
    lks_map_fn fn;
    char *name;
    _Atomic(lks_op_scratch *) spare[LKS_OP_SLOTS];
    int n;
    lks_op op[];
} lks_op_list;

void lks__op_scratch_free(lks_op_scratch *s);
/* The component that the op works on among `leaves`; -1: there is none. */
int64_t lks__op_component(const lks_op *op, size_t leaves);
/* Gives the result of one op. */
lks_status lks__op_run(const lks_op *op, lks_op_call *call, const lks_view *in, lks_view *out);

#endif
