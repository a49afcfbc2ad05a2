/* elementwise.c - shape rules and the plain kernel that all elementwise op files share.
 *
 * The kernel goes over the output in blocks. Operands are brought into registers (4-byte elements) by walking the output's
 * axes with a stride for each operand, 0 where it is broadcast; the examples of the batch are one more, outermost axis. So
 * a shared operand meets every row of a batched one, aligned from the last axis.
 */
#include "elementwise.h"

#include <string.h>

#include "ew_op.h"

lks_ew_code lks__ew_for(int code, lks_dtype operand)
{
    static const unsigned char integer[LKS_EW_COUNT] = {
        [LKS_EW_COPY] = LKS_EW_COPY_I,
        [LKS_EW_ADD] = LKS_EW_ADD_I,
        [LKS_EW_SUBTRACT] = LKS_EW_SUBTRACT_I,
        [LKS_EW_MULTIPLY] = LKS_EW_MULTIPLY_I,
        [LKS_EW_MAXIMUM] = LKS_EW_MAXIMUM_I,
        [LKS_EW_MINIMUM] = LKS_EW_MINIMUM_I,
        [LKS_EW_EQUAL] = LKS_EW_EQUAL_I,
        [LKS_EW_NOT_EQUAL] = LKS_EW_NOT_EQUAL_I,
        [LKS_EW_LESS] = LKS_EW_LESS_I,
        [LKS_EW_LESS_EQUAL] = LKS_EW_LESS_EQUAL_I,
        [LKS_EW_GREATER] = LKS_EW_GREATER_I,
        [LKS_EW_GREATER_EQUAL] = LKS_EW_GREATER_EQUAL_I,
        [LKS_EW_WHERE] = LKS_EW_WHERE_I,
        [LKS_EW_AND] = LKS_EW_AND,
        [LKS_EW_OR] = LKS_EW_OR,
        [LKS_EW_NOT] = LKS_EW_NOT,
    };

    if (code <= LKS_EW_NONE || code >= LKS_EW_COUNT) return LKS_EW_NONE;
    if (operand == LKS_FLOAT32) return (lks_ew_code)code;
    return operand == LKS_INT32 || operand == LKS_BOOL ? (lks_ew_code)integer[code] : LKS_EW_NONE;
}

/* ---- shape rules ---- */

lks_status lks__ew_infer_unary(const char *op, int n_in, const lks_type *const *in, lks_type *out)
{
    LKS_TRY(lks__expect_inputs(op, 1, n_in));
    LKS_TRY(lks__expect_dtype(op, in[0], LKS_FLOAT32));
    *out = *in[0];
    return LKS_OK;
}

lks_status lks__ew_infer_float(const char *op, int n_in, const lks_type *const *in, lks_type *out)
{
    LKS_TRY(lks__expect_inputs(op, 2, n_in));
    LKS_TRY(lks__expect_dtype(op, in[0], LKS_FLOAT32));
    LKS_TRY(lks__expect_dtype(op, in[1], LKS_FLOAT32));
    return lks__broadcast_types(op, in[0], in[1], out);
}

lks_status lks__ew_infer_arithmetic(const char *op, int n_in, const lks_type *const *in, lks_type *out)
{
    LKS_TRY(lks__expect_inputs(op, 2, n_in));
    if (in[0]->dtype != LKS_INT32) LKS_TRY(lks__expect_dtype(op, in[0], LKS_FLOAT32));
    LKS_TRY(lks__expect_dtype(op, in[1], in[0]->dtype));
    return lks__broadcast_types(op, in[0], in[1], out);
}

lks_status lks__ew_infer_compare(const char *op, int n_in, const lks_type *const *in, lks_type *out)
{
    LKS_TRY(lks__expect_inputs(op, 2, n_in));
    if (in[0]->dtype != LKS_INT32 && in[0]->dtype != LKS_BOOL) LKS_TRY(lks__expect_dtype(op, in[0], LKS_FLOAT32));
    LKS_TRY(lks__expect_dtype(op, in[1], in[0]->dtype));
    LKS_TRY(lks__broadcast_types(op, in[0], in[1], out));
    out->dtype = LKS_BOOL;
    return LKS_OK;
}

lks_status lks__ew_infer_logical(const char *op, int n_in, const lks_type *const *in, lks_type *out)
{
    LKS_TRY(lks__expect_inputs(op, 2, n_in));
    for (int i = 0; i < n_in; i++) LKS_TRY(lks__expect_dtype(op, in[i], LKS_BOOL));
    return lks__broadcast_types(op, in[0], in[1], out);
}

/* ---- self-checks ---- */

const lks_op_case lks__ew_arithmetic_cases[] = {
    LKS_EW_BROADCASTS(.tolerance = 1e-2),
    { .name = "int32",
      .n_in = 2,
      .in = { LKS_ROW_OF(LKS_INT32, 2, 3, 4), LKS_ROW_OF(LKS_INT32, 2, 3, 4) },
      .low = -9,
      .high = 9 },
    { .name = NULL },
};

