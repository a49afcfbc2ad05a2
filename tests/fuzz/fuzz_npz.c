/* fuzz_npz.c - any bytes as an npz archive: every array is read. */
#include <stddef.h>
#include <stdint.h>

#include "files/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lks_npz *npz;

    if (lks__npz_open_memory(data, size, &npz) != LKS_OK) return 0;
    for (size_t i = 0; i < lks__npz_count(npz) && i < 20; i++) {
        lks_tensor *t = NULL;
        if (lks__npz_read(npz, lks__npz_name(npz, i), &t) == LKS_OK) lks_tensor_release(t);
    }
    lks__npz_close(npz);
    return 0;
}
