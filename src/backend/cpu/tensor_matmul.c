/* tensor_matmul.c - lks_tensor_matmul: the kernels of wide layers (kernels.h) on plain tensors.
 *
 * Many matrices are shared out over the threads, few are cut into columns. Either way an element is one sum over k.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/options.h"
#include "base/pool.h"
#include "kernels/kernels.h"
#include "lockstep/tensor_ops.h"
#include "ops/scalar_math.h"
#include "tensor/tensor.h"

static const bool plain = false;

typedef struct job {
    const lks_wide *kernel; /* NULL: plain C */
    int threads, parts;     /* parts of one matrix */
    int64_t matrices, n, k, m;
    int64_t a_step, b_step; /* floats from matrix to matrix */
    const float *a, *b, *add;
    float *y;
    bool stream, prepare;
    int64_t first; /* the matrix of the running region, where it is cut */
    size_t common_bytes, scratch_bytes;
    char *memory; /* a thread's common memory and scratch, side by side */
    lks_type type[3];
} job;

/* ---- shapes ---- */

static lks_status check(const lks_tensor *t, const char *name, int64_t least)
{
    char text[LKS_SHAPE_TEXT];
    lks_shape shape;

    if (t == NULL) return lks__fail(LKS_E_ARG, "lks_tensor_matmul: %s is NULL", name);
    shape = lks_tensor_shape(t);
    if (lks_tensor_dtype(t) != LKS_FLOAT32)
        return lks__fail(LKS_E_ARG, "lks_tensor_matmul: %s is %s, expected float32 (lks_tensor_cast converts)", name,
                         lks_dtype_name(lks_tensor_dtype(t)));
    if (shape.rank < least)
        return lks__fail(LKS_E_SHAPE, "lks_tensor_matmul: %s has shape %s, expected at least %d axes", name,
                         lks__shape_text(&shape, text), (int)least);
    return LKS_OK;
}

static lks_status result_shape(const lks_tensor *a, const lks_tensor *b, lks_shape *out)
{
    const lks_shape x = lks_tensor_shape(a), w = lks_tensor_shape(b);
    char text[2][LKS_SHAPE_TEXT];
    bool fits = x.dim[x.rank - 1] == w.dim[w.rank - 2] && (x.rank == w.rank || x.rank == 2 || w.rank == 2);

    *out = w.rank > x.rank ? w : x;
    for (int64_t i = 0; fits && x.rank == w.rank && i < x.rank - 2; i++) fits = x.dim[i] == w.dim[i];
    if (!fits)
        return lks__fail(LKS_E_SHAPE,
                         "lks_tensor_matmul: %s times %s: expected (..., n, k) times (..., k, m) with the same leading "
                         "axes, or none on one side",
                         lks__shape_text(&x, text[0]), lks__shape_text(&w, text[1]));
    out->dim[out->rank - 2] = x.dim[x.rank - 2];
    out->dim[out->rank - 1] = w.dim[w.rank - 1];
    return LKS_OK;
}

static lks_status same_shape(const lks_tensor *t, const char *name, const lks_shape *want)
{
    char text[2][LKS_SHAPE_TEXT];
    lks_shape have;

    LKS_TRY(check(t, name, 0));
    have = lks_tensor_shape(t);
    if (lks_shape_equal(&have, want)) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "lks_tensor_matmul: %s has shape %s, but the product %s", name,
                     lks__shape_text(&have, text[0]), lks__shape_text(want, text[1]));
}

/* ---- running ---- */

static void multiply_plain(const job *j, int64_t i)
{
    const float *a = j->a + i * j->a_step, *b = j->b + i * j->b_step;
    float *y = j->y + i * j->n * j->m;

    for (int64_t r = 0; r < j->n; r++, y += j->m, a += j->k) {
        for (int64_t c = 0; c < j->m; c++) y[c] = 0.0f;
        for (int64_t t = 0; t < j->k; t++)
            for (int64_t c = 0; c < j->m; c++) y[c] = lks__fma_f(a[t], b[t * j->m + c], y[c]);
        for (int64_t c = 0; j->add != NULL && c < j->m; c++) y[c] += j->add[(i * j->n + r) * j->m + c];
    }
}

/* One part of matrix i by the kernel; `thread` owns the scratch, `common` the packed operand. */
static void multiply_part(const job *j, int64_t i, int part, int parts, int common, int thread, bool prepare)
{
    const size_t each = j->common_bytes + j->scratch_bytes;
    const lks_type *in[2] = { &j->type[0], &j->type[1] };
    const void *data[2] = { j->a + i * j->a_step, j->b + i * j->b_step };
    const lks_op_call call = { .attrs = &plain,
                               .n_in = 2,
                               .in_type = in,
                               .out_type = &j->type[2],
                               .in = data,
                               .out = j->y + i * j->n * j->m,
                               .n = j->n,
                               .batch = j->n,
                               .scratch = j->memory + (size_t)thread * each + j->common_bytes };
    const lks_wide_call wide = { .call = &call,
                                 .common = j->memory + (size_t)common * each,
                                 .part = part,
                                 .parts = parts,
                                 .add = j->add != NULL ? j->add + i * j->n * j->m : NULL,
                                 .stream = j->stream };

    if (prepare) j->kernel->prepare(&wide);
    else (void)j->kernel->run(&wide);
}

