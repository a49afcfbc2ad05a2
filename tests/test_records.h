/* test_records.h - what the tests of Examples and record files share: a folder of their own, three sample records. */
#ifndef TEST_RECORDS_H
#define TEST_RECORDS_H

#include "test_data.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/failing_alloc.h"
#include "support/folder.h"
#include "tensor/tensor.h"

static inline const char *path(const char *name)
{
    static char paths[8][128];
    static int turn;
    char *p = paths[turn++ % 8];

    snprintf(p, sizeof paths[0], "%s/%s", folder, name);
    return p;
}

static inline const char *write_file(const char *name, const void *data, size_t n)
{
    const char *p = path(name);
    FILE *f = fopen(p, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
    return p;
}

/* { label: [5 + i], name: ["cat"], x: i + 1 floats, words: i strings } */
static inline lks_example *sample(int64_t i)
{
    static const lks_bytes words[] = { { "a", 1 }, { "bb", 2 }, { "", 0 } };
    const float x[] = { 1.5f, -2.0f, 0.25f, 8.0f };
    const int64_t label = 5 + i;
    lks_example *e = lks_example_create();

    assert_status(lks_example_set_float(e, "x", (size_t)i + 1, x), LKS_OK);
    assert_status(lks_example_set_int64(e, "label", 1, &label), LKS_OK);
    assert_status(lks_example_set_bytes(e, "name", 1, &(lks_bytes){ "cat", 3 }), LKS_OK);
    if (i != 1) assert_status(lks_example_set_bytes(e, "words", (size_t)i, words), LKS_OK);
    return e;
}

enum { RECORDS = 3 };

static inline const char *write_samples(const char *name, const char *compression, int64_t shards)
{
    const char *p = path(name);
    lks_record_writer *w = NULL;

    assert_status(lks_record_writer_open(&w, p, .compression_type = compression, .num_shards = shards), LKS_OK);
    for (int64_t i = 0; i < RECORDS; i++) {
        lks_example *e = sample(i);
        assert_status(lks_record_writer_write_example(w, e), LKS_OK);
        lks_example_release(e);
    }
    assert_int_equal(access(p, F_OK), -1); /* nothing is there before it is whole */
    assert_status(lks_record_writer_close(w), LKS_OK);
    return p;
}

/* Lets `see` look at each element. */
static inline int64_t each(lks_dataset *ds, void (*see)(lks_element *e, int64_t i))
{
    lks_iter *it = NULL;
    lks_element *e;
    int64_t n = 0;
    lks_status status;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    while ((status = lks_iter_next(it, &e)) == LKS_OK) {
        see(e, n++);
        lks_element_release(e);
    }
    assert_status(status, LKS_END);
    lks_iter_release(it);
    lks_dataset_release(ds);
    return n;
}

#endif
