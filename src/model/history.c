/* history.c - what fit remembers: values per epoch, keys in order of first appearance. */
#include "history.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

typedef struct series {
    char *key;
    double *values;
    size_t n, capacity;
} series;

struct lks_history {
    series *series;
    size_t n, capacity;
    int64_t *epochs;
    double *seconds;
    size_t n_epochs, epochs_capacity, seconds_capacity;
};

lks_status lks__history_create(lks_history **out)
{
    *out = lks__calloc(1, sizeof **out);
    return *out != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for a history");
}

void lks_history_release(lks_history *h)
{
    if (h == NULL) return;
    for (size_t i = 0; i < h->n; i++) {
        lks__free(h->series[i].key);
        lks__free(h->series[i].values);
    }
    lks__free(h->series);
    lks__free(h->epochs);
    lks__free(h->seconds);
    lks__free(h);
}

static lks_status find_or_add(lks_history *h, const char *key, series **out)
{
    for (size_t i = 0; i < h->n; i++)
        if (strcmp(h->series[i].key, key) == 0) {
            *out = &h->series[i];
            return LKS_OK;
        }
    LKS_TRY(lks__grow(&h->series, &h->capacity, h->n + 1, sizeof *h->series));
    h->series[h->n] = (series){ .key = lks__strdup(key) };
    if (h->series[h->n].key == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a history");
    *out = &h->series[h->n++];
    return LKS_OK;
}

lks_status lks__history_add(lks_history *h, int64_t epoch, double seconds, const lks_logs *logs)
{
    LKS_TRY(lks__grow(&h->epochs, &h->epochs_capacity, h->n_epochs + 1, sizeof *h->epochs));
    LKS_TRY(lks__grow(&h->seconds, &h->seconds_capacity, h->n_epochs + 1, sizeof *h->seconds));
    for (size_t i = 0; i < logs->n; i++) {
        series *s = NULL;
        LKS_TRY(find_or_add(h, logs->items[i].name, &s));
        LKS_TRY(lks__grow(&s->values, &s->capacity, s->n + 1, sizeof *s->values));
        s->values[s->n++] = logs->items[i].value;
    }
    h->epochs[h->n_epochs] = epoch;
    h->seconds[h->n_epochs++] = seconds;
    return LKS_OK;
}

size_t lks_history_epochs(const lks_history *history)
{
    return history != NULL ? history->n_epochs : 0;
}

size_t lks_history_n_keys(const lks_history *history)
{
    return history != NULL ? history->n : 0;
}

const char *lks_history_key(const lks_history *history, size_t i)
{
    return history != NULL && i < history->n ? history->series[i].key : NULL;
}

const double *lks_history_values(const lks_history *history, const char *key, size_t *n)
{
    for (size_t i = 0; history != NULL && i < history->n; i++)
        if (strcmp(history->series[i].key, key) == 0) {
            *n = history->series[i].n;
            return history->series[i].values;
        }
    *n = 0;
    return NULL;
}

int64_t lks_history_epoch(const lks_history *history, size_t i)
{
    return i < history->n_epochs ? history->epochs[i] : -1;
}

double lks_history_seconds(const lks_history *history, size_t i)
{
    return i < history->n_epochs ? history->seconds[i] : NAN;
}

double lks_logs_get(const lks_logs *logs, const char *name)
{
    for (size_t i = 0; i < logs->n; i++)
        if (strcmp(logs->items[i].name, name) == 0) return logs->items[i].value;
    return NAN;
}

static void put(lks_text *out, const void *value)
{
    lks__text_append(out, value, 8);
}

void lks__history_write(const lks_history *h, lks_text *out)
{
    int64_t n = (int64_t)h->n_epochs;

    put(out, &n);
    for (size_t i = 0; i < h->n_epochs; i++) {
        put(out, &h->epochs[i]);
        put(out, &h->seconds[i]);
    }
    n = (int64_t)h->n;
    put(out, &n);
    for (size_t i = 0; i < h->n; i++) {
        const series *s = &h->series[i];
        n = (int64_t)strlen(s->key);
        put(out, &n);
        lks__text_append(out, s->key, (size_t)n);
        n = (int64_t)s->n;
        put(out, &n);
        lks__text_append(out, (const char *)s->values, s->n * sizeof *s->values);
    }
}

typedef struct cursor {
    const char *at;
    size_t left;
    bool failed;
} cursor;

/* Bytes of this size, or nothing with `failed` set. */
static const char *get(cursor *c, size_t n)
{
    const char *here = c->at;

    if (n > c->left) c->failed = true;
    if (c->failed) return NULL;
    c->at += n;
    c->left -= n;
    return here;
}

/* A count of things of at least `size` bytes each that must still fit. */
static size_t get_count(cursor *c, size_t size)
{
    const char *p = get(c, 8);
    int64_t n = 0;

    if (p != NULL) memcpy(&n, p, 8);
    if (n < 0 || (uint64_t)n > c->left / size) c->failed = true;
    return c->failed ? 0 : (size_t)n;
}

static lks_status read_series(lks_history *h, cursor *c)
{
    size_t length = get_count(c, 1), n;
    const char *name = get(c, length), *values;
    char key[256];
    series *s;

    n = get_count(c, 8);
    values = get(c, 8 * n);
    if (c->failed || length >= sizeof key) return lks__fail(LKS_E_FORMAT, "the record 'history' is damaged");
    memcpy(key, name, length);
    key[length] = '\0';
    LKS_TRY(find_or_add(h, key, &s));
    LKS_TRY(lks__grow(&s->values, &s->capacity, n + 1, sizeof *s->values));
    memcpy(s->values, values, 8 * n);
    s->n = n;
    return LKS_OK;
}

lks_status lks__history_read(lks_history *h, const char *bytes, size_t size)
{
    cursor c = { bytes, size, bytes == NULL };
    size_t n = get_count(&c, 16);

    LKS_TRY(lks__grow(&h->epochs, &h->epochs_capacity, n + 1, sizeof *h->epochs));
    LKS_TRY(lks__grow(&h->seconds, &h->seconds_capacity, n + 1, sizeof *h->seconds));
    for (size_t i = 0; i < n; i++) {
        memcpy(&h->epochs[i], get(&c, 8), 8);
        memcpy(&h->seconds[i], get(&c, 8), 8);
    }
    h->n_epochs = n;
    n = get_count(&c, 16);
    for (size_t i = 0; i < n; i++) LKS_TRY(read_series(h, &c));
    return c.failed || c.left > 0 ? lks__fail(LKS_E_FORMAT, "the record 'history' is damaged") : LKS_OK;
}
