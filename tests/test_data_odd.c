/* test_data_odd.c - values that nobody means to give to the input pipeline: they are refused in a sentence, and nothing is read that is
 * not there.
 */
#include "test_data.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "lockstep/dataset_sampling.h"
#include "lockstep/image_functions.h"
#include "lockstep/records.h"

static void expect(lks_status status, lks_status want, const char *words)
{
    if (status != want)
        fail_msg("expected %s, found %s: %s", lks_status_name(want), lks_status_name(status), lks_last_error());
    if (strstr(lks_last_error(), words) == NULL) fail_msg("'%s' lacks '%s'", lks_last_error(), words);
}

static void expect_refused(lks_dataset *ds, const char *words)
{
    expect(lks_dataset_status(ds), LKS_E_ARG, words);
    lks_dataset_release(ds);
}

/* A pass over a source that never gives an element would never end. */
static void weights_have_finite_shares(void **state)
{
    const struct {
        double weight[2];
        const char *words;
    } cases[] = { { { (double)NAN, 1 }, "the weight of dataset 0 is nan" },
                  { { 1, (double)INFINITY }, "the weight of dataset 1 is inf" },
                  { { 1e300, 1e300 }, "the weight of dataset 0 is 1e+300" } };
    const double tiny[2] = { 1e-300, 1e-300 };
    lks_dataset *both[2], *ds;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        both[0] = lks_range(0, 3, 1);
        both[1] = lks_range(0, 3, 1);
        expect_refused(lks_sample_from_datasets(2, both, .weights = cases[i].weight), cases[i].words);
    }
    both[0] = lks_range(0, 3, 1);
    both[1] = lks_range(0, 3, 1);
    ds = lks_sample_from_datasets(2, both, .weights = tiny); /* 0 as float32: both are left out */
    assert_status(lks_dataset_status(ds), LKS_OK);
    assert_int_equal(lks_dataset_cardinality(ds), 0);
    lks_dataset_release(ds);
}

static lks_status next_unset(void *state, lks_element *out, void *user)
{
    (void)state, (void)out, (void)user;
    return LKS_OK;
}

static void shapes_have_axes_that_there_are(void **state)
{
    const lks_generator g = { .struct_size = sizeof g, .name = "g", .next = next_unset };
    const lks_shape many = { .rank = 99 };
    const lks_feature sparse = { .key = "a", .dtype = LKS_INT64, .kind = LKS_SPARSE_FEATURE, .shape = many };

    (void)state;
    expect_refused(lks_padded_batch(lks_range(0, 3, 1), 2, .padded_shapes = &many), "has 99 axes: 0 to 8 are possible");
    expect_refused(lks_map(lks_range(0, 3, 1), lks_fn_decode_raw(LKS_UINT8, many)), "decode_raw takes");
    expect_refused(lks_from_generator(lks_spec_tensor(LKS_INT64, lks_shape(-5)), &g), "an axis of size -5");
    assert_null(lks_features_create(1, sizeof sparse, &sparse));
    assert_non_null(strstr(lks_last_error(), "known sizes"));
    assert_null(lks_features_create(1, 3, &sparse));
    assert_non_null(strstr(lks_last_error(), "feature_size = sizeof(lks_feature), found 3"));
}

static lks_status odd_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    (void)context, (void)in, (void)out, (void)user;
    return (lks_status)77;
}

static lks_status odd_next(void *state, lks_element *out, void *user)
{
    (void)state, (void)out, (void)user;
    return (lks_status)-1;
}

static void what_is_no_status_is_an_error(void **state)
{
    const lks_map_fn f = { .struct_size = sizeof f, .name = "odd", .apply = odd_apply };
    const lks_generator g = { .struct_size = sizeof g, .name = "odd", .next = odd_next };
    lks_dataset *both[] = { lks_map(lks_range(0, 3, 1), &f),
                            lks_from_generator(lks_spec_tensor(LKS_INT64, lks_shape(2)), &g) };
    const char *const words[] = { "map (stage 2): function 'odd' failed at element 0: it returned 77, which is no",
                                  "generator 'odd' failed at element 0: it returned -1, which is no" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        lks_iter *it = NULL;
        lks_element *e;
        assert_status(lks_iter_create(both[i], &it), LKS_OK);
        expect(lks_iter_next(it, &e), LKS_E_ARG, words[i]);
        lks_iter_release(it);
        lks_dataset_release(both[i]);
    }
}

static void outputs_and_names_are_given(void **state)
{
    lks_dataset *ds = lks_range(0, 3, 1);
    lks_record_writer *w = NULL;
    lks_iter *it = NULL;

    (void)state;
    expect(lks_iter_create(ds, NULL), LKS_E_ARG, "the output is NULL");
    expect(lks_iter_restore(ds, NULL, 10, &it), LKS_E_ARG, "NULL");
    expect(lks_iter_restore(ds, "", 1, NULL), LKS_E_ARG, "NULL");
    expect(lks_dataset_get_single_element(ds, NULL), LKS_E_ARG, "the output is NULL");
    expect(lks_record_writer_open(&w, ""), LKS_E_ARG, "the name of the file to write is empty");
    lks_dataset_release(ds);
}

static void numbers_of_functions_are_finite(void **state)
{
    (void)state;
    expect_refused(lks_map(lks_range(0, 3, 1), lks_fn_rescale((double)NAN, 0)), "finite numbers, found nan and 0");
    expect_refused(lks_map(lks_range(0, 3, 1), lks_fn_adjust_contrast((double)INFINITY)), "a finite number, found inf");
    expect_refused(lks_map(lks_range(0, 3, 1), lks_fn_random_contrast(0.5, (double)INFINITY)), "from 0.5 to inf");
}

static void files_that_cannot_be_read_say_their_stage(void **state)
{
    const char *const names[] = { "/nowhere/at/all" };
    lks_dataset *ds = lks_batch(lks_text_lines(1, names), 2);
    lks_iter *it = NULL;
    lks_element *e;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    expect(lks_iter_next(it, &e), LKS_E_NOTFOUND, "text_lines (stage 1): cannot open '/nowhere/at/all'");
    lks_iter_release(it);
    lks_dataset_release(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_have_finite_shares),      cmocka_unit_test(shapes_have_axes_that_there_are),
        cmocka_unit_test(what_is_no_status_is_an_error),   cmocka_unit_test(outputs_and_names_are_given),
        cmocka_unit_test(numbers_of_functions_are_finite), cmocka_unit_test(files_that_cannot_be_read_say_their_stage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
