/* test_data_tuned.c - what the pipeline chooses for itself (where results are written, who runs a function, windows, joined maps) cannot be
 * seen in the elements, whatever fails, and whenever an iterator goes.
 *
 * ctest labels: concurrent
 */
#include "test_data.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/tuner.h"
#include "tensor/tensor.h"

enum { WIDE = 96 }; /* int64: more bytes than are placed from */

static lks_spec *wide_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_tuple_of(lks_spec_tensor(LKS_INT64, lks_shape(WIDE)),
                             lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 }));
}

/* x -> (x, x + 1, ...), x; fails at multiples of *user; slower where x is odd, if asked. */
static lks_status wide_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    int64_t x = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0)), *y;
    const int64_t *bad = user;
    lks_tensor *t = lks_element_output(out, 0);

    (void)context;
    if (t == NULL) return LKS_E_NOMEM;
    y = lks_tensor_data(t);
    for (int64_t i = 0; i < WIDE; i++) y[i] = x + i;
    if (bad != NULL && x > 0 && x % *bad == 0) return lks_fail(LKS_E_ARG, "planned failure at %lld", (long long)x);
    return lks_element_set(out, 1, lks_element_tensor(in, 0));
}

static lks_map_fn wide_fn(int64_t *bad)
{
    return (lks_map_fn){ .struct_size = sizeof(lks_map_fn),
                         .name = "wide",
                         .output_spec = wide_spec,
                         .apply = wide_apply,
                         .flags = LKS_FN_PURE,
                         .user = bad };
}

/* A number that depends on every value, shape and failure of a pass. */
static uint64_t digest(lks_dataset *ds)
{
    lks_iter *it = NULL;
    uint64_t h = 1469598103934665603u;
    lks_status status = lks_iter_create(ds, &it);
    lks_element *e, *kept = NULL;

    lks_dataset_release(ds);
    for (int n = 0; status != LKS_END && n < 100000; n++) {
        status = lks_iter_next(it, &e);
        h = (h ^ (uint64_t)status) * 1099511628211u;
        if (status != LKS_OK) continue;
        for (size_t c = 0; c < lks_element_count(e); c++) {
            const lks_tensor *t = lks_element_tensor(e, c);
            const unsigned char *p = lks_tensor_cdata(t);
            size_t bytes = (size_t)lks_tensor_size(t) * lks_dtype_size(lks_tensor_dtype(t));
            for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 1099511628211u;
            h = (h ^ (uint64_t)lks_tensor_size(t)) * 1099511628211u;
        }
        lks_element_release(kept); /* memory comes home later than the next element is made */
        kept = e;
    }
    lks_element_release(kept);
    lks_iter_release(it);
    return h;
}

static lks_dataset *wide(int64_t n, int64_t *bad, int64_t calls, bool apart, int64_t batch, bool drop)
{
    lks_map_fn fn = wide_fn(bad);
    lks_dataset *ds = lks_map(lks_range(0, n, 1), &fn, .num_parallel_calls = calls);

    if (apart) ds = lks_take(ds, -1); /* the batch does not see the map: rows are copied */
    return lks_batch(ds, batch, .drop_remainder = drop ? LKS_TRUE : LKS_FALSE);
}

static void rows_written_in_place_are_the_rows_that_are_copied(void **state)
{
    static const struct {
        int64_t n, bad, batch;
        bool drop;
    } cases[] = { { 64, 0, 8, false }, { 67, 0, 8, false }, { 67, 0, 8, true },  { 5, 0, 8, false },
                  { 90, 7, 8, false }, { 90, 1, 4, false }, { 91, 30, 9, true }, { 3, 0, 1, false } };
    static const int64_t calls[] = { 0, 1, 4, LKS_AUTOTUNE };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < 4; k++) {
            int64_t bad = cases[i].bad, *at = bad > 0 ? &bad : NULL;
            uint64_t copied = digest(wide(cases[i].n, at, 0, true, cases[i].batch, cases[i].drop));
            assert_true(digest(wide(cases[i].n, at, calls[k], false, cases[i].batch, cases[i].drop)) == copied);
        }
    assert_true(digest(wide(64, NULL, 0, false, 8, false)) != digest(wide(64, NULL, 0, false, 16, false)));
}

/* Passes that are long enough for both ways of running a cheap function to be tried. */
static void who_runs_a_cheap_function_cannot_be_seen(void **state)
{
    static const int64_t calls[] = { 2, LKS_AUTOTUNE };

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        uint64_t one = digest(lks_map(lks_range(0, 60000, 1), &twice));
        assert_true(digest(lks_map(lks_range(0, 60000, 1), &twice, .num_parallel_calls = calls[k])) == one);
    }
}

