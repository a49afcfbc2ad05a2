/* options.c - reading and explaining options. "--name value" and "--name=value" are the same; each option at most once,
 * so that a forgotten one in the middle of a long line is noticed. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MAX_OPTIONS = 32 };

static const cli_option *find(const cli_command *command, const char *name, size_t length)
{
    for (const cli_option *o = command->options; o->name != NULL; o++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
    return NULL;
}

static int unknown(const cli_command *command, const char *word, size_t length)
{
    const char *names[MAX_OPTIONS + 2];
    char name[64];
    size_t n = 0;

    for (const cli_option *o = command->options; o->name != NULL && n < MAX_OPTIONS; o++) names[n++] = o->name;
    names[n++] = "--help";
    names[n] = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), word);
    if (name[0] != '-') return cli_usage(command->name, "%s takes options only, not \"%s\"", command->name, name);
    return cli_usage(command->name, "%s has no option %s%s", command->name, name, cli_suggestion(name, names));
}

static bool read_whole(const char *text, int64_t least, int64_t *out)
{
    char *end;
    long long v;

    errno = 0;
    v = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || v < least) return false;
    *out = v;
    return true;
}

static bool read_fraction(const char *text, double *out)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end != '\0' || !(v > 0 && v < 1)) return false;
    *out = v;
    return true;
}

static int set(const cli_command *command, const cli_option *o, const char *value, cli_options *out)
{
    static const char *const expected[] = { [CLI_COUNT] = "a whole number from 1",
                                            [CLI_NUMBER] = "a whole number from 0",
                                            [CLI_FRACTION] = "a number between 0 and 1" };
    char *field = (char *)out + o->offset;
    int64_t whole = 0;
    double fraction = 0;
    bool good = true;

    switch (o->kind) {
    case CLI_STRING: memcpy(field, &value, sizeof value); return CLI_OK;
    case CLI_COUNT:
    case CLI_NUMBER:
        good = read_whole(value, o->kind == CLI_COUNT, &whole);
        memcpy(field, &whole, sizeof whole);
        break;
    case CLI_FRACTION:
        good = read_fraction(value, &fraction);
        memcpy(field, &fraction, sizeof fraction);
        break;
    case CLI_FLAG: break;
    }
    if (!good) return cli_usage(command->name, "%s takes %s, not \"%s\"", o->name, expected[o->kind], value);
    return CLI_OK;
}

/* One option with its value, wherever that stands; *used words of argv were taken. */
static int parse_one(const cli_command *command, int n, char **argv, cli_options *out, bool seen[], int *used)
{
    size_t length = strcspn(argv[0], "=");
    const char *value = argv[0][length] == '=' ? argv[0] + length + 1 : NULL;
    const cli_option *o = find(command, argv[0], length);

    *used = 1;
    if (o == NULL) return unknown(command, argv[0], length);
    if (seen[o - command->options]) return cli_usage(command->name, "%s is given twice", o->name);
    seen[o - command->options] = true;
    if (o->kind == CLI_FLAG) {
        bool yes = true;
        if (value != NULL) return cli_usage(command->name, "%s takes no value", o->name);
        memcpy((char *)out + o->offset, &yes, sizeof yes);
        return CLI_OK;
    }
    if (value == NULL) {
        if (n < 2) return cli_usage(command->name, "%s needs a value: %s %s", o->name, o->name, o->value);
        value = argv[1];
        *used = 2;
    }
    return set(command, o, value, out);
}

int cli_parse(const cli_command *command, int n, char **argv, cli_options *out, bool *help)
{
    bool seen[MAX_OPTIONS] = { false };
    const cli_option *verbose = find(command, "--verbose", strlen("--verbose"));

    memset(out, 0, sizeof *out);
    out->verbose = 1;
    *help = false;
    /* "data bench PIPELINE": two words before the options */
    for (; command == &cli_data && n > 0 && (argv[0][0] != '-' || argv[0][1] == '\0') && out->path == NULL;
         n--, argv++) {
        if (out->what == NULL) out->what = argv[0];
        else out->path = argv[0];
    }
    for (int i = 0, used; i < n; i += used) {
        int code;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            *help = true;
            return CLI_OK;
        }
        code = parse_one(command, n - i, argv + i, out, seen, &used);
        if (code != CLI_OK) return code;
    }
    if (out->verbose > 2)
        return cli_usage(command->name, "--verbose takes 0, 1 or 2, not %lld", (long long)out->verbose);
    out->verbose_given = verbose != NULL && seen[verbose - command->options];
    return CLI_OK;
}

static void print_option(const cli_option *o)
{
    char head[64];
    const char *text = o->help;

    snprintf(head, sizeof head, "%s%s%s", o->name, o->value != NULL ? " " : "", o->value != NULL ? o->value : "");
    for (bool first = true; *text != '\0'; first = false) {
        size_t length = strcspn(text, "\n");
        printf("  %-26s %.*s\n", first ? head : "", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

void cli_print_help(const cli_command *command)
{
    printf("lockstep %s - %s\n\n%s\n\nOptions:\n", command->name, command->line, command->text);
    for (const cli_option *o = command->options; o->name != NULL; o++) print_option(o);
    print_option(&(const cli_option){ "--help", CLI_FLAG, 0, NULL, "print this" });
    printf("\nExamples:\n%s\n", command->examples);
}
