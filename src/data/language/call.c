/* call.c - words and their arguments: found, checked, read. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/words.h"
#include "language.h"

const lks_word *lks__word_find(const lks_word *table, const char *word, const char *what)
{
    const char *name[128];
    size_t n = 0;

    for (; table[n].name != NULL && n + 1 < sizeof name / sizeof *name; n++) {
        if (strcmp(table[n].name, word) == 0) return &table[n];
        name[n] = table[n].name;
    }
    name[n] = NULL;
    lks__no_such(LKS_E_NOTFOUND, what, word, name);
    return NULL;
}

/* ---- checks ---- */

static bool list_of(const json_t *v, bool (*one)(const json_t *v))
{
    for (size_t i = 0; i < json_array_size(v); i++)
        if (!one(json_array_get(v, i))) return false;
    return json_is_array(v);
}

/* Longer ones would not fit where lks__call_ints and lks__call_numbers put them. */
static bool short_list(const json_t *v, bool (*one)(const json_t *v))
{
    return list_of(v, one) && json_array_size(v) <= LKS_MOST_LIST;
}

static bool is_int(const json_t *v)
{
    return json_is_integer(v);
}

static bool is_number(const json_t *v)
{
    return json_is_number(v);
}

static bool is_text(const json_t *v)
{
    return json_is_string(v);
}

/* NULL, or what it must be. */
static const char *wants(char kind, const json_t *v)
{
    switch (kind) {
    case 'i': return json_is_integer(v) ? NULL : "a whole number";
    case 'n': return json_is_number(v) ? NULL : "a number";
    case 'b': return json_is_boolean(v) ? NULL : "true or false";
    case 's': return json_is_string(v) ? NULL : "a text";
    case 'l': return json_is_integer(v) || short_list(v, is_int) ? NULL : "a whole number or a list of at most 256";
    case 'm': return short_list(v, is_number) ? NULL : "a list of at most 256 numbers";
    case 'N': return json_is_string(v) || list_of(v, is_text) ? NULL : "a name or a list of names";
    case 'p': return json_is_array(v) ? NULL : "a list of pipelines";
    default: return NULL;
    }
}

/* A pipeline that lacks one would mean something else than it says: take nothing, say. Only the first is named. */
static lks_status check_needed(const lks_call *c, const char *arguments)
{
    for (const char *at = arguments; *at != '\0'; at += strspn(at, " ")) {
        const size_t whole = strcspn(at, " "), length = strcspn(at, ":");
        char name[64];

        if (at[whole - 1] == '!' && length < sizeof name) {
            memcpy(name, at, length);
            name[length] = '\0';
            if (lks__call_value(c, name) == NULL) return lks__fail(LKS_E_ARG, "\"%s\" needs \"%s\"", c->word, name);
        }
        at += whole;
    }
    return LKS_OK;
}

/* The kind of an argument, 0 if there is none of this name. */
static char kind_of(const char *arguments, const char *key)
{
    size_t n = strlen(key);

    for (const char *at = arguments; *at != '\0'; at += strspn(at, " ")) {
        size_t length = strcspn(at, ":");
        if (length == n && memcmp(at, key, n) == 0) return at[length + 1];
        at += strcspn(at, " ");
    }
    return 0;
}

static lks_status unknown(const lks_call *c, const lks_word *w, const char *key)
{
    char copy[512], list[400], *rest = copy;
    const char *name[32], *near;
    size_t n = 0;

    if (strlen(w->arguments) < sizeof copy) memcpy(copy, w->arguments, strlen(w->arguments) + 1);
    else copy[0] = '\0';
    while (*rest != '\0' && n + 1 < sizeof name / sizeof *name) {
        char *end = rest + strcspn(rest, ":"), *next = end + strcspn(end, " ");
        name[n++] = rest;
        if (*end != '\0') *end = '\0';
        rest = *next == '\0' ? next : next + 1;
    }
    name[n] = NULL;
    if (n == 0) return lks__fail(LKS_E_ARG, "\"%s\" has no argument \"%.80s\"; it takes none", c->word, key);
    near = lks__nearest(key, name);
    if (near != NULL)
        return lks__fail(LKS_E_ARG, "\"%s\" has no argument \"%.80s\"; did you mean \"%s\"?", c->word, key, near);
    lks__words_join(name, list, sizeof list);
    return lks__fail(LKS_E_ARG, "\"%s\" has no argument \"%.80s\"; it takes %s", c->word, key, list);
}

lks_status lks__call_check(const lks_call *c, const lks_word *w, const char *head)
{
    const char *key;
    json_t *v;

    json_object_foreach((json_t *)c->json, key, v)
    {
        char kind = kind_of(w->arguments, key);
        const char *want;
        if (strcmp(key, head) == 0) continue;
        if (kind == 0) return unknown(c, w, key);
        want = json_is_null(v) ? NULL : wants(kind, v);
        if (want != NULL) return lks__fail(LKS_E_ARG, "\"%s\" of \"%s\" must be %s", key, c->word, want);
    }
    return check_needed(c, w->arguments);
}

