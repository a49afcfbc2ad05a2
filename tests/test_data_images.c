/* test_data_images.c - the ready-made element functions: chains, random draws that depend on seed, pass and element alone, colours as
 * TensorFlow computes them, refusals, memory. Resized values are compared by the golden runner (files/images).
 *
 * ctest labels: concurrent */
#include "test_data.h"

#include <math.h>
#include <stdlib.h>

#include "support/failing_alloc.h"

/* A 24-bit bitmap of 2 x 3 pixels, in memory. */
static const unsigned char bitmap[] = {
    'B', 'M', 78, 0, 0, 0, 0,  0, 0, 0, 54, 0, 0,  0,  40, 0,  0,  0,  3,  0,  0,  0, 2, 0, 0, 0, 1, 0,
    24,  0,   0,  0, 0, 0, 24, 0, 0, 0, 0,  0, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0, 0, 0, 0, 0, /* the lower row first; blue, green, red */
    1,   2,   3,  4, 5, 6, 7,  8, 9, 0, 0,  0, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0, 0, 0,
};

static lks_tensor *picture_u8(void)
{
    static const unsigned char p[] = { 10, 200, 30, 255, 0, 128, 77, 77, 77, 3, 4, 250 };

    return lks_tensor_from(LKS_UINT8, lks_shape(2, 2, 3), p);
}

static lks_tensor *numbered(int64_t n, int64_t height, int64_t width, int64_t channels)
{
    lks_tensor *t = lks_tensor_create(LKS_UINT8, lks_shape(n, height, width, channels));
    unsigned char *p = lks_tensor_data(t);

    for (int64_t i = 0; i < lks_tensor_size(t); i++) p[i] = (unsigned char)(i * 7 % 251);
    return t;
}

static lks_bytes whole_bitmap = { (const char *)bitmap, sizeof bitmap };

static lks_tensor *bitmap_bytes(void)
{
    return lks_tensor_wrap(LKS_STRING, (lks_shape){ .rank = 0 }, &whole_bitmap, NULL, NULL);
}

static lks_dataset *one_bitmap(void)
{
    lks_tensor *t = bitmap_bytes();
    lks_dataset *ds = lks_from_tensors(t);

    lks_tensor_release(t);
    return ds;
}

static lks_tensor *call(const lks_map_fn *fn, lks_tensor *in)
{
    lks_tensor *out = NULL;

    if (lks_fn_call(fn, in, 0, &out) != LKS_OK) fail_msg("%s", lks_last_error());
    lks_tensor_release(in);
    return out;
}

static void a_chain_decodes_resizes_and_scales(void **state)
{
    lks_tensor *in = bitmap_bytes(), *out;
    const float *y;

    (void)state;
    out = call(lks_fn_chain(lks_decode_image, lks_fn_flip_up_down(), lks_fn_resize(2, 3), lks_fn_rescale(0.5, 1)), in);
    assert_int_equal(lks_tensor_dtype(out), LKS_FLOAT32);
    assert_int_equal(lks_tensor_shape(out).dim[2], 3);
    y = lks_tensor_cdata(out);
    assert_true(y[0] == 3 * 0.5f + 1 && y[1] == 2 * 0.5f + 1 && y[17] == 17 * 0.5f + 1);
    lks_tensor_release(out);
}

static void a_picture_is_resized_outside_of_a_dataset(void **state)
{
    lks_tensor *t = numbered(1, 4, 4, 1), *out = NULL, *decoded = call(lks_decode_jpeg, bitmap_bytes());
    const unsigned char *p = lks_tensor_cdata(t);

    (void)state;
    assert_status(lks_image_resize(t, 2, 2, &out, .method = "area"), LKS_OK);
    assert_true(*(const float *)lks_tensor_cdata(out) == (float)(p[0] + p[1] + p[4] + p[5]) / 4);
    assert_status(lks_image_resize(t, 0, 2, &decoded), LKS_E_ARG);
    lks_tensor_release(out);
    lks_tensor_release(decoded);
    lks_tensor_release(t);
}

