/* function.c - user functions: checked on the way in (spec) and on the way out (every component set). */
#include "function.h"
#include "data/functions/op.h"
#include "state.h"

#include <stdio.h>
#include <string.h>

#include "base/philox.h"

lks_status lks__data_fn_init(lks_data_fn *f, const lks_dataset *stage, const lks_map_fn *fn)
{
    lks_map_fn copy;

    lks__options(&copy, sizeof copy, fn);
    memset(f, 0, sizeof *f);
    if (fn == NULL || copy.apply == NULL) {
        if (copy.release != NULL) copy.release(copy.user);
        return lks__fail(LKS_E_ARG, "no function given (its apply is NULL, or struct_size is not set)");
    }
    copy.name = lks__strdup(copy.name != NULL ? copy.name : "function");
    if (copy.name == NULL) {
        if (copy.release != NULL) copy.release(copy.user);
        return lks__fail(LKS_E_NOMEM, "no memory for a function");
    }
    f->fn = copy;
    snprintf(f->stage, sizeof f->stage, "%s_%d", stage->stage->name, stage->number);
    snprintf(f->label, sizeof f->label, "%s (stage %d)", stage->stage->name, stage->number);
    return LKS_OK;
}

lks_dataset *lks__data_fn_unused(lks_dataset *ds, const lks_map_fn *fn)
{
    lks_map_fn copy;

    lks__options(&copy, sizeof copy, fn);
    if (copy.release != NULL) copy.release(copy.user);
    return ds;
}

void lks__data_fn_destroy(lks_data_fn *f)
{
    if (f->fn.release != NULL) f->fn.release(f->fn.user);
    lks__free((char *)f->fn.name);
    memset(f, 0, sizeof *f);
}

static lks_map_context context_of(const lks_data_fn *f, lks_call_place place)
{
    lks_map_context c = { sizeof c, f->stage, place.epoch, place.index, f->key, f->depth };

    c.key ^= place.lineage;
    return c;
}

/* The library's functions say their word first ("resize takes ..."): once is enough. */
static bool begins_with_name(const char *name)
{
    const char *text = lks_last_error();
    const size_t n = strcspn(name, "( ");

    return strncmp(text, name, n) == 0 && (text[n] == ' ' || text[n] == ':');
}

lks_spec *lks__data_fn_spec(const lks_data_fn *f, const lks_spec *in)
{
    lks_map_context c = context_of(f, (lks_call_place){ .epoch = 0 });
    unsigned before = lks__error_serial();
    lks_spec *out;

    if (f->fn.output_spec == NULL) return lks_spec_retain(in);
    out = f->fn.output_spec(&c, in, f->fn.user);
    if (out == NULL && lks__error_serial() == before)
        lks__fail(LKS_E_SHAPE, "the function refuses elements of this spec without saying why");
    if (out == NULL && !begins_with_name(f->fn.name)) lks__context(lks__error_code(), "function '%s'", f->fn.name);
    return out;
}

lks_status lks__data_fn_yields(const lks_data_fn *f, const lks_spec *in, lks_dtype dtype)
{
    lks_spec *out = lks__data_fn_spec(f, in);
    char text[LKS_SPEC_TEXT];
    lks_status status = LKS_OK;

    if (out == NULL) return lks__error_code();
    if (lks_spec_kind_of(out) != LKS_SPEC_TENSOR || lks_spec_dtype(out) != dtype || lks_spec_shape(out).rank > 0)
        status = lks__fail(LKS_E_SHAPE, "function '%s' must return one %s scalar, returns %s", f->fn.name,
                           lks_dtype_name(dtype), lks__spec_text(out, text));
    lks_spec_release(out);
    return status;
}

lks_spec *lks__data_fn_dataset(const lks_data_fn *f, const lks_spec *in)
{
    lks_spec *out = lks__data_fn_spec(f, in), *inner = NULL;
    char text[LKS_SPEC_TEXT];

    if (out == NULL) return NULL;
    if (lks_spec_kind_of(out) == LKS_SPEC_DATASET) inner = lks_spec_retain(lks_spec_child(out, 0));
    else
        lks__fail(LKS_E_SHAPE, "function '%s' must return one dataset, returns %s", f->fn.name,
                  lks__spec_text(out, text));
    lks_spec_release(out);
    return inner;
}

/* A new element that knows its place; without memory the batch that it would hold is let go. */
static lks_element *element_at(const lks_call_place *place, lks_buffers *buffers)
{
    lks_element *e = place->shell != NULL ? place->shell : lks__buffers_element(buffers);

    if (e == NULL) {
        lks_element_release(place->batch);
        return NULL;
    }
    e->batch = place->batch;
    e->row = place->row;
    e->read = place->read;
    return e;
}

