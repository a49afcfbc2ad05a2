/* h5_check.c - the old HDF5 format's skeleton: superblock, groups (B-tree, symbol nodes, local heap) and object headers;
 * see h5_check.h. Names of the parts are those of the format's specification. */
#include "h5_check.h"

#include <string.h>

enum { MAX_DEPTH = 64, MAX_LEVEL = 32, ENTRY = 40 };

typedef struct group_heap {
    lks_h5_bytes names;
} group_heap;

static lks_status check_object(lks_h5_file *f, uint64_t address, int depth, const unsigned char *cached);

lks_status lks__h5_damaged(const lks_h5_file *f, const void *where, const char *what)
{
    return lks__fail(LKS_E_FORMAT, "the HDF5 file is damaged near byte %lld: %s",
                     (long long)((const unsigned char *)where - f->data), what);
}

lks_status lks__h5_stored(lks_h5_file *f, uint64_t address, uint64_t n, const char *what)
{
    if (address > f->size || n > f->size - address)
        return lks__fail(LKS_E_FORMAT,
                         "the HDF5 file is damaged: %s at %llu, %llu bytes long, lies outside the file of %llu", what,
                         (unsigned long long)address, (unsigned long long)n, (unsigned long long)f->size);
    if (n + 64 > f->work)
        return lks__fail(LKS_E_FORMAT, "the HDF5 file is damaged: its parts form a circle or lie over each other");
    f->work -= n + 64;
    return LKS_OK;
}

lks_status lks__h5_at(lks_h5_file *f, uint64_t address, uint64_t n, const char *what, lks_h5_bytes *out)
{
    LKS_TRY(lks__h5_stored(f, address, n, what));
    *out = (lks_h5_bytes){ f->data + address, f->data + address + n };
    return f->pages == NULL ? LKS_OK : lks__h5_pages_load(f->pages, out->at, n);
}

bool lks__h5_take(lks_h5_bytes *b, int size, uint64_t *out)
{
    *out = 0;
    if (b->end - b->at < size) return false;
    for (int i = size - 1; i >= 0; i--) *out = *out << 8 | b->at[i];
    b->at += size;
    return true;
}

bool lks__h5_skip(lks_h5_bytes *b, uint64_t n)
{
    if ((uint64_t)(b->end - b->at) < n) return false;
    b->at += n;
    return true;
}

/* ---- local heap: the names of a group ---- */

/* The list of free blocks: each says where the next is and how long it is itself; 1 ends the list. */
static lks_status check_free_list(lks_h5_file *f, lks_h5_bytes names, uint64_t head)
{
    uint64_t size = (uint64_t)(names.end - names.at), length;

    for (uint64_t left = size / 16 + 1; head != 1; left--) {
        lks_h5_bytes b = names;
        uint64_t start = head;
        if (left == 0 || !lks__h5_skip(&b, head) || !lks__h5_take(&b, 8, &head) || !lks__h5_take(&b, 8, &length) ||
            length < 16 || length > size - start)
            return lks__h5_damaged(f, names.at, "a heap's list of free blocks");
    }
    return LKS_OK;
}

static lks_status open_heap(lks_h5_file *f, uint64_t address, group_heap *out)
{
    lks_h5_bytes b;
    uint64_t size = 0, head = 0, segment = 0;

    LKS_TRY(lks__h5_at(f, address, 32, "a local heap", &b));
    if (memcmp(b.at, "HEAP", 5) != 0) return lks__h5_damaged(f, b.at, "a local heap was expected");
    lks__h5_skip(&b, 8);
    lks__h5_take(&b, 8, &size);
    lks__h5_take(&b, 8, &head);
    lks__h5_take(&b, 8, &segment);
    LKS_TRY(lks__h5_at(f, segment, size, "a local heap's data", &out->names));
    return head == LKS_H5_UNDEFINED ? LKS_OK : check_free_list(f, out->names, head);
}

static lks_status check_name(lks_h5_file *f, const group_heap *heap, uint64_t offset)
{
    uint64_t size = (uint64_t)(heap->names.end - heap->names.at);

    if (offset >= size || memchr(heap->names.at + offset, 0, (size_t)(size - offset)) == NULL)
        return lks__h5_damaged(f, heap->names.at, "a name lies outside its heap");
    return LKS_OK;
}

/* ---- groups ---- */

