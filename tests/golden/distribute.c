/* distribute.c - the distribute topic: how batches are cut for replicas (splits.json) and who reads what (pipelines.json).
 *
 * Pieces are compared twice: with .tf_pieces they must be the recorded ones; by our own rule each step must hold the same rows
 * in the same order, in pieces that differ by at most one row. The reference stops the number of steps where it can; so do we.
 */
#include "distribute.h"

#include <stdio.h>
#include <string.h>

#include "tensor/tensor.h"

static json_t *scalar(const lks_tensor *t, int64_t i)
{
    if (lks_tensor_dtype(t) == LKS_STRING) {
        const lks_bytes *b = (const lks_bytes *)lks_tensor_cdata(t) + i;
        return json_stringn(b->data, b->size);
    }
    if (lks_tensor_dtype(t) == LKS_INT64) return json_integer(((const int64_t *)lks_tensor_cdata(t))[i]);
    if (lks_tensor_dtype(t) == LKS_INT32) return json_integer(((const int32_t *)lks_tensor_cdata(t))[i]);
    return json_real(golden_element(t, i));
}

static json_t *nested(const lks_tensor *t, int64_t axis, int64_t *at)
{
    lks_shape shape = lks_tensor_shape(t);
    json_t *list;

    if (axis == shape.rank) return scalar(t, (*at)++);
    list = json_array();
    for (int64_t i = 0; i < shape.dim[axis]; i++) json_array_append_new(list, nested(t, axis + 1, at));
    return list;
}

static json_t *element(const lks_element *e)
{
    json_t *list = json_array();

    for (size_t i = 0; i < lks_element_count(e); i++) {
        int64_t at = 0;
        json_array_append_new(list, nested(lks_element_tensor(e, i), 0, &at));
    }
    if (json_array_size(list) == 1) {
        json_t *only = json_incref(json_array_get(list, 0));
        json_decref(list);
        return only;
    }
    return list;
}

json_t *distribute_elements(lks_dataset *ds, size_t max)
{
    json_t *list = json_array();
    lks_iter *it = NULL;
    lks_status status = lks_iter_create(ds, &it);

    while (status == LKS_OK && json_array_size(list) < max) {
        lks_element *e = NULL;
        status = lks_iter_next(it, &e);
        if (status == LKS_OK) json_array_append_new(list, element(e));
        if (status == LKS_OK) lks_element_release(e);
    }
    if (status != LKS_OK && status != LKS_END)
        json_array_append_new(list, json_pack("{s:s}", "error", lks_status_name(status)));
    lks_iter_release(it);
    return list;
}

/* ---- splits.json ---- */

/* Pieces one after another as steps of `replicas`. */
static json_t *steps_of(json_t *pieces, size_t replicas)
{
    json_t *steps = json_array(), *step = NULL, *piece;
    size_t i;

    json_array_foreach(pieces, i, piece)
    {
        if (i % replicas == 0) json_array_append_new(steps, step = json_array());
        json_array_append(step, piece);
    }
    json_decref(pieces);
    return steps;
}

static void flatten(const json_t *pieces, json_t *out)
{
    size_t i;
    json_t *piece;

    json_array_foreach(pieces, i, piece) json_array_extend(out, piece);
}

/* The same rows in the same order in every step, in pieces of our sizes. */
static void check_balanced(golden_report *r, const json_t *got, const json_t *want)
{
    if (json_array_size(got) != json_array_size(want))
        golden_fault(r, "%zu steps, expected %zu", json_array_size(got), json_array_size(want));
    for (size_t s = 0; s < json_array_size(want) && s < json_array_size(got); s++) {
        const json_t *mine = json_array_get(got, s);
        json_t *a = json_array(), *b = json_array();
        size_t n = json_array_size(mine);
        flatten(mine, a);
        flatten(json_array_get(want, s), b);
        if (!json_equal(a, b)) golden_fault(r, "step %zu holds other rows", s);
        for (size_t i = 0; i < n; i++) {
            size_t rows = json_array_size(b) / n + (i < json_array_size(b) % n);
            if (json_array_size(json_array_get(mine, i)) != rows)
                golden_fault(r, "step %zu: piece %zu has %zu rows, not %zu", s, i,
                             json_array_size(json_array_get(mine, i)), rows);
        }
        json_decref(a);
        json_decref(b);
    }
}

