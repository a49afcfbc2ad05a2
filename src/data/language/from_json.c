/* from_json.c - a JSON list of stages becomes a dataset: each word is looked up in a table (source_words.c, stage_words.c), its
 * arguments are checked, its builder is called. */
#include <string.h>

#include "data/stages.h"
#include "language.h"

/* Stands for what could not be built. */
const lks_stage lks__stage_from_json = { .name = "from_json", .dataset_size = sizeof(lks_dataset) };

lks_dataset *lks__language_failed(lks_status status)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_from_json, 0, NULL);

    return ds == NULL ? NULL : lks__dataset_fail(ds, status);
}

/* One stage above `input` (stolen), or with NULL a source. */
static lks_dataset *build_stage(lks_language *l, const json_t *json, size_t number, lks_dataset *input)
{
    lks_call c = { l, json, json_string_value(json_object_get(json, "op")), 0 };
    const lks_word *w = NULL;
    lks_status status = LKS_OK;

    if (c.word == NULL)
        status = lks__fail(LKS_E_FORMAT, "stage %zu of the pipeline has no \"op\" with a word", number + 1);
    else if ((w = lks__word_find(number == 0 ? lks__source_words : lks__stage_words, c.word,
                                 number == 0 ? "source" : "stage")) == NULL)
        status = LKS_E_NOTFOUND;
    else status = lks__call_check(&c, w, "op");
    if (w != NULL) c.tag = w->tag;
    if (status == LKS_OK) return w->stage(&c, input);
    lks_dataset_release(input);
    return lks__language_failed(c.word == NULL ? status
                                               : lks__context(status, "stage %zu of the pipeline", number + 1));
}

lks_dataset *lks__language_build(lks_language *l, const json_t *list)
{
    lks_dataset *ds = NULL;

    if (!json_is_array(list) || json_array_size(list) == 0 || l->depth >= LKS_JSON_DEPTH / 4)
        return lks__language_failed(
            lks__fail(LKS_E_FORMAT, "a pipeline is a list of stages, the first of them a source"));
    l->depth++;
    for (size_t i = 0; i < json_array_size(list); i++) {
        ds = build_stage(l, json_array_get(list, i), i, ds);
        if (!lks__dataset_ok(ds)) break;
    }
    l->depth--;
    return ds;
}

lks_dataset *lks_dataset_from_json_with(const char *text, const lks_dataset_json_options *options)
{
    lks_language l = { .depth = 0 };
    json_t *json = NULL;
    lks_dataset *ds;
    lks_status status;

    lks__options(&l.o, sizeof l.o, options);
    if (text == NULL) return lks__language_failed(lks__fail(LKS_E_ARG, "the text is NULL"));
    status = lks__json_parse(text, strlen(text), "the pipeline", &json);
    ds = status == LKS_OK ? lks__language_build(&l, json) : lks__language_failed(status);
    json_decref(json);
    return ds;
}
