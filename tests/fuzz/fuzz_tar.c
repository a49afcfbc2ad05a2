/* fuzz_tar.c - any bytes as a WebDataset shard, plain or gzip: every pass ends, with samples or sentences, and skipping goes
 * through as many headers. The first byte says which. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lockstep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Headers need right checksums to be looked into: every block that could be one gets its own. */
static void mend(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 512 <= size; at += 512) {
        unsigned sum = 0;
        if (data[at + 257] != 'u') continue;
        for (int i = 0; i < 512; i++) sum += i >= 148 && i < 156 ? ' ' : data[at + (size_t)i];
        snprintf((char *)data + at + 148, 8, "%06o", sum & 0777777);
    }
}

static void pass(lks_dataset *ds)
{
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status = LKS_OK;

    if (lks_iter_create(ds, &it) != LKS_OK) abort();
    for (size_t i = 0; status != LKS_END; i++) {
        status = lks_iter_next(it, &e);
        if (status == LKS_OK) lks_element_release(e);
        if (i > 100000) abort();
    }
    lks_iter_release(it);
    lks_dataset_release(ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const lks_webdataset_field fields[] = { { .extensions = "cls", .dtype = LKS_INT64, .optional = LKS_TRUE },
                                                   { .extensions = "jpg;png" } };
    static uint8_t copy[1 << 16];
    lks_webdataset_options o = { .struct_size = sizeof o, .n_fields = 2, .fields = fields };
    char path[64];
    const char *file[] = { path };
    int fd;

    if (size < 2 || size > sizeof copy || (fd = memfd_create("fuzz", 0)) < 0) return 0;
    for (size_t i = 1; i < size; i++) copy[i - 1] = data[i];
    if (data[0] & 1) mend(copy, size - 1);
    if (write(fd, copy, size - 1) != (ssize_t)(size - 1)) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    o.files.struct_size = sizeof o.files;
    o.files.buffer_size = 64;
    if (data[0] & 2) o.files.compression_type = "GZIP";
    pass(lks_webdataset_with(1, file, &o));
    pass(lks_skip(lks_webdataset_with(1, file, &o), 2));
    close(fd);
    return 0;
}
