/* alloc.h - internal. Every allocation of the library goes through here (and so through the hook). */
#ifndef LKS_BASE_ALLOC_H
#define LKS_BASE_ALLOC_H

#include "error.h"

/* NULL on failure, without setting the error text. A size of 0 gives a valid pointer. */
void *lks__malloc(size_t bytes);
void *lks__calloc(size_t count, size_t size); /* zeroed; NULL if the product overflows */
void *lks__realloc(void *old, size_t bytes);
void lks__free(void *memory);
char *lks__strdup(const char *s); /* NULL gives NULL */
void *lks__memdup(const void *data, size_t bytes);

/* 64-byte aligned and zeroed; give it back with lks__aligned_free. */
void *lks__aligned_calloc(size_t bytes);
void *lks__aligned_malloc(size_t bytes); /* not zeroed */
void lks__aligned_free(void *memory);

/* Grows *array (of `size`-byte items) so that it holds at least `need` of them; doubles. */
lks_status lks__grow(void *array, size_t *capacity, size_t need, size_t size);

/* Products of sizes from outside: false on overflow. */
int lks__mul_size(size_t a, size_t b, size_t *out);

/* An arena: many small objects with one life. Freed whole. Start from { 0 }. */
typedef struct lks_arena {
    struct lks_arena_block *blocks;
} lks_arena;
void *lks__arena_calloc(lks_arena *a, size_t bytes); /* zeroed, 16-byte aligned; NULL on failure */
char *lks__arena_strdup(lks_arena *a, const char *s);
void lks__arena_free(lks_arena *a);

#endif