/* Steals the dataset of batches. */
static void check_split(golden_report *r, lks_dataset *batches, int64_t replicas, const json_t *want, size_t max_steps)
{
    size_t n = (size_t)replicas;
    lks_dataset *theirs = lks_distribute(lks_dataset_retain(batches), .num_replicas = replicas, .tf_pieces = LKS_TRUE);
    lks_dataset *ours = lks_distribute(batches, .num_replicas = replicas);
    json_t *a = steps_of(distribute_elements(theirs, n * max_steps), n);
    json_t *b = steps_of(distribute_elements(ours, n * max_steps), n);

    if (golden_ok(r, lks_dataset_status(ours), "distributing")) {
        char *text = json_dumps(a, JSON_COMPACT);
        if (!json_equal(a, want)) golden_fault(r, "with tf_pieces: %.120s", text);
        free(text);
        check_balanced(r, b, want);
    }
    json_decref(a);
    json_decref(b);
    lks_dataset_release(theirs);
    lks_dataset_release(ours);
}

static void run_split(golden_report *r, const json_t *c)
{
    int64_t replicas = golden_int(c, "replicas", 1), batch = golden_int(c, "global_batch", 1);
    lks_dataset *ds = lks_batch(lks_range(0, golden_int(c, "elements", 0), 1), batch,
                                .drop_remainder = golden_true(c, "drop_remainder") ? LKS_TRUE : LKS_FALSE);
    const char *spec = golden_text(c, "element_spec");
    lks_dataset *out = lks_distribute(lks_dataset_retain(ds), .num_replicas = replicas);
    int64_t dim = lks_dataset_spec(out) == NULL ? 0 : lks_spec_shape(lks_dataset_spec(out)).dim[0];
    char text[32];

    snprintf(text, sizeof text, dim < 0 ? "shape=(None,)" : "shape=(%lld,)", (long long)dim);
    if (spec == NULL || strstr(spec, text) == NULL) golden_fault(r, "the pieces' %s is not in %.60s", text, spec);
    lks_dataset_release(out);
    check_split(r, ds, replicas, json_object_get(c, "steps"), 100);
}

static lks_dataset *fill_rows(void) /* 1; 2 2; 3 3 3; ... in batches of 4, padded */
{
    json_t *pipeline = json_loads("[{\"op\":\"range\",\"args\":[1,6]},{\"op\":\"map\",\"f\":\"fill\"},"
                                  "{\"op\":\"padded_batch\",\"batch_size\":4}]",
                                  0, NULL);
    data_world world = { "", "", false, 0, NULL };
    lks_dataset *ds = data_build(&world, pipeline);

    json_decref(pipeline);
    return ds;
}

static lks_status twice_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const lks_tensor *x = lks_element_tensor(in, 0);
    lks_tensor *y = lks_element_output_shaped(out, 0, lks_tensor_shape(x));

    (void)context, (void)user;
    if (y == NULL) return LKS_E_NOMEM;
    for (int64_t i = 0; i < lks_tensor_size(x); i++)
        ((int64_t *)lks_tensor_data(y))[i] = 2 * ((const int64_t *)lks_tensor_cdata(x))[i];
    return LKS_OK;
}

static lks_status keep_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *t = lks_element_output(out, 0);

    (void)context, (void)in, (void)user;
    if (t == NULL) return LKS_E_NOMEM;
    *(bool *)lks_tensor_data(t) = true;
    return LKS_OK;
}

static lks_dataset *vector(void)
{
    const int64_t v[5] = { 1, 2, 3, 4, 5 };
    lks_tensor *t = lks_tensor_from(LKS_INT64, (lks_shape){ .rank = 1, .dim = { 5 } }, v);
    lks_dataset *ds = lks_from_tensors(t);

    lks_tensor_release(t);
    return ds;
}

