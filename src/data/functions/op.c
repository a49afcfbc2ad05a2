/* op.c - see op.h: making map functions of ops, and what specs they give. */
#include "op_function.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "files/json.h"
#include "lockstep/dataset_distribute.h"
#include "tensor/tensor.h"

/* ---- specs ---- */

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
    const lks_op_list *f = user;
    size_t leaves = lks_spec_leaf_count(in);
    leaf_list list = { { NULL } };
    lks_spec *out = NULL;
    int i;

    for (i = 0; i < f->n; i++) {
        int64_t c = lks__op_component(&f->op[i], leaves);
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

static lks_status apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_op_list *f = user;
    const lks_op_part part = { .fn = &f->fn, .context = *context, .spec = lks_element_spec(out) };
    size_t failed;

    return lks__op_parts(&part, 1, in, out, &failed);
}

/* ---- making ---- */

static void release(void *user)
{
    lks_op_list *f = user;

    for (int i = 0; i < LKS_OP_SLOTS; i++) lks__op_scratch_free(atomic_load(&f->spare[i]));
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

static lks_op_list *new_function(int n, const char *name)
{
    lks_op_list *f = lks__calloc(1, sizeof *f + (size_t)n * sizeof(lks_op));

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

const char *lks__op_number(double v, char buffer[LKS_OP_NUMBER])
{
    size_t n = strlen(lks__number_text(v, buffer));

    if (n > 2 && strcmp(buffer + n - 2, ".0") == 0) buffer[n - 2] = '\0';
    return buffer;
}

const lks_map_fn *lks__op_function(const lks_op *op, const char *fmt, ...)
{
    char name[4 * LKS_OP_TEXT];
    lks_op_list *f;
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
    lks_op_list *f = NULL;
    size_t ops = 0, at = 0;
    bool ours = true, memory = true;

    for (size_t i = 0; i < n; i++) {
        ours = ours && is_ours(functions[i]);
        memory = memory && functions[i] != &no_memory;
        if (!ours) continue;
        ops += functions[i]->user != NULL ? (size_t)((lks_op_list *)functions[i]->user)->n : 1;
        at = append(name, sizeof name, at, functions[i]->name);
    }
    if (ours && memory && ops > 0 && ops <= LKS_OP_MOST) f = new_function((int)ops, name);
    ops = 0;
    for (size_t i = 0; f != NULL && i < n; i++) {
        const lks_op_list *part = functions[i]->user;
        f->fn.flags |= functions[i]->flags;
        if (part == NULL)
            f->op[ops++] = (lks_op){ .class = &lks__op_decode, .decode = { .struct_size = sizeof f->op->decode } };
        for (int k = 0; part != NULL && k < part->n; k++) f->op[ops++] = part->op[k];
    }
    for (size_t i = 0; i < n; i++) drop(functions[i]);
    if (f != NULL) return &f->fn;
    if (!memory || (ours && ops <= LKS_OP_MOST && n > 0)) return &no_memory;
    lks__fail(LKS_E_ARG, n == 0 ? "lks_fn_chain: no functions"
                         : ours ? "lks_fn_chain: at most 32 functions"
                                : "lks_fn_chain takes the library's own functions only");
    return lks__op_refused("chain");
}

const lks_map_fn *lks_fn_on(int64_t component, const lks_map_fn *function)
{
    lks_op_list *f;

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
    lks_op_list *f = new_function(1, "decode_image");
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
    LKS_TRY(lks__op_run(&op, &call, &view, &made));
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
