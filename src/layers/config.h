/* config.h - internal. One table a class says what its options are: it fills in defaults, checks ranges, reads Keras' JSON
 * and writes it. Layers, losses, metrics, optimizers, initializers, regularizers and constraints all use it.
 *
 * Options exist in two forms. As the user gives them a zero means the default, LKS_ZERO and LKS_ZERO_INT mean zero, and
 * strings are borrowed. Normalised (made by the functions here) every value is what it says, strings and lists are owned,
 * and "None" is NAN, LKS_NONE_INT or NULL.
 */
#ifndef LKS_LAYERS_CONFIG_H
#define LKS_LAYERS_CONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

#define LKS_NONE_INT (INT64_MIN + 1) /* None, of an integer option */

typedef enum lks_field_kind {
    LKS_FIELD_INT,         /* int64_t */
    LKS_FIELD_INT2,        /* int64_t[2]: 3 or [3, 3]; {3} of a user means {3, 3} */
    LKS_FIELD_INT22,       /* int64_t[2][2]: 1, [1, 2] or [[1, 1], [2, 2]] */
    LKS_FIELD_INTS,        /* int64_t[LKS_MAX_RANK], ended by 0; None as first entry; null entries are -1 */
    LKS_FIELD_FLOAT,       /* double */
    LKS_FIELD_FLOATS,      /* double, and where a list is given lks_numbers at `list` */
    LKS_FIELD_BOOL,        /* lks_tristate */
    LKS_FIELD_TEXT,        /* const char * */
    LKS_FIELD_ACTIVATION,  /* const char *: "relu", "leaky_relu:negative_slope=0.1"; None is "linear" */
    LKS_FIELD_INITIALIZER, /* const char *: "glorot_uniform", "random_normal:stddev=0.1" */
    LKS_FIELD_REGULARIZER, /* const char *: "l2", "l1_l2:l1=0.1,l2=0.2" */
    LKS_FIELD_CONSTRAINT,  /* const char *: "non_neg", "max_norm:max_value=2" */
    LKS_FIELD_SPEC,        /* const char *: a spec of any kind, written as a function */
    LKS_FIELD_RATE,        /* double learning rate, or a schedule's spec (const char *) at `list` */
    LKS_FIELD_NULL         /* stored nowhere, always null */
} lks_field_kind;

typedef enum lks_field_flags {
    LKS_FIELD_POSITIVE = 1,
    LKS_FIELD_NONNEGATIVE = 2,
    LKS_FIELD_FRACTION = 4,    /* 0..1 */
    LKS_FIELD_ROUNDED = 8,     /* Keras keeps it as float32 */
    LKS_FIELD_ONE_INT = 16,    /* a list of one is written as a number */
    LKS_FIELD_OMIT_NONE = 32,  /* not written while None */
    LKS_FIELD_NULLS = 64,      /* entries of -1 are written as null */
    LKS_FIELD_UNWRITTEN = 128, /* read, but Keras forgets to write it */
    LKS_FIELD_CHANGED = 256,   /* written only where it is not the default */
    LKS_FIELD_WHOLE = 512      /* a float that is written as an integer where it is one */
} lks_field_flags;

typedef struct lks_field {
    const char *key;
    lks_field_kind kind;
    size_t offset;
    const char *fallback; /* the default as text; "none" = None; NULL = must be given */
    unsigned flags;
    const char *const *words; /* the allowed values of a text; NULL = any */
    size_t list;
} lks_field;

/* A row of a table whose key is the member's name, and the row that ends it. */
#define LKS_FIELD(type, member, KIND, fallback, flags)                              \
    {                                                                               \
#member, LKS_FIELD_##KIND, offsetof(type, member), fallback, flags, NULL, 0 \
    }
#define LKS_FIELD_WORD(type, member, fallback, words)                          \
    {                                                                          \
#member, LKS_FIELD_TEXT, offsetof(type, member), fallback, 0, words, 0 \
    }
#define LKS_FIELD_LIST(type, member, KIND, fallback, flags, list)                                      \
    {                                                                                                  \
#member, LKS_FIELD_##KIND, offsetof(type, member), fallback, flags, NULL, offsetof(type, list) \
    }
#define LKS_FIELDS_END                            \
    {                                             \
        NULL, LKS_FIELD_NULL, 0, NULL, 0, NULL, 0 \
    }

/* Normalised options from a user's struct (NULL = all defaults; at most struct_size bytes of it are read). Members that are in no
 * row are copied. */
lks_status lks__options_create(const lks_field *fields, size_t size, const void *user, void **out);
/* The same from a JSON object. strict: a key that is in no row is an error with a suggestion, else it is ignored. */
lks_status lks__options_from_json(const lks_field *fields, size_t size, const json_t *config, bool strict, void **out);
void lks__options_free(const lks_field *fields, void *options); /* NULL is fine */
/* Appends the keys in the table's order. */
lks_status lks__options_to_json(const lks_field *fields, const void *options, json_t *into);

/* ---- specs: an object of Keras as one string, "name" or "name:key=value,key=value" ---- */

enum { LKS_SPEC_NAME = 64 };
/* Splits it; values become JSON numbers, true, false, null, lists, or strings. `name` has LKS_SPEC_NAME bytes. */
lks_status lks__spec_parse(const char *spec, char *name, json_t **config);
/* The spec of a string, a {"class_name", "config"} object or a function object. Keys whose value is null are left out. */
lks_status lks__spec_from_json(const json_t *value, char **spec);
/* Appends the JSON text. */
void lks__json_text(const json_t *value, lks_text *text);
/* One value as in a spec: "0.5", "true", "[1, 2]", "same". NULL: no memory, or broken brackets. */
json_t *lks__spec_value(const char *text);

/* ---- classes found by name ---- */

typedef struct lks_config_class {
    const char *name;           /* Keras class name */
    const char *snake;          /* its string form; also the default name where the class has names */
    const char *const *aliases; /* other strings, ended by NULL; or NULL */
    size_t options_size;
    const lks_field *fields;
} lks_config_class;

typedef struct lks_config_family {
    const char *what;                    /* "loss" */
    const char *module;                  /* "keras.losses" */
    const lks_config_class *const *list; /* ended by NULL */
} lks_config_family;

/* By class name, string or alias, upper and lower case alike. NULL after lks__fail with a suggestion. */
const lks_config_class *lks__config_find(const lks_config_family *family, const char *word);
/* Class and normalised options of a spec, or of a JSON string or object. */
lks_status lks__config_from_spec(const lks_config_family *family, const char *spec, const lks_config_class **class_,
                                 void **options);
lks_status lks__config_from_json(const lks_config_family *family, const json_t *value, const lks_config_class **class_,
                                 void **options);
/* Whether spec names a class of the family and options it has. */
lks_status lks__config_check(const lks_config_family *family, const char *spec);
/* {"module", "class_name", "config", "registered_name"}, a new reference; of a class with its options, or of a spec. */
lks_status lks__config_spec_to_json(const lks_config_family *family, const char *spec, json_t **out);
lks_status lks__config_to_json(const lks_config_family *family, const lks_config_class *class_, const void *options,
                               json_t **out);
lks_status lks__config_object(const char *module, const char *class_name, json_t *config,
                              json_t **out); /* steals config */

/* {"class_name", "config"} taken apart; LKS_E_FORMAT says what is missing. Borrowed from value. */
lks_status lks__config_split(const char *what, const json_t *value, const char **class_name, const json_t **config);

#endif
