/* test_data_records.c - Examples and TFRecord files: what is built and written is read back, alone and in batches, in every
 * encoding that protocol buffers allow; what does not fit says why; a warm reader allocates nothing; damage never hurts.
 */
#include "test_records.h"

static lks_features *sample_features(void)
{
    return lks_features_of({ .key = "label", .dtype = LKS_INT64 }, { .key = "name", .dtype = LKS_STRING },
                           { .key = "words", .dtype = LKS_STRING, .kind = LKS_VAR_LEN_FEATURE },
                           { .key = "x", .dtype = LKS_FLOAT32, .kind = LKS_RAGGED_FEATURE });
}

static void see_sample(lks_element *e, int64_t i)
{
    const lks_bytes *text;

    /* label, name, words (dense_shape, indices, values), x */
    assert_int_equal(lks_element_count(e), 6);
    assert_int_equal(*(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 0)), 5 + i);
    text = lks_tensor_cdata(lks_element_tensor(e, 1));
    assert_int_equal(text->size, 3);
    assert_string_equal(text->data, "cat");
    assert_int_equal(*(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 2)), i == 1 ? 0 : i);
    assert_int_equal(lks_tensor_size(lks_element_tensor(e, 4)), i == 1 ? 0 : i);
    assert_int_equal(lks_tensor_size(lks_element_tensor(e, 5)), i + 1);
    if (i == 2) {
        text = lks_tensor_cdata(lks_element_tensor(e, 4));
        assert_string_equal(text[1].data, "bb");
        assert_true(((const float *)lks_tensor_cdata(lks_element_tensor(e, 5)))[1] == -2.0f);
    }
}

static void written_records_are_read_back_in_every_compression(void **state)
{
    static const char *const compression[] = { NULL, "GZIP", "ZLIB" };

    (void)state;
    for (int k = 0; k < 3; k++) {
        const char *file = write_samples("samples.tfrecord", compression[k], 1);
        for (int64_t parallel = 0; parallel < 3; parallel += 2) {
            lks_dataset *ds = lks_tfrecord(1, &file, .compression_type = compression[k]);
            ds = lks_map(ds, lks_parse_example(sample_features()), .num_parallel_calls = parallel);
            assert_int_equal(each(ds, see_sample), RECORDS);
        }
        unlink(file);
    }
}

static void records_are_dealt_out_to_shards(void **state)
{
    char names[2][128];
    const char *p = write_samples("many", NULL, 2), *files[] = { names[0], names[1] };

    (void)state;
    for (int k = 0; k < 2; k++) snprintf(names[k], sizeof names[k], "%s-%05d-of-00002", p, k);
    assert_int_equal(
        each(lks_map(lks_tfrecord(2, files, .num_parallel_reads = 2), lks_parse_example(sample_features())),
             see_sample),
        RECORDS);
}

static void a_writer_that_gives_up_leaves_nothing(void **state)
{
    lks_record_writer *w = NULL;
    char command[160];

    (void)state;
    assert_status(lks_record_writer_open(&w, path("gone.tfrecord"), .num_shards = 3), LKS_OK);
    assert_status(lks_record_writer_write(w, "abc", 3), LKS_OK);
    lks_record_writer_drop(w);
    snprintf(command, sizeof command, "ls %s | grep -q gone", folder);
    assert_int_not_equal(system(command), 0);
    assert_status(lks_record_writer_open(&w, path("x"), .compression_type = "SNAPPY"), LKS_E_ARG);
    assert_status(lks_record_writer_open(&w, path("none/x")), LKS_E_IO);
}

