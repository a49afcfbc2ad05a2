/* model.c - "--model": builtin:NAME, FILE.json or FILE.keras, made under a strategy and compiled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* name may go on with ":" and settings. */
static const cli_builtin *find_builtin(const char *name)
{
    size_t n = strcspn(name, ":");

    for (const cli_builtin *b = cli_builtins; b->name != NULL; b++)
        if (strncmp(b->name, name, n) == 0 && b->name[n] == '\0') return b;
    return NULL;
}

static int unknown_builtin(const char *command, const char *name)
{
    const char *names[16];
    size_t n = 0;

    for (const cli_builtin *b = cli_builtins; b->name != NULL && n < 15; b++) names[n++] = b->name;
    names[n] = NULL;
    return cli_usage(command, "there is no builtin:%s%s", name, cli_suggestion(name, names));
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);

    return n >= k && strcmp(text + n - k, end) == 0;
}

/* The whole file as a string; NULL after saying why. */
static char *read_text(const char *path)
{
    enum { LIMIT = 64 << 20 };
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, capacity = 0, got = 1;

    if (file == NULL) {
        cli_fail("%s cannot be opened: no such file, or no right to read it", path);
        return NULL;
    }
    while (got > 0 && n < LIMIT) {
        if (capacity - n < 4096) {
            char *more = realloc(text, capacity = 2 * capacity + 65536);
            if (more == NULL) break;
            text = more;
        }
        got = fread(text + n, 1, capacity - n - 1, file);
        n += got;
    }
    if (ferror(file) || got > 0) {
        cli_fail("%s cannot be read to its end", path);
        free(text);
        text = NULL;
    } else {
        text[n] = '\0';
    }
    fclose(file);
    return text;
}

static lks_model *read_json(const char *path)
{
    char *text = read_text(path);
    lks_model *model;

    if (text == NULL) return NULL;
    model = lks_model_from_json(text);
    if (model == NULL) cli_fail("%s: %s", path, lks_last_error());
    free(text);
    return model;
}

static int open_builtin(const char *command, const char *name, cli_program *out)
{
    const cli_builtin *b = out->builtin = find_builtin(name);
    const char *settings = name + strcspn(name, ":");

    if (b == NULL) return unknown_builtin(command, name);
    if (*settings == ':') settings++;
    if (*settings != '\0' && b->check == NULL)
        return cli_usage(command, "builtin:%s takes no settings, found \"%s\"", b->name, settings);
    if (*settings != '\0' && b->check(command, settings) != CLI_OK) return CLI_USAGE;
    out->model = b->build(settings);
    return out->model != NULL ? CLI_OK : cli_library_failed();
}

static int open_model(const char *command, const char *name, cli_program *out)
{
    if (strncmp(name, "builtin:", 8) == 0) return open_builtin(command, name + 8, out);
    if (find_builtin(name) != NULL)
        return cli_usage(command, "%s is no file; did you mean \"builtin:%s\"?", name, name);
    if (ends_with(name, ".json")) {
        out->model = read_json(name);
        return out->model != NULL ? CLI_OK : CLI_FAILED;
    }
    out->model = lks_load(name);
    return out->model != NULL ? CLI_OK : cli_library_failed();
}

/* A file's own settings stay unless new ones are given; those are a whole set, as Keras' compile takes it. */
static int compile(const char *command, const cli_options *o, cli_program *p)
{
    const cli_builtin *b = p->builtin;
    const char *optimizer = o->optimizer, *loss = o->loss, *metrics = o->metrics;
    lks_status status;

    if (b == NULL && optimizer == NULL && loss == NULL && metrics == NULL) return CLI_OK;
    if (b != NULL) {
        if (optimizer == NULL) optimizer = b->optimizer;
        if (metrics == NULL && loss == NULL) metrics = b->metrics;
        if (loss == NULL) loss = b->loss;
    }
    if (loss == NULL)
        return cli_usage(command, "%s compiles the model anew, which needs --loss too",
                         optimizer != NULL ? "--optimizer" : "--metrics");
    if (metrics != NULL && strcmp(metrics, "none") == 0) metrics = NULL;
    status = lks_compile(p->model, .optimizer = optimizer, .loss = loss, .metrics = metrics);
    if (status == LKS_OK) return CLI_OK;
    cli_library_failed();
    return status == LKS_E_ARG || status == LKS_E_NOTFOUND ? CLI_USAGE : CLI_FAILED; /* a word that nothing is called */
}

static int check_world(const char *command, const char *word)
{
    static const char *const worlds[] = { "any_world", "same_world", "fastest", NULL };

    if (word == NULL) return CLI_OK;
    for (int i = 0; worlds[i] != NULL; i++)
        if (strcmp(word, worlds[i]) == 0) return CLI_OK;
    return cli_usage(command, "--reproducible \"%s\" is none of any_world, same_world and fastest%s", word,
                     cli_suggestion(word, worlds));
}

int cli_open_program(const char *command, const cli_options *o, cli_program *out)
{
    cli_program p = { NULL, NULL, NULL, 0, 0 };
    int code;

    if (o->model == NULL) return cli_usage(command, "%s needs --model, such as --model builtin:mnist_cnn", command);
    code = check_world(command, o->reproducible);
    if (code != CLI_OK) return code;
    lks_set_seed((uint64_t)o->seed);
    if (o->replicas > 0 || o->virtual_shards > 0 || o->reproducible != NULL)
        p.strategy = lks_mirrored(.replicas = o->replicas, .virtual_shards = o->virtual_shards,
                                  .reproducible = o->reproducible);
    lks_scope_enter(p.strategy);
    code = open_model(command, o->model, &p);
    if (code == CLI_OK) code = compile(command, o, &p);
    lks_scope_exit(p.strategy);
    if (code == CLI_OK && lks_model_status(p.model) != LKS_OK) code = cli_library_failed();
    if (code != CLI_OK) {
        cli_close_program(&p);
        return code;
    }
    p.batch_size = o->batch_size > 0 ? o->batch_size : p.builtin != NULL ? p.builtin->batch_size : 32;
    p.epochs = o->epochs > 0 ? o->epochs : p.builtin != NULL ? p.builtin->epochs : 1;
    *out = p;
    return CLI_OK;
}

int cli_check_loss(const char *command, const cli_options *o, const cli_program *p)
{
    if (lks_model_is_compiled(p->model)) return CLI_OK;
    return cli_usage(command, "%s says nothing of a loss, so %s needs --loss, such as --loss mse", o->model, command);
}

void cli_close_program(cli_program *p)
{
    lks_model_release(p->model);
    lks_strategy_release(p->strategy);
    p->model = NULL;
    p->strategy = NULL;
}
