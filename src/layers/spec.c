/* spec.c - see config.h: objects of Keras written as one string. The rule that keeps it simple: a spec is nothing but another
 * spelling of {"class_name": name, "config": {...}}, so whoever reads it sees JSON only.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "config.h"

json_t *lks__spec_value(const char *text)
{
    int64_t integer;
    double real;

    if (lks__same_word(text, "none") || lks__same_word(text, "null")) return json_null();
    if (lks__same_word(text, "true")) return json_true();
    if (lks__same_word(text, "false")) return json_false();
    if (lks__parse_int(text, &integer)) return json_integer(integer);
    if (lks__parse_double(text, &real)) return json_real(real);
    if (*text == '[' || *text == '{' || *text == '"') return json_loads(text, JSON_DECODE_ANY, NULL);
    return json_string(text);
}

static int append_bytes(const char *bytes, size_t n, void *text)
{
    lks__text_append(text, bytes, n);
    return 0;
}

void lks__json_text(const json_t *value, lks_text *text)
{
    if (json_dump_callback(value, append_bytes, text, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0) {
        text->failed = true;
    }
}

/* The end of a value: the next comma outside brackets. */
static const char *value_end(const char *s)
{
    int depth = 0;

    for (; *s != '\0'; s++) {
        if (*s == '[' || *s == '{') depth++;
        if (*s == ']' || *s == '}') depth--;
        if (*s == ',' && depth <= 0) break;
    }
    return s;
}

static lks_status add_pair(const char *spec, const char *text, size_t n, json_t *config)
{
    char *pair = lks__malloc(n + 1), *equals;
    json_t *value;
    int failed;

    if (pair == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    memcpy(pair, text, n);
    pair[n] = '\0';
    equals = strchr(pair, '=');
    if (equals == NULL || equals == pair) {
        lks__fail(LKS_E_ARG, "\"%s\": expected key=value after the colon, found \"%s\"", spec, pair);
        lks__free(pair);
        return LKS_E_ARG;
    }
    *equals = '\0';
    value = lks__spec_value(equals + 1);
    failed = value == NULL || json_object_set_new(config, pair, value) != 0;
    if (failed)
        lks__fail(LKS_E_ARG, "\"%s\": the value of %s is neither a finite number nor a word nor JSON", spec, pair);
    lks__free(pair);
    return failed ? LKS_E_ARG : LKS_OK;
}

lks_status lks__spec_parse(const char *spec, char *name, json_t **config)
{
    size_t n = strcspn(spec, ":");
    const char *s = spec + n;
    lks_status status = LKS_OK;
    json_t *object;

    if (n == 0 || n >= LKS_SPEC_NAME) return lks__fail(LKS_E_ARG, "\"%.80s\" is not the name of anything", spec);
    memcpy(name, spec, n);
    name[n] = '\0';
    object = json_object();
    if (object == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    while (status == LKS_OK && *s != '\0' && s[1] != '\0') {
        const char *end = value_end(s + 1);
        status = add_pair(spec, s + 1, (size_t)(end - s - 1), object);
        s = end;
    }
    if (status != LKS_OK) {
        json_decref(object);
        return status;
    }
    *config = object;
    return LKS_OK;
}

static void append_config(lks_text *text, const json_t *config)
{
    const char *separator = ":", *key;
    json_t *value;

    json_object_foreach((json_t *)config, key, value)
    {
        if (json_is_null(value)) continue;
        lks__text_printf(text, "%s%s=", separator, key);
        separator = ",";
        if (json_is_string(value)) lks__text_puts(text, json_string_value(value));
        else lks__json_text(value, text);
    }
}

lks_status lks__spec_from_json(const json_t *value, char **spec)
{
    const char *class_name;
    const json_t *config;
    lks_text text = { 0 };

    if (json_is_string(value)) {
        *spec = lks__strdup(json_string_value(value));
        return *spec != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "out of memory");
    }
    LKS_TRY(lks__config_split("object", value, &class_name, &config));
    if (json_is_string(config)) { /* a function: its name is the config */
        *spec = lks__strdup(json_string_value(config));
        return *spec != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "out of memory");
    }
    lks__text_puts(&text, class_name);
    append_config(&text, config);
    return lks__text_take(&text, spec);
}