static void see_batch(lks_element *e, int64_t i)
{
    static const int64_t indices[] = { 2, 0, 2, 1 };
    const int64_t *label = lks_tensor_cdata(lks_element_tensor(e, 0));
    const lks_ragged *x = lks_element_ragged(e, 5);
    const int64_t *split = lks_tensor_cdata(lks_ragged_split(x, 0)), *shape;

    (void)i;
    assert_int_equal(lks_tensor_size(lks_element_tensor(e, 0)), RECORDS);
    for (int k = 0; k < RECORDS; k++) assert_int_equal(label[k], 5 + k);
    shape = lks_tensor_cdata(lks_element_tensor(e, 2));
    assert_int_equal(shape[0], RECORDS);
    assert_int_equal(shape[1], 2);
    assert_memory_equal(lks_tensor_cdata(lks_element_tensor(e, 3)), indices, sizeof indices);
    assert_int_equal(split[3], 6);
    assert_int_equal(split[2], 3);
}

static void a_batch_is_parsed_at_once(void **state)
{
    const char *file = write_samples("batch.tfrecord", NULL, 1);

    (void)state;
    assert_int_equal(
        each(lks_map(lks_batch(lks_tfrecord(1, &file), 4), lks_parse_example(sample_features())), see_batch), 1);
    unlink(file);
}

static void see_padded(lks_element *e, int64_t i)
{
    static const float expected[] = { 1.5f, -1, -1, 1.5f, -2.0f, -1, 1.5f, -2.0f, 0.25f };

    (void)i;
    assert_int_equal(lks_tensor_shape(lks_element_tensor(e, 0)).dim[1], 3);
    assert_memory_equal(lks_tensor_cdata(lks_element_tensor(e, 0)), expected, sizeof expected);
}

static void short_rows_of_a_sequence_are_padded_in_a_batch(void **state)
{
    const char *file = write_samples("padded.tfrecord", NULL, 1);
    const float pad = -1;
    lks_tensor *padding = lks_tensor_from(LKS_FLOAT32, lks_shape_of(0, NULL), &pad);
    const lks_feature x = {
        .key = "x", .dtype = LKS_FLOAT32, .kind = LKS_FIXED_LEN_SEQUENCE_FEATURE, .default_value = padding
    };

    (void)state;
    each(lks_map(lks_batch(lks_tfrecord(1, &file), 4), lks_parse_example(lks_features_create(1, sizeof x, &x))),
         see_padded);
    lks_tensor_release(padding);
    unlink(file);
}

/* The serialized Example as a dataset of one. */
static lks_dataset *record(const void *bytes, size_t n)
{
    lks_tensor *t = lks_tensor_create(LKS_STRING, lks_shape_of(0, NULL));
    lks_dataset *ds;

    assert_status(lks__tensor_set_bytes(t, 0, bytes, n), LKS_OK);
    ds = lks_from_tensors(t);
    lks_tensor_release(t);
    return ds;
}

static lks_status parse_one(lks_dataset *ds, const lks_map_fn *fn)
{
    lks_iter *it = NULL;
    lks_element *e = NULL;
    lks_status status;

    ds = lks_map(ds, fn);
    status = lks_iter_create(ds, &it);
    if (status == LKS_OK) status = lks_iter_next(it, &e);
    if (status == LKS_OK) lks_element_release(e);
    lks_iter_release(it);
    lks_dataset_release(ds);
    return status;
}

static void what_does_not_fit_is_said(void **state)
{
    static const struct {
        lks_feature feature;
        lks_status status;
        const char *word;
    } cases[] = {
        { { .key = "label", .dtype = LKS_FLOAT32 }, LKS_E_ARG, "holds int64 values, wanted are float" },
        { { .key = "x", .dtype = LKS_FLOAT32, .shape = { .rank = 1, .dim = { 2 } } }, LKS_E_ARG, "holds 3 float" },
        { { .key = "absent", .dtype = LKS_INT64 }, LKS_E_ARG, "'absent' (int64) is required" },
        { { .key = "x",
            .dtype = LKS_FLOAT32,
            .kind = LKS_FIXED_LEN_SEQUENCE_FEATURE,
            .shape = { .rank = 1, .dim = { 2 } } },
          LKS_E_ARG,
          "no multiple" },
        { { .key = "label", .dtype = LKS_INT32 }, LKS_E_ARG, "dtype must be" },
        { { .key = "label", .dtype = LKS_INT64, .shape = { .rank = 1, .dim = { -1 } } }, LKS_E_ARG, "known sizes" },
        { { .key = NULL, .dtype = LKS_INT64 }, LKS_E_ARG, "no key" },
    };
    lks_example *e = sample(2);
    void *bytes;
    size_t n;

    (void)state;
    assert_status(lks_example_encode(e, &bytes, &n), LKS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_features *f = lks_features_create(1, sizeof(lks_feature), &cases[i].feature);
        assert_status(parse_one(record(bytes, n), lks_parse_example(f)), cases[i].status);
        if (strstr(lks_last_error(), cases[i].word) == NULL)
            fail_msg("'%s' lacks '%s'", lks_last_error(), cases[i].word);
    }
    assert_status(parse_one(record("hello, world", 12), lks_parse_example(sample_features())), LKS_E_FORMAT);
    assert_non_null(strstr(lks_last_error(), "serialized Example?"));
    assert_status(parse_one(lks_range(0, 3, 1), lks_parse_example(sample_features())), LKS_E_SHAPE);
    lks_free(bytes);
    lks_example_release(e);
}