static void iterators_may_go_while_rows_are_placed(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        int64_t bad = 11;
        lks_dataset *ds = lks_prefetch(
            wide(300, round % 3 ? NULL : &bad, round % 2 ? LKS_AUTOTUNE : 3, false, 8, false), 2);
        lks_iter *it = NULL;
        lks_element *e, *kept = NULL;
        assert_status(lks_iter_create(ds, &it), LKS_OK);
        lks_dataset_release(ds);
        for (int i = 0; i < round % 17; i++) {
            if (lks_iter_next(it, &e) != LKS_OK) continue;
            lks_element_release(kept);
            kept = e;
        }
        lks_iter_release(it);
        if (kept != NULL) assert_int_equal(lks_tensor_shape(lks_element_tensor(kept, 0)).dim[1], WIDE);
        lks_element_release(kept);
    }
}

/* ---- consecutive maps of the library's functions ---- */

enum { SIDE = 12, PICTURES = 40 };

static lks_spec *picture_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_tuple_of(lks_spec_tensor(LKS_UINT8, lks_shape(SIDE, SIDE, 3)),
                             lks_spec_label(LKS_INT64, (lks_shape){ .rank = 0 }, 10));
}

static lks_status picture_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    int64_t x = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0));
    lks_tensor *t = lks_element_output(out, 0), *y = lks_element_output(out, 1);
    uint8_t *p = t == NULL ? NULL : lks_tensor_data(t);

    (void)context, (void)user;
    if (t == NULL || y == NULL) return LKS_E_NOMEM;
    for (int64_t i = 0; i < lks_tensor_size(t); i++) p[i] = (uint8_t)((uint32_t)(x * 1009 + i) * 2654435761u >> 24);
    *(int64_t *)lks_tensor_data(y) = x % 13; /* some labels are out of range */
    return LKS_OK;
}
static const lks_map_fn picture = { .struct_size = sizeof(lks_map_fn),
                                    .name = "picture",
                                    .output_spec = picture_spec,
                                    .apply = picture_apply,
                                    .flags = LKS_FN_PURE };

/* Four maps; `calls` of each: equal ones run as one, others apart. */
static lks_dataset *maps(const int64_t calls[4])
{
    lks_dataset *ds = lks_map(lks_range(0, PICTURES, 1), &picture);

    ds = lks_map(ds, lks_fn_random_flip("horizontal"), .num_parallel_calls = calls[0], .seed = 5);
    ds = lks_map(ds, lks_fn_chain(lks_fn_resize(7, 9), lks_fn_random_brightness(0.3)), .num_parallel_calls = calls[1],
                 .seed = 5);
    ds = lks_map(ds, lks_fn_one_hot(0), .num_parallel_calls = calls[2]);
    return lks_map(ds, lks_fn_rescale(0.5, 1), .num_parallel_calls = calls[3], .seed = 9);
}

/* All that three passes say: values, then the sentences of failures. */
static uint64_t passes(lks_dataset *ds, size_t skip)
{
    uint64_t h = 1469598103934665603u;

    for (int pass = 0; pass < 3; pass++) {
        lks_iter *it = NULL, *again = NULL;
        lks_status status = lks_iter_create(ds, &it);
        lks_element *e;
        for (size_t n = 0; status != LKS_END; n++) {
            void *state = NULL;
            size_t size = 0;
            status = lks_iter_next(it, &e);
            for (const char *c = status == LKS_OK || status == LKS_END ? "" : lks_last_error(); *c != '\0'; c++)
                h = (h ^ (unsigned char)*c) * 1099511628211u;
            if (status == LKS_OK) {
                const lks_tensor *t = lks_element_tensor(e, 0);
                const unsigned char *p = lks_tensor_cdata(t);
                for (size_t i = 0; i < (size_t)lks_tensor_size(t) * sizeof(float); i++) h = (h ^ p[i]) * 1099511628211u;
                lks_element_release(e);
            }
            if (skip == 0 || n != skip) continue;
            assert_status(lks_iter_save(it, &state, &size), LKS_OK);
            assert_status(lks_iter_restore(ds, state, size, &again), LKS_OK);
            lks_free(state);
            lks_iter_release(it);
            it = again;
        }
        lks_iter_release(it);
    }
    lks_dataset_release(ds);
    return h;
}

static void maps_that_run_as_one_give_what_they_give_apart(void **state)
{
    static const int64_t apart[4] = { 0, 2, 0, 3 };
    static const int64_t joined[][4] = { { 0, 0, 0, 0 },
                                         { 3, 3, 3, 3 },
                                         { LKS_AUTOTUNE, LKS_AUTOTUNE, LKS_AUTOTUNE, LKS_AUTOTUNE },
                                         { 0, 0, 2, 2 },
                                         { 0, LKS_AUTOTUNE, LKS_AUTOTUNE, 0 } };
    uint64_t expected = passes(maps(apart), 0);

    (void)state;
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++) {
        assert_true(passes(maps(joined[i]), 0) == expected);
        assert_true(passes(maps(joined[i]), 9 + i) == expected);
    }
}

