/* fuzz_tfds.c - any text as dataset_info.json, and behind a zero byte as features.json, of a TFDS folder: refused with a sentence, or
 * a dataset (whose shards are not there). */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/job.h"
#include "lockstep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void put(const char *name, const uint8_t *data, size_t size)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    close(fd);
}

static void leave(void)
{
    char path[128];

    snprintf(path, sizeof path, "%s/dataset_info.json", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/features.json", folder);
    unlink(path);
    rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const split[] = { "train", "train[10%:-1]", "train[:1]+test" };
    const uint8_t *zero = size == 0 ? NULL : memchr(data, 0, size);
    size_t n = zero == NULL ? size : (size_t)(zero - data);

    lks__file_job_here();
    if (folder[0] == '\0') {
        strcpy(folder, "/dev/shm/fuzz-tfds-XXXXXX");
        if (mkdtemp(folder) == NULL) abort();
        atexit(leave);
    }
    put("dataset_info.json", data, n);
    put("features.json", zero == NULL ? data : zero + 1, zero == NULL ? 0 : size - n - 1);
    for (int k = 0; k < 3; k++) {
        lks_dataset *ds = lks_tfds(folder, split[k], .as_supervised = k == 2 ? LKS_TRUE : LKS_FALSE);
        lks_iter *it = NULL;
        lks_element *e;
        if (lks_dataset_status(ds) != LKS_OK && *lks_last_error() == '\0') abort();
        if (lks_iter_create(ds, &it) == LKS_OK && lks_iter_next(it, &e) == LKS_OK) abort(); /* there are no shards */
        lks_iter_release(it);
        lks_dataset_release(ds);
    }
    return 0;
}
