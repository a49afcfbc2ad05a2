/* feature_words.c - what parse_example and parse_sequence_example read, by words: {"label": "int64", "x": {"kind": "ragged",
 * "dtype": "float32", "partitions": [{"row_lengths": "n"}]}}. Each word of a feature and of a partition is one line of a table. */
#include <string.h>

#include "base/alloc.h"
#include "language.h"
#include "lockstep/records.h"

enum { MOST_FEATURES = 512 };

/* A feature with its lists, which lks_features_create copies. */
typedef struct feature_parts {
    lks_feature feature;
    lks_partition partition[LKS_MAX_RANK];
    const char *index_key[LKS_MAX_RANK];
} feature_parts;

static const lks_word of_a_feature = {
    .name = "feature",
    .arguments =
        "kind:s dtype:s shape:l size:l default:v value_key:s partitions:v index_key:N already_sorted:b allow_missing:b",
};

static const struct {
    const char *word;
    lks_feature_kind kind;
} kinds[] = {
    { "fixed", LKS_FIXED_LEN_FEATURE }, { "var", LKS_VAR_LEN_FEATURE },
    { "ragged", LKS_RAGGED_FEATURE },   { "sequence", LKS_FIXED_LEN_SEQUENCE_FEATURE },
    { "sparse", LKS_SPARSE_FEATURE },
};

static const lks_word partitions[] = {
    { "row_splits", "", NULL, NULL, LKS_ROW_SPLITS },
    { "row_lengths", "", NULL, NULL, LKS_ROW_LENGTHS },
    { "row_starts", "", NULL, NULL, LKS_ROW_STARTS },
    { "row_limits", "", NULL, NULL, LKS_ROW_LIMITS },
    { "value_rowids", "", NULL, NULL, LKS_VALUE_ROWIDS },
    { "uniform_row_length", "", NULL, NULL, LKS_UNIFORM_ROW_LENGTH },
    { NULL, NULL, NULL, NULL, 0 },
};

static lks_status read_kind(const lks_call *c, lks_feature *f)
{
    const char *kind = lks__call_text(c, "kind");

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kind == NULL || strcmp(kinds[i].word, kind) == 0) {
            f->kind = kinds[i].kind;
            return LKS_OK;
        }
    return lks__fail(LKS_E_ARG, "\"kind\" must be fixed, var, ragged, sequence or sparse, found \"%.40s\"", kind);
}

/* {"row_lengths": "n"} or {"uniform_row_length": 2} */
static lks_status read_partition(const json_t *json, lks_partition *p)
{
    const char *word = json_object_iter_key(json_object_iter((json_t *)json));
    const json_t *value = word == NULL ? NULL : json_object_get(json, word);
    const lks_word *w;

    if (json_object_size(json) != 1)
        return lks__fail(LKS_E_ARG, "a partition is an object like {\"row_lengths\": \"n\"}");
    w = lks__word_find(partitions, word, "partition");
    if (w == NULL) return LKS_E_ARG;
    p->kind = (lks_partition_kind)w->tag;
    if (p->kind == LKS_UNIFORM_ROW_LENGTH ? !json_is_integer(value) : !json_is_string(value))
        return lks__fail(LKS_E_ARG, "\"%s\" must be %s", word,
                         p->kind == LKS_UNIFORM_ROW_LENGTH ? "a whole number" : "the key of a feature");
    p->key = json_string_value(value);
    p->length = json_integer_value(value);
    return LKS_OK;
}

static lks_status read_lists(const lks_call *c, feature_parts *parts)
{
    lks_feature *f = &parts->feature;
    const json_t *cuts = lks__call_value(c, "partitions"), *keys = lks__call_value(c, "index_key");
    size_t n = json_is_string(keys) ? 1 : json_array_size(keys);

    if (cuts != NULL && !json_is_array(cuts)) return lks__fail(LKS_E_ARG, "\"partitions\" must be a list");
    if (json_array_size(cuts) > LKS_MAX_RANK || n > LKS_MAX_RANK)
        return lks__fail(LKS_E_LIMIT, "at most %d partitions or index keys", LKS_MAX_RANK);
    f->partitions = parts->partition;
    for (f->n_partitions = 0; f->n_partitions < json_array_size(cuts); f->n_partitions++)
        LKS_TRY(read_partition(json_array_get(cuts, f->n_partitions), &parts->partition[f->n_partitions]));
    f->index_keys = parts->index_key;
    f->n_index_keys = n;
    for (size_t i = 0; i < n; i++)
        parts->index_key[i] = json_string_value(json_is_string(keys) ? keys : json_array_get(keys, i));
    return LKS_OK;
}

