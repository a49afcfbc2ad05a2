/* test_data_long_records.c - records that are parts of a block, of several blocks, or more than all that is read ahead: every byte of them
 * comes out, whether a string was taken from its record or copied, in the first pass and in those that use its memory again.
 *
 * ctest labels: concurrent
 */
#include "test_records.h"

enum { COUNT = 260, LONGEST = 3 << 20 }; /* LONGEST: of the one that is longest */

static size_t size_of(int64_t i)
{
    return i == 77 ? LONGEST : i % 50 == 3 ? 600000 : i % 7 == 0 ? (size_t)i : (size_t)(3000 + i * 131 % 20000);
}

static char byte_at(int64_t i, size_t k)
{
    return (char)(k * 31 + k / 977 + (size_t)i);
}

static const char *write_long(void)
{
    const char *p = path("long.tfrecord");
    lks_record_writer *w = NULL;
    char *bytes = malloc(LONGEST);

    assert_status(lks_record_writer_open(&w, p), LKS_OK);
    for (int64_t i = 0; i < COUNT; i++) {
        lks_example *e = lks_example_create();
        for (size_t k = 0; k < size_of(i); k++) bytes[k] = byte_at(i, k);
        assert_status(lks_example_set_int64(e, "label", 1, &i), LKS_OK);
        assert_status(lks_example_set_bytes(e, "image", 1, &(lks_bytes){ bytes, size_of(i) }), LKS_OK);
        assert_status(lks_example_set_bytes(e, "zebra", 1, &(lks_bytes){ "zz", 2 }), LKS_OK);
        assert_status(lks_record_writer_write_example(w, e), LKS_OK);
        lks_example_release(e);
    }
    assert_status(lks_record_writer_close(w), LKS_OK);
    free(bytes);
    return p;
}

static void see_record(const lks_bytes *image, int64_t label, const lks_bytes *zebra, int64_t i)
{
    int wrong = 0;

    assert_int_equal(label, i);
    assert_int_equal(image->size, size_of(i));
    for (size_t k = 0; k < image->size; k++) wrong += image->data[k] != byte_at(i, k);
    assert_int_equal(wrong, 0);
    assert_int_equal(image->data[image->size], 0);
    assert_string_equal(zebra->data, "zz");
}

/* Batches or single elements, from record `first` on. */
static void see_pass(lks_dataset *ds, int64_t first)
{
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status;
    int64_t i = first;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    while ((status = lks_iter_next(it, &e)) == LKS_OK) {
        int64_t n = lks_tensor_size(lks_element_tensor(e, 1));
        for (int64_t k = 0; k < n; k++, i++)
            see_record((const lks_bytes *)lks_tensor_cdata(lks_element_tensor(e, 0)) + k,
                       ((const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 1)))[k],
                       (const lks_bytes *)lks_tensor_cdata(lks_element_tensor(e, 2)) + k, i);
        lks_element_release(e);
    }
    assert_status(status, LKS_END);
    assert_int_equal(i, COUNT);
    lks_iter_release(it);
}

static lks_features *features(void)
{
    return lks_features_of({ .key = "image", .dtype = LKS_STRING }, { .key = "label", .dtype = LKS_INT64 },
                           { .key = "zebra", .dtype = LKS_STRING });
}

static void every_byte_comes_out(void **state)
{
    static const int64_t parallel[] = { 0, 3, LKS_AUTOTUNE }, first[] = { 0, 5, 150 };
    const char *file = write_long();

    (void)state;
    for (int kind = 0; kind < 12; kind++) {
        int64_t calls = parallel[kind % 3], from = first[(kind / 3 + kind) % 3];
        lks_dataset *ds = lks_skip(lks_tfrecord(1, &file), from);
        if (kind / 6 == 1) ds = lks_cache(ds); /* holds what the function may not take then */
        if (kind / 3 % 2 == 1) ds = lks_batch(ds, 9);
        ds = lks_map(ds, lks_parse_example(features()), .num_parallel_calls = calls);
        for (int pass = 0; pass < 3; pass++) see_pass(ds, from);
        lks_dataset_release(ds);
    }
}

