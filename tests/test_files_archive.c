/* test_files_archive.c - weight trees in HDF5 and .keras containers: the golden files, round trips, failing allocations,
 * the host's HDF5 settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "files/h5.h"
#include "files/job.h"
#include "files/json.h"
#include "files/keras_archive.h"
#include "files/npz.h"
#include "lockstep/files.h"
#include "support/failing_alloc.h"
#include "support/folder.h"
#include "support/shared.h"

static int same(const lks_tensor *a, const lks_tensor *b)
{
    lks_shape s = lks_tensor_shape(a), t = lks_tensor_shape(b);
    lks_tensor *x, *y;
    int equal;

    if (!lks_shape_equal(&s, &t)) return 0;
    x = lks_tensor_cast(a, LKS_FLOAT64), y = lks_tensor_cast(b, LKS_FLOAT64);
    equal = memcmp(lks_tensor_cdata(x), lks_tensor_cdata(y), (size_t)lks_tensor_size(x) * 8) == 0;
    lks_tensor_release(x);
    lks_tensor_release(y);
    return equal;
}

/* The array stands somewhere in the tree. */
static int holds(const lks_weights *w, const lks_tensor *t)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->entries[i].tensor != NULL && same(w->entries[i].tensor, t)) return 1;
    return 0;
}

static size_t check_values(const lks_weights *w, const char *npz_path, const char *letters)
{
    lks_npz *npz;
    size_t found = 0;

    if (lks__npz_open(npz_path, &npz) != LKS_OK) fail_msg("%s", lks_last_error());
    for (size_t i = 0; i < lks__npz_count(npz); i++) {
        const char *name = lks__npz_name(npz, i);
        lks_tensor *t = NULL;
        if (strchr(letters, name[0]) == NULL || name[1] < '0' || name[1] > '9') continue;
        if (lks__npz_read(npz, name, &t) != LKS_OK) fail_msg("%s", lks_last_error());
        if (!holds(w, t)) fail_msg("%s: %s is not in the file", npz_path, name);
        lks_tensor_release(t);
        found++;
    }
    lks__npz_close(npz);
    return found;
}

/* Equal trees: the same paths, arrays and attributes. */
static void assert_same_tree(const lks_weights *a, const lks_weights *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const lks_weight_entry *e = &a->entries[i], *f = lks__weights_find(b, e->path);
        if (f == NULL) fail_msg("%s is missing", e->path);
        assert_int_equal(e->tensor == NULL, f->tensor == NULL);
        if (e->tensor != NULL) {
            assert_int_equal(lks_tensor_dtype(e->tensor), lks_tensor_dtype(f->tensor));
            assert_true(same(e->tensor, f->tensor));
        }
        assert_int_equal(e->n_attrs, f->n_attrs);
        for (size_t k = 0; k < e->n_attrs; k++) {
            const lks_weight_attr *x = &e->attrs[k], *y = lks__weights_attr(b, e->path, x->name);
            assert_non_null(y);
            assert_int_equal(x->is_list, y->is_list);
            assert_int_equal(x->count, y->count);
            for (size_t v = 0; v < x->count; v++) assert_string_equal(x->values[v], y->values[v]);
        }
    }
}

static void check_round_trip(const lks_archive *a)
{
    lks_archive b = { 0 };
    void *bytes, *again;
    size_t n, n_again;

    if (lks__archive_write_memory(a, &bytes, &n) != LKS_OK) fail_msg("%s", lks_last_error());
    if (lks__archive_read_memory(bytes, n, &b) != LKS_OK) fail_msg("%s", lks_last_error());
    assert_string_equal(a->config, b.config);
    assert_string_equal(a->metadata, b.metadata);
    assert_same_tree(&a->weights, &b.weights);
    assert_int_equal(lks__archive_write_memory(&b, &again, &n_again), LKS_OK);
    assert_int_equal(n, n_again);
    assert_memory_equal(bytes, again, n);
    lks_free(bytes);
    lks_free(again);
    lks__archive_free(&b);
}

/* Python's text of a config, parsed and printed again, is the same text. */
static void check_json_text(const char *file, const char *text)
{
    json_t *json;
    char *again;

    assert_int_equal(lks__json_parse(text, strlen(text), file, &json), LKS_OK);
    assert_int_equal(lks__json_dump(json, &again), LKS_OK);
    if (strcmp(text, again) != 0) fail_msg("%s: %s\nis printed as\n%s", file, text, again);
    lks_free(again);
    json_decref(json);
}

static void the_golden_archives_hold_their_weights_and_survive_a_round_trip(void **state)
{
    char set[1024];
    json_t *index, *entry;
    size_t i, arrays = 0;

    (void)state;
    snprintf(set, sizeof set, "%s", in_folder(NEED_SHARED(), "golden/files/keras"));
    index = json_load_file(in_folder(set, "index.json"), 0, NULL);
    assert_non_null(index);
    json_array_foreach(json_object_get(index, "files"), i, entry)
    {
        const char *file = json_string_value(json_object_get(entry, "file"));
        const char *values = json_string_value(json_object_get(entry, "values"));
        lks_archive a = { 0 };
        if (lks__archive_read(in_folder(set, file), &a) != LKS_OK) fail_msg("%s", lks_last_error());
        if (values != NULL) arrays += check_values(&a.weights, in_folder(set, values), "wo");
        check_json_text(file, a.config);
        check_json_text(file, a.metadata);
        check_round_trip(&a);
        lks__archive_free(&a);
    }
    assert_true(i > 40 && arrays > 400);
    json_decref(index);
}

