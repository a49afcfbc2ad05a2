/* evaluate.c - "lockstep evaluate": loss and metrics on the test data. */
#include "program.h"

static lks_status evaluate(const cli_options *o, const cli_program *p, const cli_set *set, lks_logs *logs)
{
    lks_arrays arrays = cli_set_arrays(set);

    return lks_evaluate_arrays(p->model, &arrays, logs, .batch_size = p->batch_size, .verbose = o->verbose,
                               .threads = o->threads);
}

static void print_line(const lks_logs *logs, const cli_set *set, double seconds)
{
    cli_line line;

    cli_line_begin(&line);
    for (size_t i = 0; i < logs->n; i++) cli_line_number(&line, logs->items[i].name, logs->items[i].value);
    cli_line_int(&line, "examples", cli_set_size(set));
    cli_line_number(&line, "images_per_s", seconds > 0 ? (double)cli_set_size(set) / seconds : 0);
    cli_line_number(&line, "peak_rss_mb", cli_peak_rss_mb());
    cli_line_print(&line);
}

static int run(const cli_options *o)
{
    cli_program p;
    cli_set set = { 0 };
    lks_logs logs = { 0, NULL };
    int code = cli_open_program("evaluate", o, &p);

    if (code != CLI_OK) return code;
    code = cli_check_loss("evaluate", o, &p);
    if (code == CLI_OK) code = cli_open_set("evaluate", o, &p, "test", &set);
    if (code == CLI_OK) {
        double began = cli_seconds();
        if (evaluate(o, &p, &set, &logs) != LKS_OK) code = cli_library_failed();
        else if (o->json) print_line(&logs, &set, cli_seconds() - began);
    }
    cli_close_set(&set);
    cli_close_program(&p);
    return code;
}

static const cli_option options[] = {
    CLI_MODEL_OPTION,
    CLI_DATA_OPTION,
    CLI_PIXELS_OPTION,
    CLI_BATCH_OPTION("examples at a time (default: the builtin's, else 32)"),
    { "--loss", CLI_STRING, CLI_FIELD(loss), "NAME", "measure this loss (default: the file's)" },
    { "--metrics", CLI_STRING, CLI_FIELD(metrics), "LIST", "and these metrics; none for none (default: the file's)" },
    CLI_TARGETS_OPTION,
    CLI_LIMIT_OPTION,
    CLI_THREADS_OPTION,
    CLI_VERBOSE_OPTION,
    CLI_JSON_OPTION,
    CLI_NO_OPTION,
};

const cli_command cli_evaluate = {
    "evaluate",
    "measure a trained model on test data",
    "Runs a trained model on the test data, which it has not seen in training, and prints the loss and the metrics.",
    "  lockstep evaluate --model mnist.keras --data mnist\n"
    "  lockstep evaluate --model net.keras --data npz:mine.npz --loss mse --metrics mae",
    options,
    run,
};
