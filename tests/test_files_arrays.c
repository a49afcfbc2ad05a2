/* test_files_arrays.c - IDX, npy and npz: the golden sets, round trips, broken files, failing allocations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>
#include <zlib.h>

#include "base/alloc.h"
#include "files/idx.h"
#include "files/npy.h"
#include "files/npz.h"
#include "lockstep/files.h"
#include "support/failing_alloc.h"
#include "support/folder.h"
#include "support/shared.h"
#include "tensor/tensor.h"

static double special(const json_t *v)
{
    const char *s = json_string_value(v);

    if (json_is_boolean(v)) return json_is_true(v);
    if (s == NULL) return json_number_value(v);
    return strcmp(s, "inf") == 0 ? (double)INFINITY : strcmp(s, "-inf") == 0 ? -(double)INFINITY : (double)NAN;
}

static void check_values(const char *file, const lks_tensor *t, const json_t *values)
{
    lks_tensor *d = lks_tensor_cast(t, LKS_FLOAT64);
    const double *x = lks_tensor_cdata(d);

    if ((size_t)lks_tensor_size(d) != json_array_size(values)) fail_msg("%s: wrong size", file);
    for (size_t i = 0; i < json_array_size(values); i++) {
        double want = special(json_array_get(values, i));
        if (memcmp(&x[i], &want, sizeof want) != 0) fail_msg("%s: element %zu is %g, not %g", file, i, x[i], want);
    }
    lks_tensor_release(d);
}

static void check_loaded(const char *file, const json_t *entry, const lks_tensor *t)
{
    const json_t *shape = json_object_get(entry, "shape"), *values = json_object_get(entry, "values");
    lks_shape s = lks_tensor_shape(t);

    if (values == NULL) { /* "load [1,2,3]" */
        json_t *one_two_three = json_pack("[i,i,i]", 1, 2, 3);
        check_values(file, t, one_two_three);
        json_decref(one_two_three);
        return;
    }
    assert_string_equal(lks_dtype_name(lks_tensor_dtype(t)), json_string_value(json_object_get(entry, "dtype")));
    assert_int_equal(s.rank, json_array_size(shape));
    for (int64_t i = 0; i < s.rank; i++)
        assert_int_equal(s.dim[i], json_integer_value(json_array_get(shape, (size_t)i)));
    check_values(file, t, values);
}

/* Where the index leaves the choice, ours is: a clear error. */
static void check_npy(const char *set, const json_t *entry)
{
    const char *file = json_string_value(json_object_get(entry, "file"));
    const char *expect = json_string_value(json_object_get(entry, "expect"));
    int load = strncmp(expect, "load", 4) == 0 && strstr(expect, "error") == NULL;
    lks_tensor *t = NULL;
    lks_status status = lks_read_npy(in_folder(set, file), &t);

    if (load && status != LKS_OK) fail_msg("%s: %s", file, lks_last_error());
    if (!load && status == LKS_OK) fail_msg("%s was loaded, expected: %s", file, expect);
    if (load) check_loaded(file, entry, t);
    else if (strlen(lks_last_error()) < 20 || strstr(lks_last_error(), file) == NULL)
        fail_msg("%s: no sentence: %s", file, lks_last_error());
    lks_tensor_release(t);
}

static void the_golden_npy_files_load_or_are_refused_as_stated(void **state)
{
    const char *set = in_folder(NEED_SHARED(), "golden/files/npy");
    char path[1024];
    json_t *index, *entry;
    size_t i;

    (void)state;
    snprintf(path, sizeof path, "%s", set);
    index = json_load_file(in_folder(path, "index.json"), 0, NULL);
    assert_non_null(index);
    assert_true(json_array_size(json_object_get(index, "npy")) > 50);
    json_array_foreach(json_object_get(index, "npy"), i, entry) check_npy(path, entry);
    json_decref(index);
}

static void check_array(lks_npz *npz, const char *name, lks_tensor *want, int64_t rows)
{
    lks_tensor *got = NULL, *head = lks_tensor_rows(want, 0, rows);
    lks_shape a, b;

    if (lks__npz_read(npz, name, &got) != LKS_OK) fail_msg("%s: %s", name, lks_last_error());
    a = lks_tensor_shape(got), b = lks_tensor_shape(head);
    assert_true(lks_shape_equal(&a, &b));
    assert_memory_equal(lks_tensor_cdata(got), lks_tensor_cdata(head), (size_t)lks_tensor_size(got));
    lks_tensor_release(got);
    lks_tensor_release(head);
}

