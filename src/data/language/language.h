/* language.h - internal. Pipelines written as JSON: tables of words, each with its arguments and what it builds.
 *
 * A table's line says which arguments a word takes, as "name:kind" with blanks between; they are checked before it is built, so a
 * builder finds each argument of its kind or missing.
 */
#ifndef LKS_DATA_LANGUAGE_H
#define LKS_DATA_LANGUAGE_H

#include "data/stage.h"
#include "files/json.h"
#include "lockstep/dataset_json.h"

enum { LKS_MOST_INPUTS = 64, LKS_MOST_NAMES = 4096, LKS_MOST_LIST = 256 };

typedef struct lks_language {
    lks_dataset_json_options o;
    int depth;
} lks_language;

/* One word with its arguments. */
typedef struct lks_call {
    lks_language *language;
    const json_t *json;
    const char *word;
    int64_t tag; /* of the word */
} lks_call;

/* Kinds: i whole number, n number, b truth, s text, l whole number or list of them, N text or list of texts, m list of numbers,
 * f function, p list of pipelines, v anything; a ! behind it: it must be given. */
typedef struct lks_word {
    const char *name, *arguments;
    lks_dataset *(*stage)(const lks_call *c, lks_dataset *input); /* steals the input; sources get NULL */
    const lks_map_fn *(*function)(const lks_call *c);
    int64_t tag; /* for builders that several words share */
} lks_word;

/* "there is no WHAT "btch"; did you mean "batch"?": tables end with a name of NULL. NULL after an error. */
const lks_word *lks__word_find(const lks_word *table, const char *word, const char *what);
/* LKS_E_ARG unless the arguments are of the word; `head` ("op", "fn") is its own key. */
lks_status lks__call_check(const lks_call *c, const lks_word *w, const char *head);

/* ---- arguments ---- */
const json_t *lks__call_value(const lks_call *c, const char *key); /* NULL: missing */
int64_t lks__call_int(const lks_call *c, const char *key, int64_t missing);
/* For options in which 0 is the default: LKS_ZERO_INT for a given 0, 0 where it is missing. */
int64_t lks__call_option(const lks_call *c, const char *key);
double lks__call_number(const lks_call *c, const char *key, double missing);
lks_tristate lks__call_truth(const lks_call *c, const char *key);
const char *lks__call_text(const lks_call *c, const char *key);
/* Lists have at most LKS_MOST_LIST numbers; with less room the rest is left out. */
size_t lks__call_ints(const lks_call *c, const char *key, int64_t *out, size_t room);
size_t lks__call_numbers(const lks_call *c, const char *key, double *out, size_t room);
/* 0 and an error for other words. */
lks_dtype lks__call_dtype(const json_t *name);

/* File names with the folder in front. */
typedef struct lks_names {
    char **text;
    size_t n;
} lks_names;
lks_status lks__call_names(const lks_call *c, const char *key, lks_names *out);
void lks__names_release(lks_names *l);

/* The pipelines of "inputs": the first failure fails the result, which is built from all of them. False after an error. */
bool lks__call_inputs(const lks_call *c, lks_dataset **out, size_t *n);
/* A function by its word, or by an object {"fn": word, ...}, or a list of such that run one after another. */
bool lks__call_function(const lks_call *c, const char *key, lks_map_fn *out);
/* The array or scalar; of this dtype if it is not 0. NULL after an error. */
lks_tensor *lks__read_value(const json_t *json, lks_dtype dtype);
/* Arrays, tuples and dicts of them as a dataset: rows, or the whole. */
lks_dataset *lks__value_dataset(const lks_call *c, const json_t *json, bool slices, int depth);

lks_dataset *lks__language_build(lks_language *l, const json_t *list);
lks_dataset *lks__language_failed(lks_status status); /* a failed dataset with this thread's error */

extern const lks_word lks__source_words[], lks__stage_words[], lks__function_words[];
/* Functions on numbers and windows for trying things out, by their words. */
const lks_map_fn *lks__number_function(const lks_call *c);
/* parse_example and parse_sequence_example. */
const lks_map_fn *lks__parse_function(const lks_call *c);

#endif
