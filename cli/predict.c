/* predict.c - "lockstep predict": what the model says about the test data, as arrays or as a picture. */
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* npz: "predictions", and "classes" where the model tells classes apart. */
static int write_npz(const char *path, lks_tensor *predictions)
{
    static const char *const keys[] = { "predictions", "classes" };
    lks_tensor *classes = cli_classes(predictions);
    lks_tensor *const tensors[] = { predictions, classes };
    lks_status status = lks_write_npz(path, classes != NULL ? 2 : 1, keys, tensors);

    lks_tensor_release(classes);
    if (status != LKS_OK) return cli_library_failed();
    cli_say("wrote %s\n", path);
    return CLI_OK;
}

static int write_results(const cli_options *o, const cli_set *set, lks_tensor *predictions)
{
    const char *output = o->output != NULL ? o->output : o->png == NULL ? "predictions.npz" : NULL;
    int code = CLI_OK;

    if (output != NULL) code = write_npz(output, predictions);
    if (code == CLI_OK && o->png != NULL) code = cli_draw_predictions(o->png, set, predictions);
    return code;
}

static void print_line(const cli_options *o, const cli_set *set, double seconds)
{
    cli_line line;

    if (!o->json) return;
    cli_line_begin(&line);
    cli_line_int(&line, "examples", cli_set_size(set));
    cli_line_number(&line, "images_per_s", seconds > 0 ? (double)cli_set_size(set) / seconds : 0);
    cli_line_number(&line, "peak_rss_mb", cli_peak_rss_mb());
    cli_line_print(&line);
}

static int predict(const cli_options *o, const cli_program *p, const cli_set *set)
{
    const double began = cli_seconds();
    lks_tensor *predictions = lks_predict(p->model, set->x, .batch_size = p->batch_size, .verbose = o->verbose,
                                          .threads = o->threads, .x_divisor = set->pixels ? 255.0 : 0.0);
    const double seconds = cli_seconds() - began;
    int code = predictions != NULL ? write_results(o, set, predictions) : cli_library_failed();

    if (code == CLI_OK) print_line(o, set, seconds);
    lks_tensor_release(predictions);
    return code;
}

static int run(const cli_options *o)
{
    cli_program p;
    cli_set set = { 0 };
    int code = CLI_OK;

    if (o->output != NULL && (strlen(o->output) < 5 || strcmp(o->output + strlen(o->output) - 4, ".npz") != 0))
        return cli_usage("predict", "--output takes a name that ends in .npz, not \"%s\"", o->output);
    if (o->output != NULL) code = cli_check_writable(o->output);
    if (code == CLI_OK && o->png != NULL) code = cli_check_writable(o->png);
    if (code == CLI_OK) code = cli_open_program("predict", o, &p);
    if (code != CLI_OK) return code;
    code = cli_open_set("predict", o, &p, "test", &set);
    if (code == CLI_OK) code = predict(o, &p, &set);
    cli_close_set(&set);
    cli_close_program(&p);
    return code;
}

static const cli_option options[] = {
    CLI_MODEL_OPTION,
    CLI_DATA_OPTION,
    CLI_PIXELS_OPTION,
    { "--output", CLI_STRING, CLI_FIELD(output), "FILE.npz",
      "write the array \"predictions\" (and \"classes\", the most\nlikely one of each) there; without --output and --png:\npredictions.npz" },
    { "--png", CLI_STRING, CLI_FIELD(png), "FILE.png",
      "draw the first examples: sixteen with prediction and\ntruth, or eight rows of real and predicted pictures" },
    CLI_BATCH_OPTION("examples at a time (default: the builtin's, else 32)"),
    CLI_LIMIT_OPTION,
    CLI_THREADS_OPTION,
    CLI_VERBOSE_OPTION,
    CLI_JSON_OPTION,
    CLI_NO_OPTION,
};

const cli_command cli_predict = {
    "predict",
    "ask a trained model about test data",
    "Runs a trained model on the test data and writes down what it puts out: as arrays for NumPy, or as a picture to\n"
    "look at.",
    "  lockstep predict --model mnist.keras --data mnist --png digits.png\n"
    "  lockstep predict --model net.keras --data npz:mine.npz --output answers.npz",
    options,
    run,
};