static void a_decoders_spec_has_three_axes_and_the_channels_asked_for(void **state)
{
    lks_dataset *ds = lks_map(one_bitmap(), lks_fn_decode_image(.channels = 3));
    lks_shape s = lks_spec_shape(lks_dataset_spec(ds));

    (void)state;
    assert_status(lks_dataset_status(ds), LKS_OK);
    assert_int_equal(s.rank, 3);
    assert_int_equal(s.dim[0], -1);
    assert_int_equal(s.dim[2], 3);
    lks_dataset_release(ds);
    ds = lks_map(lks_map(one_bitmap(), lks_decode_png), lks_fn_resize(4, 5));
    assert_status(lks_dataset_status(ds), LKS_OK);
    assert_int_equal(lks_spec_shape(lks_dataset_spec(ds)).dim[1], 5);
    lks_dataset_release(ds);
}

static lks_dataset *augmented(int64_t parallel, int64_t seed)
{
    lks_tensor *t = numbered(40, 9, 8, 3);
    lks_dataset *ds = lks_from_tensor_slices(t);

    lks_tensor_release(t);
    return lks_map(ds,
                   lks_fn_chain(lks_fn_random_crop(7, 6), lks_fn_random_flip(NULL), lks_fn_random_brightness(0.3),
                                lks_fn_random_contrast(0.5, 1.5), lks_fn_random_saturation(0.5, 2),
                                lks_fn_random_hue(0.2), lks_fn_random_rotation(0.1)),
                   .num_parallel_calls = parallel, .seed = seed);
}

/* The pixels of a pass one after another; *n counts elements. */
static unsigned char *pixels_of_a_pass(lks_dataset *ds, size_t each, size_t *n)
{
    unsigned char *all = malloc(64 * each);
    lks_iter *it = NULL;
    lks_element *e;

    *n = 0;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    while (lks_iter_next(it, &e) == LKS_OK) {
        memcpy(all + *n * each, lks_tensor_cdata(lks_element_tensor(e, 0)), each);
        ++*n;
        lks_element_release(e);
    }
    lks_iter_release(it);
    return all;
}

static void random_draws_depend_on_seed_pass_and_element_alone(void **state)
{
    enum { EACH = 7 * 6 * 3 };
    lks_dataset *serial = augmented(0, 5), *parallel = augmented(LKS_AUTOTUNE, 5), *other = augmented(0, 6);
    unsigned char *first[2], *second[2], *third;
    size_t n;

    (void)state;
    first[0] = pixels_of_a_pass(serial, EACH, &n);
    assert_int_equal(n, 40);
    second[0] = pixels_of_a_pass(serial, EACH, &n);
    first[1] = pixels_of_a_pass(parallel, EACH, &n);
    second[1] = pixels_of_a_pass(parallel, EACH, &n);
    third = pixels_of_a_pass(other, EACH, &n);
    assert_memory_equal(first[0], first[1], 40 * EACH);
    assert_memory_equal(second[0], second[1], 40 * EACH);
    assert_memory_not_equal(first[0], second[0], 40 * EACH);
    assert_memory_not_equal(first[0], third, 40 * EACH);
    assert_memory_not_equal(first[0], first[0] + EACH, EACH);
    for (int i = 0; i < 2; i++) free(first[i]), free(second[i]);
    free(third);
    lks_dataset_release(serial);
    lks_dataset_release(parallel);
    lks_dataset_release(other);
}

static void a_restored_pass_draws_the_same(void **state)
{
    enum { EACH = 7 * 6 * 3 };
    lks_dataset *ds = augmented(LKS_AUTOTUNE, 5), *again = augmented(0, 5);
    lks_iter *it = NULL, *restored = NULL;
    lks_element *a, *b;
    void *bytes;
    size_t n;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    for (int i = 0; i < 11; i++) {
        assert_status(lks_iter_next(it, &a), LKS_OK);
        lks_element_release(a);
    }
    assert_status(lks_iter_save(it, &bytes, &n), LKS_OK);
    assert_status(lks_iter_restore(again, bytes, n, &restored), LKS_OK);
    for (int i = 11; i < 40; i++) {
        assert_status(lks_iter_next(it, &a), LKS_OK);
        assert_status(lks_iter_next(restored, &b), LKS_OK);
        assert_memory_equal(lks_tensor_cdata(lks_element_tensor(a, 0)), lks_tensor_cdata(lks_element_tensor(b, 0)),
                            EACH);
        lks_element_release(a);
        lks_element_release(b);
    }
    lks_free(bytes);
    lks_iter_release(it);
    lks_iter_release(restored);
    lks_dataset_release(ds);
    lks_dataset_release(again);
}

