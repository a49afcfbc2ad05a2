/* test_data_every_source.c - what must hold for every source: a pass saved in the middle by one process goes on in another; sources
 * over several files give each element to one of the workers; several readers read the same elements.
 */
#include "test_sources.h"
#include "test_texts.h"

#include "base/alloc.h"

enum { MOST = 64 };

/* ---- the files ---- */

static void write_arrays(void)
{
    const int64_t a[] = { 10, 11, 12, 13, 14 };
    const float b[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    const unsigned char idx[] = { 0, 0, 8, 1, 0, 0, 0, 5, 1, 2, 3, 4, 5 };
    lks_tensor *t[2] = { lks_tensor_from(LKS_INT64, lks_shape(5), a),
                         lks_tensor_from(LKS_FLOAT32, lks_shape(5, 2), b) };
    const char *keys[] = { "a", "b" };

    assert_status(lks_write_npy(path("a.npy"), t[0]), LKS_OK);
    assert_status(lks_write_npz(path("ab.npz"), 2, keys, t), LKS_OK);
    write_file("x.idx", idx, sizeof idx);
    lks_tensor_release(t[0]);
    lks_tensor_release(t[1]);
    const hsize_t dims[] = { 5, 2 };
    hid_t file = H5Fcreate(path("ab.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    write_h5(file, "a", H5T_NATIVE_INT64, 1, dims, a);
    write_h5(file, "b", H5T_NATIVE_FLOAT, 2, dims, b);
    H5Fclose(file);
}

/* Three files of 1, 2 and 3 elements of every kind; what they hold counts on. */
static void write_lists(void)
{
    int value = 0;

    for (int f = 0; f < 3; f++) {
        unsigned char *cifar = calloc(3, 3073);
        archive *tar = calloc(1, sizeof *tar);
        lks_record_writer *w = NULL, *gz = NULL;
        char name[32], text[256] = "", fixed[16] = "", one[32];

        snprintf(name, sizeof name, "%d.tfrecord", f);
        assert_status(lks_record_writer_open(&w, path(name)), LKS_OK);
        snprintf(name, sizeof name, "%d.tfrecord.gz", f);
        assert_status(lks_record_writer_open(&gz, path(name), .compression_type = "GZIP"), LKS_OK);
        for (int i = 0; i <= f; i++, value++) {
            cifar[i * 3073] = (unsigned char)value;
            snprintf(one, sizeof one, "%d,w%d\n", value, value);
            strcat(text, one);
            snprintf(one, sizeof one, "%02d", value);
            strcat(fixed, one);
            assert_status(lks_record_writer_write(w, one, 2), LKS_OK);
            assert_status(lks_record_writer_write(gz, one, 2), LKS_OK);
            snprintf(name, sizeof name, "%d.cls", value);
            add_text(tar, name, one);
        }
        assert_status(lks_record_writer_close(w), LKS_OK);
        assert_status(lks_record_writer_close(gz), LKS_OK);
        snprintf(name, sizeof name, "%d.bin", f);
        write_file(name, cifar, (size_t)(f + 1) * 3073);
        snprintf(name, sizeof name, "%d.fixed", f);
        write_file(name, fixed, strlen(fixed));
        snprintf(name, sizeof name, "%d.csv", f);
        write_file(name, text, strlen(text));
        snprintf(name, sizeof name, "%d.tar", f);
        write_archive(tar, name);
        free(tar);
        free(cifar);
    }
}

static void write_pictures(void)
{
    static const char *const name[] = { "c",           "c/one",       "c/two",      "c/one/a.png",
                                        "c/one/b.png", "c/two/c.png", "c/two/d.png" };

    for (int i = 0; i < 3; i++) mkdir(path(name[i]), 0777);
    for (int i = 3; i < 7; i++) {
        uint8_t pixels[12];
        memset(pixels, 10 * i, sizeof pixels);
        lks_tensor *t = lks_tensor_from(LKS_UINT8, lks_shape(2, 2, 3), pixels);
        assert_status(lks_write_png(path(name[i]), t), LKS_OK);
        lks_tensor_release(t);
    }
}

/* ---- the sources ---- */

typedef struct files {
    const char *name[3];
} files;

static files three(const char *end)
{
    static char names[8][3][128];
    static int turn;
    files f;
    int k = turn++ % 8;

    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d%s", i, end);
        snprintf(names[k][i], sizeof names[k][i], "%s", path(name));
        f.name[i] = names[k][i];
    }
    return f;
}

static const lks_dtype csv_types[] = { LKS_INT64, LKS_STRING };
static const lks_webdataset_field web_fields[] = { { .extensions = "cls" } };

#define SOURCE(name, ...)          \
    static lks_dataset *name(void) \
    {                              \
        return __VA_ARGS__;        \
    }
SOURCE(npy, lks_npy(path("a.npy")))
SOURCE(npz, lks_npz_n(path("ab.npz"), 0, NULL))
SOURCE(idx, lks_idx_n(1, (const char *const[]){ path("x.idx") }))
SOURCE(hdf5, lks_hdf5(path("ab.h5"), "a", "b"))
SOURCE(cifar, lks_cifar10(3, three(".bin").name))
SOURCE(cifar_by_two,
       lks_cifar10_with(3, three(".bin").name,
                        &(lks_files_options){ .struct_size = sizeof(lks_files_options), .num_parallel_reads = 2 }))
SOURCE(web, lks_webdataset(3, three(".tar").name, .n_fields = 1, .fields = web_fields))
SOURCE(web_by_two,
       lks_webdataset(3, three(".tar").name, .n_fields = 1, .fields = web_fields, .files.num_parallel_reads = 2))
SOURCE(tfds, lks_tfds(path("tiny"), "train", .as_supervised = LKS_TRUE))
SOURCE(tfds_slice, lks_tfds(path("tiny"), "train[1:]", .as_supervised = LKS_TRUE))
SOURCE(tfds_by_two, lks_tfds(path("tiny"), "train", .num_parallel_reads = 2))
SOURCE(csv, lks_csv(3, three(".csv").name, .n_columns = 2, .dtypes = csv_types))
SOURCE(csv_by_two, lks_csv(3, three(".csv").name, .n_columns = 2, .dtypes = csv_types, .files.num_parallel_reads = 2))
SOURCE(fixed, lks_fixed_length(3, three(".fixed").name, 2))
SOURCE(fixed_by_two, lks_fixed_length(3, three(".fixed").name, 2, .files.num_parallel_reads = 2))
SOURCE(lines, lks_text_lines(3, three(".csv").name))
SOURCE(tfrecord, lks_tfrecord(3, three(".tfrecord").name))
SOURCE(tfrecord_gz, lks_tfrecord(3, three(".tfrecord.gz").name, .compression_type = "GZIP", .num_parallel_reads = 2))
SOURCE(pictures,
       lks_image_dataset_from_directory(path("c"), .height = 2, .width = 2, .seed = 3, .batch_size = LKS_ZERO_INT))
SOURCE(listing, lks_list_files(1, (const char *const[]){ path("*.csv") }, .seed = 7))
SOURCE(numbers, lks_range(0, 20, 3))
SOURCE(endless, lks_take(lks_random(.seed = 4), 7))
SOURCE(by_index, lks_map_indexed(6, &twice))
SOURCE(shuffled, lks_shuffle_indexed(lks_npy(path("a.npy")), .seed = 9))
SOURCE(zipped, lks_zip(lks_range(0, 5, 1), lks_tfrecord(3, three(".tfrecord").name)))
SOURCE(joined, lks_dataset_concatenate(lks_text_lines(3, three(".csv").name), lks_tfrecord(3, three(".tfrecord").name)))
SOURCE(cached, lks_cache(lks_shuffle(lks_text_lines(3, three(".csv").name), 4, .seed = 1)))
SOURCE(cached_file, lks_cache(lks_text_lines(3, three(".csv").name), .filename = path("cache")))
SOURCE(snapshot, lks_snapshot(lks_text_lines(3, three(".csv").name), path("snapshot")))
SOURCE(loaded, lks_dataset_load(path("saved"), lks_spec_tensor(LKS_STRING, lks_shape_of(0, NULL))))

static const struct source {
    const char *name;
    lks_dataset *(*make)(void);
    int elements;
    lks_dataset *(*same)(void); /* gives the same elements, maybe in another order; NULL: look at no workers */
} sources[] = {
    { "npy", npy, 5, npy },
    { "npz", npz, 5, npz },
    { "idx", idx, 5, idx },
    { "hdf5", hdf5, 5, hdf5 },
    { "cifar", cifar, 6, cifar },
    { "cifar_by_two", cifar_by_two, 6, cifar },
    { "web", web, 6, web },
    { "web_by_two", web_by_two, 6, web },
    { "tfds", tfds, 3, tfds },
    { "tfds_slice", tfds_slice, 2, tfds_slice },
    { "tfds_by_two", tfds_by_two, 3, tfds_by_two },
    { "csv", csv, 6, csv },
    { "csv_by_two", csv_by_two, 6, csv },
    { "fixed", fixed, 6, fixed },
    { "fixed_by_two", fixed_by_two, 6, fixed },
    { "lines", lines, 6, lines },
    { "tfrecord", tfrecord, 6, tfrecord },
    { "tfrecord_gz", tfrecord_gz, 6, tfrecord },
    { "pictures", pictures, 4, pictures },
    { "listing", listing, 3, listing },
    { "numbers", numbers, 7, numbers },
    { "endless", endless, 7, endless },
    { "by_index", by_index, 6, by_index },
    { "shuffled", shuffled, 5, npy },
    { "zipped", zipped, 5, NULL },
    { "joined", joined, 12, joined },
    { "cached", cached, 6, NULL },
    { "cached_file", cached_file, 6, NULL },
    { "snapshot", snapshot, 6, NULL },
    { "loaded", loaded, 6, loaded },
};
enum { SOURCES = sizeof sources / sizeof *sources };

static int write_all(void **state)
{
    lks_dataset *ds;

    if (make_folder(state) != 0) return -1;
    write_arrays();
    write_lists();
    write_pictures();
    write_tfds();
    ds = lines();
    assert_status(lks_dataset_save(ds, path("saved")), LKS_OK);
    lks_dataset_release(ds);
    return 0;
}

/* ---- in another process ---- */

/* The program itself as `save FOLDER SOURCE BEFORE FILE`: reads so many elements and saves the iterator. */
static int save_in_child(const char *source, int before, const char *file)
{
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status = LKS_E_NOTFOUND;
    void *bytes = NULL;
    size_t size = 0;

    for (int k = 0; k < SOURCES; k++)
        if (strcmp(sources[k].name, source) == 0) {
            lks_dataset *ds = lks_prefetch(sources[k].make(), 2);
            status = lks_iter_create(ds, &it);
            for (int i = 0; i < before && status == LKS_OK; i++) {
                status = lks_iter_next(it, &e);
                if (status == LKS_OK) lks_element_release(e);
            }
            if (status == LKS_OK) status = lks_iter_save(it, &bytes, &size);
            lks_iter_release(it);
            lks_dataset_release(ds);
        }
    if (status == LKS_OK) {
        FILE *f = fopen(file, "wb");
        if (f == NULL || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) status = LKS_E_IO;
    }
    if (status != LKS_OK) fprintf(stderr, "%s: %s\n", source, lks_last_error());
    lks_free(bytes);
    return status == LKS_OK ? 0 : 1;
}

static void put_element(lks_text *t, lks_element *e)
{
    for (size_t i = 0; i < lks_element_count(e); i++) {
        if (i > 0) lks__text_puts(t, " ");
        put_leaf(t, e, i);
    }
}

/* The elements of a pass from `first` on as lines; "END" and what is wrong behind them. */
static char *pass_from(lks_iter *it, int first)
{
    lks_text t = { 0 };
    lks_element *e;
    lks_status status;
    char *out = NULL;

    for (int i = 0; (status = lks_iter_next(it, &e)) == LKS_OK; i++) {
        if (i >= first) {
            put_element(&t, e);
            lks__text_puts(&t, "\n");
        }
        lks_element_release(e);
    }
    lks__text_puts(&t, status == LKS_END ? "END" : lks_last_error());
    assert_status(lks__text_take(&t, &out), LKS_OK);
    return out;
}

static void a_pass_saved_by_one_process_goes_on_in_another(void **state)
{
    char self[256], command[600], file[128], bytes[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    (void)state;
    assert_true(n > 0);
    self[n] = '\0';
    snprintf(file, sizeof file, "%s", path("state"));
    for (int k = 0; k < SOURCES; k++) {
        int before = sources[k].elements / 2;
        lks_dataset *ds = lks_prefetch(sources[k].make(), 2), *fresh = lks_prefetch(sources[k].make(), 2);
        lks_iter *whole = NULL, *rest = NULL;
        char *expected, *found;
        FILE *f;
        size_t size;

        snprintf(command, sizeof command, "'%s' save '%s' %s %d '%s'", self, folder, sources[k].name, before, file);
        if (system(command) != 0) fail_msg("%s: the other process could not save", sources[k].name);
        f = fopen(file, "rb");
        size = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        assert_true(size < sizeof bytes); /* positions, not buffers */
        assert_status(lks_iter_restore(ds, bytes, size, &rest), LKS_OK);
        found = pass_from(rest, 0);
        lks_iter_release(rest);
        lks_dataset_release(ds);
        assert_status(lks_iter_create(fresh, &whole), LKS_OK);
        expected = pass_from(whole, before);
        if (strcmp(found, expected) != 0) fail_msg("%s: expected\n%s\nfound\n%s", sources[k].name, expected, found);
        lks_iter_release(whole);
        lks_dataset_release(fresh);
        lks__free(expected);
        lks__free(found);
    }
}

/* ---- several workers ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The elements of the dataset (which goes) as texts behind what is there. */
static int gather(lks_dataset *ds, char **text, int n)
{
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    while ((status = lks_iter_next(it, &e)) == LKS_OK) {
        lks_text t = { 0 };
        put_element(&t, e);
        assert_true(n < MOST);
        assert_status(lks__text_take(&t, &text[n++]), LKS_OK);
        lks_element_release(e);
    }
    assert_status(status, LKS_END);
    lks_iter_release(it);
    lks_dataset_release(ds);
    return n;
}

static void each_element_comes_to_one_worker(void **state)
{
    (void)state;
    for (int k = 0; k < SOURCES; k++) {
        char *one[MOST], *many[MOST];
        int n, m = 0;

        if (sources[k].same == NULL) continue;
        n = gather(sources[k].same(), one, 0);
        assert_int_equal(n, sources[k].elements);
        for (int worker = 0; worker < 2; worker++)
            m = gather(lks_auto_shard(lks_prefetch(sources[k].make(), 2), 2, worker, LKS_SHARD_AUTO), many, m);
        assert_int_equal(m, n);
        qsort(one, (size_t)n, sizeof *one, by_text);
        qsort(many, (size_t)m, sizeof *many, by_text);
        for (int i = 0; i < n; i++) {
            if (strcmp(one[i], many[i]) != 0) fail_msg("%s: '%s' and '%s'", sources[k].name, one[i], many[i]);
            lks__free(one[i]);
            lks__free(many[i]);
        }
    }
}

/* Whose files are dealt out: the workers open their own alone. */
static void sources_over_files_shard_by_file(void **state)
{
    static lks_dataset *(*const by_file[])(void) = { cifar,        cifar_by_two, web,      web_by_two, tfds,
                                                     tfds_slice,   tfds_by_two,  csv,      csv_by_two, fixed,
                                                     fixed_by_two, lines,        tfrecord, pictures };
    static lks_dataset *(*const not [])(void) = { npy, npz, idx, hdf5, numbers, by_index };

    (void)state;
    for (size_t k = 0; k < sizeof by_file / sizeof *by_file; k++) {
        lks_dataset *ds = lks_auto_shard(by_file[k](), 2, 1, LKS_SHARD_FILE);
        assert_status(lks_dataset_status(ds), LKS_OK);
        assert_status(read_some(ds, MOST), LKS_OK);
    }
    for (size_t k = 0; k < sizeof not / sizeof *not ; k++) {
        lks_dataset *ds = lks_auto_shard(not [k](), 2, 1, LKS_SHARD_FILE);
        assert_status(lks_dataset_status(ds), LKS_E_NOTFOUND);
        lks_dataset_release(ds);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_saved_by_one_process_goes_on_in_another),
        cmocka_unit_test(each_element_comes_to_one_worker),
        cmocka_unit_test(sources_over_files_shard_by_file),
    };

    if (argc == 6 && strcmp(argv[1], "save") == 0) {
        snprintf(folder, sizeof folder, "%s", argv[2]);
        return save_in_child(argv[3], atoi(argv[4]), argv[5]);
    }
    return cmocka_run_group_tests(tests, write_all, remove_folder);
}
