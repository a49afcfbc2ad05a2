/* test_data_features.c - features of several lists: ragged partitions, sparse features, sequences in batches. The expected texts
 * are TensorFlow's: tests/golden/composite_features.py prints them. */
#include "test_records.h"
#include "test_texts.h"

/* ---- records ---- */

typedef struct list {
    const char *key;
    lks_dtype dtype;
    size_t n;
    double number[6]; /* strings: letters */
} list;

static void set(lks_example *e, const list *l, bool step)
{
    int64_t integer[6];
    float real[6];
    char letter[6];
    lks_bytes text[6];

    for (size_t i = 0; i < l->n; i++) {
        integer[i] = (int64_t)l->number[i];
        real[i] = (float)l->number[i];
        letter[i] = (char)(integer[i] & 127);
        text[i] = (lks_bytes){ &letter[i], 1 };
    }
    if (l->dtype == LKS_INT64) (step ? lks_example_add_int64 : lks_example_set_int64)(e, l->key, l->n, integer);
    else if (l->dtype == LKS_FLOAT32) (step ? lks_example_add_float : lks_example_set_float)(e, l->key, l->n, real);
    else (step ? lks_example_add_bytes : lks_example_set_bytes)(e, l->key, l->n, text);
}

#define INTS(key, n, ...)  \
    {                      \
        key, LKS_INT64, n, \
        {                  \
            __VA_ARGS__    \
        }                  \
    }
#define FLOATS(key, n, ...)  \
    {                        \
        key, LKS_FLOAT32, n, \
        {                    \
            __VA_ARGS__      \
        }                    \
    }
#define TEXTS(key, n, ...)  \
    {                       \
        key, LKS_STRING, n, \
        {                   \
            __VA_ARGS__     \
        }                   \
    }
#define NONE                \
    {                       \
        NULL, LKS_INT64, 0, \
        {                   \
            0               \
        }                   \
    } /* ends a record */
#define END               \
    {                     \
        "", LKS_INT64, 0, \
        {                 \
            0             \
        }                 \
    } /* ends all of them */

enum { MOST = 16 };

/* Records of these lists as a dataset of strings; `steps`: lists of a sequence, "id" is context. */
static lks_tensor *bytes_of(const list *l, bool steps, int64_t *count)
{
    lks_tensor *t = lks_tensor_create(LKS_STRING, lks_shape(MOST));
    int64_t n = 0;

    for (; l->key == NULL || l->key[0] != 0; n++, l++) {
        lks_example *e = lks_example_create();
        void *bytes;
        size_t size;
        for (; l->key != NULL; l++) set(e, l, steps && strcmp(l->key, "id") != 0);
        assert_status(lks_example_encode(e, &bytes, &size), LKS_OK);
        assert_status(lks__tensor_set_bytes(t, n, bytes, size), LKS_OK);
        lks_free(bytes);
        lks_example_release(e);
    }
    *count = n;
    return t;
}

static lks_dataset *records_of(const list *l, bool steps)
{
    int64_t n;
    lks_tensor *t = bytes_of(l, steps, &n);
    lks_dataset *ds = lks_take(lks_from_tensor_slices(t), n);

    lks_tensor_release(t);
    return ds;
}

static const list good[] = { INTS("v", 6, 10, 11, 12, 13, 14, 15),
                             INTS("len", 3, 1, 0, 5),
                             INTS("splits", 4, 0, 1, 1, 6),
                             INTS("starts", 3, 0, 1, 1),
                             INTS("limits", 3, 1, 1, 6),
                             INTS("ids", 6, 0, 2, 2, 2, 2, 2),
                             INTS("i", 3, 3, 0, 2),
                             INTS("j", 3, 1, 4, 0),
                             FLOATS("w", 3, 1.5, 2.5, 3.5),
                             TEXTS("s", 3, 'a', 'b', 'c'),
                             NONE,
                             NONE,
                             INTS("v", 2, 20, 21),
                             INTS("len", 1, 2),
                             INTS("splits", 2, 0, 2),
                             INTS("starts", 1, 0),
                             INTS("limits", 1, 2),
                             INTS("ids", 2, 0, 0),
                             INTS("i", 1, 1),
                             INTS("j", 1, 1),
                             FLOATS("w", 1, 9),
                             TEXTS("s", 1, 'd'),
                             NONE,
                             END };