static void a_state_of_other_parameters_is_refused(void **state)
{
    lks_tensor *t = numbered(4, 6, 6, 3);
    lks_dataset *a = lks_map(lks_from_tensor_slices(t), lks_fn_random_crop(3, 3));
    lks_dataset *b = lks_map(lks_from_tensor_slices(t), lks_fn_random_crop(3, 4));
    lks_iter *it = NULL, *other = NULL;
    void *bytes;
    size_t n;

    (void)state;
    assert_status(lks_iter_create(a, &it), LKS_OK);
    assert_status(lks_iter_save(it, &bytes, &n), LKS_OK);
    assert_status(lks_iter_restore(b, bytes, n, &other), LKS_E_ARG);
    lks_free(bytes);
    lks_iter_release(it);
    lks_dataset_release(a);
    lks_dataset_release(b);
    lks_tensor_release(t);
}

static void about_half_of_the_pictures_are_flipped(void **state)
{
    lks_tensor *t = lks_tensor_create(LKS_UINT8, lks_shape(1000, 1, 2, 1)), *out;
    const unsigned char *p;
    int flipped = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) ((unsigned char *)lks_tensor_data(t))[2 * i] = 1;
    out = call(lks_fn_random_flip("horizontal"), t);
    p = lks_tensor_cdata(out);
    for (int i = 0; i < 1000; i++) flipped += p[2 * i + 1];
    assert_in_range(flipped, 420, 580);
    lks_tensor_release(out);
}

