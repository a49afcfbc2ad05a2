/* test_data_files.c - sources over files: lines, TFRecord, fixed lengths, CSV, listings, caches; and broken files, each of which
 * gives a sentence with its name and place, after which the next file is read. */
#include "test_records.h"

#include <sys/stat.h>
#include <zlib.h>

#include "data/codec.h"
#include "files/crc32c.h"

/* A pass over strings as "a|b|!|", '!' for a failure. */
static void read_strings(lks_dataset *ds, char *text, size_t size)
{
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status;
    size_t n = 0;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    text[0] = '\0';
    while ((status = lks_iter_next(it, &e)) != LKS_END && n + 100 < size) {
        if (status != LKS_OK) {
            n += (size_t)snprintf(text + n, size - n, "!|");
            continue;
        }
        const lks_bytes *s = lks_tensor_cdata(lks_element_tensor(e, 0));
        n += (size_t)snprintf(text + n, size - n, "%.*s|", (int)s->size, s->data);
        lks_element_release(e);
    }
    lks_iter_release(it);
}

static void assert_strings(lks_dataset *ds, const char *expected)
{
    char text[4096];

    read_strings(ds, text, sizeof text);
    lks_dataset_release(ds);
    assert_string_equal(text, expected);
}

static void checksums_are_those_of_the_books(void **state)
{
    unsigned char zeros[32] = { 0 }, ones[32], rising[32];

    (void)state;
    for (int i = 0; i < 32; i++) {
        ones[i] = 0xff;
        rising[i] = (unsigned char)i;
    }
    assert_int_equal(lks__crc32c(0, "", 0), 0);
    assert_int_equal(lks__crc32c(0, "123456789", 9), 0xE3069283);
    assert_int_equal(lks__crc32c(lks__crc32c(0, "1234", 4), "56789", 5), 0xE3069283);
    assert_int_equal(lks__crc32c(0, zeros, 32), 0x8A9136AA);
    assert_int_equal(lks__crc32c(0, ones, 32), 0x62A8AB43);
    assert_int_equal(lks__crc32c(0, rising, 32), 0x46DD794E);
    assert_int_equal(lks__crc32c_mask(0), 0xA282EAD8);
}

static void both_checksums_agree(void **state)
{
    static unsigned char bytes[8192];
    uint32_t x = 1;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)((x = x * 1664525u + 1013904223u) >> 24);
    for (size_t n = 0; n < 4000; n += n < 40 ? 1 : 37)
        for (size_t at = 0; at < 9; at++)
            assert_int_equal(lks__crc32c(x, bytes + at, n), lks__crc32c_plain(x, bytes + at, n));
}

static void lines_lose_their_ends_and_every_carriage_return(void **state)
{
    const char *a = write_file("a.txt", "one\r\ntwo\n\nla\rst", 15), *b = write_file("b.txt", "", 0);
    const char *c = write_file("c.txt", "three\n", 6), *files[] = { a, b, path("none.txt"), c };

    (void)state;
    assert_strings(lks_text_lines(4, files), "one|two||last|!|three|");
    assert_strings(lks_text_lines(4, files, .buffer_size = 2), "one|two||last|!|three|");
    assert_strings(lks_text_lines(0, NULL), "");
    files[1] = c;
    assert_strings(lks_text_lines(2, files, .num_parallel_reads = 2), "one|three|two||last|");
    assert_fails(lks_text_lines(1, files, .compression_type = "LZMA"), LKS_E_ARG, "LZMA");
}

static void gzip_files_may_have_several_members(void **state)
{
    const char *files[] = { path("lines.gz") };
    gzFile f = gzopen(files[0], "wb");

    (void)state;
    gzputs(f, "one\ntwo\n");
    gzclose(f);
    f = gzopen(files[0], "ab");
    gzputs(f, "three\n");
    gzclose(f);
    assert_strings(lks_text_lines(1, files, .compression_type = "GZIP"), "one|two|three|");
    assert_strings(lks_text_lines(1, files, .compression_type = "ZLIB"), "!|");
    assert_int_equal(truncate(files[0], 20), 0); /* what came before the cut is given out */
    assert_strings(lks_text_lines(1, files, .compression_type = "GZIP"), "one|two|!|");
}

/* Two records "one" and "two" as a TFRecord file. */
static size_t two_records(char out[64])
{
    lks_text text = { 0 };
    size_t n;

    lks__frame_append(&text, "one", 3);
    lks__frame_append(&text, "two", 3);
    n = text.length;
    memcpy(out, text.data, n);
    lks__text_free(&text);
    return n;
}

