/* test_data_blocks.c - batches that the workers of a parallel map make as a whole are the batches that one thread makes, with the same failures
 * in the same places and words, from any saved place, whenever an iterator goes.
 *
 * ctest labels: concurrent
 */
#include "test_records.h"

#include <stdbool.h>

typedef struct plan {
    int64_t n, batch;
    int64_t bad;       /* elements after which one fails; 0: none */
    int64_t long_ones; /* the same for one of another length */
    bool drop;
} plan;

static lks_spec *text_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_tuple_of(lks_spec_tensor(LKS_STRING, (lks_shape){ .rank = 0 }),
                             lks_spec_tensor(LKS_INT64, lks_shape(-1)), lks_spec_tensor(LKS_INT64, lks_shape(40)));
}

/* x -> its name, (x, x + 1), forty numbers with a draw; some fail, some have three numbers instead of two. */
static lks_status text_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const plan *p = user;
    int64_t x = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(in, 0));
    lks_tensor *name = lks_element_output(out, 0);
    lks_tensor *few = lks_element_output_shaped(out, 1, lks_shape(p->long_ones > 0 && x % p->long_ones == 5 ? 3 : 2));
    lks_tensor *many = lks_element_output(out, 2);
    uint32_t words[4];
    char text[64];

    if (name == NULL || few == NULL || many == NULL) return LKS_E_NOMEM;
    snprintf(text, sizeof text, "element %lld, a text of some length", (long long)x);
    if (lks_element_set_bytes(out, 0, 0, text, strlen(text)) != LKS_OK) return LKS_E_NOMEM;
    for (int64_t i = 0; i < lks_tensor_size(few); i++) ((int64_t *)lks_tensor_data(few))[i] = x + i;
    lks_map_random(context, 1, 0, words);
    for (int64_t i = 0; i < 40; i++) ((int64_t *)lks_tensor_data(many))[i] = x * i + words[0] % 1000;
    if (p->bad > 0 && x % p->bad == 3) return lks_fail(LKS_E_ARG, "planned failure at %lld", (long long)x);
    return LKS_OK;
}

static lks_dataset *batches(const plan *p, int64_t calls)
{
    lks_map_fn fn = { .struct_size = sizeof fn,
                      .name = "text",
                      .output_spec = text_spec,
                      .apply = text_apply,
                      .flags = LKS_FN_PURE | LKS_FN_RANDOM,
                      .user = (void *)p };

    return lks_batch(lks_map(lks_range(0, p->n, 1), &fn, .num_parallel_calls = calls), p->batch,
                     .drop_remainder = p->drop ? LKS_TRUE : LKS_FALSE);
}

static uint64_t mix(uint64_t h, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++) h = (h ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    return h;
}

static uint64_t mix_element(uint64_t h, const lks_element *e)
{
    for (size_t c = 0; c < lks_element_count(e); c++) {
        const lks_tensor *t = lks_element_tensor(e, c);
        const lks_bytes *text = lks_tensor_cdata(t);
        lks_shape shape = lks_tensor_shape(t);
        h = mix(h, shape.dim, (size_t)shape.rank * sizeof *shape.dim);
        if (lks_tensor_dtype(t) != LKS_STRING)
            h = mix(h, text, (size_t)lks_tensor_size(t) * lks_dtype_size(lks_tensor_dtype(t)));
        for (int64_t i = 0; lks_tensor_dtype(t) == LKS_STRING && i < lks_tensor_size(t); i++)
            h = mix(h, text[i].data, text[i].size);
    }
    return h;
}

/* A number that depends on every value, shape, failure and word of what is left. */
static uint64_t digest_rest(lks_iter *it)
{
    uint64_t h = 1469598103934665603u;
    lks_status status = LKS_OK;

    while (status != LKS_END) {
        lks_element *e;
        status = lks_iter_next(it, &e);
        h = mix(h, &status, sizeof status);
        if (status == LKS_OK) {
            h = mix_element(h, e);
            lks_element_release(e);
        } else if (status != LKS_END) {
            h = mix(h, lks_last_error(), strlen(lks_last_error()));
        }
    }
    return h;
}

static uint64_t digest(lks_dataset *ds)
{
    lks_iter *it = NULL;
    uint64_t h;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    lks_dataset_release(ds);
    h = digest_rest(it);
    lks_iter_release(it);
    return h;
}

