/* tensor_elementwise.c - lks_tensor_add and friends: broadcasting in blocks, the elementwise functions of the kernels. */
#include <string.h>

#include "base/pool.h"
#include "kernels/kernels.h"
#include "lockstep/tensor_ops.h"
#include "tensor/tensor.h"

enum { TASK_BLOCKS = 64 };

typedef struct operand {
    const float *data;
    bool whole; /* of the result's shape */
    int64_t stride[LKS_MAX_RANK];
} operand;

typedef struct work {
    lks_ew_fn fn;
    lks_shape shape;
    int64_t size;
    operand in[2];
    float *out;
} work;

/* Elements [first, first + n) of a broadcast operand. */
static const float *fetch(const work *w, const operand *x, int64_t first, int n, float *to)
{
    int64_t index[LKS_MAX_RANK], rest = first, at = 0;

    if (x->whole) return x->data + first;
    for (int64_t d = w->shape.rank - 1; d >= 0; d--) {
        index[d] = rest % w->shape.dim[d];
        rest /= w->shape.dim[d];
        at += index[d] * x->stride[d];
    }
    for (int i = 0; i < n; i++) {
        to[i] = x->data[at];
        for (int64_t d = w->shape.rank - 1; d >= 0; d--) {
            at += x->stride[d];
            if (++index[d] < w->shape.dim[d]) break;
            at -= x->stride[d] * w->shape.dim[d];
            index[d] = 0;
        }
    }
    return to;
}

static void run_task(void *user, int task)
{
    const work *w = user;
    const int64_t begin = (int64_t)task * TASK_BLOCKS * LKS_EW_BLOCK, most = begin + TASK_BLOCKS * LKS_EW_BLOCK;
    float a[LKS_EW_BLOCK], b[LKS_EW_BLOCK];

    for (int64_t at = begin; at < w->size && at < most; at += LKS_EW_BLOCK) {
        const int n = w->size - at < LKS_EW_BLOCK ? (int)(w->size - at) : LKS_EW_BLOCK;

        w->fn(n, w->out + at, fetch(w, &w->in[0], at, n, a), fetch(w, &w->in[1], at, n, b), NULL);
    }
}

static lks_status check(const char *name, const lks_tensor *t)
{
    if (t == NULL) return lks__fail(LKS_E_ARG, "%s: an operand is NULL", name);
    if (lks_tensor_dtype(t) == LKS_FLOAT32) return LKS_OK;
    return lks__fail(LKS_E_ARG, "%s: an operand is %s, expected float32 (lks_tensor_cast converts)", name,
                     lks_dtype_name(lks_tensor_dtype(t)));
}

static lks_status broadcast(const char *name, const lks_shape *a, const lks_shape *b, lks_shape *out)
{
    char text[2][LKS_SHAPE_TEXT];

    *out = a->rank >= b->rank ? *a : *b;
    for (int64_t i = 1; i <= a->rank && i <= b->rank; i++) {
        const int64_t x = a->dim[a->rank - i], y = b->dim[b->rank - i];

        if (x != y && x != 1 && y != 1)
            return lks__fail(LKS_E_SHAPE, "%s: shapes %s and %s do not broadcast", name, lks__shape_text(a, text[0]),
                             lks__shape_text(b, text[1]));
        out->dim[out->rank - i] = x == 1 ? y : x;
    }
    return LKS_OK;
}

static operand operand_of(const lks_tensor *t, const lks_shape *out)
{
    const lks_shape s = lks_tensor_shape(t);
    operand x = { .data = lks_tensor_cdata(t), .whole = lks_shape_equal(&s, out) };
    int64_t step = 1;

    for (int64_t i = 1; i <= s.rank; i++) {
        if (s.dim[s.rank - i] != 1) x.stride[out->rank - i] = step;
        step *= s.dim[s.rank - i];
    }
    return x;
}

static lks_tensor *apply(const char *name, lks_ew_code code, const lks_tensor *a, const lks_tensor *b)
{
    work w = { .fn = lks__kernels_for(lks__isa_choose())->elementwise[code] };
    lks_shape x, y;
    lks_tensor *out;
    lks_fenv host;

    if (check(name, a) != LKS_OK || check(name, b) != LKS_OK) return NULL;
    x = lks_tensor_shape(a);
    y = lks_tensor_shape(b);
    if (broadcast(name, &x, &y, &w.shape) != LKS_OK || lks__pool_reserve(lks__usable_cores()) != LKS_OK) return NULL;
    out = lks__tensor_create_raw(LKS_FLOAT32, w.shape);
    if (out == NULL) return NULL;
    w.size = lks_tensor_size(out);
    w.in[0] = operand_of(a, &w.shape);
    w.in[1] = operand_of(b, &w.shape);
    w.out = lks_tensor_data(out);
    lks__fenv_enter(&host);
    lks__pool_run(lks__usable_cores(),
                  (int)((w.size + TASK_BLOCKS * LKS_EW_BLOCK - 1) / ((int64_t)TASK_BLOCKS * LKS_EW_BLOCK)), run_task,
                  &w);
    lks__fenv_leave(&host);
    return out;
}

lks_tensor *lks_tensor_add(const lks_tensor *a, const lks_tensor *b)
{
    return apply("lks_tensor_add", LKS_EW_ADD, a, b);
}

lks_tensor *lks_tensor_subtract(const lks_tensor *a, const lks_tensor *b)
{
    return apply("lks_tensor_subtract", LKS_EW_SUBTRACT, a, b);
}

lks_tensor *lks_tensor_multiply(const lks_tensor *a, const lks_tensor *b)
{
    return apply("lks_tensor_multiply", LKS_EW_MULTIPLY, a, b);
}

lks_tensor *lks_tensor_divide(const lks_tensor *a, const lks_tensor *b)
{
    return apply("lks_tensor_divide", LKS_EW_DIVIDE, a, b);
}
