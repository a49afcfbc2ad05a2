/* jpeg_write.c - pictures as JPEG files, through libjpeg's own memory; see jpeg.c for how its errors come back. */
#include "base/error.h"
#include "lockstep/image.h"

#ifdef LKS_HAVE_LIBJPEG
#include <stdbool.h>
#include <string.h>

#include "jpeg_errors.h"

#include <jerror.h>

#include "base/alloc.h"
#include "save.h"
#include "tensor/tensor.h"

/* The bytes grow in memory of ours. */
typedef struct encoding {
    struct jpeg_compress_struct cinfo;
    lks_jpeg_errors errors;
    struct jpeg_destination_mgr destination;
    unsigned char *bytes;
    size_t room, n;
    bool no_memory;
} encoding;

static boolean grow(j_compress_ptr cinfo)
{
    encoding *e = cinfo->client_data;
    size_t room = e->room == 0 ? 1 << 16 : 2 * e->room;
    unsigned char *bytes = lks__realloc(e->bytes, room);

    if (bytes == NULL) {
        e->no_memory = true;
        longjmp(e->errors.back, 1);
    }
    e->destination.next_output_byte = bytes + e->room;
    e->destination.free_in_buffer = room - e->room;
    e->bytes = bytes;
    e->room = room;
    return TRUE;
}

static void start(j_compress_ptr cinfo)
{
    grow(cinfo);
}

static void finish(j_compress_ptr cinfo)
{
    encoding *e = cinfo->client_data;

    e->n = e->room - e->destination.free_in_buffer;
}

/* Jumps back on any error. */
static void compress(encoding *e, const lks_tensor *picture, int quality)
{
    lks_shape s = lks_tensor_shape(picture);
    const unsigned char *pixels = lks_tensor_cdata(picture);
    struct jpeg_compress_struct *c = &e->cinfo;

    jpeg_create_compress(c);
    c->client_data = e;
    c->dest = &e->destination;
    c->image_height = (JDIMENSION)s.dim[0];
    c->image_width = (JDIMENSION)s.dim[1];
    c->input_components = (int)s.dim[2];
    c->in_color_space = s.dim[2] == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(c);
    jpeg_set_quality(c, quality, TRUE);
    jpeg_start_compress(c, TRUE);
    while (c->next_scanline < c->image_height) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(pixels + (size_t)c->next_scanline * (size_t)(s.dim[1] * s.dim[2]));
        jpeg_write_scanlines(c, &row, 1);
    }
    jpeg_finish_compress(c);
}

static lks_status guarded(encoding *e, const lks_tensor *picture, int quality)
{
    bool memory;

    if (setjmp(e->errors.back) == 0) {
        compress(e, picture, quality);
        return LKS_OK;
    }
    memory = e->no_memory || e->errors.manager.msg_code == JERR_OUT_OF_MEMORY;
    return lks__fail(memory ? LKS_E_NOMEM : LKS_E_INTERNAL, "the picture cannot be encoded: %s",
                     memory ? "no memory" : e->errors.message);
}

static lks_status encode(encoding *e, const lks_tensor *picture, int quality)
{
    lks_status status;

    e->cinfo.err = lks__jpeg_errors_init(&e->errors);
    e->cinfo.client_data = e;
    e->destination.init_destination = start;
    e->destination.empty_output_buffer = grow;
    e->destination.term_destination = finish;
    status = guarded(e, picture, quality);
    jpeg_destroy_compress(&e->cinfo);
    return status;
}

lks_status lks_write_jpeg(const char *path, const lks_tensor *picture, int64_t quality)
{
    encoding e = { .n = 0 };
    lks_shape s;
    lks_status status;
    char text[LKS_SHAPE_TEXT];

    if (path == NULL || picture == NULL)
        return lks__fail(LKS_E_ARG, "lks_write_jpeg: path and picture must not be NULL");
    s = lks_tensor_shape(picture);
    if (lks_tensor_dtype(picture) != LKS_UINT8 || s.rank != 3 || (s.dim[2] != 1 && s.dim[2] != 3))
        return lks__fail(LKS_E_SHAPE, "a JPEG picture is uint8 of shape (height, width, 1 or 3), this is %s %s",
                         lks_dtype_name(lks_tensor_dtype(picture)), lks__shape_text(&s, text));
    if (s.dim[0] < 1 || s.dim[1] < 1 || s.dim[0] > JPEG_MAX_DIMENSION || s.dim[1] > JPEG_MAX_DIMENSION)
        return lks__fail(LKS_E_LIMIT, "a JPEG picture has sides of 1 to %ld, this is %s", (long)JPEG_MAX_DIMENSION,
                         lks__shape_text(&s, text));
    if (quality == 0) quality = 95;
    if (quality < 1 || quality > 100)
        return lks__fail(LKS_E_ARG, "quality must lie between 1 and 100, found %lld", (long long)quality);
    status = encode(&e, picture, (int)quality);
    if (status == LKS_OK) status = lks__save_file(path, e.bytes, e.n);
    lks__free(e.bytes);
    return status;
}

#else

lks_status lks_write_jpeg(const char *path, const lks_tensor *picture, int64_t quality)
{
    (void)path, (void)picture, (void)quality;
    return lks__fail(LKS_E_UNSUPPORTED, "this build has no JPEG library (libjpeg)");
}
#endif
