/* golden.h - the runner of the golden sets: what a topic is, how a case is counted, and how arrays are compared.
 *
 * A topic reads a folder and counts its cases in a report. A case passes, fails, or is "not yet": it needs something that
 * the library refuses with LKS_E_UNSUPPORTED. Anything else that goes wrong is a failure.
 */
#ifndef LKS_TESTS_GOLDEN_H
#define LKS_TESTS_GOLDEN_H

#include <jansson.h>
#include <stdbool.h>

#include "files/npz.h"
#include "lockstep/status.h"
#include "lockstep/tensor.h"

/* What keeps cases from running, and how many each. */
typedef struct golden_missing {
    char what[96];
    int count;
} golden_missing;

enum { GOLDEN_NAME = 160, GOLDEN_MISSING = 256 };

/* The counts of a group of cases (a file, a kind of file). Start from { 0 }. */
typedef struct golden_report {
    bool verbose;
    const char *only; /* NULL, or the case that alone is run */
    int passed, failed, not_yet;
    double worst; /* the largest error as a fraction of its tolerance, of the cases that pass */
    char worst_case[GOLDEN_NAME];
    golden_missing missing[GOLDEN_MISSING];
    int n_missing;
    /* the case that runs */
    char name[GOLDEN_NAME];
    int faults;
    char reason[96]; /* "" or why it is not yet */
    double case_worst;
} golden_report;

/* ---- counting (report.c) ---- */

/* False: skip this case, `only` names another. */
bool golden_begin(golden_report *r, const char *name);
void golden_end(golden_report *r);
void golden_fault(golden_report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void golden_not_yet(golden_report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* True for LKS_OK. LKS_E_UNSUPPORTED and names that do not exist make the case "not yet", any other failure is a fault; both
 * with the library's sentence. */
bool golden_ok(golden_report *r, lks_status status, const char *doing);
bool golden_running(const golden_report *r); /* no fault and not "not yet" so far */
/* Prints the group's line(s) and adds it to `sum`. */
void golden_print(const char *group, const golden_report *r);
void golden_add(golden_report *sum, const golden_report *r);

/* ---- comparing (compare.c) ---- */

/* |got - want| <= atol + rtol |want| for every element, or both the same infinity or NaN. */
void golden_compare(golden_report *r, const char *name, const lks_tensor *got, const lks_tensor *want, double rtol,
                    double atol);
void golden_number(golden_report *r, const char *name, double got, double want, double rtol, double atol);
/* Error allowed: `fraction` of the largest magnitude in `want`. */
void golden_compare_to_largest(golden_report *r, const char *name, const lks_tensor *got, const lks_tensor *want,
                               double fraction);
double golden_element(const lks_tensor *t, int64_t i); /* any number dtype */

/* ---- cases of a JSON + npz pair (case.c) ---- */

enum { GOLDEN_KEPT = 512 };

typedef struct golden_case {
    golden_report *report;
    const char *name; /* members of the archive are "<name>/<array>" */
    json_t *json;
    lks_npz *npz; /* NULL: no arrays */
    lks_tensor *kept[GOLDEN_KEPT];
    int n_kept;
} golden_case;

json_t *golden_read_json(const char *path); /* NULL after a message */
bool golden_is_file(const char *path);
/* The array by its short name, owned by the case; NULL after a fault. */
lks_tensor *golden_array(golden_case *c, const char *array);
/* Keeps a tensor until the case ends; NULL is a fault with the library's sentence. Returns it. */
lks_tensor *golden_keep(golden_case *c, lks_tensor *t);
void golden_case_free(golden_case *c); /* what it keeps */
/* Compares with the array `array`, by the case's tolerance for it. */
void golden_expect(golden_case *c, const char *array, const lks_tensor *got);
double golden_rtol(const golden_case *c);
double golden_atol(const golden_case *c, const char *array);
/* Members: text or number or truth of a key, or the fallback. */
const char *golden_text(const json_t *object, const char *key);
bool golden_true(const json_t *object, const char *key);
int64_t golden_int(const json_t *object, const char *key, int64_t fallback);
double golden_double(const json_t *value); /* also "nan", "inf", "-inf" */

/* ---- topics (main.c has the list) ---- */

typedef struct golden_topic {
    const char *name;
    /* Counts everything under `folder` in *sum, printing a line for each group. False: the folder is not such a set. */
    bool (*run)(const char *folder, golden_report *sum);
} golden_topic;

#endif
