/* shapes.c - see layer.h: the shape rules that layers share. */
#include <string.h>

#include "layer.h"

lks_status lks__expect_rank(const lks_type *in, int rank, int at_least, const char *shape)
{
    int64_t have = in->shape.rank + (in->batched ? 1 : 0);
    char text[LKS_TYPE_TEXT];

    if (rank >= 0 ? have == rank : have >= at_least) return LKS_OK;
    return lks__fail(LKS_E_SHAPE, "expected an input of shape %s, found %s", shape, lks__type_text(in, text));
}

static bool first(const char *data_format)
{
    return data_format != NULL && strcmp(data_format, "channels_first") == 0;
}

lks_node lks__channels_last(lks_node x, const char *data_format)
{
    static const int64_t axes[] = { 0, 2, 3, 1 };

    return first(data_format) ? lks_ops_transpose(x, 4, axes) : x;
}

lks_node lks__channels_first(lks_node x, const char *data_format)
{
    static const int64_t axes[] = { 0, 3, 1, 2 };

    return first(data_format) ? lks_ops_transpose(x, 4, axes) : x;
}

lks_status lks__window(bool same, int64_t n, int64_t kernel, int64_t stride, int64_t dilation, int64_t *out,
                       int64_t *before)
{
    int64_t effective, total;

    if (kernel > 1 && dilation > (INT64_MAX / 4) / kernel) return lks__fail(LKS_E_LIMIT, "the dilation is too large");
    effective = (kernel - 1) * dilation + 1;
    *before = 0;
    if (same) {
        *out = (n + stride - 1) / stride;
        total = (*out - 1) * stride + effective - n;
        *before = total > 0 ? total / 2 : 0;
        return LKS_OK;
    }
    if (effective > n) {
        return lks__fail(LKS_E_SHAPE,
                         "a window of %lld does not fit into an axis of %lld; nothing would be left (use padding "
                         "\"same\" or a smaller window)",
                         (long long)effective, (long long)n);
    }
    *out = (n - effective) / stride + 1;
    return LKS_OK;
}
