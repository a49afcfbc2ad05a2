/* classes.c - all layer classes. A new layer is a file with its class and a line in class_list.h. */
#include "layer.h"

const lks_layer_class *const lks__layer_classes[] = {
#define LKS_LAYER(word) &lks__##word##_class,
#include "class_list.h"
#undef LKS_LAYER
    NULL,
};
