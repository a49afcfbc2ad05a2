/* bench_roofline.c - "lockstep bench --roofline": each kind of work of a model's training step (with --predict: of an answer)
 * beside what the machine can do at most. Instructions with the same name and layer are one line; what takes least is left out of
 * the text, never of --json.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "machine.h"
#include "program.h"

enum { LEAST_SHARE = 200 }; /* text: lines under 1/200 of the step are summed up */

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* ---- lines: items merged ---- */

static bool same_work(const lks_profile_item *a, const lks_profile_item *b)
{
    return a->batched == b->batched && strcmp(a->op, b->op) == 0 && strcmp(a->layer, b->layer) == 0;
}

static size_t merge(const lks_profile *p, lks_profile_item *lines)
{
    size_t n = 0, at;

    for (size_t i = 0; i < p->n; i++) {
        const lks_profile_item *item = &p->items[i];
        for (at = 0; at < n && !same_work(&lines[at], item); at++) continue;
        if (at == n) {
            lines[n++] = *item;
            continue;
        }
        lines[at].seconds += item->seconds;
        lines[at].flop += item->flop;
        lines[at].bytes += item->bytes;
        lines[at].memory_bytes += item->memory_bytes;
    }
    return n;
}

static double total_seconds(const lks_profile_item *lines, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) sum += lines[i].seconds;
    return sum;
}

/* ---- text ---- */

static void print_item(const char *op, const char *layer, const lks_profile_item *x, double whole, const cli_limits *m)
{
    printf("%-24.24s %-32.32s %9.1f %5.1f %9.3f %9.1f %6.1f %8.3f %6.1f\n", op, layer, x->seconds * 1e6,
           percent(x->seconds, whole), x->flop / 1e6, x->seconds > 0 ? x->flop / x->seconds / 1e9 : 0,
           x->seconds > 0 ? percent(x->flop / x->seconds / 1e9, m->gflops) : 0, x->memory_bytes / 1e6,
           x->seconds > 0 ? percent(x->memory_bytes / x->seconds / 1e9, m->gbytes_per_s) : 0);
}

static void print_text(const cli_options *o, const lks_profile *p, const lks_profile_item *lines, size_t n,
                       const cli_limits *m)
{
    const char *step = o->predict ? "call" : "step";
    double whole = total_seconds(lines, n), bytes = 0;
    lks_profile_item rest = { .op = "" };
    int left_out = 0;
    char text[64];

    printf("\n%s: batch %lld, %lld thread%s, a %s %.3f ms\n", o->model, (long long)p->batch_size, (long long)p->threads,
           p->threads == 1 ? "" : "s", step, p->step_seconds * 1e3);
    printf("%-24s %-32s %9s %5s %9s %9s %6s %8s %6s\n", "op", "layer", "us", "%", "MFLOP", "GFLOP/s", "% peak", "MB",
           "% band");
    for (size_t i = 0; i < n; i++) {
        bytes += lines[i].memory_bytes;
        if (lines[i].seconds * LEAST_SHARE >= whole) {
            print_item(lines[i].op, lines[i].layer, &lines[i], whole, m);
            continue;
        }
        left_out++;
        rest.seconds += lines[i].seconds;
        rest.flop += lines[i].flop;
        rest.memory_bytes += lines[i].memory_bytes;
    }
    snprintf(text, sizeof text, "%d more", left_out);
    if (left_out > 0) print_item(text, "", &rest, whole, m);
    rest = (lks_profile_item){ .seconds = p->step_seconds, .flop = p->flop, .memory_bytes = bytes };
    snprintf(text, sizeof text, "the whole %s", step);
    print_item(text, "", &rest, p->step_seconds, m);
}

/* ---- JSON: a line an item, then one of the step ---- */

static void print_json_item(const lks_profile_item *x, const cli_limits *m)
{
    cli_line line;

    cli_line_begin(&line);
    cli_line_string(&line, "op", x->op);
    cli_line_string(&line, "layer", x->layer);
    cli_line_int(&line, "batched", x->batched);
    cli_line_number(&line, "seconds", x->seconds);
    cli_line_number(&line, "flop", x->flop);
    cli_line_number(&line, "bytes", x->bytes);
    cli_line_number(&line, "memory_bytes", x->memory_bytes);
    cli_line_number(&line, "peak_share", x->seconds > 0 ? x->flop / x->seconds / 1e9 / m->gflops : 0);
    cli_line_number(&line, "bandwidth_share",
                    x->seconds > 0 ? x->memory_bytes / x->seconds / 1e9 / m->gbytes_per_s : 0);
    cli_line_print(&line);
}

static void print_json(const char *model, const lks_profile *p, const lks_profile_item *lines, size_t n,
                       const cli_limits *m)
{
    cli_line line;

    for (size_t i = 0; i < n; i++) print_json_item(&lines[i], m);
    cli_line_begin(&line);
    cli_line_string(&line, "model", model);
    cli_line_int(&line, "batch_size", p->batch_size);
    cli_line_number(&line, "step_s", p->step_seconds);
    cli_line_number(&line, "profiled_step_s", total_seconds(lines, n));
    cli_line_number(&line, "flop", p->flop);
    cli_line_number(&line, "peak_share", p->flop / p->step_seconds / 1e9 / m->gflops);
    cli_line_limits(&line, m);
    cli_line_machine(&line);
    cli_line_print(&line);
}

/* ---- one model ---- */

static int print_profile(const cli_options *o, const lks_profile *p, const cli_limits *limits)
{
    lks_profile_item *lines = calloc(p->n + 1, sizeof *lines);
    size_t n;

    if (lines == NULL) return cli_fail("out of memory");
    n = merge(p, lines);
    if (o->json) print_json(o->model, p, lines, n, limits);
    else print_text(o, p, lines, n, limits);
    free(lines);
    return CLI_OK;
}

static int profile(const cli_options *o, const cli_program *program, lks_profile **out)
{
    cli_options data = *o;
    cli_set set = { 0 };
    lks_arrays arrays;
    lks_status status;
    int code;

    if (data.data == NULL) data.data = "random";
    data.limit = program->batch_size;
    code = cli_open_set("bench", &data, program, "train", &set);
    if (code != CLI_OK) return code;
    arrays = cli_set_arrays(&set);
    if (o->predict) status = lks_model_profile_predict(program->model, &arrays, o->threads, o->steps, out);
    else status = lks_model_profile(program->model, &arrays, o->threads, o->steps, out);
    if (status != LKS_OK) code = cli_library_failed();
    cli_close_set(&set);
    return code;
}

int cli_roofline(const cli_options *o, cli_limits *limits)
{
    cli_program program;
    lks_profile *p = NULL;
    int code = cli_open_program("bench", o, &program);

    if (code != CLI_OK) return code;
    if (o->predict && o->batch_size == 0) program.batch_size = 1;
    code = profile(o, &program, &p);
    if (code == CLI_OK && limits->threads != (int)p->threads && !cli_measure_limits((int)p->threads, limits))
        code = cli_fail("the machine's limits cannot be measured: no memory or no threads");
    if (code == CLI_OK) code = print_profile(o, p, limits);
    lks_profile_release(p);
    cli_close_program(&program);
    return code;
}
