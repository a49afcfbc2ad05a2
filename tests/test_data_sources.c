/* test_data_sources.c - sources over files of other people: columns of arrays, CIFAR, WebDataset shards, TFDS folders. Each is
 * written here byte by byte, read back, saved in mid-pass and restored; broken ones say what and where.
 */
#include "test_sources.h"

/* Saves after `before` elements; the restored iterator must give as many more as `rest`. */
static void assert_resumes(lks_dataset *ds, int before, int64_t rest)
{
    lks_iter *it = NULL, *again = NULL;
    lks_element *e;
    void *bytes;
    size_t size;
    int64_t n = 0;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    for (int i = 0; i < before; i++) {
        assert_status(lks_iter_next(it, &e), LKS_OK);
        lks_element_release(e);
    }
    assert_status(lks_iter_save(it, &bytes, &size), LKS_OK);
    assert_status(lks_iter_restore(ds, bytes, size, &again), LKS_OK);
    while (lks_iter_next(again, &e) == LKS_OK) {
        n++;
        lks_element_release(e);
    }
    assert_int_equal(n, rest);
    lks_free(bytes);
    lks_iter_release(again);
    lks_iter_release(it);
    lks_dataset_release(ds);
}

/* ---- columns ---- */

static void see_pair(lks_element *e, int64_t i)
{
    assert_int_equal(int_of(e, 0), 10 + i);
    assert_true(((const float *)lks_tensor_cdata(lks_element_tensor(e, 1)))[1] == (float)(2 * i + 1));
}

static void arrays_of_files_are_columns(void **state)
{
    const int64_t a[] = { 10, 11, 12 };
    const float b[] = { 0, 1, 2, 3, 4, 5 };
    const char *keys[] = { "a", "b" }, *npz = path("columns.npz"), *npy = path("a.npy");
    lks_tensor *t[] = { lks_tensor_from(LKS_INT64, lks_shape(3), a), lks_tensor_from(LKS_FLOAT32, lks_shape(3, 2), b) };
    static const unsigned char idx[] = { 0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9 };
    const char *labels = write_file("labels.idx", idx, sizeof idx);
    lks_dataset *ds;

    (void)state;
    assert_status(lks_write_npz(npz, 2, keys, t), LKS_OK);
    assert_status(lks_write_npy(npy, t[0]), LKS_OK);
    assert_int_equal(each(lks_npz(npz, "a", "b"), see_pair), 3);
    assert_int_equal(each(lks_npz_n(npz, 0, NULL), see_pair), 3);
    assert_yields(lks_npy(npy), "10 11 12 ");
    ds = lks_idx_n(1, &labels);
    assert_status(lks_dataset_status(ds), LKS_OK);
    lks_dataset_release(ds);
    ds = lks_idx(labels);
    assert_int_equal(lks_dataset_cardinality(ds), 3);
    lks_dataset_release(ds);
    assert_fails(lks_npz(npz, "a", "c"), LKS_E_NOTFOUND, "c");
    assert_fails(lks_npy(path("none.npy")), LKS_E_NOTFOUND, "none.npy");
    assert_resumes(lks_npz(npz, "a", "b"), 1, 2);
    lks_tensor_release(t[0]);
    lks_tensor_release(t[1]);
}

