/* png_spng.c - png.h on libspng, with our allocator. */
#include "png.h"

#ifdef LKS_HAVE_SPNG
#include <spng.h>

#include "base/alloc.h"

/* libspng reports some failed allocations as damaged data, and its hooks carry no pointer of ours. */
static _Thread_local int ran_out;

static void *note(void *p)
{
    if (p == NULL) ran_out = 1;
    return p;
}

static void *ours_malloc(size_t n)
{
    return note(lks__malloc(n));
}

static void *ours_realloc(void *old, size_t n)
{
    return note(lks__realloc(old, n));
}

static void *ours_calloc(size_t count, size_t n)
{
    return note(lks__calloc(count, n));
}

static spng_ctx *new_context(int flags)
{
    struct spng_alloc ours = { ours_malloc, ours_realloc, ours_calloc, lks__free };

    ran_out = 0;
    return spng_ctx_new2(&ours, flags);
}

static lks_status failure(int code, const char *doing)
{
    if (code == SPNG_EMEM || ran_out) return lks__fail(LKS_E_NOMEM, "%s: no memory", doing);
    if (code == SPNG_IO_EOF) return lks__fail(LKS_E_FORMAT, "the file is cut short: it ends inside the picture");
    return lks__fail(LKS_E_FORMAT, "%s: %s", doing, spng_strerror(code));
}

lks_status lks__png_library_encode(const void *pixels, uint32_t width, uint32_t height, int channels, void **out,
                                   size_t *n)
{
    struct spng_ihdr header = { .width = width, .height = height, .bit_depth = 8 };
    spng_ctx *ctx = new_context(SPNG_CTX_ENCODER);
    void *bytes = NULL;
    size_t size = 0;
    int code;

    if (ctx == NULL) return lks__fail(LKS_E_NOMEM, "no memory to write a picture");
    header.color_type = channels == 1   ? SPNG_COLOR_TYPE_GRAYSCALE
                        : channels == 3 ? SPNG_COLOR_TYPE_TRUECOLOR
                                        : SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
    code = spng_set_option(ctx, SPNG_ENCODE_TO_BUFFER, 1);
    if (code == 0) code = spng_set_ihdr(ctx, &header);
    if (code == 0)
        code = spng_encode_image(ctx, pixels, (size_t)width * height * (size_t)channels, SPNG_FMT_PNG,
                                 SPNG_ENCODE_FINALIZE);
    if (code == 0) bytes = spng_get_png_buffer(ctx, &size, &code);
    spng_ctx_free(ctx);
    if (code != 0 || bytes == NULL) return failure(code, "the picture cannot be encoded");
    *out = bytes;
    *n = size;
    return LKS_OK;
}

static lks_status open_picture(const void *data, size_t n, spng_ctx **out, struct spng_ihdr *header)
{
    spng_ctx *ctx = new_context(0);
    int code;

    if (ctx == NULL) return lks__fail(LKS_E_NOMEM, "no memory to read a picture");
    code = spng_set_png_buffer(ctx, data, n);
    if (code == 0) code = spng_set_chunk_limits(ctx, n, n);
    if (code == 0) code = spng_get_ihdr(ctx, header);
    if (code != 0) {
        spng_ctx_free(ctx);
        return failure(code, "the PNG header is damaged");
    }
    *out = ctx;
    return LKS_OK;
}

lks_status lks__png_library_info(const void *data, size_t n, lks_png_info *out)
{
    static const int stored[8] = { 1, 3, 3, 3, 2, 3, 4, 3 }; /* by colour type */
    struct spng_ihdr header;
    struct spng_trns transparent;
    spng_ctx *ctx = NULL;
    int grey, alpha;

    LKS_TRY(open_picture(data, n, &ctx, &header));
    grey = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE;
    alpha = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ||
            header.color_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA || spng_get_trns(ctx, &transparent) == 0;
    spng_ctx_free(ctx);
    *out = (lks_png_info){ header.width, header.height,
                           alpha  ? 4
                           : grey ? 1
                                  : 3,
                           stored[header.color_type & 7], header.bit_depth == 16 };
    if (header.color_type == SPNG_COLOR_TYPE_INDEXED && alpha) out->samples = 4;
    return LKS_OK;
}

lks_status lks__png_library_decode(const void *data, size_t n, const lks_png_info *info, int bits, void *pixels)
{
    struct spng_ihdr header;
    spng_ctx *ctx = NULL;
    int code;

    LKS_TRY(open_picture(data, n, &ctx, &header));
    code = spng_decode_image(ctx, pixels, (size_t)info->width * info->height * (size_t)bits / 2,
                             bits == 16 ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8, SPNG_DECODE_TRNS);
    if (code == 0) code = spng_decode_chunks(ctx); /* what follows the pixels, to the end mark */
    spng_ctx_free(ctx);
    return code == 0 ? LKS_OK : failure(code, "the picture is damaged");
}
#endif
