/* op_run.c - running ops: one map's, or those of consecutive maps as one, without an element between them. Scratch memory waits in a few
 * slots and is taken by exchange, so that no call waits for another and a warm chain allocates nothing. */
#include "base/error_file.h"
#include "op_function.h"

#include <string.h>

#include "base/philox.h"
#include "tensor/tensor.h"

/* ---- scratch ---- */

static lks_op_scratch *take_scratch(lks_op_list *f)
{
    lks_op_scratch *s;

    for (int i = 0; i < LKS_OP_SLOTS; i++)
        if ((s = atomic_exchange(&f->spare[i], NULL)) != NULL) return s;
    s = lks__calloc(1, sizeof *s);
    if (s == NULL) lks__fail(LKS_E_NOMEM, "no memory for pixels");
    return s;
}

void lks__op_scratch_free(lks_op_scratch *s)
{
    if (s == NULL) return;
    for (int i = 0; i < LKS_OP_MOST; i++) lks__scratch_free(&s->result[i]);
    lks__scratch_free(&s->work);
    lks__scratch_free(&s->more);
    lks__free(s);
}

static void give_scratch(lks_op_list *f, lks_op_scratch *s)
{
    for (int i = 0; i < LKS_OP_SLOTS; i++) {
        lks_op_scratch *none = NULL;
        if (atomic_compare_exchange_strong(&f->spare[i], &none, s)) return;
    }
    lks__op_scratch_free(s);
}