static void every_flipped_bit_of_a_record_file_is_found(void **state)
{
    char bytes[64];
    size_t n = two_records(bytes);
    const char *files[] = { write_file("r.tfrecord", bytes, n) };

    (void)state;
    assert_int_equal(n, 38);
    assert_strings(lks_tfrecord(1, files), "one|two|");
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        write_file("r.tfrecord", bytes, n);
        assert_strings(lks_tfrecord(1, files), bit / 8 < 19 ? "!|" : "one|!|");
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
    }
    for (size_t cut = 1; cut < n; cut++) {
        write_file("r.tfrecord", bytes, cut);
        assert_strings(lks_tfrecord(1, files), cut < 19 ? "!|" : cut == 19 ? "one|" : "one|!|");
    }
}

static char warning[512];

static void keep_warning(void *user, const char *sentence)
{
    (void)user;
    snprintf(warning, sizeof warning, "%s", sentence);
}

static void failures_that_are_passed_over_are_counted_by_file(void **state)
{
    static const lks_dtype types[] = { LKS_INT32, LKS_INT32 };
    const char *files[] = { write_file("one.csv", "1,2\n3\n4,5\nx,6\n", 14), write_file("two.csv", "a,b\n7,8\n", 8) };
    lks_dataset *ds = lks_ignore_errors(lks_csv(2, files, .n_columns = 2, .dtypes = types));
    lks_iter *it = NULL;
    lks_element *e;
    int n = 0;

    (void)state;
    lks_set_warnings(keep_warning, NULL);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    for (; lks_iter_next(it, &e) == LKS_OK; n++) lks_element_release(e);
    lks_iter_release(it);
    lks_dataset_release(ds);
    lks_set_warnings(NULL, NULL);
    assert_int_equal(n, 3);
    assert_non_null(strstr(warning, ": 3 failed elements"));
    assert_non_null(strstr(warning, "2 of '"));
    assert_non_null(strstr(warning, "one.csv', 1 of '"));
}

static void a_length_is_not_believed_without_the_bytes(void **state)
{
    unsigned char bytes[12] = { 0, 0, 0, 0, 0, 1, 0, 0 };
    const char *files[] = { path("huge.tfrecord") };
    uint32_t crc = lks__crc32c_mask(lks__crc32c(0, bytes, 8));
    lks_iter *it = NULL;
    lks_element *e;
    lks_dataset *ds;

    (void)state;
    for (int i = 0; i < 4; i++) bytes[8 + i] = (unsigned char)(crc >> 8 * i);
    write_file("huge.tfrecord", bytes, sizeof bytes);
    ds = lks_tfrecord(1, files);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_E_FORMAT);
    assert_non_null(strstr(lks_last_error(), "huge.tfrecord"));
    assert_non_null(strstr(lks_last_error(), "record 0, offset 0"));
    lks_iter_release(it);
    lks_dataset_release(ds);
}

static void records_of_one_length(void **state)
{
    const char *files[] = { write_file("fixed.bin", "HHaabbccF", 9) };
    char text[256];
    lks_dataset *ds;

    (void)state;
    assert_strings(lks_fixed_length(1, files, 2, .header_bytes = 2, .footer_bytes = 1), "aa|bb|cc|");
    ds = lks_fixed_length(1, files, 2);
    read_strings(ds, text, sizeof text);
    assert_string_equal(text, "!|");
    assert_non_null(strstr(lks_last_error(), "9 bytes"));
    lks_dataset_release(ds);
    assert_fails(lks_fixed_length(1, files, 0), LKS_E_ARG, "record_bytes");
}

static void csv_fields_are_typed_quoted_and_defaulted(void **state)
{
    static const char text[] = "\xEF\xBB\xBFid,name,x\r\n1,\"a, \"\"b\"\"\",2.5\n2,,\nx,c,1\n3,d\n4,e,1e3";
    const char *files[] = { write_file("t.csv", text, sizeof text - 1) };
    const lks_dtype types[] = { LKS_INT64, LKS_STRING, LKS_FLOAT32 };
    float nine = 9.0f;
    lks_tensor *fallback[3] = { NULL, lks_tensor_create(LKS_STRING, (lks_shape){ .rank = 0 }),
                                lks_tensor_from(LKS_FLOAT32, (lks_shape){ .rank = 0 }, &nine) };
    lks_dataset *ds = lks_csv(1, files, .n_columns = 3, .dtypes = types, .defaults = fallback, .header = LKS_TRUE);
    lks_iter *it = NULL;
    lks_element *e;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_OK);
    assert_int_equal(((const lks_bytes *)lks_tensor_cdata(lks_element_tensor(e, 1)))->size, 6);
    assert_memory_equal(((const lks_bytes *)lks_tensor_cdata(lks_element_tensor(e, 1)))->data, "a, \"b\"", 6);
    lks_element_release(e);
    assert_status(lks_iter_next(it, &e), LKS_OK);
    assert_true(*(const float *)lks_tensor_cdata(lks_element_tensor(e, 2)) == 9.0f);
    lks_element_release(e);
    assert_status(lks_iter_next(it, &e), LKS_E_ARG);
    assert_non_null(strstr(lks_last_error(), "line 4, record 2, offset 35: column 0 ('id') is no int64: 'x'"));
    assert_status(lks_iter_next(it, &e), LKS_E_ARG);
    assert_non_null(strstr(lks_last_error(), "3 fields are expected, 2 found"));
    assert_status(lks_iter_next(it, &e), LKS_OK);
    assert_true(*(const float *)lks_tensor_cdata(lks_element_tensor(e, 2)) == 1000.0f);
    lks_element_release(e);
    assert_status(lks_iter_next(it, &e), LKS_END);
    lks_iter_release(it);
    lks_dataset_release(ds);
    lks_tensor_release(fallback[1]);
    lks_tensor_release(fallback[2]);
}