static const list nested[] = { INTS("v", 6, 1, 2, 3, 4, 5, 6),
                               INTS("a", 3, 1, 0, 1),
                               INTS("b", 4, 1, 2, 0, 3),
                               NONE,
                               INTS("v", 2, 7, 8),
                               INTS("a", 1, 1),
                               INTS("b", 2, 2, 0),
                               NONE,
                               END };
static const list pairs[] = {
    INTS("v", 6, 1, 2, 3, 4, 5, 6), INTS("a", 2, 1, 2), NONE, INTS("v", 2, 7, 8), INTS("a", 2, 0, 1), NONE, END
};
static const list doubled[] = { INTS("i", 3, 1, 0, 1), FLOATS("w", 3, 1, 2, 3), NONE, END };

#define RAGGED(n, ...)                                                                                   \
    {                                                                                                    \
        .key = "f", .value_key = "v", .dtype = LKS_INT64, .kind = LKS_RAGGED_FEATURE, .n_partitions = n, \
        .partitions = (const lks_partition[])                                                            \
        {                                                                                                \
            __VA_ARGS__                                                                                  \
        }                                                                                                \
    }
#define SPARSE(type, value, sorted, size, ...)                                                               \
    {                                                                                                        \
        .key = "f", .value_key = value, .dtype = type, .kind = LKS_SPARSE_FEATURE, .already_sorted = sorted, \
        .shape = size, .n_index_keys = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *),        \
        .index_keys = (const char *const[])                                                                  \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define SIZE1(a) \
    {            \
        1,       \
        {        \
            a    \
        }        \
    }
#define SIZE2(a, b) \
    {               \
        2,          \
        {           \
            a, b    \
        }           \
    }

static lks_dataset *parse(lks_dataset *ds, const lks_feature *f)
{
    return lks_map(ds, lks_parse_example(lks_features_create(1, sizeof *f, f)));
}

