/* data_build.h - internal to data_build.c and data_sources.c: the arguments of one stage. */
#ifndef LKS_TESTS_GOLDEN_DATA_BUILD_H
#define LKS_TESTS_GOLDEN_DATA_BUILD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

typedef struct stage_args {
    data_world *world;
    const json_t *json;
} stage_args;

static inline int64_t integer(const stage_args *a, const char *key, int64_t missing)
{
    const json_t *v = json_object_get(a->json, key);

    return json_is_integer(v) ? json_integer_value(v) : missing;
}

/* A number that may be given as 0, where 0 means the default in our options. */
static inline int64_t option(const stage_args *a, const char *key)
{
    const json_t *v = json_object_get(a->json, key);

    if (!json_is_integer(v)) return 0;
    return json_integer_value(v) == 0 ? LKS_ZERO_INT : json_integer_value(v);
}

static inline lks_tristate truth(const stage_args *a, const char *key)
{
    const json_t *v = json_object_get(a->json, key);

    return json_is_true(v) ? LKS_TRUE : json_is_false(v) ? LKS_FALSE : LKS_DEFAULT;
}

static inline const char *word(const stage_args *a, const char *key)
{
    return json_string_value(json_object_get(a->json, key));
}

/* The seeds of a stage; under a global seed without one of its own, TensorFlow takes Python's next number. */
static inline int64_t seed(const stage_args *a)
{
    const data_world *w = a->world;
    int64_t drawn;

    if (json_object_get(a->json, "seed") != NULL || !w->has_global_seed) return option(a, "seed");
    drawn = data_python_seed(w->global_seed);
    return drawn == 0 ? LKS_ZERO_INT : drawn;
}

static inline int64_t global_seed(const stage_args *a)
{
    if (!a->world->has_global_seed) return 0;
    return a->world->global_seed == 0 ? LKS_ZERO_INT : a->world->global_seed;
}

static inline lks_dataset *missing(const stage_args *a, const char *what)
{
    if (a->world->not_yet == NULL) a->world->not_yet = what;
    return NULL;
}

static inline bool function(const stage_args *a, const char *key, lks_map_fn *out)
{
    if (data_function(json_object_get(a->json, key), out)) return true;
    missing(a, "a function of the language");
    return false;
}

static inline size_t integers(const json_t *list, int64_t *out, size_t max)
{
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n && i < max; i++) out[i] = json_integer_value(json_array_get(list, i));
    return n < max ? n : max;
}

/* The sources that read one thing: ranges, values, files. NULL with world->not_yet for others. */
lks_dataset *data_source(const stage_args *a, const char *op);

#endif
