/* matmul.c - the third tutorial's product: w (1024, 512, 16) times x (1024, 16, 512) plus b (1024, 512, 512), in float32.
 *
 * usage: matmul [THREADS [REPEATS [BATCH]]]; prints the best and the median time, and the share of the memory's speed:
 * b is read once and the result written once, whatever else happens. "new": each result is a new tensor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "lockstep.h"

enum { N = 512, K = 16, MOST = 64 };

static int64_t argument(int argc, char **argv, int i, int64_t otherwise)
{
    return argc > i ? strtoll(argv[i], NULL, 10) : otherwise;
}

static lks_tensor *numbers(lks_shape shape)
{
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, shape);
    float *p = t != NULL ? lks_tensor_data(t) : NULL;

    for (int64_t i = 0; t != NULL && i < lks_tensor_size(t); i++) p[i] = (float)(i % 251) / 251.0f;
    return t;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int measure(const char *name, lks_tensor *w, lks_tensor *x, lks_tensor *b, lks_tensor *y, int64_t threads,
                   int64_t repeats)
{
    const double bytes = 4.0 * (double)(lks_tensor_size(w) + lks_tensor_size(x) + 2 * lks_tensor_size(b));
    double seconds[MOST];

    for (int64_t i = -1; i < repeats; i++) {
        const double start = lks__now();
        lks_tensor *made = lks_tensor_matmul(w, x, .add = b, .out = y, .threads = threads);

        if (i >= 0) seconds[i] = lks__now() - start;
        if (made == NULL) return fprintf(stderr, "%s\n", lks_last_error()), 1;
        lks_tensor_release(made);
    }
    qsort(seconds, (size_t)repeats, sizeof *seconds, ascending);
    printf("%-10s best %.1f ms, median %.1f ms, %.1f GB/s\n", name, seconds[0] * 1e3, seconds[repeats / 2] * 1e3,
           bytes / seconds[repeats / 2] * 1e-9);
    return 0;
}

int main(int argc, char **argv)
{
    const int64_t threads = argument(argc, argv, 1, 0), asked = argument(argc, argv, 2, 7),
                  batch = argument(argc, argv, 3, 1024);
    const int64_t repeats = asked < 1 ? 1 : asked > MOST ? MOST : asked;
    lks_tensor *w = numbers(lks_shape(batch, N, K)), *x = numbers(lks_shape(batch, K, N));
    lks_tensor *b = numbers(lks_shape(batch, N, N)), *y = lks_tensor_create(LKS_FLOAT32, lks_shape(batch, N, N));
    int failed = w == NULL || x == NULL || b == NULL || y == NULL;

    failed = failed || measure("in place", w, x, b, y, threads, repeats) ||
             measure("new", w, x, b, NULL, threads, repeats);
    lks_tensor_release(w);
    lks_tensor_release(x);
    lks_tensor_release(b);
    lks_tensor_release(y);
    return failed;
}
