/* library.h - internal. Shared libraries that are loaded when they are first needed: most programs draw no picture and fetch
 * nothing, and loading what stands behind such work takes longer than a first training step.
 *
 * A header lists the names that are used (LKS_..._NAMES(F)), makes a table of pointers of their types and redefines each name to
 * its pointer; one .c file defines the table and its library. Nothing of the library may be touched before lks__library_load.
 */
#ifndef LKS_BASE_LIBRARY_H
#define LKS_BASE_LIBRARY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

typedef struct lks_library {
    const char *file, *what, *package; /* its soname; what it is for; the Debian package */
    const char *const *names;
    void *table; /* n pointers, in the order of the names */
    size_t n;
    atomic_bool loaded;
} lks_library;

/* Once in the process; from any thread. LKS_E_UNSUPPORTED if it is missing or lacks a name. */
lks_status lks__library_load(lks_library *l);

#define LKS_LATE_NAME(name) #name,
#define LKS_LATE_LIBRARY(library, list, calls, its_file, use, its_package) \
    static const char *const library##_names[] = { list(LKS_LATE_NAME) };  \
    lks_library library = { .file = (its_file),                            \
                            .what = (use),                                 \
                            .package = (its_package),                      \
                            .names = library##_names,                      \
                            .table = &(calls),                             \
                            .n = sizeof library##_names / sizeof *library##_names }

#endif
