/* test_reproducible.c - the words of `reproducible` other than any_world: weights as near as rounding allows, the same bits where they are
 * promised, and sentences for what does not go together.
 *
 * ctest labels: concurrent
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lockstep.h"
#include "support/small_data.h"

enum { ROWS = 75, SIDE = 10, CLASSES = 4 }; /* a partial last batch of 11 */

static lks_tensor *images, *targets;

static int make_data(void **state)
{
    (void)state;
    return small_pictures(4242, ROWS, SIDE, CLASSES, &images, &targets) ? 0 : -1;
}

static int drop_data(void **state)
{
    (void)state;
    lks_tensor_release(images);
    lks_tensor_release(targets);
    return 0;
}

/* Sums of all kinds: of filters, small and wide dense weights, statistics of the batch, which also make phases. */
static lks_model *build(void)
{
    lks_node in = lks_input(lks_shape(SIDE, SIDE, 1));
    lks_node x = lks_conv2d(in, .filters = 8, .kernel_size = { 3, 3 }, .padding = "same");

    x = lks_relu(lks_batch_normalization(x, .synchronized = LKS_TRUE));
    x = lks_dense(lks_flatten(x), .units = 64, .activation = "tanh");
    x = lks_dropout(x, .rate = 0.2);
    return lks_model_create(in, lks_dense(x, .units = CLASSES, .activation = "softmax"));
}

typedef struct how {
    const char *word;
    int64_t threads, replicas, epochs;
} how;

static lks_model *train(const how *h)
{
    lks_strategy *mirrored = lks_mirrored(.replicas = h->replicas, .reproducible = h->word);
    lks_arrays arrays = { .x = images, .y = targets };
    lks_model *model;
    lks_plan plan;

    lks_set_seed(0);
    lks_scope_enter(mirrored);
    model = build();
    lks_scope_exit(mirrored);
    assert_int_equal(lks_compile(model, .optimizer = "sgd", .loss = "categorical_crossentropy", .metrics = "accuracy"),
                     LKS_OK);
    if (lks_fit_arrays(model, &arrays, .epochs = h->epochs, .batch_size = 32, .threads = h->threads, .verbose = 0) !=
        LKS_OK)
        fail_msg("%s", lks_last_error());
    assert_int_equal(lks_model_last_plan(model, &plan), LKS_OK);
    assert_string_equal(plan.reproducible, h->word);
    lks_strategy_release(mirrored);
    return model;
}

static void digest_of(const how *h, char digest[65])
{
    lks_model *model = train(h);

    assert_int_equal(lks_model_digest(model, digest), LKS_OK);
    lks_model_release(model);
}

static void assert_near(lks_model *a, lks_model *b, const how *h)
{
    const size_t n = lks_model_n_weights(a);

    assert_int_equal(lks_model_n_weights(b), n);
    for (size_t w = 0; w < n; w++) {
        lks_tensor *x = lks_model_weight(a, w), *y = lks_model_weight(b, w);
        const float *p = lks_tensor_cdata(x), *q = lks_tensor_cdata(y);

        for (int64_t i = 0; i < lks_tensor_size(x); i++) {
            const float off = p[i] > q[i] ? p[i] - q[i] : q[i] - p[i];
            if (!(off <= 2e-4f))
                fail_msg("%s, %d threads: weight %d[%d] is %g, expected %g", h->word, (int)h->threads, (int)w, (int)i,
                         (double)q[i], (double)p[i]);
        }
        lks_tensor_release(x);
        lks_tensor_release(y);
    }
}

static void every_word_ends_near_the_same_weights(void **state)
{
    static const how hows[] = { { "same_world", 1, 1, 2 }, { "same_world", 2, 1, 2 }, { "same_world", 5, 3, 2 },
                                { "fastest", 1, 1, 2 },    { "fastest", 2, 1, 2 },    { "fastest", 7, 1, 2 },
                                { "fastest", 4, 2, 2 } };
    const how any = { "any_world", 1, 1, 2 };
    lks_model *want = train(&any);

    (void)state;
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        lks_model *have = train(&hows[i]);
        assert_near(want, have, &hows[i]);
        lks_model_release(have);
    }
    lks_model_release(want);
}

