/* image_walk.c - see image_walk.h. Everything is sorted, so that the order is the directory's content alone. */
#include "image_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "files/image.h"
#include "files/os_error.h"

enum { MAX_DEPTH = 64 }; /* links may lead in circles */

static lks_status os_fail(int error, const char *what, const char *path)
{
    return lks__fail(error == ENOENT || error == ENOTDIR ? LKS_E_NOTFOUND : LKS_E_IO, "%s '%s' cannot be read: %s",
                     what, path, lks__os_error(error));
}

void lks__names_free(lks_name_list *l)
{
    for (size_t i = 0; i < l->n; i++) lks__free(l->name[i]);
    lks__free(l->name);
    *l = (lks_name_list){ NULL, 0, 0 };
}

/* Steals name. */
static lks_status add_made(lks_name_list *l, char *name)
{
    lks_status status = name == NULL ? lks__fail(LKS_E_NOMEM, "no memory for file names")
                                     : lks__grow(&l->name, &l->room, l->n + 1, sizeof *l->name);

    if (status != LKS_OK) lks__free(name);
    else l->name[l->n++] = name;
    return status;
}

lks_status lks__names_add(lks_name_list *l, const char *name)
{
    return add_made(l, lks__strdup(name));
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void lks__names_sort(lks_name_list *l)
{
    if (l->n > 1) qsort(l->name, l->n, sizeof *l->name, by_bytes);
}

char *lks__join_path(const char *directory, const char *name)
{
    size_t a = strlen(directory), b = strlen(name);
    bool slash = a > 0 && directory[a - 1] != '/';
    char *path = lks__malloc(a + b + 2);

    if (path == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for a file name");
        return NULL;
    }
    memcpy(path, directory, a);
    if (slash) path[a++] = '/';
    memcpy(path + a, name, b + 1);
    return path;
}

static bool is_picture_name(const char *name)
{
    static const char *const extensions[] = { ".bmp", ".gif", ".jpeg", ".jpg", ".png" };
    const char *dot = strrchr(name, '.');

    if (dot == NULL || strncmp(name, "._", 2) == 0) return false;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        size_t k = 0;
        while (dot[k] != '\0' && lks__ascii_lower(dot[k]) == extensions[i][k]) k++;
        if (dot[k] == '\0' && extensions[i][k] == '\0') return true;
    }
    return false;
}

static bool is_directory(const char *path, bool follow_links)
{
    struct stat info;

    return (follow_links ? stat(path, &info) : lstat(path, &info)) == 0 && S_ISDIR(info.st_mode);
}

/* Splits what is in `directory` into names of pictures and paths of subfolders. What cannot be listed has nothing in it. */
static lks_status list(const char *directory, bool follow_links, lks_name_list *files, lks_name_list *folders)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    lks_status status = LKS_OK;

    if (dir == NULL) return LKS_OK;
    while (status == LKS_OK && (entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;
        char *path;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        path = lks__join_path(directory, name);
        if (path == NULL) status = LKS_E_NOMEM;
        else if (is_directory(path, follow_links)) status = add_made(folders, path), path = NULL;
        else if (is_picture_name(name)) status = lks__names_add(files, name);
        lks__free(path);
    }
    closedir(dir);
    return status;
}

/* All folders below and with `directory`. */
static lks_status gather(const char *directory, bool follow_links, int depth, lks_name_list *folders)
{
    lks_name_list files = { NULL, 0, 0 }, below = { NULL, 0, 0 };
    lks_status status = lks__names_add(folders, directory);

    if (status == LKS_OK && depth < MAX_DEPTH) status = list(directory, follow_links, &files, &below);
    for (size_t i = 0; status == LKS_OK && i < below.n; i++)
        status = gather(below.name[i], follow_links, depth + 1, folders);
    lks__names_free(&files);
    lks__names_free(&below);
    return status;
}

static lks_status add_files(const char *directory, bool follow_links, lks_name_list *out)
{
    lks_name_list files = { NULL, 0, 0 }, below = { NULL, 0, 0 };
    lks_status status = list(directory, follow_links, &files, &below);

    lks__names_sort(&files);
    for (size_t i = 0; status == LKS_OK && i < files.n; i++)
        status = add_made(out, lks__join_path(directory, files.name[i]));
    lks__names_free(&files);
    lks__names_free(&below);
    return status;
}