static void datasets_of_hdf5_files_are_columns(void **state)
{
    const int64_t a[] = { 10, 11, 12 };
    const float b[] = { 0, 1, 2, 3, 4, 5 };
    const hsize_t dims[] = { 3, 2 };
    char name[128];
    hid_t file, group;

    (void)state;
    snprintf(name, sizeof name, "%s", path("columns.h5"));
    file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    group = H5Gcreate2(file, "train", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    write_h5(file, "train/a", H5T_NATIVE_INT64, 1, dims, a);
    write_h5(file, "b", H5T_NATIVE_FLOAT, 2, dims, b);
    H5Gclose(group);
    H5Fclose(file);
    assert_int_equal(each(lks_hdf5(name, "/train/a", "b"), see_pair), 3);
    assert_resumes(lks_hdf5(name, "train/a", "b"), 2, 1);
    assert_fails(lks_hdf5_n(name, 1, &(const char *){ "c" }), LKS_E_NOTFOUND, "there are: ");
}

enum { LARGE_ROWS = 300000, LARGE_COLUMNS = 8 };

/* Row r holds 8 r, 8 r + 1, ...; in chunks of 1000 rows, or in one piece. */
static void write_large(const char *name, bool chunked)
{
    const hsize_t dims[] = { LARGE_ROWS, LARGE_COLUMNS }, chunk[] = { 1000, LARGE_COLUMNS };
    int64_t *x = malloc(sizeof *x * LARGE_ROWS * LARGE_COLUMNS);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), plist = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(2, dims, NULL), set;

    for (int64_t i = 0; i < LARGE_ROWS * LARGE_COLUMNS; i++) x[i] = i;
    if (chunked) {
        H5Pset_chunk(plist, 2, chunk);
        H5Pset_shuffle(plist);
        H5Pset_deflate(plist, 1);
    }
    set = H5Dcreate2(file, "x", H5T_NATIVE_INT64, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(plist);
    H5Fclose(file);
    free(x);
}

static void see_large(lks_element *e, int64_t i)
{
    const int64_t *x = lks_tensor_cdata(lks_element_tensor(e, 0));

    assert_int_equal(lks_tensor_size(lks_element_tensor(e, 0)), LARGE_COLUMNS);
    assert_int_equal(x[0], LARGE_COLUMNS * (LARGE_ROWS - 1000 + i));
    assert_int_equal(x[7], x[0] + 7);
}

static int64_t sum_seen;

static void see_any_row(lks_element *e, int64_t i)
{
    const int64_t *x = lks_tensor_cdata(lks_element_tensor(e, 0));

    (void)i;
    assert_int_equal(x[7], x[0] + 7);
    sum_seen += x[0] / LARGE_COLUMNS;
}

static void large_datasets_are_read_in_blocks(void **state)
{
    char name[128];

    (void)state;
    snprintf(name, sizeof name, "%s", path("large.h5"));
    for (int chunked = 0; chunked < 2; chunked++) {
        lks_dataset *ds;
        write_large(name, chunked != 0);
        ds = lks_hdf5(name, "x");
        assert_int_equal(lks_dataset_cardinality(ds), LARGE_ROWS);
        assert_int_equal(each(lks_skip(lks_dataset_retain(ds), LARGE_ROWS - 1000), see_large), 1000);
        assert_resumes(lks_skip(lks_dataset_retain(ds), LARGE_ROWS - 10), 4, 6);
        sum_seen = 0;
        assert_int_equal(each(lks_batch(lks_dataset_retain(ds), 1000), see_any_row), LARGE_ROWS / 1000);
        assert_int_equal(sum_seen, (int64_t)(LARGE_ROWS / 1000) * (LARGE_ROWS / 1000 - 1) / 2 * 1000);
        each(lks_take(lks_shuffle_indexed(ds, .seed = 3), 50), see_any_row);
        unlink(name);
    }
}

static int64_t number_of(lks_iter *it)
{
    lks_element *e;
    int64_t x;

    if (lks_iter_next(it, &e) != LKS_OK) return -1;
    x = *(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 0));
    lks_element_release(e);
    return x;
}

/* Rows of chunks are fetched many at a time: in the same order. */
static void rows_in_chunks_are_shuffled_as_numbers_are(void **state)
{
    char name[128];
    lks_dataset *rows, *numbers;
    lks_iter *r = NULL, *n = NULL;
    enum { SEEN = 5000 };

    (void)state;
    snprintf(name, sizeof name, "%s", path("large.h5"));
    write_large(name, true);
    rows = lks_shuffle_indexed(lks_hdf5(name, "x"), .seed = 3);
    numbers = lks_shuffle_indexed(lks_range(0, LARGE_ROWS, 1), .seed = 3);
    for (int64_t skip = 0; skip < 2; skip++) { /* two passes, each in another order */
        lks_dataset *a = lks_skip(lks_dataset_retain(rows), 777 * skip),
                    *b = lks_skip(lks_dataset_retain(numbers), 777 * skip);
        assert_status(lks_iter_create(a, &r), LKS_OK);
        assert_status(lks_iter_create(b, &n), LKS_OK);
        for (int64_t i = 0; i < SEEN; i++) assert_int_equal(number_of(r), LARGE_COLUMNS * number_of(n));
        lks_iter_release(r);
        lks_iter_release(n);
        lks_dataset_release(a);
        lks_dataset_release(b);
    }
    assert_resumes(lks_take(rows, 600), 200, 400);
    lks_dataset_release(numbers);
    unlink(name);
}

