/* cli.h - what the files of the command share. The command is a user like any other: it sees lockstep.h alone.
 *
 * One file a subcommand; each has an entry in main.c's table: name, one line of help, options, function. A subcommand
 * returns an exit code: CLI_OK, CLI_FAILED (the sentence is printed already) or CLI_USAGE.
 */
#ifndef LOCKSTEP_CLI_H
#define LOCKSTEP_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "lockstep.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/* ---- options.c: the words after a subcommand ---- */

/* What any subcommand may be given; 0 or NULL: not given. */
typedef struct cli_options {
    const char *model, *data, *optimizer, *loss, *metrics, *save, *output, *png, *targets, *pixels, *backup, *what,
        *path, *reproducible;
    int64_t epochs, batch_size, seed, threads, verbose, replicas, virtual_shards;
    int64_t steps_per_epoch, limit, line_length, steps, save_freq, seconds, consumer_ms;
    double validation_split;
    bool validate, pipeline, no_shuffle, json, digest, limits_only, roofline, predict, verbose_given;
} cli_options;

typedef enum cli_kind {
    CLI_STRING,
    CLI_COUNT,
    CLI_NUMBER,
    CLI_FRACTION,
    CLI_FLAG
} cli_kind; /* count: from 1; number: from 0 */

typedef struct cli_option {
    const char *name; /* "--epochs" */
    cli_kind kind;
    size_t offset;     /* of its field in cli_options */
    const char *value; /* how help calls the value: "N" */
    const char *help;  /* lines separated by \n */
} cli_option;

typedef struct cli_command {
    const char *name, *line, *text, *examples; /* for the list of commands; for its own --help */
    const cli_option *options;                 /* ended by a NULL name */
    int (*run)(const cli_options *options);
} cli_command;

extern const cli_command cli_fit, cli_evaluate, cli_predict, cli_summary, cli_plan, cli_bench, cli_data;

/* Options that several commands have, word for word the same. */
#define CLI_FIELD(field) offsetof(cli_options, field)
#define CLI_MODEL_OPTION                                                                                                                                                          \
    {                                                                                                                                                                             \
        "--model", CLI_STRING, CLI_FIELD(model), "MODEL",                                                                                                                         \
            "the model: builtin:mnist_cnn, builtin:mnist_autoencoder,\nbuiltin:mobilenet_v2:alpha=1,input=224,...,\nFILE.keras, or FILE.json as Keras' model.to_json() writes it" \
    }
#define CLI_DATA_OPTION                                                                                                                                                                          \
    {                                                                                                                                                                                            \
        "--data", CLI_STRING, CLI_FIELD(data), "DATA",                                                                                                                                           \
            "mnist, fashion_mnist, images:DIR (a subfolder a class, or\ntrain and validation with such subfolders),\nnpz:FILE with the arrays\nx_train, y_train, x_test and y_test, or random:N" \
    }
#define CLI_BATCH_OPTION(text)                                      \
    {                                                               \
        "--batch-size", CLI_COUNT, CLI_FIELD(batch_size), "N", text \
    }
#define CLI_THREADS_OPTION                                                                                             \
    {                                                                                                                  \
        "--threads", CLI_COUNT, CLI_FIELD(threads), "N", "compute threads (default: all cores); cannot change results" \
    }
#define CLI_REPRODUCIBLE_OPTION                                                                                                                          \
    {                                                                                                                                                    \
        "--reproducible", CLI_STRING, CLI_FIELD(reproducible), "WORLD",                                                                                  \
            "who gets the same weights again: any_world (default),\nsame_world (as many threads and replicas), or fastest\n(nobody, to the last digits)" \
    }
#define CLI_LIMIT_OPTION                                                             \
    {                                                                                \
        "--limit", CLI_COUNT, CLI_FIELD(limit), "N", "use the first N examples only" \
    }
#define CLI_VERBOSE_OPTION                                                                                          \
    {                                                                                                               \
        "--verbose", CLI_NUMBER, CLI_FIELD(verbose), "0|1|2", "0 silent, 1 progress bar (default), 2 one line each" \
    }
#define CLI_JSON_OPTION                                                                        \
    {                                                                                          \
        "--json", CLI_FLAG, CLI_FIELD(json), NULL, "print one last line of JSON, for programs" \
    }
#define CLI_TARGETS_OPTION                                                                                                \
    {                                                                                                                     \
        "--targets", CLI_STRING, CLI_FIELD(targets), "KIND",                                                              \
            "what the model is to answer: one-hot or integer labels,\nor input (default: by the model's loss and output)" \
    }
#define CLI_PIXELS_OPTION                                                                                            \
    {                                                                                                                \
        "--pixels", CLI_STRING, CLI_FIELD(pixels), "RANGE",                                                          \
            "what images: gives the model: unit (0 to 1, default),\nsigned (-1 to 1, MobileNet) or bytes (0 to 255)" \
    }
#define CLI_NO_OPTION                 \
    {                                 \
        NULL, CLI_FLAG, 0, NULL, NULL \
    }

/* Reads argv[0..n) into *out. CLI_OK, or CLI_USAGE after printing why. *help: --help was among them. */
int cli_parse(const cli_command *command, int n, char **argv, cli_options *out, bool *help);
void cli_print_help(const cli_command *command);
/* "; did you mean "x"?" with the entry of the NULL-terminated list nearest to `word`, or "". In one of two buffers. */
const char *cli_suggestion(const char *word, const char *const *list);

/* ---- say.c: text and failures ---- */

void cli_install_hooks(void);
/* Text on standard output, on a line of its own. */
void cli_say(const char *fmt, ...) LKS_PRINTF(1, 2);
/* "lockstep: <sentence>" on standard error; returns CLI_FAILED or CLI_USAGE. */
int cli_fail(const char *fmt, ...) LKS_PRINTF(1, 2);
int cli_usage(const char *command, const char *fmt, ...) LKS_PRINTF(2, 3);
/* The library's last sentence. */
int cli_library_failed(void);
/* What would fail at the end is said before the work begins: a file that cannot be made there. */
int cli_check_writable(const char *path);

/* ---- interrupt.c: Ctrl-C ---- */

/* The first Ctrl-C is noted, the second ends the process. */
void cli_catch_interrupt(void);
bool cli_interrupted(void);

/* ---- measure.c: clocks and memory ---- */

void cli_measure_start(void);     /* first thing in main */
double cli_seconds(void);         /* monotonic */
double cli_process_seconds(void); /* since the process began, what came before main included */
double cli_peak_rss_mb(void);
int cli_usable_cores(void);

/* ---- line.c: the line of JSON that --json prints ---- */

typedef struct cli_line {
    char text[8192];
    size_t length;
} cli_line;
void cli_line_begin(cli_line *line);
void cli_line_number(cli_line *line, const char *key, double value); /* null if not finite */
void cli_line_int(cli_line *line, const char *key, int64_t value);
void cli_line_string(cli_line *line, const char *key, const char *value);
void cli_line_numbers(cli_line *line, const char *key, size_t n, const double *values);
void cli_line_print(cli_line *line);

#endif