static size_t stages_that_ran(lks_dataset *ds)
{
    lks_diagnosis *d = NULL;
    size_t n;

    ds = lks_ignore_errors(ds);
    assert_status(lks_dataset_diagnose(ds, &d), LKS_OK);
    n = lks_diagnosis_stages(d);
    lks_diagnosis_release(d);
    lks_dataset_release(ds);
    return n;
}

static void equal_maps_are_one_stage_and_unequal_ones_are_not(void **state)
{
    (void)state;
    assert_int_equal(stages_that_ran(maps((const int64_t[]){ 2, 2, 2, 2 })), 4); /* ignore_errors, map, map, range */
    assert_int_equal(stages_that_ran(maps((const int64_t[]){ 2, 0, 0, 2 })), 6);
    assert_int_equal(stages_that_ran(maps((const int64_t[]){ 2, 0, 3, LKS_AUTOTUNE })), 7);
}

/* ---- windows ---- */

static lks_window window(int size, int most, int64_t bytes, int64_t full_ns, bool fixed_growth)
{
    lks_window w = { .fixed_growth = fixed_growth };

    atomic_init(&w.size, size);
    atomic_init(&w.most, most);
    atomic_init(&w.bytes, bytes);
    atomic_init(&w.full_ns, full_ns);
    return w;
}

static void one_window_changes_by_the_rule(void **state)
{
    static const struct {
        lks_period p;
        int which, size; /* which: -1 = none */
    } cases[] = {
        { { 0.5, 0.5, 0.1 }, 1, 6 },    /* waited for and full the longest: half more */
        { { 0.005, 0.5, 0.1 }, -1, 0 }, /* nobody waits */
        { { 0.5, 0.05, 0.1 }, -1, 0 },  /* the pool is busy */
        { { 0.5, 0.5, 0.95 }, 3, 10 },  /* memory is short: the largest shrinks, whatever else is true */
        { { 0, 0, 0.95 }, 3, 10 },
    };
    lks_window w[4] = { window(4, 8, 10, 5, false), window(4, 8, 10, 9, false), window(8, 8, 10, 99, false),
                        window(16, 64, 1000, 999, true) };
    lks_window *all[4] = { &w[0], &w[1], &w[2], &w[3] };
    size_t which;
    int size;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool changes = lks__tuner_rule(&cases[i].p, 4, all, &which, &size);
        assert_int_equal(changes, cases[i].which >= 0);
        if (!changes) continue;
        assert_int_equal(which, cases[i].which);
        assert_int_equal(size, cases[i].size);
    }
    atomic_store(&w[1].size, 7);
    assert_true(lks__tuner_rule(&cases[0].p, 4, all, &which, &size));
    assert_int_equal(size, 8); /* not beyond its most */
    for (int i = 0; i < 4; i++) atomic_store(&w[i].size, 1);
    assert_false(lks__tuner_rule(&cases[3].p, 4, all, &which, &size)); /* one is always allowed */
}

/* Many iterators at once, in threads of their own, some with hardly any memory: windows come, go and change meanwhile. */
static void *read_one(void *user)
{
    const int64_t calls[4] = { LKS_AUTOTUNE, LKS_AUTOTUNE, LKS_AUTOTUNE, LKS_AUTOTUNE };

    for (int i = 0; i < 4; i++) *(uint64_t *)user ^= passes(lks_prefetch(maps(calls), LKS_AUTOTUNE), 0);
    return NULL;
}

static void pipelines_of_several_threads_share_the_tuner(void **state)
{
    static const int64_t apart[4] = { 0, 2, 0, 3 };
    uint64_t expected = passes(lks_prefetch(maps(apart), LKS_AUTOTUNE), 0);
    lks_data_budget budget = { .struct_size = sizeof budget };

    (void)state;
    for (int tight = 0; tight < 2; tight++) {
        pthread_t thread[4];
        uint64_t got[4] = { 0 };
        budget.memory_bytes = tight ? 1 << 16 : 0;
        assert_status(lks_set_data_budget(&budget), LKS_OK);
        for (int i = 0; i < 4; i++) {
            got[i] = expected; /* four equal passes leave what was there */
            assert_int_equal(pthread_create(&thread[i], NULL, read_one, &got[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(thread[i], NULL);
            assert_true(got[i] == expected);
        }
    }
    budget.memory_bytes = 0;
    assert_status(lks_set_data_budget(&budget), LKS_OK);
}

static lks_status part_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    int64_t x = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0));
    lks_dataset *ds = lks_range(100 * x, 100 * x + 30 + x % 7, 1);

    (void)context, (void)user;
    return lks_element_set_dataset(out, 0, lks_map(ds, &twice, .num_parallel_calls = x % 2 ? LKS_AUTOTUNE : 0));
}