static void broken_hdf5_files_and_other_links_are_refused(void **state)
{
    char name[128];
    hid_t file;

    (void)state;
    snprintf(name, sizeof name, "%s", path("links.h5"));
    file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/x", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("large.h5", "/x", file, "away", H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(file);
    assert_fails(lks_hdf5(name, "soft"), LKS_E_UNSUPPORTED, "'/soft' is a soft or external link");
    assert_fails(lks_hdf5(name, "away/x"), LKS_E_UNSUPPORTED, "'/away' is a soft or external link");
    assert_fails(lks_hdf5(name, "g"), LKS_E_NOTFOUND, "no dataset 'g'");
    assert_fails(lks_hdf5(name, "/"), LKS_E_NOTFOUND, "no dataset ''");
    write_file("links.h5", "this is no HDF5 file", 20);
    assert_fails(lks_hdf5(name, "x"), LKS_E_FORMAT, "links.h5'");
    assert_fails(lks_hdf5(path("none.h5"), "x"), LKS_E_NOTFOUND, "none.h5'");
}

/* ---- CIFAR ---- */

static void see_cifar(lks_element *e, int64_t i)
{
    const unsigned char *x = lks_tensor_cdata(lks_element_tensor(e, 0));

    assert_int_equal(int_of(e, 1), 3 + i);
    assert_int_equal(x[3 * 33 + 0], 33 % 251); /* red of row 1, column 1 */
    assert_int_equal(x[3 * 33 + 2], (2 * 1024 + 33) % 251);
}

static void cifar_images_are_rows_of_pixels(void **state)
{
    static unsigned char bytes[2 * 3074];
    const char *file;

    (void)state;
    for (int r = 0; r < 2; r++) {
        bytes[r * 3073] = (unsigned char)(3 + r);
        for (int i = 0; i < 3072; i++) bytes[r * 3073 + 1 + i] = (unsigned char)(i % 251);
    }
    file = write_file("data_batch_1.bin", bytes, 2 * 3073);
    assert_int_equal(each(lks_cifar10(1, &file), see_cifar), 2);
    assert_resumes(lks_cifar10(1, &file), 1, 1);
    file = write_file("cut.bin", bytes, 5000);
    lks_iter *it = NULL;
    lks_element *e;
    lks_dataset *ds = lks_cifar10(1, &file);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_E_FORMAT);
    assert_non_null(strstr(lks_last_error(), "no multiple of the 3073"));
    assert_status(lks_iter_next(it, &e), LKS_END);
    lks_iter_release(it);
    lks_dataset_release(ds);
    for (int r = 0; r < 2; r++) {
        memmove(bytes + r * 3074 + 2, bytes + 1, 3072);
        bytes[r * 3074] = 1;
        bytes[r * 3074 + 1] = (unsigned char)(3 + r);
    }
    for (int i = 0; i < 3072; i++) bytes[2 + i] = bytes[3076 + i] = (unsigned char)(i % 251);
    file = write_file("train.bin", bytes, 2 * 3074);
    assert_int_equal(each(lks_cifar100(1, &file, 0), see_cifar), 2);
    ds = lks_cifar100(1, &file, 1);
    assert_int_equal(lks_spec_num_classes(lks_spec_leaf(lks_dataset_spec(ds), 1)), 20);
    lks_dataset_release(ds);
}

/* ---- tar ---- */

