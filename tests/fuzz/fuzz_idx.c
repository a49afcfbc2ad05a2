/* fuzz_idx.c - any bytes as an IDX file, plain or gzip. */
#include <stddef.h>
#include <stdint.h>

#include "files/idx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lks_tensor *t = NULL;

    if (lks__idx_read_memory(data, size, &t) == LKS_OK) lks_tensor_release(t);
    return 0;
}