static void older_files_and_weights_files_are_read_too(void **state)
{
    static const char *const sets[] = { "older", "weights_h5" };
    char set[1024];

    (void)state;
    for (size_t s = 0; s < 2; s++) {
        json_t *index, *list, *entry;
        size_t i;
        snprintf(set, sizeof set, "%s/%s", in_folder(NEED_SHARED(), "golden/files"), sets[s]);
        index = json_load_file(in_folder(set, "index.json"), 0, NULL);
        assert_non_null(index);
        list = json_is_array(index) ? index : json_object_get(index, "files");
        json_array_foreach(list, i, entry)
        {
            const char *file = json_string_value(json_object_get(entry, "file"));
            const char *values = json_string_value(json_object_get(entry, "values"));
            lks_archive a = { 0 };
            lks_status status = strstr(file, ".keras") != NULL  ? lks__archive_read(in_folder(set, file), &a)
                                : strstr(file, ".json") != NULL ? LKS_END
                                                                : lks__weights_load(in_folder(set, file), &a.weights);
            if (status == LKS_END) continue;
            if (status != LKS_OK) fail_msg("%s: %s", file, lks_last_error());
            check_values(&a.weights, in_folder(set, values), strstr(file, "weights") == NULL ? "wo" : "w");
            lks__archive_free(&a);
        }
        assert_true(i > 5);
        json_decref(index);
    }
}

static void a_worked_tree_is_laid_out_as_keras_does(void **state)
{
    char set[1024];
    lks_archive a = { 0 };
    const lks_weight_attr *name;

    (void)state;
    snprintf(set, sizeof set, "%s", in_folder(NEED_SHARED(), "golden/files/keras"));
    assert_int_equal(lks__archive_read(in_folder(set, "seq_mlp.keras"), &a), LKS_OK);
    assert_non_null(lks__weights_tensor(&a.weights, "layers/dense/vars/0"));
    assert_null(lks__weights_tensor(&a.weights, "layers/dense/vars"));
    assert_null(lks__weights_find(&a.weights, "layers/dense/vars/2"));
    name = lks__weights_attr(&a.weights, "layers/dense_1/vars", "name");
    assert_string_equal(name->values[0], "dense_1");
    assert_int_equal(lks_tensor_dtype(lks__weights_tensor(&a.weights, "optimizer/vars/0")), LKS_INT64);
    lks__archive_free(&a);
    assert_int_equal(lks__archive_read(in_folder(set, "bfloat16.keras"), &a), LKS_OK);
    assert_int_equal(lks_tensor_dtype(lks__weights_tensor(&a.weights, "layers/dense/vars/0")), LKS_BFLOAT16);
    lks__archive_free(&a);
}

static lks_tensor *numbers(lks_dtype dtype, lks_shape shape)
{
    lks_tensor *t = lks_tensor_create(LKS_INT64, shape), *c;

    for (int64_t i = 0; i < lks_tensor_size(t); i++) ((int64_t *)lks_tensor_data(t))[i] = i % 2;
    c = lks_tensor_cast(t, dtype);
    lks_tensor_release(t);
    return c;
}

/* A tree with every dtype, scalars, empty arrays and groups, more than ten datasets in a group, list attributes. */
static void make_archive(lks_archive *a)
{
    static const char *const list[3] = { "dense/kernel", "", "\xc3\xa9" };

    memset(a, 0, sizeof *a);
    a->config = lks__strdup("{\"class_name\": \"Sequential\", \"x\": 1e-07}");
    a->metadata = lks__strdup("{\"keras_version\": \"3.15.1\"}");
    assert_int_equal(lks__weights_add_named_group(&a->weights, "vars", "mod\xc3\xa8le"), LKS_OK);
    assert_int_equal(lks__weights_add_named_group(&a->weights, "layers/dropout/vars", "dropout"), LKS_OK);
    assert_int_equal(lks__weights_add_named_group(&a->weights, "layers/dense/vars", "dense"), LKS_OK);
    assert_int_equal(lks__weights_set_list(&a->weights, "vars", "weight_names", 3, list), LKS_OK);
    for (int d = LKS_FLOAT32; d < LKS_STRING; d++) {
        lks_tensor *t = numbers((lks_dtype)d, d % 3 == 0   ? lks_shape_of(0, NULL)
                                              : d % 3 == 1 ? lks_shape(2, 3)
                                                           : lks_shape(0, 4));
        char path[64];
        snprintf(path, sizeof path, "layers/dense/vars/%d", d - 1);
        assert_int_equal(lks__weights_add(&a->weights, path, t), LKS_OK);
        lks_tensor_release(t);
    }
}

