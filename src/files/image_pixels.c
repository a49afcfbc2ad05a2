/* image_pixels.c - what the decoders of image.h share: limits and numbers of channels. */
#include <string.h>

#include "image.h"

lks_status lks__image_check_size(const lks_decode_options *o, int64_t frames, int64_t height, int64_t width,
                                 int64_t channels, int64_t item)
{
    uint64_t limit = (uint64_t)o->max_bytes, bytes = (uint64_t)(channels * item);

    if (height < 1 || width < 1 || frames < 1)
        return lks__fail(LKS_E_FORMAT, "the header says %lld x %lld pixels", (long long)height, (long long)width);
    if ((uint64_t)height > limit / bytes || (uint64_t)width > limit / bytes / (uint64_t)height ||
        (uint64_t)frames > limit / bytes / (uint64_t)height / (uint64_t)width)
        return lks__fail(
            LKS_E_LIMIT, "the header says %lld x %lld pixels%s, decoded pictures may have up to %lld bytes",
            (long long)height, (long long)width, frames > 1 ? " in several frames" : "", (long long)o->max_bytes);
    return LKS_OK;
}

unsigned char lks__luma8(const unsigned char *p)
{
    if (p[0] == p[1] && p[1] == p[2]) return p[0];
    return (unsigned char)((p[0] * 9797u + p[1] * 19234u + p[2] * 3737u) >> 15);
}

static void spread_grey(const unsigned char *in, unsigned char *out, int to, size_t n)
{
    for (size_t i = 0; i < n; i++, out += to) {
        out[0] = out[1] = out[2] = in[i];
        if (to == 4) out[3] = 255;
    }
}

void lks__repixel(const unsigned char *in, int from, unsigned char *out, int to, size_t n)
{
    if (from == to) {
        memcpy(out, in, n * (size_t)to);
        return;
    }
    if (from == 1) {
        spread_grey(in, out, to, n);
        return;
    }
    for (size_t i = 0; i < n; i++, in += from, out += to) {
        if (to == 1) {
            out[0] = lks__luma8(in);
            continue;
        }
        out[0] = in[0], out[1] = in[1], out[2] = in[2];
        if (to == 4) out[3] = 255;
    }
}
