/* test_data_errors_disk.c - files that change while they are read, disks that are full while files are written, and
 * what is told of damaged files: counts by file, causes, names.
 */
#include "support/command.h" /* first: it has a folder of its own */

#include "test_sources.h"
#include "test_texts.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "files/h5_check.h"
#include "lockstep/image.h"

/* ---- writing ---- */

static lks_tensor *noise; /* uint8 [64, 64, 3] */

static lks_status npy(const char *to)
{
    return lks_write_npy(to, noise);
}

static lks_status npz(const char *to)
{
    const char *const keys[] = { "x", "y" };
    lks_tensor *const both[] = { noise, noise };

    return lks_write_npz(to, 2, keys, both);
}

static lks_status png(const char *to)
{
    return lks_write_png(to, noise);
}

static lks_status jpeg(const char *to)
{
    return lks_write_jpeg(to, noise, 95);
}

static lks_status records(const char *to, const char *compression, int64_t shards)
{
    lks_record_writer *w = NULL;
    lks_status status = lks_record_writer_open(&w, to, .compression_type = compression, .num_shards = shards);

    for (int i = 0; i < 40 && status == LKS_OK; i++)
        status = lks_record_writer_write(w, lks_tensor_cdata(noise), 64 * 64 * 3);
    if (status == LKS_OK) return lks_record_writer_close(w);
    lks_record_writer_drop(w);
    return status;
}

static lks_status tfrecord(const char *to)
{
    return records(to, NULL, 1);
}

static lks_status tfrecord_gzip(const char *to)
{
    return records(to, "GZIP", 1);
}

static lks_status tfrecord_shards(const char *to)
{
    return records(to, NULL, 3);
}

static lks_status save(const char *to)
{
    lks_dataset *ds = lks_batch(lks_range(0, 20000, 1), 100);
    lks_status status = lks_dataset_save(ds, to);

    lks_dataset_release(ds);
    return status;
}

static lks_status cache(const char *to)
{
    return read_some(lks_cache(lks_batch(lks_range(0, 20000, 1), 100), .filename = to), 1000);
}

static lks_status snapshot(const char *to)
{
    return read_some(lks_snapshot(lks_batch(lks_range(0, 20000, 1), 100), to), 1000);
}

static int entries(const char *of)
{
    DIR *d = opendir(of);
    int n = 0;

    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) n += e->d_name[0] != '.';
    if (d != NULL) closedir(d);
    return n;
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_leaves_what_was_there_and_nothing_else(void **state)
{
    static const struct {
        const char *name;
        lks_status (*write)(const char *to);
        bool folder, replaces;
    } writers[] = { { "o.npy", npy, false, true },
                    { "o.npz", npz, false, true },
                    { "o.png", png, false, true },
                    { "o.jpg", jpeg, false, true },
                    { "o.rec", tfrecord, false, true },
                    { "o.rec.gz", tfrecord_gzip, false, true },
                    { "o.shards", tfrecord_shards, false, false },
                    { "o.saved", save, false, true },
                    { "o.cache", cache, false, false },
                    { "o.snapshot", snapshot, true, false } };
    static const rlim_t limits[] = { 0, 10, 300, 3000 };

    (void)state;
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        char to[128];
        int before;
        snprintf(to, sizeof to, "%s", path(writers[i].name));
        if (writers[i].replaces) write_file(writers[i].name, "old contents", 12);
        if (writers[i].folder) mkdir(to, 0777);
        before = entries(folder);
        for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
            lks_status status;
            char bytes[16] = "";
            limit_files(limits[k]);
            status = writers[i].write(to);
            limit_files(RLIM_INFINITY);
            assert_status(status, LKS_E_IO);
            if (strstr(lks_last_error(), writers[i].name) == NULL || strstr(lks_last_error(), "File too large") == NULL)
                fail_msg("%s: %s", writers[i].name, lks_last_error());
            assert_int_equal(entries(folder), before);
            if (writers[i].folder) assert_int_equal(entries(to), 0);
            if (!writers[i].replaces) continue;
            command_read(to, bytes, sizeof bytes);
            assert_string_equal(bytes, "old contents");
        }
        assert_status(writers[i].write(to), LKS_OK); /* there is room again */
    }
}

/* ---- reading what changes ---- */

static lks_iter *begin(const char *pipeline, int n)
{
    lks_dataset *ds = lks_dataset_from_json(quoted(pipeline), .folder = folder);
    lks_iter *it = NULL;
    lks_element *e;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    lks_dataset_release(ds);
    for (int i = 0; i < n; i++) {
        assert_status(lks_iter_next(it, &e), LKS_OK);
        lks_element_release(e);
    }
    return it;
}

