/* os_error.c - see os_error.h. strerror_r has two forms; the one that returns a pointer is what _GNU_SOURCE gives on
 * glibc, elsewhere it fills the buffer and returns a number. */
#include "os_error.h"

#include <stdio.h>
#include <string.h>

static inline const char *from_pointer(const char *text, const char *buffer)
{
    (void)buffer;
    return text;
}

static inline const char *from_number(int code, const char *buffer)
{
    return code == 0 ? buffer : "unknown error";
}

const char *lks__os_error(int error)
{
    static _Thread_local char buffer[128];

    snprintf(buffer, sizeof buffer, "error %d", error);
    return _Generic(strerror_r(error, buffer, sizeof buffer), char *: from_pointer, int: from_number)(
        strerror_r(error, buffer, sizeof buffer), buffer);
}