static void values_are_cut_and_placed_as_tensorflow_does(void **state)
{
    const struct {
        const list *records;
        lks_feature f;
        const char *singles, *batch;
    } cases[] = {
        { good, RAGGED(1, { LKS_ROW_LENGTHS, "len", 0 }), "[[10],[],[11,12,13,14,15]]; []; [[20,21]]",
          "[[[10],[],[11,12,13,14,15]],[],[[20,21]]]" },
        { good, RAGGED(1, { LKS_ROW_SPLITS, "splits", 0 }), "[[10],[],[11,12,13,14,15]]; []; [[20,21]]",
          "[[[10],[],[11,12,13,14,15]],[],[[20,21]]]" },
        { good, RAGGED(1, { LKS_ROW_STARTS, "starts", 0 }), "[[10],[],[11,12,13,14,15]]; []; [[20,21]]",
          "[[[10],[],[11,12,13,14,15]],[],[[20,21]]]" },
        { good, RAGGED(1, { LKS_ROW_LIMITS, "limits", 0 }), "[[10],[],[11,12,13,14,15]]; []; [[20,21]]",
          "[[[10],[],[11,12,13,14,15]],[],[[20,21]]]" },
        { good, RAGGED(1, { LKS_VALUE_ROWIDS, "ids", 0 }), "[[10],[],[11,12,13,14,15]]; []; [[20,21]]",
          "[[[10],[],[11,12,13,14,15]],[],[[20,21]]]" },
        { good, RAGGED(1, { LKS_UNIFORM_ROW_LENGTH, NULL, 2 }), "[[10,11],[12,13],[14,15]]; []; [[20,21]]",
          "[[[10,11],[12,13],[14,15]],[],[[20,21]]]" },
        { good, RAGGED(2, { LKS_UNIFORM_ROW_LENGTH, NULL, 1 }, { LKS_UNIFORM_ROW_LENGTH, NULL, 2 }),
          "[[[10,11]],[[12,13]],[[14,15]]]; []; [[[20,21]]]", "[[[[10,11]],[[12,13]],[[14,15]]],[],[[[20,21]]]]" },
        { good, RAGGED(0, { 0 }), "[10,11,12,13,14,15]; []; [20,21]", "[[10,11,12,13,14,15],[],[20,21]]" },
        { nested,
          RAGGED(3, { LKS_ROW_LENGTHS, "a", 0 }, { LKS_UNIFORM_ROW_LENGTH, NULL, 2 }, { LKS_ROW_LENGTHS, "b", 0 }),
          "[[[[1],[2,3]]],[],[[[],[4,5,6]]]]; [[[[7,8],[]]]]", "[[[[[1],[2,3]]],[],[[[],[4,5,6]]]],[[[[7,8],[]]]]]" },
        { nested, RAGGED(2, { LKS_UNIFORM_ROW_LENGTH, NULL, 2 }, { LKS_ROW_LENGTHS, "b", 0 }),
          "[[[1],[2,3]],[[],[4,5,6]]]; [[[7,8],[]]]", "[[[[1],[2,3]],[[],[4,5,6]]],[[[7,8],[]]]]" },
        { pairs, RAGGED(2, { LKS_ROW_LENGTHS, "a", 0 }, { LKS_UNIFORM_ROW_LENGTH, NULL, 2 }),
          "[[[1,2]],[[3,4],[5,6]]]; [[],[[7,8]]]", "[[[[1,2]],[[3,4],[5,6]]],[[],[[7,8]]]]" },
        { good, SPARSE(LKS_FLOAT32, "w", LKS_DEFAULT, SIZE1(5), "i"),
          "[5] [[0],[2],[3]] [2.5,3.5,1.5]; [5] [] []; [5] [[1]] [9]",
          "[3,5] [[0,0],[0,2],[0,3],[2,1]] [2.5,3.5,1.5,9]" },
        { good, SPARSE(LKS_FLOAT32, "w", LKS_DEFAULT, SIZE2(5, 6), "i", "j"),
          "[5,6] [[0,4],[2,0],[3,1]] [2.5,3.5,1.5]; [5,6] [] []; [5,6] [[1,1]] [9]",
          "[3,5,6] [[0,0,4],[0,2,0],[0,3,1],[2,1,1]] [2.5,3.5,1.5,9]" },
        { good, SPARSE(LKS_FLOAT32, "w", LKS_TRUE, SIZE1(5), "i"),
          "[5] [[3],[0],[2]] [1.5,2.5,3.5]; [5] [] []; [5] [[1]] [9]",
          "[3,5] [[0,3],[0,0],[0,2],[2,1]] [1.5,2.5,3.5,9]" },
        { good, SPARSE(LKS_STRING, "s", LKS_DEFAULT, SIZE1(7), "i"),
          "[7] [[0],[2],[3]] [b,c,a]; [7] [] []; [7] [[1]] [d]", "[3,7] [[0,0],[0,2],[0,3],[2,1]] [b,c,a,d]" },
        { doubled, SPARSE(LKS_FLOAT32, "w", LKS_DEFAULT, SIZE1(3), "i"), "[3] [[0],[1],[1]] [2,1,3]",
          "[1,3] [[0,0],[0,1],[0,1]] [2,1,3]" },
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_string_equal(texts_of(parse(records_of(cases[k].records, false), &cases[k].f)), cases[k].singles);
        assert_string_equal(texts_of(parse(lks_batch(records_of(cases[k].records, false), MOST), &cases[k].f)),
                            cases[k].batch);
    }
}

#define P(n, ...)                                                   \
    {                                                               \
        INTS("v", 3, 1, 2, 3), INTS("p", n, __VA_ARGS__), NONE, END \
    }

