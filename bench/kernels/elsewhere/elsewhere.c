/* elsewhere.c - see elsewhere.h. */
#include "elsewhere.h"

#include "base/alloc.h"
#include "base/cpu.h"

/* The fastest of runs for about a twentieth of a second. */
static double fastest(void (*work)(void *user), void *user)
{
    const double end = lks__now() + 0.05;
    double best = 1e9;

    work(user);
    for (int i = 0; i < 3 || lks__now() < end; i++) {
        const double start = lks__now();
        double one;
        work(user);
        one = lks__now() - start;
        if (one < best) best = one;
    }
    return best;
}

#if defined(LKS_BENCH_DNNL)
#include <dnnl.h>

const char *const bench_conv_library = "oneDNN";

typedef struct job {
    dnnl_primitive_t primitive;
    dnnl_stream_t stream;
    dnnl_exec_arg_t args[3];
} job;

static void execute(void *user)
{
    job *j = user;

    dnnl_primitive_execute(j->primitive, j->stream, 3, j->args);
    dnnl_stream_wait(j->stream);
}

/* Any layout: oneDNN chooses. */
static dnnl_memory_desc_t any(int rank, const dnnl_dims_t dims)
{
    dnnl_memory_desc_t d;

    dnnl_memory_desc_init_by_tag(&d, rank, dims, dnnl_f32, dnnl_format_tag_any);
    return d;
}

typedef struct shapes {
    dnnl_memory_desc_t x, w, y;
    dnnl_dims_t stride, before, after;
} shapes;

static shapes describe(const lks_conv_attrs *a, int64_t cin, int64_t cout, int64_t n)
{
    const int64_t g = a->groups;
    const dnnl_dims_t x = { n, cin, a->in[0], a->in[1] }, y = { n, cout, a->out[0], a->out[1] };
    const dnnl_dims_t w = { cout, cin, a->kernel[0], a->kernel[1] };
    const dnnl_dims_t grouped = { g, cout / g, cin / g, a->kernel[0], a->kernel[1] };
    shapes s = { any(4, x), g > 1 ? any(5, grouped) : any(4, w), any(4, y), { 0 }, { 0 }, { 0 } };

    for (int i = 0; i < 2; i++) {
        s.stride[i] = a->stride[i];
        s.before[i] = a->before[i];
        s.after[i] = (a->out[i] - 1) * a->stride[i] + a->kernel[i] - a->in[i] - a->before[i];
    }
    return s;
}

static dnnl_primitive_desc_t find(int which, const shapes *s, dnnl_engine_t engine)
{
    dnnl_convolution_desc_t d;
    dnnl_primitive_desc_t forward = NULL, found = NULL;

    if (dnnl_convolution_forward_desc_init(&d, dnnl_forward_training, dnnl_convolution_direct, &s->x, &s->w, NULL,
                                           &s->y, s->stride, s->before, s->after) != dnnl_success ||
        dnnl_primitive_desc_create(&forward, &d, NULL, engine, NULL) != dnnl_success)
        return NULL;
    if (which == 1) return forward;
    if (which == 2)
        dnnl_convolution_backward_data_desc_init(&d, dnnl_convolution_direct, &s->x, &s->w, &s->y, s->stride, s->before,
                                                 s->after);
    else
        dnnl_convolution_backward_weights_desc_init(&d, dnnl_convolution_direct, &s->x, &s->w, NULL, &s->y, s->stride,
                                                    s->before, s->after);
    if (dnnl_primitive_desc_create(&found, &d, NULL, engine, forward) != dnnl_success) found = NULL;
    dnnl_primitive_desc_destroy(forward);
    return found;
}

static dnnl_memory_t memory(const_dnnl_primitive_desc_t pd, dnnl_query_t what, dnnl_engine_t engine)
{
    dnnl_memory_t m = NULL;

    dnnl_memory_create(&m, dnnl_primitive_desc_query_md(pd, what, 0), engine, DNNL_MEMORY_ALLOCATE);
    return m;
}

double bench_conv_elsewhere(int which, const lks_conv_attrs *a, int64_t cin, int64_t cout, int64_t n)
{
    const shapes s = describe(a, cin, cout, n);
    static const struct {
        int which, arg[3];
        dnnl_query_t query[3];
    } kinds[] = {
        { 1,
          { DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST },
          { dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md } },
        { 2,
          { DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST },
          { dnnl_query_diff_src_md, dnnl_query_weights_md, dnnl_query_diff_dst_md } },
        { 4,
          { DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST },
          { dnnl_query_src_md, dnnl_query_diff_weights_md, dnnl_query_diff_dst_md } },
    };
    const int kind = which == 1 ? 0 : which == 2 ? 1 : 2;
    dnnl_engine_t engine;
    dnnl_primitive_desc_t pd;
    job j = { 0 };
    double seconds = 0;

    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) return 0;
    dnnl_stream_create(&j.stream, engine, dnnl_stream_default_flags);
    pd = find(which, &s, engine);
    if (pd != NULL && dnnl_primitive_create(&j.primitive, pd) == dnnl_success) {
        for (int i = 0; i < 3; i++) {
            j.args[i].arg = kinds[kind].arg[i];
            j.args[i].memory = memory(pd, kinds[kind].query[i], engine);
        }
        seconds = fastest(execute, &j);
        for (int i = 0; i < 3; i++) dnnl_memory_destroy(j.args[i].memory);
        dnnl_primitive_destroy(j.primitive);
    }
    if (pd != NULL) dnnl_primitive_desc_destroy(pd);
    dnnl_stream_destroy(j.stream);
    dnnl_engine_destroy(engine);
    return seconds;
}
#else
const char *const bench_conv_library = NULL;

double bench_conv_elsewhere(int which, const lks_conv_attrs *a, int64_t cin, int64_t cout, int64_t n)
{
    (void)which, (void)a, (void)cin, (void)cout, (void)n;
    return 0;
}
#endif

#if defined(LKS_BENCH_BLAS)
#include <cblas.h>

const char *const bench_gemm_library = "OpenBLAS";

typedef struct product {
    int m, n, k;
    bool a_transposed, b_transposed;
    float *a, *b, *c;
} product;

static void multiply(void *user)
{
    const product *p = user;

    cblas_sgemm(CblasRowMajor, p->a_transposed ? CblasTrans : CblasNoTrans, p->b_transposed ? CblasTrans : CblasNoTrans,
                p->m, p->n, p->k, 1, p->a, p->a_transposed ? p->m : p->k, p->b, p->b_transposed ? p->k : p->n, 0, p->c,
                p->n);
}

double bench_gemm_elsewhere(int64_t m, int64_t n, int64_t k, bool a_transposed, bool b_transposed)
{
    product p = { (int)m, (int)n, (int)k, a_transposed, b_transposed, NULL, NULL, NULL };
    double seconds = 0;

    openblas_set_num_threads(1);
    p.a = lks__aligned_calloc((size_t)(m * k) * sizeof(float));
    p.b = lks__aligned_calloc((size_t)(k * n) * sizeof(float));
    p.c = lks__aligned_calloc((size_t)(m * n) * sizeof(float));
    if (p.a != NULL && p.b != NULL && p.c != NULL) seconds = fastest(multiply, &p);
    lks__aligned_free(p.a);
    lks__aligned_free(p.b);
    lks__aligned_free(p.c);
    return seconds;
}
#else
const char *const bench_gemm_library = NULL;

double bench_gemm_elsewhere(int64_t m, int64_t n, int64_t k, bool a_transposed, bool b_transposed)
{
    (void)m, (void)n, (void)k, (void)a_transposed, (void)b_transposed;
    return 0;
}
#endif
