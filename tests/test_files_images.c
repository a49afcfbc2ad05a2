/* test_files_images.c - JPEG, PNG, BMP and GIF in memory: formats told by content, round trips, damage, limits, memory failures. The
 * values of real TensorFlow are compared by the golden runner (files/images). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "files/image.h"
#include "files/png.h"
#include "files/reader.h"
#include "support/failing_alloc.h"
#include "support/shared.h"

#define ok(call)                                                           \
    do {                                                                   \
        if ((call) != LKS_OK) fail_msg("%s: %s", #call, lks_last_error()); \
    } while (0)

static char folder[] = "/tmp/lockstep-images-XXXXXX";

static int has_jpeg(void)
{
#ifdef LKS_HAVE_LIBJPEG
    return 1;
#else
    return 0;
#endif
}

static lks_tensor *smooth_picture(int64_t height, int64_t width, int64_t channels)
{
    lks_tensor *t = lks_tensor_create(LKS_UINT8, lks_shape(height, width, channels));
    unsigned char *p = lks_tensor_data(t);

    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            for (int64_t c = 0; c < channels; c++) *p++ = (unsigned char)(40 + 3 * y + 2 * x + 20 * c);
    return t;
}

static void *jpeg_bytes(int64_t height, int64_t width, int64_t channels, size_t *n)
{
    lks_tensor *t = smooth_picture(height, width, channels);
    char path[256];
    void *bytes;

    snprintf(path, sizeof path, "%s/a.jpg", folder);
    ok(lks_write_jpeg(path, t, 0));
    ok(lks__read_file(path, UINT64_MAX, &bytes, n));
    lks_tensor_release(t);
    return bytes;
}

static void a_jpeg_comes_back_nearly_the_same(void **state)
{
    (void)state;
    if (!has_jpeg()) skip();
    for (int64_t channels = 1; channels <= 3; channels += 2) {
        size_t n;
        void *bytes = jpeg_bytes(21, 30, channels, &n);
        lks_tensor *want = smooth_picture(21, 30, channels), *got = NULL;
        lks_image_header header = { .struct_size = sizeof header };
        ok(lks_image_read_header(bytes, n, &header));
        assert_int_equal(header.format, LKS_IMAGE_JPEG);
        assert_int_equal(header.height, 21);
        assert_int_equal(header.width, 30);
        assert_int_equal(header.channels, channels);
        ok(lks_image_decode(bytes, n, &got));
        assert_int_equal(lks_tensor_size(got), 21 * 30 * channels);
        for (int64_t i = 0; i < lks_tensor_size(got); i++)
            assert_in_range(((const unsigned char *)lks_tensor_cdata(got))[i] -
                                ((const unsigned char *)lks_tensor_cdata(want))[i] + 8,
                            0, 16);
        lks_tensor_release(got);
        lks_tensor_release(want);
        lks_free(bytes);
    }
}

static void a_jpeg_is_decoded_at_the_smallest_size_that_is_large_enough(void **state)
{
    static const struct {
        int64_t height, width, expected;
    } cases[] = { { 100, 1, 100 }, { 51, 1, 100 }, { 50, 60, 50 }, { 50, 61, 100 }, { 13, 1, 13 }, { 1, 1, 13 } };
    size_t n;
    void *bytes;

    (void)state;
    if (!has_jpeg()) skip();
    bytes = jpeg_bytes(100, 120, 3, &n);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_tensor *t = NULL;
        ok(lks_image_decode(bytes, n, &t, .at_least_height = cases[i].height, .at_least_width = cases[i].width));
        assert_int_equal(lks_tensor_shape(t).dim[0], cases[i].expected);
        lks_tensor_release(t);
    }
    lks_free(bytes);
}

static void a_jpeg_with_four_channels_gets_an_opaque_alpha(void **state)
{
    lks_tensor *three = NULL, *four = NULL;
    const unsigned char *a, *b;
    size_t n;
    void *bytes;

    (void)state;
    if (!has_jpeg()) skip();
    bytes = jpeg_bytes(9, 11, 3, &n);
    ok(lks_image_decode(bytes, n, &three));
    ok(lks_image_decode(bytes, n, &four, .channels = 4));
    a = lks_tensor_cdata(three), b = lks_tensor_cdata(four);
    for (int i = 0; i < 99; i++) {
        assert_memory_equal(a + 3 * i, b + 4 * i, 3);
        assert_int_equal(b[4 * i + 3], 255);
    }
    lks_tensor_release(three);
    lks_tensor_release(four);
    lks_free(bytes);
}

static void a_truncated_jpeg_is_refused_or_recovered_as_far_as_asked(void **state)
{
    lks_tensor *t = NULL;
    size_t n;
    void *bytes;

    (void)state;
    if (!has_jpeg()) skip();
    bytes = jpeg_bytes(200, 160, 3, &n);
    for (size_t cut = 0; cut < n; cut += 7) assert_int_not_equal(lks_image_decode(bytes, cut, &t), LKS_OK);
    assert_int_equal(lks_image_decode(bytes, n - 1, &t), LKS_E_FORMAT);
    assert_non_null(strstr(lks_last_error(), "cut short"));
    assert_int_equal(lks_image_decode(bytes, n / 2, &t, .try_recover_truncated = LKS_TRUE), LKS_E_FORMAT);
    ok(lks_image_decode(bytes, n * 3 / 4, &t, .try_recover_truncated = LKS_TRUE, .acceptable_fraction = 0.2));
    assert_int_equal(lks_tensor_shape(t).dim[0], 200);
    lks_tensor_release(t);
    lks_free(bytes);
}

static void what_is_no_picture_is_named(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        lks_status code;
        const char *word;
    } cases[] = {
        { "", 0, LKS_E_FORMAT, "empty" },
        { "hello", 5, LKS_E_FORMAT, "not a JPEG, PNG, BMP or GIF" },
        { "\x1F\x8B\x08\x00", 4, LKS_E_FORMAT, "gzip" },
        { "RIFF\x10\0\0\0WEBPVP8 ", 16, LKS_E_UNSUPPORTED, "WebP" },
        { "<!DOCTYPE html>", 15, LKS_E_FORMAT, "web page" },
        { "\0\x05\x16\x07\0\x02\0\0", 8, LKS_E_FORMAT, "AppleDouble" },
        { "GIF89a", 6, LKS_E_FORMAT, "header" },
        { "BM", 2, LKS_E_FORMAT, "header" },
        { "\xFF\xD8\xFF", 3, LKS_E_FORMAT, "JPEG" },
    };
    lks_tensor *t = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!has_jpeg() && cases[i].bytes[0] == '\xFF') continue;
        assert_int_equal(lks_image_decode(cases[i].bytes, cases[i].n, &t), cases[i].code);
        if (strstr(lks_last_error(), cases[i].word) == NULL) fail_msg("%s", lks_last_error());
    }
}

static void wrong_options_are_refused(void **state)
{
    lks_tensor *t = NULL;

    (void)state;
    assert_int_equal(lks_image_decode("BM", 2, &t, .channels = 2), LKS_E_ARG);
    assert_int_equal(lks_image_decode("BM", 2, &t, .dtype = LKS_INT64), LKS_E_ARG);
    assert_int_equal(lks_image_decode("BM", 2, &t, .ratio = 3), LKS_E_ARG);
    assert_int_equal(lks_image_decode("BM", 2, &t, .acceptable_fraction = 2), LKS_E_ARG);
    assert_int_equal(lks_image_decode("BM", 2, &t, .dct_method = "FLOAT"), LKS_E_ARG);
    assert_int_equal(lks_image_decode(NULL, 2, &t), LKS_E_ARG);
    assert_int_equal(lks_read_image("/nowhere/a.jpg", &t), LKS_E_NOTFOUND);
}

/* A bitmap of `bits` with a palette that is the reverse of grey, or none. */
static size_t make_bmp(unsigned char *b, int bits, int width, int height)
{
    int colors = bits <= 8 ? 1 << bits : 0, row = (width * bits + 31) / 32 * 4, up = height < 0 ? -height : height;
    size_t begin = 54 + 4 * (size_t)colors, n = begin + (size_t)(row * up);

    memset(b, 0, n);
    memcpy(b, "BM", 2);
    b[10] = (unsigned char)begin, b[11] = (unsigned char)(begin >> 8);
    b[14] = 40;
    b[18] = (unsigned char)width;
    for (int i = 0; i < 4; i++) b[22 + i] = (unsigned char)(height >> 8 * i);
    b[26] = 1;
    b[28] = (unsigned char)bits;
    for (int i = 0; i < colors; i++) memset(b + 54 + 4 * i, 255 - i * 255 / (colors - 1), 3);
    for (int y = 0; y < up; y++)
        for (int i = 0; i < row; i++) b[begin + (size_t)(y * row + i)] = (unsigned char)(y * 16 + i);
    return n;
}