static void the_golden_npz_files_hold_the_expected_arrays(void **state)
{
    static const char *const files[] = { "stored.npz", "compressed.npz" };
    char set[1024];
    lks_npz *expected, *npz;
    lks_tensor *x = NULL, *y = NULL;

    (void)state;
    snprintf(set, sizeof set, "%s", in_folder(NEED_SHARED(), "golden/files/npy"));
    assert_int_equal(lks__npz_open(in_folder(set, "expected_npz.npz"), &expected), LKS_OK);
    assert_int_equal(lks__npz_read(expected, "x_train", &x), LKS_OK);
    assert_int_equal(lks__npz_read(expected, "y_train", &y), LKS_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(lks__npz_open(in_folder(set, files[i]), &npz), LKS_OK);
        assert_true(lks__npz_has(npz, "x_test") && !lks__npz_has(npz, "x_tes"));
        check_array(npz, "x_train", x, 5);
        check_array(npz, "y_train", y, 5);
        check_array(npz, "x_test", x, 2);
        check_array(npz, "y_test", y, 2);
        lks__npz_close(npz);
    }
    assert_int_equal(lks__npz_open(in_folder(set, "positional.npz"), &npz), LKS_OK);
    assert_string_equal(lks__npz_name(npz, 0), "arr_0");
    check_array(npz, "arr_0", x, 5);
    check_array(npz, "arr_1", y, 5);
    lks__npz_close(npz);
    lks__npz_close(expected);
    lks_tensor_release(x);
    lks_tensor_release(y);
}

static void odd_npz_files_load_or_are_refused_by_name(void **state)
{
    char set[1024];
    lks_npz *npz;
    lks_tensor *t = NULL;

    (void)state;
    snprintf(set, sizeof set, "%s", in_folder(NEED_SHARED(), "golden/files/npy"));
    static const char *const good[] = { "unicode_member.npz", "zip64_local_header.npz", "other_member.npz" };
    for (size_t i = 0; i < 3; i++) {
        if (lks__npz_open(in_folder(set, good[i]), &npz) != LKS_OK) fail_msg("%s: %s", good[i], lks_last_error());
        assert_true(lks__npz_count(npz) >= 1);
        for (size_t k = 0; k < lks__npz_count(npz); k++) {
            if (lks__npz_read(npz, lks__npz_name(npz, k), &t) != LKS_OK) fail_msg("%s: %s", good[i], lks_last_error());
            lks_tensor_release(t);
        }
        lks__npz_close(npz);
    }
    assert_int_equal(lks_read_npz(in_folder(set, "other_member.npz"), "a", &t), LKS_OK);
    assert_int_equal(lks_tensor_size(t), 3);
    lks_tensor_release(t);
    assert_int_equal(lks_read_npz(in_folder(set, "other_member.npz"), "b", &t), LKS_E_NOTFOUND);
    assert_non_null(strstr(lks_last_error(), "it has: a"));
    assert_int_equal(lks__npz_open(in_folder(set, "object_member.npz"), &npz), LKS_OK);
    assert_int_equal(lks__npz_read(npz, lks__npz_name(npz, 0), &t), LKS_E_UNSUPPORTED);
    assert_non_null(strstr(lks_last_error(), "pickle"));
    lks__npz_close(npz);
    assert_int_equal(lks__npz_open(in_folder(set, "truncated.npz"), &npz), LKS_E_FORMAT);
    assert_non_null(strstr(lks_last_error(), "end-of-central-directory"));
}

static lks_tensor *ramp(lks_dtype dtype, lks_shape shape)
{
    lks_tensor *t = lks_tensor_create(LKS_INT64, shape), *c;
    int64_t *x = lks_tensor_data(t);

    for (int64_t i = 0; i < lks_tensor_size(t); i++) x[i] = i % 100;
    c = lks_tensor_cast(t, dtype);
    lks_tensor_release(t);
    return c;
}

static void assert_same(const lks_tensor *a, const lks_tensor *b)
{
    lks_shape s = lks_tensor_shape(a), t = lks_tensor_shape(b);

    assert_int_equal(lks_tensor_dtype(a), lks_tensor_dtype(b));
    assert_true(lks_shape_equal(&s, &t));
    assert_memory_equal(lks_tensor_cdata(a), lks_tensor_cdata(b),
                        (size_t)lks_tensor_size(a) * lks_dtype_size(lks_tensor_dtype(a)));
}