const lks_op_case lks__ew_compare_cases[] = {
    LKS_EW_BROADCASTS(.low = -2, .high = 2),
    { .name = "int32",
      .n_in = 2,
      .in = { LKS_ROW_OF(LKS_INT32, 3, 5, 4, 3), LKS_SHARED_OF(LKS_INT32, 1, 3) },
      .low = -3,
      .high = 3 },
    { .name = "bool", .n_in = 2, .in = { LKS_ROW_OF(LKS_BOOL, 2, 3, 4), LKS_ROW_OF(LKS_BOOL, 2, 3, 4) } },
    { .name = NULL },
};

const lks_op_case lks__ew_logical_cases[] = {
    { .name = "rows", .n_in = 2, .in = { LKS_ROW_OF(LKS_BOOL, 2, 3, 4), LKS_SHARED_OF(LKS_BOOL, 1, 4) } },
    { .name = "shared", .n_in = 2, .in = { LKS_SHARED_OF(LKS_BOOL, 1, 7), LKS_SHARED_OF(LKS_BOOL, 1, 7) } },
    { .name = NULL },
};

/* ---- the kernel ---- */

enum { MAX_AXES = LKS_MAX_RANK + 1 };

typedef struct operand {
    const void *base;
    bool bytes; /* bool: one byte an element */
    bool whole; /* as long as the output: no walking */
    int64_t stride[MAX_AXES];
} operand;

typedef struct space {
    int axes;
    int64_t dim[MAX_AXES];
} space;

static operand describe(const space *s, const lks_type *type, const void *base)
{
    operand o = { .base = base, .bytes = lks_dtype_size(type->dtype) == 1, .whole = true };
    int64_t step = 1, rank = type->shape.rank;

    for (int axis = s->axes - 1; axis > 0; axis--) {
        int64_t k = axis - (s->axes - rank), size = k >= 0 ? type->shape.dim[k] : 1;
        o.stride[axis] = size == 1 ? 0 : step;
        if (size != s->dim[axis]) o.whole = false;
        step *= size;
    }
    o.stride[0] = type->batched ? step : 0;
    if (s->dim[0] != 1 && !type->batched) o.whole = false;
    return o;
}

/* `n` elements of stride `stride` (in elements) into a register. */
static void load_run(const operand *o, int64_t from, int64_t stride, int n, int32_t *to)
{
    if (o->bytes) {
        const unsigned char *p = (const unsigned char *)o->base + from;
        for (int i = 0; i < n; i++) to[i] = p[i * stride];
        return;
    }
    const int32_t *p = (const int32_t *)o->base + from;
    if (stride == 1) memcpy(to, p, (size_t)n * sizeof *to);
    else
        for (int i = 0; i < n; i++) to[i] = p[i * stride];
}

/* Elements begin .. begin + n of the broadcast operand. */
static void load(const space *s, const operand *o, int64_t begin, int n, int32_t *to)
{
    int64_t at[MAX_AXES], offset = 0, rest = begin;
    int last = s->axes - 1;

    if (o->whole) {
        load_run(o, begin, 1, n, to);
        return;
    }
    for (int axis = last; axis >= 0; axis--) {
        at[axis] = rest % s->dim[axis];
        rest /= s->dim[axis];
        offset += at[axis] * o->stride[axis];
    }
    while (n > 0) {
        int64_t left = s->dim[last] - at[last];
        int run = left < n ? (int)left : n, axis = last;
        load_run(o, offset, o->stride[last], run, to);
        to += run;
        n -= run;
        at[last] += run;
        offset += run * o->stride[last];
        for (; axis > 0 && at[axis] == s->dim[axis]; axis--) {
            offset += o->stride[axis - 1] - at[axis] * o->stride[axis];
            at[axis] = 0;
            at[axis - 1]++;
        }
    }
}

static void store(void *out, bool bytes, int64_t begin, int n, const int32_t *from)
{
    if (!bytes) {
        memcpy((int32_t *)out + begin, from, (size_t)n * sizeof *from);
        return;
    }
    for (int i = 0; i < n; i++) ((unsigned char *)out)[begin + i] = (unsigned char)from[i];
}

void lks__ew_run(const lks_op_call *call, lks_ew_code code)
{
    const lks_shape *shape = &call->out_type->shape;
    space s = { .axes = (int)shape->rank + 1 };
    int64_t total = (call->out_type->batched ? call->n : 1) * lks__type_size(call->out_type);
    bool bytes = lks_dtype_size(call->out_type->dtype) == 1;
    int32_t reg[3][LKS_EW_BLOCK], result[LKS_EW_BLOCK];
    operand o[3];

    s.dim[0] = call->out_type->batched ? call->n : 1;
    for (int i = 0; i < shape->rank; i++) s.dim[i + 1] = shape->dim[i];
    for (int k = 0; k < call->n_in; k++) o[k] = describe(&s, call->in_type[k], call->in[k]);
    for (int64_t begin = 0; begin < total; begin += LKS_EW_BLOCK) {
        int n = total - begin < LKS_EW_BLOCK ? (int)(total - begin) : LKS_EW_BLOCK;
        for (int k = 0; k < call->n_in; k++) load(&s, &o[k], begin, n, reg[k]);
        lks__ew_ref[code](n, result, reg[0], reg[1], reg[2]);
        store(call->out, bytes, begin, n, result);
    }
}