static void bitmaps_of_every_depth_are_read_from_either_end(void **state)
{
    static const struct {
        int bits, height, expected_first, channels; /* red of the first pixel */
    } cases[] = { { 8, 3, 255 - 32, 3 }, { 8, -3, 255, 3 }, { 4, 2, 255 - 17, 3 },
                  { 1, 1, 255, 3 },      { 24, 1, 2, 3 },   { 32, 2, 18, 4 } };
    unsigned char bytes[4096];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = make_bmp(bytes, cases[i].bits, 5, cases[i].height);
        lks_tensor *t = NULL;
        ok(lks_image_decode(bytes, n, &t));
        assert_int_equal(lks_tensor_shape(t).dim[2], cases[i].channels);
        assert_int_equal(*(const unsigned char *)lks_tensor_cdata(t), cases[i].expected_first);
        lks_tensor_release(t);
        for (size_t cut = 0; cut < n; cut++) assert_int_equal(lks_image_decode(bytes, cut, &t), LKS_E_FORMAT);
        ok(lks_image_decode(bytes, n, &t, .channels = 1, .dtype = LKS_FLOAT32));
        assert_int_equal(lks_tensor_dtype(t), LKS_FLOAT32);
        lks_tensor_release(t);
    }
}

/* To the first frame's code size: 2 x 2, four colours. */
static const unsigned char small_gif[] = {
    'G',  'I', 'F', '8', '9', 'a', 2, 0, 2,   0, 0x81, 0, 0, /* four colours */
    255,  0,   0,   0,   255, 0,   0, 0, 255, 9, 9,    9,    /* red, green, blue, grey */
    0x2C, 0,   0,   0,   0,   2,   0, 2, 0,   0, 2,
};