/* ---- values ---- */

const json_t *lks__call_value(const lks_call *c, const char *key)
{
    const json_t *v = json_object_get(c->json, key);

    return json_is_null(v) ? NULL : v;
}

int64_t lks__call_int(const lks_call *c, const char *key, int64_t missing)
{
    const json_t *v = lks__call_value(c, key);

    return v != NULL ? json_integer_value(v) : missing;
}

int64_t lks__call_option(const lks_call *c, const char *key)
{
    const json_t *v = lks__call_value(c, key);

    return v == NULL ? 0 : json_integer_value(v) == 0 ? LKS_ZERO_INT : json_integer_value(v);
}

double lks__call_number(const lks_call *c, const char *key, double missing)
{
    const json_t *v = lks__call_value(c, key);

    return v != NULL ? json_number_value(v) : missing;
}

lks_tristate lks__call_truth(const lks_call *c, const char *key)
{
    const json_t *v = lks__call_value(c, key);

    return json_is_true(v) ? LKS_TRUE : json_is_false(v) ? LKS_FALSE : LKS_DEFAULT;
}

const char *lks__call_text(const lks_call *c, const char *key)
{
    return json_string_value(lks__call_value(c, key));
}

size_t lks__call_ints(const lks_call *c, const char *key, int64_t *out, size_t room)
{
    const json_t *v = lks__call_value(c, key);
    size_t n = json_is_integer(v) ? 1 : json_array_size(v);

    for (size_t i = 0; i < n && i < room; i++)
        out[i] = json_integer_value(json_is_integer(v) ? v : json_array_get(v, i));
    return n < room ? n : room;
}

size_t lks__call_numbers(const lks_call *c, const char *key, double *out, size_t room)
{
    const json_t *v = lks__call_value(c, key);
    size_t n = json_array_size(v);

    for (size_t i = 0; i < n && i < room; i++) out[i] = json_number_value(json_array_get(v, i));
    return n < room ? n : room;
}

lks_dtype lks__call_dtype(const json_t *name)
{
    const char *word = json_string_value(name), *list[LKS_STRING + 1];

    for (int d = 1; d <= LKS_STRING; d++) {
        list[d - 1] = lks_dtype_name((lks_dtype)d);
        if (word != NULL && strcmp(list[d - 1], word) == 0) return (lks_dtype)d;
    }
    list[LKS_STRING] = NULL;
    lks__no_such(LKS_E_ARG, "dtype", word == NULL ? "" : word, list);
    return (lks_dtype)0;
}

void lks__names_release(lks_names *l)
{
    for (size_t i = 0; l->text != NULL && i < l->n; i++) lks__free(l->text[i]);
    lks__free(l->text);
    *l = (lks_names){ .text = NULL };
}

lks_status lks__call_names(const lks_call *c, const char *key, lks_names *out)
{
    const json_t *v = lks__call_value(c, key);
    const char *folder = c->language->o.folder;
    size_t n = json_is_string(v) ? 1 : json_array_size(v);

    *out = (lks_names){ .text = NULL };
    if (v == NULL || n > LKS_MOST_NAMES)
        return lks__fail(LKS_E_ARG, "\"%s\" of \"%s\" must be a name or a list of at most %d", key, c->word,
                         (int)LKS_MOST_NAMES);
    out->text = lks__calloc(n + 1, sizeof *out->text);
    if (out->text == NULL) return lks__fail(LKS_E_NOMEM, "no memory for file names");
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_is_string(v) ? v : json_array_get(v, i));
        lks_text t = { 0 };
        if (name[0] != '/' && strstr(name, "://") == NULL && folder != NULL) lks__text_printf(&t, "%s/", folder);
        lks__text_puts(&t, name);
        if (lks__text_take(&t, &out->text[i]) != LKS_OK) {
            lks__names_release(out);
            return LKS_E_NOMEM;
        }
        out->n++;
    }
    return LKS_OK;
}

bool lks__call_inputs(const lks_call *c, lks_dataset **out, size_t *n)
{
    const json_t *list = lks__call_value(c, "inputs");

    *n = json_array_size(list);
    if (*n == 0 || *n > LKS_MOST_INPUTS) {
        lks__fail(LKS_E_ARG, "\"inputs\" of \"%s\" must be a list of 1 to %d pipelines", c->word, (int)LKS_MOST_INPUTS);
        return false;
    }
    for (size_t i = 0; i < *n; i++) out[i] = lks__language_build(c->language, json_array_get(list, i));
    return true;
}
