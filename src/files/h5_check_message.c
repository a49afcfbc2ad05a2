/* h5_check_message.c - the messages of an object header in the old HDF5 format: shapes, types, storage, attributes; and
 * the chunk index and global heap that they point to. See h5_check.h. */
#include <string.h>

#include "h5_check.h"
#include "reader.h"

enum { MAX_RANK = 32, MAX_TYPE_DEPTH = 4 };

/* ---- types ---- */

typedef struct type_facts {
    int class;
    uint64_t size; /* of one item in the file */
    bool is_text;  /* variable-length string or sequence: items point to the global heap */
    uint64_t unit; /* of which: bytes of one element there */
} type_facts;

enum { FIXED = 0, FLOAT = 1, STRING = 3, OPAQUE = 5, ENUM = 8, VARIABLE = 9 };

static bool check_fixed(lks_h5_bytes *b, uint64_t size)
{
    uint64_t offset, precision;

    return lks__h5_take(b, 2, &offset) && lks__h5_take(b, 2, &precision) && precision > 0 &&
           offset + precision <= size * 8;
}

static bool check_float(lks_h5_bytes *b, uint64_t size, uint64_t sign)
{
    uint64_t offset, precision, exponent, exponent_bits, mantissa, mantissa_bits, bias;
    bool whole = lks__h5_take(b, 2, &offset) && lks__h5_take(b, 2, &precision) && lks__h5_take(b, 1, &exponent) &&
                 lks__h5_take(b, 1, &exponent_bits) && lks__h5_take(b, 1, &mantissa) &&
                 lks__h5_take(b, 1, &mantissa_bits) && lks__h5_take(b, 4, &bias);

    return whole && size <= 16 && precision > 0 && offset + precision <= size * 8 && exponent_bits > 0 &&
           mantissa_bits > 0 && exponent_bits <= 32 && exponent + exponent_bits <= size * 8 &&
           mantissa + mantissa_bits <= size * 8 && sign < size * 8;
}

static lks_status check_type(lks_h5_file *f, lks_h5_bytes *b, int depth, type_facts *out);

/* Names of the members, each ended by a zero byte and (before version 3) filled up to 8 bytes; then their values. */
static bool check_enum(lks_h5_file *f, lks_h5_bytes *b, int version, uint64_t members, uint64_t size, int depth)
{
    type_facts base;

    if (check_type(f, b, depth + 1, &base) != LKS_OK || base.class != FIXED || base.size != size || members == 0)
        return false;
    for (uint64_t i = 0; i < members; i++) {
        const unsigned char *zero = memchr(b->at, 0, (size_t)(b->end - b->at));
        uint64_t n;
        if (zero == NULL) return false;
        n = (uint64_t)(zero - b->at) + 1;
        if (version < 3) n = (n + 7) / 8 * 8;
        if (!lks__h5_skip(b, n)) return false;
    }
    return lks__h5_skip(b, members * size);
}

static lks_status check_type(lks_h5_file *f, lks_h5_bytes *b, int depth, type_facts *out)
{
    const unsigned char *start = b->at;
    uint64_t head, bits, size;
    type_facts base = { 0 };
    bool good = lks__h5_take(b, 1, &head) && lks__h5_take(b, 3, &bits) && lks__h5_take(b, 4, &size) && size > 0;
    int version = (int)(head >> 4);

    if (!good || version < 1 || version > 3 || depth > MAX_TYPE_DEPTH) return lks__h5_damaged(f, start, "a type");
    *out = (type_facts){ .class = (int)(head & 15), .size = size };
    switch (out->class) {
    case FIXED: good = check_fixed(b, size); break;
    case FLOAT: good = check_float(b, size, bits >> 8 & 255); break;
    case STRING: good = (bits & 15) <= 2 && (bits >> 4 & 15) <= 1; break;
    case OPAQUE: good = (bits & 255) % 8 == 0 && lks__h5_skip(b, bits & 255); break;
    case ENUM: good = check_enum(f, b, version, bits & 0xffff, size, depth); break;
    case VARIABLE:
        good = size == 16 && (bits & 15) <= 1 && check_type(f, b, depth + 1, &base) == LKS_OK && !base.is_text &&
               base.class != ENUM;
        out->is_text = true;
        out->unit = base.size;
        break;
    default:
        return lks__fail(LKS_E_UNSUPPORTED,
                         "the HDF5 file has a type at byte %lld whose items are not numbers or texts",
                         (long long)(start - f->data));
    }
    return good ? LKS_OK : lks__h5_damaged(f, start, "a type");
}

