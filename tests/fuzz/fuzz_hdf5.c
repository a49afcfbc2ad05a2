/* fuzz_hdf5.c - any bytes as an HDF5 file whose dataset is read row by row, in whole and from the middle: refused, or read to an end. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/h5_columns.h"
#include "files/job.h"
#include "lockstep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_columns(const char *path, const char *name)
{
    lks_h5_columns *c = NULL;
    lks_tensor *t = NULL;
    int64_t rows;

    if (lks__h5_columns_open(path, 1, &name, &c) != LKS_OK) {
        if (*lks_last_error() == '\0') abort();
        return;
    }
    rows = lks__h5_columns_shape(c, 0).dim[0];
    for (int64_t first = 0; first < rows && first < 3; first += 2) {
        int64_t n = rows - first < 100 ? rows - first : 100;
        if (lks__h5_columns_row_bytes(c) > (1 << 20) || lks__h5_columns_read(c, first, n, &t) != LKS_OK) continue;
        if (lks_tensor_shape(t).dim[0] != n) abort();
        lks_tensor_release(t);
    }
    lks__h5_columns_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("fuzz", 0);

    lks__file_job_here();
    if (fd < 0) return 0;
    if (write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_columns(path, "x");
    read_columns(path, "layers/x");
    close(fd);
    return 0;
}
