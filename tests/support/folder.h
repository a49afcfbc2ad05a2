/* folder.h - a folder of a test program's own: its path, set-up and tear-down for cmocka's groups. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Its path, from make_folder on. */
static char folder[32] = "/tmp/lockstep-test-XXXXXX";

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

/* With all that lies in it. */
static inline int remove_folder(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Where nothing may be left in it: fails otherwise. */
static inline int remove_empty_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

#endif
