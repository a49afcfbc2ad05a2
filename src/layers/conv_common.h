/* conv_common.h - internal. What the convolution layers share. */
#ifndef LKS_LAYERS_CONV_COMMON_H
#define LKS_LAYERS_CONV_COMMON_H

#include "layer.h"

extern const char *const lks__paddings[];     /* "valid", "same" */
extern const char *const lks__data_formats[]; /* "channels_last", "channels_first" */

/* Rank, dtype and, once built, the number of channels. */
lks_status lks__conv_accept(const lks_layer *layer, const lks_type *in, const char *data_format);
int64_t lks__channels(const lks_type *in, const char *data_format);
lks_status lks__layer_conv_check(const int64_t strides[2], const int64_t dilation[2], bool both_allowed);
/* Sizes and padding of a forward convolution of the channels-last node x. */
lks_status lks__conv_geometry(lks_node x, const char *padding, lks_conv_attrs *a);
/* Adds the bias (weight 1, if any), applies the activation and goes back to the layer's data format. */
lks_node lks__conv_finish(lks_layer *layer, lks_trace *trace, lks_node y, bool biased, const char *activation,
                          const char *activity_regularizer, const char *data_format);

#endif
