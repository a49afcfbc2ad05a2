/* measure.c - clocks and memory. Before main the process did nothing but load itself, all of it on the CPU: the CPU time
 * used when main begins is the time since the process began, finer than the kernel's start time in ticks. */
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "cli.h"

static double main_began, before_main;

static double read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_measure_start(void)
{
    main_began = read_clock(CLOCK_MONOTONIC);
    before_main = read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double cli_seconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double cli_process_seconds(void)
{
    return before_main + cli_seconds() - main_began;
}

double cli_peak_rss_mb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

int cli_usable_cores(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}