static const lks_webdataset_field fields[] = { { .extensions = "cls", .dtype = LKS_INT64 },
                                               { .extensions = "jpg;png" },
                                               { .extensions = "txt", .optional = LKS_TRUE } };

static lks_dataset *samples_of(size_t n, const char *const *shards)
{
    return lks_webdataset(n, shards, .n_fields = 3, .fields = fields);
}

static void see_web(lks_element *e, int64_t i)
{
    static const char *const key[] = { "a/0001", "a/0002", "long" }, *const image[] = { "JPG", "PNG", "P" };

    assert_string_equal(text_of(e, 0) + (i == 2 ? 120 : 0), i == 2 ? "/long" : key[i]); /* __key__, cls, jpg, txt */
    assert_int_equal(int_of(e, 1), i == 2 ? 7 : i);
    assert_string_equal(text_of(e, 2), image[i]);
    assert_string_equal(text_of(e, 3), i == 0 ? "some text" : "");
}

static void consecutive_members_of_one_name_are_a_sample(void **state)
{
    archive *a = calloc(1, sizeof *a);
    char longer[140], pax[160];
    const char *shards[1];

    (void)state;
    add_text(a, "__meta__/info.json", "{}");
    add_member(a, "a/", '5', "", 0);
    add_text(a, "a/0001.cls", "0\n");
    add_text(a, "a/0001.jpg", "JPG");
    add_text(a, "a/0001.seg.txt", "not this");
    add_text(a, "a/0001.TXT", "some text");
    add_text(a, "README", "no extension");
    add_text(a, "a/0002.png", "PNG");
    add_text(a, "a/0002.cls", "1");
    memset(longer, 'd', 120);
    snprintf(longer + 120, 20, "/long.cls");
    add_member(a, "././@LongLink", 'L', longer, strlen(longer) + 1);
    add_text(a, "cut", "7");
    memset(longer + 120, 0, 20);
    snprintf(longer + 120, 20, "/long.jpg");
    snprintf(pax, sizeof pax, "%zu path=%s\n", strlen(longer) + 10, longer);
    add_member(a, "pax", 'x', pax, strlen(pax));
    add_text(a, "cut", "P");
    shards[0] = write_archive(a, "web-000.tar");
    assert_int_equal(each(samples_of(1, shards), see_web), 3);
    assert_resumes(samples_of(1, shards), 2, 1);
    shards[0] = path("web-{000..000}.tar");
    assert_int_equal(each(samples_of(1, shards), see_web), 3);
    free(a);
}

/* Every result of a pass: '.' an element, '!' a failure whose sentence has the word. */
static void read_marks(lks_dataset *ds, char *marks, size_t size, const char *word)
{
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status;
    size_t n = 0;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    while ((status = lks_iter_next(it, &e)) != LKS_END && n + 1 < size) {
        marks[n++] = status == LKS_OK ? '.' : '!';
        if (status == LKS_OK) lks_element_release(e);
        else if (strstr(lks_last_error(), word) == NULL) fail_msg("'%s' lacks '%s'", lks_last_error(), word);
    }
    marks[n] = '\0';
    lks_iter_release(it);
    lks_dataset_release(ds);
}

static void broken_samples_are_passed_over_and_broken_shards_end(void **state)
{
    archive *a = calloc(1, sizeof *a);
    char marks[64];
    const char *shard;

    (void)state;
    add_text(a, "1.cls", "1");
    add_text(a, "1.jpg", "x");
    add_text(a, "2.cls", "two"); /* no number */
    add_text(a, "2.jpg", "x");
    add_text(a, "3.cls", "3"); /* no picture */
    add_text(a, "4.cls", "4");
    add_text(a, "4.jpg", "x");
    shard = write_archive(a, "broken.tar");
    read_marks(samples_of(1, &shard), marks, sizeof marks, "broken.tar', record ");
    assert_string_equal(marks, ".!!.");
    shard = write_file("cut.tar", a->bytes, a->n - 700);
    read_marks(samples_of(1, &shard), marks, sizeof marks, "cut.tar");
    assert_string_equal(marks, ".!!!");
    a->bytes[512 * 5] ^= 1; /* a header's name: its checksum is wrong */
    shard = write_archive(a, "checksum.tar");
    read_marks(samples_of(1, &shard), marks, sizeof marks, "checksum");
    assert_true(strchr(marks, '!') != NULL);
    shard = write_file("text.tar", "this is no tar archive, whatever its name says", 46);
    read_marks(samples_of(1, &shard), marks, sizeof marks, "text.tar");
    assert_string_equal(marks, "!");
    free(a);
}

