/* frames.c - a length is believed only if its checksum is right and the rest of the file can hold it. */
#include "frames.h"

#include <sys/stat.h>

#include "files/crc32c.h"
#include "files/endian.h"

static const uint64_t max_frame = (uint64_t)1 << 31; /* 2 GiB, as TensorFlow's protocol buffers */

void lks__frame_begin(lks_frame *f, const lks_byte_stream *s)
{
    struct stat info;

    f->limit = UINT64_MAX;
    if (!s->compressed && fstat(s->fd, &info) == 0 && S_ISREG(info.st_mode)) f->limit = (uint64_t)info.st_size;
}

lks_status lks__frame_read(lks_frame *f, lks_byte_stream *s, unsigned char header[12])
{
    unsigned char footer[4];
    uint64_t length;
    size_t got;

    LKS_TRY(lks__stream_read(s, header, 12, &got));
    if (got == 0) return LKS_END;
    if (got < 12) return lks__fail(LKS_E_FORMAT, "the file ends inside a record's header: it is cut off");
    if (lks__crc32c_mask(lks__crc32c(0, header, 8)) != lks__le32(header + 8))
        return lks__fail(LKS_E_FORMAT, "the checksum of the length is wrong");
    length = lks__le64(header);
    if (length > max_frame)
        return lks__fail(LKS_E_FORMAT, "a record of %llu bytes is above the limit of 2 GiB",
                         (unsigned long long)length);
    if (f->limit != UINT64_MAX && (f->limit < s->offset || length > f->limit - s->offset))
        return lks__fail(LKS_E_FORMAT, "the record has %llu bytes, the file is cut off before that",
                         (unsigned long long)length);
    LKS_TRY(lks__grow(&f->payload, &f->room, length < 64 ? 64 : (size_t)length, 1));
    LKS_TRY(lks__stream_read(s, f->payload, (size_t)length, &got));
    if (got == length) LKS_TRY(lks__stream_read(s, footer, 4, &got));
    else got = 0;
    if (got < 4) return lks__fail(LKS_E_FORMAT, "the file ends inside a record: it is cut off");
    f->size = (size_t)length;
    if (lks__crc32c_mask(lks__crc32c(0, f->payload, f->size)) != lks__le32(footer))
        return lks__fail(LKS_E_FORMAT, "the checksum of the record's data is wrong: the file is corrupt");
    return LKS_OK;
}