/* What stays with the consumer stays as it is while others are made. */
static void elements_that_are_held_keep_their_bytes(void **state)
{
    enum { HELD = 20 };
    const char *file = write_long();
    lks_dataset *ds = lks_map(lks_tfrecord(1, &file), lks_parse_example(features()), .num_parallel_calls = 2);
    lks_element *e[HELD] = { NULL };
    lks_iter *it = NULL;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    for (int64_t i = 0; i < COUNT; i++) {
        lks_element **place = &e[i < HELD - 1 ? i : HELD - 1];
        lks_element_release(*place);
        assert_status(lks_iter_next(it, place), LKS_OK);
    }
    lks_iter_release(it);
    see_pass(ds, 0);
    for (int64_t i = 0; i < HELD - 1; i++) {
        see_record(lks_tensor_cdata(lks_element_tensor(e[i], 0)),
                   *(const int64_t *)lks_tensor_cdata(lks_element_tensor(e[i], 1)),
                   lks_tensor_cdata(lks_element_tensor(e[i], 2)), i);
        lks_element_release(e[i]);
    }
    lks_element_release(e[HELD - 1]);
    lks_dataset_release(ds);
}

/* ---- frames that are checked while they are read ahead ---- */

enum { SHORT = 4000 };

/* Records of 1 to 900 bytes, some 1.8 MB; one byte at `at` is another (0: none). */
static const char *write_short(long at)
{
    const char *p = path("short.tfrecord");
    lks_record_writer *w = NULL;
    char bytes[900];
    FILE *f;

    assert_status(lks_record_writer_open(&w, p), LKS_OK);
    for (int64_t i = 0; i < SHORT; i++) {
        size_t n = (size_t)(i * 7919 % 900 + 1);
        for (size_t k = 0; k < n; k++) bytes[k] = byte_at(i, k);
        assert_status(lks_record_writer_write(w, bytes, n), LKS_OK);
    }
    assert_status(lks_record_writer_close(w), LKS_OK);
    if (at == 0) return p;
    f = fopen(p, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    int c = fgetc(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    fputc(c ^ 16, f);
    fclose(f);
    return p;
}

/* A number that depends on all records and on the words of all failures. */
static uint64_t digest(const char *file, int64_t buffer_size)
{
    lks_dataset *ds = lks_tfrecord(1, &file, .buffer_size = buffer_size);
    lks_iter *it = NULL;
    lks_status status = LKS_OK;
    uint64_t h = 1469598103934665603u;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    lks_dataset_release(ds);
    for (int64_t n = 0; status != LKS_END && n < 2 * SHORT; n++) {
        lks_element *e = NULL;
        lks_bytes text;
        status = lks_iter_next(it, &e);
        text = status == LKS_OK
                   ? *(const lks_bytes *)lks_tensor_cdata(lks_element_tensor(e, 0))
                   : (lks_bytes){ (char *)lks_last_error(), status == LKS_END ? 0 : strlen(lks_last_error()) };
        for (size_t k = 0; k < text.size; k++) h = (h ^ (unsigned char)text.data[k]) * 1099511628211u;
        h = (h ^ (uint64_t)status) * 1099511628211u;
        if (status == LKS_OK) lks_element_release(e);
    }
    lks_iter_release(it);
    return h;
}

static void frames_are_checked_wherever_they_are_read(void **state)
{
    const int64_t whole = 8 << 20; /* more than is read ahead */
    uint64_t good = digest(write_short(0), whole), bad;

    (void)state;
    for (int64_t size = 1 << 16; size < 1 << 19; size += 12345) assert_true(digest(write_short(0), size) == good);
    for (long at = 1; at < 1 << 20; at += 54321) {
        const char *file = write_short(at);
        bad = digest(file, whole);
        assert_true(bad != good);
        for (int64_t size = 1 << 16; size < 1 << 18; size += 43210) assert_true(digest(file, size) == bad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_comes_out),
        cmocka_unit_test(elements_that_are_held_keep_their_bytes),
        cmocka_unit_test(frames_are_checked_wherever_they_are_read),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