lks_status lks__returned_status(lks_status status, unsigned before)
{
    if (strcmp(lks_status_name(status), "LKS_?") == 0)
        return lks__fail(LKS_E_ARG, "it returned %d, which is no lks_status", (int)status);
    if (lks__error_serial() == before) lks__fail(status, "it returned %s", lks_status_name(status));
    return status;
}

lks_status lks__data_fn_apply(const lks_data_fn *f, lks_call_place place, lks_element *in, lks_buffers *buffers,
                              lks_element **out)
{
    lks_map_context c = context_of(f, place);
    lks_element *e = element_at(&place, buffers);
    unsigned before = lks__error_serial();
    lks_status status;

    if (e == NULL) return LKS_E_NOMEM;
    status = f->fn.apply(&c, in, e, f->fn.user);
    e->read = NULL;
    if (status == LKS_OK) status = lks__element_complete(e);
    else status = lks__returned_status(status, before);
    if (status == LKS_OK) {
        *out = e;
        return LKS_OK;
    }
    lks_element_release(e);
    if (in != NULL) lks__element_blame(in);
    if (status == LKS_END) /* the end of a function is not the end of the data */
        status = lks__fail(LKS_E_ARG, "it returned LKS_END, which only sources may");
    return lks__context(status, "%s: function '%s' failed at element %lld", f->label, f->fn.name,
                        (long long)place.index);
}

lks_status lks__data_fn_apply_joined(const lks_joined_fn *fn, size_t n, lks_call_place place, lks_element *in,
                                     lks_buffers *buffers, lks_element **out)
{
    lks_element *e = element_at(&place, buffers);
    lks_op_part part[LKS_MOST_JOINED];
    size_t failed;
    lks_status status;

    if (e == NULL) return LKS_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        place.epoch = fn[i].epoch;
        part[i] = (lks_op_part){ &fn[i].f->fn, context_of(fn[i].f, place), fn[i].spec };
    }
    status = lks__op_parts(part, n, in, e, &failed);
    e->read = NULL;
    if (status == LKS_OK) {
        *out = e;
        return LKS_OK;
    }
    lks_element_release(e);
    if (failed == 0) lks__element_blame(in); /* elements between two maps know of no file */
    return lks__context(status, "%s: function '%s' failed at element %lld", fn[failed].f->label, fn[failed].f->fn.name,
                        (long long)place.index);
}

/* Each inner dataset gets a lineage of its own, so that equal random functions draw differently in each. */
static uint64_t child_lineage(uint64_t parent, int64_t index)
{
    uint64_t h = parent + 0x9E3779B97F4A7C15u * ((uint64_t)index + 1);

    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 27) * 0x94D049BB133111EBu;
    return h ^ h >> 31;
}

lks_status lks__data_fn_open(const lks_data_fn *f, lks_cursor_place parent, int64_t index, lks_element *in,
                             lks_buffers *made, int64_t ahead, lks_cursor **out)
{
    lks_call_place place = { .index = index, .lineage = parent.lineage };
    const char *stage;
    lks_dataset *inner;
    lks_element *e = NULL;
    lks_status status;

    LKS_TRY(lks__data_fn_apply(f, place, in, made, &e));
    inner = lks_dataset_retain(e->value[0].dataset);
    lks_element_release(e);
    if (parent.unsavable != NULL && lks_dataset_status(inner) == LKS_OK && lks__unsavable(inner, &stage) != NULL)
        atomic_store(parent.unsavable, lks__unsavable(inner, &stage));
    if (ahead > 0) inner = lks__read_ahead(inner, (size_t)ahead);
    parent.lineage = child_lineage(parent.lineage, index);
    status = lks__cursor_open(inner, parent, out);
    lks_dataset_release(inner);
    return status;
}

void lks__data_fn_describe(const lks_data_fn *f, lks_recipe *r)
{
    lks__recipe_text(r, f->fn.name);
    lks__recipe_int(r, f->depth);
    lks__recipe_int(r, (int64_t)f->key);
}

const char *lks__data_fn_unsavable(const lks_data_fn *f)
{
    return f->fn.flags & LKS_FN_PURE ? NULL : "its function does not declare LKS_FN_PURE, so a replay may differ";
}

void lks_map_random(const lks_map_context *context, uint32_t purpose, uint32_t block, uint32_t words[4])
{
    uint64_t high = (uint64_t)context->index >> 32; /* elements beyond 2^32 get keys of their own */
    uint32_t counter[4] = { block, (uint32_t)context->index, (uint32_t)context->epoch,
                            lks__philox_stream(context->stage, "function") ^ purpose * 0x9E3779B9u };
    lks_philox_block b = lks__philox(context->key ^ high * 0x9E3779B97F4A7C15u, counter);

    memcpy(words, b.word, sizeof b.word);
}

lks_spec *lks_spec_fn_bool(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_tensor(LKS_BOOL, (lks_shape){ .rank = 0 });
}

lks_spec *lks_spec_fn_int64(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 });
}
