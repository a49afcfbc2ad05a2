/* frames.h - internal. Reading frames (TFRecord's: length, checksum, payload, checksum) from a stream. */
#ifndef LKS_DATA_FRAMES_H
#define LKS_DATA_FRAMES_H

#include "byte_stream.h"

/* Checks frames in the blocks of a file while it is read ahead; from the first on that is not right it knows nothing. */
typedef struct lks_frame_look {
    lks_block_look base;
    uint64_t next; /* where the next frame begins */
    bool lost;
    unsigned char header[12]; /* the part of a header that ended the last block */
    size_t have;
} lks_frame_look;

typedef struct lks_frame {
    const unsigned char *payload; /* valid until the stream is read again: its own bytes, or the copy */
    size_t size;
    unsigned char *copy; /* of payloads that do not stand in the stream's buffer as a whole; freed by the owner */
    size_t room;
    uint64_t limit; /* bytes that can still be in the file, UINT64_MAX if unknown */
    lks_frame_look look;
} lks_frame;

/* The size of the open file into f->limit. */
void lks__frame_begin(lks_frame *f, const lks_byte_stream *s);
/* Lets who reads the file ahead check its frames; directly after opening, for files that are read as a whole. f must live as long. */
void lks__frame_look(lks_frame *f, lks_byte_stream *s);
/* The next frame; LKS_END at the end of the file; LKS_E_FORMAT with what is wrong ("the checksum of the length is wrong", ...),
 * header[0..1] then being the first bytes. */
lks_status lks__frame_read(lks_frame *f, lks_byte_stream *s, unsigned char header[12]);
/* The same without looking at the payload and its checksum. */
lks_status lks__frame_pass(lks_frame *f, lks_byte_stream *s, unsigned char header[12]);

#endif
