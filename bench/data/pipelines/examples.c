/* examples.c - the TFRecord files of bench/data: what is in them, and writing them. */
#include "examples.h"

#include <stdio.h>
#include <string.h>

static uint32_t draw(void)
{
    static uint32_t x = 1;

    x = x * 1664525u + 1013904223u;
    return x >> 8;
}

/* Ten float and three int64 scalars, one string. */
static void fill_table(lks_example *e)
{
    char key[16], text[24];

    for (int i = 0; i < 10; i++) {
        const float v = (float)draw() / 65536.0f;
        snprintf(key, sizeof key, "float_%d", i);
        lks_example_set_float(e, key, 1, &v);
    }
    for (int i = 0; i < 3; i++) {
        const int64_t v = draw() % 1000;
        snprintf(key, sizeof key, "int_%d", i);
        lks_example_set_int64(e, key, 1, &v);
    }
    snprintf(text, sizeof text, "name %u", (unsigned)draw());
    lks_example_set_bytes(e, "text", 1, &(lks_bytes){ text, strlen(text) });
}

/* Some 12 KB of bytes and a label. */
static void fill_image(lks_example *e)
{
    static char bytes[16384];
    const int64_t label = draw() % 1000;
    const size_t n = 8192 + draw() % 8192;

    for (size_t i = 0; i < n; i++) bytes[i] = (char)draw();
    lks_example_set_int64(e, "label", 1, &label);
    lks_example_set_bytes(e, "image", 1, &(lks_bytes){ bytes, n });
}

/* 784 floats, a label and a list of up to 40 integers. */
static void fill_floats(lks_example *e)
{
    float x[784];
    int64_t label = draw() % 10, list[40];
    const size_t n = draw() % 41;

    for (int i = 0; i < 784; i++) x[i] = (float)draw() / 65536.0f;
    for (size_t i = 0; i < n; i++) list[i] = draw();
    lks_example_set_float(e, "x", 784, x);
    lks_example_set_int64(e, "label", 1, &label);
    lks_example_set_int64(e, "list", n, list);
}

static int write_one(const char *folder, const char *name, int n, void (*fill)(lks_example *e))
{
    char path[512];
    lks_record_writer *w = NULL;
    lks_example *e = lks_example_create();
    lks_status status;

    snprintf(path, sizeof path, "%s/%s.tfrecord", folder, name);
    status = lks_record_writer_open(&w, path);
    for (int i = 0; i < n && status == LKS_OK; i++) {
        lks_example_clear(e);
        fill(e);
        status = lks_record_writer_write_example(w, e);
    }
    if (status == LKS_OK) status = lks_record_writer_close(w);
    else lks_record_writer_drop(w);
    lks_example_release(e);
    if (status != LKS_OK) fprintf(stderr, "%s\n", lks_last_error());
    return status != LKS_OK;
}

lks_features *features_of(const char *file)
{
    static char keys[14][16];
    lks_feature f[14] = { { .key = NULL } };

    if (strstr(file, "image") != NULL)
        return lks_features_of({ .key = "image", .dtype = LKS_STRING }, { .key = "label", .dtype = LKS_INT64 });
    if (strstr(file, "floats") != NULL)
        return lks_features_of({ .key = "x", .dtype = LKS_FLOAT32, .shape = { .rank = 1, .dim = { 784 } } },
                               { .key = "label", .dtype = LKS_INT64 });
    for (int i = 0; i < 14; i++) {
        snprintf(keys[i], sizeof keys[i], i < 10 ? "float_%d" : "int_%d", i < 10 ? i : i - 10);
        f[i].key = i < 13 ? keys[i] : "text";
        f[i].dtype = i < 10 ? LKS_FLOAT32 : i < 13 ? LKS_INT64 : LKS_STRING;
    }
    return lks_features_create(14, sizeof *f, f);
}

int write_examples(const char *folder)
{
    return write_one(folder, "table", 50000, fill_table) | write_one(folder, "image", 10000, fill_image) |
           write_one(folder, "floats", 20000, fill_floats);
}
