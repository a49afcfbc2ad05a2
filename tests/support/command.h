/* command.h - for tests: runs the built command or an example in a folder of its own and keeps what it prints. */
#ifndef LKS_TESTS_COMMAND_H
#define LKS_TESTS_COMMAND_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct command_result {
    int code;                        /* exit code; -1: ended by a signal */
    char out[1 << 16], err[1 << 14]; /* cut to what fits */
} command_result;

static inline void command_read(const char *path, char *to, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t n = file != NULL ? fread(to, 1, size - 1, file) : 0;

    to[n] = '\0';
    if (file != NULL) fclose(file);
}

/* A folder that the process removes when it ends well. */
static inline const char *command_folder(void)
{
    static char folder[256];
    const char *base = getenv("TMPDIR");

    if (folder[0] != '\0') return folder;
    snprintf(folder, sizeof folder, "%s/lockstep-test-XXXXXX", base != NULL ? base : "/var/tmp");
    return mkdtemp(folder) != NULL ? folder : NULL;
}

static inline void command_remove_folder(void)
{
    char line[512];

    snprintf(line, sizeof line, "rm -rf '%s'", command_folder());
    if (system(line) != 0) fprintf(stderr, "%s failed\n", line);
}

/* `program` and its words, run by the shell in the folder: quotes work as there. */
static inline void command_run(command_result *r, const char *program, const char *fmt, ...)
{
    char words[4096], line[8192], path[512];
    va_list args;
    int status;

    va_start(args, fmt);
    vsnprintf(words, sizeof words, fmt, args);
    va_end(args);
    snprintf(line, sizeof line, "cd '%s' && '%s' %s >stdout.txt 2>stderr.txt </dev/null", command_folder(), program,
             words);
    status = system(line);
    r->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    snprintf(path, sizeof path, "%s/stdout.txt", command_folder());
    command_read(path, r->out, sizeof r->out);
    snprintf(path, sizeof path, "%s/stderr.txt", command_folder());
    command_read(path, r->err, sizeof r->err);
}

/* The last line of text, without its newline. */
static inline char *command_last_line(char *text)
{
    size_t n = strlen(text);
    char *start;

    if (n > 0 && text[n - 1] == '\n') text[n - 1] = '\0';
    start = strrchr(text, '\n');
    return start != NULL ? start + 1 : text;
}

#endif
