/* from_json.c - a JSON list of stages becomes a dataset: each word is looked up in a table (source_words.c, stage_words.c), its
 * arguments are checked, its builder is called. */
#include <string.h>

#include "base/alloc.h"
#include "data/stages.h"
#include "language.h"

/* Stands for what could not be built. */
typedef struct failed {
    lks_dataset base;
    bool placed; /* its sentence says where in the pipeline */
} failed;

const lks_stage lks__stage_from_json = { .name = "from_json", .dataset_size = sizeof(failed) };

/* Without dataset_fail, which would say "from_json (stage 1)": no stage that anybody wrote. */
static lks_dataset *fail(lks_status status, bool placed)
{
    failed *f = (failed *)lks__dataset_begin(&lks__stage_from_json, 0, NULL);

    if (f == NULL) return NULL;
    f->placed = placed;
    f->base.error = lks__calloc(1, sizeof *f->base.error);
    if (f->base.error != NULL) {
        lks__error_capture(f->base.error, status);
        return &f->base;
    }
    lks_dataset_release(&f->base);
    return NULL;
}

lks_dataset *lks__language_failed(lks_status status)
{
    return fail(status, false);
}

/* What a builder of ours gave up says which stage it was to be; those of the library say it themselves. */
static lks_dataset *place(lks_dataset *ds, const char *word, int number)
{
    lks_status status;

    if (ds == NULL || ds->stage != &lks__stage_from_json || ((failed *)ds)->placed) return ds;
    status = lks__context(lks__error_raise(ds->error), "%s (stage %d)", word, number);
    lks_dataset_release(ds);
    return fail(status, true);
}

/* A source further up, a stage at the start: the right word in the wrong place. */
static lks_status not_here(const char *word, bool source)
{
    const lks_word *w = source ? lks__stage_words : lks__source_words;

    while (w->name != NULL && strcmp(w->name, word) != 0) w++;
    if (w->name == NULL) return LKS_OK;
    if (source)
        return lks__fail(LKS_E_ARG, "\"%s\" is a stage, and a pipeline begins with a source, such as \"range\"", word);
    return lks__fail(LKS_E_ARG, "\"%s\" is a source, which only begins a pipeline", word);
}

static lks_status find_word(const lks_call *c, bool source, const lks_word **out)
{
    LKS_TRY(not_here(c->word, source));
    *out = lks__word_find(source ? lks__source_words : lks__stage_words, c->word, source ? "source" : "stage");
    return *out != NULL ? LKS_OK : LKS_E_NOTFOUND;
}

/* One stage above `input` (stolen), or with NULL a source. */
static lks_dataset *build_stage(lks_language *l, const json_t *json, size_t index, lks_dataset *input)
{
    lks_call c = { l, json, json_string_value(json_object_get(json, "op")), 0 };
    const int number = input != NULL ? input->number + 1 : 1;
    const lks_word *w = NULL;
    lks_status status;

    if (c.word == NULL)
        status = lks__fail(LKS_E_FORMAT, "stage %zu of the pipeline has no \"op\" with a word", index + 1);
    else if ((status = find_word(&c, index == 0, &w)) != LKS_OK)
        lks__context(status, "stage %zu of the pipeline", index + 1);
    else if ((status = lks__call_check(&c, w, "op")) != LKS_OK) lks__context(status, "%s (stage %d)", c.word, number);
    if (status == LKS_OK) {
        c.tag = w->tag;
        return place(w->stage(&c, input), c.word, number);
    }
    lks_dataset_release(input);
    return fail(status, true);
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