static void every_dtype_comes_back_from_npy_and_npz(void **state)
{
    static const lks_dtype dtypes[] = { LKS_FLOAT32, LKS_UINT8, LKS_INT32,  LKS_INT64,  LKS_BOOL,   LKS_FLOAT64,
                                        LKS_INT8,    LKS_INT16, LKS_UINT16, LKS_UINT32, LKS_UINT64, LKS_FLOAT16 };
    lks_shape shapes[4] = { lks_shape(2, 3, 4), lks_shape(7), lks_shape_of(0, NULL), lks_shape(0, 5) };
    const char *npy = in_folder(folder, "a.npy"), *npz = in_folder(folder, "a.npz");

    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        lks_tensor *t[2] = { ramp(dtypes[i], shapes[i % 4]), ramp(LKS_FLOAT32, lks_shape(3)) }, *back = NULL;
        const char *const keys[2] = { "first", "second/\xc3\xa9" };
        assert_int_equal(lks_write_npy(npy, t[0]), LKS_OK);
        assert_int_equal(lks_read_npy(npy, &back), LKS_OK);
        assert_same(t[0], back);
        lks_tensor_release(back);
        if (lks_write_npz(npz, 2, keys, t) != LKS_OK) fail_msg("%s", lks_last_error());
        for (int k = 0; k < 2; k++) {
            if (lks_read_npz(npz, keys[k], &back) != LKS_OK) fail_msg("%s", lks_last_error());
            assert_same(t[k], back);
            lks_tensor_release(back);
            lks_tensor_release(t[k]);
        }
    }
}

static void a_failed_write_leaves_the_old_file_alone(void **state)
{
    const char *path = in_folder(folder, "kept.npz"), *const keys[2] = { "a", "a" };
    lks_tensor *t[2] = { ramp(LKS_INT32, lks_shape(4)), ramp(LKS_BFLOAT16, lks_shape(4)) }, *back = NULL;

    (void)state;
    assert_int_equal(lks_write_npz(path, 1, keys, t), LKS_OK);
    assert_int_not_equal(lks_write_npz(path, 2, keys, t), LKS_OK);
    assert_int_equal(lks_write_npy(path, t[1]), LKS_E_UNSUPPORTED);
    assert_int_equal(lks_read_npz(path, "a", &back), LKS_OK);
    assert_same(t[0], back);
    lks_tensor_release(back);
    assert_int_equal(lks_write_npz(in_folder(folder, "no/such/folder.npz"), 1, keys, t), LKS_E_IO);
    lks_tensor_release(t[0]);
    lks_tensor_release(t[1]);
}

static void an_archive_of_thousands_is_read_by_name(void **state)
{
    enum { N = 5000 };
    lks_npz_writer *w;
    lks_npz *npz;
    void *bytes = NULL;
    size_t n = 0;
    char name[32];

    (void)state;
    assert_int_equal(lks__npz_writer_memory(&w), LKS_OK);
    for (int32_t i = 0; i < N; i++) {
        lks_tensor *t = lks_tensor_from(LKS_INT32, lks_shape(1), &i);
        snprintf(name, sizeof name, "array_%d", (int)i);
        assert_int_equal(lks__npz_writer_add(w, name, t), LKS_OK);
        lks_tensor_release(t);
    }
    assert_int_equal(lks__npz_writer_finish_memory(w, &bytes, &n), LKS_OK);
    assert_int_equal(lks__npz_open_memory(bytes, n, &npz), LKS_OK);
    assert_int_equal(lks__npz_count(npz), N);
    for (int32_t i = N - 1; i >= 0; i -= 37) {
        lks_tensor *t = NULL;
        snprintf(name, sizeof name, "array_%d", (int)i);
        assert_int_equal(lks__npz_read(npz, name, &t), LKS_OK);
        assert_int_equal(*(const int32_t *)lks_tensor_cdata(t), i);
        lks_tensor_release(t);
    }
    lks__npz_close(npz);
    lks_free(bytes);
}

