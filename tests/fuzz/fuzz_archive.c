/* fuzz_archive.c - any bytes as a .keras archive. Checksums in a ZIP would keep changed members from ever being parsed,
 * so the input is also taken apart: a first byte of 1 makes an archive around the rest as config.json. */
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "files/job.h"
#include "files/keras_archive.h"
#include "files/zip_archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_archive(const void *data, size_t size)
{
    lks_archive a = { 0 };

    if (lks__archive_read_memory(data, size, &a) == LKS_OK) lks__archive_free(&a);
}

static void wrap_config(const uint8_t *data, size_t size)
{
    const lks_zip_part config = { data, size };
    lks_zip_writer *w;
    void *bytes;
    size_t n;

    if (lks__zip_writer_memory(&w) != LKS_OK) return;
    if (lks__zip_add(w, "config.json", &config, 1) != LKS_OK) {
        lks__zip_drop(w);
        return;
    }
    if (lks__zip_finish_memory(w, &bytes, &n) != LKS_OK) return;
    read_archive(bytes, n);
    lks_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lks__file_job_here();
    if (size > 0 && data[0] == 1) wrap_config(data + 1, size - 1);
    else read_archive(data, size);
    return 0;
}
