/* test_data_state.c - a pass saved anywhere and restored over a freshly built dataset yields the same rest, and so do the passes
 * after it; what can't be replayed is refused by name; damaged states are refused.
 *
 * ctest labels: concurrent
 */
#include "test_data.h"

#include <stdlib.h>

static lks_spec *range_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_dataset(lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 }));
}

/* x -> a shuffled range of x + 2 numbers from 10 x on */
static lks_status shuffled_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    int64_t x = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0));
    lks_dataset *ds = lks_range(10 * x, 11 * x + 2, 1);

    (void)context, (void)user;
    return lks_element_set_dataset(out, 0, lks_shuffle(ds, 4, .seed = 9));
}
static const lks_map_fn shuffled = { .struct_size = sizeof(lks_map_fn),
                                     .name = "shuffled",
                                     .output_spec = range_spec,
                                     .apply = shuffled_apply,
                                     .flags = LKS_FN_PURE };

/* x + a draw below 1000: new in every pass */
static lks_status noisy_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *y = lks_element_output(out, 0);
    uint32_t words[4];

    (void)user;
    if (y == NULL) return LKS_E_NOMEM;
    lks_map_random(context, 1, 0, words);
    *(int64_t *)lks_tensor_data(y) = 1000 * *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0)) +
                                     words[0] % 1000;
    return LKS_OK;
}
static const lks_map_fn noisy = {
    .struct_size = sizeof(lks_map_fn), .name = "noisy", .apply = noisy_apply, .flags = LKS_FN_PURE | LKS_FN_RANDOM
};

static lks_status join_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_dataset *ds = lks_batch(lks_dataset_retain(lks_element_dataset(in, 0)), 3);

    (void)context, (void)user;
    return lks_element_set_dataset(out, 0, ds);
}

static lks_spec *join_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_dataset(lks_spec_tensor(LKS_INT64, lks_shape(-1)));
}
static const lks_map_fn join = { .struct_size = sizeof(lks_map_fn),
                                 .name = "join",
                                 .output_spec = join_spec,
                                 .apply = join_apply,
                                 .flags = LKS_FN_PURE };

static lks_dataset *plain(void)
{
    return lks_batch(lks_shuffle(lks_range(0, 23, 1), 5, .seed = 6), 3);
}

static lks_dataset *tutorial(void)
{
    lks_dataset *ds = lks_map(lks_range(0, 17, 1), &noisy, .num_parallel_calls = LKS_AUTOTUNE);

    return lks_prefetch(lks_repeat(lks_batch(lks_shuffle(ds, 6), 4), 3), LKS_AUTOTUNE);
}

static lks_dataset *interleaved(void)
{
    lks_dataset *ds = lks_shuffle(lks_range(1, 6, 1), 3, .seed = 2);

    return lks_interleave(ds, &shuffled, .cycle_length = 3, .block_length = 2, .num_parallel_calls = 2);
}

static lks_dataset *cached(void)
{
    lks_dataset *ds = lks_cache(lks_map(lks_shuffle(lks_range(0, 9, 1), 9), &noisy));

    return lks_repeat(lks_shuffle(ds, 3), 2);
}

static lks_dataset *cached_once(void)
{
    return lks_shuffle(lks_cache(lks_shuffle(lks_range(0, 9, 1), 9)), 4);
}

static lks_dataset *windows(void)
{
    return lks_flat_map(lks_window(lks_shuffle(lks_range(0, 14, 1), 4), 3, .shift = 2), &join);
}

static lks_dataset *mixed(void)
{
    lks_dataset *in[2] = { lks_shuffle(lks_range(0, 8, 1), 3), lks_repeat(lks_range(100, 104, 1), 2) };
    lks_dataset *ds = lks_sample_from_datasets(2, in, .seed = 4, .rerandomize_each_iteration = LKS_TRUE);

    return lks_dataset_concatenate(ds, lks_skip(lks_take(lks_random(.seed = 3), 9), 2));
}

static lks_dataset *filtered(void)
{
    return lks_unbatch(
        lks_batch(lks_shard(lks_filter(lks_repeat(lks_shuffle(lks_range(0, 20, 1), 20), 2), &even), 2, 1), 3));
}

static int64_t seven = 7;

static lks_dataset *failing(void)
{
    const lks_map_fn f = { .struct_size = sizeof f, .name = "f", .apply = fail_on_apply, .user = &seven, .flags = 1 };

    return lks_batch(lks_map(lks_shuffle(lks_range(0, 20, 1), 4), &f, .num_parallel_calls = 2), 3);
}

static const struct {
    const char *name;
    lks_dataset *(*make)(void);
} pipelines[] = {
    { "shuffle and batch", plain },  { "the tutorial's", tutorial },        { "parallel interleave", interleaved },
    { "cache and repeat", cached },  { "cache of a shuffle", cached_once }, { "windows", windows },
    { "samples and random", mixed }, { "filter and shard", filtered },      { "with a failure", failing },
};

