/* test_data.h - what the tests of the input pipeline share: named functions, and reading passes of int64 scalars. */
#ifndef TEST_DATA_H
#define TEST_DATA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lockstep.h"

#define assert_status(call, expected)                                                                            \
    do {                                                                                                         \
        lks_status status_ = (call);                                                                             \
        if (status_ != (expected))                                                                               \
            fail_msg("%s is %s, expected %s: %s", #call, lks_status_name(status_), #expected, lks_last_error()); \
    } while (0)

/* x -> 2x, int64 scalars */
static inline lks_status twice_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *y = lks_element_output(out, 0);

    (void)context, (void)user;
    if (y == NULL) return LKS_E_NOMEM;
    *(int64_t *)lks_tensor_data(y) = 2 * *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0));
    return LKS_OK;
}
static const lks_map_fn twice = {
    .struct_size = sizeof(lks_map_fn), .name = "twice", .apply = twice_apply, .flags = LKS_FN_PURE
};

/* fails at the number *user, else x */
static inline lks_status fail_on_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    int64_t x = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0));

    (void)context;
    if (x == *(const int64_t *)user) return lks_fail(LKS_E_ARG, "planned failure at %lld", (long long)x);
    return lks_element_set(out, 0, lks_element_tensor(in, 0));
}

/* x mod 2 == 0 */
static inline lks_status even_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *y = lks_element_output(out, 0);

    (void)context, (void)user;
    if (y == NULL) return LKS_E_NOMEM;
    *(char *)lks_tensor_data(y) = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0)) % 2 == 0;
    return LKS_OK;
}
static const lks_map_fn even = { .struct_size = sizeof(lks_map_fn),
                                 .name = "even",
                                 .output_spec = lks_spec_fn_bool,
                                 .apply = even_apply,
                                 .flags = LKS_FN_PURE };

/* Up to n elements of a pass, for tests in which anything may fail; the end is no failure. Takes over ds. */
static inline lks_status read_some(lks_dataset *ds, int n)
{
    lks_iter *it = NULL;
    lks_status status = lks_iter_create(ds, &it);

    lks_dataset_release(ds);
    while (status == LKS_OK && n-- > 0) {
        lks_element *e;
        status = lks_iter_next(it, &e);
        if (status == LKS_OK) lks_element_release(e);
    }
    lks_iter_release(it);
    return status == LKS_END ? LKS_OK : status;
}

/* The values of one pass written as "0 1 2 ", failures as "! ", batches as "[0 1] ". */
static inline void read_pass(lks_iter *it, char *text, size_t size, int limit)
{
    size_t n = 0;
    lks_element *e;
    lks_status status;

    text[0] = '\0';
    while (limit-- > 0 && (status = lks_iter_next(it, &e)) != LKS_END && n < size) {
        if (status != LKS_OK) {
            n += (size_t)snprintf(text + n, size - n, "! ");
            continue;
        }
        lks_tensor *t = lks_element_tensor(e, 0);
        const int64_t *x = lks_tensor_cdata(t);
        int is_batch = lks_tensor_shape(t).rank > 0;
        if (is_batch) n += (size_t)snprintf(text + n, size - n, "[");
        for (int64_t i = 0; i < lks_tensor_size(t); i++)
            n += (size_t)snprintf(text + n, size - n, is_batch && i + 1 == lks_tensor_size(t) ? "%lld" : "%lld ",
                                  (long long)x[i]);
        if (is_batch) n += (size_t)snprintf(text + n, size - n, "] ");
        lks_element_release(e);
    }
}

/* One pass over ds (borrowed) must read like this. */
static inline void assert_pass(lks_dataset *ds, const char *expected)
{
    char text[4096];
    lks_iter *it = NULL;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    read_pass(it, text, sizeof text, 1000);
    lks_iter_release(it);
    assert_string_equal(text, expected);
}

/* The same, and the dataset goes. */
static inline void assert_yields(lks_dataset *ds, const char *expected)
{
    assert_pass(ds, expected);
    lks_dataset_release(ds);
}

static inline void assert_fails(lks_dataset *ds, lks_status code, const char *word)
{
    lks_iter *it = NULL;

    assert_status(lks_dataset_status(ds), code);
    assert_status(lks_iter_create(ds, &it), code);
    if (strstr(lks_last_error(), word) == NULL) fail_msg("'%s' lacks '%s'", lks_last_error(), word);
    lks_dataset_release(ds);
}

#endif
