/* test_data_folder.c - image_dataset_from_directory on a folder made here: labels, subsets, names, bad files. The order and the split of
 * real Keras are compared by the golden runner (files/folder). */
#include "test_data.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"

static const char *at(const char *name)
{
    static char path[2][512];
    static int k;

    k = !k;
    snprintf(path[k], sizeof path[k], "%s/%s", folder, name);
    return path[k];
}

static void put(const char *name, int height, int width, unsigned char value)
{
    unsigned char bytes[4096] = { 'B', 'M', 0 };
    int row = (3 * width + 3) / 4 * 4;
    FILE *f = fopen(at(name), "wb");

    bytes[10] = 54, bytes[14] = 40, bytes[18] = (unsigned char)width, bytes[22] = (unsigned char)height;
    bytes[26] = 1, bytes[28] = 24;
    memset(bytes + 54, value, (size_t)(row * height));
    if (f == NULL || fwrite(bytes, (size_t)(54 + row * height), 1, f) != 1) fail_msg("cannot write %s", name);
    fclose(f);
}

static void put_text(const char *name, const char *text)
{
    FILE *f = fopen(at(name), "wb");

    if (f == NULL || fputs(text, f) < 0) fail_msg("cannot write %s", name);
    fclose(f);
}

static int fill_folder(void **state)
{
    if (make_folder(state) != 0 || mkdir(at("b"), 0700) != 0 || mkdir(at("a"), 0700) != 0 ||
        mkdir(at("a/sub"), 0700) != 0)
        return -1;
    put("a/2.bmp", 4, 5, 10);
    put("a/1.BMP", 6, 3, 20);
    put("a/sub/0.bmp", 2, 2, 30);
    put("b/x.bmp", 3, 3, 40);
    put_text("a/._1.bmp", "side file");
    put_text("a/readme.txt", "no picture");
    return 0;
}

static void pictures_come_in_order_with_their_labels(void **state)
{
    static const char *const files[] = { "a/1.BMP", "a/2.bmp", "a/sub/0.bmp", "b/x.bmp" };
    static const float first[] = { 20, 10, 30, 40 };
    static const int32_t labels[] = { 0, 0, 0, 1 };
    lks_dataset *ds = lks_image_dataset_from_directory(folder, .height = 3, .width = 4, .shuffle = LKS_FALSE,
                                                       .batch_size = 3);
    lks_iter *it = NULL;
    lks_element *e;
    int64_t row = 0;

    (void)state;
    assert_status(lks_dataset_status(ds), LKS_OK);
    assert_int_equal(lks_dataset_cardinality(ds), 2);
    assert_int_equal(lks_dataset_class_count(ds), 2);
    assert_string_equal(lks_dataset_class_name(ds, 1), "b");
    assert_null(lks_dataset_class_name(ds, 2));
    assert_int_equal(lks_dataset_file_count(ds), 4);
    for (int i = 0; i < 4; i++) assert_string_equal(lks_dataset_file_path(ds, i), at(files[i]));
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    while (lks_iter_next(it, &e) == LKS_OK) {
        lks_tensor *x = lks_element_tensor(e, 0), *y = lks_element_tensor(e, 1);
        for (int64_t i = 0; i < lks_tensor_shape(x).dim[0]; i++, row++) {
            assert_true(((const float *)lks_tensor_cdata(x))[i * 36] == first[row]);
            assert_int_equal(((const int32_t *)lks_tensor_cdata(y))[i], labels[row]);
        }
        lks_element_release(e);
    }
    assert_int_equal(row, 4);
    lks_iter_release(it);
    lks_dataset_release(ds);
}

static void subsets_share_no_file_and_lose_none(void **state)
{
    lks_dataset *training = NULL, *validation = NULL;
    int seen[4] = { 0 };

    (void)state;
    assert_status(lks_image_datasets_from_directory(folder, &training, &validation, .seed = 3, .validation_split = 0.5,
                                                    .height = 2, .width = 2),
                  LKS_OK);
    for (int k = 0; k < 2; k++) {
        lks_dataset *part = k == 0 ? training : validation;
        assert_int_equal(lks_dataset_file_count(part), 2);
        for (int i = 0; i < 2; i++) {
            const char *path = lks_dataset_file_path(part, i);
            size_t n = strlen(path);
            seen[path[n - 5] == 'x' ? 3 : path[n - 5] - '0']++;
        }
    }
    for (int i = 0; i < 4; i++) assert_int_equal(seen[i], 1);
    lks_dataset_release(training);
    lks_dataset_release(validation);
}

static void labels_take_the_form_asked_for(void **state)
{
    static const int64_t list[] = { 7, 5, 7, 9 };
    static const struct {
        const char *mode;
        lks_dtype dtype;
        int64_t rank, width;
    } cases[] = { { "int", LKS_INT32, 0, 0 }, { "binary", LKS_FLOAT32, 1, 1 }, { "categorical", LKS_FLOAT32, 1, 2 } };
    lks_dataset *ds;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lks_spec *leaf;
        ds = lks_image_dataset_from_directory(folder, .label_mode = cases[i].mode, .batch_size = LKS_ZERO_INT);
        assert_status(lks_dataset_status(ds), LKS_OK);
        leaf = lks_spec_leaf(lks_dataset_spec(ds), 1);
        assert_int_equal(lks_spec_dtype(leaf), cases[i].dtype);
        assert_int_equal(lks_spec_shape(leaf).rank, cases[i].rank);
        if (cases[i].rank > 0) assert_int_equal(lks_spec_shape(leaf).dim[0], cases[i].width);
        lks_dataset_release(ds);
    }
    ds = lks_image_dataset_from_directory(folder, .labels = "none");
    assert_int_equal(lks_spec_leaf_count(lks_dataset_spec(ds)), 1);
    assert_int_equal(lks_dataset_class_count(ds), 0);
    lks_dataset_release(ds);
    ds = lks_image_dataset_from_directory(folder, .label_list = list, .n_labels = 4);
    assert_status(lks_dataset_status(ds), LKS_OK);
    assert_int_equal(lks_dataset_class_count(ds), 3);
    assert_string_equal(lks_dataset_class_name(ds, 0), "5");
    lks_dataset_release(ds);
}

