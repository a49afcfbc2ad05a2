/* small_data.h - small arrays to train on, the same in every run. */
#ifndef LKS_TESTS_SMALL_DATA_H
#define LKS_TESTS_SMALL_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "lockstep.h"

/* float32 [rows, side, side, 1] of noise in [0, 1) and float32 one-hot [rows, classes]; false without memory. */
static inline bool small_pictures(uint32_t noise, int rows, int side, int classes, lks_tensor **x, lks_tensor **y)
{
    *x = lks_tensor_create(LKS_FLOAT32, lks_shape(rows, side, side, 1));
    *y = lks_tensor_create(LKS_FLOAT32, lks_shape(rows, classes));
    if (*x == NULL || *y == NULL) return false;
    for (int i = 0; i < rows * side * side; i++) {
        noise = noise * 1664525u + 1013904223u;
        ((float *)lks_tensor_data(*x))[i] = (float)(noise >> 8) * 0x1p-24f;
    }
    for (int i = 0; i < rows; i++) ((float *)lks_tensor_data(*y))[i * classes + i % classes] = 1.0f;
    return true;
}

/* float32 of `shape`, element i = (7 i mod m) / 10 + low, and int32 class numbers for its first axis. */
static inline bool small_pattern(lks_shape shape, int m, float low, int classes, lks_tensor **x, lks_tensor **y)
{
    *x = lks_tensor_create(LKS_FLOAT32, shape);
    *y = lks_tensor_create(LKS_INT32, lks_shape(shape.dim[0]));
    if (*x == NULL || *y == NULL) return false;
    for (int i = 0; i < lks_tensor_size(*x); i++) ((float *)lks_tensor_data(*x))[i] = (float)(i * 7 % m) * 0.1f + low;
    for (int i = 0; i < shape.dim[0]; i++) ((int32_t *)lks_tensor_data(*y))[i] = i % classes;
    return true;
}

#endif