/* The dtype alone means a scalar of fixed length. */
static lks_status read_feature(const lks_call *c, const char *key, const json_t *json, feature_parts *parts)
{
    lks_feature *f = &parts->feature;
    const lks_call one = { c->language, json, "feature", 0 };
    const char *size = lks__call_value(&one, "size") != NULL ? "size" : "shape"; /* of sparse ones, as in tf.io */

    f->key = key;
    if (!json_is_string(json) && !json_is_object(json))
        return lks__fail(LKS_E_ARG, "a feature is a dtype or an object with \"dtype\"");
    if (json_is_object(json)) LKS_TRY(lks__call_check(&one, &of_a_feature, ""));
    f->dtype = lks__call_dtype(json_is_string(json) ? json : lks__call_value(&one, "dtype"));
    if (f->dtype == 0) return LKS_E_ARG;
    LKS_TRY(read_kind(&one, f));
    LKS_TRY(read_lists(&one, parts));
    f->value_key = lks__call_text(&one, "value_key");
    f->already_sorted = lks__call_truth(&one, "already_sorted");
    f->allow_missing = lks__call_truth(&one, "allow_missing");
    if (json_array_size(lks__call_value(&one, size)) > LKS_MAX_RANK)
        return lks__fail(LKS_E_LIMIT, "\"%s\" has more than %d sizes", size, LKS_MAX_RANK);
    f->shape.rank = (int64_t)lks__call_ints(&one, size, f->shape.dim, LKS_MAX_RANK);
    if (lks__call_value(&one, "default") == NULL) return LKS_OK;
    f->default_value = lks__read_value(lks__call_value(&one, "default"), f->dtype);
    return f->default_value == NULL ? lks__error_code() : LKS_OK;
}

/* NULL after an error. */
static lks_features *read_features(const lks_call *c, const char *argument)
{
    const json_t *all = lks__call_value(c, argument), *one;
    feature_parts *parts;
    lks_features *features = NULL;
    lks_status status = LKS_OK;
    const char *key;
    size_t n = 0;

    if (json_object_size(all) == 0 || json_object_size(all) > MOST_FEATURES) {
        lks__fail(LKS_E_ARG, "\"%s\" needs \"%s\": {\"label\": \"int64\", ...}, at most %d features", c->word, argument,
                  (int)MOST_FEATURES);
        return NULL;
    }
    parts = lks__calloc(json_object_size(all), sizeof *parts);
    if (parts == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for features");
        return NULL;
    }
    json_object_foreach((json_t *)all, key, one)
    {
        status = read_feature(c, key, one, &parts[n++]);
        if (status != LKS_OK) break;
    }
    if (status == LKS_OK) features = lks_features_create(n, sizeof *parts, &parts->feature);
    else lks__context(status, "feature '%s'", key);
    for (size_t i = 0; i < n; i++) lks_tensor_release(parts[i].feature.default_value);
    lks__free(parts);
    return features;
}

const lks_map_fn *lks__parse_function(const lks_call *c)
{
    lks_features *context = NULL, *lists = NULL;
    const bool has_context = lks__call_value(c, "context") != NULL, has_lists = lks__call_value(c, "sequence") != NULL;

    if (strcmp(c->word, "parse_example") == 0) {
        context = read_features(c, "features");
        return context == NULL ? NULL : lks_parse_example(context);
    }
    if (!has_context && !has_lists) {
        lks__fail(LKS_E_ARG,
                  "\"%s\" needs \"context\" or \"sequence\": {\"steps\": {\"kind\": \"var\", \"dtype\": "
                  "\"int64\"}, ...}",
                  c->word);
        return NULL;
    }
    if (has_context) context = read_features(c, "context");
    if (has_lists && (!has_context || context != NULL)) lists = read_features(c, "sequence");
    if ((context != NULL) == has_context && (lists != NULL) == has_lists)
        return lks_parse_sequence_example(context, lists);
    lks_features_release(context);
    lks_features_release(lists);
    return NULL;
}