/* Made by tf.image (2.21) from the picture of picture_u8. */
static void colours_are_those_of_tensorflow(void **state)
{
    struct {
        const lks_map_fn *fn;
        unsigned char want[12];
    } cases[] = {
        { lks_fn_adjust_brightness(0.2), { 61, 251, 81, 255, 51, 179, 128, 128, 128, 54, 55, 255 } },
        { lks_fn_adjust_contrast(1.5), { 0, 255, 0, 255, 0, 131, 72, 80, 54, 0, 0, 255 } },
        { lks_fn_adjust_saturation(0.5), { 105, 200, 115, 255, 127, 191, 77, 77, 77, 126, 127, 250 } },
        { lks_fn_adjust_saturation(3), { 0, 200, 21, 255, 0, 128, 77, 77, 77, 0, 1, 250 } },
        { lks_fn_adjust_hue(0.3), { 10, 28, 200, 179, 255, 0, 77, 77, 77, 250, 3, 53 } },
        { lks_fn_adjust_hue(-0.4), { 200, 10, 66, 0, 230, 255, 77, 77, 77, 103, 250, 3 } },
        { lks_fn_rgb_to_grayscale(), { 124, 90, 77, 31 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_tensor *out = call(cases[i].fn, picture_u8());
        const unsigned char *p = lks_tensor_cdata(out);
        for (int k = 0; k < lks_tensor_size(out); k++)
            if (p[k] != cases[i].want[k]) fail_msg("case %zu, item %d: %d, expected %d", i, k, p[k], cases[i].want[k]);
        lks_tensor_release(out);
    }
}

static void whole_pictures_are_standardized_and_prepared_for_networks(void **state)
{
    static const float standard[] = { -0.905285f, 1.177510f,  -0.686043f, 1.780424f,  -1.014906f, 0.388240f,
                                      -0.170826f, -0.170826f, -0.170826f, -0.982019f, -0.971057f, 1.725614f };
    lks_tensor *out = call(lks_fn_standardize(), picture_u8());

    (void)state;
    for (int k = 0; k < 12; k++) assert_true(fabsf(((const float *)lks_tensor_cdata(out))[k] - standard[k]) < 1e-5f);
    lks_tensor_release(out);
    out = call(lks_fn_preprocess("tf"), picture_u8());
    assert_true(((const float *)lks_tensor_cdata(out))[3] == 1.0f &&
                ((const float *)lks_tensor_cdata(out))[4] == -1.0f);
    lks_tensor_release(out);
    out = call(lks_fn_preprocess("caffe"), picture_u8());
    assert_true(fabsf(((const float *)lks_tensor_cdata(out))[0] - (30 - 103.939f)) < 1e-4f);
    lks_tensor_release(out);
    out = call(lks_fn_preprocess("torch"), picture_u8());
    assert_true(fabsf(((const float *)lks_tensor_cdata(out))[3] - (1 - 0.485f) / 0.229f) < 1e-5f);
    lks_tensor_release(out);
}

static void pictures_turn(void **state)
{
    static const unsigned char p[] = { 1, 2, 3, 4, 5, 6 }; /* 2 x 3 */
    static const unsigned char turned[4][6] = {
        { 1, 2, 3, 4, 5, 6 }, { 3, 6, 2, 5, 1, 4 }, { 6, 5, 4, 3, 2, 1 }, { 4, 1, 5, 2, 6, 3 }
    };

    (void)state;
    for (int k = 0; k < 4; k++) {
        lks_tensor *out = call(lks_fn_rot90(k - 4), lks_tensor_from(LKS_UINT8, lks_shape(2, 3, 1), p));
        assert_memory_equal(lks_tensor_cdata(out), turned[k], 6);
        assert_int_equal(lks_tensor_shape(out).dim[0], k % 2 == 0 ? 2 : 3);
        lks_tensor_release(out);
    }
    for (int k = 0; k < 4; k++) { /* no angle, no change */
        static const char *const modes[] = { "reflect", "wrap", "nearest", "constant" };
        lks_tensor *out = call(lks_fn_random_rotation(0, .fill_mode = modes[k]),
                               lks_tensor_from(LKS_UINT8, lks_shape(2, 3, 1), p));
        assert_memory_equal(lks_tensor_cdata(out), p, 6);
        lks_tensor_release(out);
    }
}

static void labels_become_rows_and_bytes_numbers(void **state)
{
    static const int32_t label[] = { 2, 0 };
    static const float rows[] = { 0, 0, 1, 1, 0, 0 };
    lks_tensor *images = numbered(2, 2, 2, 1), *labels = lks_tensor_from(LKS_INT32, lks_shape(2), label), *out;
    lks_dataset *ds = lks_batch(
        lks_map(lks_from_tensor_slices(images, labels),
                lks_fn_chain(lks_fn_cast(LKS_FLOAT32), lks_fn_one_hot(3), lks_fn_expand_dims(0))),
        2);
    lks_element *e = NULL;
    lks_bytes bytes = { "\1\0\2\0\3\0\4\0", 8 };

    (void)state;
    assert_status(lks_dataset_get_single_element(ds, &e), LKS_OK);
    assert_memory_equal(lks_tensor_cdata(lks_element_tensor(e, 1)), rows, sizeof rows);
    assert_int_equal(lks_tensor_shape(lks_element_tensor(e, 0)).rank, 5);
    lks_element_release(e);
    lks_dataset_release(ds);
    lks_tensor_release(images);
    lks_tensor_release(labels);
    out = call(lks_fn_decode_raw(LKS_INT16, lks_shape(2, -1)),
               lks_tensor_wrap(LKS_STRING, (lks_shape){ .rank = 0 }, &bytes, NULL, NULL));
    assert_int_equal(lks_tensor_shape(out).dim[1], 2);
    assert_int_equal(((const int16_t *)lks_tensor_cdata(out))[3], 4);
    lks_tensor_release(out);
}

static void a_function_works_on_the_component_asked_for(void **state)
{
    lks_tensor *a = numbered(1, 2, 2, 1), *b = numbered(1, 4, 4, 1);
    lks_dataset *ds = lks_map(lks_from_tensor_slices(a, b), lks_fn_on(1, lks_fn_center_crop(2, 2)));
    lks_element *e = NULL;

    (void)state;
    assert_status(lks_dataset_get_single_element(ds, &e), LKS_OK);
    assert_int_equal(lks_tensor_shape(lks_element_tensor(e, 0)).dim[0], 2);
    assert_int_equal(lks_tensor_shape(lks_element_tensor(e, 1)).dim[0], 2);
    assert_int_equal(*(const unsigned char *)lks_tensor_cdata(lks_element_tensor(e, 1)), 5 * 7);
    lks_element_release(e);
    lks_dataset_release(ds);
    lks_tensor_release(a);
    lks_tensor_release(b);
}

static void wrong_arguments_are_refused_by_the_dataset(void **state)
{
    struct {
        const lks_map_fn *fn;
        lks_status code;
        const char *word;
    } cases[] = {
        { lks_fn_resize(0, 5), LKS_E_ARG, "sizes" },
        { lks_fn_resize(5, 5, .method = "warp"), LKS_E_ARG, "lanczos3" },
        { lks_fn_resize(5, 5, .crop_to_aspect_ratio = LKS_TRUE, .pad_to_aspect_ratio = LKS_TRUE), LKS_E_ARG,
          "only one" },
        { lks_fn_central_crop(0), LKS_E_ARG, "fraction" },
        { lks_fn_random_crop(7, 2), LKS_E_SHAPE, "does not fit" },
        { lks_fn_random_flip("diagonal"), LKS_E_ARG, "diagonal" },
        { lks_fn_random_rotation(0.1, .fill_mode = "none"), LKS_E_ARG, "reflect" },
        { lks_fn_random_contrast(2, 1), LKS_E_ARG, "range" },
        { lks_fn_preprocess("keras"), LKS_E_ARG, "caffe" },
        { lks_fn_one_hot(0), LKS_E_ARG, "depth" },
        { lks_fn_grayscale_to_rgb(), LKS_E_SHAPE, "1 channel" },
        { lks_fn_decode_image(.channels = 2), LKS_E_ARG, "channels" },
        { lks_decode_image, LKS_E_SHAPE, "takes one string" },
        { lks_fn_read_file(), LKS_E_SHAPE, "takes one string" },
        { lks_fn_on(4, lks_fn_rot90(1)), LKS_E_ARG, "component 4" },
        { lks_fn_chain(lks_fn_rot90(1), &twice), LKS_E_ARG, "library's own" },
        { lks_fn_chain(lks_fn_rescale(1, 0), lks_fn_resize(2, 0)), LKS_E_ARG, "sizes" },
        { lks_fn_cast(LKS_STRING), LKS_E_ARG, "numbers" },
        { lks_fn_decode_raw(LKS_FLOAT32, lks_shape(-1, -1)), LKS_E_ARG, "one unknown" },
        { lks_fn_chain(lks_fn_rescale(1, 0), lks_fn_cast(LKS_FLOAT64), lks_fn_adjust_hue(0.1)), LKS_E_SHAPE, "cast" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_tensor *t = numbered(1, 5, 5, 3);
        lks_dataset *ds = lks_map(lks_from_tensor_slices(t), cases[i].fn);
        lks_tensor_release(t);
        assert_fails(ds, cases[i].code, cases[i].word);
    }
}

static void a_broken_picture_is_the_result_for_its_element_alone(void **state)
{
    lks_bytes bytes[3] = { { (const char *)bitmap, sizeof bitmap },
                           { "hello", 5 },
                           { (const char *)bitmap, sizeof bitmap } };
    lks_tensor *t = lks_tensor_wrap(LKS_STRING, lks_shape(3), bytes, NULL, NULL);
    lks_dataset *ds = lks_map(lks_from_tensor_slices(t), lks_fn_chain(lks_decode_image, lks_fn_resize(2, 2)),
                              .num_parallel_calls = LKS_AUTOTUNE);
    lks_iter *it = NULL;
    lks_element *e;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_OK);
    lks_element_release(e);
    assert_status(lks_iter_next(it, &e), LKS_E_FORMAT);
    assert_non_null(strstr(lks_last_error(), "not a JPEG"));
    assert_status(lks_iter_next(it, &e), LKS_OK);
    lks_element_release(e);
    assert_status(lks_iter_next(it, &e), LKS_END);
    lks_iter_release(it);
    lks_dataset_release(ds);
    lks_tensor_release(t);
}

static lks_status run_once(void)
{
    lks_tensor *in = bitmap_bytes(), *out = NULL;
    lks_status status = LKS_E_NOMEM;

    if (in != NULL)
        status = lks_fn_call(lks_fn_chain(lks_fn_decode_image(.channels = 3), lks_fn_resize(4, 4, .method = "bicubic"),
                                          lks_fn_random_crop(2, 2), lks_fn_on(-1, lks_fn_rescale(2, 0))),
                             in, 1, &out);
    lks_tensor_release(in);
    if (status == LKS_OK) lks_tensor_release(out);
    return status;
}

static void every_failing_allocation_is_survived(void **state)
{
    lks_status status = LKS_OK;

    (void)state;
    EVERY_ALLOCATION_FAILS(status = run_once(), (void)0);
}

static void a_warm_chain_allocates_nothing(void **state)
{
    lks_tensor *t = numbered(64, 20, 20, 3);
    lks_dataset *ds = lks_map(lks_from_tensor_slices(t),
                              lks_fn_chain(lks_fn_resize(9, 9), lks_fn_random_flip(NULL), lks_fn_rescale(0.1, 0)));
    lks_iter *it = NULL;
    lks_element *e;
    long before = 0;

    (void)state;
    failing_start(0);
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    for (int i = 0; i < 60; i++) {
        if (i == 4) before = failing.count;
        assert_status(lks_iter_next(it, &e), LKS_OK);
        lks_element_release(e);
    }
    assert_int_equal(failing.count, before);
    lks_iter_release(it);
    lks_dataset_release(ds);
    failing_stop();
    lks_tensor_release(t);
}

/* Bytes of three channels have a way of their own; its bits are those of floats. */
static void colour_bytes_are_resized_as_floats_are(void **state)
{
    static const int64_t sizes[][4] = { { 30, 40, 16, 16 }, { 1, 1, 3, 5 },     { 2, 2, 1, 1 }, { 7, 3, 9, 20 },
                                        { 5, 90, 3, 41 },   { 16, 16, 16, 16 }, { 3, 2, 2, 1 }, { 33, 64, 32, 65 } };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lks_tensor *bytes = lks_tensor_create(LKS_UINT8, lks_shape(sizes[i][0], sizes[i][1], 3)), *floats, *a, *b;
        uint8_t *p = lks_tensor_data(bytes);
        for (int64_t k = 0; k < lks_tensor_size(bytes); k++) p[k] = (uint8_t)((uint32_t)k * 2654435761u >> 24);
        floats = lks_tensor_cast(bytes, LKS_FLOAT32);
        assert_status(lks_fn_call(lks_fn_resize(sizes[i][2], sizes[i][3]), bytes, 0, &a), LKS_OK);
        assert_status(lks_fn_call(lks_fn_resize(sizes[i][2], sizes[i][3]), floats, 0, &b), LKS_OK);
        assert_memory_equal(lks_tensor_cdata(a), lks_tensor_cdata(b), (size_t)lks_tensor_size(a) * sizeof(float));
        lks_tensor_release(a);
        lks_tensor_release(b);
        lks_tensor_release(bytes);
        lks_tensor_release(floats);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_decodes_resizes_and_scales),
        cmocka_unit_test(a_picture_is_resized_outside_of_a_dataset),
        cmocka_unit_test(a_decoders_spec_has_three_axes_and_the_channels_asked_for),
        cmocka_unit_test(random_draws_depend_on_seed_pass_and_element_alone),
        cmocka_unit_test(a_restored_pass_draws_the_same),
        cmocka_unit_test(a_state_of_other_parameters_is_refused),
        cmocka_unit_test(about_half_of_the_pictures_are_flipped),
        cmocka_unit_test(colours_are_those_of_tensorflow),
        cmocka_unit_test(whole_pictures_are_standardized_and_prepared_for_networks),
        cmocka_unit_test(pictures_turn),
        cmocka_unit_test(labels_become_rows_and_bytes_numbers),
        cmocka_unit_test(a_function_works_on_the_component_asked_for),
        cmocka_unit_test(wrong_arguments_are_refused_by_the_dataset),
        cmocka_unit_test(a_broken_picture_is_the_result_for_its_element_alone),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(a_warm_chain_allocates_nothing),
        cmocka_unit_test(colour_bytes_are_resized_as_floats_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