static void run_matrices(void *user, int task)
{
    const job *j = user;
    const int64_t end = j->matrices * (task + 1) / j->threads;

    for (int64_t i = j->matrices * task / j->threads; i < end; i++) {
        if (j->kernel == NULL) {
            multiply_plain(j, i);
            continue;
        }
        multiply_part(j, i, 0, 1, task, task, true);
        multiply_part(j, i, 0, 1, task, task, false);
    }
}

static void run_columns(void *user, int task)
{
    const job *j = user;

    multiply_part(j, j->first, task, j->threads, 0, task, j->prepare);
}

static void run(job *j)
{
    if (j->kernel == NULL || j->matrices >= j->threads) {
        lks__pool_run(j->threads, j->threads, run_matrices, j);
        return;
    }
    for (j->first = 0; j->first < j->matrices; j->first++)
        for (int pass = 0; pass < 2; pass++) {
            j->prepare = pass == 0;
            lks__pool_run(j->threads, j->threads, run_columns, j);
        }
}

static lks_status prepare(job *j, int64_t threads)
{
    const lks_type *in[2] = { &j->type[0], &j->type[1] };
    size_t bytes = 0;

    if (threads < 0 || threads > 256)
        return lks__fail(LKS_E_ARG, "lks_tensor_matmul: threads must be 1 to 256 (or 0: all usable cores), got %lld",
                         (long long)threads);
    j->threads = threads > 0 ? (int)threads : lks__usable_cores();
    j->type[0] = (lks_type)LKS_ROW(1, j->k);
    j->type[1] = (lks_type)LKS_SHARED(2, j->k, j->m);
    j->type[2] = (lks_type)LKS_ROW(1, j->m);
    if (j->kernel != NULL) {
        j->common_bytes = (j->kernel->common(in, &j->type[2], j->n) + 63) & ~(size_t)63;
        j->scratch_bytes = (j->kernel->scratch(in, &j->type[2], j->n) + 63) & ~(size_t)63;
    }
    if (!lks__mul_size(j->common_bytes + j->scratch_bytes, (size_t)j->threads, &bytes) ||
        (j->memory = lks__aligned_malloc(bytes + 1)) == NULL)
        return lks__fail(LKS_E_NOMEM, "lks_tensor_matmul: no memory for packed operands");
    return lks__pool_reserve(j->threads);
}

static lks_status multiply(const lks_tensor *a, const lks_tensor *b, const lks_tensor_matmul_options *o,
                           const lks_shape *shape, lks_tensor *y)
{
    const lks_shape x = lks_tensor_shape(a), w = lks_tensor_shape(b);
    job j = { .kernel = lks__kernels_for(lks__isa_choose())->matmul_wide,
              .matrices = 1,
              .n = x.dim[x.rank - 2],
              .k = x.dim[x.rank - 1],
              .m = w.dim[w.rank - 1],
              .a = lks_tensor_cdata(a),
              .b = lks_tensor_cdata(b),
              .add = o->add != NULL ? lks_tensor_cdata(o->add) : NULL,
              .y = lks_tensor_data(y) };
    lks_fenv host;
    lks_status status;

    for (int64_t i = 0; i < shape->rank - 2; i++) j.matrices *= shape->dim[i];
    j.a_step = x.rank > 2 ? j.n * j.k : 0;
    j.b_step = w.rank > 2 ? j.k * j.m : 0;
    j.stream = lks_tensor_size(y) * (int64_t)sizeof(float) > lks__cache_bytes(3);
    status = prepare(&j, o->threads);
    if (status == LKS_OK && lks_tensor_size(y) > 0) {
        lks__fenv_enter(&host);
        run(&j);
        lks__fenv_leave(&host);
    }
    lks__aligned_free(j.memory);
    return status;
}

lks_tensor *lks_tensor_matmul_with(const lks_tensor *a, const lks_tensor *b, const lks_tensor_matmul_options *options)
{
    lks_tensor_matmul_options o = { 0 };
    lks_shape shape;
    lks_tensor *y;

    lks__options_copy(&o, sizeof o, options);
    if (check(a, "a", 2) != LKS_OK || check(b, "b", 2) != LKS_OK || result_shape(a, b, &shape) != LKS_OK) return NULL;
    if (o.add != NULL && same_shape(o.add, ".add", &shape) != LKS_OK) return NULL;
    if (o.out != NULL && same_shape(o.out, ".out", &shape) != LKS_OK) return NULL;
    if (o.out != NULL && (o.out == a || o.out == b)) {
        lks__fail(LKS_E_ARG, "lks_tensor_matmul: .out is one of the factors; give another tensor");
        return NULL;
    }
    y = o.out != NULL ? lks_tensor_retain(o.out) : lks__tensor_create_raw(LKS_FLOAT32, shape);
    if (y == NULL) return NULL;
    if (multiply(a, b, &o, &shape, y) == LKS_OK) return y;
    lks_tensor_release(y);
    return NULL;
}
