/* mobilenet.c - builtin:mobilenet_v2 and its settings: "alpha=0.35,input=160,classes=10,include_top=false,pooling=avg,weights=FILE".
 * input=160 is 160x160x3; 96x128 and 96x96x1 are understood too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

typedef struct settings {
    lks_mobilenet_v2_options o;
    char pooling[8], weights[1024];
} settings;

static bool whole_number(const char *text, const char **end, int64_t *out)
{
    char *stop;
    long long n = strtoll(text, &stop, 10);

    if (*text < '0' || *text > '9') return false;
    *out = n;
    *end = stop;
    return true;
}

/* "160", "96x128" or "96x96x1" */
static bool read_input(const char *text, int64_t shape[3])
{
    if (!whole_number(text, &text, &shape[0])) return false;
    shape[1] = shape[0];
    shape[2] = 3;
    for (int i = 1; i < 3 && *text == 'x'; i++)
        if (!whole_number(text + 1, &text, &shape[i])) return false;
    return *text == '\0';
}

static bool read_truth(const char *text, lks_tristate *out)
{
    bool yes = strcmp(text, "true") == 0;

    *out = yes ? LKS_TRUE : LKS_FALSE;
    return yes || strcmp(text, "false") == 0;
}

static bool read_value(const char *key, const char *value, settings *s)
{
    char *end;

    if (strcmp(key, "input") == 0) return read_input(value, s->o.input_shape);
    if (strcmp(key, "include_top") == 0) return read_truth(value, &s->o.include_top);
    if (strcmp(key, "classes") == 0) return whole_number(value, &value, &s->o.classes) && *value == '\0';
    if (strcmp(key, "alpha") == 0) {
        s->o.alpha = strtod(value, &end);
        return end != value && *end == '\0' && s->o.alpha > 0;
    }
    if (strcmp(key, "weights") == 0) {
        s->o.weights = s->weights;
        return (size_t)snprintf(s->weights, sizeof s->weights, "%s", value) < sizeof s->weights;
    }
    s->o.pooling = s->pooling;
    return (size_t)snprintf(s->pooling, sizeof s->pooling, "%s", value) < sizeof s->pooling;
}

/* NULL, or what is wrong with the text, as "key=value" or "key". *known: it is the value, not the key. */
static const char *read_settings(const char *text, settings *s, bool *known, char part[1100])
{
    static const char *const keys[] = { "alpha", "input", "classes", "include_top", "pooling", "weights", NULL };

    memset(s, 0, sizeof *s);
    s->o.struct_size = sizeof s->o;
    while (*text != '\0') {
        size_t n = strcspn(text, ","), k = 0, key;
        if (n > 1090) n = 1090;
        memcpy(part, text, n);
        part[n] = '\0';
        text += text[n] == ',' ? n + 1 : n;
        key = strcspn(part, "=");
        while (keys[k] != NULL && (strlen(keys[k]) != key || strncmp(keys[k], part, key) != 0)) k++;
        *known = keys[k] != NULL && part[key] == '=';
        if (!*known || !read_value(keys[k], part + key + 1, s)) return part;
    }
    return NULL;
}

int cli_mobilenet_settings(const char *command, const char *text)
{
    settings s;
    char part[1100];
    bool known = false;
    const char *wrong = read_settings(text, &s, &known, part);

    if (wrong == NULL) return CLI_OK;
    if (known) return cli_usage(command, "builtin:mobilenet_v2 does not understand %s", wrong);
    return cli_usage(command,
                     "builtin:mobilenet_v2 has the settings alpha, input, classes, include_top, pooling and "
                     "weights, as in alpha=0.35,input=160; found \"%s\"",
                     wrong);
}

lks_model *cli_mobilenet(const char *text)
{
    settings s;
    char part[1100];
    bool known;

    read_settings(text, &s, &known, part);
    return lks_mobilenet_v2_with(&s.o);
}
