/* op.c - see op.h: one map function runs a list of ops. Scratch memory waits in a few slots and is taken by exchange, so that no call
 * waits for another and a warm chain allocates nothing. */
#include "op.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "lockstep/dataset_distribute.h"
#include "tensor/tensor.h"

enum { SLOTS = 64, MAX_OPS = 32 };

typedef struct op_scratch {
    lks_scratch work, more, result[MAX_OPS];
} op_scratch;

typedef struct op_function {
    lks_map_fn fn;
    char *name;
    _Atomic(op_scratch *) spare[SLOTS];
    int n;
    lks_op op[];
} op_function;

/* ---- scratch ---- */

static op_scratch *take_scratch(op_function *f)
{
    op_scratch *s;

    for (int i = 0; i < SLOTS; i++)
        if ((s = atomic_exchange(&f->spare[i], NULL)) != NULL) return s;
    s = lks__calloc(1, sizeof *s);
    if (s == NULL) lks__fail(LKS_E_NOMEM, "no memory for pixels");
    return s;
}

static void free_scratch(op_scratch *s)
{
    if (s == NULL) return;
    for (int i = 0; i < MAX_OPS; i++) lks__scratch_free(&s->result[i]);
    lks__scratch_free(&s->work);
    lks__scratch_free(&s->more);
    lks__free(s);
}

static void give_scratch(op_function *f, op_scratch *s)
{
    for (int i = 0; i < SLOTS; i++) {
        op_scratch *none = NULL;
        if (atomic_compare_exchange_strong(&f->spare[i], &none, s)) return;
    }
    free_scratch(s);
}

/* ---- specs ---- */

static int64_t component_of(const lks_op *op, size_t leaves)
{
    int64_t c = op->component < 0 ? op->component + (int64_t)leaves : op->component;

    return c >= 0 && c < (int64_t)leaves ? c : -1;
}

static lks_spec *spec_after(const lks_op *op, const lks_map_context *context, const lks_spec *leaf)
{
    lks_dtype dtype = lks_spec_dtype(leaf);
    lks_shape shape = lks_spec_shape(leaf);
    lks_op known = *op;

    if (op->refused != LKS_OK) {
        lks__fail(op->refused, "%s", op->text);
        return NULL;
    }
    if (lks_spec_kind_of(leaf) != LKS_SPEC_TENSOR) {
        lks__fail(LKS_E_SHAPE, "%s takes tensors", op->class->name);
        return NULL;
    }
    if (op->class == &lks__op_one_hot && known.n[0] == 0)
        known.n[0] = context->depth != 0 ? context->depth : lks_spec_num_classes(leaf);
    return op->class->shape(&known, &dtype, &shape) == LKS_OK ? lks_spec_tensor(dtype, shape) : NULL;
}

typedef struct leaf_list {
    lks_spec *leaf[LKS_OP_LEAVES];
} leaf_list;

static lks_spec *pick_leaf(void *user, size_t i, const lks_spec *leaf)
{
    lks_spec *mine = i < LKS_OP_LEAVES ? ((leaf_list *)user)->leaf[i] : NULL;

    return lks_spec_retain(mine != NULL ? mine : leaf);
}

static lks_spec *output_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    const op_function *f = user;
    size_t leaves = lks_spec_leaf_count(in);
    leaf_list list = { { NULL } };
    lks_spec *out = NULL;
    int i;

    for (i = 0; i < f->n; i++) {
        int64_t c = component_of(&f->op[i], leaves);
        const lks_spec *now = c < 0 || c >= LKS_OP_LEAVES ? NULL
                              : list.leaf[c] != NULL      ? list.leaf[c]
                                                          : lks_spec_leaf(in, (size_t)c);
        lks_spec *next;
        if (now == NULL) {
            lks__fail(LKS_E_ARG, "%s works on component %lld, the elements have %zu", f->op[i].class->name,
                      (long long)f->op[i].component, leaves);
            break;
        }
        next = spec_after(&f->op[i], context, now);
        if (next == NULL) break;
        lks_spec_release(list.leaf[c]);
        list.leaf[c] = next;
    }
    if (i == f->n) out = lks__spec_map(in, pick_leaf, &list);
    for (i = 0; i < LKS_OP_LEAVES; i++) lks_spec_release(list.leaf[i]);
    return out;
}

/* ---- running ---- */