static void put_bits(unsigned char *to, int *at, unsigned code, int bits)
{
    for (int i = 0; i < bits; i++, ++*at)
        if (code >> i & 1) to[*at / 8] |= (unsigned char)(1u << *at % 8);
}

/* Two frames: red, then one green pixel over it with the rest transparent. */
static size_t make_gif(unsigned char *b)
{
    static const unsigned char second[] = { 0x21, 0xF9, 4, 1, 0, 0, 3, 0, 0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2 };
    static const unsigned frame[2][4] = { { 0, 0, 0, 0 }, { 3, 1, 3, 3 } };
    size_t n = sizeof small_gif;

    memcpy(b, small_gif, n);
    for (int k = 0; k < 2; k++) {
        int at = 0;
        if (k == 1) memcpy(b + n, second, sizeof second), n += sizeof second;
        memset(b + n, 0, 8);
        put_bits(b + n + 1, &at, 4, 3);
        for (int i = 0; i < 4; i++) put_bits(b + n + 1, &at, frame[k][i], i < 3 ? 3 : 4); /* 4 bits from 8 strings on */
        put_bits(b + n + 1, &at, 5, 4);
        b[n] = (unsigned char)((at + 7) / 8);
        n += (size_t)b[n] + 1;
        b[n++] = 0;
    }
    b[n++] = 0x3B;
    return n;
}

