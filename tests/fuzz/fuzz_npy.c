/* fuzz_npy.c - any bytes as an npy file; what loads is written and read again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static lks_tensor *load(const void *data, size_t size)
{
    lks_reader *r;
    lks_tensor *t = NULL;

    if (lks__reader_memory(data, size, &r) != LKS_OK) return NULL;
    lks__npy_read(r, &t);
    lks__reader_close(r);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lks_tensor *t = load(data, size), *again;
    lks_text text = { 0 };
    size_t bytes;

    if (t == NULL) return 0;
    bytes = (size_t)lks_tensor_size(t) * lks_dtype_size(lks_tensor_dtype(t));
    if (lks__npy_header(t, &text) != LKS_OK) abort();
    lks__text_append(&text, lks_tensor_cdata(t), bytes);
    again = load(text.data, text.length);
    if (again == NULL || memcmp(lks_tensor_cdata(t), lks_tensor_cdata(again), bytes) != 0) abort();
    lks__text_free(&text);
    lks_tensor_release(again);
    lks_tensor_release(t);
    return 0;
}
