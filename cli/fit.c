/* fit.c - "lockstep fit": trains a model and saves it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static int check_save(const char *path)
{
    size_t n = strlen(path);

    if (n < 7 || strcmp(path + n - 6, ".keras") != 0)
        return cli_usage("fit", "--save takes a name that ends in .keras, not \"%s\"", path);
    return cli_check_writable(path);
}

static int check_options(const cli_options *o)
{
    if (o->pipeline && (o->data == NULL || strncmp(o->data, "npz:", 4) == 0))
        return cli_usage("fit", "--pipeline is for pictures such as --data mnist");
    if (o->pipeline && o->no_shuffle)
        return cli_usage("fit", "--pipeline shuffles; leave one of --pipeline and --no-shuffle out");
    if (o->validate && o->validation_split > 0)
        return cli_usage("fit", "--validate and --validation-split exclude each other");
    if (o->save_freq > 0 && o->backup == NULL) return cli_usage("fit", "--save-freq needs --backup");
    return o->save != NULL ? check_save(o->save) : CLI_OK;
}

/* Where the time to the first step's end goes: process seconds when main began, the model stood and the data were read; start_s, the
 * end of the first step, compiled for, comes last. */
static struct {
    double main, model, data;
} phases;

static int print_line(const cli_program *p, const cli_trained *t, const char *digest)
{
    size_t epochs = lks_history_epochs(t->history);
    double *seconds = calloc(epochs + 1, sizeof *seconds), median = cli_median_epoch(t->history);
    cli_line line;
    int code;

    if (seconds == NULL) return cli_fail("out of memory");
    for (size_t i = 0; i < epochs; i++) seconds[i] = lks_history_seconds(t->history, i);
    cli_line_begin(&line);
    cli_line_numbers(&line, "epoch_s", epochs, seconds);
    free(seconds);
    for (size_t i = 0; i < lks_history_n_keys(t->history); i++) {
        const char *key = lks_history_key(t->history, i);
        size_t n = 0;
        const double *values = lks_history_values(t->history, key, &n);
        if (values != NULL && n > 0) cli_line_number(&line, key, values[n - 1]);
    }
    cli_line_number(&line, "images_per_s", median > 0 ? (double)t->examples / median : 0);
    code = cli_line_ran(&line, p);
    if (code != CLI_OK) return code;
    cli_line_string(&line, "digest", digest);
    cli_line_number(&line, "peak_rss_mb", cli_peak_rss_mb());
    cli_line_number(&line, "main_s", phases.main);
    cli_line_number(&line, "model_s", phases.model);
    cli_line_number(&line, "data_s", phases.data);
    cli_line_number(&line, "start_s", t->start_s);
    cli_line_print(&line);
    return CLI_OK;
}

static int finish(const cli_options *o, const cli_program *p, const cli_trained *t)
{
    char digest[65];

    if (o->save != NULL) {
        if (lks_save(p->model, o->save) != LKS_OK) return cli_library_failed();
        if (o->verbose > 0) cli_say("saved %s\n", o->save);
    }
    if (!o->digest && !o->json) return CLI_OK;
    if (lks_model_digest(p->model, digest) != LKS_OK) return cli_library_failed();
    if (o->digest) cli_say("digest %s\n", digest);
    return o->json ? print_line(p, t, digest) : CLI_OK;
}

static int train(const cli_options *o, const cli_program *p, const cli_set *train_set, const cli_set *test_set)
{
    cli_training training = { p,          train_set, test_set,    p->epochs,      o->steps_per_epoch, o->verbose,
                              o->threads, o->seed,   o->pipeline, !o->no_shuffle, o->backup,          o->save_freq };
    cli_trained trained;
    int code = cli_train(&training, &trained);

    if (code != CLI_OK) return code;
    code = finish(o, p, &trained);
    lks_history_release(trained.history);
    return code;
}