static lks_status check_entry(lks_h5_file *f, const group_heap *heap, lks_h5_bytes b, int depth)
{
    uint64_t name = 0, header = 0, cache = 0, offset = 0;

    lks__h5_take(&b, 8, &name);
    lks__h5_take(&b, 8, &header);
    lks__h5_take(&b, 4, &cache);
    lks__h5_skip(&b, 4);
    LKS_TRY(check_name(f, heap, name));
    if (cache > 2) return lks__h5_damaged(f, b.at, "a group's entry is of no known kind");
    if (cache == 2) { /* a soft link: its text lies in the heap too */
        lks_h5_bytes link = b;
        lks__h5_take(&link, 4, &offset);
        return check_name(f, heap, offset);
    }
    return check_object(f, header, depth + 1, cache == 1 ? b.at : NULL);
}

static lks_status check_symbols(lks_h5_file *f, uint64_t address, const group_heap *heap, int depth)
{
    lks_h5_bytes b;
    uint64_t n = 0;

    LKS_TRY(lks__h5_at(f, address, 8 + 2 * (uint64_t)f->leaf_k * ENTRY, "a symbol table node", &b));
    if (memcmp(b.at, "SNOD\1", 5) != 0) return lks__h5_damaged(f, b.at, "a symbol table node was expected");
    lks__h5_skip(&b, 6);
    lks__h5_take(&b, 2, &n);
    if (n > 2 * f->leaf_k) return lks__h5_damaged(f, b.at, "a symbol table node has too many entries");
    for (uint64_t i = 0; i < n; i++) {
        LKS_TRY(check_entry(f, heap, (lks_h5_bytes){ b.at, b.at + ENTRY }, depth));
        lks__h5_skip(&b, ENTRY);
    }
    return LKS_OK;
}

static lks_status check_tree(lks_h5_file *f, uint64_t address, const group_heap *heap, int level, int depth)
{
    lks_h5_bytes b;
    uint64_t n = 0, key = 0, child = 0;
    int own;

    LKS_TRY(lks__h5_at(f, address, 24 + 2 * (uint64_t)f->internal_k * 16 + 8, "a group's B-tree", &b));
    if (memcmp(b.at, "TREE", 5) != 0) return lks__h5_damaged(f, b.at, "a group's B-tree was expected");
    own = b.at[5];
    if ((level >= 0 && own != level) || own > MAX_LEVEL) return lks__h5_damaged(f, b.at, "a B-tree's level is wrong");
    lks__h5_skip(&b, 6);
    lks__h5_take(&b, 2, &n);
    lks__h5_skip(&b, 16);
    if (n > 2 * f->internal_k) return lks__h5_damaged(f, b.at, "a B-tree node has too many entries");
    for (uint64_t i = 0; i < n; i++) {
        lks__h5_take(&b, 8, &key);
        lks__h5_take(&b, 8, &child);
        LKS_TRY(check_name(f, heap, key));
        LKS_TRY(own > 0 ? check_tree(f, child, heap, own - 1, depth) : check_symbols(f, child, heap, depth));
    }
    lks__h5_take(&b, 8, &key);
    return n > 0 ? check_name(f, heap, key) : LKS_OK;
}

/* `cached`: what the entry that led here claims about the same two addresses. */
static lks_status check_group(lks_h5_file *f, lks_h5_bytes b, int depth, const unsigned char *cached)
{
    const unsigned char *message = b.at;
    group_heap heap;
    uint64_t tree = 0, names = 0;

    if (!lks__h5_take(&b, 8, &tree) || !lks__h5_take(&b, 8, &names))
        return lks__h5_damaged(f, message, "a symbol table message is too short");
    if (cached != NULL && memcmp(cached, message, 16) != 0)
        return lks__h5_damaged(f, cached, "an entry and its group disagree");
    LKS_TRY(open_heap(f, names, &heap));
    return check_tree(f, tree, &heap, -1, depth);
}

/* ---- a link kept in an object header (newer groups) ---- */

static lks_status check_link(lks_h5_file *f, lks_h5_bytes b, int depth)
{
    const unsigned char *message = b.at;
    uint64_t version = 0, flags = 0, kind = 0, skipped, length = 0, address = 0;
    bool whole = lks__h5_take(&b, 1, &version) && lks__h5_take(&b, 1, &flags);

    if (whole && flags & 8) whole = lks__h5_take(&b, 1, &kind);
    if (whole && flags & 4) whole = lks__h5_take(&b, 8, &skipped);
    if (whole && flags & 16) whole = lks__h5_take(&b, 1, &skipped);
    whole = whole && lks__h5_take(&b, 1 << (flags & 3), &length) && length > 0 && lks__h5_skip(&b, length);
    if (!whole || version != 1) return lks__h5_damaged(f, message, "a link message");
    if (kind == 0)
        return lks__h5_take(&b, 8, &address) ? check_object(f, address, depth + 1, NULL)
                                             : lks__h5_damaged(f, message, "a link message");
    if (!lks__h5_take(&b, 2, &length) || length == 0 || !lks__h5_skip(&b, length))
        return lks__h5_damaged(f, message, "a link message");
    return LKS_OK;
}

