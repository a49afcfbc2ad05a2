/* test_files_hostile.c - the hostile set: containers (ZIP, JSON, HDF5) that must be refused in a sentence, and those that
 * must load. What is only wrong for a model loads here: tests of the model add their part by walking the index with a
 * check of their own (walk). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/alloc.h"
#include "files/keras_archive.h"
#include "lockstep/files.h"
#include "support/shared.h"

/* Refused by the container, with this status and a word of the sentence. */
static const struct {
    const char *file;
    lks_status status;
    const char *word;
} refused[] = {
    { "empty.keras", LKS_E_FORMAT, "empty" },
    { "not_a_zip.keras", LKS_E_FORMAT, "not a ZIP archive" },
    { "truncated_tail.keras", LKS_E_FORMAT, "end-of-central-directory" },
    { "truncated_half.keras", LKS_E_FORMAT, "end-of-central-directory" },
    { "bit_flip_in_weights.keras", LKS_E_FORMAT, "CRC-32" },
    { "declared_size_4gib.keras", LKS_E_FORMAT, "more than the archive" },
    { "local_header_outside.keras", LKS_E_FORMAT, "lies outside" },
    { "deflate_bomb.keras", LKS_E_FORMAT, "model.weights.h5" },
    { "path_traversal.keras", LKS_E_FORMAT, "leads out" },
    { "absolute_path.keras", LKS_E_FORMAT, "leads out" },
    { "backslash_path.keras", LKS_E_FORMAT, "leads out" },
    { "duplicate_config.keras", LKS_E_FORMAT, "two members named 'config.json'" },
    { "duplicate_weights.keras", LKS_E_FORMAT, "two members named 'model.weights.h5'" },
    { "missing_config.keras", LKS_E_FORMAT, "config.json is missing" },
    { "missing_weights.keras", LKS_E_FORMAT, "model.weights.h5 is missing" },
    { "folder_prefix.keras", LKS_E_FORMAT, "config.json is missing" },
    { "config_truncated.keras", LKS_E_FORMAT, "line 1, column" },
    { "config_not_object.keras", LKS_E_FORMAT, "must hold an object" },
    { "config_invalid_utf8.keras", LKS_E_FORMAT, "byte 0xff" },
    { "config_utf8_bom.keras", LKS_E_FORMAT, "byte order mark" },
    { "config_nul_in_name.keras", LKS_E_FORMAT, "\\u0000" },
    { "config_learning_rate_nan.keras", LKS_E_FORMAT, "NaN" },
    { "config_duplicate_key.keras", LKS_E_FORMAT, "duplicate" },
    { "config_nested_1000.keras", LKS_E_LIMIT, "deeper than" },
    { "config_nested_100000.keras", LKS_E_LIMIT, "deeper than" },
    { "config_brackets_1e6.keras", LKS_E_LIMIT, "deeper than" },
    { "config_huge_number.keras", LKS_E_FORMAT, "too big" },
    { "weights_string.keras", LKS_E_UNSUPPORTED, "not numbers" },
    { "weights_soft_link.keras", LKS_E_UNSUPPORTED, "links are refused" },
    { "weights_external_link.keras", LKS_E_UNSUPPORTED, "links are refused" },
    { "weights_external_storage.keras", LKS_E_UNSUPPORTED, "external storage" },
    { "weights_huge_declared.keras", LKS_E_FORMAT, "declares" },
    { "weights_not_hdf5.keras", LKS_E_FORMAT, "not an HDF5 file" },
    { "weights_truncated_hdf5.keras", LKS_E_FORMAT, "truncated" },
    { "weights_empty_member.keras", LKS_E_FORMAT, "empty" },
    { "empty.weights.h5", LKS_E_FORMAT, "empty" },
    { "truncated.weights.h5", LKS_E_FORMAT, "truncated" },
};

/* Nothing that a hostile file declares may be allocated. */
static size_t largest;

static void *watched_alloc(void *user, size_t bytes)
{
    (void)user;
    if (bytes > largest) largest = bytes;
    return malloc(bytes);
}

static void *watched_resize(void *user, void *old, size_t bytes)
{
    (void)user;
    if (bytes > largest) largest = bytes;
    return realloc(old, bytes);
}

static void watched_release(void *user, void *old)
{
    (void)user;
    free(old);
}

typedef void (*check_fn)(const char *path, const char *file, const char *verdict);

/* Runs `check` on every file of the set. */
static size_t walk(check_fn check)
{
    char set[1024];
    json_t *index, *entry;
    size_t i, n;

    snprintf(set, sizeof set, "%s", in_folder(NEED_SHARED(), "golden/files/hostile"));
    index = json_load_file(in_folder(set, "index.json"), 0, NULL);
    assert_non_null(index);
    json_array_foreach(json_object_get(index, "files"), i, entry)
    {
        const char *file = json_string_value(json_object_get(entry, "file"));
        check(in_folder(set, file), file, json_string_value(json_object_get(entry, "verdict")));
    }
    n = json_array_size(json_object_get(index, "files"));
    json_decref(index);
    return n;
}

static size_t found;