int64_t lks__op_component(const lks_op *op, size_t leaves)
{
    int64_t c = op->component < 0 ? op->component + (int64_t)leaves : op->component;

    return c >= 0 && c < (int64_t)leaves ? c : -1;
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

lks_status lks__op_run(const lks_op *op, lks_op_call *call, const lks_view *in, lks_view *out)
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

/* ---- one function, or those of consecutive maps ---- */

/* An op of the run, and whose it is. */
typedef struct step {
    const lks_op *op;
    int number; /* in its own function */
    size_t part;
    int64_t component;
} step;

static const lks_op plain_decode = { .class = &lks__op_decode,
                                     .decode = { .struct_size = sizeof plain_decode.decode } };

/* The constants (lks_decode_image ...) own nothing. */
static const lks_op *ops_of(const lks_map_fn *fn, int *n)
{
    const lks_op_list *f = fn->user;

    *n = f != NULL ? f->n : 1;
    return f != NULL ? f->op : &plain_decode;
}

static int list_steps(const lks_op_part *part, size_t n, size_t leaves, step *steps)
{
    int count = 0, ops;

    for (size_t p = 0; p < n; p++) {
        const lks_op *op = ops_of(part[p].fn, &ops);
        for (int i = 0; i < ops; i++) steps[count++] = (step){ &op[i], i, p, lks__op_component(&op[i], leaves) };
    }
    return count;
}

static bool is_last(const step *steps, int n, int k)
{
    for (int i = k + 1; i < n; i++)
        if (steps[i].component == steps[k].component) return false;
    return true;
}

/* In a chain, which op; behind read_file, which file. */
static lks_status op_failed(const lks_op_part *part, const step *steps, int k, lks_element *in, lks_status status)
{
    int ops;

    ops_of(part[steps[k].part].fn, &ops);
    if (ops > 1) lks__context(status, "%s", steps[k].op->class->name);
    for (int i = k - steps[k].number; i <= k; i++)
        if (steps[i].op->class == &lks__op_read_file && steps[i].component == steps[k].component) {
            const lks_bytes *name = lks_tensor_cdata(lks_element_tensor(in, (size_t)steps[k].component));
            if (i < k) lks__context(status, "'%.*s'", (int)(name->size < 4096 ? name->size : 4096), name->data);
            lks__error_set_file(name->data); /* our strings end with a zero byte */
            break;
        }
    return status;
}

/* A run: what its steps share. */
typedef struct run {
    const lks_op_part *part;
    const step *steps;
    int n;
    lks_op_scratch *scratch;
    lks_element *out;
    lks_view view[LKS_OP_LEAVES];
    lks_bytes bytes[LKS_OP_LEAVES];
} run;

static lks_op_call call_of(const run *r, int i)
{
    const step *s = &r->steps[i];

    return (lks_op_call){ .context = &r->part[s->part].context,
                          .out = r->out,
                          .component = s->component,
                          .last = is_last(r->steps, r->n, i),
                          .number = (uint32_t)s->number,
                          .result = &r->scratch->result[i],
                          .work = &r->scratch->work,
                          .more = &r->scratch->more };
}

static lks_status run_step(run *r, int i)
{
    const step *s = &r->steps[i];
    const lks_spec *spec = lks_spec_leaf(r->part[s->part].spec, (size_t)s->component);
    lks_shape want = lks_spec_shape(spec);
    lks_op op = *s->op;
    lks_op_call call = call_of(r, i);
    lks_view made;

    if (op.class == &lks__op_one_hot && op.n[0] == 0) op.n[0] = want.dim[want.rank - 1];
    LKS_TRY(lks__op_run(&op, &call, &r->view[s->component], &made));
    if (made.dtype == LKS_STRING && !call.last) {
        r->bytes[s->component] = call.bytes;
        made.data = &r->bytes[s->component];
    }
    r->view[s->component] = made;
    return LKS_OK;
}

/* Step i, and the next with it where they can be one: *i is the last that ran. */
static lks_status run_steps_from(run *r, int *i)
{
    const step *s = &r->steps[*i];
    lks_op_call call, next;
    lks_view made;
    bool both;

    if (*i + 1 == r->n || s[1].component != s->component || !lks__op_takes_rows(s->op, s[1].op)) return run_step(r, *i);
    call = call_of(r, *i);
    next = call_of(r, *i + 1);
    LKS_TRY(lks__op_decode_resize(s->op, &call, s[1].op, &next, &r->view[s->component], &made, &both));
    r->view[s->component] = made;
    if (both) ++*i;
    return LKS_OK;
}

static lks_status run_steps(run *r, lks_element *in, size_t *failed)
{
    size_t leaves = lks_element_count(in);

    for (int i = 0; i < r->n; i++) {
        int64_t c = r->steps[i].component;
        lks_status status;

        if (r->view[c].data == NULL) {
            lks_tensor *t = lks_element_tensor(in, (size_t)c);
            r->view[c] = (lks_view){ lks_tensor_dtype(t), lks_tensor_shape(t), lks_tensor_cdata(t) };
        }
        *failed = r->steps[i].part;
        status = run_steps_from(r, &i);
        if (status != LKS_OK) return op_failed(r->part, r->steps, i, in, status);
    }
    for (size_t i = 0; i < leaves; i++)
        if (i >= LKS_OP_LEAVES || r->view[i].data == NULL) lks__element_share(r->out, i, in, i);
    return LKS_OK;
}

lks_status lks__op_parts(const lks_op_part *part, size_t n, lks_element *in, lks_element *out, size_t *failed)
{
    lks_op_list *owner = NULL;
    step steps[LKS_OP_MOST];
    run r = { .part = part, .steps = steps, .out = out };
    lks_status status;

    for (size_t p = 0; p < n && owner == NULL; p++) owner = part[p].fn->user;
    r.scratch = take_scratch(owner);
    *failed = 0;
    if (r.scratch == NULL) return LKS_E_NOMEM;
    r.n = list_steps(part, n, lks_element_count(in), steps);
    status = run_steps(&r, in, failed);
    give_scratch(owner, r.scratch);
    return status;
}

bool lks__op_joins(const lks_map_fn *below, const lks_map_fn *above, int *ops)
{
    const lks_op *op;
    int more, first;

    if (below->kind != LKS_OP_FUNCTION || above->kind != LKS_OP_FUNCTION ||
        (below->user == NULL && above->user == NULL))
        return false;
    op = ops_of(above, &more);
    ops_of(below, &first);
    if (*ops == 0) *ops = more;
    if (*ops + first > LKS_OP_MOST) return false;
    for (int i = 0; i < more; i++)
        if (op[i].class == &lks__op_read_file) return false;
    *ops += first;
    return true;
}

bool lks__op_begins_with_file(const lks_map_fn *fn, int64_t *component)
{
    const lks_op *op;
    int n;

    if (fn->kind != LKS_OP_FUNCTION) return false;
    op = ops_of(fn, &n);
    *component = op->component;
    return op->class == &lks__op_read_file && op->component >= 0;
}
