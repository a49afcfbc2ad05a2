/* test_sources.h - small files of every kind that has a source. */
#ifndef TEST_SOURCES_H
#define TEST_SOURCES_H

#include "test_records.h"

#include <sys/stat.h>

#include "files/h5.h"
#include "lockstep/files.h"

/* The string in component i. */
static inline const char *text_of(lks_element *e, size_t i)
{
    static char text[4][256];
    static int turn;
    const lks_bytes *b = lks_tensor_cdata(lks_element_tensor(e, i));
    char *to = text[turn++ % 4];

    snprintf(to, sizeof text[0], "%.*s", (int)b->size, b->data);
    return to;
}

static inline int64_t int_of(lks_element *e, size_t i)
{
    return *(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, i));
}

static inline void write_h5(hid_t file, const char *name, hid_t type, int rank, const hsize_t *dims, const void *data)
{
    hid_t space = H5Screate_simple(rank, dims, NULL);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    assert_true(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

/* ---- tar ---- */

typedef struct archive {
    unsigned char bytes[65536];
    size_t n;
} archive;

static inline void seal(unsigned char *header)
{
    unsigned sum = 0;

    memset(header + 148, ' ', 8);
    for (int i = 0; i < 512; i++) sum += header[i];
    snprintf((char *)header + 148, 8, "%06o", sum);
}

static inline void add_member(archive *a, const char *name, char type, const char *data, size_t n)
{
    unsigned char *h = a->bytes + a->n;

    memset(h, 0, 512 + (n + 511) / 512 * 512);
    snprintf((char *)h, 100, "%s", name);
    snprintf((char *)h + 124, 12, "%011zo", n);
    h[156] = (unsigned char)type;
    memcpy(h + 257, "ustar\00000", 8);
    seal(h);
    memcpy(h + 512, data, n);
    a->n += 512 + (n + 511) / 512 * 512;
}

static inline void add_text(archive *a, const char *name, const char *text)
{
    add_member(a, name, '0', text, strlen(text));
}

static inline const char *write_archive(archive *a, const char *name)
{
    memset(a->bytes + a->n, 0, 1024);
    return write_file(name, a->bytes, a->n + 1024);
}

/* ---- TFDS ---- */

static const char info_json[] =
    "{\"name\": \"tiny\", \"version\": \"1.10.0\", \"fileFormat\": \"tfrecord\","
    " \"supervisedKeys\": {\"tuple\": {\"items\": [{\"featureKey\": \"image\"}, {\"featureKey\": \"label\"}]}},"
    " \"splits\": [{\"name\": \"train\", \"shardLengths\": [\"2\", \"1\"], \"numBytes\": \"1\","
    " \"filepathTemplate\": \"{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}\"}]}";
static const char features_json[] =
    "{\"pythonClassName\": \"FeaturesDict\", \"featuresDict\": {\"features\": {"
    "\"image\": {\"image\": {\"shape\": {\"dimensions\": [\"2\", \"2\", \"3\"]}, \"dtype\": \"uint8\", \"encodingFormat\": "
    "\"png\"}},"
    "\"label\": {\"classLabel\": {\"numClasses\": \"10\"}},"
    "\"flag\": {\"tensor\": {\"shape\": {}, \"dtype\": \"bool\", \"encoding\": \"none\"}},"
    "\"raw\": {\"tensor\": {\"shape\": {\"dimensions\": [\"2\"]}, \"dtype\": \"float32\", \"encoding\": \"bytes\"}},"
    "\"words\": {\"sequence\": {\"feature\": {\"text\": {}}, \"length\": \"-1\"}},"
    "\"box\": {\"featuresDict\": {\"features\": {\"size\": {\"tensor\": {\"shape\": {\"dimensions\": [\"2\"]}, \"dtype\": "
    "\"int32\"}}, \"at\": {\"boundingBox\": {}}}}}}}}";

static inline lks_bytes small_png(void)
{
    static char bytes[4096];
    static const uint8_t pixels[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    lks_tensor *t = lks_tensor_from(LKS_UINT8, lks_shape(2, 2, 3), pixels);
    const char *file = path("small.png");
    size_t n;
    FILE *f;

    assert_status(lks_write_png(file, t), LKS_OK);
    lks_tensor_release(t);
    f = fopen(file, "rb");
    n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    return (lks_bytes){ bytes, n };
}

/* tiny/1.9.0 (empty) and tiny/1.10.0 */
static inline void write_tfds(void)
{
    const float at[] = { 0, 0.25f, 0.5f, 1 }, raw[] = { 1.5f, -1 };
    const int64_t size[] = { 3, 4 };
    const lks_bytes words[] = { { "a", 1 }, { "b", 1 } }, raw_bytes = { (const char *)raw, sizeof raw };

    mkdir(path("tiny"), 0777);
    mkdir(path("tiny/1.9.0"), 0777);
    mkdir(path("tiny/1.10.0"), 0777);
    write_file("tiny/1.10.0/dataset_info.json", info_json, strlen(info_json));
    write_file("tiny/1.10.0/features.json", features_json, strlen(features_json));
    for (int shard = 0; shard < 2; shard++) {
        char name[80];
        lks_record_writer *w = NULL;
        lks_example *e = lks_example_create();
        snprintf(name, sizeof name, "tiny/1.10.0/tiny-train.tfrecord-%05d-of-00002", shard);
        assert_status(lks_record_writer_open(&w, path(name)), LKS_OK);
        for (int64_t i = 2 * shard; i < (shard == 0 ? 2 : 3); i++) {
            const lks_bytes png = small_png();
            const int64_t flag = i % 2;
            lks_example_clear(e);
            lks_example_set_bytes(e, "image", 1, &png);
            lks_example_set_int64(e, "label", 1, &i);
            lks_example_set_int64(e, "flag", 1, &flag);
            lks_example_set_bytes(e, "raw", 1, &raw_bytes);
            lks_example_set_bytes(e, "words", (size_t)i, words);
            lks_example_set_int64(e, "box/size", 2, size);
            lks_example_set_float(e, "box/at", 4, at);
            assert_status(lks_record_writer_write_example(w, e), LKS_OK);
        }
        assert_status(lks_record_writer_close(w), LKS_OK);
        lks_example_release(e);
    }
}

#endif
