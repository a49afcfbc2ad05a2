/* state.c - the counters of a tree of dataset objects as one list of numbers, and the bytes of a saved iterator: magic, numbers,
 * counters, CRC-32C over all of it. */
#include "state.h"

#include <stdatomic.h>
#include <string.h>

#include "base/text.h"
#include "files/crc32c.h"
#include "files/endian.h"

void lks__counter(lks_counters *c, int64_t *value)
{
    if (c->failed) return;
    if (c->reading) {
        if (c->at < c->n) *value = c->value[c->at++];
        else c->failed = true;
        return;
    }
    if (lks__grow(&c->value, &c->capacity, c->n + 1, sizeof *c->value) != LKS_OK) c->failed = true;
    else c->value[c->n++] = *value;
}

void lks__counter_u64(lks_counters *c, uint64_t *value)
{
    int64_t v = (int64_t)*value;

    lks__counter(c, &v);
    *value = (uint64_t)v;
}

void lks__counter_atomic(lks_counters *c, _Atomic int64_t *value)
{
    int64_t v = atomic_load(value);

    lks__counter(c, &v);
    if (c->reading) atomic_store(value, v); /* else a count made meanwhile would be lost */
}

void lks__counters_walk(lks_dataset *ds, lks_counters *c)
{
    if (ds->stage->counters != NULL) ds->stage->counters(ds, c);
    for (size_t i = 0; i < ds->n_inputs; i++) lks__counters_walk(ds->input[i], c);
}

void lks__counters_free(lks_counters *c)
{
    lks__free(c->value);
    memset(c, 0, sizeof *c);
}

const char *lks__unsavable(const lks_dataset *ds, const char **stage)
{
    const char *why = ds->stage->unsavable == NULL ? NULL : ds->stage->unsavable(ds);

    *stage = ds->stage->name;
    for (size_t i = 0; why == NULL && i < ds->n_inputs; i++) why = lks__unsavable(ds->input[i], stage);
    return why;
}

static const char magic[8] = { 'L', 'K', 'S', 'I', 'T', 'E', 'R', '1' };
enum { FIXED = 8 + 8 + 8 + 8 + 8, CHECKSUM = 4 };

static void put(lks_text *t, uint64_t v)
{
    unsigned char b[8];

    for (int i = 0; i < 8; i++) b[i] = (unsigned char)(v >> 8 * i);
    lks__text_append(t, (const char *)b, 8);
}

lks_status lks__state_write(const lks_state *s, void **bytes, size_t *size)
{
    lks_text t = { 0 };
    uint32_t crc;
    char *data;

    lks__text_append(&t, magic, sizeof magic);
    put(&t, s->fingerprint);
    put(&t, (uint64_t)s->results);
    put(&t, (uint64_t)(s->had_failures + 2 * s->ended));
    put(&t, s->counters.n);
    for (size_t i = 0; i < s->counters.n; i++) put(&t, (uint64_t)s->counters.value[i]);
    if (!t.failed) {
        unsigned char b[CHECKSUM];
        crc = lks__crc32c(0, t.data, t.length);
        for (int i = 0; i < CHECKSUM; i++) b[i] = (unsigned char)(crc >> 8 * i);
        lks__text_append(&t, (const char *)b, CHECKSUM);
    }
    *size = t.length;
    LKS_TRY(lks__text_take(&t, &data));
    *bytes = data;
    return LKS_OK;
}

lks_status lks__state_read(const void *bytes, size_t size, lks_state *out)
{
    const unsigned char *p = bytes;
    uint64_t n, results;

    memset(out, 0, sizeof *out);
    if (p == NULL || size < FIXED + CHECKSUM || memcmp(p, magic, sizeof magic) != 0)
        return lks__fail(LKS_E_FORMAT, "the bytes are no saved iterator");
    if (lks__crc32c(0, p, size - CHECKSUM) != lks__le32(p + size - CHECKSUM))
        return lks__fail(LKS_E_FORMAT, "the saved iterator is damaged: its checksum is wrong");
    n = lks__le64(p + 32);
    results = lks__le64(p + 16);
    if (n != (size - FIXED - CHECKSUM) / 8 || (size - FIXED - CHECKSUM) % 8 != 0 || results > INT64_MAX)
        return lks__fail(LKS_E_FORMAT, "the saved iterator is damaged: its size is wrong");
    out->fingerprint = lks__le64(p + 8);
    out->results = (int64_t)results;
    out->had_failures = p[24] & 1;
    out->ended = (p[24] & 2) != 0;
    out->counters.reading = true;
    out->counters.n = (size_t)n;
    out->counters.value = lks__calloc((size_t)n, sizeof *out->counters.value);
    if (out->counters.value == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a saved iterator");
    for (size_t i = 0; i < n; i++) out->counters.value[i] = (int64_t)lks__le64(p + FIXED + 8 * i);
    return LKS_OK;
}
