/* test_kernels.h - what the tests of kernels share: arrays that end (or begin) at a page that may not be touched, numbers,
 * and a problem in words.
 */
#ifndef LKS_TESTS_TEST_KERNELS_H
#define LKS_TESTS_TEST_KERNELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "kernels/kernels.h"

#if LKS_TEST_WIDTHS
extern const lks_kernel_set lks__kernels_pair, lks__kernels_quad;
#endif

/* ---- arrays between forbidden pages ---- */

typedef struct guarded {
    char *map;
    size_t bytes;
    float *data;
} guarded;

static inline guarded guarded_new(size_t bytes, bool at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (bytes + page - 1) / page * page;
    guarded g = { .bytes = body + 2 * page };

    g.map = mmap(NULL, g.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED);
    mprotect(g.map, page, PROT_NONE);
    mprotect(g.map + page + body, page, PROT_NONE);
    g.data = (float *)(void *)(g.map + page + (at_end ? body - bytes : 0));
    return g;
}

static inline void guarded_free(guarded *g)
{
    munmap(g->map, g->bytes);
}

/* ---- one call ---- */

static uint32_t state;

static inline uint32_t draw(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

static inline void fill(void *data, const lks_type *type, int64_t count)
{
    float *x = data;
    int32_t *i32 = data;

    for (int64_t i = 0; i < count; i++) {
        int32_t v = (int32_t)draw(20001) - 10000;
        if (type->dtype == LKS_FLOAT32) x[i] = (float)v / 7919.0f;
        else if (type->dtype == LKS_INT32) i32[i] = v;
        else ((uint8_t *)data)[i] = (uint8_t)(type->dtype == LKS_BOOL ? v & 1 : v);
    }
}

static inline int64_t count_of(const lks_type *type, int64_t n)
{
    return lks__type_size(type) * (type->batched ? n : 1);
}

static inline size_t bytes_of(const lks_type *type, int64_t n)
{
    return lks__type_bytes(type) * (size_t)(type->batched ? n : 1);
}

typedef struct problem {
    const lks_op *op;
    const void *attrs;
    int n_in;
    lks_type in[4];
    int64_t n;
} problem;

static inline void print_problem(const problem *p, const char *kernel, const lks_type *out)
{
    char text[LKS_TYPE_TEXT];

    print_message("%s, %lld examples:", kernel, (long long)p->n);
    for (int i = 0; i < p->n_in; i++) print_message(" %s", lks__type_text(&p->in[i], text));
    print_message(" -> %s\n", lks__type_text(out, text));
    if (p->op == &lks__op_conv2d || p->op == &lks__op_conv2d_input || p->op == &lks__op_conv2d_filter) {
        const lks_conv_attrs *a = p->attrs;
        print_message("  stride %d %d, dilation %d %d, before %d %d, groups %d, in %d %d\n", (int)a->stride[0],
                      (int)a->stride[1], (int)a->dilation[0], (int)a->dilation[1], (int)a->before[0], (int)a->before[1],
                      (int)a->groups, (int)a->in[0], (int)a->in[1]);
    }
}

/* A kernel's own run, or its parts one after the other (kernels.h, lks_parts). */
typedef struct way {
    const lks_kernel *kernel;
    int parts; /* 0: run */
    const void *packed;
} way;

static inline void run_way(const way *w, const lks_op_call *call)
{
    if (w->parts == 0) w->kernel->run(call);
    for (int i = w->parts - 1; i >= 0; i--) w->kernel->parts->run(call, &(lks_part){ w->packed, i, w->parts });
}

/* The same with the ops that a kernel does behind its own (lks_after), against these one after the other. which: 1 bias, 2 relu,
 * 4 mask (of kernels that take no more, and parts, none unless they are packed in each step), 8 mean and factor, 16 a cap, 32 an array. */
static inline void compare_after(const way *w, const problem *p, lks_op_call *call, const float *plain, bool at_end)
{
    const lks_kernel *k = w->kernel;
    const lks_type *out = call->out_type;
    const int64_t size = count_of(out, p->n), channels = out->shape.dim[out->shape.rank - 1];
    guarded bias = guarded_new((size_t)channels * sizeof(float), at_end),
            mean = guarded_new((size_t)channels * sizeof(float), at_end),
            factor = guarded_new((size_t)channels * sizeof(float), at_end),
            mask = guarded_new(bytes_of(out, p->n), at_end), add = guarded_new(bytes_of(out, p->n), at_end);
    const lks_conv_attrs *conv = call->attrs;
    const bool all = k->after == LKS_AFTER_ALL &&
                     (call->in_type[1]->shape.dim[3] / conv->groups >= 4 || call->in_type[1]->shape.dim[2] < 8);
    const lks_type floats = { .dtype = LKS_FLOAT32 };
    const int several = all ? 64 : 8;

    fill(bias.data, &floats, channels);
    fill(mask.data, &floats, size);
    fill(mean.data, &floats, channels);
    fill(factor.data, &floats, channels);
    fill(add.data, &floats, size);
    for (int which = 1; which < several + 4; which++) { /* the last four: the mask lies where the results go */
        const bool alias = which >= several;
        const int parts = alias ? which & 3 : which;
        const float *got = call->out, *masks = parts & 4 ? mask.data : NULL;
        const lks_after after = { .mean = parts & 8 ? mean.data : NULL,
                                  .factor = parts & 8 ? factor.data : NULL,
                                  .bias = parts & 1 ? bias.data : NULL,
                                  .add = parts & 32 ? add.data : NULL,
                                  .relu = parts & 2,
                                  .cap = parts & 2 && parts & 16 ? 0.5f : 0.0f,
                                  .mask = alias ? got : masks };

        if (w->parts > 0 && after.mask != NULL && !k->parts->each_step) continue;
        call->after = &after;
        if (alias) memcpy(call->out, mask.data, bytes_of(out, p->n));
        run_way(w, call);
        for (int64_t i = 0; i < size; i++) {
            float v = plain[i];

            if (after.mean != NULL) v = (v - mean.data[i % channels]) * factor.data[i % channels];
            if (after.bias != NULL) v += bias.data[i % channels];
            if (after.add != NULL) v += add.data[i];
            if (after.cap > 0 && v >= after.cap) v = after.cap;
            else if (after.relu) v = 0.0f > v ? 0.0f : v;
            if (after.mask != NULL) v = mask.data[i] > 0.0f ? v : 0.0f;
            if (memcmp(&v, &got[i], sizeof v) != 0) print_problem(p, k->name, out);
            assert_memory_equal(&v, &got[i], sizeof v);
        }
    }
    call->after = NULL;
    guarded_free(&bias);
    guarded_free(&mean);
    guarded_free(&factor);
    guarded_free(&mask);
    guarded_free(&add);
}

#endif