static void equal_examples_are_equal_bytes(void **state)
{
    static const unsigned char expected[] = {
        /* spec: { label: 5, name: "cat", x: [1.5, -2] } */
        0x0A, 0x34, 0x0A, 0x0E, 0x0A, 0x05, 'l',  'a',  'b',  'e',  'l',  0x12, 0x05, 0x1A, 0x03, 0x0A, 0x01, 0x05,
        0x0A, 0x0F, 0x0A, 0x04, 'n',  'a',  'm',  'e',  0x12, 0x07, 0x0A, 0x05, 0x0A, 0x03, 'c',  'a',  't',  0x0A,
        0x11, 0x0A, 0x01, 'x',  0x12, 0x0C, 0x12, 0x0A, 0x0A, 0x08, 0,    0,    0xC0, 0x3F, 0,    0,    0,    0xC0
    };
    const float x[] = { 1.5f, -2.0f };
    const int64_t label = 5;
    lks_tensor *t = lks_tensor_from(LKS_INT64, lks_shape_of(0, NULL), &label), *small = lks_tensor_cast(t, LKS_UINT8);
    lks_example *e = lks_example_create();

    (void)state;
    for (int round = 0; round < 3; round++) {
        void *bytes;
        size_t n;
        lks_example_clear(e);
        if (round == 1) lks_example_set_int64(e, "label", 1, &(int64_t){ -7 }); /* replaced below */
        lks_example_set_float(e, "x", 2, x);
        lks_example_set_bytes(e, "name", 1, &(lks_bytes){ "cat", 3 });
        assert_status(lks_example_set_tensor(e, "label", small), LKS_OK);
        assert_status(lks_example_encode(e, &bytes, &n), LKS_OK);
        assert_int_equal(n, sizeof expected);
        assert_memory_equal(bytes, expected, n);
        lks_free(bytes);
    }
    lks_tensor_release(small);
    lks_tensor_release(t);
    lks_example_release(e);
}

static void see_sequence(lks_element *e, int64_t i)
{
    static const int64_t indices[] = { 0, 0, 1, 0, 1, 1 };
    const int64_t *shape = lks_tensor_cdata(lks_element_tensor(e, 3));

    (void)i; /* context: id; lists: emb, none (3), t (3) -> emb, none ragged, t sparse */
    assert_int_equal(*(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 0)), 9);
    assert_int_equal(lks_tensor_shape(lks_element_tensor(e, 1)).dim[0], 2);
    assert_true(((const float *)lks_tensor_cdata(lks_element_tensor(e, 1)))[3] == -1.0f);
    assert_int_equal(lks_tensor_size(lks_ragged_values(lks_element_ragged(e, 2))), 0);
    assert_int_equal(shape[0], 2);
    assert_int_equal(shape[1], 2);
    assert_memory_equal(lks_tensor_cdata(lks_element_tensor(e, 4)), indices, sizeof indices);
}

