/* bench.c - "lockstep bench": how long an epoch of the builtin models takes, beside what the machine can do at most. */
#include <stdio.h>
#include <string.h>

#include "machine.h"

enum { MOST = 8 };

typedef struct result {
    char name[64];
    double epoch_s, images_per_s, start_s, gflops, loss, epochs[64];
    size_t n_epochs;
    lks_plan plan;
    int64_t batch_size;
} result;

static int measure(const cli_options *given, const cli_program *p, result *out)
{
    cli_set set = { 0 };
    cli_trained trained;
    int code = cli_open_set("bench", given, p, "train", &set);
    cli_training training = { p, &set, NULL, given->epochs, 0, 0, given->threads, 0, given->pipeline, true, NULL, 0 };

    if (code != CLI_OK) return code;
    code = cli_train(&training, &trained);
    cli_close_set(&set);
    if (code != CLI_OK) return code;
    if (lks_model_last_plan(p->model, &out->plan) != LKS_OK) code = cli_library_failed();
    out->epoch_s = cli_median_epoch(trained.history);
    out->n_epochs = lks_history_epochs(trained.history);
    for (size_t i = 0; i < out->n_epochs && i < 64; i++) out->epochs[i] = lks_history_seconds(trained.history, i);
    out->images_per_s = out->epoch_s > 0 ? (double)trained.examples / out->epoch_s : 0;
    out->gflops = out->images_per_s * out->plan.flop_per_example / 1e9;
    out->start_s = trained.start_s;
    out->batch_size = p->batch_size;
    lks_history_release(trained.history);
    return code;
}

static int bench_model(const cli_options *given, const char *model, result *out)
{
    cli_options o = *given;
    cli_program p;
    int code;

    o.model = model;
    if (o.data == NULL) o.data = strncmp(model, "builtin:mnist", 13) == 0 ? "mnist" : "random:320";
    code = cli_open_program("bench", &o, &p);
    if (code != CLI_OK) return code;
    snprintf(out->name, sizeof out->name, "%s", model);
    code = measure(&o, &p, out);
    cli_close_program(&p);
    return code;
}

static void print_result(const cli_options *o, const result *r, const cli_limits *limits)
{
    cli_line line;

    if (!o->json) {
        printf("%-28s %8.3f s an epoch %10.0f images/s %8.1f GFLOP/s = %4.1f %% of the peak\n", r->name, r->epoch_s,
               r->images_per_s, r->gflops, 100 * r->gflops / limits->gflops);
        return;
    }
    cli_line_begin(&line);
    cli_line_string(&line, "model", r->name);
    cli_line_numbers(&line, "epoch_s", r->n_epochs < 64 ? r->n_epochs : 64, r->epochs);
    cli_line_number(&line, "median_epoch_s", r->epoch_s);
    cli_line_number(&line, "images_per_s", r->images_per_s);
    cli_line_int(&line, "batch_size", r->batch_size);
    cli_line_int(&line, "threads", r->plan.threads);
    cli_line_string(&line, "isa", r->plan.isa);
    cli_line_int(&line, "slice", r->plan.slice);
    cli_line_int(&line, "virtual_shards", r->plan.virtual_shards);
    cli_line_string(&line, "reproducible", r->plan.reproducible);
    cli_line_number(&line, "gflops", r->gflops);
    cli_line_number(&line, "peak_gflops", limits->gflops);
    cli_line_number(&line, "memory_gbytes_per_s", limits->gbytes_per_s);
    cli_line_number(&line, "start_s", r->start_s);
    cli_line_machine(&line);
    cli_line_print(&line);
}

/* Calls `one` for --model, or else for each builtin. */
static int for_models(cli_options *o, int (*one)(const cli_options *o, void *user), void *user)
{
    int code = CLI_OK;

    if (o->model != NULL) return one(o, user);
    for (const cli_builtin *b = cli_builtins; code == CLI_OK && b->name != NULL; b++) {
        char name[64];
        if (!b->of_digits) continue;
        snprintf(name, sizeof name, "builtin:%s", b->name);
        o->model = name;
        code = one(o, user);
        o->model = NULL;
    }
    return code;
}

static int roofline(const cli_options *o, void *user)
{
    return cli_roofline(o, user);
}

static int predict(const cli_options *o, void *user)
{
    (void)user;
    return cli_bench_predict(o);
}

typedef struct results {
    size_t n;
    result list[MOST];
} results;

