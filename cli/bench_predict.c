/* bench_predict.c - "lockstep bench --predict": how long one answer takes. Calls of lks_predict, one after the other, as a program
 * that serves single requests makes them. */
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"

enum { LEAST_CALLS = 20, MOST_CALLS = 20000 };
static const double wanted_seconds = 1.5;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool call(const cli_options *o, const cli_program *p, const cli_set *set)
{
    lks_tensor *y = lks_predict(p->model, set->x, .batch_size = p->batch_size, .threads = o->threads,
                                .x_divisor = set->pixels ? 255.0 : 0.0);

    lks_tensor_release(y);
    return y != NULL;
}

/* For a while, after two calls that compile and warm up; sorted. Number of calls, or 0. */
static size_t time_calls(const cli_options *o, const cli_program *p, const cli_set *set, double *seconds)
{
    size_t wanted = o->steps > 0 && o->steps < MOST_CALLS ? (size_t)o->steps : MOST_CALLS, n = 0;
    double began;

    for (int warm = 0; warm < 2; warm++)
        if (!call(o, p, set)) return 0;
    began = cli_seconds();
    while (n < wanted && (o->steps > 0 || n < LEAST_CALLS || cli_seconds() - began < wanted_seconds)) {
        double start = cli_seconds();
        if (!call(o, p, set)) return 0;
        seconds[n++] = cli_seconds() - start;
    }
    qsort(seconds, n, sizeof *seconds, by_size);
    return n;
}

static void print_result(const cli_options *o, const cli_program *p, const double *seconds, size_t n)
{
    cli_line line;

    if (!o->json) {
        printf("%-28s batch %lld: median %.1f us, fastest %.1f us, 99 of 100 under %.1f us, %zu calls\n", o->model,
               (long long)p->batch_size, seconds[n / 2] * 1e6, seconds[0] * 1e6, seconds[n * 99 / 100] * 1e6, n);
        return;
    }
    cli_line_begin(&line);
    cli_line_string(&line, "model", o->model);
    cli_line_int(&line, "batch_size", p->batch_size);
    cli_line_int(&line, "calls", (int64_t)n);
    cli_line_number(&line, "median_s", seconds[n / 2]);
    cli_line_number(&line, "fastest_s", seconds[0]);
    cli_line_number(&line, "p99_s", seconds[n * 99 / 100]);
    cli_line_number(&line, "peak_rss_mb", cli_peak_rss_mb());
    cli_line_print(&line);
}

static int measure(const cli_options *o, const cli_program *p, const cli_set *set)
{
    double *seconds = calloc(MOST_CALLS, sizeof *seconds);
    size_t n = seconds != NULL ? time_calls(o, p, set, seconds) : 0;

    if (n > 0) print_result(o, p, seconds, n);
    free(seconds);
    return n > 0 ? CLI_OK : cli_library_failed();
}

int cli_bench_predict(const cli_options *given)
{
    cli_options o = *given;
    cli_program p;
    cli_set set = { 0 };
    int code;

    if (o.data == NULL) o.data = "random";
    code = cli_open_program("bench", &o, &p);
    if (code != CLI_OK) return code;
    if (o.batch_size == 0) p.batch_size = 1;
    o.limit = p.batch_size;
    code = cli_open_set("bench", &o, &p, "test", &set);
    if (code == CLI_OK) code = measure(&o, &p, &set);
    cli_close_set(&set);
    cli_close_program(&p);
    return code;
}
