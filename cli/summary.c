/* summary.c - "lockstep summary": the table of layers that Keras prints. */
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "program.h"

/* Keras' rule: 88 columns, less where the terminal is narrower; 0 leaves it to the library, as in a pipe. */
static int64_t line_length(const cli_options *o)
{
    struct winsize size;
    int64_t columns;

    if (o->line_length > 0) return o->line_length;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 24) return 0;
    columns = size.ws_col - 4;
    return columns < 88 ? columns : 88;
}

static int run(const cli_options *o)
{
    cli_program p;
    char *text = NULL;
    int code = cli_open_program("summary", o, &p);

    if (code != CLI_OK) return code;
    if (lks_summary_text(p.model, line_length(o), &text) != LKS_OK) code = cli_library_failed();
    else cli_say("%s", text);
    lks_free(text);
    cli_close_program(&p);
    return code;
}

static const cli_option options[] = {
    CLI_MODEL_OPTION,
    { "--line-length", CLI_COUNT, CLI_FIELD(line_length), "N", "width of the table (default: the terminal's)" },
    CLI_NO_OPTION,
};

const cli_command cli_summary = {
    "summary",
    "print a model's layers",
    "Prints the layers of a model with the shape of what each puts out and its number of parameters, as Keras does.",
    "  lockstep summary --model builtin:mnist_autoencoder\n"
    "  lockstep summary --model mnist.keras",
    options,
    run,
};