static lks_spec *part_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)user;
    return lks_spec_dataset(lks_spec_retain(in));
}
static const lks_map_fn part = { .struct_size = sizeof(lks_map_fn),
                                 .name = "part",
                                 .output_spec = part_spec,
                                 .apply = part_apply,
                                 .flags = LKS_FN_PURE };

static lks_dataset *parts(int64_t calls)
{
    return lks_interleave(lks_range(0, 40, 1), &part, .cycle_length = 20, .block_length = 3,
                          .num_parallel_calls = calls);
}

static void reading_ahead_changes_no_order_and_may_be_given_up(void **state)
{
    uint64_t expected = digest(parts(0));

    (void)state;
    for (int i = 0; i < 5; i++) assert_true(digest(parts(8)) == expected);
    for (int round = 0; round < 100; round++) {
        lks_dataset *ds = parts(LKS_AUTOTUNE);
        lks_iter *it = NULL;
        lks_element *e;
        assert_status(lks_iter_create(ds, &it), LKS_OK);
        lks_dataset_release(ds);
        for (int i = 0; i < round * 3; i++) {
            assert_status(lks_iter_next(it, &e), LKS_OK);
            lks_element_release(e);
        }
        lks_iter_release(it);
    }
}

/* ---- files read beforehand ---- */

static uint64_t contents(int64_t calls, const char *folder)
{
    enum { FILES = 60 };
    lks_tensor *names = lks_tensor_create(LKS_STRING, lks_shape(FILES));
    lks_iter *it = NULL;
    lks_element *e;
    lks_dataset *ds;
    lks_status status;
    uint64_t h = 1469598103934665603u;

    for (int i = 0; i < FILES; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%d", folder, i); /* every seventh is not there */
        assert_status(lks__tensor_set_bytes(names, i, path, strlen(path)), LKS_OK);
    }
    ds = lks_map(lks_from_tensor_slices(names), lks_fn_read_file(), .num_parallel_calls = calls);
    ds = lks_map(ds, lks_fn_decode_raw(LKS_UINT8, lks_shape(-1)), .num_parallel_calls = calls);
    lks_tensor_release(names);
    status = lks_iter_create(ds, &it);
    lks_dataset_release(ds);
    while (status != LKS_END) {
        status = lks_iter_next(it, &e);
        for (const char *c = status == LKS_OK || status == LKS_END ? "" : lks_last_error(); *c != '\0'; c++)
            h = (h ^ (unsigned char)*c) * 1099511628211u;
        if (status != LKS_OK) continue;
        const lks_tensor *t = lks_element_tensor(e, 0);
        for (int64_t i = 0; i < lks_tensor_size(t); i++)
            h = (h ^ ((const unsigned char *)lks_tensor_cdata(t))[i]) * 1099511628211u;
        lks_element_release(e);
    }
    lks_iter_release(it);
    return h;
}

static void files_read_beforehand_are_the_same_files(void **state)
{
    char folder[] = "/tmp/lockstep-tuned-XXXXXX", path[512];
    static const int64_t calls[] = { 1, 3, 16, LKS_AUTOTUNE };
    uint64_t expected;

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 60; i++) {
        FILE *f;
        snprintf(path, sizeof path, "%s/%d", folder, i);
        f = i % 7 == 3 ? NULL : fopen(path, "wb");
        for (int k = 0; f != NULL && k < i * 150; k++) fputc(i + k, f);
        if (f != NULL) fclose(f);
    }
    expected = contents(0, folder);
    for (size_t i = 0; i < 4; i++) assert_true(contents(calls[i], folder) == expected);
    for (int i = 0; i < 60; i++) {
        snprintf(path, sizeof path, "%s/%d", folder, i);
        remove(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_written_in_place_are_the_rows_that_are_copied),
        cmocka_unit_test(who_runs_a_cheap_function_cannot_be_seen),
        cmocka_unit_test(iterators_may_go_while_rows_are_placed),
        cmocka_unit_test(maps_that_run_as_one_give_what_they_give_apart),
        cmocka_unit_test(equal_maps_are_one_stage_and_unequal_ones_are_not),
        cmocka_unit_test(one_window_changes_by_the_rule),
        cmocka_unit_test(pipelines_of_several_threads_share_the_tuner),
        cmocka_unit_test(reading_ahead_changes_no_order_and_may_be_given_up),
        cmocka_unit_test(files_read_beforehand_are_the_same_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