/* All but the last two are what TensorFlow refuses too (with validate = True). */
static void partitions_and_indices_that_do_not_fit_are_said(void **state)
{
    const struct {
        list records[5];
        lks_feature f;
        const char *words;
    } cases[] = {
        { P(2, 1, 1), RAGGED(1, { LKS_ROW_LENGTHS, "p", 0 }), "its row lengths sum to 2, there are 3" },
        { P(2, -1, 4), RAGGED(1, { LKS_ROW_LENGTHS, "p", 0 }), "the length of its row 0 is -1" },
        { P(1, 4), RAGGED(1, { LKS_ROW_LENGTHS, "p", 0 }), "row lengths sum to more than 3" },
        { P(0, 0), RAGGED(1, { LKS_ROW_LENGTHS, "p", 0 }), "row lengths sum to 0" },
        { P(0, 0), RAGGED(1, { LKS_ROW_SPLITS, "p", 0 }), "boundaries are missing" },
        { P(2, 1, 3), RAGGED(1, { LKS_ROW_SPLITS, "p", 0 }), "its first row begins at 1" },
        { P(2, 0, 2), RAGGED(1, { LKS_ROW_SPLITS, "p", 0 }), "its last row ends at 2" },
        { P(4, 0, 2, 1, 3), RAGGED(1, { LKS_ROW_SPLITS, "p", 0 }), "must rise from 0 on, entry 2 is 1" },
        { P(1, 1), RAGGED(1, { LKS_ROW_STARTS, "p", 0 }), "its first row begins at 1" },
        { P(2, 0, 9), RAGGED(1, { LKS_ROW_STARTS, "p", 0 }), "its last row begins at 9" },
        { P(1, 2), RAGGED(1, { LKS_ROW_LIMITS, "p", 0 }), "its last row ends at 2" },
        { P(2, 0, 1), RAGGED(1, { LKS_VALUE_ROWIDS, "p", 0 }), "its row numbers are 2" },
        { P(3, 1, 0, 1), RAGGED(1, { LKS_VALUE_ROWIDS, "p", 0 }), "entry 1 is 0" },
        { P(0, 0), RAGGED(1, { LKS_UNIFORM_ROW_LENGTH, NULL, 2 }), "3 values are no multiple of the row length 2" },
        { { INTS("v", 1, 1), FLOATS("p", 1, 1), NONE, END },
          RAGGED(1, { LKS_ROW_LENGTHS, "p", 0 }),
          "feature 'p' holds float values, wanted are int64" },
        { { INTS("i", 1, 1), FLOATS("w", 2, 1, 2), NONE, END },
          SPARSE(LKS_FLOAT32, "w", LKS_DEFAULT, SIZE1(3), "i"),
          "its index 0 has 1 entries, there are 2 values" },
        { { FLOATS("w", 2, 1, 2), NONE, END }, SPARSE(LKS_FLOAT32, "w", LKS_DEFAULT, SIZE1(3), "i"), "has 0 entries" },
        { { FLOATS("i", 1, 1), FLOATS("w", 1, 1), NONE, END },
          SPARSE(LKS_FLOAT32, "w", LKS_DEFAULT, SIZE1(3), "i"),
          "'i' holds float values" },
        { { INTS("i", 1, 3), FLOATS("w", 1, 1), NONE, END },
          SPARSE(LKS_FLOAT32, "w", LKS_DEFAULT, SIZE1(3), "i"),
          "entry 0 of its index 0 is 3, the size there is 3" },
        { P(3, 0, 0, 1e12), RAGGED(1, { LKS_VALUE_ROWIDS, "p", 0 }), "beyond the limit" },
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int batch = 0; batch < 2; batch++) {
            lks_dataset *ds = records_of(cases[k].records, false);
            const char *said = texts_of(parse(batch ? lks_batch(ds, 2) : ds, &cases[k].f));
            if (strstr(said, cases[k].words) == NULL) fail_msg("'%s' lacks '%s'", said, cases[k].words);
            if (batch && strstr(cases[k].words, " holds ") == NULL && strstr(said, "record 0") == NULL)
                fail_msg("'%s' lacks its record", said);
        }
}