/* ---- shapes ---- */

static lks_status check_space(lks_h5_file *f, lks_h5_bytes *b, uint64_t *items, uint64_t *rank_out)
{
    const unsigned char *start = b->at;
    uint64_t version = 0, rank = 0, flags = 0, kind = 1, size, n = 1;
    bool good = lks__h5_take(b, 1, &version) && lks__h5_take(b, 1, &rank) && lks__h5_take(b, 1, &flags);

    if (good && version == 1) good = lks__h5_skip(b, 5);
    else if (good && version == 2) good = lks__h5_take(b, 1, &kind) && kind <= 2;
    else good = false;
    if (!good || rank > MAX_RANK || (flags & ~1u) != 0) return lks__h5_damaged(f, start, "a shape");
    for (uint64_t i = 0; i < rank; i++) {
        if (!lks__h5_take(b, 8, &size)) return lks__h5_damaged(f, start, "a shape");
        if (size != 0 && n > UINT64_MAX / size) return lks__h5_damaged(f, start, "a shape overflows");
        n *= size;
    }
    if ((flags & 1) && !lks__h5_skip(b, rank * 8)) return lks__h5_damaged(f, start, "a shape");
    *items = version == 2 && kind == 2 ? 0 : n;
    *rank_out = rank;
    return LKS_OK;
}

/* ---- attributes ---- */

static lks_status check_texts(lks_h5_file *f, lks_h5_bytes b, uint64_t items, uint64_t unit)
{
    uint64_t length = 0, address = 0, index = 0;

    for (uint64_t i = 0; i < items; i++) {
        lks__h5_take(&b, 4, &length);
        lks__h5_take(&b, 8, &address);
        lks__h5_take(&b, 4, &index);
        if (address != 0) /* 0: no text */
            LKS_TRY(lks__h5_check_heap_object(f, address, (uint32_t)index, length * unit));
    }
    return LKS_OK;
}

/* A part of an attribute: n bytes, filled up to a multiple of 8 in version 1. */
static bool take_part(lks_h5_bytes *b, uint64_t version, uint64_t n, lks_h5_bytes *out)
{
    *out = (lks_h5_bytes){ b->at, b->at };
    if (!lks__h5_skip(b, version == 1 ? (n + 7) / 8 * 8 : n)) return false;
    out->end = out->at + n;
    return true;
}

static lks_status check_attribute(lks_h5_file *f, lks_h5_bytes b)
{
    const unsigned char *start = b.at;
    uint64_t version = 0, flags = 0, name_n = 0, type_n = 0, space_n = 0, items = 0, rank = 0;
    lks_h5_bytes name = b, type = b, space = b;
    type_facts facts = { 0 };
    bool good = lks__h5_take(&b, 1, &version) && lks__h5_take(&b, 1, &flags) && lks__h5_take(&b, 2, &name_n) &&
                lks__h5_take(&b, 2, &type_n) && lks__h5_take(&b, 2, &space_n) && version >= 1 && version <= 3;

    if (good && version == 3) good = lks__h5_skip(&b, 1);
    if (!good || (version > 1 && flags != 0)) return lks__h5_damaged(f, start, "an attribute");
    if (!take_part(&b, version, name_n, &name) || !take_part(&b, version, type_n, &type) ||
        !take_part(&b, version, space_n, &space) || name_n == 0 || memchr(name.at, 0, (size_t)name_n) == NULL)
        return lks__h5_damaged(f, start, "an attribute");
    LKS_TRY(check_type(f, &type, 0, &facts));
    LKS_TRY(check_space(f, &space, &items, &rank));
    if (items > (uint64_t)(b.end - b.at) / facts.size)
        return lks__h5_damaged(f, start, "an attribute is larger than its place");
    return facts.is_text ? check_texts(f, b, items, facts.unit) : LKS_OK;
}

/* ---- storage ---- */

static lks_status check_fill(lks_h5_file *f, lks_h5_bytes b)
{
    const unsigned char *start = b.at;
    uint64_t version = 0, flags = 0, defined = 0, size = 0;
    bool good = lks__h5_take(&b, 1, &version) && version >= 1 && version <= 3;

    if (good && version == 3) {
        good = lks__h5_take(&b, 1, &flags);
        defined = flags & 0x20;
    } else good = good && lks__h5_skip(&b, 2) && lks__h5_take(&b, 1, &defined);
    if (good && (version == 1 || defined))
        good = lks__h5_take(&b, 4, &size) && (size > INT32_MAX || lks__h5_skip(&b, size));
    return good ? LKS_OK : lks__h5_damaged(f, start, "a fill value");
}

