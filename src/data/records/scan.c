/* scan.c - finding the wanted features of a record. Of equal keys the last one counts, as protocol buffers have it for maps. */
#include <string.h>

#include "example.h"

static lks_status malformed(const char *what, const unsigned char *at, const unsigned char *start)
{
    return lks__fail(LKS_E_FORMAT, "byte %zu: the %s is malformed; is the record a serialized Example?",
                     (size_t)(at - start), what);
}

/* One entry of the map: key and value in either order. */
static bool read_entry(lks_wire entry, lks_wire *key, lks_wire *value)
{
    uint32_t number;
    unsigned type;

    key->p = key->end = value->p = value->end = entry.end;
    while (entry.p < entry.end) {
        if (!lks__wire_tag(&entry, &number, &type)) return false;
        if (type != LKS_WIRE_SPAN) {
            if (!lks__wire_skip(&entry, number, type)) return false;
            continue;
        }
        lks_wire inner;
        if (!lks__wire_span(&entry, &inner)) return false;
        if (number == 1) *key = inner;
        else if (number == 2) *value = inner;
    }
    return true;
}

/* Writers tend to keep keys sorted: the feature behind the last one found is tried first. */
static int find(const lks_features *f, const lks_wire *key, int last)
{
    size_t n = (size_t)(key->end - key->p);

    if ((size_t)(last + 1) < f->n_wanted) {
        const lks_wanted *w = &f->wanted[last + 1];
        if (w->size == n && memcmp(w->key, key->p, n) == 0) return last + 1;
    }
    return lks__wanted_find(f, key->p, n);
}

static void warn_once(lks_features *f, const char *key)
{
    if (!atomic_exchange(&f->warned, true))
        lks__warn("a record has feature '%s' more than once: the last one counts", key);
}

lks_status lks__features_scan(lks_features *f, lks_wire body, const unsigned char *start, lks_found *found)
{
    lks_wire entry, key, value;
    uint32_t number;
    unsigned type;
    int last = -1;

    while (body.p < body.end) {
        const unsigned char *here = body.p;
        int at;
        if (!lks__wire_tag(&body, &number, &type)) return malformed("list of features", here, start);
        if (number != 1 || type != LKS_WIRE_SPAN) {
            if (!lks__wire_skip(&body, number, type)) return malformed("list of features", here, start);
            continue;
        }
        if (!lks__wire_span(&body, &entry)) return malformed("list of features", here, start);
        if (!read_entry(entry, &key, &value)) return malformed("entry of a feature", here, start);
        at = find(f, &key, last);
        if (at < 0) continue;
        last = at;
        if (found->at[at].p != NULL) warn_once(f, f->wanted[at].key);
        found->at[at] = value;
    }
    return LKS_OK;
}

lks_status lks__example_scan(lks_features *f, const lks_bytes *record, lks_found *found)
{
    static const unsigned char nothing[1];
    const unsigned char *start = record->size > 0 ? (const unsigned char *)record->data : nothing;
    lks_wire w = { start, start + record->size }, inner;
    uint32_t number;
    unsigned type;

    memset(found->at, 0, f->n_wanted * sizeof *found->at);
    while (w.p < w.end) {
        const unsigned char *here = w.p;
        if (!lks__wire_tag(&w, &number, &type)) return malformed("message", here, start);
        if (number != 1 || type != LKS_WIRE_SPAN) {
            if (!lks__wire_skip(&w, number, type)) return malformed("message", here, start);
            continue;
        }
        if (!lks__wire_span(&w, &inner)) return malformed("message", here, start);
        LKS_TRY(lks__features_scan(f, inner, start, found));
    }
    return LKS_OK;
}