static int run(const cli_options *o)
{
    cli_program p;
    cli_set train_set = { 0 }, test_set = { 0 };
    bool has_test = o->validate || o->validation_split > 0;
    int code = check_options(o);

    phases.main = cli_process_seconds();
    if (code == CLI_OK) code = cli_open_program("fit", o, &p);
    if (code != CLI_OK) return code;
    phases.model = cli_process_seconds();
    code = cli_check_loss("fit", o, &p);
    if (code == CLI_OK) code = cli_open_set("fit", o, &p, "train", &train_set);
    if (code == CLI_OK && o->validate) code = cli_open_set("fit", o, &p, "test", &test_set);
    if (code == CLI_OK && o->validation_split > 0) code = cli_split_set(&train_set, o->validation_split, &test_set);
    phases.data = cli_process_seconds();
    if (code == CLI_OK) code = train(o, &p, &train_set, has_test ? &test_set : NULL);
    cli_close_set(&train_set);
    cli_close_set(&test_set);
    cli_close_program(&p);
    return code;
}

static const cli_option options[] = {
    CLI_MODEL_OPTION,
    CLI_DATA_OPTION,
    CLI_PIXELS_OPTION,
    { "--epochs", CLI_COUNT, CLI_FIELD(epochs), "N", "passes over the data (default: the builtin's, else 1)" },
    CLI_BATCH_OPTION("examples a step (default: the builtin's, else 32)"),
    { "--optimizer", CLI_STRING, CLI_FIELD(optimizer), "NAME",
      "adam, sgd, rmsprop or adamw, with options if wanted:\nadam:learning_rate=0.01 (default: the builtin's or\nthe file's)" },
    { "--loss", CLI_STRING, CLI_FIELD(loss), "NAME", "categorical_crossentropy, mse, ... (default as above)" },
    { "--metrics", CLI_STRING, CLI_FIELD(metrics), "LIST", "accuracy,mse,...; none for none (default as above)" },
    CLI_TARGETS_OPTION,
    { "--validate", CLI_FLAG, CLI_FIELD(validate), NULL, "measure on the test data after each epoch" },
    { "--validation-split", CLI_FRACTION, CLI_FIELD(validation_split), "SHARE",
      "or on this share of the training data, its tail" },
    { "--steps-per-epoch", CLI_COUNT, CLI_FIELD(steps_per_epoch), "N", "end an epoch after N steps" },
    { "--pipeline", CLI_FLAG, CLI_FIELD(pipeline), NULL,
      "feed pictures as the first tutorial does: map,\nshuffle(256), batch, repeat, prefetch" },
    { "--no-shuffle", CLI_FLAG, CLI_FIELD(no_shuffle), NULL, "take the examples in the file's order" },
    CLI_LIMIT_OPTION,
    { "--seed", CLI_NUMBER, CLI_FIELD(seed), "N",
      "start of everything random (default 0); equal seeds,\nequal weights" },
    CLI_THREADS_OPTION,
    { "--replicas", CLI_COUNT, CLI_FIELD(replicas), "N", "share every batch among N replicas (default 1)" },
    { "--virtual-shards", CLI_COUNT, CLI_FIELD(virtual_shards), "V",
      "parts of a batch that are summed apart; changes the\nlast bits of the weights (default: by batch, at most 16)" },
    CLI_REPRODUCIBLE_OPTION,
    { "--save", CLI_STRING, CLI_FIELD(save), "OUT.keras", "write the trained model, for Keras and for us" },
    { "--backup", CLI_STRING, CLI_FIELD(backup), "DIR",
      "keep what is needed to go on after a crash in DIR, and\ngo on from what is there: same final weights, bit for bit" },
    { "--save-freq", CLI_COUNT, CLI_FIELD(save_freq), "N", "back up every N steps (default: after each epoch)" },
    CLI_VERBOSE_OPTION,
    { "--digest", CLI_FLAG, CLI_FIELD(digest), NULL, "print the SHA-256 of the trained weights" },
    CLI_JSON_OPTION,
    CLI_NO_OPTION,
};

const cli_command cli_fit = {
    "fit",
    "train a model",
    "Trains a model on data and shows how it learns: after each epoch (one pass over the data) the loss, which\n"
    "should fall, and the metrics. A builtin model brings its tutorial's settings, a .keras file its own.\n"
    "Ctrl-C stops after the present step; nothing half-made is left behind. With --backup, the same command goes on later.",
    "  lockstep fit --model builtin:mnist_cnn --data mnist --validate --save mnist.keras\n"
    "  lockstep fit --model mnist.keras --data mnist --epochs 2 --save better.keras\n"
    "  lockstep fit --model net.json --data npz:mine.npz --optimizer sgd:learning_rate=0.1 --loss mse",
    options,
    run,
};
