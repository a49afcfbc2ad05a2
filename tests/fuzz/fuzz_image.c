/* fuzz_image.c - any bytes as a picture: every format, whole and in frames, damaged JPEGs recovered. Small limits, so that the
 * decoders run and not the allocator. */
#include <stddef.h>
#include <stdint.h>

#include "files/image.h"
#include "lockstep/image_functions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(const uint8_t *data, size_t size, int64_t channels, lks_dtype dtype, lks_tristate all)
{
    lks_tensor *t = NULL;

    if (lks_image_decode(data, size, &t, .channels = channels, .dtype = dtype, .expand_animations = all,
                         .try_recover_truncated = all, .acceptable_fraction = 0.1, .max_bytes = 1 << 20,
                         .at_least_height = all == LKS_TRUE ? 8 : 0) == LKS_OK)
        lks_tensor_release(t);
}

/* Rows that go from the decoder into another size. */
static void resize(const uint8_t *data, size_t size)
{
    lks_bytes file = { (const char *)data, size };
    lks_tensor *in = lks_tensor_wrap(LKS_STRING, (lks_shape){ .rank = 0 }, &file, NULL, NULL), *out = NULL;

    if (in != NULL && lks_fn_call(lks_fn_chain(lks_fn_decode_image(.channels = 3, .max_bytes = 1 << 20),
                                               lks_fn_resize(5, 7, .crop_to_aspect_ratio = LKS_TRUE)),
                                  in, 0, &out) == LKS_OK)
        lks_tensor_release(out);
    lks_tensor_release(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lks_image_header header = { .struct_size = sizeof header };

    (void)lks_image_read_header(data, size, &header);
    decode(data, size, 0, LKS_UINT8, LKS_FALSE);
    decode(data, size, 4, LKS_FLOAT32, LKS_TRUE);
    decode(data, size, 1, LKS_UINT16, LKS_TRUE);
    resize(data, size);
    return 0;
}
