/* fuzz_png.c - any bytes as a PNG. */
#include <stddef.h>
#include <stdint.h>

#include "files/png.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lks_tensor *t = NULL;

    if (lks__png_decode(data, size, 0, &t) == LKS_OK) lks_tensor_release(t);
    return 0;
}
