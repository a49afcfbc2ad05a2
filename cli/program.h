/* program.h - what fit, evaluate, predict, plan and bench have in common: a model with its settings, and data made ready
 * for it. */
#ifndef LOCKSTEP_CLI_PROGRAM_H
#define LOCKSTEP_CLI_PROGRAM_H

#include "cli.h"

/* ---- model.c, builtin.c ---- */

/* A model that comes with the command, and its tutorial's settings. */
typedef struct cli_builtin {
    const char *name, *optimizer, *loss, *metrics;
    int64_t batch_size, epochs;
    bool of_digits; /* its data are MNIST */
    int (*check)(const char *command,
                 const char *settings);        /* "alpha=0.5,input=160": CLI_OK or CLI_USAGE; NULL: takes none */
    lks_model *(*build)(const char *settings); /* what check has passed, or "" */
} cli_builtin;
extern const cli_builtin cli_builtins[]; /* ended by a NULL name */

/* ---- mobilenet.c ---- */
int cli_mobilenet_settings(const char *command, const char *settings);
lks_model *cli_mobilenet(const char *settings);

typedef struct cli_program {
    lks_model *model;
    const cli_builtin *builtin; /* or NULL */
    lks_strategy *strategy;     /* held; NULL: none asked for */
    int64_t batch_size;         /* as asked, else the builtin's, else 32 */
    int64_t epochs;
} cli_program;

/* Opens --model under the strategy that --replicas and --virtual-shards ask for, and compiles it with the given settings,
 * the builtin's or those in the file. On failure nothing is left open. */
int cli_open_program(const char *command, const cli_options *options, cli_program *out);
void cli_close_program(cli_program *program);
/* CLI_USAGE if the model has no loss, said before any data are read. */
int cli_check_loss(const char *command, const cli_options *options, const cli_program *program);

/* ---- data.c, targets.c ---- */

/* How the answers are put: one-hot rows, class numbers, as in the file, or the input itself. */
typedef enum cli_targets { CLI_AS_GIVEN, CLI_ONE_HOT, CLI_INTEGER, CLI_INPUT } cli_targets;

/* One split of the data: N examples and their answers. */
typedef struct cli_set {
    lks_tensor *x, *y; /* y NULL: no answers, or the input itself */
    bool pixels;       /* x is uint8 and the model wants x / 255 */
    cli_targets targets;
    int64_t classes; /* of one-hot rows */
} cli_set;

/* Reads split "train" or "test" of --data as the program's model wants it. */
int cli_open_set(const char *command, const cli_options *options, const cli_program *program, const char *split,
                 cli_set *out);
/* images.c: the pictures of a folder, in the size that the model takes. */
int cli_read_images(const char *command, const cli_options *options, const cli_program *program, const char *split,
                    cli_set *out);
/* Part of it: settles set->targets and puts the answers in that form. */
int cli_settle_targets(const char *command, const cli_options *options, const cli_program *program, cli_set *set);
/* Part of it: n examples made up for the model. */
int cli_random_data(const cli_program *program, int64_t n, cli_set *out);
void cli_close_set(cli_set *set);
int64_t cli_set_size(const cli_set *set);
/* The last `share` of the set's examples become *tail. */
int cli_split_set(cli_set *set, double share, cli_set *tail);

/* The first tutorial's pipeline, stage by stage: map, shuffle(256), batch, repeat, prefetch. */
lks_dataset *cli_set_pipeline(const cli_set *set, int64_t batch_size, int64_t epochs, int64_t seed);
/* The set as arrays; pictures stay bytes, and the step divides them. */
lks_arrays cli_set_arrays(const cli_set *set);

/* ---- draw.c ---- */

/* The most likely class of each row as int64; NULL if the rows are no classes (or there is no memory). */
lks_tensor *cli_classes(const lks_tensor *predictions);
int cli_draw_predictions(const char *path, const cli_set *set, lks_tensor *predictions);

/* ---- train.c: one fit with everything measured; used by fit and bench ---- */

typedef struct cli_training {
    const cli_program *program;
    const cli_set *train, *test; /* test NULL: no validation */
    int64_t epochs, steps_per_epoch, verbose, threads, seed;
    bool pipeline, shuffle;
    const char *backup; /* folder, or NULL */
    int64_t save_freq;
} cli_training;

typedef struct cli_trained {
    lks_history *history; /* released by the caller */
    double start_s;       /* process start to the end of the first step */
    int64_t examples;     /* an epoch */
} cli_trained;

int cli_train(const cli_training *training, cli_trained *out);
/* Median seconds of the epochs after the first (or of the only one). */
double cli_median_epoch(const lks_history *history);
/* Adds threads, instruction set, slices, shards and replicas as they really ran. */
int cli_line_ran(cli_line *line, const cli_program *program);

#endif