static void wrong_arguments_are_named(void **state)
{
    static const char *const nobody[] = { "a", "nobody" }, *const one[] = { "a" };
    struct {
        lks_dataset *ds;
        lks_status code;
        const char *word;
    } cases[] = {
        { lks_image_dataset_from_directory("/nowhere/at/all"), LKS_E_NOTFOUND, "/nowhere/at/all" },
        { lks_image_dataset_from_directory(at("b")), LKS_E_ARG, "no picture found" },
        { lks_image_dataset_from_directory(folder, .color_mode = "hsv"), LKS_E_ARG, "grayscale" },
        { lks_image_dataset_from_directory(folder, .interpolation = "warp"), LKS_E_ARG, "lanczos5" },
        { lks_image_dataset_from_directory(folder, .validation_split = 0.2), LKS_E_ARG, "together" },
        { lks_image_dataset_from_directory(folder, .validation_split = 0.2, .subset = "training"), LKS_E_ARG, "seed" },
        { lks_image_dataset_from_directory(folder, .validation_split = 2, .subset = "training", .seed = 1), LKS_E_ARG,
          "between" },
        { lks_image_dataset_from_directory(folder, .validation_split = 0.2, .subset = "validation", .seed = 1),
          LKS_E_ARG, "no file is left" },
        { lks_image_dataset_from_directory(folder, .class_names = nobody, .n_class_names = 2), LKS_E_ARG, "nobody" },
        { lks_image_dataset_from_directory(folder, .class_names = one, .n_class_names = 1, .label_mode = "binary"),
          LKS_E_ARG, "two classes" },
        { lks_image_dataset_from_directory(folder, .pad_to_aspect_ratio = LKS_TRUE, .crop_to_aspect_ratio = LKS_TRUE),
          LKS_E_ARG, "only one" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_fails(cases[i].ds, cases[i].code, cases[i].word);
}

static void json_takes_the_size_as_keras_does(void **state)
{
    lks_iter *it = NULL;
    lks_element *e = NULL;
    char text[512];
    lks_dataset *ds;

    (void)state;
    snprintf(text, sizeof text,
             "[{\"op\": \"image_dataset_from_directory\", \"directory\": \"%s\", \"image_size\": [3, 4]}]", folder);
    ds = lks_dataset_from_json(text);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_OK);
    assert_int_equal(lks_tensor_shape(lks_element_tensor(e, 0)).dim[1], 3);
    assert_int_equal(lks_tensor_shape(lks_element_tensor(e, 0)).dim[2], 4);
    lks_element_release(e);
    lks_iter_release(it);
    lks_dataset_release(ds);
    snprintf(text, sizeof text,
             "[{\"op\": \"image_dataset_from_directory\", \"directory\": \"%s\", \"image_size\": [3]}]", folder);
    assert_fails(lks_dataset_from_json(text), LKS_E_ARG, "[height, width]");
}

static void files_that_are_no_pictures_are_named_before_the_first_step(void **state)
{
    lks_dataset *ds;
    lks_iter *it = NULL;
    lks_element *e;
    int good = 0, bad = 0;
    lks_status status;

    (void)state;
    put_text("a/page.jpg", "<!DOCTYPE html>");
    put_text("b/empty.png", "");
    ds = lks_image_dataset_from_directory(folder);
    assert_status(lks_dataset_status(ds), LKS_E_FORMAT);
    assert_non_null(strstr(lks_last_error(), "2 of 6 files"));
    assert_non_null(strstr(lks_last_error(), "a/page.jpg"));
    assert_non_null(strstr(lks_last_error(), "web page"));
    assert_non_null(strstr(lks_last_error(), "b/empty.png"));
    lks_dataset_release(ds);
    ds = lks_image_dataset_from_directory(folder, .check_files = LKS_FALSE, .batch_size = LKS_ZERO_INT, .height = 2,
                                          .width = 2);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    while ((status = lks_iter_next(it, &e)) != LKS_END) {
        if (status == LKS_OK) good++, lks_element_release(e);
        else bad++;
        if (status != LKS_OK && strstr(lks_last_error(), folder) == NULL) fail_msg("%s", lks_last_error());
    }
    assert_int_equal(good, 4);
    assert_int_equal(bad, 2);
    lks_iter_release(it);
    lks_dataset_release(ds);
    unlink(at("a/page.jpg"));
    unlink(at("b/empty.png"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_come_in_order_with_their_labels),
        cmocka_unit_test(subsets_share_no_file_and_lose_none),
        cmocka_unit_test(labels_take_the_form_asked_for),
        cmocka_unit_test(wrong_arguments_are_named),
        cmocka_unit_test(json_takes_the_size_as_keras_does),
        cmocka_unit_test(files_that_are_no_pictures_are_named_before_the_first_step),
    };
    return cmocka_run_group_tests(tests, fill_folder, remove_folder);
}