static void sequence_examples_have_a_context_and_lists(void **state)
{
    const int64_t id = 9, steps[] = { 1, 2, 3 };
    const float emb[] = { 0.5f, 1.5f, 2.5f, -1.0f };
    const lks_shape pair = { .rank = 1, .dim = { 2 } }, three = { .rank = 1, .dim = { 3 } };
    lks_example *e = lks_example_create();
    void *bytes;
    size_t n;

    (void)state;
    lks_example_set_int64(e, "id", 1, &id);
    assert_status(lks_example_add_bytes(e, "unread", 1, &(lks_bytes){ "z", 1 }), LKS_OK);
    lks_example_add_int64(e, "t", 1, steps);
    lks_example_add_int64(e, "t", 2, steps + 1);
    lks_example_add_float(e, "emb", 2, emb);
    lks_example_add_float(e, "emb", 2, emb + 2);
    assert_status(lks_example_encode(e, &bytes, &n), LKS_OK);
    assert_int_equal(each(lks_map(record(bytes, n),
                                  lks_parse_sequence_example(
                                      lks_features_of({ .key = "id", .dtype = LKS_INT64 }),
                                      lks_features_of({ .key = "t", .dtype = LKS_INT64, .kind = LKS_VAR_LEN_FEATURE },
                                                      { .key = "none", .dtype = LKS_INT64, .kind = LKS_RAGGED_FEATURE },
                                                      { .key = "emb",
                                                        .dtype = LKS_FLOAT32,
                                                        .kind = LKS_FIXED_LEN_SEQUENCE_FEATURE,
                                                        .shape = pair }))),
                          see_sequence),
                     1);
    const lks_feature bad[] = {
        { .key = "emb", .dtype = LKS_FLOAT32, .kind = LKS_FIXED_LEN_SEQUENCE_FEATURE, .shape = three },
        { .key = "absent", .dtype = LKS_INT64, .kind = LKS_FIXED_LEN_SEQUENCE_FEATURE },
        { .key = "t", .dtype = LKS_STRING, .kind = LKS_RAGGED_FEATURE },
    };
    for (int k = 0; k < 3; k++) {
        assert_status(
            parse_one(record(bytes, n), lks_parse_sequence_example(NULL, lks_features_create(1, sizeof *bad, &bad[k]))),
            LKS_E_ARG);
        assert_non_null(strstr(lks_last_error(), bad[k].key));
    }
    lks_free(bytes);
    lks_example_release(e);
}

static void a_parse_error_names_file_and_record(void **state)
{
    const char *file = write_samples("names.tfrecord", NULL, 1);

    (void)state;
    for (int batched = 0; batched < 2; batched++) {
        lks_dataset *ds = lks_skip(lks_tfrecord(1, &file), 1);
        if (batched) ds = lks_batch(ds, 2);
        assert_status(parse_one(ds, lks_parse_example(lks_features_of({ .key = "words", .dtype = LKS_STRING }))),
                      LKS_E_ARG);
        assert_non_null(strstr(lks_last_error(), "names.tfrecord', record 1, offset "));
    }
    unlink(file);
}

/* Damaged Examples give elements or sentences, whatever byte is hit. (Memory is the sanitizers' concern.) */
static void damage_is_survived(void **state)
{
    lks_example *e = sample(2);
    lks_features *features = sample_features();
    unsigned char copy[256];
    void *bytes;
    size_t n;

    (void)state;
    assert_status(lks_example_encode(e, &bytes, &n), LKS_OK);
    assert_true(n < sizeof copy);
    for (size_t at = 0; at < n; at++)
        for (int change = 0; change < 12; change++) {
            size_t size = change == 11 ? at : n;
            memcpy(copy, bytes, n);
            copy[at] = (unsigned char)(change < 8 ? copy[at] ^ 1 << change : change == 8 ? 0xff : copy[at] + change);
            parse_one(record(copy, size), lks_parse_example(lks_features_retain(features)));
        }
    lks_features_release(features);
    lks_free(bytes);
    lks_example_release(e);
}

