/* frames.c - a length is believed only if its checksum is right and the rest of the file can hold it. */
#include "frames.h"

#include <string.h>

#include "files/crc32c.h"
#include "files/endian.h"

static const char why_cut[] = " (was its writer closed?)";
static const uint64_t max_frame = (uint64_t)1 << 31; /* 2 GiB, as TensorFlow's protocol buffers */

static bool is_length(const unsigned char header[12])
{
    return lks__crc32c_mask(lks__crc32c(0, header, 8)) == lks__le32(header + 8);
}

/* Completes a header that begins at l->next, of which some bytes may stand in the block before; false: the block ends first. */
static bool complete_header(lks_frame_look *l, const unsigned char *data, size_t n, uint64_t offset)
{
    uint64_t from = l->next + l->have - offset;
    size_t want = sizeof l->header - l->have, left = from < n ? n - (size_t)from : 0;

    if (left < want) want = left;
    memcpy(l->header + l->have, data + (left > 0 ? from : 0), want);
    l->have += want;
    return l->have == sizeof l->header;
}

static uint64_t see(lks_block_look *base, const unsigned char *data, size_t n, uint64_t offset)
{
    lks_frame_look *l = (lks_frame_look *)base;
    uint64_t good = 0;

    while (!l->lost && l->next < offset + n && complete_header(l, data, n, offset)) {
        uint64_t length = lks__le64(l->header), end = l->next + 16 + length;
        l->lost = !is_length(l->header) || length > max_frame;
        if (!l->lost && l->next >= offset && end <= offset + n) {
            const unsigned char *payload = data + (l->next - offset) + 12;
            l->lost = lks__crc32c_mask(lks__crc32c(0, payload, (size_t)length)) != lks__le32(payload + length);
            if (!l->lost) good = end;
        }
        l->next = end;
        l->have = 0;
    }
    return good;
}

void lks__frame_look(lks_frame *f, lks_byte_stream *s)
{
    f->look = (lks_frame_look){ .base = { see } };
    s->look = &f->look.base;
}

void lks__frame_begin(lks_frame *f, const lks_byte_stream *s)
{
    f->limit = s->compressed ? UINT64_MAX : lks__stream_size(s);
}

/* Whether the file ends before `end`. It may have grown since it was opened. */
static bool ends_before(lks_frame *f, const lks_byte_stream *s, uint64_t end)
{
    if (f->limit >= end) return false;
    lks__frame_begin(f, s);
    return f->limit < end;
}

/* The length in the header, once it is known to be one. `after`: where the stream stands behind the header. */
static lks_status read_length(lks_frame *f, const lks_byte_stream *s, const unsigned char header[12], uint64_t after,
                              size_t *out)
{
    uint64_t length = lks__le64(header);

    if (!is_length(header)) return lks__fail(LKS_E_FORMAT, "the checksum of the length is wrong");
    if (length > max_frame)
        return lks__fail(LKS_E_FORMAT, "a record of %llu bytes is above the limit of 2 GiB",
                         (unsigned long long)length);
    if (ends_before(f, s, after + length))
        return lks__fail(LKS_E_FORMAT, "the record has %llu bytes, the file is cut off before that%s",
                         (unsigned long long)length, why_cut);
    *out = (size_t)length;
    return LKS_OK;
}

static lks_status check_payload(const lks_frame *f, const unsigned char footer[4])
{
    if (lks__crc32c_mask(lks__crc32c(0, f->payload, f->size)) == lks__le32(footer)) return LKS_OK;
    return lks__fail(LKS_E_FORMAT, "the checksum of the record's data is wrong: the file is corrupt");
}

static lks_status cut_off(void)
{
    return lks__fail(LKS_E_FORMAT, "the file ends inside a record: it is cut off%s", why_cut);
}

/* A frame that stands in the stream's buffer as a whole; LKS_END if it does not. */
static lks_status read_in_place(lks_frame *f, lks_byte_stream *s, unsigned char header[12])
{
    const unsigned char *data;
    size_t n;

    LKS_TRY(lks__stream_peek(s, &data, &n));
    if (n < 12) return LKS_END;
    memcpy(header, data, 12);
    LKS_TRY(read_length(f, s, header, s->offset + 12, &f->size));
    if (n - 12 < f->size || n - 12 - f->size < 4) return LKS_END;
    f->payload = data + 12;
    lks__stream_take(s, f->size + 16);
    return s->offset <= s->good ? LKS_OK : check_payload(f, f->payload + f->size);
}

lks_status lks__frame_read(lks_frame *f, lks_byte_stream *s, unsigned char header[12])
{
    unsigned char footer[4];
    size_t got;
    lks_status status = read_in_place(f, s, header);

    if (status != LKS_END) return status;
    LKS_TRY(lks__stream_read(s, header, 12, &got));
    if (got == 0) return LKS_END;
    if (got < 12) return lks__fail(LKS_E_FORMAT, "the file ends inside a record's header: it is cut off%s", why_cut);
    LKS_TRY(read_length(f, s, header, s->offset, &f->size));
    LKS_TRY(lks__grow(&f->copy, &f->room, f->size < 64 ? 64 : f->size, 1));
    f->payload = f->copy;
    LKS_TRY(lks__stream_read(s, f->copy, f->size, &got));
    if (got < f->size) return cut_off();
    LKS_TRY(lks__stream_read(s, footer, 4, &got));
    return got < 4 ? cut_off() : check_payload(f, footer);
}

lks_status lks__frame_pass(lks_frame *f, lks_byte_stream *s, unsigned char header[12])
{
    uint64_t done;
    size_t got;

    LKS_TRY(lks__stream_read(s, header, 12, &got));
    if (got == 0) return LKS_END;
    if (got < 12) return lks__fail(LKS_E_FORMAT, "the file ends inside a record's header: it is cut off%s", why_cut);
    LKS_TRY(read_length(f, s, header, s->offset, &f->size));
    if (ends_before(f, s, s->offset + f->size + 4)) return cut_off();
    LKS_TRY(lks__stream_pass(s, (uint64_t)f->size + 4, &done));
    return done < (uint64_t)f->size + 4 ? cut_off() : LKS_OK;
}