static void frames_of_a_gif_lie_over_each_other(void **state)
{
    static const unsigned char expected[] = { 255, 0, 0, 255, 0,   0, 255, 0, 0, 255, 0, 0,
                                              255, 0, 0, 0,   255, 0, 255, 0, 0, 255, 0, 0 };
    unsigned char bytes[256];
    size_t n = make_gif(bytes);
    lks_tensor *t = NULL;

    (void)state;
    ok(lks_image_decode(bytes, n, &t, .expand_animations = LKS_TRUE));
    assert_int_equal(lks_tensor_shape(t).rank, 4);
    assert_int_equal(lks_tensor_shape(t).dim[0], 2);
    assert_memory_equal(lks_tensor_cdata(t), expected, sizeof expected);
    lks_tensor_release(t);
    ok(lks_image_decode(bytes, n, &t));
    assert_int_equal(lks_tensor_shape(t).rank, 3);
    lks_tensor_release(t);
    for (size_t cut = 0; cut < 41; cut++) assert_int_equal(lks_image_decode(bytes, cut, &t), LKS_E_FORMAT);
}

static void a_picture_beyond_the_limit_is_refused_before_memory_is_taken(void **state)
{
    unsigned char bytes[4096];
    size_t n = make_bmp(bytes, 24, 5, 3);
    lks_tensor *t = NULL;

    (void)state;
    assert_int_equal(lks_image_decode(bytes, n, &t, .max_bytes = 44), LKS_E_LIMIT);
    ok(lks_image_decode(bytes, n, &t, .max_bytes = 45));
    lks_tensor_release(t);
    memset(bytes + 18, 0x7F, 8);
    assert_int_equal(lks_image_decode(bytes, n, &t), LKS_E_LIMIT);
}

static void every_failing_allocation_is_survived(void **state)
{
    unsigned char bmp[4096], gif[256];
    struct {
        const void *bytes;
        size_t n;
    } files[4] = { { bmp, make_bmp(bmp, 4, 5, 3) }, { gif, make_gif(gif) } };
    lks_tensor *picture = smooth_picture(9, 7, 3), *t = NULL;
    void *png = NULL, *jpeg = NULL;
    size_t n = 2;
    lks_status status;

    (void)state;
    if (lks__png_encode(picture, &png, &files[n].n) == LKS_OK) files[n++].bytes = png;
    if (has_jpeg()) files[n].bytes = jpeg = jpeg_bytes(20, 30, 3, &files[n].n), n++;
    for (size_t i = 0; i < n; i++)
        for (int channels = 1; channels < 5; channels += channels == 1 ? 2 : 1)
            EVERY_ALLOCATION_FAILS(status = lks_image_decode(files[i].bytes, files[i].n, &t, .channels = channels),
                                   lks_tensor_release(t));
    lks_free(png);
    lks_free(jpeg);
    lks_tensor_release(picture);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char path[256];

    (void)state;
    snprintf(path, sizeof path, "%s/a.jpg", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jpeg_comes_back_nearly_the_same),
        cmocka_unit_test(a_jpeg_is_decoded_at_the_smallest_size_that_is_large_enough),
        cmocka_unit_test(a_jpeg_with_four_channels_gets_an_opaque_alpha),
        cmocka_unit_test(a_truncated_jpeg_is_refused_or_recovered_as_far_as_asked),
        cmocka_unit_test(what_is_no_picture_is_named),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(bitmaps_of_every_depth_are_read_from_either_end),
        cmocka_unit_test(frames_of_a_gif_lie_over_each_other),
        cmocka_unit_test(a_picture_beyond_the_limit_is_refused_before_memory_is_taken),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
