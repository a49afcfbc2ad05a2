/* test_files_pictures.c - PNG against the golden pictures, round trips, damage; the drawn grid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/alloc.h"
#include "files/npz.h"
#include "files/png.h"
#include "files/reader.h"
#include "lockstep/files.h"
#include "support/failing_alloc.h"
#include "support/folder.h"
#include "support/shared.h"

/* fontconfig keeps what it read of the system's fonts; the leak checker does not see who holds it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}

static int has_png(void)
{
#if defined(LKS_HAVE_SPNG) || defined(LKS_HAVE_LIBPNG)
    return 1;
#else
    return 0;
#endif
}

/* What the reference gives for `channels`, where that is a target: it spoils the alpha of pictures below 8 bits, and
 * keeps two channels of grey with alpha. */
static void check_channels(lks_npz *npz, const char *set, const json_t *entry, const char *key, int channels)
{
    const char *file = json_string_value(json_object_get(entry, "file"));
    const json_t *result = json_object_get(json_object_get(entry, "results"), key);
    const char *array = json_string_value(json_object_get(result, "array"));
    lks_tensor *want = NULL, *got = NULL;
    const unsigned char *a, *b;
    int worst = 0;

    if (array == NULL || !has_png()) return;
    if (lks__npz_read(npz, array, &want) != LKS_OK) fail_msg("%s", lks_last_error());
    if (lks_read_png(in_folder(set, file), channels, &got) != LKS_OK) fail_msg("%s", lks_last_error());
    assert_int_equal(lks_tensor_size(want), lks_tensor_size(got));
    a = lks_tensor_cdata(want), b = lks_tensor_cdata(got);
    for (int64_t i = 0; i < lks_tensor_size(want); i++)
        if (abs(a[i] - b[i]) > worst && !(channels == 4 && i % 4 == 3 && b[i] == 255)) worst = abs(a[i] - b[i]);
    if (worst > (channels == 1)) fail_msg("%s, %d channels: %d levels off", file, channels, worst);
    lks_tensor_release(want);
    lks_tensor_release(got);
}

static void the_golden_pictures_decode_to_the_same_pixels(void **state)
{
    char set[1024];
    json_t *index, *entry;
    lks_npz *npz;
    size_t i, n = 0;

    (void)state;
    snprintf(set, sizeof set, "%s", in_folder(NEED_SHARED(), "golden/files/images"));
    index = json_load_file(in_folder(set, "index.json"), 0, NULL);
    assert_non_null(index);
    assert_int_equal(lks__npz_open(in_folder(set, "decoded.npz"), &npz), LKS_OK);
    json_array_foreach(json_object_get(index, "files"), i, entry)
    {
        const char *file = json_string_value(json_object_get(entry, "file"));
        if (strstr(file, ".png") == NULL || strncmp(file, "bad", 3) == 0 || strncmp(file, "jpeg", 4) == 0) continue;
        check_channels(npz, set, entry, "image_c1", 1);
        check_channels(npz, set, entry, "image_c3", 3);
        check_channels(npz, set, entry, "image_c4", 4);
        n++;
    }
    assert_true(n > 10);
    lks__npz_close(npz);
    json_decref(index);
}

static void bad_pictures_are_refused(void **state)
{
    static const char *const files[] = { "bad_zero_width.png", "bad_huge.png", "bad_truncated.png",
                                         "bad_empty.png",      "bad_crc.png",  "jpeg_named.png" };
    char set[1024];
    lks_tensor *t = NULL;

    (void)state;
    snprintf(set, sizeof set, "%s", in_folder(NEED_SHARED(), "golden/files/images"));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        lks_status status = lks_read_png(in_folder(set, files[i]), 0, &t);
        if (status == LKS_OK) {
            if (strcmp(files[i], "jpeg_named.png") != 0) fail_msg("%s was read", files[i]);
            lks_tensor_release(t);
        } else if (strlen(lks_last_error()) < 20) fail_msg("%s: %s", files[i], lks_last_error());
    }
}

static lks_tensor *picture(int64_t channels)
{
    lks_tensor *t = lks_tensor_create(LKS_UINT8, lks_shape(5, 7, channels));
    unsigned char *p = lks_tensor_data(t);

    for (int64_t i = 0; i < lks_tensor_size(t); i++) p[i] = (unsigned char)(i * 37);
    return t;
}

static void a_picture_comes_back(void **state)
{
    static const int channels[] = { 1, 3, 4 };
    char path[1024];

    (void)state;
    if (!has_png()) skip();
    snprintf(path, sizeof path, "%s", in_folder(folder, "a.png"));
    for (size_t i = 0; i < 3; i++) {
        lks_tensor *t = picture(channels[i]), *back = NULL;
        assert_int_equal(lks_write_png(path, t), LKS_OK);
        assert_int_equal(lks_read_png(path, 0, &back), LKS_OK);
        assert_int_equal(lks_tensor_shape(back).dim[2], channels[i]);
        assert_memory_equal(lks_tensor_cdata(t), lks_tensor_cdata(back), (size_t)lks_tensor_size(t));
        lks_tensor_release(t);
        lks_tensor_release(back);
    }
}

