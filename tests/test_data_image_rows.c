/* test_data_image_rows.c - a picture that is resized while its rows come from the decoder is the picture that is decoded
 * first and resized then, to the bit.
 *
 * ctest labels: concurrent */
#include "test_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "files/reader.h"
#include "support/failing_alloc.h"

/* The bytes of a JPEG file of uneven colours. */
static lks_bytes jpeg(int64_t height, int64_t width, int64_t channels)
{
    lks_tensor *t = lks_tensor_create(LKS_UINT8, lks_shape(height, width, channels));
    unsigned char *p = lks_tensor_data(t);
    char path[] = "/tmp/lockstep-rows-XXXXXX";
    int fd = mkstemp(path);
    void *bytes;
    size_t n;

    assert_true(fd >= 0);
    close(fd);
    for (int64_t i = 0; i < lks_tensor_size(t); i++)
        p[i] = (unsigned char)(i / 5 * 3 + ((uint32_t)i * 2654435761u >> 28));
    assert_status(lks_write_jpeg(path, t, 90), LKS_OK);
    assert_status(lks__read_file(path, UINT64_MAX, &bytes, &n), LKS_OK);
    lks_tensor_release(t);
    remove(path);
    return (lks_bytes){ bytes, n };
}

static lks_status call(const lks_map_fn *fn, lks_bytes *file, lks_tensor **out)
{
    lks_tensor *in = lks_tensor_wrap(LKS_STRING, (lks_shape){ .rank = 0 }, file, NULL, NULL);
    lks_status status = in == NULL ? LKS_E_NOMEM : lks_fn_call(fn, in, 0, out);

    lks_tensor_release(in);
    return status;
}

typedef struct sizes {
    int64_t height, width, channels, to_height, to_width;
} sizes;

static void expect_the_same(const sizes *s, lks_tristate crop, bool reduced)
{
    lks_bytes file = jpeg(s->height, s->width, s->channels);
    const lks_decode_options o = { .struct_size = sizeof o,
                                   .channels = 3,
                                   .at_least_height = reduced ? s->to_height : 0,
                                   .at_least_width = reduced ? s->to_width : 0 };
    lks_tensor *whole, *a, *b;

    assert_status(call(lks_fn_decode_image_with(&o), &file, &whole), LKS_OK);
    assert_status(lks_fn_call(lks_fn_resize(s->to_height, s->to_width, .crop_to_aspect_ratio = crop), whole, 0, &a),
                  LKS_OK);
    assert_status(call(lks_fn_chain(lks_fn_decode_image_with(&o),
                                    lks_fn_resize(s->to_height, s->to_width, .crop_to_aspect_ratio = crop)),
                       &file, &b),
                  LKS_OK);
    assert_int_equal(lks_tensor_size(b), s->to_height * s->to_width * 3);
    if (memcmp(lks_tensor_cdata(a), lks_tensor_cdata(b), (size_t)lks_tensor_size(a) * sizeof(float)) != 0)
        fail_msg("%lld x %lld to %lld x %lld, crop %d, reduced %d", (long long)s->height, (long long)s->width,
                 (long long)s->to_height, (long long)s->to_width, crop, reduced);
    lks_tensor_release(whole);
    lks_tensor_release(a);
    lks_tensor_release(b);
    lks__free((void *)(uintptr_t)file.data);
}

static void rows_from_the_decoder_make_the_same_picture(void **state)
{
    static const sizes cases[] = {
        { 60, 80, 3, 16, 16 }, { 64, 64, 3, 64, 64 }, { 33, 17, 3, 40, 70 }, { 9, 200, 3, 3, 5 },
        { 200, 9, 3, 160, 1 }, { 1, 1, 3, 4, 3 },     { 1, 30, 3, 2, 7 },    { 30, 1, 3, 7, 2 },
        { 47, 91, 1, 20, 31 }, { 2, 2, 3, 1, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 4; k++) expect_the_same(&cases[i], k & 1 ? LKS_TRUE : LKS_FALSE, k >= 2);
}

static void what_stands_behind_the_resizing_gets_its_rows(void **state)
{
    lks_bytes file = jpeg(40, 50, 3);
    lks_tensor *a, *b;

    (void)state;
    assert_status(call(lks_fn_chain(lks_decode_jpeg, lks_fn_resize(9, 8), lks_fn_rescale(0.5, 1)), &file, &a), LKS_OK);
    assert_status(call(lks_fn_chain(lks_decode_jpeg, lks_fn_resize(9, 8)), &file, &b), LKS_OK);
    for (int i = 0; i < 9 * 8 * 3; i++)
        assert_true(((const float *)lks_tensor_cdata(a))[i] == ((const float *)lks_tensor_cdata(b))[i] * 0.5f + 1);
    lks_tensor_release(a);
    lks_tensor_release(b);
    lks__free((void *)(uintptr_t)file.data);
}

static void a_cut_file_is_refused_by_name_of_the_decoder(void **state)
{
    lks_bytes file = jpeg(120, 90, 3), cut = { file.data, file.size / 2 };
    const lks_map_fn *recover = lks_fn_decode_image(.channels = 3, .try_recover_truncated = LKS_TRUE,
                                                    .acceptable_fraction = 0.1);
    lks_tensor *t = NULL;

    (void)state;
    assert_status(call(lks_fn_chain(lks_decode_image, lks_fn_resize(8, 8)), &cut, &t), LKS_E_FORMAT);
    assert_non_null(strstr(lks_last_error(), "decode_image: JPEG: the file is cut short"));
    assert_null(t);
    assert_status(call(lks_fn_chain(recover, lks_fn_resize(8, 8)), &cut, &t), LKS_OK);
    lks_tensor_release(t);
    lks__free((void *)(uintptr_t)file.data);
}

static lks_status run_once(lks_bytes *file)
{
    lks_tensor *in = lks_tensor_wrap(LKS_STRING, (lks_shape){ .rank = 0 }, file, NULL, NULL), *out = NULL;
    lks_status status = LKS_E_NOMEM;

    if (in != NULL)
        status = lks_fn_call(lks_fn_chain(lks_fn_decode_image(.channels = 3), lks_fn_resize(4, 4)), in, 0, &out);
    lks_tensor_release(in);
    if (status == LKS_OK) lks_tensor_release(out);
    return status;
}

static void every_failing_allocation_is_survived(void **state)
{
    lks_bytes file = jpeg(40, 50, 3);
    lks_status status = LKS_OK;

    (void)state;
    EVERY_ALLOCATION_FAILS(status = run_once(&file), (void)0);
    lks__free((void *)(uintptr_t)file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_from_the_decoder_make_the_same_picture),
        cmocka_unit_test(what_stands_behind_the_resizing_gets_its_rows),
        cmocka_unit_test(a_cut_file_is_refused_by_name_of_the_decoder),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };

#ifndef LKS_HAVE_LIBJPEG
    return 0;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
