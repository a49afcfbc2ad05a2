/* say.c - everything the command prints, but for tables: the library's output and warning hooks, and failures.
 * A sentence on standard error starts on a line of its own even when a progress bar was being drawn. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static bool mid_line;

static void print_output(void *user, const char *text, size_t length)
{
    (void)user;
    fwrite(text, 1, length, stdout);
    fflush(stdout);
    if (length > 0) mid_line = text[length - 1] != '\n';
}

static void end_line(void)
{
    if (mid_line) putchar('\n');
    mid_line = false;
    fflush(stdout);
}

static void print_warning(void *user, const char *sentence)
{
    (void)user;
    end_line();
    fprintf(stderr, "lockstep: warning: %s\n", sentence);
}

void cli_install_hooks(void)
{
    lks_set_output(print_output, NULL);
    lks_set_warnings(print_warning, NULL);
}

void cli_say(const char *fmt, ...)
{
    va_list args;

    end_line();
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    fflush(stdout);
}

int cli_fail(const char *fmt, ...)
{
    va_list args;

    end_line();
    fputs("lockstep: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    return CLI_FAILED;
}

int cli_usage(const char *command, const char *fmt, ...)
{
    va_list args;

    end_line();
    fputs("lockstep: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\nTry \"lockstep%s%s --help\".\n", command[0] != '\0' ? " " : "", command);
    return CLI_USAGE;
}

int cli_library_failed(void)
{
    const char *sentence = lks_last_error();

    return cli_fail("%s", sentence[0] != '\0' ? sentence : "out of memory");
}

int cli_check_writable(const char *path)
{
    char folder[4096];
    char *slash;

    snprintf(folder, sizeof folder, "%s", path);
    slash = strrchr(folder, '/');
    if (slash == NULL) snprintf(folder, sizeof folder, ".");
    else slash[slash == folder] = '\0';
    if (access(folder, W_OK | X_OK) != 0)
        return cli_fail("%s cannot be written: %s: %s", path, folder, strerror(errno));
    return CLI_OK;
}