/* ---- object headers ---- */

typedef struct header {
    int depth, blocks;
    uint64_t left; /* messages still to come */
    const unsigned char *cached;
    bool is_group, is_newer_group;
    uint32_t seen; /* a bit for each type of message below 32 */
} header;

static lks_status check_block(lks_h5_file *f, lks_h5_bytes b, header *h);

static lks_status check_continuation(lks_h5_file *f, lks_h5_bytes b, header *h)
{
    const unsigned char *message = b.at;
    uint64_t address = 0, n = 0;

    if (!lks__h5_take(&b, 8, &address) || !lks__h5_take(&b, 8, &n) || n < 8)
        return lks__h5_damaged(f, message, "a continuation message");
    if (++h->blocks > 1000) return lks__h5_damaged(f, message, "an object header has too many parts");
    LKS_TRY(lks__h5_at(f, address, n, "an object header's continuation", &b));
    return check_block(f, b, h);
}

/* A dataset has one shape, one type and one layout, and they fit each other: HDF5 leaks where they don't. */
static lks_status check_dataset(const lks_h5_file *f, const header *h, const void *where)
{
    const uint32_t needed = 1u << LKS_H5_DATASPACE | 1u << LKS_H5_DATATYPE | 1u << LKS_H5_LAYOUT;

    if ((h->seen & needed) != needed) return lks__h5_damaged(f, where, "a dataset lacks its shape, type or layout");
    if (f->chunk_rank != 0 && (f->chunk_rank != f->rank || f->chunk_item_size != f->item_size))
        return lks__h5_damaged(f, where, "a dataset's chunks do not fit its shape or type");
    return LKS_OK;
}

static lks_status check_one(lks_h5_file *f, unsigned type, lks_h5_bytes b, header *h)
{
    const uint32_t single = 1u << LKS_H5_DATASPACE | 1u << LKS_H5_DATATYPE | 1u << LKS_H5_LAYOUT | 1u << LKS_H5_FILTERS;
    const uint32_t bit = type < 32 ? 1u << type : 0;

    if (h->seen & bit & single) return lks__h5_damaged(f, b.at, "an object header says the same thing twice");
    h->seen |= bit;
    switch (type) {
    case LKS_H5_CONTINUATION: return check_continuation(f, b, h);
    case LKS_H5_LINK: return check_link(f, b, h->depth);
    case LKS_H5_LINK_INFO: h->is_newer_group = true; return lks__h5_check_message(f, type, b);
    case LKS_H5_SYMBOL_TABLE:
        if (h->is_group) return lks__h5_damaged(f, b.at, "an object has two symbol tables");
        h->is_group = true;
        return check_group(f, b, h->depth, h->cached);
    default: return lks__h5_check_message(f, type, b);
    }
}

static lks_status check_block(lks_h5_file *f, lks_h5_bytes b, header *h)
{
    while (b.end - b.at >= 8) { /* HDF5 reads to the end, whatever the count says */
        uint64_t type = 0, n = 0, flags = 0;
        lks_h5_bytes body;
        lks__h5_take(&b, 2, &type);
        lks__h5_take(&b, 2, &n);
        lks__h5_take(&b, 1, &flags);
        lks__h5_skip(&b, 3);
        body = (lks_h5_bytes){ b.at, b.at + n };
        if (n % 8 != 0 || !lks__h5_skip(&b, n)) return lks__h5_damaged(f, b.at, "a message is longer than its header");
        if (flags & 2) return lks__h5_damaged(f, b.at, "shared messages are not used by Keras");
        if (h->left > 0) h->left--;
        LKS_TRY(check_one(f, (unsigned)type, body, h));
    }
    return LKS_OK;
}