static void every_cut_and_every_failing_allocation_is_survived(void **state)
{
    lks_tensor *t = picture(3), *back = NULL;
    void *bytes = NULL;
    size_t n = 0;
    lks_status status = LKS_OK;

    (void)state;
    if (!has_png()) skip();
    EVERY_ALLOCATION_FAILS(status = lks__png_encode(t, &bytes, &n), lks_free(bytes));
    assert_int_equal(lks__png_encode(t, &bytes, &n), LKS_OK);
    EVERY_ALLOCATION_FAILS(status = lks__png_decode(bytes, n, 3, &back), lks_tensor_release(back));
    for (size_t cut = 0; cut + 16 < n; cut++) assert_int_not_equal(lks__png_decode(bytes, cut, 3, &back), LKS_OK);
    lks_free(bytes);
    lks_tensor_release(t);
}

/* Values of tf.io.decode_png(channels=1): libpng cuts its weights off, it does not round them. */
static void colour_becomes_the_grey_of_libpng(void **state)
{
    static const unsigned char colours[2][3] = { { 110, 172, 89 }, { 131, 156, 90 } };
    lks_tensor *t = lks_tensor_create(LKS_UINT8, lks_shape(1, 2, 3)), *grey = NULL;
    const char *path = in_folder(folder, "grey.png");

    (void)state;
    memcpy(lks_tensor_data(t), colours, sizeof colours);
    assert_int_equal(lks_write_png(path, t), LKS_OK);
    assert_int_equal(lks_read_png(path, 1, &grey), LKS_OK);
    assert_int_equal(((const unsigned char *)lks_tensor_cdata(grey))[0], 143);
    assert_int_equal(((const unsigned char *)lks_tensor_cdata(grey))[1], 140);
    lks_tensor_release(grey);
    lks_tensor_release(t);
}

static void a_grid_shows_pictures_captions_and_titles(void **state)
{
    const char *captions[6] = { "7 \xe2\x86\x92 7", "2 \xe2\x86\x92 2", "1", NULL, "5 \xe2\x86\x92 6", "9" };
    const char *titles[3] = { "left", "middle", NULL };
    const unsigned char wrong[6] = { 0, 0, 0, 0, 1, 0 };
    lks_tensor *images = lks_tensor_create(LKS_FLOAT32, lks_shape(6, 10, 10, 1)), *back = NULL;
    float *x = lks_tensor_data(images);
    char path[1024];
    const unsigned char *p;
    int red = 0;

    (void)state;
#ifndef LKS_HAVE_CAIRO
    skip();
#endif
    if (!has_png()) skip();
    for (int64_t i = 0; i < 600; i++) x[i] = (float)(i % 10) / 9.0f;
    snprintf(path, sizeof path, "%s", in_folder(folder, "grid.png"));
    assert_int_equal(lks_draw_grid(path, images, .columns = 3, .captions = captions, .wrong = wrong,
                                   .column_titles = titles, .title = "Six"),
                     LKS_OK);
    assert_int_equal(lks_read_png(path, 3, &back), LKS_OK);
    p = lks_tensor_cdata(back);
    for (int64_t i = 0; i < lks_tensor_size(back); i += 3) red += p[i] > 150 && p[i + 1] < 60 && p[i + 2] < 60;
    assert_true(red > 5);
    lks_tensor_release(back);
    assert_int_equal(lks_draw_grid(path, images), LKS_OK);
    assert_int_equal(lks_draw_grid(path, images, .beside = images, .column_titles = titles), LKS_OK);
    assert_int_equal(lks_read_png(path, 3, &back), LKS_OK);
    assert_true(lks_tensor_shape(back).dim[0] > 2 * lks_tensor_shape(back).dim[1]);
    lks_tensor_release(back);
    captions[0] = "\xff";
    assert_int_equal(lks_draw_grid(path, images, .captions = captions), LKS_E_ARG);
    assert_int_equal(lks_draw_grid(path, images, .scale = 1000000), LKS_E_LIMIT);
    lks_tensor_release(images);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_golden_pictures_decode_to_the_same_pixels),
        cmocka_unit_test(bad_pictures_are_refused),
        cmocka_unit_test(a_picture_comes_back),
        cmocka_unit_test(every_cut_and_every_failing_allocation_is_survived),
        cmocka_unit_test(colour_becomes_the_grey_of_libpng),
        cmocka_unit_test(a_grid_shows_pictures_captions_and_titles),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
