/* shared.h - for tests: where the golden sets and data beside the project are. LOCKSTEP_SHARED, else ../shared. */
#ifndef LKS_TESTS_SHARED_H
#define LKS_TESTS_SHARED_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The folder, or NULL where it does not exist. */
static inline const char *shared_folder(void)
{
    static char path[1024];
    struct stat info;
    const char *set = getenv("LOCKSTEP_SHARED");

    snprintf(path, sizeof path, "%s", set != NULL ? set : LOCKSTEP_SOURCE_DIR "/../shared");
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? path : NULL;
}

/* In a test: returns the folder, or says so and skips the test. */
#define NEED_SHARED() \
    (shared_folder() != NULL ? shared_folder() : (printf("skipped: ../shared not found\n"), skip(), (const char *)NULL))

/* "WHERE/NAME" in one of four buffers used in turn. */
static inline const char *in_folder(const char *where, const char *name)
{
    static char paths[4][2048];
    static int turn;
    char *path = paths[turn++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", where, name);
    return path;
}

#endif
