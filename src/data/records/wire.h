/* wire.h - internal. Protocol buffers' wire format, read in place. A reader never runs past its end; false = malformed. */
#ifndef LKS_DATA_RECORDS_WIRE_H
#define LKS_DATA_RECORDS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lks_wire {
    const unsigned char *p, *end;
} lks_wire;

enum {
    LKS_WIRE_VARINT = 0,
    LKS_WIRE_FIXED64 = 1,
    LKS_WIRE_SPAN = 2,
    LKS_WIRE_GROUP = 3,
    LKS_WIRE_END_GROUP = 4,
    LKS_WIRE_FIXED32 = 5
};

/* At most ten bytes; bits above 64 are dropped, as protocol buffers do. */
static inline bool lks__wire_varint(lks_wire *w, uint64_t *out)
{
    uint64_t v = 0;

    for (int shift = 0; shift < 70 && w->p < w->end; shift += 7) {
        unsigned char b = *w->p++;
        v |= (uint64_t)(b & 127) << (shift < 63 ? shift : 63);
        if (b < 128) {
            *out = v;
            return true;
        }
    }
    return false;
}

/* Field number and wire type of what comes next. */
static inline bool lks__wire_tag(lks_wire *w, uint32_t *number, unsigned *type)
{
    uint64_t tag;

    if (w->p < w->end && *w->p < 128) tag = *w->p++;
    else if (!lks__wire_varint(w, &tag)) return false;
    *number = (uint32_t)(tag >> 3);
    *type = (unsigned)(tag & 7);
    return tag >= 8 && tag <= UINT32_MAX;
}

/* The bytes of a length-delimited field. */
static inline bool lks__wire_span(lks_wire *w, lks_wire *inner)
{
    uint64_t n;

    if (w->p < w->end && *w->p < 128) n = *w->p++;
    else if (!lks__wire_varint(w, &n)) return false;
    if (n > (uint64_t)(w->end - w->p)) return false;
    inner->p = w->p;
    inner->end = w->p += n;
    return true;
}

/* Passes over a field of any wire type, groups with what is in them. */
bool lks__wire_skip(lks_wire *w, uint32_t number, unsigned type);

#endif
