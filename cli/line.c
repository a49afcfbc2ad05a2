/* line.c - one line of JSON. Keys are ours or metric names; values are finite numbers and plain words, so escaping is two
 * characters. What no longer fits is left out whole. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

void cli_line_begin(cli_line *line)
{
    line->length = 0;
}

static void add(cli_line *line, const char *key, const char *value)
{
    char item[4096];
    int n = snprintf(item, sizeof item, "%s\"%s\": %s", line->length > 0 ? ", " : "", key, value);

    if (n < 0 || (size_t)n >= sizeof item || line->length + (size_t)n >= sizeof line->text) return;
    memcpy(line->text + line->length, item, (size_t)n + 1);
    line->length += (size_t)n;
}

static int write_number(char *to, size_t size, double value)
{
    return isfinite(value) ? snprintf(to, size, "%.9g", value) : snprintf(to, size, "null");
}

void cli_line_number(cli_line *line, const char *key, double value)
{
    char text[64];

    write_number(text, sizeof text, value);
    add(line, key, text);
}

void cli_line_int(cli_line *line, const char *key, int64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)value);
    add(line, key, text);
}

void cli_line_string(cli_line *line, const char *key, const char *value)
{
    char text[1024];
    size_t n = 0;

    text[n++] = '"';
    for (; *value != '\0' && n + 3 < sizeof text; value++) {
        if ((unsigned char)*value < 0x20) continue;
        if (*value == '"' || *value == '\\') text[n++] = '\\';
        text[n++] = *value;
    }
    text[n++] = '"';
    text[n] = '\0';
    add(line, key, text);
}

void cli_line_numbers(cli_line *line, const char *key, size_t count, const double *values)
{
    char text[4000] = "[";
    size_t n = 1;

    for (size_t i = 0; i < count && n + 32 < sizeof text; i++) {
        if (i > 0) n += (size_t)snprintf(text + n, sizeof text - n, ", ");
        n += (size_t)write_number(text + n, sizeof text - n, values[i]);
    }
    text[n++] = ']';
    text[n] = '\0';
    add(line, key, text);
}

void cli_line_print(cli_line *line)
{
    printf("{%s}\n", line->length > 0 ? line->text : "");
    fflush(stdout);
}