void *lks__op_room(lks_op_call *call, lks_dtype dtype, const lks_shape *shape, lks_view *out)
{
    void *data;

    if (call->last) {
        lks_tensor *t = lks_element_output_shaped(call->out, (size_t)call->component, *shape);
        if (t == NULL) return NULL;
        if (lks_tensor_dtype(t) != dtype) {
            lks__fail(LKS_E_SHAPE, "the result is %s, the spec says %s", lks_dtype_name(dtype),
                      lks_dtype_name(lks_tensor_dtype(t)));
            return NULL;
        }
        data = lks_tensor_data(t);
    } else {
        int64_t n = lks_shape_size(shape);
        size_t bytes;
        if (n < 0 || !lks__mul_size((size_t)n, lks_dtype_size(dtype), &bytes)) {
            lks__fail(LKS_E_LIMIT, "a picture's size in bytes overflows");
            return NULL;
        }
        data = lks__scratch_room(call->result, bytes > 0 ? bytes : 1);
    }
    *out = (lks_view){ dtype, *shape, data };
    return data;
}

float lks__op_draw(const lks_op_call *call, int i)
{
    uint32_t words[4];

    lks_map_random(call->context, 0x10000u + call->number, call->image * 4 + (uint32_t)i / 4, words);
    return lks__unit_float(words[i % 4]);
}

static lks_status run_batch(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, char *data)
{
    lks_view one = { in->dtype, { 3, { in->shape.dim[1], in->shape.dim[2], in->shape.dim[3] } }, in->data };
    lks_view made = { out->dtype, { 3, { out->shape.dim[1], out->shape.dim[2], out->shape.dim[3] } }, data };
    size_t from = (size_t)lks_shape_size(&one.shape) * lks_dtype_size(one.dtype);
    size_t to = (size_t)lks_shape_size(&made.shape) * lks_dtype_size(made.dtype);

    for (int64_t i = 0; i < in->shape.dim[0]; i++) {
        call->image = (uint32_t)i;
        LKS_TRY(op->class->run(op, call, &one, &made, data));
        one.data = (const char *)one.data + from;
        made.data = data += to;
    }
    return LKS_OK;
}

static lks_status run_op(const lks_op *op, lks_op_call *call, const lks_view *in, lks_view *out)
{
    lks_dtype dtype = in->dtype;
    lks_shape shape = in->shape;
    void *data;

    if (op->class->make != NULL) return op->class->make(op, call, in, out);
    LKS_TRY(op->class->shape(op, &dtype, &shape));
    data = lks__op_room(call, dtype, &shape, out);
    if (data == NULL) return lks__error_code();
    if (op->class->per_image && in->shape.rank == 4) return run_batch(op, call, in, out, data);
    return op->class->run(op, call, in, out, data);
}

static bool is_last(const op_function *f, int k, size_t leaves)
{
    int64_t c = component_of(&f->op[k], leaves);

    for (int i = k + 1; i < f->n; i++)
        if (component_of(&f->op[i], leaves) == c) return false;
    return true;
}

/* In a chain, which op; behind read_file, which file. */
static lks_status op_failed(const op_function *f, int k, lks_element *in, size_t leaves, lks_status status)
{
    int64_t c = component_of(&f->op[k], leaves);

    if (f->n > 1) lks__context(status, "%s", f->op[k].class->name);
    for (int i = 0; i < k; i++)
        if (f->op[i].class == &lks__op_read_file && component_of(&f->op[i], leaves) == c) {
            const lks_bytes *name = lks_tensor_cdata(lks_element_tensor(in, (size_t)c));
            return lks__context(status, "'%.*s'", (int)(name->size < 4096 ? name->size : 4096), name->data);
        }
    return status;
}

static lks_status run_all(op_function *f, op_scratch *s, const lks_map_context *context, lks_element *in,
                          lks_element *out)
{
    size_t leaves = lks_element_count(in);
    lks_view view[LKS_OP_LEAVES] = { { .data = NULL } };
    lks_bytes bytes[LKS_OP_LEAVES];

    for (int i = 0; i < f->n; i++) {
        int64_t c = component_of(&f->op[i], leaves);
        const lks_spec *spec = lks_spec_leaf(lks_element_spec(out), (size_t)c);
        lks_shape want = lks_spec_shape(spec);
        lks_op_call call = { .context = context, .out = out, .component = c, .last = is_last(f, i, leaves) };
        lks_view made;
        lks_op op = f->op[i];
        lks_status status;

        if (view[c].data == NULL) {
            lks_tensor *t = lks_element_tensor(in, (size_t)c);
            view[c] = (lks_view){ lks_tensor_dtype(t), lks_tensor_shape(t), lks_tensor_cdata(t) };
        }
        if (op.class == &lks__op_one_hot && op.n[0] == 0) op.n[0] = want.dim[want.rank - 1];
        call.number = (uint32_t)i;
        call.result = &s->result[i];
        call.work = &s->work;
        call.more = &s->more;
        status = run_op(&op, &call, &view[c], &made);
        if (status != LKS_OK) return op_failed(f, i, in, leaves, status);
        if (made.dtype == LKS_STRING && !call.last) made.data = (bytes[c] = call.bytes, &bytes[c]);
        view[c] = made;
    }
    for (size_t i = 0; i < leaves; i++)
        if (i >= LKS_OP_LEAVES || view[i].data == NULL) lks__element_share(out, i, in, i);
    return LKS_OK;
}