static void the_same_world_gives_the_same_bits(void **state)
{
    static const how hows[] = { { "same_world", 1, 1, 2 }, { "same_world", 3, 1, 2 }, { "same_world", 4, 2, 2 } };
    const how any = { "any_world", 2, 1, 2 };
    char first[65], again[65], anywhere[65];

    (void)state;
    digest_of(&any, anywhere);
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        digest_of(&hows[i], first);
        if (hows[i].threads == 1) assert_string_not_equal(first, anywhere); /* more may sum as any_world's shards do */
        for (int run = 0; run < 3; run++) {
            digest_of(&hows[i], again);
            assert_string_equal(again, first);
        }
    }
}

/* One thread takes its slices in order, whatever the word. */
static void on_one_thread_the_fastest_is_the_same_world(void **state)
{
    const how same = { "same_world", 1, 1, 2 }, fastest = { "fastest", 1, 1, 2 };
    char a[65], b[65];

    (void)state;
    digest_of(&same, a);
    digest_of(&fastest, b);
    assert_string_equal(a, b);
}

static void assert_refused(lks_strategy *strategy, const char *const words[3])
{
    lks_model *model;

    lks_scope_enter(strategy);
    model = build();
    lks_scope_exit(strategy);
    assert_int_equal(lks_compile(model, .optimizer = "sgd", .loss = "mse"), LKS_E_ARG);
    for (int i = 0; i < 3; i++)
        if (strstr(lks_last_error(), words[i]) == NULL) fail_msg("no '%s' in: %s", words[i], lks_last_error());
    lks_model_release(model);
    lks_strategy_release(strategy);
}

static void unknown_words_and_shards_elsewhere_are_refused(void **state)
{
    (void)state;
    assert_refused(lks_mirrored(.reproducible = "some_world"),
                   (const char *const[3]){ "some_world", "any_world", "fastest" });
    assert_refused(lks_mirrored(.reproducible = "fastest", .virtual_shards = 4),
                   (const char *const[3]){ "virtual_shards 4", "fastest", "any_world" });
    assert_refused(lks_mirrored(.reproducible = "same_world", .virtual_shards = 16),
                   (const char *const[3]){ "virtual_shards 16", "same_world", "any_world" });
}

/* Which example is no number: found on the lane that happened to have it. */
static void a_bad_example_is_named_and_changes_nothing(void **state)
{
    lks_strategy *fastest = lks_mirrored(.reproducible = "fastest");
    lks_arrays arrays = { .x = images, .y = targets };
    float *bad = (float *)lks_tensor_data(images) + 40 * SIDE * SIDE, kept = *bad;
    char before[65], after[65];
    lks_model *model;

    (void)state;
    lks_scope_enter(fastest);
    model = build();
    lks_scope_exit(fastest);
    assert_int_equal(lks_compile(model, .optimizer = "sgd", .loss = "mse"), LKS_OK);
    assert_int_equal(lks_model_digest(model, before), LKS_OK);
    *bad = (float)(1e38 * 1e10);
    assert_int_equal(lks_train_on_batch(model, &arrays, NULL), LKS_E_NONFINITE);
    *bad = kept;
    assert_non_null(strstr(lks_last_error(), "conv2d"));
    assert_int_equal(lks_model_digest(model, after), LKS_OK);
    assert_string_equal(before, after);
    lks_model_release(model);
    lks_strategy_release(fastest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_ends_near_the_same_weights),
        cmocka_unit_test(the_same_world_gives_the_same_bits),
        cmocka_unit_test(on_one_thread_the_fastest_is_the_same_world),
        cmocka_unit_test(unknown_words_and_shards_elsewhere_are_refused),
        cmocka_unit_test(a_bad_example_is_named_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, make_data, drop_data);
}