/* The named cases; NULL: not ours. */
static lks_dataset *other(const char *name)
{
    const lks_map_fn keep = { .struct_size = sizeof keep,
                              .name = "keep",
                              .output_spec = lks_spec_fn_bool,
                              .apply = keep_apply,
                              .flags = LKS_FN_PURE };
    const lks_map_fn twice = {
        .struct_size = sizeof twice, .name = "twice", .apply = twice_apply, .flags = LKS_FN_PURE
    };

    if (strcmp(name, "map after batch") == 0) return lks_map(lks_batch(lks_range(0, 7, 1), 4), &twice);
    if (strcmp(name, "repeat after batch") == 0) return lks_repeat(lks_batch(lks_range(0, 7, 1), 4), 2);
    if (strcmp(name, "batch after repeat") == 0) return lks_batch(lks_repeat(lks_range(0, 7, 1), 2), 4);
    if (strcmp(name, "infinite, first 4 steps") == 0) return lks_repeat(lks_batch(lks_range(0, 7, 1), 4), -1);
    if (strcmp(name, "padded_batch") == 0) return fill_rows();
    if (strcmp(name, "batch size unknown (filter on batches)") == 0)
        return lks_filter(lks_batch(lks_range(0, 7, 1), 4), &keep);
    if (strcmp(name, "vectors that are not a batch") == 0) return vector();
    return NULL;
}

static void run_other(golden_report *r, const char *name, const json_t *want)
{
    lks_input_context context = { sizeof context, 1, 0, 2 };
    lks_dataset *ds = other(name), *bare;
    int64_t size = 0;

    if (json_object_get(want, "no error, result") != NULL) want = json_object_get(want, "no error, result");
    if (ds != NULL) {
        check_split(r, ds, 2, want, json_array_size(want));
    } else if (strcmp(name, "unbatched dataset") == 0) {
        bare = lks_distribute(lks_range(0, 7, 1), .num_replicas = 2);
        if (lks_dataset_status(bare) != LKS_E_SHAPE || strstr(lks_last_error(), "batch") == NULL)
            golden_fault(r, "not refused: %s", lks_last_error());
        lks_dataset_release(bare);
    } else if (strcmp(name, "its context") == 0) {
        if (lks_per_replica_batch_size(&context, 8, &size) != LKS_OK || size != 4) golden_fault(r, "8 on 2 is not 4");
        if (lks_per_replica_batch_size(&context, 7, &size) != LKS_E_ARG) golden_fault(r, "7 on 2 was not refused");
    } else {
        golden_not_yet(r, "strategies");
    }
}

static void run_splits(golden_report *r, const json_t *set)
{
    const json_t *list = json_object_get(set, "splits"), *value;
    const char *name;
    char title[GOLDEN_NAME];

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *c = json_array_get(list, i);
        snprintf(title, sizeof title, "%lld rows in %lld on %lld%s", (long long)golden_int(c, "elements", 0),
                 (long long)golden_int(c, "global_batch", 0), (long long)golden_int(c, "replicas", 0),
                 golden_true(c, "drop_remainder") ? ", drop_remainder" : "");
        if (!golden_begin(r, title)) continue;
        run_split(r, c);
        golden_end(r);
    }
    json_object_foreach(json_object_get(set, "other"), name, value)
    {
        if (!golden_begin(r, name)) continue;
        run_other(r, name, value);
        golden_end(r);
    }
}

static bool run_file(const char *folder, const char *name, void (*cases)(golden_report *r, const json_t *set),
                     golden_report *sum)
{
    golden_report r = { .verbose = sum->verbose, .only = sum->only };
    char path[2048];
    json_t *set;

    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    if (!golden_is_file(path)) return false;
    set = golden_read_json(path);
    if (set != NULL) cases(&r, set);
    json_decref(set);
    golden_print(name, &r);
    golden_add(sum, &r);
    return true;
}

static bool run(const char *folder, golden_report *sum)
{
    bool any = run_file(folder, "splits", run_splits, sum);

    return run_file(folder, "pipelines", distribute_pipelines, sum) || any;
}

const golden_topic golden_distribute = { "distribute", run };