static lks_status check_object(lks_h5_file *f, uint64_t address, int depth, const unsigned char *cached)
{
    const uint32_t dataset = 1u << LKS_H5_DATASPACE | 1u << LKS_H5_DATATYPE | 1u << LKS_H5_LAYOUT |
                             1u << LKS_H5_FILTERS | 1u << LKS_H5_FILL;
    header h = { .depth = depth, .cached = cached };
    uint64_t n = 0;
    lks_h5_bytes b;

    if (depth > MAX_DEPTH) return lks__fail(LKS_E_LIMIT, "groups are nested deeper than %d", MAX_DEPTH);
    LKS_TRY(lks__h5_at(f, address, 16, "an object header", &b));
    if (memcmp(b.at, "OHDR", 4) == 0) return LKS_OK; /* has a checksum */
    if (b.at[0] != 1) return lks__h5_damaged(f, b.at, "an object header was expected");
    lks__h5_skip(&b, 2);
    lks__h5_take(&b, 2, &h.left);
    lks__h5_skip(&b, 4);
    lks__h5_take(&b, 4, &n);
    LKS_TRY(lks__h5_at(f, address + 16, n, "an object header", &b));
    f->chunk_rank = 0;
    LKS_TRY(check_block(f, b, &h));
    if (h.left > 0) return lks__h5_damaged(f, b.at, "an object header lacks messages");
    if (cached != NULL && !h.is_group && !h.is_newer_group)
        return lks__h5_damaged(f, b.at, "an entry says group, the object is none");
    if (!(h.seen & dataset)) return LKS_OK;
    if (h.is_group || h.is_newer_group) return lks__h5_damaged(f, b.at, "an object is a group and a dataset");
    return check_dataset(f, &h, b.at);
}

/* ---- superblock ---- */

static lks_status check_superblock(lks_h5_file *f)
{
    lks_h5_bytes b;
    uint64_t leaf = 0, internal = 0, chunk = 32, base = 0, end = 0, driver = 0, root = 0, cache = 0;
    int version = f->data[8];

    LKS_TRY(lks__h5_at(f, 0, version == 0 ? 96 : 100, "the superblock", &b));
    if (b.at[13] != 8 || b.at[14] != 8) return lks__h5_damaged(f, b.at + 13, "addresses and lengths must have 8 bytes");
    lks__h5_skip(&b, 16);
    lks__h5_take(&b, 2, &leaf);
    lks__h5_take(&b, 2, &internal);
    lks__h5_skip(&b, 4);
    if (version == 1) lks__h5_take(&b, 2, &chunk);
    if (version == 1) lks__h5_skip(&b, 2);
    lks__h5_take(&b, 8, &base);
    lks__h5_skip(&b, 8);
    lks__h5_take(&b, 8, &end);
    lks__h5_take(&b, 8, &driver);
    lks__h5_skip(&b, 8);
    lks__h5_take(&b, 8, &root);
    lks__h5_take(&b, 4, &cache);
    lks__h5_skip(&b, 4);
    if (leaf == 0 || internal == 0 || chunk == 0 || driver != LKS_H5_UNDEFINED || cache > 1)
        return lks__h5_damaged(f, b.at, "the superblock");
    if (end < base || end - base > f->size)
        return lks__fail(LKS_E_FORMAT, "the HDF5 file is truncated: it should have %llu bytes, %llu are there",
                         (unsigned long long)(end - base), (unsigned long long)f->size);
    f->size = end - base; /* what follows is not the file's */
    f->leaf_k = (unsigned)leaf;
    f->internal_k = (unsigned)internal;
    f->chunk_k = (unsigned)chunk;
    return check_object(f, root, 0, cache == 1 ? b.at : NULL);
}

static lks_status check(const unsigned char *bytes, uint64_t n, lks_h5_pages *pages)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";

    for (uint64_t at = 0; at < n && n - at >= 96; at = at == 0 ? 512 : at * 2) {
        lks_h5_file f = { .data = bytes + at, .size = n - at, .pages = pages };
        if (pages != NULL) LKS_TRY(lks__h5_pages_load(pages, bytes + at, 96));
        if (memcmp(bytes + at, signature, 8) != 0) continue;
        if (bytes[at + 8] > 1) return LKS_OK; /* has checksums */
        f.work = f.size < UINT64_MAX / 64 - 65536 ? (f.size + 65536) * 64 : UINT64_MAX;
        return check_superblock(&f);
    }
    return lks__fail(LKS_E_FORMAT, "not an HDF5 file: its signature is missing");
}

lks_status lks__h5_check(const void *data, size_t n)
{
    return check(data, n, NULL);
}

lks_status lks__h5_check_file(int fd, uint64_t size)
{
    lks_h5_pages *pages;
    lks_status status;

    LKS_TRY(lks__h5_pages_open(fd, size, &pages));
    status = check(lks__h5_pages_data(pages), size, pages);
    lks__h5_pages_close(pages);
    return status;
}
