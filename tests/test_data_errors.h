/* test_data_errors.h - pipelines in which something is wrong, one row a case: what a pass gives and how it is said,
 * beside what TensorFlow 2.21 gives. tests/golden/data_errors.py runs the same rows through TensorFlow.
 */
#ifndef TEST_DATA_ERRORS_H
#define TEST_DATA_ERRORS_H

#include "test_records.h"
#include "test_texts.h"

/* A pass is the elements and "!CODE" for failures, up to ENOUGH of them or the fourth failure, "END" behind the last
 * one; "build !CODE" for a pipeline that can't be built. */
typedef struct error_case {
    const char *pipeline; /* JSON with ' for " */
    const char *pass;
    const char *words; /* of the first failure's sentence; NULL: nothing fails */
    const char *tf;    /* NULL: TensorFlow gives the same; else its pass, "dies" or "spins" (it never returns) */
} error_case;

enum { ENOUGH = 14, MOST_FAILURES = 4 };

static inline void put_code(lks_text *t, lks_status status)
{
    const char *name = lks_status_name(status);

    lks__text_printf(t, "!%s", strncmp(name, "LKS_E_", 6) == 0 ? name + 6 : name);
}

static inline void put_element(lks_text *t, lks_element *e)
{
    for (size_t i = 0; i < lks_element_count(e); i++) {
        if (i > 0) lks__text_puts(t, " ");
        if (lks_element_dataset(e, i) != NULL) lks__text_puts(t, "<dataset>");
        else put_leaf(t, e, i);
    }
    lks_element_release(e);
}

/* One pass over ds (stolen) as text; the sentence of its first failure in `sentence` (1024 bytes). */
static inline void read_case(lks_dataset *ds, lks_text *t, char *sentence)
{
    lks_iter *it = NULL;
    lks_status status = lks_dataset_status(ds);
    int failures = 0;

    sentence[0] = '\0';
    if (status != LKS_OK) {
        lks__text_puts(t, "build ");
        put_code(t, status);
        snprintf(sentence, 1024, "%s", lks_last_error());
    } else {
        assert_status(lks_iter_create(ds, &it), LKS_OK);
    }
    for (int i = 0; it != NULL && i < ENOUGH && failures < MOST_FAILURES; i++) {
        lks_element *e = NULL;
        status = lks_iter_next(it, &e);
        if (i > 0) lks__text_puts(t, "; ");
        if (status == LKS_OK) {
            put_element(t, e);
            continue;
        }
        if (status == LKS_END) {
            lks__text_puts(t, "END");
            break;
        }
        if (failures++ == 0) snprintf(sentence, 1024, "%s", lks_last_error());
        put_code(t, status);
    }
    lks_iter_release(it);
    lks_dataset_release(ds);
}

static inline void run_cases(const error_case *cases, size_t n)
{
    int wrong = 0;

    for (size_t i = 0; i < n; i++) {
        const error_case *c = &cases[i];
        lks_text t = { 0 };
        char sentence[1024];
        read_case(lks_dataset_from_json(quoted(c->pipeline), .folder = folder), &t, sentence);
        if (t.length != strlen(c->pass) || memcmp(t.data, c->pass, t.length) != 0) {
            print_error("%s:\n    expected '%s'\n    found    '%s' (%s)\n", c->pipeline, c->pass, t.data, sentence);
            wrong++;
        } else if (c->words != NULL ? strstr(sentence, c->words) == NULL : sentence[0] != '\0') {
            print_error("%s:\n    '%s' lacks '%s'\n", c->pipeline, sentence, c->words == NULL ? "nothing" : c->words);
            wrong++;
        }
        lks__text_free(&t);
    }
    assert_int_equal(wrong, 0);
}

#endif