static void listings_are_sorted_and_keep_dotfiles_out(void **state)
{
    const char *patterns[] = { path("list-*.q"), path("list-?.q") };
    char expected[512];

    (void)state;
    write_file("list-b.q", "", 0);
    write_file("list-a.q", "", 0);
    write_file(".list-c.q", "", 0);
    snprintf(expected, sizeof expected, "%s/list-a.q|%s/list-b.q|", folder, folder);
    assert_strings(lks_list_files(1, patterns, .shuffle = LKS_FALSE), expected);
    assert_int_equal(lks_dataset_cardinality(lks_take(NULL, 1)), LKS_UNKNOWN_CARDINALITY);
    snprintf(expected, sizeof expected, "%s/list-a.q|%s/list-a.q|%s/list-b.q|%s/list-b.q|", folder, folder, folder,
             folder);
    assert_strings(lks_list_files(2, patterns, .shuffle = LKS_FALSE), expected);
    patterns[0] = path("[xy]*.none");
    assert_fails(lks_list_files(1, patterns), LKS_E_ARG, "none");
}

static int warnings;

static void count_warning(void *user, const char *sentence)
{
    (void)user, (void)sentence;
    warnings++;
}

static void a_cache_in_a_file_outlives_its_dataset(void **state)
{
    const char *file = path("cache");
    lks_dataset *ds = lks_cache(lks_map(lks_range(0, 5, 1), &twice), .filename = file);
    struct stat info;

    (void)state;
    lks_set_warnings(count_warning, NULL);
    lks_dataset_retain(ds);
    assert_yields(lks_take(ds, 2), "0 2 "); /* not to the end: nothing is written */
    assert_int_equal(warnings, 1);
    assert_int_not_equal(stat(file, &info), 0);
    assert_yields(ds, "0 2 4 6 8 ");
    assert_int_equal(stat(file, &info), 0);
    assert_yields(lks_cache(lks_map(lks_range(0, 5, 1), &twice), .filename = file), "0 2 4 6 8 ");
    assert_int_equal(warnings, 1);
    assert_yields(lks_cache(lks_range(0, 3, 1), .filename = file), "0 1 2 "); /* another recipe: made anew */
    assert_int_equal(warnings, 2);
    assert_yields(lks_cache(lks_range(0, 3, 1), .filename = file), "0 1 2 ");
    assert_int_equal(warnings, 2);
    assert_int_equal(truncate(file, info.st_size / 3), 0);
    ds = lks_cache(lks_range(0, 3, 1), .filename = file);
    {
        char text[256];
        lks_iter *it = NULL;
        if (lks_iter_create(ds, &it) == LKS_OK) {
            read_pass(it, text, sizeof text, 20);
            assert_non_null(strchr(text, '!'));
        }
        lks_iter_release(it);
    }
    lks_dataset_release(ds);
    lks_set_warnings(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_are_those_of_the_books),
        cmocka_unit_test(both_checksums_agree),
        cmocka_unit_test(lines_lose_their_ends_and_every_carriage_return),
        cmocka_unit_test(gzip_files_may_have_several_members),
        cmocka_unit_test(every_flipped_bit_of_a_record_file_is_found),
        cmocka_unit_test(failures_that_are_passed_over_are_counted_by_file),
        cmocka_unit_test(a_length_is_not_believed_without_the_bytes),
        cmocka_unit_test(records_of_one_length),
        cmocka_unit_test(csv_fields_are_typed_quoted_and_defaulted),
        cmocka_unit_test(listings_are_sorted_and_keep_dotfiles_out),
        cmocka_unit_test(a_cache_in_a_file_outlives_its_dataset),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
