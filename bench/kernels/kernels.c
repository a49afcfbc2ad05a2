/* kernels.c - how fast each kernel runs, against what the machine can do: GFLOP/s (or GB/s) and the fraction of the
 * multiply-add peak measured in turn with it.
 *
 * usage: kernels [WORD]...   only lines with all the words; LOCKSTEP_ISA chooses the set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elsewhere/elsewhere.h"
#include "kernels/kernels.h"
#include "ops/build.h"

typedef struct work {
    const lks_op *op;
    const void *attrs;
    int n_in;
    lks_type in[2];
    int64_t n;
    const char *model;
} work;

static const lks_kernel_set *set;
static volatile float sink;

static lks_type row3(int64_t a, int64_t b, int64_t c)
{
    return (lks_type){ LKS_FLOAT32, true, false, { 3, { a, b, c } } };
}

static lks_type row1(int64_t a)
{
    return (lks_type){ LKS_FLOAT32, true, false, { 1, { a } } };
}

static float *numbers(int64_t count)
{
    float *x = lks__aligned_calloc((size_t)count * sizeof *x + 64);

    for (int64_t i = 0; x != NULL && i < count; i++) x[i] = (float)(i * 7 % 201 - 100) / 128.0f;
    return x;
}

static double peak_once(void)
{
    const double start = lks__now(), flop = set->fma_burst(2000);

    return flop / (lks__now() - start) * 1e-9;
}

/* Best of many short bursts (about 100 us each), each after one of the peak loop: other programs' turns drop out. */
static void measure(const lks_kernel *k, const lks_op_call *call, double *seconds, double *peak)
{
    double start = lks__now(), one;
    int bursts = 80, runs;

    k->run(call);
    k->run(call);
    one = (lks__now() - start) / 2;
    runs = (int)(1e-4 / one) + 1;
    if (one > 5e-3) bursts = 12;
    *seconds = one;
    *peak = 0;
    for (int i = 0; i < bursts; i++) {
        const double p = peak_once();

        if (p > *peak) *peak = p;
        start = lks__now();
        for (int r = 0; r < runs; r++) k->run(call);
        one = (lks__now() - start) / runs;
        if (one < *seconds) *seconds = one;
    }
}

static bool wanted(const char *line, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(line, argv[i]) == NULL) return false;
    return true;
}

/* The same work in another library, if it can be had. */
static void print_elsewhere(const work *w, double ours)
{
    const lks_shape *a = &w->in[0].shape, *b = &w->in[1].shape;
    const int which = w->op == &lks__op_conv2d          ? 1
                      : w->op == &lks__op_conv2d_input  ? 2
                      : w->op == &lks__op_conv2d_filter ? 4
                                                        : 0;
    const char *library = bench_gemm_library;
    double theirs = 0;

    if (which > 0) {
        library = bench_conv_library;
        theirs = bench_conv_elsewhere(which, w->attrs,
                                      which == 2 ? b->dim[2] * ((const lks_conv_attrs *)w->attrs)->groups : a->dim[2],
                                      which == 4 ? b->dim[2] : b->dim[3], w->n);
    } else if (w->op == &lks__op_matmul_filter) {
        theirs = bench_gemm_elsewhere(a->dim[0], b->dim[0], w->n, true, false);
    } else if (w->op == &lks__op_matmul) {
        const bool transposed = *(const bool *)w->attrs;
        theirs = bench_gemm_elsewhere(w->n, b->dim[!transposed], b->dim[transposed], false, transposed);
    }
    if (theirs > 0) printf("  %s %8.1f us, %.2f", library, theirs * 1e6, theirs / ours);
    printf("\n");
}