static void lists_that_can_not_be_compiled_are_refused(void **state)
{
    const struct {
        lks_feature f;
        const char *words;
    } cases[] = {
        { { .key = "x",
            .dtype = LKS_INT64,
            .n_partitions = 1,
            .partitions = &(lks_partition){ LKS_ROW_SPLITS, "p", 0 } },
          "only a ragged" },
        { RAGGED(1, { 0, "p", 0 }), "kind 0 of partition 0" },
        { RAGGED(1, { LKS_ROW_SPLITS, NULL, 0 }), "has no key" },
        { RAGGED(1, { LKS_UNIFORM_ROW_LENGTH, NULL, 0 }), "must be 1 or more" },
        { SPARSE(LKS_FLOAT32, "w", LKS_DEFAULT, SIZE2(3, 3), "i"), "one index key for each axis" },
        { SPARSE(LKS_FLOAT32, "w", LKS_DEFAULT, SIZE1(-1), "i"), "known sizes" },
        { SPARSE(LKS_FLOAT32, "w", LKS_DEFAULT, SIZE1(3), "w"), "'w' is wanted as float and as int64" },
        { { .key = "x", .dtype = LKS_INT64, .n_index_keys = 1, .index_keys = (const char *const[]){ "i" } },
          "only a sparse" },
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_null(lks_features_create(1, sizeof(lks_feature), &cases[k].f));
        if (strstr(lks_last_error(), cases[k].words) == NULL)
            fail_msg("'%s' lacks '%s'", lks_last_error(), cases[k].words);
    }
}

/* One feature of a record may serve several of the result, under names that are features themselves. */
static void features_are_shared_and_renamed(void **state)
{
    lks_features *f = lks_features_of(
        { .key = "w", .value_key = "i", .dtype = LKS_INT64, .kind = LKS_RAGGED_FEATURE },
        { .key = "i", .value_key = "w", .dtype = LKS_FLOAT32, .kind = LKS_VAR_LEN_FEATURE },
        { .key = "sp",
          .value_key = "w",
          .dtype = LKS_FLOAT32,
          .kind = LKS_SPARSE_FEATURE,
          .shape = SIZE1(5),
          .n_index_keys = 1,
          .index_keys = (const char *const[]){ "i" } });

    (void)state;
    assert_string_equal(texts_of(lks_map(lks_take(records_of(good, false), 1), lks_parse_example(f))),
                        "[3] [[0],[1],[2]] [1.5,2.5,3.5] [5] [[0],[2],[3]] [2.5,3.5,1.5] [3,0,2]");
}

/* ---- sequences ---- */

static const list sequences[] = { INTS("id", 1, 1),
                                  FLOATS("d", 2, 1, 2),
                                  FLOATS("d", 2, 3, 4),
                                  INTS("s", 1, 1),
                                  INTS("s", 2, 2, 3),
                                  TEXTS("r", 1, 'a'),
                                  TEXTS("r", 0, 0),
                                  TEXTS("r", 2, 'b', 'c'),
                                  INTS("p", 3, 1, 2, 3),
                                  INTS("p", 1, 4),
                                  INTS("q", 2, 1, 2),
                                  INTS("q", 1, 1),
                                  NONE,
                                  INTS("id", 1, 2),
                                  TEXTS("r", 1, 'd'),
                                  NONE,
                                  INTS("id", 1, 3),
                                  FLOATS("d", 2, 5, 6),
                                  INTS("s", 0, 0),
                                  INTS("s", 0, 0),
                                  INTS("s", 1, 4),
                                  INTS("p", 2, 5, 6),
                                  INTS("q", 2, 0, 2),
                                  NONE,
                                  END };

static lks_dataset *parse_sequences(lks_dataset *ds, lks_tristate allow)
{
    const lks_partition by_q = { LKS_ROW_LENGTHS, "q", 0 };

    return lks_map(
        ds, lks_parse_sequence_example(lks_features_of({ .key = "id", .dtype = LKS_INT64 }),
                                       lks_features_of({ .key = "d",
                                                         .dtype = LKS_FLOAT32,
                                                         .kind = LKS_FIXED_LEN_SEQUENCE_FEATURE,
                                                         .shape = SIZE1(2),
                                                         .allow_missing = allow },
                                                       { .key = "s", .dtype = LKS_INT64, .kind = LKS_VAR_LEN_FEATURE },
                                                       { .key = "r", .dtype = LKS_STRING, .kind = LKS_RAGGED_FEATURE },
                                                       { .key = "p",
                                                         .dtype = LKS_INT64,
                                                         .kind = LKS_RAGGED_FEATURE,
                                                         .n_partitions = 1,
                                                         .partitions = &by_q })));
}