/* The number of elements to the end or to the first failure, whose sentence has these words (NULL: none comes). */
static int64_t finish(lks_iter *it, const char *words)
{
    lks_element *e;
    lks_status status;
    int64_t n = 0;

    while ((status = lks_iter_next(it, &e)) == LKS_OK) {
        lks_element_release(e);
        n++;
    }
    if (words == NULL) assert_status(status, LKS_END);
    else assert_status(status, LKS_E_FORMAT);
    if (words != NULL && strstr(lks_last_error(), words) == NULL) fail_msg("'%s' lacks '%s'", lks_last_error(), words);
    lks_iter_release(it);
    return n;
}

static void files_may_grow_and_must_not_shrink_while_they_are_read(void **state)
{
    char bytes[4096];
    size_t n;
    FILE *f;
    lks_iter *it;

    (void)state;
    write_samples("grows.rec", NULL, 1);
    it = begin("[{'op':'tfrecord','files':'grows.rec'}]", 1);
    f = fopen(path("grows.rec"), "rb");
    n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    f = fopen(path("grows.rec"), "ab");
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
    assert_int_equal(finish(it, NULL), 5);

    write_samples("shrinks.rec", NULL, 1);
    it = begin("[{'op':'tfrecord','files':'shrinks.rec','buffer_size':16}]", 1);
    assert_int_equal(truncate(path("shrinks.rec"), 100), 0);
    assert_int_equal(finish(it, "record 1, offset 79: the file ends inside a record: it is cut off"), 0);
}

/* HDF5 itself reads zeros behind the end. */
static void a_large_hdf5_file_that_is_cut_off_meanwhile_is_an_error(void **state)
{
    const hsize_t dims[2] = { 60000, 100 };
    float *x = calloc(60000 * 100, sizeof *x);
    hid_t file = H5Fcreate(path("large.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    lks_iter *it;

    (void)state;
    write_h5(file, "x", H5T_NATIVE_FLOAT, 2, dims, x);
    H5Fclose(file);
    free(x);
    it = begin("[{'op':'hdf5','path':'large.h5','keys':['x']}]", 10);
    assert_int_equal(truncate(path("large.h5"), 1000000), 0);
    assert_true(finish(it, "has 1000000 now: it was cut off meanwhile") < 59990);
}

/* The size that was told first is what the checks start from. */
static void an_hdf5_file_that_is_cut_off_while_it_is_opened_is_an_error(void **state)
{
    const hsize_t dims[1] = { 40000 };
    float *x = calloc(40000, sizeof *x);
    hid_t file = H5Fcreate(path("cut.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    struct stat info;
    int fd;

    (void)state;
    write_h5(file, "x", H5T_NATIVE_FLOAT, 1, dims, x);
    H5Fclose(file);
    free(x);
    fd = open(path("cut.h5"), O_RDONLY);
    assert_int_equal(fstat(fd, &info), 0);
    assert_status(lks__h5_check_file(fd, (uint64_t)info.st_size), LKS_OK);
    for (off_t left = 96; left >= 0; left -= 48) {
        assert_int_equal(truncate(path("cut.h5"), left), 0);
        assert_status(lks__h5_check_file(fd, (uint64_t)info.st_size), LKS_E_FORMAT);
        assert_non_null(strstr(lks_last_error(), "cut off meanwhile"));
    }
    close(fd);
}

/* ---- what is told ---- */

static char warnings[2048];

static void keep_warning(void *user, const char *sentence)
{
    size_t n = strlen(warnings);

    (void)user;
    snprintf(warnings + n, sizeof warnings - n, "%s\n", sentence);
}

static void expect_warning(const char *pipeline, int64_t elements, const char *words)
{
    warnings[0] = '\0';
    lks_set_warnings(keep_warning, NULL);
    assert_int_equal(finish(begin(pipeline, 0), NULL), elements);
    lks_set_warnings(NULL, NULL);
    if (strstr(warnings, words) == NULL) fail_msg("'%s' lacks '%s'", warnings, words);
}

static void failures_are_counted_by_file_whatever_stands_between(void **state)
{
    (void)state;
    write_samples("good.rec", NULL, 1);
    write_samples("cut.rec", NULL, 1);
    assert_int_equal(truncate(path("cut.rec"), 100), 0);
    write_file("l.csv", "1\nx\n2\ny\n", 8);
    write_file("p1.png", "xx", 2);
    write_file("p2.png", "", 0);
    expect_warning("[{'op':'csv','files':['l.csv','none.csv'],'record_defaults':['int32']},{'op':'ignore_errors'}]", 2,
                   "3 failed elements were left out of this pass: 2 of '");
    assert_non_null(strstr(warnings, "/l.csv', 1 of '"));
    assert_non_null(strstr(warnings, "/none.csv'"));
    expect_warning("[{'op':'tfrecord','files':['cut.rec','good.rec','none.rec','good.rec'],'num_parallel_reads':2},"
                   "{'op':'map','f':{'fn':'parse_example','features':{'nope':'int64'}},'num_parallel_calls':2},"
                   "{'op':'prefetch','buffer_size':2},{'op':'ignore_errors'}]",
                   0, "9 failed elements");
    assert_non_null(strstr(warnings, "2 of '"));
    assert_non_null(strstr(warnings, "6 of '"));
    assert_non_null(strstr(warnings, "1 of '"));
    expect_warning("[{'op':'list_files','pattern':'p?.png','shuffle':false},{'op':'map','f':['read_file',"
                   "'decode_image'],'num_parallel_calls':2},{'op':'ignore_errors'}]",
                   0, "p1.png', 1 of '");
}

static void the_command_tells_them_too(void **state)
{
    static command_result r;
    char text[512];

    (void)state;
    snprintf(text, sizeof text,
             "[{\"op\":\"csv\",\"files\":[\"%s\",\"%s\"],\"record_defaults\":[\"int32\"]},"
             "{\"op\":\"ignore_errors\"}]",
             path("l.csv"), path("none.csv"));
    write_file("p.json", text, strlen(text));
    command_run(&r, LOCKSTEP_COMMAND, "data bench '%s' --limit 10", path("p.json"));
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "3 failed elements were left out of this pass: 2 of '"));
    assert_non_null(strstr(r.err, "/l.csv', 1 of '"));
    command_run(&r, LOCKSTEP_COMMAND, "data bench '%s'", folder);
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.err, "Is a directory"));
    command_run(&r, LOCKSTEP_COMMAND, "data bench '%s'", path("none.json"));
    assert_non_null(strstr(r.err, "No such file or directory"));
}

