/* data.h - the data topic of the golden runner: pipelines written in JSON become datasets, their elements are compared. */
#ifndef LKS_TESTS_GOLDEN_DATA_H
#define LKS_TESTS_GOLDEN_DATA_H

#include <jansson.h>
#include <stdbool.h>

#include "golden.h"
#include "lockstep.h"

/* What a pipeline is built with. */
typedef struct data_world {
    const char *folder;  /* of the source files */
    const char *scratch; /* an empty folder to write to */
    bool has_global_seed;
    int64_t global_seed;
    const char *not_yet; /* set where the language has something that the library lacks; borrowed */
} data_world;

/* {"array"}, {"tuple"}, {"dict"}, {"ragged"} or a plain number: flat components and their structure. */
typedef struct data_value {
    lks_spec *spec;
    size_t n;
    lks_tensor *tensor[16];
    lks_ragged *ragged; /* the only component, then */
} data_value;
bool data_value_read(const json_t *json, data_value *out); /* false: not understood */
void data_value_free(data_value *v);
lks_dtype data_dtype(const char *name);
/* A JSON scalar as element i. */
void data_put(lks_tensor *t, int64_t i, const json_t *v);
lks_tensor *data_scalar(lks_dtype dtype, double value);

/* A function by name with its argument: "double" or {"fn": .., "arg": ..}. Its static parts live for ever; the argument is
 * owned by the function (release). False: unknown. */
bool data_function(const json_t *json, lks_map_fn *out);

/* The dataset, failed where the library refuses a stage; NULL with world->not_yet for what the library lacks. */
lks_dataset *data_build(data_world *world, const json_t *pipeline);

/* LKS value against the recorded one; false writes what differs. */
bool data_equal(const lks_element *e, const json_t *want, char *why, size_t size);
bool data_spec_equal(const lks_spec *spec, const json_t *want);
/* A recorded error type against a status. */
bool data_error_equal(lks_status status, const json_t *error);

/* Every value of special.json. */
void data_special(golden_report *r, const json_t *set);

/* Python's random.Random(seed).randint(0, 2^31 - 1), which TensorFlow takes as op seed under a global seed. */
int64_t data_python_seed(int64_t seed);

#endif