lks_status lks__walk_pictures(const char *directory, bool follow_links, lks_name_list *out)
{
    lks_name_list folders = { NULL, 0, 0 };
    lks_status status = gather(directory, follow_links, 0, &folders);

    lks__names_sort(&folders);
    for (size_t i = 0; status == LKS_OK && i < folders.n; i++) status = add_files(folders.name[i], follow_links, out);
    lks__names_free(&folders);
    return status;
}

lks_status lks__subfolders(const char *directory, lks_name_list *out)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    lks_status status = LKS_OK;

    if (dir == NULL) return os_fail(errno, "the directory", directory);
    while (status == LKS_OK && (entry = readdir(dir)) != NULL) {
        char *path;
        if (entry->d_name[0] == '.') continue;
        path = lks__join_path(directory, entry->d_name);
        if (path == NULL) status = LKS_E_NOMEM;
        else if (is_directory(path, true)) status = lks__names_add(out, entry->d_name);
        lks__free(path);
    }
    closedir(dir);
    lks__names_sort(out);
    return status;
}

/* LKS_OK if the file's first bytes are those of a picture. */
static lks_status sniff(const char *path)
{
    unsigned char head[16];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);

    if (n < 0) {
        int failed = errno;
        if (fd >= 0) close(fd);
        return os_fail(failed, "the file", path);
    }
    close(fd);
    return lks__image_sniff(head, (size_t)n);
}

lks_status lks__check_pictures(const lks_name_list *files)
{
    enum { NAMED = 3 };
    lks_text text = { 0 };
    size_t bad = 0;
    lks_status status;

    for (size_t i = 0; i < files->n; i++) {
        if (sniff(files->name[i]) == LKS_OK || lks__error_code() == LKS_E_UNSUPPORTED) continue;
        if (bad++ >= NAMED) continue;
        lks__text_puts(&text, bad > 1 ? "; " : "");
        lks__text_puts(&text, files->name[i]);
        lks__text_puts(&text, ": ");
        lks__text_puts(&text, lks_last_error());
    }
    if (bad == 0) return LKS_OK;
    if (text.failed) status = lks__fail(LKS_E_NOMEM, "no memory for file names");
    else
        status = lks__fail(LKS_E_FORMAT,
                           "%zu of %zu files are no pictures (check_files = LKS_FALSE lets them fail one by one, "
                           "for lks_ignore_errors): %s%s",
                           bad, files->n, text.data, bad > NAMED ? "; ..." : "");
    lks__text_free(&text);
    return status;
}

/* ---- numpy's shuffle: Mersenne Twister, bounded numbers by masking and rejection ---- */

enum { WORDS = 624, SHIFT = 397 };

typedef struct twister {
    uint32_t word[WORDS];
    int at;
} twister;

static void twister_seed(twister *t, uint32_t seed)
{
    t->word[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++) t->word[i] = 1812433253u * (t->word[i - 1] ^ t->word[i - 1] >> 30) + i;
    t->at = WORDS;
}

static uint32_t twister_next(twister *t)
{
    uint32_t y;

    if (t->at == WORDS) {
        for (int i = 0; i < WORDS; i++) {
            y = (t->word[i] & 0x80000000u) | (t->word[(i + 1) % WORDS] & 0x7FFFFFFFu);
            t->word[i] = t->word[(i + SHIFT) % WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908B0DFu : 0);
        }
        t->at = 0;
    }
    y = t->word[t->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9D2C5680u;
    y ^= y << 15 & 0xEFC60000u;
    return y ^ y >> 18;
}

static size_t up_to(twister *t, size_t last)
{
    uint32_t mask = (uint32_t)last, x;

    for (int shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
    do x = twister_next(t) & mask;
    while (x > last);
    return x;
}

void lks__numpy_shuffle(uint32_t seed, size_t n, size_t *order)
{
    twister t;

    twister_seed(&t, seed);
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = up_to(&t, i - 1), x = order[i - 1];
        order[i - 1] = order[j];
        order[j] = x;
    }
}
