/* move.c - one walk for all copies between strided layouts. The inner loop is a memcpy, a fill, or a strided copy. */
#include "move.h"

#include <string.h>

#include "tensor/tensor.h"

void lks__strides(const lks_shape *shape, int64_t stride[LKS_MAX_RANK])
{
    int64_t step = 1;

    for (int64_t i = shape->rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= shape->dim[i];
    }
}

/* Axes of size 1 say nothing; an axis that continues its neighbour on both sides is the same axis. */
void lks__move_axis(lks_move *m, int64_t dim, int64_t from, int64_t to)
{
    int k = m->axes - 1;

    if (dim == 1) return;
    if (k >= 0 && m->from[k] == from * dim && m->to[k] == to * dim) {
        m->dim[k] *= dim;
        m->from[k] = from;
        m->to[k] = to;
        return;
    }
    m->dim[++k] = dim;
    m->from[k] = from;
    m->to[k] = to;
    m->axes = k + 1;
}

static void copy_4(int64_t n, const uint32_t *restrict from, int64_t f, uint32_t *restrict to, int64_t t)
{
    if (f == 0 && t == 1)
        for (int64_t i = 0; i < n; i++) to[i] = *from;
    else if (t == 1)
        for (int64_t i = 0; i < n; i++) to[i] = from[i * f];
    else if (f == 1)
        for (int64_t i = 0; i < n; i++) to[i * t] = from[i];
    else
        for (int64_t i = 0; i < n; i++) to[i * t] = from[i * f];
}

static void copy_run(size_t size, int64_t n, const char *from, int64_t f, char *to, int64_t t)
{
    if (f == 1 && t == 1) memcpy(to, from, (size_t)n * size);
    else if (size == 4) copy_4(n, (const uint32_t *)(const void *)from, f, (uint32_t *)(void *)to, t);
    else
        for (int64_t i = 0; i < n; i++) memcpy(to + i * t * (int64_t)size, from + i * f * (int64_t)size, size);
}

void lks__move_run(const lks_move *m, size_t element_size, const void *from, void *to)
{
    int64_t at[LKS_MAX_RANK + 1] = { 0 }, runs = 1, size = (int64_t)element_size;
    int last = m->axes - 1;
    const char *f = from;
    char *t = to;

    if (last < 0) {
        memcpy(to, from, element_size);
        return;
    }
    if (m->dim[last] == 0) return;
    for (int i = 0; i < last; i++) runs *= m->dim[i];
    for (; runs > 0; runs--) {
        copy_run(element_size, m->dim[last], f, m->from[last], t, m->to[last]);
        for (int i = last - 1; i >= 0; i--) {
            f += m->from[i] * size;
            t += m->to[i] * size;
            if (++at[i] < m->dim[i]) break;
            f -= m->from[i] * m->dim[i] * size;
            t -= m->to[i] * m->dim[i] * size;
            at[i] = 0;
        }
    }
}

void lks__move_fill(lks_dtype dtype, double value, void *to, int64_t n)
{
    size_t size = lks_dtype_size(dtype);
    uint64_t element = 0;

    lks__convert(LKS_FLOAT64, &value, dtype, &element, 1);
    if (element == 0) {
        memset(to, 0, (size_t)n * size);
        return;
    }
    if (size == 4)
        for (int64_t i = 0; i < n; i++) memcpy((uint32_t *)to + i, &element, 4);
    else
        for (int64_t i = 0; i < n; i++) memcpy((char *)to + i * (int64_t)size, &element, size);
}
