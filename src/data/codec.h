/* codec.h - internal. Elements as bytes, for caches and snapshots in files. Little-endian; decoding trusts nothing. */
#ifndef LKS_DATA_CODEC_H
#define LKS_DATA_CODEC_H

#include "base/text.h"
#include "element.h"

/* Appends the element (out->failed tells of lacking memory). */
void lks__element_encode(lks_text *out, const lks_element *e);
/* Fills a fresh element of the expected spec. LKS_E_FORMAT if the bytes are not one. */
lks_status lks__element_decode(const void *data, size_t n, lks_element *e);
/* LKS_OK unless a component can't be written (nested datasets). */
lks_status lks__codec_check(const lks_spec *spec);

/* A frame around bytes as TFRecord has it: length, its checksum, payload, its checksum. */
void lks__frame_append(lks_text *out, const void *payload, size_t n);

#endif