/* id; d, p, r, s (3); in a batch the length of d */
static void sequences_are_parsed_alone_and_in_batches(void **state)
{
    (void)state;
    assert_string_equal(texts_of(parse_sequences(records_of(sequences, true), LKS_TRUE)),
                        "1 [[1,2],[3,4]] [[[1],[2,3]],[[4]]] [[a],[],[b,c]] [2,2] [[0,0],[1,0],[1,1]] [1,2,3]; "
                        "2 [] [] [[d]] [0,0] [] []; "
                        "3 [[5,6]] [[[],[5,6]]] [] [3,1] [[2,0]] [4]");
    assert_string_equal(texts_of(parse_sequences(lks_batch(records_of(sequences, true), MOST), LKS_TRUE)),
                        "[1,2,3] [[[1,2],[3,4]],[[0,0],[0,0]],[[5,6],[0,0]]] "
                        "[[[[1],[2,3]],[[4]]],[],[[[],[5,6]]]] [[[a],[],[b,c]],[[d]],[]] "
                        "[3,3,2] [[0,0,0],[0,1,0],[0,1,1],[2,2,0]] [1,2,3,4] [2,0,1]");
}

static void a_sequence_that_does_not_fit_is_named_in_its_batch(void **state)
{
    static const list unaligned[] = {
        INTS("id", 1, 1), FLOATS("d", 2, 1, 2), INTS("p", 2, 1, 2), INTS("p", 1, 3), INTS("q", 1, 2), NONE, END
    };
    static const list narrow[] = { INTS("id", 1, 1), FLOATS("d", 1, 1), NONE, END };
    static const struct {
        const list *records;
        const char *words;
    } cases[] = {
        { sequences, "record 1 of the batch: feature list 'd' is required" },
        { unaligned, "record 0 of the batch: feature list 'q' has 1 steps, the values have 2" },
        { narrow, "record 0 of the batch: feature list 'd', step 0 holds 1 values, each step must have 2" },
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *said = texts_of(parse_sequences(lks_batch(records_of(cases[k].records, true), MOST), LKS_DEFAULT));
        if (strstr(said, cases[k].words) == NULL) fail_msg("'%s' lacks '%s'", said, cases[k].words);
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    const lks_feature f[] = {
        RAGGED(2, { LKS_ROW_LENGTHS, "a", 0 }, { LKS_UNIFORM_ROW_LENGTH, NULL, 2 }),
    };
    lks_status status = LKS_OK;

    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        int64_t n;
        lks_tensor *records = kind == 0 ? bytes_of(pairs, false, &n) : bytes_of(sequences, true, &n);
        EVERY_ALLOCATION_FAILS(
            {
                lks_dataset *ds = lks_batch(lks_take(lks_from_tensor_slices(records), n), 2);
                lks_iter *it = NULL;
                lks_element *e = NULL;
                ds = kind == 0 ? parse(ds, f) : parse_sequences(ds, LKS_TRUE);
                status = ds == NULL ? LKS_E_NOMEM : lks_iter_create(ds, &it);
                while (status == LKS_OK && (status = lks_iter_next(it, &e)) == LKS_OK) lks_element_release(e);
                if (status == LKS_END) status = LKS_OK;
                lks_iter_release(it);
                lks_dataset_release(ds);
            },
            {});
        lks_tensor_release(records);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_cut_and_placed_as_tensorflow_does),
        cmocka_unit_test(partitions_and_indices_that_do_not_fit_are_said),
        cmocka_unit_test(lists_that_can_not_be_compiled_are_refused),
        cmocka_unit_test(features_are_shared_and_renamed),
        cmocka_unit_test(sequences_are_parsed_alone_and_in_batches),
        cmocka_unit_test(a_sequence_that_does_not_fit_is_named_in_its_batch),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