static void every_dtype_comes_back_from_an_archive_and_a_folder(void **state)
{
    lks_archive a, b = { 0 };
    char path[1024], command[4096];
    lks_weights w = { 0 };

    (void)state;
    make_archive(&a);
    snprintf(path, sizeof path, "%s", in_folder(folder, "all.keras"));
    if (lks__archive_write(path, &a) != LKS_OK) fail_msg("%s", lks_last_error());
    if (lks__archive_read(path, &b) != LKS_OK) fail_msg("%s", lks_last_error());
    for (size_t i = 0; i < a.weights.count; i++)
        if (a.weights.entries[i].tensor != NULL)
            assert_true(same(a.weights.entries[i].tensor, lks__weights_tensor(&b.weights, a.weights.entries[i].path)));
    assert_string_equal(lks__weights_attr(&b.weights, "vars", "weight_names")->values[2], "\xc3\xa9");
    assert_non_null(lks__weights_find(&b.weights, "layers/dropout/vars"));
    check_round_trip(&b);
    lks__archive_free(&b);

    snprintf(command, sizeof command,
             "mkdir '%s/d' && cd '%s/d' && { unzip -q ../all.keras || python3 -m zipfile -e "
             "../all.keras .; } 2>&1",
             folder, folder);
    if (system(command) == 0) {
        if (lks__archive_read(in_folder(folder, "d"), &b) != LKS_OK) fail_msg("%s", lks_last_error());
        lks__archive_free(&b);
    }
    assert_int_equal(lks__weights_save(in_folder(folder, "all.weights.h5"), &a.weights), LKS_OK);
    assert_int_equal(lks__weights_load(in_folder(folder, "all.weights.h5"), &w), LKS_OK);
    lks__weights_free(&w);
    lks__archive_free(&a);
}

static void every_allocation_may_fail(void **state)
{
    lks_archive a, b = { 0 };
    char path[1024];
    lks_status status = LKS_OK;

    (void)state;
    make_archive(&a);
    snprintf(path, sizeof path, "%s", in_folder(folder, "fail.keras"));
    EVERY_ALLOCATION_FAILS(status = lks__archive_write(path, &a), (void)0);
    EVERY_ALLOCATION_FAILS(status = lks__archive_read(path, &b), lks__archive_free(&b));
    lks__archive_free(&a);
}

static void a_failed_save_keeps_the_old_archive(void **state)
{
    lks_archive a, b = { 0 };
    char path[1024];

    (void)state;
    make_archive(&a);
    snprintf(path, sizeof path, "%s", in_folder(folder, "kept.keras"));
    assert_int_equal(lks__archive_write(path, &a), LKS_OK);
    failing_start(20);
    assert_int_equal(lks__archive_write(path, &a), LKS_E_NOMEM);
    failing_stop();
    assert_int_equal(lks__archive_read(path, &b), LKS_OK);
    lks__archive_free(&b);
    lks__archive_free(&a);
}

static herr_t host_handler(hid_t stack, void *user)
{
    (void)stack;
    ++*(int *)user;
    return 0;
}

static void the_hosts_hdf5_error_handler_stays(void **state)
{
    int calls = 0;
    H5E_auto2_t handler = NULL;
    void *user = NULL;
    lks_weights w = { 0 };

    (void)state;
    H5Eset_auto2(H5E_DEFAULT, host_handler, &calls);
    assert_int_equal(lks__weights_read_h5("not hdf5", 8, "text", &w), LKS_E_FORMAT);
    assert_int_equal(calls, 0);
    H5Eget_auto2(H5E_DEFAULT, &handler, &user);
    assert_true(handler == host_handler && user == &calls);
    assert_true(H5Fopen("/nowhere/at/all", H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
    assert_int_equal(calls, 1);
}

static lks_status deep(void *user)
{
    volatile char much[4 << 20];

    much[0] = much[sizeof much - 1] = 1;
    *(int *)user += much[0];
    return lks__fail(LKS_E_FORMAT, "said inside");
}

static lks_status nested(void *user)
{
    return lks__file_job(deep, user);
}

static void a_file_job_has_a_large_stack_and_brings_its_error_back(void **state)
{
    int n = 0;

    (void)state;
    assert_int_equal(lks__file_job(nested, &n), LKS_E_FORMAT);
    assert_int_equal(n, 1);
    assert_string_equal(lks_last_error(), "said inside");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_golden_archives_hold_their_weights_and_survive_a_round_trip),
        cmocka_unit_test(older_files_and_weights_files_are_read_too),
        cmocka_unit_test(a_worked_tree_is_laid_out_as_keras_does),
        cmocka_unit_test(every_dtype_comes_back_from_an_archive_and_a_folder),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_failed_save_keeps_the_old_archive),
        cmocka_unit_test(the_hosts_hdf5_error_handler_stays),
        cmocka_unit_test(a_file_job_has_a_large_stack_and_brings_its_error_back),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