/* Allocations of a whole pass over `rounds` copies of the file. */
static long allocations(const char *file, int64_t rounds, bool batched)
{
    lks_dataset *ds = lks_repeat(lks_tfrecord(1, &file), rounds);
    lks_iter *it = NULL;
    lks_element *e;
    long n;

    if (batched) ds = lks_batch(ds, RECORDS);
    failing_start(0);
    ds = lks_map(ds, lks_parse_example(
                         lks_features_of({ .key = "label", .dtype = LKS_INT64 }, { .key = "name", .dtype = LKS_STRING },
                                         { .key = "words", .dtype = LKS_STRING, .kind = LKS_VAR_LEN_FEATURE },
                                         { .key = "x", .dtype = LKS_FLOAT32, .kind = LKS_RAGGED_FEATURE })));
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    while (lks_iter_next(it, &e) == LKS_OK) lks_element_release(e);
    lks_iter_release(it);
    lks_dataset_release(ds);
    n = failing.count;
    failing_stop();
    return n;
}

static void a_warm_reader_allocates_nothing_for_a_record(void **state)
{
    const char *file = write_samples("warm.tfrecord", NULL, 1);
    long per_file;

    (void)state;
    /* A new file costs a few allocations (repeat opens the input anew), its records none. */
    per_file = (allocations(file, 110, false) - allocations(file, 10, false)) / 100;
    assert_true(per_file < 40);
    unlink(file);
    lks_record_writer *w = NULL;
    assert_status(lks_record_writer_open(&w, file), LKS_OK);
    for (int64_t i = 0; i < 300; i++) {
        lks_example *e = sample(i % 3);
        assert_status(lks_record_writer_write_example(w, e), LKS_OK);
        lks_example_release(e);
    }
    assert_status(lks_record_writer_close(w), LKS_OK);
    assert_true(allocations(file, 1, false) < 150);
    unlink(file);
}

static void every_failed_allocation_is_reported(void **state)
{
    const char *file = write_samples("memory.tfrecord", NULL, 1);
    lks_status status = LKS_OK;

    (void)state;
    EVERY_ALLOCATION_FAILS(
        {
            lks_dataset *ds = lks_batch(lks_tfrecord(1, &file), 2);
            lks_iter *it = NULL;
            lks_element *e = NULL;
            ds = lks_map(ds, lks_parse_example(sample_features()));
            status = ds == NULL ? LKS_E_NOMEM : lks_iter_create(ds, &it);
            while (status == LKS_OK && (status = lks_iter_next(it, &e)) == LKS_OK) lks_element_release(e);
            if (status == LKS_END) status = LKS_OK;
            lks_iter_release(it);
            lks_dataset_release(ds);
        },
        {});
    EVERY_ALLOCATION_FAILS(
        {
            lks_example *e = lks_example_create();
            lks_record_writer *w = NULL;
            status = e == NULL ? LKS_E_NOMEM : lks_example_set_bytes(e, "k", 1, &(lks_bytes){ "v", 1 });
            if (status == LKS_OK) status = lks_example_add_int64(e, "t", 1, &(int64_t){ 3 });
            if (status == LKS_OK)
                status = lks_record_writer_open(&w, path("memory.out"), .num_shards = 2, .compression_type = "GZIP");
            if (status == LKS_OK) status = lks_record_writer_write_example(w, e);
            if (status == LKS_OK) status = lks_record_writer_close(w);
            else lks_record_writer_drop(w);
            lks_example_release(e);
        },
        {});
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_records_are_read_back_in_every_compression),
        cmocka_unit_test(records_are_dealt_out_to_shards),
        cmocka_unit_test(a_writer_that_gives_up_leaves_nothing),
        cmocka_unit_test(a_batch_is_parsed_at_once),
        cmocka_unit_test(short_rows_of_a_sequence_are_padded_in_a_batch),
        cmocka_unit_test(what_does_not_fit_is_said),
        cmocka_unit_test(equal_examples_are_equal_bytes),
        cmocka_unit_test(sequence_examples_have_a_context_and_lists),
        cmocka_unit_test(a_parse_error_names_file_and_record),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(a_warm_reader_allocates_nothing_for_a_record),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