static lks_status check_filters(lks_h5_file *f, lks_h5_bytes b)
{
    const unsigned char *start = b.at;
    uint64_t version = 0, n = 0, id = 0, name = 0, flags = 0, values = 0;
    bool good = lks__h5_take(&b, 1, &version) && lks__h5_take(&b, 1, &n) && (version == 1 || version == 2) && n <= 32;

    if (good && version == 1) good = lks__h5_skip(&b, 6);
    for (uint64_t i = 0; good && i < n; i++) {
        good = lks__h5_take(&b, 2, &id) && (version == 2 || lks__h5_take(&b, 2, &name)) &&
               lks__h5_take(&b, 2, &flags) && lks__h5_take(&b, 2, &values);
        if (!good || id < 1 || id > 3) /* deflate, shuffle, Fletcher's checksum */
            return good ? lks__fail(LKS_E_UNSUPPORTED, "filter %d of a dataset's storage is not supported", (int)id)
                        : lks__h5_damaged(f, start, "a filter");
        good = name % 8 == 0 && (name == 0 || memchr(b.at, 0, (size_t)(b.end - b.at)) != NULL) &&
               lks__h5_skip(&b, name) && lks__h5_skip(&b, values * 4) &&
               lks__h5_skip(&b, version == 1 && values % 2 == 1 ? 4 : 0);
    }
    return good ? LKS_OK : lks__h5_damaged(f, start, "a filter");
}

static lks_status check_chunked(lks_h5_file *f, const unsigned char *start, lks_h5_bytes *b, uint64_t dimensions,
                                uint64_t address)
{
    uint64_t bytes = 1, size = 0;

    if (dimensions < 2 || dimensions > MAX_RANK + 1) return lks__h5_damaged(f, start, "a chunked layout");
    for (uint64_t i = 0; i < dimensions; i++) {
        if (!lks__h5_take(b, 4, &size) || size == 0) return lks__h5_damaged(f, start, "a chunk's size");
        if (bytes > f->size * LKS_DEFLATE_RATIO / size)
            return lks__fail(LKS_E_FORMAT, "a chunk declares more bytes than a file of %llu can hold",
                             (unsigned long long)f->size);
        bytes *= size;
    }
    f->chunk_rank = dimensions - 1;
    f->chunk_item_size = size;
    return address == LKS_H5_UNDEFINED ? LKS_OK : lks__h5_check_chunks(f, address, (int)dimensions, -1, bytes);
}

static lks_status check_layout(lks_h5_file *f, lks_h5_bytes b)
{
    const unsigned char *start = b.at;
    uint64_t version = 0, class = 0, dimensions = 0, address = 0, size = 0;

    if (!lks__h5_take(&b, 1, &version) || version != 3 || !lks__h5_take(&b, 1, &class) || class > 2)
        return lks__fail(LKS_E_UNSUPPORTED, "the storage of the dataset at byte %lld is of an unknown or virtual kind",
                         (long long)(start - f->data));
    if (class == 0) {
        bool good = lks__h5_take(&b, 2, &size) && lks__h5_skip(&b, size);
        return good ? LKS_OK : lks__h5_damaged(f, start, "a compact layout");
    }
    if (class == 2) {
        bool good = lks__h5_take(&b, 1, &dimensions) && lks__h5_take(&b, 8, &address);
        return good ? check_chunked(f, start, &b, dimensions, address) : lks__h5_damaged(f, start, "a chunked layout");
    }
    if (!lks__h5_take(&b, 8, &address) || !lks__h5_take(&b, 8, &size))
        return lks__h5_damaged(f, start, "a contiguous layout");
    /* A size without a place is what a dataset declares that was never written: refused where its path is known. */
    return address == LKS_H5_UNDEFINED ? LKS_OK : lks__h5_stored(f, address, size, "a dataset");
}

