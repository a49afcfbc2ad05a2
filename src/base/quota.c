/* quota.c - how much processor time, in cores, and memory, in bytes, the process' control groups leave it. Every group from the
 * process' own up to the root may have a limit; the least counts. In a container the mounted folder is often the process' own group,
 * whatever its path says, so folders that do not exist are passed over.
 */
#include "quota.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

enum { PATH_TEXT = 4096 };

/* The numbers of a file's first line ("max" is -1); how many, up to two. */
static int read_numbers(const char *folder, const char *name, double out[2])
{
    char path[PATH_TEXT + 64], line[128], *word, *rest = line;
    FILE *f;
    int n = 0;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "r");
    if (f == NULL) return 0;
    if (fgets(line, sizeof line, f) == NULL) line[0] = '\0';
    fclose(f);
    while (n < 2 && *(word = rest + strspn(rest, " \n")) != '\0') {
        rest = word + strcspn(word, " \n");
        if (*rest != '\0') *rest++ = '\0';
        if (strcmp(word, "max") == 0) out[n] = -1;
        else if (!lks__parse_double(word, &out[n])) return n;
        n++;
    }
    return n;
}

/* Version 2: "250000 100000", "max 100000". */
static double limit_of_2(const char *folder)
{
    double v[2];

    return read_numbers(folder, "cpu.max", v) == 2 && v[0] > 0 && v[1] > 0 ? v[0] / v[1] : 0;
}

/* Version 1: two files, -1 for no limit. */
static double limit_of_1(const char *folder)
{
    double quota[2], period[2];

    if (read_numbers(folder, "cpu.cfs_quota_us", quota) < 1 || read_numbers(folder, "cpu.cfs_period_us", period) < 1)
        return 0;
    return quota[0] > 0 && period[0] > 0 ? quota[0] / period[0] : 0;
}

static double memory_of_2(const char *folder)
{
    double v[2];

    return read_numbers(folder, "memory.max", v) >= 1 && v[0] > 0 ? v[0] : 0;
}

/* No limit is a number near 2^63. */
static double memory_of_1(const char *folder)
{
    double v[2];

    return read_numbers(folder, "memory.limit_in_bytes", v) >= 1 && v[0] > 0 && v[0] < 0x1p60 ? v[0] : 0;
}

/* What is looked for: how each version says it, and the controller of version 1. */
typedef struct limit_kind {
    double (*of_2)(const char *folder), (*of_1)(const char *folder);
    const char *controller;
} limit_kind;

static const limit_kind cpu = { limit_of_2, limit_of_1, "cpu" };
static const limit_kind memory = { memory_of_2, memory_of_1, "memory" };

static double lesser(double a, double b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

/* The least limit of root/path and all above it, root included. */
static double least_upwards(const char *root, const char *path, double (*limit_of)(const char *folder))
{
    char folder[PATH_TEXT];
    size_t shortest = strlen(root);
    double least = 0;

    if ((size_t)snprintf(folder, sizeof folder, "%s%s", root, path) >= sizeof folder) return limit_of(root);
    for (;;) {
        char *end = folder + strlen(folder);
        least = lesser(limit_of(folder), least);
        if (strlen(folder) <= shortest) return least;
        while (end > folder + shortest && *--end != '/') continue;
        *end = '\0';
    }
}

static bool has(const char *controllers, const char *one)
{
    for (const char *c = controllers; *c != '\0'; c += strcspn(c, ",") + (c[strcspn(c, ",")] == ','))
        if (strcspn(c, ",") == strlen(one) && strncmp(c, one, strlen(one)) == 0) return true;
    return false;
}

/* "0::/path" is version 2's line, "4:cpu,cpuacct:/path" version 1's. */
static double limit_of_line(const limit_kind *kind, const char *sys, char *line)
{
    char root[PATH_TEXT], *controllers = strchr(line, ':'),
                          *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;

    if (path == NULL) return 0;
    *path++ = '\0';
    controllers++;
    path[strcspn(path, "\n")] = '\0';
    if (*controllers == '\0') return least_upwards(sys, path, kind->of_2);
    if (!has(controllers, kind->controller) ||
        (size_t)snprintf(root, sizeof root, "%s/%s", sys, controllers) >= sizeof root)
        return 0;
    return least_upwards(root, path, kind->of_1);
}

static double least_limit(const limit_kind *kind, const char *sys, const char *self)
{
    char line[PATH_TEXT], folder[PATH_TEXT];
    double least = kind->of_2(sys);
    FILE *f = fopen(self, "r");

    if ((size_t)snprintf(folder, sizeof folder, "%s/%s", sys, kind->controller) < sizeof folder)
        least = lesser(kind->of_1(folder), least);
    if (f == NULL) return least;
    while (fgets(line, sizeof line, f) != NULL) least = lesser(limit_of_line(kind, sys, line), least);
    fclose(f);
    return least;
}

double lks__cgroup_cores(const char *sys, const char *self)
{
    return least_limit(&cpu, sys, self);
}

double lks__cgroup_memory(const char *sys, const char *self)
{
    return least_limit(&memory, sys, self);
}