static void idx_of_every_type_and_rank_loads_plain_and_gzip(void **state)
{
    static const unsigned char u8[] = { 0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4 };
    static const unsigned char i16[] = { 0, 0, 0x0b, 1, 0, 0, 0, 2, 0xff, 0xfe, 1, 0 };
    static const unsigned char f32[] = { 0, 0, 0x0d, 0, 0x3f, 0x80, 0, 0 };
    unsigned char packed[100];
    uLongf n = sizeof packed;
    z_stream z = { 0 };
    lks_tensor *t = NULL;

    (void)state;
    assert_int_equal(lks__idx_read_memory(u8, sizeof u8, &t), LKS_OK);
    assert_int_equal(lks_tensor_shape(t).rank, 2);
    assert_memory_equal(lks_tensor_cdata(t), u8 + 12, 4);
    lks_tensor_release(t);
    assert_int_equal(lks__idx_read_memory(i16, sizeof i16, &t), LKS_OK);
    assert_int_equal(((const int16_t *)lks_tensor_cdata(t))[0], -2);
    assert_int_equal(((const int16_t *)lks_tensor_cdata(t))[1], 256);
    lks_tensor_release(t);
    assert_int_equal(lks__idx_read_memory(f32, sizeof f32, &t), LKS_OK);
    assert_true(*(const float *)lks_tensor_cdata(t) == 1.0f && lks_tensor_shape(t).rank == 0);
    lks_tensor_release(t);

    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)u8, z.avail_in = sizeof u8;
    z.next_out = packed, z.avail_out = (unsigned)n;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    n = z.total_out;
    deflateEnd(&z);
    assert_int_equal(lks__idx_read_memory(packed, n, &t), LKS_OK);
    assert_memory_equal(lks_tensor_cdata(t), u8 + 12, 4);
    lks_tensor_release(t);
    for (size_t cut = 0; cut < n; cut++) assert_int_equal(lks__idx_read_memory(packed, cut, &t), LKS_E_FORMAT);
    packed[n - 6] ^= 1; /* the checksum */
    assert_int_equal(lks__idx_read_memory(packed, n, &t), LKS_E_FORMAT);
}

static void broken_idx_is_refused_before_memory_is_asked_for(void **state)
{
    static const struct {
        const char *why;
        unsigned char bytes[24];
        size_t n;
        lks_status status;
    } cases[] = {
        { "the magic number", { 0, 0, 8 }, 3, LKS_E_FORMAT },
        { "not an IDX file", { 'P', 'K', 3, 4, 0, 0, 0, 0 }, 8, LKS_E_FORMAT },
        { "not an IDX file", { 0, 0, 7, 1, 0, 0, 0, 1, 5 }, 9, LKS_E_FORMAT },
        { "at most 8", { 0, 0, 8, 9 }, 4, LKS_E_LIMIT },
        { "the sizes", { 0, 0, 8, 2, 0, 0, 0, 1, 0 }, 9, LKS_E_FORMAT },
        { "more than the file holds", { 0, 0, 8, 2, 127, 255, 255, 255, 255, 255, 255, 255, 1 }, 13, LKS_E_FORMAT },
        { "after the end", { 0, 0, 8, 1, 0, 0, 0, 1, 5, 6 }, 10, LKS_E_FORMAT },
    };
    lks_tensor *t = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(lks__idx_read_memory(cases[i].bytes, cases[i].n, &t), cases[i].status);
        if (strstr(lks_last_error(), cases[i].why) == NULL) fail_msg("%s: %s", cases[i].why, lks_last_error());
    }
    assert_int_equal(lks_read_idx(in_folder(folder, "absent"), &t), LKS_E_NOTFOUND);
    assert_int_equal(lks_read_idx(folder, &t), LKS_E_IO);
}

static void every_allocation_may_fail(void **state)
{
    const char *npy = in_folder(folder, "fail.npy"), *npz = in_folder(folder, "fail.npz"), *const keys[1] = { "a" };
    lks_tensor *t = ramp(LKS_FLOAT32, lks_shape(2, 3)), *back = NULL;
    lks_status status = LKS_OK;

    (void)state;
    EVERY_ALLOCATION_FAILS(status = lks_write_npy(npy, t), (void)0);
    EVERY_ALLOCATION_FAILS(status = lks_read_npy(npy, &back), lks_tensor_release(back));
    EVERY_ALLOCATION_FAILS(status = lks_write_npz(npz, 1, keys, &t), (void)0);
    EVERY_ALLOCATION_FAILS(status = lks_read_npz(npz, "a", &back), lks_tensor_release(back));
    lks_tensor_release(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_golden_npy_files_load_or_are_refused_as_stated),
        cmocka_unit_test(the_golden_npz_files_hold_the_expected_arrays),
        cmocka_unit_test(odd_npz_files_load_or_are_refused_by_name),
        cmocka_unit_test(every_dtype_comes_back_from_npy_and_npz),
        cmocka_unit_test(a_failed_write_leaves_the_old_file_alone),
        cmocka_unit_test(an_archive_of_thousands_is_read_by_name),
        cmocka_unit_test(idx_of_every_type_and_rank_loads_plain_and_gzip),
        cmocka_unit_test(broken_idx_is_refused_before_memory_is_asked_for),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
