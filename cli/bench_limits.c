/* bench_limits.c - the machine's peak of fused multiply-adds and its memory bandwidth.
 *
 * Peak: ten independent chains of vector multiply-adds a thread: latency (4) times units (2) and two to spare, and no more than
 * registers hold.
 * Bandwidth: every thread sums its part of 256 MiB, more than caches hold. Each is the best of several short runs, since
 * whatever disturbs a run can only make it slower.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "limits.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { CHAINS = 10, ROUNDS = 4000000, MAX_THREADS = 256, RUNS = 3 };
static const size_t memory_bytes = (size_t)256 << 20;

typedef double wide __attribute__((vector_size(64))); /* one cache line */

typedef double (*loop_fn)(int rounds); /* returns the floating-point operations done */

/* The results must be used, or the compiler drops the loop. */
static volatile float sink;

#define FMA_LOOP(vector, set1, fmadd, lanes, first)                                                       \
    do {                                                                                                  \
        vector a = set1(1), b = set1(2), c = set1(3), d = set1(4), e = set1(5), f = set1(6), g = set1(7); \
        vector h = set1(8), i = set1(9), j = set1(10), x = set1(0.999f), y = set1(0.001f);                \
        for (int r = 0; r < rounds; r++) {                                                                \
            a = fmadd(a, x, y), b = fmadd(b, x, y), c = fmadd(c, x, y), d = fmadd(d, x, y);               \
            e = fmadd(e, x, y), f = fmadd(f, x, y), g = fmadd(g, x, y), h = fmadd(h, x, y);               \
            i = fmadd(i, x, y), j = fmadd(j, x, y);                                                       \
        }                                                                                                 \
        sink = first(a) + first(b) + first(c) + first(d) + first(e) + first(f) + first(g) + first(h);     \
        sink = first(i) + first(j);                                                                       \
        return 2.0 * (lanes)*CHAINS * rounds;                                                             \
    } while (0)

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static double loop_avx512(int rounds)
{
    FMA_LOOP(__m512, _mm512_set1_ps, _mm512_fmadd_ps, 16, _mm512_cvtss_f32);
}

__attribute__((target("avx2,fma"))) static double loop_avx2(int rounds)
{
    FMA_LOOP(__m256, _mm256_set1_ps, _mm256_fmadd_ps, 8, _mm256_cvtss_f32);
}
#elif defined(__aarch64__)
#define NEON_FIRST(v) vgetq_lane_f32(v, 0)
#define NEON_FMA(a, x, y) vfmaq_f32(y, a, x)
static double loop_neon(int rounds)
{
    FMA_LOOP(float32x4_t, vdupq_n_f32, NEON_FMA, 4, NEON_FIRST);
}
#endif

#define PLAIN(v) (v)
static double loop_plain(int rounds)
{
    FMA_LOOP(float, PLAIN, fmaf, 1, PLAIN);
}

static loop_fn best_loop(const char **isa)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return *isa = "avx512", loop_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return *isa = "avx2", loop_avx2;
#elif defined(__aarch64__)
    return *isa = "neon", loop_neon;
#endif
    return *isa = "plain C", loop_plain;
}

typedef struct task {
    loop_fn loop; /* NULL: read memory */
    const wide *memory;
    size_t n;
    double done; /* operations or bytes */
} task;

static void *run_task(void *user)
{
    task *t = user;
    const wide *from = t->memory;
    wide sum[2] = { { 0 } };

    if (t->loop != NULL) {
        t->done = t->loop(ROUNDS);
        return NULL;
    }
    for (size_t i = 0; i + 2 <= t->n; i += 2) {
        sum[0] += from[i];
        sum[1] += from[i + 1];
    }
    sink = (float)(sum[0][0] + sum[1][0]);
    t->done = (double)(t->n * sizeof *from);
    return NULL;
}

/* Operations or bytes a second of `threads` threads; 0 on failure. The calling thread is one of them. */
static double rate(int threads, loop_fn loop, const wide *memory)
{
    pthread_t handles[MAX_THREADS];
    task tasks[MAX_THREADS];
    double best = 0;

    for (int run = 0; run < RUNS; run++) {
        size_t n = memory_bytes / sizeof *memory / (size_t)threads;
        double began = cli_seconds(), done = 0;
        int started = 1;
        for (int i = 0; i < threads; i++)
            tasks[i] = (task){ loop, memory != NULL ? memory + (size_t)i * n : NULL, n, 0 };
        while (started < threads && pthread_create(&handles[started], NULL, run_task, &tasks[started]) == 0) started++;
        run_task(&tasks[0]);
        for (int i = 1; i < started; i++) pthread_join(handles[i], NULL);
        if (started < threads) return 0;
        for (int i = 0; i < threads; i++) done += tasks[i].done;
        done /= cli_seconds() - began;
        if (done > best) best = done;
    }
    return best;
}

int cli_measure_limits(int threads, cli_limits *out)
{
    cli_limits limits = { "", 0, 0, 0, threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads };
    loop_fn loop = best_loop(&limits.isa);
    wide *memory = aligned_alloc(sizeof *memory, memory_bytes);

    if (memory == NULL) return 0;
    memset(memory, 0, memory_bytes); /* pages there before the clock runs */
    limits.gflops_one = rate(1, loop, NULL) / 1e9;
    limits.gflops = rate(limits.threads, loop, NULL) / 1e9;
    limits.gbytes_per_s = rate(limits.threads, NULL, memory) / 1e9;
    free(memory);
    if (limits.gflops_one <= 0 || limits.gflops <= 0 || limits.gbytes_per_s <= 0) return 0;
    *out = limits;
    return 1;
}