enum { TEXT = 4096 };

static void all_of(lks_dataset *ds, char *text)
{
    lks_iter *it = NULL;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    read_pass(it, text, TEXT, 1000);
    lks_iter_release(it);
}

/* Saved after `k` results of the second pass. False at the end of the pass. */
static int check_at(const char *name, lks_dataset *(*make)(void), int k)
{
    static char first[TEXT], head[TEXT], tail[TEXT], third[TEXT], tail2[TEXT], third2[TEXT];
    lks_dataset *ds = make(), *again = make();
    lks_iter *it = NULL;
    void *bytes = NULL;
    size_t n = 0;

    all_of(ds, first);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    read_pass(it, head, TEXT, k);
    assert_status(lks_iter_save(it, &bytes, &n), LKS_OK);
    assert_true(n < 1000);
    read_pass(it, tail, TEXT, 1000);
    lks_iter_release(it);
    all_of(ds, third);
    assert_status(lks_iter_restore(again, bytes, n, &it), LKS_OK);
    read_pass(it, tail2, TEXT, 1000);
    lks_iter_release(it);
    all_of(again, third2);
    if (strcmp(tail, tail2) != 0) fail_msg("%s, after %d: rest '%s', expected '%s'", name, k, tail2, tail);
    if (strcmp(third, third2) != 0) fail_msg("%s, after %d: next pass '%s', expected '%s'", name, k, third2, third);
    lks_free(bytes);
    lks_dataset_release(ds);
    lks_dataset_release(again);
    return tail[0] != '\0';
}

static void a_restored_pass_goes_on_as_if_nothing_had_happened(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++)
        for (int k = 0; check_at(pipelines[i].name, pipelines[i].make, k); k++) {}
}

static void what_cannot_be_replayed_is_refused_by_name(void **state)
{
    const lks_map_fn impure = { .struct_size = sizeof impure, .name = "impure", .apply = twice_apply };
    lks_dataset *ds = lks_batch(lks_map(lks_range(0, 9, 1), &impure), 2);
    lks_iter *it = NULL;
    void *bytes = NULL;
    size_t n = 0;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_save(it, &bytes, &n), LKS_E_STATE);
    assert_non_null(strstr(lks_last_error(), "'map'"));
    lks_iter_release(it);
    lks_dataset_release(ds);
    ds = lks_map(lks_range(0, 9, 1), &twice, .num_parallel_calls = 2, .deterministic = LKS_FALSE);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_save(it, &bytes, &n), LKS_E_STATE);
    assert_non_null(strstr(lks_last_error(), "deterministic"));
    assert_null(bytes);
    lks_iter_release(it);
    lks_dataset_release(ds);
}

static void states_of_other_pipelines_and_damaged_ones_are_refused(void **state)
{
    lks_dataset *ds = plain(), *other = lks_batch(lks_shuffle(lks_range(0, 23, 1), 5, .seed = 7), 3);
    lks_iter *it = NULL, *none = NULL;
    void *bytes = NULL;
    unsigned char *p;
    size_t n = 0;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_save(it, &bytes, &n), LKS_OK);
    assert_status(lks_iter_restore(other, bytes, n, &none), LKS_E_ARG);
    p = bytes;
    for (size_t bit = 0; bit < 8 * n; bit++) {
        p[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_status(lks_iter_restore(ds, bytes, n, &none), LKS_E_FORMAT);
        p[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t cut = 0; cut < n; cut++) assert_status(lks_iter_restore(ds, bytes, cut, &none), LKS_E_FORMAT);
    assert_null(none);
    lks_free(bytes);
    lks_iter_release(it);
    lks_dataset_release(ds);
    lks_dataset_release(other);
}

static void draws_are_new_in_every_pass_and_the_same_on_any_threads(void **state)
{
    static char one[TEXT], two[TEXT], again[TEXT];
    lks_dataset *ds = lks_map(lks_range(0, 20, 1), &noisy);

    (void)state;
    all_of(ds, one);
    all_of(ds, two);
    assert_string_not_equal(one, two);
    lks_dataset_release(ds);
    ds = lks_map(lks_range(0, 20, 1), &noisy, .num_parallel_calls = LKS_AUTOTUNE);
    all_of(ds, again);
    assert_string_equal(one, again);
    all_of(ds, again);
    assert_string_equal(two, again);
    lks_dataset_release(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_restored_pass_goes_on_as_if_nothing_had_happened),
        cmocka_unit_test(what_cannot_be_replayed_is_refused_by_name),
        cmocka_unit_test(states_of_other_pipelines_and_damaged_ones_are_refused),
        cmocka_unit_test(draws_are_new_in_every_pass_and_the_same_on_any_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
