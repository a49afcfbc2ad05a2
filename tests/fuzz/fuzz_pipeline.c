/* fuzz_pipeline.c - any bytes as a saved iterator over a real pipeline (its checksum made right, so that the rest is looked at), as a
 * file of saved elements or a snapshot, or as a pipeline in JSON: refused with a sentence, or read to an end. The first byte says
 * which. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/state.h"
#include "files/crc32c.h"
#include "lockstep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_some(lks_iter *it, int n)
{
    lks_element *e;

    while (n-- > 0) {
        lks_status status = lks_iter_next(it, &e);
        if (status == LKS_OK) lks_element_release(e);
        else if (status == LKS_END) break;
        else if (*lks_last_error() == '\0') abort();
    }
}

static lks_dataset *pipeline(void)
{
    lks_dataset *ds = lks_shuffle(lks_shuffle_indexed(lks_range(0, 50, 1)), 7, .seed = 3);

    return lks_repeat(lks_batch(lks_cache(ds), 4), 2);
}

/* The numbers come from the input, fingerprint and checksum are right. Positions far behind the end are cut down: replay is linear. */
static void saved_iterator(const uint8_t *data, size_t size)
{
    unsigned char bytes[1024] = { 'L', 'K', 'S', 'I', 'T', 'E', 'R', '1' };
    lks_dataset *ds = pipeline();
    uint64_t print = lks__recipe_fingerprint(ds);
    lks_iter *it = NULL;
    uint32_t crc;

    if (size > sizeof bytes - 20) size = sizeof bytes - 20;
    for (int i = 0; i < 8; i++) bytes[8 + i] = (unsigned char)(print >> 8 * i);
    memcpy(bytes + 16, data, size);
    memset(bytes + 18, 0, 6);
    crc = lks__crc32c(0, bytes, 16 + size);
    for (int i = 0; i < 4; i++) bytes[16 + size + (size_t)i] = (unsigned char)(crc >> 8 * i);
    if (lks_iter_restore(ds, bytes, 20 + size, &it) == LKS_OK) read_some(it, 100);
    else if (*lks_last_error() == '\0') abort();
    lks_iter_release(it);
    lks_dataset_release(ds);
}

static void saved_elements(const uint8_t *data, size_t size)
{
    char path[64];
    lks_iter *it = NULL;
    lks_dataset *ds;
    int fd = memfd_create("fuzz", 0);

    if (fd < 0) return;
    if (write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ds = lks_dataset_load(
        path, lks_spec_tuple_of(lks_spec_tensor(LKS_INT64, lks_shape(-1)), lks_spec_tensor(LKS_STRING, lks_shape(-1))));
    if (lks_iter_create(ds, &it) == LKS_OK) read_some(it, 100);
    lks_iter_release(it);
    lks_dataset_release(ds);
    close(fd);
}

/* Built, opened and let go; nothing that touches files. */
static void json(const uint8_t *data, size_t size)
{
    char text[4096];
    lks_iter *it = NULL;
    lks_dataset *ds;

    if (size >= sizeof text) size = sizeof text - 1;
    memcpy(text, data, size);
    text[size] = '\0';
    if (strstr(text, "mnist") != NULL || strstr(text, "file") != NULL || strstr(text, "snapshot") != NULL ||
        strstr(text, "path") != NULL || strstr(text, "pattern") != NULL || strstr(text, "directory") != NULL)
        return;
    ds = lks_dataset_from_json(text);
    if (lks_dataset_status(ds) != LKS_OK && *lks_last_error() == '\0') abort();
    if (lks_iter_create(ds, &it) != LKS_OK) it = NULL;
    lks_iter_release(it);
    lks_dataset_release(ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    switch (data[0] % 3) {
    case 0: saved_iterator(data + 1, size - 1); break;
    case 1: saved_elements(data + 1, size - 1); break;
    default: json(data + 1, size - 1); break;
    }
    return 0;
}