static void what_looks_wrong_and_can_be_read_warns(void **state)
{
    static archive a;

    (void)state;
    add_text(&a, "a.txt", "x");
    add_text(&a, "b.txt", "y");
    write_file("open.tar", a.bytes, a.n); /* without the closing blocks */
    expect_warning("[{'op':'webdataset','files':'open.tar','fields':['txt']}]", 2, "ends without the closing blocks");
    write_file("t.gz", "\x1f\x8b\nx\n", 5);
    expect_warning("[{'op':'text_lines','files':'t.gz'}]", 2, "it looks like gzip: read it with compression_type");
}

static void expect_failure(const char *pipeline, const char *words)
{
    const char *found = texts_of(lks_dataset_from_json(quoted(pipeline), .folder = folder));

    if (strstr(found, words) == NULL) fail_msg("%s: '%s' lacks '%s'", pipeline, found, words);
}

static void replace_info(const char *old, const char *with)
{
    const char *at = strstr(info_json, old);
    char text[1024];

    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - info_json), info_json, with, at + strlen(old));
    write_file("tiny/1.10.0/dataset_info.json", text, strlen(text));
}

static void files_that_contradict_each_other_are_refused(void **state)
{
    static const char tfds[] = "[{'op':'tfds','path':'tiny','split':'train'}]";
    const char *const keys[] = { "x", "y" };
    const int64_t numbers[] = { 1, 2, 3 };
    lks_tensor *t[2] = { lks_tensor_from(LKS_INT64, lks_shape(3), numbers),
                         lks_tensor_from(LKS_INT64, lks_shape(2), numbers) };

    (void)state;
    assert_status(lks_write_npz(path("rows.npz"), 2, keys, t), LKS_OK);
    lks_tensor_release(t[0]);
    lks_tensor_release(t[1]);
    expect_failure("[{'op':'npz','path':'rows.npz'}]", "rows.npz': array 'x' has 3 rows, array 'y' has 2");
    write_tfds();
    replace_info("\"2\", \"1\"", "\"3\", \"1\"");
    expect_failure(tfds, "00000-of-00002' has 2 records, dataset_info.json says 3");
    replace_info("\"2\", \"1\"", "\"1\", \"1\"");
    expect_failure(tfds, "00000-of-00002' has at least 2 records, dataset_info.json says 1");
    replace_info("\"shardLengths\": [\"2\", \"1\"],", "");
    expect_failure(tfds, "has no \"shardLengths\"");
    write_file("empty.cache", "", 0);
    expect_failure("[{'op':'range','args':[2]},{'op':'cache','filename':'empty.cache'}]",
                   "empty.cache': the file is empty, no file that lks_cache");
    expect_failure("[{'op':'range','args':[2]},{'op':'cache','filename':'none/x'}]", "there is no such folder");
    write_file("nul.csv", "1\0x\n", 4);
    expect_failure("[{'op':'csv','files':'nul.csv','record_defaults':['int32']}]", "column 0 is no int32");
}

