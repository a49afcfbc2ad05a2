/* words.h - internal. Words that nothing is called: the nearest one there is, else all of them. */
#ifndef LKS_BASE_WORDS_H
#define LKS_BASE_WORDS_H

#include "error.h"

/* "did you mean": the entry of `list` (NULL-terminated) nearest to `word`, or NULL if none is near. */
const char *lks__nearest(const char *word, const char *const *list);

/* The words with commas between them; "..." for those that do not fit into `size` bytes (16 or more). */
void lks__words_join(const char *const *list, char *out, size_t size);

/* Fails with 'there is no WHAT "word"; did you mean "x"?', or with the list (NULL-terminated) where nothing is near. */
lks_status lks__no_such(lks_status code, const char *what, const char *word, const char *const *list);

#endif