static lks_status apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    op_function *f = user;
    op_scratch *s = take_scratch(f);
    lks_status status;

    if (s == NULL) return LKS_E_NOMEM;
    status = run_all(f, s, context, in, out);
    give_scratch(f, s);
    return status;
}

/* ---- making ---- */

static void release(void *user)
{
    op_function *f = user;

    for (int i = 0; i < SLOTS; i++) free_scratch(atomic_load(&f->spare[i]));
    lks__free(f->name);
    lks__free(f);
}

/* Stands for every function that there was no memory for. */
static lks_spec *no_memory_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    lks__fail(LKS_E_NOMEM, "no memory for an element function");
    return NULL;
}

static const lks_map_fn no_memory = { .struct_size = sizeof(lks_map_fn),
                                      .name = "no_memory",
                                      .output_spec = no_memory_spec,
                                      .apply = apply,
                                      .flags = LKS_FN_PURE };

static op_function *new_function(int n, const char *name)
{
    op_function *f = lks__calloc(1, sizeof *f + (size_t)n * sizeof(lks_op));

    if (f == NULL) return NULL;
    f->n = n;
    f->name = lks__strdup(name);
    if (f->name == NULL) {
        lks__free(f);
        return NULL;
    }
    f->fn = (lks_map_fn){ .struct_size = sizeof f->fn,
                          .name = f->name,
                          .output_spec = output_spec,
                          .apply = apply,
                          .flags = LKS_FN_PURE,
                          .user = f,
                          .release = release,
                          .kind = LKS_OP_FUNCTION };
    return f;
}

const lks_map_fn *lks__op_function(const lks_op *op, const char *fmt, ...)
{
    char name[4 * LKS_OP_TEXT];
    op_function *f;
    va_list args;

    va_start(args, fmt);
    vsnprintf(name, sizeof name, fmt, args);
    va_end(args);
    f = new_function(1, name);
    if (f == NULL) return &no_memory;
    f->op[0] = *op;
    if (op->class->random) f->fn.flags |= LKS_FN_RANDOM;
    if (op->class == &lks__op_read_file) f->fn.flags |= LKS_FN_OPENS_FILES;
    return &f->fn;
}

static lks_status refuse(const lks_op *op, lks_dtype *dtype, lks_shape *shape)
{
    (void)dtype, (void)shape;
    return lks__fail(op->refused, "%s", op->text);
}

static const lks_op_class refused_class = { .name = "refused", .shape = refuse };

const lks_map_fn *lks__op_refused(const char *name)
{
    lks_op op = { .class = &refused_class, .refused = lks__error_code() };

    if (op.refused == LKS_E_NOMEM) return &no_memory;
    snprintf(op.text, sizeof op.text, "%s", lks_last_error());
    return lks__op_function(&op, "%s", name);
}

static bool is_ours(const lks_map_fn *fn)
{
    return fn != NULL && fn->kind == LKS_OP_FUNCTION;
}

static void drop(const lks_map_fn *fn)
{
    if (fn != NULL && fn->release != NULL) fn->release(fn->user);
}

static size_t append(char *text, size_t size, size_t at, const char *more)
{
    int n = snprintf(text + at, size - at, "%s%s", at > 0 ? " " : "", more);

    return n < 0 || (size_t)n >= size - at ? size - 1 : at + (size_t)n;
}