/* A cache of other values is made anew, and says so. */
static void what_a_cache_was_made_from_includes_values(void **state)
{
    static const char *const pairs[][2] = {
        { "[{'op':'from_tensor_slices','value':[1,2]},{'op':'cache','filename':'v1'}]",
          "[{'op':'from_tensor_slices','value':[1,3]},{'op':'cache','filename':'v1'}]" },
        { "[{'op':'from_tensor_slices','value':['a']},{'op':'cache','filename':'v2'}]",
          "[{'op':'from_tensor_slices','value':['b']},{'op':'cache','filename':'v2'}]" },
        { "[{'op':'from_tensors','value':[1]},{'op':'padded_batch','batch_size':1,'padding_values':1},"
          "{'op':'cache','filename':'v3'}]",
          "[{'op':'from_tensors','value':[1]},{'op':'padded_batch','batch_size':1,'padding_values':2},"
          "{'op':'cache','filename':'v3'}]" },
        { "[{'op':'range','args':[2]},{'op':'scan','initial':0,'f':'running_sum'},{'op':'cache','filename':'v4'}]",
          "[{'op':'range','args':[2]},{'op':'scan','initial':5,'f':'running_sum'},{'op':'cache','filename':'v4'}]" },
        { "[{'op':'csv','files':'d.csv','record_defaults':[{'default':1,'dtype':'int32'}]},"
          "{'op':'cache','filename':'v5'}]",
          "[{'op':'csv','files':'d.csv','record_defaults':[{'default':2,'dtype':'int32'}]},"
          "{'op':'cache','filename':'v5'}]" },
        { "[{'op':'from_tensors','value':[1]},{'op':'bucket_by_sequence_length','element_length_func':'length',"
          "'bucket_boundaries':[2],'bucket_batch_sizes':[1,1]},{'op':'cache','filename':'v6'}]",
          "[{'op':'from_tensors','value':[1]},{'op':'bucket_by_sequence_length','element_length_func':'length',"
          "'bucket_boundaries':[3],'bucket_batch_sizes':[1,1]},{'op':'cache','filename':'v6'}]" },
    };

    (void)state;
    write_file("d.csv", "\n4\n", 3);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        finish(begin(pairs[i][0], 0), NULL);
        warnings[0] = '\0';
        lks_set_warnings(keep_warning, NULL);
        finish(begin(pairs[i][0], 0), NULL);
        assert_string_equal(warnings, "");
        finish(begin(pairs[i][1], 0), NULL);
        lks_set_warnings(NULL, NULL);
        if (strstr(warnings, "was made by another pipeline") == NULL) fail_msg("%s: '%s'", pairs[i][1], warnings);
    }
}

static int make_noise(void **state)
{
    unsigned seed = 1;

    if (make_folder(state) != 0) return -1;
    noise = lks_tensor_create(LKS_UINT8, lks_shape(64, 64, 3));
    for (int i = 0; noise != NULL && i < 64 * 64 * 3; i++)
        ((uint8_t *)lks_tensor_data(noise))[i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
    return noise == NULL ? -1 : 0;
}

static int drop_noise(void **state)
{
    lks_tensor_release(noise);
    command_remove_folder();
    return remove_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_leaves_what_was_there_and_nothing_else),
        cmocka_unit_test(files_may_grow_and_must_not_shrink_while_they_are_read),
        cmocka_unit_test(a_large_hdf5_file_that_is_cut_off_meanwhile_is_an_error),
        cmocka_unit_test(an_hdf5_file_that_is_cut_off_while_it_is_opened_is_an_error),
        cmocka_unit_test(failures_are_counted_by_file_whatever_stands_between),
        cmocka_unit_test(the_command_tells_them_too),
        cmocka_unit_test(what_looks_wrong_and_can_be_read_warns),
        cmocka_unit_test(files_that_contradict_each_other_are_refused),
        cmocka_unit_test(what_a_cache_was_made_from_includes_values),
    };

    return cmocka_run_group_tests(tests, make_noise, drop_noise);
}
