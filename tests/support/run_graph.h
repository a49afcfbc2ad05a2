/* run_graph.h - for tests of what builds graph: a trace with its inputs, run once on the executor.
 *
 *     graph_run r;
 *     graph_run_init(&r, true);
 *     lks_node x = graph_feed(&r, 2, lks_shape(3), data);
 *     ...
 *     graph_run_go(&r, 1, &y, outputs);
 *     graph_run_free(&r);
 */
#ifndef LKS_TESTS_RUN_GRAPH_H
#define LKS_TESTS_RUN_GRAPH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/backend.h"

enum { GRAPH_RUN_IO = 16 };

typedef struct graph_run {
    lks_trace trace;
    int64_t n; /* examples */
    lks_feed feeds[GRAPH_RUN_IO];
    size_t n_feeds;
    int replicas;
    uint32_t step;
    float iterations;
} graph_run;

static inline void graph_run_init(graph_run *r, bool training)
{
    lks_type scalar = { .dtype = LKS_FLOAT32 };

    memset(r, 0, sizeof *r);
    r->n = 1;
    r->replicas = 1;
    assert_int_equal(lks__trace_init(&r->trace, training, 1), LKS_OK);
    r->trace.iterations = lks__graph_input(r->trace.graph, scalar);
    r->feeds[r->n_feeds++] = (lks_feed){ .data = &r->iterations };
}

/* n examples of the row, or with n = 0 one shared value. */
static inline lks_node graph_feed_as(graph_run *r, lks_dtype dtype, int64_t n, lks_shape row, const void *data)
{
    lks_type type = { .dtype = dtype, .batched = n > 0, .shape = row };

    if (n > 0) r->n = n;
    r->feeds[r->n_feeds++] = (lks_feed){ .data = data };
    return lks__graph_input(r->trace.graph, type);
}

static inline lks_node graph_feed(graph_run *r, int64_t n, lks_shape row, const float *data)
{
    return graph_feed_as(r, LKS_FLOAT32, n, row, data);
}

/* Runs the trace; out[i] gets all elements of fetch i. */
static inline lks_status graph_run_go(graph_run *r, size_t n_fetches, const lks_node *fetches, float *const *out)
{
    lks_compile_spec spec = {
        .max_batch = r->n, .threads = 1, .replicas = r->replicas, .n_fetches = n_fetches, .fetches = fetches
    };
    lks_run_args args = { .n = r->n, .feeds = r->feeds, .fetches = (void *const *)out, .seed = 7, .step = r->step };
    lks_executable *exe = NULL;
    lks_status status = lks__graph_status(r->trace.graph);

    spec.isa = lks__isa_choose();
    if (status == LKS_OK) status = lks__executable_create(&r->trace, &spec, &exe);
    if (status == LKS_OK) status = lks__executable_run(exe, &args);
    for (size_t i = 0; status == LKS_OK && i < n_fetches; i++) {
        const lks_type *type = lks__node_type(fetches[i]);
        if (!type->batched) memcpy(out[i], lks__executable_value(exe, i), lks__type_bytes(type));
    }
    lks__executable_release(exe);
    return status;
}

static inline void graph_run_free(graph_run *r)
{
    lks__trace_free(&r->trace);
}

/* One fetch of floats. */
static inline void graph_run_one(graph_run *r, lks_node node, float *out)
{
    assert_int_equal(graph_run_go(r, 1, &node, &out), LKS_OK);
}

static inline void assert_near(const float *got, const float *want, size_t n, float tolerance)
{
    for (size_t i = 0; i < n; i++) {
        float error = got[i] > want[i] ? got[i] - want[i] : want[i] - got[i];
        if (!(error <= tolerance)) fail_msg("[%zu]: %.9g, expected %.9g", i, (double)got[i], (double)want[i]);
    }
}

#endif