static int train(const cli_options *o, void *user)
{
    results *r = user;
    int code;

    if (r->n == MOST) return CLI_OK;
    code = bench_model(o, o->model, &r->list[r->n]);
    if (code == CLI_OK) r->n++;
    return code;
}

static int measure_limits(int threads, cli_limits *out)
{
    if (cli_measure_limits(threads, out)) return CLI_OK;
    return cli_fail("the machine's limits cannot be measured: no memory or no threads");
}

static void print_limits(const cli_limits *m)
{
    cli_machine machine;

    cli_know_machine(&machine);
    cli_print_machine(&machine);
    printf("%d thread%s: %.0f GFLOP/s (%s; one thread %.0f), %.1f GB/s from memory\n", m->threads,
           m->threads == 1 ? "" : "s", m->gflops, m->isa, m->gflops_one, m->gbytes_per_s);
}

static void print_limits_line(const cli_limits *m)
{
    cli_line line;

    cli_line_begin(&line);
    cli_line_limits(&line, m);
    cli_line_machine(&line);
    cli_line_print(&line);
}

static int bench_epochs(cli_options *o)
{
    static results r;
    cli_limits limits;
    double peak_rss;
    int code;

    o->verbose = 0;
    if (o->epochs == 0) o->epochs = 4;
    code = o->limits_only ? CLI_OK : for_models(o, train, &r);
    peak_rss = cli_peak_rss_mb();
    if (code == CLI_OK)
        code = measure_limits(r.n > 0          ? (int)r.list[0].plan.threads
                              : o->threads > 0 ? (int)o->threads
                                               : cli_usable_cores(),
                              &limits);
    if (code != CLI_OK) return code;
    if (!o->json) {
        print_limits(&limits);
        if (r.n > 0) printf("Lockstep's peak memory: %.0f MB, data included\n", peak_rss);
    }
    if (o->json && o->limits_only) print_limits_line(&limits);
    for (size_t i = 0; i < r.n; i++) print_result(o, &r.list[i], &limits);
    return CLI_OK;
}

static int run(const cli_options *given)
{
    cli_options o = *given;
    cli_limits limits = { 0 };
    int code;

    if (o.limits_only && (o.roofline || o.predict))
        return cli_usage("bench", "--limits goes with neither --roofline nor --predict");
    if (o.predict && !o.roofline) return for_models(&o, predict, NULL);
    if (!o.roofline) return bench_epochs(&o);
    code = measure_limits(o.threads > 0 ? (int)o.threads : cli_usable_cores(), &limits);
    if (code != CLI_OK) return code;
    if (!o.json) print_limits(&limits);
    return for_models(&o, roofline, &limits);
}

static const cli_option options[] = {
    { "--model", CLI_STRING, CLI_FIELD(model), "MODEL",
      "this model only (default: the builtins, one after the other)" },
    CLI_DATA_OPTION,
    { "--epochs", CLI_COUNT, CLI_FIELD(epochs), "N", "epochs of each (default 4); the median after the first counts" },
    CLI_BATCH_OPTION("examples a step (default: the builtin's)"),
    CLI_LIMIT_OPTION,
    CLI_THREADS_OPTION,
    CLI_REPRODUCIBLE_OPTION,
    { "--pipeline", CLI_FLAG, CLI_FIELD(pipeline), NULL, "as in fit" },
    { "--roofline", CLI_FLAG, CLI_FIELD(roofline), NULL,
      "each op of a training step: time, work, bytes, and what\nshare of the machine's limits that is" },
    { "--predict", CLI_FLAG, CLI_FIELD(predict), NULL,
      "how long one answer takes (default batch size: 1);\nwith --roofline: each op of it" },
    { "--steps", CLI_COUNT, CLI_FIELD(steps), "N", "of --roofline (default 20) or calls of --predict" },
    { "--limits", CLI_FLAG, CLI_FIELD(limits_only), NULL, "measure the machine alone" },
    CLI_JSON_OPTION,
    CLI_NO_OPTION,
};

const cli_command cli_bench = {
    "bench",
    "measure epoch times beside the machine's limits",
    "Trains the builtin models for a few epochs and prints how long one takes, how many images and floating-point\n"
    "operations a second that is, and what share of what this machine's processors can do at most, measured on the spot.\n"
    "For a comparison with other frameworks see bench/peers.",
    "  lockstep bench\n"
    "  lockstep bench --roofline --model builtin:mnist_autoencoder\n"
    "  lockstep bench --model builtin:mnist_cnn --epochs 10 --threads 1",
    options,
    run,
};
