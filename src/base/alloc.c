/* alloc.c - the allocator hook and what is built on it. */
#include "alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

static void *default_alloc(void *user, size_t bytes)
{
    (void)user;
    return malloc(bytes);
}

static void *default_resize(void *user, void *old, size_t bytes)
{
    (void)user;
    return realloc(old, bytes);
}

static void default_release(void *user, void *old)
{
    (void)user;
    free(old);
}

static const lks_allocator default_allocator = { default_alloc, default_resize, default_release, NULL };
static lks_allocator hook = { default_alloc, default_resize, default_release, NULL };

void lks_set_allocator(const lks_allocator *allocator)
{
    hook = allocator != NULL ? *allocator : default_allocator;
}

void lks_free(void *memory)
{
    lks__free(memory);
}

void *lks__malloc(size_t bytes)
{
    return hook.alloc(hook.user, bytes ? bytes : 1);
}

void *lks__calloc(size_t count, size_t size)
{
    size_t bytes;
    void *p;

    if (!lks__mul_size(count, size, &bytes)) return NULL;
    p = lks__malloc(bytes);
    if (p != NULL) memset(p, 0, bytes);
    return p;
}

void *lks__realloc(void *old, size_t bytes)
{
    return hook.resize(hook.user, old, bytes ? bytes : 1);
}

void lks__free(void *memory)
{
    if (memory != NULL) hook.release(hook.user, memory);
}

char *lks__strdup(const char *s)
{
    return s == NULL ? NULL : lks__memdup(s, strlen(s) + 1);
}

void *lks__memdup(const void *data, size_t bytes)
{
    void *p = lks__malloc(bytes);
    if (p != NULL && bytes > 0) memcpy(p, data, bytes);
    return p;
}

/* Large arrays are walked from end to end: pages of 2 MiB spare the translation of thousands of small ones, which a
 * matrix read by columns waits for, and prefetching does not end with each. Such an array begins and ends with a page,
 * since parts of one stay small. Advice only: where the system has none, nothing changes. */
enum { LEAST_LARGE = 2 << 20, LARGE_PAGE = 2 << 20 };

static void advise_large_pages(char *p, size_t bytes)
{
#if defined(__linux__)
    (void)madvise(p, bytes, MADV_HUGEPAGE);
#else
    (void)p;
    (void)bytes;
#endif
}

/* The hook has no aligned form: over-allocate and keep the original pointer just below the block. */
void *lks__aligned_malloc(size_t bytes)
{
    const bool large = bytes >= LEAST_LARGE;
    const size_t align = large ? LARGE_PAGE : 64;
    char *raw, *p;

    if (bytes > SIZE_MAX - 3 * align) return NULL;
    if (large) bytes = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    raw = lks__malloc(bytes + align + sizeof(void *));
    if (raw == NULL) return NULL;
    p = raw + sizeof(void *);
    p += (align - (uintptr_t)p % align) % align;
    memcpy(p - sizeof raw, &raw, sizeof raw);
    if (large) advise_large_pages(p, bytes);
    return p;
}

void *lks__aligned_calloc(size_t bytes)
{
    void *p = lks__aligned_malloc(bytes);

    if (p != NULL) memset(p, 0, bytes);
    return p;
}

void lks__aligned_free(void *memory)
{
    char *raw;

    if (memory == NULL) return;
    memcpy(&raw, (char *)memory - sizeof raw, sizeof raw);
    lks__free(raw);
}

int lks__mul_size(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b) return 0;
    *out = a * b;
    return 1;
}

lks_status lks__grow(void *array, size_t *capacity, size_t need, size_t size)
{
    size_t n = *capacity ? *capacity : 8, bytes;
    void *old, *data;

    if (need <= *capacity) return LKS_OK;
    while (n < need) n = n > SIZE_MAX / 2 ? need : n * 2;
    memcpy(&old, array, sizeof old);
    if (!lks__mul_size(n, size, &bytes) || (data = lks__realloc(old, bytes)) == NULL)
        return lks__fail(LKS_E_NOMEM, "no memory for %zu items of %zu bytes", n, size);
    memset((char *)data + *capacity * size, 0, (n - *capacity) * size);
    memcpy(array, &data, sizeof data);
    *capacity = n;
    return LKS_OK;
}

struct lks_arena_block {
    struct lks_arena_block *next;
    size_t used, size;
    _Alignas(16) char data[];
};

void *lks__arena_calloc(lks_arena *a, size_t bytes)
{
    enum { BLOCK = 16384 };
    struct lks_arena_block *b = a->blocks;
    void *p;

    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    if (b == NULL || b->size - b->used < bytes) {
        size_t size = bytes > BLOCK ? bytes : BLOCK;
        b = lks__malloc(sizeof *b + size);
        if (b == NULL) return NULL;
        b->next = a->blocks;
        b->used = 0;
        b->size = size;
        a->blocks = b;
    }
    p = b->data + b->used;
    b->used += bytes;
    return memset(p, 0, bytes);
}

char *lks__arena_strdup(lks_arena *a, const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = lks__arena_calloc(a, n);
    return p == NULL ? NULL : memcpy(p, s, n);
}

void lks__arena_free(lks_arena *a)
{
    while (a->blocks != NULL) {
        struct lks_arena_block *next = a->blocks->next;
        lks__free(a->blocks);
        a->blocks = next;
    }
}