const lks_map_fn *lks_fn_chain_n(size_t n, const lks_map_fn *const *functions)
{
    char name[1024] = "";
    op_function *f = NULL;
    size_t ops = 0, at = 0;
    bool ours = true, memory = true;

    for (size_t i = 0; i < n; i++) {
        ours = ours && is_ours(functions[i]);
        memory = memory && functions[i] != &no_memory;
        if (!ours) continue;
        ops += functions[i]->user != NULL ? (size_t)((op_function *)functions[i]->user)->n : 1;
        at = append(name, sizeof name, at, functions[i]->name);
    }
    if (ours && memory && ops > 0 && ops <= MAX_OPS) f = new_function((int)ops, name);
    ops = 0;
    for (size_t i = 0; f != NULL && i < n; i++) {
        const op_function *part = functions[i]->user;
        f->fn.flags |= functions[i]->flags;
        if (part == NULL)
            f->op[ops++] = (lks_op){ .class = &lks__op_decode, .decode = { .struct_size = sizeof f->op->decode } };
        for (int k = 0; part != NULL && k < part->n; k++) f->op[ops++] = part->op[k];
    }
    for (size_t i = 0; i < n; i++) drop(functions[i]);
    if (f != NULL) return &f->fn;
    if (!memory || (ours && ops <= MAX_OPS && n > 0)) return &no_memory;
    lks__fail(LKS_E_ARG, n == 0 ? "lks_fn_chain: no functions"
                         : ours ? "lks_fn_chain: at most 32 functions"
                                : "lks_fn_chain takes the library's own functions only");
    return lks__op_refused("chain");
}

const lks_map_fn *lks_fn_on(int64_t component, const lks_map_fn *function)
{
    op_function *f;

    if (function == &no_memory) return function;
    if (!is_ours(function)) {
        drop(function);
        lks__fail(LKS_E_ARG, "lks_fn_on takes the library's own functions only");
        return lks__op_refused("on");
    }
    if (function->user == NULL) function = lks_fn_chain_n(1, &function);
    if (function == &no_memory) return function;
    f = function->user;
    for (int i = 0; i < f->n; i++) f->op[i].component = component;
    return function;
}

lks_status lks_fn_call(const lks_map_fn *fn, lks_tensor *in, int64_t seed, lks_tensor **out)
{
    lks_dataset *ds;
    lks_element *e;
    lks_status status;

    if (in == NULL || out == NULL) {
        drop(fn);
        return lks__fail(LKS_E_ARG, "lks_fn_call: in and out must not be NULL");
    }
    ds = lks_map(lks_from_tensors(in), fn, .seed = seed);
    status = lks_dataset_get_single_element(ds, &e);
    if (status == LKS_OK) {
        *out = lks_tensor_retain(lks_element_tensor(e, 0));
        lks_element_release(e);
    }
    lks_dataset_release(ds);
    return status;
}

/* The same block of code for the three constants: they own nothing, so their ops are made for the call. */
static lks_spec *plain_decode_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    op_function *f = new_function(1, "decode_image");
    lks_spec *spec;

    (void)user;
    if (f == NULL) return no_memory_spec(context, in, user);
    f->op[0] = (lks_op){ .class = &lks__op_decode, .decode = { .struct_size = sizeof f->op[0].decode } };
    spec = output_spec(context, in, f);
    release(f);
    return spec;
}

static lks_status plain_decode(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_op op = { .class = &lks__op_decode, .decode = { .struct_size = sizeof op.decode } };
    lks_tensor *t = lks_element_tensor(in, 0);
    lks_view view = { lks_tensor_dtype(t), lks_tensor_shape(t), lks_tensor_cdata(t) }, made;
    lks_op_call call = { .context = context, .out = out, .last = true };

    (void)user;
    LKS_TRY(run_op(&op, &call, &view, &made));
    for (size_t i = 1; i < lks_element_count(in); i++) lks__element_share(out, i, in, i);
    return LKS_OK;
}

#define PLAIN_DECODE(text)                                                                                            \
    {                                                                                                                 \
        {                                                                                                             \
            .struct_size = sizeof(lks_map_fn), .name = text, .output_spec = plain_decode_spec, .apply = plain_decode, \
            .flags = LKS_FN_PURE, .kind = LKS_OP_FUNCTION                                                             \
        }                                                                                                             \
    }
const lks_map_fn lks_decode_image[1] = PLAIN_DECODE("decode_image");
const lks_map_fn lks_decode_jpeg[1] = PLAIN_DECODE("decode_jpeg");
const lks_map_fn lks_decode_png[1] = PLAIN_DECODE("decode_png");

lks_status lks__op_picture(const lks_op *op, lks_dtype dtype, const lks_shape *shape, int64_t *at)
{
    char text[LKS_SHAPE_TEXT];

    if ((shape->rank != 3 && shape->rank != 4) || dtype == LKS_STRING)
        return lks__fail(LKS_E_SHAPE, "%s takes pictures (height, width, channels) or batches of them, found %s %s",
                         op->class->name, lks_dtype_name(dtype), lks__shape_text(shape, text));
    *at = shape->rank - 3;
    return LKS_OK;
}

lks_pixels lks__view_pixels(const lks_view *v)
{
    return (lks_pixels){ v->data,         v->dtype,        v->shape.dim[0],
                         v->shape.dim[1], v->shape.dim[2], v->shape.dim[1] * v->shape.dim[2] };
}