static void check_container(const char *path, const char *file, const char *verdict)
{
    lks_archive a = { 0 };
    lks_status want = LKS_OK, status;
    const char *word = "";

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].file, file) == 0) {
            want = refused[i].status;
            word = refused[i].word;
            found++;
        }
    if (strcmp(verdict, "load") == 0) assert_int_equal(want, LKS_OK);
    largest = 0;
    status = strstr(file, ".keras") != NULL ? lks__archive_read(path, &a) : lks__weights_load(path, &a.weights);
    if (status != want)
        fail_msg("%s: %s, not %s: %s", file, lks_status_name(status), lks_status_name(want),
                 status != LKS_OK ? lks_last_error() : "");
    if (status != LKS_OK && (strstr(lks_last_error(), word) == NULL || strstr(lks_last_error(), file) == NULL))
        fail_msg("%s: the sentence lacks '%s': %s", file, word, lks_last_error());
    if (largest > 80u << 20) fail_msg("%s: an allocation of %zu bytes", file, largest);
    lks__archive_free(&a);
}

static void hostile_containers_are_refused_in_a_sentence_and_good_ones_load(void **state)
{
    static const lks_allocator watched = { watched_alloc, watched_resize, watched_release, NULL };
    size_t n;

    (void)state;
    NEED_SHARED();
    lks_set_allocator(&watched);
    n = walk(check_container);
    lks_set_allocator(NULL);
    assert_true(n > 80);
    assert_int_equal(found, sizeof refused / sizeof *refused);
}

static void check_quarter(const char *path, const char *file, const char *verdict)
{
    lks_archive a = { 0 };
    lks_tensor *kernel, *wide;

    (void)verdict;
    if (strcmp(file, "weights_float64_ok.keras") != 0 && strcmp(file, "weights_big_endian_ok.keras") != 0 &&
        strcmp(file, "weights_chunked_gzip_ok.keras") != 0)
        return;
    assert_int_equal(lks__archive_read(path, &a), LKS_OK);
    kernel = lks__weights_tensor(&a.weights, "layers/dense/vars/0");
    assert_non_null(kernel);
    wide = lks_tensor_cast(kernel, LKS_FLOAT64);
    for (int64_t i = 0; i < lks_tensor_size(wide); i++)
        assert_true(((const double *)lks_tensor_cdata(wide))[i] == 0.25);
    lks_tensor_release(wide);
    lks__archive_free(&a);
}

static void odd_but_good_datasets_give_their_values(void **state)
{
    (void)state;
    walk(check_quarter);
}

/* Every truncation and many flipped bits of a good archive: refused or loaded, never a crash. */
static void damage_anywhere_is_survived(void **state)
{
    lks_archive a = { 0 }, b = { 0 };
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, lks_shape(3));
    unsigned char *bytes;
    void *written = NULL;
    size_t n = 0, loaded = 0;

    (void)state;
    a.config = lks__strdup("{\"a\": 1}");
    a.metadata = lks__strdup("{}");
    assert_int_equal(lks__weights_add_named_group(&a.weights, "layers/d/vars", "d"), LKS_OK);
    assert_int_equal(lks__weights_add(&a.weights, "layers/d/vars/0", t), LKS_OK);
    assert_int_equal(lks__archive_write_memory(&a, &written, &n), LKS_OK);
    bytes = written;
    for (size_t cut = 0; cut < n; cut += cut < 300 || cut + 300 > n ? 1 : 61)
        assert_int_not_equal(lks__archive_read_memory(bytes, cut, &b), LKS_OK);
    for (size_t at = 0; at < n; at += at < 300 || at + 400 > n ? 1 : 37) {
        bytes[at] ^= 0x41;
        if (lks__archive_read_memory(bytes, n, &b) == LKS_OK) {
            loaded++;
            lks__archive_free(&b);
        }
        bytes[at] ^= 0x41;
    }
    assert_true(loaded < 400);
    lks_free(written);
    lks_tensor_release(t);
    lks__archive_free(&a);
}

/* A weights file has no checksum, and HDF5 itself does not survive this: the check before it must. */
static void a_weights_file_with_any_byte_changed_is_survived(void **state)
{
    lks_weights w = { 0 }, back = { 0 };
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, lks_shape(2, 3));
    void *written = NULL;
    unsigned char *bytes;
    size_t n = 0, refusals = 0;

    (void)state;
    assert_int_equal(lks__weights_add_named_group(&w, "layers/d/vars", "d"), LKS_OK);
    assert_int_equal(lks__weights_add(&w, "layers/d/vars/0", t), LKS_OK);
    assert_int_equal(lks__weights_write_h5(&w, &written, &n), LKS_OK);
    bytes = written;
    for (size_t at = 0; at < n; at++) {
        const unsigned char kept = bytes[at];
        if (kept == 0 && at % 8 != 0) continue; /* most of the file is room that nothing uses */
        bytes[at] = (unsigned char)(kept + 1 + at * 7 % 255);
        if (lks__weights_read_h5(bytes, n, "changed", &back) == LKS_OK) lks__weights_free(&back);
        else refusals++;
        bytes[at] = kept;
    }
    assert_true(refusals > 100);
    for (size_t cut = 0; cut < n; cut += 97)
        assert_int_not_equal(lks__weights_read_h5(bytes, cut, "cut", &back), LKS_OK);
    lks_free(written);
    lks_tensor_release(t);
    lks__weights_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_containers_are_refused_in_a_sentence_and_good_ones_load),
        cmocka_unit_test(odd_but_good_datasets_give_their_values),
        cmocka_unit_test(damage_anywhere_is_survived),
        cmocka_unit_test(a_weights_file_with_any_byte_changed_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