static void run(const work *w, int argc, char **argv)
{
    const lks_type *in[2] = { &w->in[0], &w->in[1] };
    char line[400], text[2][LKS_TYPE_TEXT];
    const void *data[2] = { NULL, NULL };
    lks_type out;
    const lks_kernel *k = set->kernels;
    double seconds, peak, flop, bytes = 0;
    lks_op_call call = { w->attrs, w->n_in, in, &out, data, NULL, w->n, 0, w->n, 0, 0, NULL, NULL, false, 0, NULL };
    int64_t made;

    if (w->op->infer(w->attrs, w->n_in, in, &out) != LKS_OK) {
        printf("%s\n", lks_last_error());
        return;
    }
    while (k != NULL && k->op != NULL &&
           (k->op != w->op || (k->applicable && !k->applicable(w->attrs, w->n_in, in, &out))))
        k++;
    snprintf(line, sizeof line, "%-10s %-22s %-34s %-26s x %lld", w->model,
             k != NULL && k->op != NULL ? k->name : "(plain)", lks__type_text(in[0], text[0]),
             lks__type_text(&out, text[1]), (long long)w->n);
    if (!wanted(line, argc, argv)) return;
    for (int i = 0; i < w->n_in; i++) {
        const int64_t count = lks__type_size(in[i]) * (in[i]->batched ? w->n : 1);

        data[i] = numbers(count);
        bytes += (double)count * 4;
    }
    made = lks__type_size(&out) * (out.batched ? w->n : 1);
    bytes += (double)made * (out.batched ? 4 : 8);
    call.out = numbers(made);
    const lks_kernel plain = { w->op, "plain", NULL, w->op->scratch, w->op->run, 0, false, NULL, NULL };
    if (k == NULL || k->op == NULL) k = &plain;
    call.scratch = lks__aligned_calloc(k->scratch != NULL ? k->scratch(w->attrs, in, &out) : 0);
    measure(k, &call, &seconds, &peak);
    flop = w->op->flop != NULL ? w->op->flop(w->attrs, in, &out) : (double)lks__type_size(&out);
    if (out.batched || in[0]->batched) flop *= (double)w->n;
    printf("%s %8.1f us %7.1f GFLOP/s %5.1f %% of %.0f %6.1f GB/s", line, seconds * 1e6, flop / seconds * 1e-9,
           flop / seconds * 1e-7 / peak, peak, bytes / seconds * 1e-9);
    print_elsewhere(w, seconds);
    fflush(stdout);
    for (int i = 0; i < w->n_in; i++) lks__aligned_free((void *)(uintptr_t)data[i]);
    lks__aligned_free(call.out);
    lks__aligned_free(call.scratch);
}

static lks_conv_attrs same(int64_t h, int64_t w, int64_t kernel, int64_t stride, int64_t groups)
{
    lks_conv_attrs a = { .kernel = { kernel, kernel },
                         .stride = { stride, stride },
                         .dilation = { 1, 1 },
                         .groups = groups,
                         .in = { h, w } };

    for (int i = 0; i < 2; i++) {
        int64_t pad;
        a.out[i] = (a.in[i] + stride - 1) / stride;
        pad = (a.out[i] - 1) * stride + kernel - a.in[i];
        a.before[i] = pad > 0 ? pad / 2 : 0;
    }
    return a;
}

static void convolutions(int argc, char **argv)
{
    static const struct {
        const char *model;
        int64_t h, w, kernel, stride, groups, cin, cout, n;
        int which; /* 1 forward, 2 input, 4 filter */
    } t[] = {
        { "cnn", 28, 28, 3, 1, 1, 1, 8, 8, 5 },        { "ae.conv1", 28, 28, 3, 2, 1, 1, 16, 8, 5 },
        { "ae.conv2", 14, 14, 3, 2, 1, 16, 8, 8, 7 },  { "ae.convT1", 14, 14, 3, 2, 1, 8, 8, 8, 7 },
        { "ae.convT2", 28, 28, 3, 2, 1, 16, 8, 8, 7 }, { "ae.conv5", 28, 28, 3, 1, 1, 16, 1, 8, 7 },
        { "cnn12", 26, 30, 3, 1, 1, 1, 12, 8, 5 },     { "ae24", 14, 14, 3, 2, 1, 24, 12, 8, 7 },
        { "ae24", 28, 28, 3, 1, 1, 24, 1, 8, 7 },      { "mobile", 160, 160, 3, 2, 1, 3, 32, 1, 5 },
        { "mobile", 80, 80, 3, 1, 32, 1, 1, 1, 7 },    { "mobile", 80, 80, 3, 2, 96, 1, 1, 1, 7 },
        { "mobile", 10, 10, 3, 1, 384, 1, 1, 1, 7 },   { "mobile", 80, 80, 1, 1, 1, 32, 16, 1, 7 },
        { "mobile", 80, 80, 1, 1, 1, 16, 96, 1, 7 },   { "mobile", 40, 40, 1, 1, 1, 144, 24, 1, 7 },
        { "mobile", 10, 10, 1, 1, 1, 64, 384, 1, 7 },  { "mobile", 10, 10, 1, 1, 1, 384, 64, 1, 7 },
        { "mobile", 5, 5, 1, 1, 1, 320, 1280, 4, 7 },  { "resnet", 56, 56, 3, 1, 1, 64, 64, 1, 7 },
        { "resnet", 14, 14, 3, 1, 1, 256, 256, 1, 7 }, { "lenet", 28, 28, 5, 1, 1, 6, 16, 4, 7 },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const lks_conv_attrs a = same(t[i].h, t[i].w, t[i].kernel, t[i].stride, t[i].groups);
        const lks_type x = row3(t[i].h, t[i].w, t[i].cin * t[i].groups);
        const lks_type y = row3(a.out[0], a.out[1], t[i].cout * t[i].groups);
        const lks_type w = {
            LKS_FLOAT32, false, false, { 4, { t[i].kernel, t[i].kernel, t[i].cin, t[i].cout * t[i].groups } }
        };

        if (t[i].which & 1) run(&(work){ &lks__op_conv2d, &a, 2, { x, w }, t[i].n, t[i].model }, argc, argv);
        if (t[i].which & 2) run(&(work){ &lks__op_conv2d_input, &a, 2, { y, w }, t[i].n, t[i].model }, argc, argv);
        if (t[i].which & 4) run(&(work){ &lks__op_conv2d_filter, &a, 2, { x, y }, t[i].n, t[i].model }, argc, argv);
    }
}