lks_status lks__h5_check_chunks(lks_h5_file *f, uint64_t address, int dimensions, int level, uint64_t chunk_bytes)
{
    uint64_t key = 8 + 8 * (uint64_t)dimensions, n = 0, size = 0, child = 0;
    lks_h5_bytes b;
    int own;

    LKS_TRY(lks__h5_at(f, address, 24 + 2 * (uint64_t)f->chunk_k * (8 + key) + key, "a chunk index", &b));
    if (memcmp(b.at, "TREE\1", 5) != 0) return lks__h5_damaged(f, b.at, "a chunk index was expected");
    own = b.at[5];
    if ((level >= 0 && own != level) || own > 32) return lks__h5_damaged(f, b.at, "a chunk index' level is wrong");
    lks__h5_skip(&b, 6);
    lks__h5_take(&b, 2, &n);
    lks__h5_skip(&b, 16);
    if (n > 2 * f->chunk_k) return lks__h5_damaged(f, b.at, "a chunk index has too many entries");
    for (uint64_t i = 0; i < n; i++) {
        lks__h5_take(&b, 4, &size);
        lks__h5_skip(&b, key - 4);
        lks__h5_take(&b, 8, &child);
        if (own > 0) LKS_TRY(lks__h5_check_chunks(f, child, dimensions, own - 1, chunk_bytes));
        else LKS_TRY(lks__h5_stored(f, child, size, "a chunk"));
    }
    return LKS_OK;
}

/* ---- global heap ---- */

/* Objects follow each other: index, references, length, bytes filled up to 8. Index 0 is the free rest. */
lks_status lks__h5_check_heap_object(lks_h5_file *f, uint64_t address, uint32_t index, uint64_t length)
{
    lks_h5_bytes b;
    uint64_t total = 0, i = 0, n = 0;
    bool found = false;

    LKS_TRY(lks__h5_at(f, address, 16, "a global heap", &b));
    if (memcmp(b.at, "GCOL\1", 5) != 0) return lks__h5_damaged(f, b.at, "a global heap was expected");
    lks__h5_skip(&b, 8);
    lks__h5_take(&b, 8, &total);
    if (total < 4096) return lks__h5_damaged(f, b.at, "a global heap is too small");
    LKS_TRY(lks__h5_at(f, address, total, "a global heap", &b));
    lks__h5_skip(&b, 16);
    while (b.end - b.at >= 16) {
        const unsigned char *start = b.at;
        lks__h5_take(&b, 2, &i);
        lks__h5_skip(&b, 6);
        lks__h5_take(&b, 8, &n);
        if (i == 0) { /* its length counts its own head */
            if (n < 16 || n > (uint64_t)(b.end - start)) return lks__h5_damaged(f, start, "a global heap's free rest");
            b.at = start + n;
            continue;
        }
        if (n > UINT64_MAX - 7 || !lks__h5_skip(&b, (n + 7) / 8 * 8))
            return lks__h5_damaged(f, start, "an object of a global heap");
        if (i == index && n < length) return lks__h5_damaged(f, start, "a text is longer than its place");
        found |= i == index;
    }
    return found ? LKS_OK : lks__h5_damaged(f, b.at, "a text is not in its heap");
}

lks_status lks__h5_check_message(lks_h5_file *f, unsigned type, lks_h5_bytes b)
{
    type_facts facts;
    uint64_t items, size = 0;

    switch (type) {
    case LKS_H5_DATASPACE: return check_space(f, &b, &items, &f->rank);
    case LKS_H5_DATATYPE:
        LKS_TRY(check_type(f, &b, 0, &facts));
        f->item_size = facts.size;
        return LKS_OK;
    case LKS_H5_FILL: return check_fill(f, b);
    case LKS_H5_OLD_FILL:
        return lks__h5_take(&b, 4, &size) && lks__h5_skip(&b, size) ? LKS_OK : lks__h5_damaged(f, b.at, "a fill value");
    case LKS_H5_LAYOUT: return check_layout(f, b);
    case LKS_H5_FILTERS: return check_filters(f, b);
    case LKS_H5_ATTRIBUTE: return check_attribute(f, b);
    case LKS_H5_EXTERNAL: return lks__fail(LKS_E_UNSUPPORTED, "external storage is refused");
    case LKS_H5_COMMENT:
        return memchr(b.at, 0, (size_t)(b.end - b.at)) ? LKS_OK : lks__h5_damaged(f, b.at, "a comment");
    case LKS_H5_OLD_TIME: return lks__h5_skip(&b, 16) ? LKS_OK : lks__h5_damaged(f, b.at, "a time");
    case LKS_H5_TIME: return lks__h5_skip(&b, 8) ? LKS_OK : lks__h5_damaged(f, b.at, "a time");
    case LKS_H5_LINK_INFO: return lks__h5_skip(&b, 18) ? LKS_OK : lks__h5_damaged(f, b.at, "a link info");
    case LKS_H5_SHARED_TABLE:
    case LKS_H5_BTREE_K:
    case LKS_H5_DRIVER_INFO: return lks__h5_damaged(f, b.at, "a message that does not belong to an object");
    default: return LKS_OK; /* unknown ones are passed over */
    }
}