static const plan plans[] = {
    { .n = 3000, .batch = 8 },
    { .n = 3001, .batch = 7, .drop = true },
    { .n = 3003, .batch = 100 },
    { .n = 5, .batch = 8 },
    { .n = 900, .batch = 1 },
    { .n = 3000, .batch = 8, .bad = 37 },
    { .n = 3000, .batch = 32, .bad = 200, .drop = true },
    { .n = 500, .batch = 4, .bad = 4 },
    { .n = 3000, .batch = 16, .long_ones = 61 },
    { .n = 3000, .batch = 10, .bad = 83, .long_ones = 47 },
    { .n = 6000, .batch = 5000, .bad = 700 },
};
enum { PLANS = sizeof plans / sizeof *plans };
static const int64_t calls[] = { 2, 5, LKS_AUTOTUNE };

static void batches_of_workers_are_those_of_one_thread(void **state)
{
    (void)state;
    for (int i = 0; i < PLANS; i++) {
        uint64_t one = digest(batches(&plans[i], 0));
        for (size_t k = 0; k < 3; k++) assert_true(digest(batches(&plans[i], calls[k])) == one);
        assert_true(digest(lks_prefetch(batches(&plans[i], LKS_AUTOTUNE), 3)) == one);
    }
    assert_true(digest(batches(&plans[0], 0)) != digest(batches(&plans[2], 0)));
}

/* Up to `n` results. */
static void go_on(lks_iter *it, int n)
{
    lks_element *e;

    for (lks_status status = LKS_OK; n > 0 && status != LKS_END; n--) {
        status = lks_iter_next(it, &e);
        if (status == LKS_OK) lks_element_release(e);
    }
}

/* Reads `stop` results; then, if it is to be saved, both the iterator and one over `again` (the same pipeline) give the same rest. Takes both
 * datasets over. */
static void stop_in_a_pass(lks_dataset *ds, lks_dataset *again, int stop, bool save)
{
    lks_iter *it = NULL, *restored = NULL;
    void *bytes = NULL;
    size_t size;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    go_on(it, stop);
    if (save) {
        assert_status(lks_iter_save(it, &bytes, &size), LKS_OK);
        assert_status(lks_iter_restore(again, bytes, size, &restored), LKS_OK);
        assert_true(digest_rest(restored) == digest_rest(it));
        lks_free(bytes);
    }
    lks_iter_release(it);
    lks_iter_release(restored);
    lks_dataset_release(ds);
    lks_dataset_release(again);
}

static void a_pass_is_saved_between_batches_of_workers(void **state)
{
    (void)state;
    for (int i = 0; i < PLANS; i++)
        for (int stop = 1; stop < 60; stop += 19)
            stop_in_a_pass(batches(&plans[i], LKS_AUTOTUNE), batches(&plans[i], LKS_AUTOTUNE), stop, true);
}

static void iterators_may_go_between_batches_of_workers(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        const plan *p = &plans[round % PLANS];
        lks_dataset *ds = batches(p, round % 3 ? LKS_AUTOTUNE : 3);
        lks_iter *it = NULL;
        if (round % 2) ds = lks_prefetch(ds, 2);
        assert_status(lks_iter_create(ds, &it), LKS_OK);
        lks_dataset_release(ds);
        go_on(it, round % 23);
        if (round % 5 == 0) lks_iter_cancel(it);
        lks_iter_release(it);
    }
}

/* Failures are passed over, and what comes after them is what one thread gives. */
static void failures_may_be_ignored(void **state)
{
    (void)state;
    for (int i = 0; i < PLANS; i++)
        assert_true(digest(lks_ignore_errors(batches(&plans[i], LKS_AUTOTUNE))) ==
                    digest(lks_ignore_errors(batches(&plans[i], 0))));
}

/* ---- records, which are parsed into rows of the batch ---- */

enum { LINES = 1500 };

static const char *write_records(const char *name, int64_t bad)
{
    const char *p = path(name);
    lks_record_writer *w = NULL;

    assert_status(lks_record_writer_open(&w, p), LKS_OK);
    for (int64_t i = 0; i < LINES; i++) {
        lks_example *e = lks_example_create();
        const float x[3] = { (float)i, 0.5f, (float)-i };
        char text[300];
        snprintf(text, sizeof text, "%0*lld", (int)(i % 250 + 1), (long long)i);
        assert_status(lks_example_set_int64(e, "label", 1, &i), LKS_OK);
        assert_status(lks_example_set_float(e, "x", bad > 0 && i % bad == 3 ? 2 : 3, x), LKS_OK);
        assert_status(lks_example_set_bytes(e, "name", 1, &(lks_bytes){ text, strlen(text) }), LKS_OK);
        assert_status(lks_record_writer_write_example(w, e), LKS_OK);
        lks_example_release(e);
    }
    assert_status(lks_record_writer_close(w), LKS_OK);
    return p;
}

