/* fuzz_records.c - any bytes as a TFRecord, CSV, text or fixed-length file, plain or compressed: every pass ends, with elements or
 * sentences. The first byte says which. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lockstep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static lks_dataset *source(unsigned kind, const char *const *file, const lks_files_options *o)
{
    static const lks_dtype types[] = { LKS_INT32, LKS_STRING, LKS_FLOAT64 };

    switch (kind % 4) {
    case 0: return lks_tfrecord_with(1, file, o);
    case 1: return lks_text_lines_with(1, file, o);
    case 2: return lks_fixed_length(1, file, 3, .header_bytes = 1, .footer_bytes = 2, .files = *o);
    default: return lks_csv(1, file, .n_columns = 3, .dtypes = types, .na_value = "NA", .files = *o);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const compression[] = { "", "GZIP", "ZLIB", "" };
    lks_files_options o = { .struct_size = sizeof o, .buffer_size = 64 };
    char path[64];
    const char *file[] = { path };
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status = LKS_OK;
    lks_dataset *ds;
    int fd;

    if (size == 0 || (fd = memfd_create("fuzz", 0)) < 0) return 0;
    if (write(fd, data + 1, size - 1) != (ssize_t)(size - 1)) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    o.compression_type = compression[data[0] / 4 % 4];
    ds = source(data[0], file, &o);
    if (lks_iter_create(ds, &it) != LKS_OK) abort();
    for (size_t i = 0; status != LKS_END; i++) {
        status = lks_iter_next(it, &e);
        if (status == LKS_OK) lks_element_release(e);
        if (i > 2000000) abort(); /* more results than any such file can hold */
    }
    lks_iter_release(it);
    lks_dataset_release(ds);
    close(fd);
    return 0;
}
