/* classes_find.c - see config.h: classes found by name, and objects of Keras from and to JSON. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/words.h"
#include "config.h"

static bool known_as(const lks_config_class *c, const char *word)
{
    if (lks__same_word(c->name, word) || lks__same_word(c->snake, word)) return true;
    for (size_t i = 0; c->aliases != NULL && c->aliases[i] != NULL; i++) {
        if (lks__same_word(c->aliases[i], word)) return true;
    }
    return false;
}

enum { NAMES = 256 };

/* Our words for the classes of a family, and after them every other spelling; the former stand in lists. */
static size_t add_names(const lks_config_family *family, bool others, const char **names, size_t n)
{
    for (const lks_config_class *const *c = family->list; *c != NULL; c++) {
        if (!others && n + 1 < NAMES) names[n++] = (*c)->snake;
        if (others && n + 1 < NAMES) names[n++] = (*c)->name;
        for (size_t i = 0; others && (*c)->aliases != NULL && (*c)->aliases[i] != NULL && n + 1 < NAMES; i++)
            names[n++] = (*c)->aliases[i];
    }
    names[n] = NULL;
    return n;
}

const lks_config_class *lks__config_find(const lks_config_family *family, const char *word)
{
    const char *names[NAMES];
    size_t n;

    for (const lks_config_class *const *c = family->list; *c != NULL; c++)
        if (known_as(*c, word)) return *c;
    n = add_names(family, false, names, 0);
    add_names(family, true, names, n);
    if (lks__nearest(word, names) == NULL) names[n] = NULL;
    lks__no_such(LKS_E_ARG, family->what, word, names);
    return NULL;
}

lks_status lks__config_split(const char *what, const json_t *value, const char **class_name, const json_t **config)
{
    const json_t *name = json_object_get(value, "class_name"), *inner = json_object_get(value, "config");

    if (!json_is_object(value))
        return lks__fail(LKS_E_FORMAT, "%s: expected a name or an object with a class_name", what);
    if (!json_is_string(name)) return lks__fail(LKS_E_FORMAT, "%s: class_name is missing", what);
    if (strlen(json_string_value(name)) != json_string_length(name)) {
        return lks__fail(LKS_E_FORMAT, "%s: class_name holds a NUL byte", what);
    }
    if (strcmp(json_string_value(name), "__lambda__") == 0) {
        return lks__fail(LKS_E_UNSUPPORTED, "%s: a Python lambda cannot be read; nothing of it is run", what);
    }
    if (inner == NULL) return lks__fail(LKS_E_FORMAT, "%s %s: config is missing", what, json_string_value(name));
    *class_name = json_string_value(name);
    *config = inner;
    return LKS_OK;
}

lks_status lks__config_from_spec(const lks_config_family *family, const char *spec, const lks_config_class **class_,
                                 void **options)
{
    char name[LKS_SPEC_NAME];
    const lks_config_class *c;
    lks_status status;
    json_t *config;

    LKS_TRY(lks__spec_parse(spec, name, &config));
    c = lks__config_find(family, name);
    status = c == NULL ? LKS_E_ARG : lks__options_from_json(c->fields, c->options_size, config, true, options);
    json_decref(config);
    if (status != LKS_OK) return c == NULL ? status : lks__context(status, "%s", c->name);
    *class_ = c;
    return LKS_OK;
}

lks_status lks__config_from_json(const lks_config_family *family, const json_t *value, const lks_config_class **class_,
                                 void **options)
{
    const char *name = NULL;
    const json_t *config = NULL;
    const lks_config_class *c;
    lks_status status;

    if (json_is_string(value)) return lks__config_from_spec(family, json_string_value(value), class_, options);
    LKS_TRY(lks__config_split(family->what, value, &name, &config));
    if (json_is_string(config)) return lks__config_from_spec(family, json_string_value(config), class_, options);
    c = lks__config_find(family, name);
    if (c == NULL) return LKS_E_ARG;
    status = lks__options_from_json(c->fields, c->options_size, config, false, options);
    if (status != LKS_OK) return lks__context(status, "%s", c->name);
    *class_ = c;
    return LKS_OK;
}

lks_status lks__config_object(const char *module, const char *class_name, json_t *config, json_t **out)
{
    json_t *object = json_pack("{s:s, s:s, s:o, s:n}", "module", module, "class_name", class_name, "config", config,
                               "registered_name");

    if (object == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    *out = object;
    return LKS_OK;
}

lks_status lks__config_to_json(const lks_config_family *family, const lks_config_class *class_, const void *options,
                               json_t **out)
{
    json_t *config = json_object();
    lks_status status;

    if (config == NULL) return lks__fail(LKS_E_NOMEM, "out of memory");
    status = lks__options_to_json(class_->fields, options, config);
    if (status == LKS_OK) return lks__config_object(family->module, class_->name, config, out);
    json_decref(config);
    return status;
}

lks_status lks__config_check(const lks_config_family *family, const char *spec)
{
    const lks_config_class *c = NULL;
    void *options = NULL;

    LKS_TRY(lks__config_from_spec(family, spec, &c, &options));
    lks__options_free(c->fields, options);
    return LKS_OK;
}

lks_status lks__config_spec_to_json(const lks_config_family *family, const char *spec, json_t **out)
{
    const lks_config_class *c = NULL;
    void *options = NULL;
    lks_status status;

    LKS_TRY(lks__config_from_spec(family, spec, &c, &options));
    status = lks__config_to_json(family, c, options, out);
    lks__options_free(c->fields, options);
    return status;
}
