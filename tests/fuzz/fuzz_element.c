/* fuzz_element.c - any bytes as a written element or as a saved iterator; what is understood is written and must come back equal. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/codec.h"
#include "data/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* (float (2, ?), string vector, ragged int64) */
static lks_spec *make_spec(void)
{
    lks_spec *s[3] = { lks_spec_tensor(LKS_FLOAT32, lks_shape(2, -1)), lks_spec_tensor(LKS_STRING, lks_shape(-1)),
                       lks_spec_ragged(LKS_INT64, lks_shape(-1, -1), 1) };

    return lks_spec_tuple(3, s);
}

static void element(const uint8_t *data, size_t size)
{
    lks_spec *spec = make_spec();
    lks_buffers *b = lks__buffers_create(spec, 0);
    lks_element *e = lks__buffers_element(b);
    lks_text again = { 0 };

    if (lks__element_decode(data, size, e) == LKS_OK) {
        lks__element_encode(&again, e);
        if (again.length != size || memcmp(again.data, data, size) != 0) abort();
    }
    lks__text_free(&again);
    lks_element_release(e);
    lks__buffers_release(b);
    lks_spec_release(spec);
}

static void saved_iterator(const uint8_t *data, size_t size)
{
    lks_state s;
    void *bytes = NULL;
    size_t n = 0;

    if (lks__state_read(data, size, &s) == LKS_OK && lks__state_write(&s, &bytes, &n) == LKS_OK && n != size) abort();
    lks_free(bytes);
    lks__counters_free(&s.counters);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    if (data[0] % 2) element(data + 1, size - 1);
    else saved_iterator(data + 1, size - 1);
    return 0;
}
