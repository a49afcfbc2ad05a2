/* plan.c - "lockstep plan": what a training step needs, before anything runs. */
#include <stdio.h>
#include <string.h>

#include "program.h"

static const char *grouped(int64_t value, char text[32])
{
    char plain[32];
    int n = snprintf(plain, sizeof plain, "%lld", (long long)value), k = 0;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0 && plain[i - 1] != '-') text[k++] = ',';
        text[k++] = plain[i];
    }
    text[k] = '\0';
    return text;
}

static void print_bytes(const char *name, int64_t bytes)
{
    printf("  %-28s %10.2f MB\n", name, (double)bytes / (1 << 20));
}

/* What the process will hold while it trains, or what reading the data took where that is more (a compressed file is held beside what
 * it unpacks to). */
static int64_t peak_bytes(const lks_plan *plan)
{
    const int64_t so_far = (int64_t)(cli_peak_rss_mb() * (1 << 20)), training = plan->process_bytes + plan->total_bytes;

    return so_far > training ? so_far : training;
}

static void print_memory(const lks_plan *plan, bool with_data)
{
    puts("Memory of a worker");
    print_bytes("weights", plan->weights_bytes);
    print_bytes("optimizer", plan->optimizer_bytes);
    print_bytes("gradients", plan->gradient_bytes);
    print_bytes("activations", plan->activation_bytes);
    print_bytes("scratch", plan->scratch_bytes);
    print_bytes("together", plan->total_bytes);
    print_bytes(with_data ? "program, libraries, data" : "program and libraries", plan->process_bytes);
    print_bytes(with_data ? "peak" : "peak, without the data", peak_bytes(plan));
}

static void print_plan(const cli_program *p, const lks_plan *plan, bool with_data)
{
    char a[32], b[32], c[32];

    printf("Model %s, steps of %lld examples\n", lks_model_name(p->model), (long long)p->batch_size);
    printf("  %-28s %s (%s of them trained), %s more in the optimizer\n", "parameters", grouped(plan->params, a),
           grouped(plan->trainable_params, b), grouped(plan->optimizer_params, c));
    printf("  %-28s %.2f MFLOP a step, %.4f MFLOP an example\n", "work", plan->flop_per_step / 1e6,
           plan->flop_per_example / 1e6);
    printf("  %-28s %lld replica%s, %lld thread%s, kernels %s\n", "workers", (long long)plan->replicas,
           plan->replicas == 1 ? "" : "s", (long long)plan->threads, plan->threads == 1 ? "" : "s", plan->isa);
    printf("  %-28s %s, %lld %s%s, %lld phase%s, slices of %lld example%s\n", "order of work", plan->reproducible,
           (long long)plan->virtual_shards, strcmp(plan->reproducible, "any_world") == 0 ? "virtual shard" : "sum",
           plan->virtual_shards == 1 ? "" : "s", (long long)plan->phases, plan->phases == 1 ? "" : "s",
           (long long)plan->slice, plan->slice == 1 ? "" : "s");
    print_memory(plan, with_data);
}

static void print_line(const cli_program *p, const lks_plan *plan)
{
    cli_line line;

    cli_line_begin(&line);
    cli_line_string(&line, "model", lks_model_name(p->model));
    cli_line_int(&line, "batch_size", p->batch_size);
    cli_line_int(&line, "params", plan->params);
    cli_line_int(&line, "trainable_params", plan->trainable_params);
    cli_line_int(&line, "optimizer_params", plan->optimizer_params);
    cli_line_number(&line, "flop_per_example", plan->flop_per_example);
    cli_line_number(&line, "flop_per_step", plan->flop_per_step);
    cli_line_int(&line, "threads", plan->threads);
    cli_line_string(&line, "isa", plan->isa);
    cli_line_int(&line, "slice", plan->slice);
    cli_line_int(&line, "slices", plan->slice > 0 ? (p->batch_size + plan->slice - 1) / plan->slice : 0);
    cli_line_int(&line, "virtual_shards", plan->virtual_shards);
    cli_line_string(&line, "reproducible", plan->reproducible);
    cli_line_int(&line, "phases", plan->phases);
    cli_line_int(&line, "replicas", plan->replicas);
    cli_line_int(&line, "weights_bytes", plan->weights_bytes);
    cli_line_int(&line, "optimizer_bytes", plan->optimizer_bytes);
    cli_line_int(&line, "gradient_bytes", plan->gradient_bytes);
    cli_line_int(&line, "activation_bytes", plan->activation_bytes);
    cli_line_int(&line, "scratch_bytes", plan->scratch_bytes);
    cli_line_int(&line, "total_bytes", plan->total_bytes);
    cli_line_int(&line, "process_bytes", plan->process_bytes);
    cli_line_int(&line, "peak_bytes", peak_bytes(plan));
    cli_line_print(&line);
}

static int run(const cli_options *o)
{
    cli_program p;
    cli_set set = { 0 };
    lks_plan plan;
    int code = cli_open_program("plan", o, &p);

    if (code != CLI_OK) return code;
    if (o->data != NULL) code = cli_open_set("plan", o, &p, "train", &set);
    if (code != CLI_OK) {
        cli_close_program(&p);
        return code;
    }
    if (lks_model_plan(p.model, p.batch_size, o->threads, &plan) != LKS_OK) code = cli_library_failed();
    else if (o->json) print_line(&p, &plan);
    else print_plan(&p, &plan, o->data != NULL);
    cli_close_set(&set);
    cli_close_program(&p);
    return code;
}

static const cli_option options[] = {
    CLI_MODEL_OPTION,
    { "--data", CLI_STRING, CLI_FIELD(data), "DATA", "count these data's memory too: as in fit" },
    CLI_BATCH_OPTION("examples a step (default: the builtin's, else 32)"),
    { "--optimizer", CLI_STRING, CLI_FIELD(optimizer), "NAME", "as in fit" },
    { "--loss", CLI_STRING, CLI_FIELD(loss), "NAME", "as in fit" },
    { "--metrics", CLI_STRING, CLI_FIELD(metrics), "LIST", "as in fit" },
    CLI_THREADS_OPTION,
    { "--replicas", CLI_COUNT, CLI_FIELD(replicas), "N", "as in fit" },
    { "--virtual-shards", CLI_COUNT, CLI_FIELD(virtual_shards), "V", "as in fit" },
    { "--reproducible", CLI_STRING, CLI_FIELD(reproducible), "WORLD", "as in fit" },
    CLI_JSON_OPTION,
    CLI_NO_OPTION,
};

const cli_command cli_plan = {
    "plan",
    "print memory and work of a training step before it runs",
    "Prints what training this model will take: parameters, memory of each worker by its parts, work a step, and how a\n"
    "step is cut into shards, phases and slices. Nothing is trained.",
    "  lockstep plan --model builtin:mnist_cnn\n"
    "  lockstep plan --model builtin:mnist_autoencoder --batch-size 1024 --threads 8",
    options,
    run,
};