static void matrices(int argc, char **argv)
{
    static const struct {
        const char *model;
        int64_t k, m, n;
    } t[] = {
        { "cnn", 6272, 10, 1 },   { "cnn", 6272, 10, 4 },    { "cnn", 6272, 10, 8 },
        { "cnn", 6272, 10, 16 },  { "mlp", 784, 4096, 128 }, { "mlp", 4096, 4096, 128 },
        { "mlp", 4096, 10, 128 }, { "mlp", 784, 128, 16 },   { "mobile", 1280, 1000, 4 },
    };
    static const bool plain = false, transposed = true;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const lks_type w = { LKS_FLOAT32, false, false, { 2, { t[i].k, t[i].m } } };
        const lks_type a = row1(t[i].k), d = row1(t[i].m);

        run(&(work){ &lks__op_matmul, &plain, 2, { a, w }, t[i].n, t[i].model }, argc, argv);
        run(&(work){ &lks__op_matmul, &transposed, 2, { d, w }, t[i].n, t[i].model }, argc, argv);
        run(&(work){ &lks__op_matmul_filter, NULL, 2, { a, d }, t[i].n, t[i].model }, argc, argv);
    }
}

static void reductions(int argc, char **argv)
{
    static const lks_batch_attrs space = { .axes = 3 }, none = { .axes = 0 }, all = { .axes = 7 };
    static const lks_reduce_attrs last = { .axes = 1, .keep = true }, pixels = { .axes = 3 };

    run(&(work){ &lks__op_batch_sum, &space, 1, { row3(28, 28, 8) }, 8, "cnn bias" }, argc, argv);
    run(&(work){ &lks__op_batch_sum, &space, 1, { row3(28, 28, 16) }, 8, "ae bias" }, argc, argv);
    run(&(work){ &lks__op_batch_sum, &none, 1, { row1(10) }, 8, "cnn bias" }, argc, argv);
    run(&(work){ &lks__op_batch_sum, &all, 1, { row3(28, 28, 1) }, 8, "ae loss" }, argc, argv);
    run(&(work){ &lks__op_reduce_sum, &last, 1, { row1(10) }, 8, "softmax" }, argc, argv);
    run(&(work){ &lks__op_reduce_max, &last, 1, { row1(10) }, 8, "softmax" }, argc, argv);
    run(&(work){ &lks__op_reduce_sum, &pixels, 1, { row3(10, 10, 96) }, 4, "mobile" }, argc, argv);
}

int main(int argc, char **argv)
{
    if (getenv("OMP_NUM_THREADS") == NULL) { /* read by the other libraries' threads when they are loaded */
        setenv("OMP_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv);
    }
    set = lks__kernels_for(lks__isa_choose());
    printf("kernels of %s\n", lks__isa_name(set->isa));
    convolutions(argc, argv);
    matrices(argc, argv);
    reductions(argc, argv);
    return 0;
}