static lks_dataset *parsed(const char *file, int64_t parallel, int64_t batch)
{
    lks_features *f = lks_features_of({ .key = "label", .dtype = LKS_INT64 },
                                      { .key = "x", .dtype = LKS_FLOAT32, .shape = { .rank = 1, .dim = { 3 } } },
                                      { .key = "name", .dtype = LKS_STRING });

    return lks_batch(lks_map(lks_tfrecord(1, &file), lks_parse_example(f), .num_parallel_calls = parallel), batch);
}

static void records_are_parsed_into_the_rows_of_batches(void **state)
{
    static const int64_t bad[] = { 0, 50, 333, 7 }, batch[] = { 8, 32, 100, 999 };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const char *file = write_records("blocks.tfrecord", bad[i]);
        for (size_t k = 0; k < 4; k++) {
            uint64_t one = digest(parsed(file, 0, batch[k]));
            assert_true(digest(parsed(file, 3, batch[k])) == one);
            assert_true(digest(parsed(file, LKS_AUTOTUNE, batch[k])) == one);
            assert_true(digest(lks_repeat(parsed(file, LKS_AUTOTUNE, batch[k]), 3)) ==
                        digest(lks_repeat(parsed(file, 0, batch[k]), 3)));
        }
    }
}

/* ---- rows of arrays, gathered by workers ---- */

static lks_dataset *pictures(int64_t n, int64_t batch, int64_t parallel, bool drop)
{
    lks_tensor *x = lks_tensor_create(LKS_UINT8, lks_shape(n, 28, 28, 1)),
               *y = lks_tensor_create(LKS_INT64, lks_shape(n));
    lks_dataset *ds;

    for (int64_t i = 0; x != NULL && i < n * 784; i++) ((uint8_t *)lks_tensor_data(x))[i] = (uint8_t)(i * 7 + i / 784);
    for (int64_t i = 0; y != NULL && i < n; i++) ((int64_t *)lks_tensor_data(y))[i] = i % 10;
    ds = lks_from_tensor_slices(x, y);
    lks_tensor_release(x);
    lks_tensor_release(y);
    ds = lks_map(ds, lks_cast_rescale_onehot, .depth = 10, .num_parallel_calls = parallel);
    ds = lks_repeat(lks_shuffle(ds, 300, .seed = 5), 2);
    return lks_batch(ds, batch, .drop_remainder = drop ? LKS_TRUE : LKS_FALSE);
}

static void rows_gathered_by_workers_are_those_of_one_thread(void **state)
{
    static const int64_t n[] = { 1000, 1024, 1000, 100 }, batch[] = { 64, 64, 100, 300 };

    (void)state;
    for (int i = 0; i < 8; i++) {
        uint64_t one = digest(pictures(n[i / 2], batch[i / 2], 0, i % 2));
        assert_true(digest(pictures(n[i / 2], batch[i / 2], LKS_AUTOTUNE, i % 2)) == one);
        assert_true(digest(lks_prefetch(pictures(n[i / 2], batch[i / 2], 2, i % 2), 2)) == one);
    }
    assert_true(digest(pictures(1000, 64, 0, false)) != digest(pictures(1000, 100, 0, false)));
}

static void gathering_may_be_given_up_and_resumed(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++)
        stop_in_a_pass(pictures(600, 50, LKS_AUTOTUNE, round % 2), pictures(600, 50, LKS_AUTOTUNE, round % 2),
                       round % 25, round % 4 == 0);
}

static void every_allocation_may_fail(void **state)
{
    static const plan small = { .n = 60, .batch = 4 };
    const char *file = write_records("few.tfrecord", 0);
    lks_status status;

    (void)state;
    EVERY_ALLOCATION_FAILS(status = read_some(batches(&small, 3), 100), {});
    EVERY_ALLOCATION_FAILS(status = read_some(parsed(file, 2, 16), 12), {});
    EVERY_ALLOCATION_FAILS(status = read_some(pictures(200, 60, 2, false), 100), {});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_of_workers_are_those_of_one_thread),
        cmocka_unit_test(a_pass_is_saved_between_batches_of_workers),
        cmocka_unit_test(iterators_may_go_between_batches_of_workers),
        cmocka_unit_test(failures_may_be_ignored),
        cmocka_unit_test(records_are_parsed_into_the_rows_of_batches),
        cmocka_unit_test(rows_gathered_by_workers_are_those_of_one_thread),
        cmocka_unit_test(gathering_may_be_given_up_and_resumed),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