/* ---- TFDS ---- */

static void see_tfds(lks_element *e, int64_t i)
{
    /* box/at, box/size, flag, image, label, raw, words */
    assert_true(((const float *)lks_tensor_cdata(lks_element_tensor(e, 0)))[1] == 0.25f);
    assert_int_equal(((const int32_t *)lks_tensor_cdata(lks_element_tensor(e, 1)))[1], 4);
    assert_int_equal(*(const uint8_t *)lks_tensor_cdata(lks_element_tensor(e, 2)), i % 2);
    assert_int_equal(((const uint8_t *)lks_tensor_cdata(lks_element_tensor(e, 3)))[11], 12);
    assert_int_equal(int_of(e, 4), i);
    assert_true(((const float *)lks_tensor_cdata(lks_element_tensor(e, 5)))[1] == -1.0f);
    assert_int_equal(lks_tensor_size(lks_element_tensor(e, 6)), i);
}

static void see_supervised(lks_element *e, int64_t i)
{
    assert_int_equal(lks_element_count(e), 2);
    assert_int_equal(int_of(e, 1), i + 1);
}

static void tfds_folders_are_read_as_they_lie(void **state)
{
    char tiny[128];
    lks_dataset *ds;

    (void)state;
    write_tfds();
    snprintf(tiny, sizeof tiny, "%s", path("tiny"));
    assert_int_equal(each(lks_tfds(tiny, "train"), see_tfds), 3);
    assert_int_equal(each(lks_tfds(tiny, "train[1:]", .as_supervised = LKS_TRUE), see_supervised), 2);
    assert_int_equal(each(lks_tfds(tiny, "train[:34%]"), see_tfds), 1);
    assert_int_equal(each(lks_tfds(tiny, "train[:1]+train[1:]"), see_tfds), 3);
    ds = lks_tfds(tiny, "train[-1:]");
    assert_int_equal(lks_dataset_cardinality(ds), 1);
    lks_dataset_release(ds);
    assert_resumes(lks_tfds(tiny, "train", .decode_images = LKS_FALSE), 1, 2);
    assert_fails(lks_tfds(tiny, "test"), LKS_E_NOTFOUND, "there are: train");
    assert_fails(lks_tfds(tiny, "train[x:]"), LKS_E_ARG, "\"x\"");
    mkdir(path("other"), 0777);
    assert_fails(lks_tfds(folder, "train[:1]+", .num_parallel_calls = LKS_ZERO_INT), LKS_E_ARG, "several folders");
    write_file("tiny/1.10.0/features.json",
               "{\"featuresDict\": {\"features\": {\"s\": {\"pythonClassName\": \"Audio\"}}}}", 67);
    assert_fails(lks_tfds(tiny, "train"), LKS_E_UNSUPPORTED,
                 "'s' of features.json is of a kind that is not read: Audio");
    write_file("tiny/1.10.0/features.json", "{", 1);
    assert_fails(lks_tfds(tiny, "train"), LKS_E_FORMAT, "features.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_files_are_columns),
        cmocka_unit_test(datasets_of_hdf5_files_are_columns),
        cmocka_unit_test(large_datasets_are_read_in_blocks),
        cmocka_unit_test(rows_in_chunks_are_shuffled_as_numbers_are),
        cmocka_unit_test(broken_hdf5_files_and_other_links_are_refused),
        cmocka_unit_test(cifar_images_are_rows_of_pixels),
        cmocka_unit_test(consecutive_members_of_one_name_are_a_sample),
        cmocka_unit_test(broken_samples_are_passed_over_and_broken_shards_end),
        cmocka_unit_test(tfds_folders_are_read_as_they_lie),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
