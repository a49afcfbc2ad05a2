/* fuzz_example.c - any bytes as an Example or a SequenceExample, alone and as a batch of two: read or refused, and what a single
 * record gives a batch of it gives too. The first byte says which. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "data/element.h"
#include "lockstep.h"
#include "tensor/tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KINDS = 4 };

static struct {
    const lks_map_fn *fn;
    lks_spec *in;
    lks_buffers *inputs, *outputs;
} kind[KINDS];

static lks_features *features(void)
{
    static const float half[] = { 0.5f, 0.25f };
    lks_tensor *t = lks_tensor_from(LKS_FLOAT32, lks_shape(2), half);
    lks_features *f = lks_features_of(
        { .key = "a", .dtype = LKS_INT64, .kind = LKS_RAGGED_FEATURE },
        { .key = "b", .dtype = LKS_STRING, .kind = LKS_VAR_LEN_FEATURE },
        { .key = "c", .dtype = LKS_FLOAT32, .shape = { 1, { 2 } }, .default_value = t },
        { .key = "d", .dtype = LKS_FLOAT32, .kind = LKS_FIXED_LEN_SEQUENCE_FEATURE, .shape = { 1, { 2 } } },
        { .key = "sparse",
          .value_key = "b",
          .dtype = LKS_STRING,
          .kind = LKS_SPARSE_FEATURE,
          .shape = { 2, { 5, 100 } },
          .n_index_keys = 2,
          .index_keys = (const char *const[]){ "a", "e" } },
        { .key = "rows",
          .value_key = "a",
          .dtype = LKS_INT64,
          .kind = LKS_RAGGED_FEATURE,
          .n_partitions = 4,
          .partitions = (const lks_partition[]){ { LKS_ROW_SPLITS, "e", 0 },
                                                 { LKS_ROW_LENGTHS, "f", 0 },
                                                 { LKS_VALUE_ROWIDS, "g", 0 },
                                                 { LKS_UNIFORM_ROW_LENGTH, NULL, 2 } } },
        { .key = "starts",
          .value_key = "c",
          .dtype = LKS_FLOAT32,
          .kind = LKS_RAGGED_FEATURE,
          .n_partitions = 2,
          .partitions = (const lks_partition[]){ { LKS_ROW_STARTS, "e", 0 }, { LKS_ROW_LIMITS, "f", 0 } } });

    lks_tensor_release(t);
    return f;
}

static lks_features *lists(void)
{
    return lks_features_of({ .key = "a", .dtype = LKS_INT64, .kind = LKS_RAGGED_FEATURE },
                           { .key = "b", .dtype = LKS_STRING, .kind = LKS_VAR_LEN_FEATURE },
                           { .key = "d",
                             .dtype = LKS_FLOAT32,
                             .kind = LKS_FIXED_LEN_SEQUENCE_FEATURE,
                             .shape = { 1, { 2 } },
                             .allow_missing = LKS_TRUE },
                           { .key = "rows",
                             .value_key = "a",
                             .dtype = LKS_INT64,
                             .kind = LKS_RAGGED_FEATURE,
                             .n_partitions = 1,
                             .partitions = (const lks_partition[]){ { LKS_ROW_LENGTHS, "e", 0 } } });
}

static void begin(void)
{
    for (int k = 0; k < KINDS; k++) {
        const lks_map_context context = { .struct_size = sizeof context };
        lks_spec *out;
        kind[k].fn = k >= 2 ? lks_parse_sequence_example(features(), lists()) : lks_parse_example(features());
        kind[k].in = lks_spec_tensor(LKS_STRING, k % 2 == 1 ? lks_shape(2) : lks_shape_of(0, NULL));
        kind[k].inputs = lks__buffers_create(kind[k].in, 0);
        out = kind[k].fn->output_spec(&context, kind[k].in, kind[k].fn->user);
        if (out == NULL) abort();
        kind[k].outputs = lks__buffers_create(out, 0);
        lks_spec_release(out);
    }
}

static lks_status run(int k, const uint8_t *data, size_t size)
{
    const lks_map_context context = { .struct_size = sizeof context };
    lks_element *in = lks__buffers_element(kind[k].inputs), *out = lks__buffers_element(kind[k].outputs);
    lks_tensor *t = lks_element_output(in, 0);
    lks_status status;

    if (t == NULL) abort();
    for (int64_t i = 0; i < lks_tensor_size(t); i++)
        if (lks__tensor_set_bytes(t, i, data, size) != LKS_OK) abort();
    status = kind[k].fn->apply(&context, in, out, kind[k].fn->user);
    if (status == LKS_OK && lks__element_complete(out) != LKS_OK) abort();
    lks_element_release(out);
    lks_element_release(in);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int which;

    if (kind[0].fn == NULL) begin();
    if (size == 0) return 0;
    which = data[0] % 2 == 1 ? 2 : 0;
    if (run(which, data + 1, size - 1) != run(which + 1, data + 1, size - 1)) abort();
    return 0;
}
