/* jpeg.c - JPEG through libjpeg-turbo (any libjpeg will do).
 *
 * libjpeg leaves by longjmp; everything that must outlive the jump stands in `decoding`, and nothing between setjmp and the
 * jump holds memory of ours. It prints nothing: its messages become our sentences. Its memory is its own (it has no
 * allocation hooks), bounded by the sizes that are checked before it starts.
 */
#include "image.h"

#ifdef LKS_HAVE_LIBJPEG
#include <string.h>

#include "jpeg_errors.h"

#include <jerror.h>

#include "base/alloc.h"

enum { MAX_SCANS = 500 }; /* a few hundred bytes can ask for a thousand passes over a large picture */

typedef struct decoding {
    struct jpeg_decompress_struct cinfo;
    lks_jpeg_errors errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    const lks_decode_options *o;
    bool ended, too_many_scans;
    double lines_at_end; /* fraction decoded when the bytes ran out */
    unsigned char *row;  /* of another pixel format than the output's */
} decoding;

static void on_progress(j_common_ptr cinfo)
{
    decoding *d = cinfo->client_data;

    if (d->cinfo.input_scan_number <= MAX_SCANS) return;
    d->too_many_scans = true;
    longjmp(d->errors.back, 1);
}

static void source_nothing(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

/* The bytes have run out: an end-of-image marker goes in, and whether that is an error is decided at the end. */
static boolean source_ended(j_decompress_ptr cinfo)
{
    static const JOCTET end[2] = { 0xFF, JPEG_EOI };
    decoding *d = cinfo->client_data;

    if (!d->ended && d->o->try_recover_truncated != LKS_TRUE) ERREXIT(cinfo, JERR_INPUT_EOF);
    if (!d->ended)
        d->lines_at_end = cinfo->output_height > 0 ? (double)cinfo->output_scanline / cinfo->output_height : 0;
    d->ended = true;
    cinfo->src->next_input_byte = end;
    cinfo->src->bytes_in_buffer = 2;
    return TRUE;
}

static void source_skip(j_decompress_ptr cinfo, long n)
{
    if (n <= 0) return;
    while ((size_t)n > cinfo->src->bytes_in_buffer) {
        n -= (long)cinfo->src->bytes_in_buffer;
        source_ended(cinfo);
        if (n > 2) return; /* nothing more to skip in the end marker */
    }
    cinfo->src->next_input_byte += n;
    cinfo->src->bytes_in_buffer -= (size_t)n;
}

static void set_up(decoding *d, const unsigned char *data, size_t n)
{
    d->cinfo.err = lks__jpeg_errors_init(&d->errors);
    d->cinfo.client_data = d;
    d->source.init_source = d->source.term_source = source_nothing;
    d->source.fill_input_buffer = source_ended;
    d->source.skip_input_data = source_skip;
    d->source.resync_to_restart = jpeg_resync_to_restart;
    d->source.next_input_byte = data;
    d->source.bytes_in_buffer = n;
    d->progress.progress_monitor = on_progress;
}

static void begin(decoding *d)
{
    jpeg_create_decompress(&d->cinfo);
    d->cinfo.client_data = d; /* creation clears it */
    d->cinfo.src = &d->source;
    d->cinfo.progress = &d->progress;
    jpeg_read_header(&d->cinfo, TRUE);
}

static lks_status failure(const decoding *d)
{
    if (d->too_many_scans)
        return lks__fail(LKS_E_LIMIT, "the picture has more than %d scans; that is no honest file", MAX_SCANS);
    if (d->errors.manager.msg_code == JERR_OUT_OF_MEMORY)
        return lks__fail(LKS_E_NOMEM, "no memory to decode a picture");
    if (d->errors.manager.msg_code == JERR_INPUT_EOF)
        return lks__fail(LKS_E_FORMAT, "the file is cut short: its data end before the picture does "
                                       "(try_recover_truncated decodes what is there)");
    return lks__fail(LKS_E_FORMAT, "%s", d->errors.message);
}

/* Every block of the largest component takes at least one bit of a Huffman-coded file. */
static lks_status plausible(const decoding *d, size_t n)
{
    const struct jpeg_decompress_struct *c = &d->cinfo;
    uint64_t blocks = (uint64_t)((c->image_width + 7) / 8) * ((c->image_height + 7) / 8);

    if (c->arith_code || blocks / 8 <= n) return LKS_OK;
    return lks__fail(LKS_E_FORMAT, "the header says %u x %u pixels, more than the file of %zu bytes holds",
                     c->image_width, c->image_height, n);
}

static unsigned reduction(const struct jpeg_decompress_struct *c, const lks_decode_options *o)
{
    if (o->at_least_height == 0 && o->at_least_width == 0) return (unsigned)o->ratio;
    for (unsigned r = 8; r > 1; r /= 2)
        if ((c->image_height + r - 1) / r >= o->at_least_height && (c->image_width + r - 1) / r >= o->at_least_width)
            return r;
    return 1;
}

static void set_parameters(decoding *d, int channels, bool by_rows)
{
    struct jpeg_decompress_struct *c = &d->cinfo;
    const lks_decode_options *o = d->o;
    bool accurate = o->dct_method != NULL && strcmp(o->dct_method, "INTEGER_ACCURATE") == 0;

    c->out_color_space = c->num_components == 4 ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
#ifdef JCS_EXTENSIONS
    if (by_rows) c->out_color_space = JCS_EXT_RGBX;
#else
    (void)by_rows;
#endif
    c->scale_num = 1;
    c->scale_denom = reduction(c, o);
    c->dct_method = accurate ? JDCT_ISLOW : JDCT_IFAST;
    c->do_fancy_upsampling = o->fancy_upscaling != LKS_FALSE;
    jpeg_calc_output_dimensions(c);
}

/* CMYK to RGB in place. Files with an Adobe marker hold the inverse of each ink. */
static void ink_to_rgb(unsigned char *p, size_t n, bool inverted)
{
    unsigned char *q = p;

    for (size_t i = 0; i < n; i++, p += 4, q += 3) {
        unsigned k = inverted ? p[3] : 255u - p[3];
        for (int j = 0; j < 3; j++) q[j] = (unsigned char)(k * (inverted ? p[j] : 255u - p[j]) / 255);
    }
}

/* As many rows at a time as there are ready. Jumps back on any error. */
static void read_strips(decoding *d, unsigned char *pixels, size_t stride)
{
    enum { ROWS = 16 };
    struct jpeg_decompress_struct *c = &d->cinfo;
    unsigned char *row[ROWS];

    while (c->output_scanline < c->output_height) {
        JDIMENSION left = c->output_height - c->output_scanline, n = left < ROWS ? left : ROWS;
        for (JDIMENSION i = 0; i < n; i++) row[i] = pixels + (c->output_scanline + i) * stride;
        if (jpeg_read_scanlines(c, row, n) < 1) ERREXIT(c, JERR_INPUT_EOF);
    }
}

/* Jumps back on any error. */
static void read_rows(decoding *d, unsigned char *pixels, int channels)
{
    struct jpeg_decompress_struct *c = &d->cinfo;
    size_t stride = (size_t)c->output_width * (size_t)channels;

    if (d->row == NULL && c->output_components == channels) read_strips(d, pixels, stride);
    while (c->output_scanline < c->output_height) {
        unsigned char *to = pixels + c->output_scanline * stride, *row = d->row != NULL ? d->row : to;
        if (jpeg_read_scanlines(c, &row, 1) != 1) ERREXIT(c, JERR_INPUT_EOF);
        if (d->row == NULL) continue;
        if (c->out_color_space == JCS_CMYK) ink_to_rgb(row, c->output_width, c->saw_Adobe_marker);
        lks__repixel(row, c->output_components == 1 ? 1 : 3, to, channels, c->output_width);
    }
    jpeg_finish_decompress(c);
}

/* Jumps back on any error. */
static void hand_on_rows(decoding *d, lks_image_rows *rows)
{
    struct jpeg_decompress_struct *c = &d->cinfo;

    while (c->output_scanline < c->output_height) {
        JDIMENSION y = c->output_scanline;
        unsigned char *row = rows->place(rows, y);
        if (jpeg_read_scanlines(c, &row, 1) != 1) ERREXIT(c, JERR_INPUT_EOF);
        rows->arrived(rows, y);
    }
    jpeg_finish_decompress(c);
}

/* Three channels of a file that has no inks, with a library that knows four bytes a pixel. */
static bool gives_rows(const decoding *d, int channels, const lks_image_sink *sink)
{
#ifdef JCS_EXTENSIONS
    return sink->rows != NULL && channels == 3 && d->cinfo.num_components != 4;
#else
    (void)d, (void)channels, (void)sink;
    return false;
#endif
}

/* The rows of the picture go one by one to sink->rows, or all to the sink's room. */
static lks_status deliver(decoding *d, int channels, lks_image_sink *sink)
{
    struct jpeg_decompress_struct *c = &d->cinfo;
    lks_shape shape = { 3, { c->output_height, c->output_width, channels } };
    unsigned char *pixels;

    if (gives_rows(d, channels, sink)) {
        LKS_TRY(sink->rows->begin(sink->rows, c->output_height, c->output_width));
        jpeg_start_decompress(c);
        hand_on_rows(d, sink->rows);
        return LKS_OK;
    }
    if (c->out_color_components == 4 || channels == 4) {
        d->row = lks__malloc((size_t)c->output_width * 4);
        if (d->row == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a row of pixels");
    }
    pixels = sink->room(sink, LKS_UINT8, &shape);
    if (pixels == NULL) return lks__error_code();
    jpeg_start_decompress(c);
    read_rows(d, pixels, channels);
    return LKS_OK;
}

static lks_status decode(decoding *d, size_t n, lks_image_sink *sink)
{
    const struct jpeg_decompress_struct *c = &d->cinfo;
    int channels = d->o->channels != 0 ? (int)d->o->channels : c->num_components == 1 ? 1 : 3;

    LKS_TRY(plausible(d, n));
    LKS_TRY(lks__image_check_size(d->o, 1, c->image_height, c->image_width, channels, 1));
    set_parameters(d, channels, gives_rows(d, channels, sink));
    LKS_TRY(deliver(d, channels, sink));
    if (d->ended && d->lines_at_end < d->o->acceptable_fraction)
        return lks__fail(LKS_E_FORMAT,
                         "the file is cut short: %.0f %% of the lines are there, acceptable_fraction is %g",
                         100 * d->lines_at_end, d->o->acceptable_fraction);
    return LKS_OK;
}

/* The functions that libjpeg jumps back to have no variables of their own. */
static lks_status guarded_decode(decoding *d, size_t n, lks_image_sink *sink)
{
    if (setjmp(d->errors.back) != 0) return failure(d);
    begin(d);
    return decode(d, n, sink);
}

static lks_status guarded_header(decoding *d)
{
    if (setjmp(d->errors.back) != 0) return failure(d);
    begin(d);
    return LKS_OK;
}

lks_status lks__jpeg_decode(const unsigned char *data, size_t n, const lks_decode_options *o, lks_image_sink *sink)
{
    decoding d = { .o = o };
    lks_status status;

    set_up(&d, data, n);
    status = guarded_decode(&d, n, sink);
    jpeg_destroy_decompress(&d.cinfo);
    lks__free(d.row);
    return status;
}

lks_status lks__jpeg_header(const unsigned char *data, size_t n, lks_image_header *out)
{
    static const lks_decode_options none = { .struct_size = sizeof none };
    decoding d = { .o = &none };
    lks_status status;

    set_up(&d, data, n);
    status = guarded_header(&d);
    if (status == LKS_OK) {
        out->height = d.cinfo.image_height;
        out->width = d.cinfo.image_width;
        out->channels = d.cinfo.num_components == 1 ? 1 : 3;
    }
    jpeg_destroy_decompress(&d.cinfo);
    return status;
}

#else

static lks_status no_library(void)
{
    return lks__fail(LKS_E_UNSUPPORTED, "this build has no JPEG library (libjpeg)");
}

lks_status lks__jpeg_decode(const unsigned char *data, size_t n, const lks_decode_options *o, lks_image_sink *sink)
{
    (void)data, (void)n, (void)o, (void)sink;
    return no_library();
}

lks_status lks__jpeg_header(const unsigned char *data, size_t n, lks_image_header *out)
{
    (void)data, (void)n, (void)out;
    return no_library();
}
#endif
