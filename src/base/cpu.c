/* cpu.c - cpuid, affinity, cgroup quota, caches, clocks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "quota.h"
#include "text.h"

static const char *const isa_names[LKS_ISA_COUNT] = { "ref", "avx2", "avx512", "neon" };

const char *lks__isa_name(lks_isa isa)
{
    return isa_names[isa];
}

bool lks__isa_available(lks_isa isa)
{
    switch (isa) {
    case LKS_ISA_REF: return true;
#if defined(__x86_64__)
    case LKS_ISA_AVX2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case LKS_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(__aarch64__)
    case LKS_ISA_NEON: return true;
#endif
    default: return false;
    }
}

lks_isa lks__isa_choose(void)
{
    const char *wish = getenv("LOCKSTEP_ISA");

    if (wish != NULL)
        for (int i = 0; i < LKS_ISA_COUNT; i++)
            if (lks__same_word(wish, isa_names[i]) && lks__isa_available((lks_isa)i)) return (lks_isa)i;
    for (int i = LKS_ISA_COUNT - 1; i > 0; i--)
        if (lks__isa_available((lks_isa)i)) return (lks_isa)i;
    return LKS_ISA_REF;
}

/* OMP_NUM_THREADS, as users of other numerical programs know it: "4", or "4,2" for nested work. 0: not given. */
static int wished_threads(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    char word[16];
    double n = 0;

    if (text == NULL || strcspn(text, ",") >= sizeof word) return 0;
    memcpy(word, text, strcspn(text, ","));
    word[strcspn(text, ",")] = '\0';
    return lks__parse_double(word, &n) && n >= 1 && n <= 1e6 ? (int)n : 0;
}

int lks__usable_cores(void)
{
    cpu_set_t set;
    int n = 1, wish = wished_threads();
    double quota = lks__cgroup_cores("/sys/fs/cgroup", "/proc/self/cgroup");

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) n = CPU_COUNT(&set);
    if (quota > 0 && quota < n) n = (int)quota;
    if (wish > 0 && wish < n) n = wish;
    return n < 1 ? 1 : n;
}

int64_t lks__cache_bytes(int level)
{
    static const int64_t guess[4] = { 0, 32768, 524288, 4194304 };
    long n = -1;

    if (level == 1) n = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    if (level == 2) n = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (level == 3) n = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return n > 0 ? n : guess[level];
}

double lks__now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int64_t lks__peak_rss_bytes(void)
{
    struct rusage u;

    return getrusage(RUSAGE_SELF, &u) == 0 ? (int64_t)u.ru_maxrss * 1024 : 0;
}

int64_t lks__current_rss_bytes(void)
{
    long pages = 0, total = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f == NULL) return 0;
    if (fscanf(f, "%ld %ld", &total, &pages) != 2) pages = 0;
    fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}
