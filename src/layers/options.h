/* options.h - internal to the files that implement config.h: one option from JSON, to JSON, checked. */
#ifndef LKS_LAYERS_OPTIONS_H
#define LKS_LAYERS_OPTIONS_H

#include "config.h"

static inline void *lks__at(void *options, size_t offset)
{
    return (char *)options + offset;
}

static inline const void *lks__cat(const void *options, size_t offset)
{
    return (const char *)options + offset;
}

lks_status lks__option_read(const lks_field *f, const json_t *value, void *options);
lks_status lks__option_write(const lks_field *f, const void *options, json_t **out); /* a new reference */
lks_status lks__option_check(const lks_field *f, const void *options);               /* ranges, words, specs */

#endif
