/* options.h - options of older programs: a user's struct starts with its size, and what lies beyond it is absent. */
#ifndef LKS_BASE_OPTIONS_H
#define LKS_BASE_OPTIONS_H

#include <stddef.h>
#include <string.h>

/* Copies a user's options over `to`, which holds the defaults: as many bytes as both the user's struct and ours have. */
static inline void lks__options_copy(void *to, size_t size, const void *given)
{
    size_t theirs;

    if (given == NULL) return;
    memcpy(&theirs, given, sizeof theirs);
    memcpy(to, given, theirs < size ? theirs : size);
}

#endif
