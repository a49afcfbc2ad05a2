/* data_sources.c - the sources of the pipeline language. */
#include "data_build.h"

static lks_status cast_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *t = lks_tensor_cast(lks_element_tensor(in, 0), *(const lks_dtype *)user);
    lks_status status = t == NULL ? LKS_E_NOMEM : lks_element_set(out, 0, t);

    (void)context;
    lks_tensor_release(t);
    return status;
}

static lks_spec *cast_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in;
    return lks_spec_tensor(*(const lks_dtype *)user, (lks_shape){ .rank = 0 });
}

static lks_dataset *make_range(const stage_args *a)
{
    const json_t *args = json_object_get(a->json, "args");
    int64_t v[3] = { 0, 0, 1 };
    size_t n = json_array_size(args);
    lks_dataset *ds;
    static lks_dtype dtypes[16];

    for (size_t i = 0; i < n && i < 3; i++) v[i] = json_integer_value(json_array_get(args, i));
    ds = n == 1 ? lks_range(0, v[0], 1) : lks_range(v[0], v[1], v[2]);
    if (word(a, "dtype") != NULL) {
        lks_dtype d = data_dtype(word(a, "dtype"));
        const lks_map_fn cast = { sizeof cast, "cast", cast_spec, cast_apply, LKS_FN_PURE, &dtypes[d], NULL, 0 };
        dtypes[d] = d;
        ds = lks_map(ds, &cast);
    }
    return ds;
}

/* Gives a source the structure of the JSON value. */
static lks_status same_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    (void)context, (void)user;
    for (size_t i = 0; i < lks_element_count(in); i++) {
        lks_status status = lks_element_set(out, i, lks_element_tensor(in, i));
        if (status != LKS_OK) return status;
    }
    return LKS_OK;
}

typedef struct reshaped {
    lks_spec *spec; /* whole arrays */
    bool slices;
} reshaped;

static lks_spec *restructure(const lks_spec *whole, bool slices)
{
    lks_spec *child[16];
    const char *name[16];
    size_t n = lks_spec_child_count(whole);
    lks_shape shape = lks_spec_shape(whole);

    if (lks_spec_kind_of(whole) == LKS_SPEC_TENSOR) {
        for (int64_t k = 1; slices && k < shape.rank; k++) shape.dim[k - 1] = shape.dim[k];
        if (slices) shape.rank--;
        return lks_spec_tensor(lks_spec_dtype(whole), shape);
    }
    for (size_t i = 0; i < n && i < 16; i++) {
        child[i] = restructure(lks_spec_child(whole, i), slices);
        name[i] = lks_spec_child_name(whole, i);
    }
    return lks_spec_kind_of(whole) == LKS_SPEC_DICT ? lks_spec_dict(n, name, child) : lks_spec_tuple(n, child);
}

static lks_spec *structure_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    const reshaped *r = user;

    (void)context, (void)in;
    return restructure(r->spec, r->slices);
}

static void structure_release(void *user)
{
    lks_spec_release(((reshaped *)user)->spec);
    free(user);
}

typedef struct ragged_rows {
    lks_ragged *all;
    int64_t next;
} ragged_rows;

static lks_status ragged_open(void *user, void **state)
{
    ((ragged_rows *)user)->next = 0;
    *state = user;
    return LKS_OK;
}

static lks_status ragged_next(void *state, lks_element *out, void *user)
{
    ragged_rows *r = state;
    lks_tensor *split = lks_ragged_split(r->all, 0), *row;
    const int64_t *at = lks_tensor_cdata(split);
    lks_ragged *one;
    lks_status status;

    (void)user;
    if (r->next + 1 >= lks_tensor_size(split)) return LKS_END;
    row = lks_tensor_rows(lks_ragged_values(r->all), at[r->next], at[r->next + 1]);
    one = lks_ragged_create(row, 0, NULL);
    lks_tensor_release(row);
    r->next++;
    status = lks_element_set_ragged(out, 0, one);
    lks_ragged_release(one);
    return status;
}

static void ragged_release(void *user)
{
    lks_ragged_release(((ragged_rows *)user)->all);
    free(user);
}

static lks_dataset *make_ragged(data_value *v)
{
    ragged_rows *rows = calloc(1, sizeof *rows);
    const lks_generator g = { sizeof g, "ragged rows", ragged_open, ragged_next, NULL, rows, ragged_release };
    lks_spec *spec = lks_spec_ragged(lks_tensor_dtype(lks_ragged_values(v->ragged)), lks_shape(-1), 0);
    int64_t n = lks_tensor_size(lks_ragged_split(v->ragged, 0)) - 1;

    rows->all = lks_ragged_retain(v->ragged);
    return lks_assert_cardinality(lks_from_generator(spec, &g), n);
}

static lks_dataset *make_tensors(const stage_args *a, bool slices)
{
    data_value v;
    lks_dataset *ds;

    if (!data_value_read(json_object_get(a->json, "value"), &v)) {
        data_value_free(&v);
        return missing(a, "a value of the language");
    }
    if (v.ragged != NULL) {
        ds = make_ragged(&v);
        data_value_free(&v);
        return ds;
    }
    ds = slices ? lks_from_tensor_slices_n(v.n, v.tensor) : lks_from_tensors_n(v.n, v.tensor);
    if (lks_spec_kind_of(v.spec) != LKS_SPEC_TENSOR && lks_dataset_status(ds) == LKS_OK) {
        reshaped *r = calloc(1, sizeof *r);
        const lks_map_fn f = {
            sizeof f, "structure", structure_spec, same_apply, LKS_FN_PURE, r, structure_release, 0
        };
        r->spec = lks_spec_retain(v.spec);
        r->slices = slices;
        ds = lks_map(ds, &f);
    }
    data_value_free(&v);
    return ds;
}

/* ---- files ---- */

enum { MAX_FILES = 16 };

/* "files": a name or a list of names, below the folder of the sources. */
static size_t file_names(const stage_args *a, const char *key, const char *out[MAX_FILES], char space[MAX_FILES][1024])
{
    const json_t *v = json_object_get(a->json, key);
    size_t n = json_is_array(v) ? json_array_size(v) : 1;

    for (size_t i = 0; i < n && i < MAX_FILES; i++) {
        const char *name = json_string_value(json_is_array(v) ? json_array_get(v, i) : v);
        snprintf(space[i], 1024, "%s/%s", a->world->folder, name);
        out[i] = space[i];
    }
    return n < MAX_FILES ? n : MAX_FILES;
}

static lks_files_options files_options(const stage_args *a)
{
    return (lks_files_options){ .struct_size = sizeof(lks_files_options),
                                .compression_type = word(a, "compression_type"),
                                .buffer_size = option(a, "buffer_size"),
                                .num_parallel_reads = integer(a, "num_parallel_reads", 0) };
}

static lks_dataset *make_csv(const stage_args *a, size_t n, const char *const *files)
{
    const json_t *columns = json_object_get(a->json, "record_defaults");
    size_t width = json_array_size(columns);
    lks_dtype dtype[MAX_FILES];
    lks_tensor *fallback[MAX_FILES] = { NULL };
    int64_t select[MAX_FILES], exclude[MAX_FILES];
    const char *delimiter = word(a, "field_delim");
    lks_dataset *ds;

    for (size_t i = 0; i < width && i < MAX_FILES; i++) {
        const json_t *c = json_array_get(columns, i), *value = json_object_get(c, "default");
        const char *required = json_string_value(json_object_get(c, "required"));
        dtype[i] = data_dtype(required != NULL ? required : json_string_value(json_object_get(c, "dtype")));
        if (required != NULL) continue;
        fallback[i] = lks_tensor_create(dtype[i], (lks_shape){ .rank = 0 });
        data_put(fallback[i], 0, value);
    }
    ds = lks_csv(n, files, .n_columns = width, .dtypes = dtype, .defaults = fallback,
                 .n_select_cols = integers(json_object_get(a->json, "select_cols"), select, MAX_FILES),
                 .select_cols = select,
                 .n_exclude_cols = integers(json_object_get(a->json, "exclude_cols"), exclude, MAX_FILES),
                 .exclude_cols = exclude, .header = truth(a, "header"), .use_quote_delim = truth(a, "use_quote_delim"),
                 .field_delim = delimiter == NULL ? '\0' : delimiter[0], .na_value = word(a, "na_value"),
                 .files = files_options(a));
    for (size_t i = 0; i < width && i < MAX_FILES; i++) lks_tensor_release(fallback[i]);
    return ds;
}

/* Recorded names are without their folder. */
static lks_status last_part(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const lks_bytes *path = lks_tensor_cdata(lks_element_tensor(in, 0));
    size_t from = path->size;

    (void)context, (void)user;
    while (from > 0 && path->data[from - 1] != '/') from--;
    if (lks_element_output(out, 0) == NULL) return LKS_E_NOMEM;
    return lks_element_set_bytes(out, 0, 0, path->data + from, path->size - from);
}

static lks_dataset *make_files(const stage_args *a, const char *op)
{
    char space[MAX_FILES][1024];
    const char *name[MAX_FILES];
    const lks_map_fn last = {
        .struct_size = sizeof last, .name = "last part", .apply = last_part, .flags = LKS_FN_PURE
    };
    const lks_files_options o = files_options(a);
    size_t n = file_names(a, strcmp(op, "list_files") == 0 ? "pattern" : "files", name, space);

    if (strcmp(op, "text_lines") == 0) return lks_text_lines_with(n, name, &o);
    if (strcmp(op, "tfrecord") == 0) return lks_tfrecord_with(n, name, &o);
    if (strcmp(op, "csv") == 0) return make_csv(a, n, name);
    if (strcmp(op, "fixed_length") == 0)
        return lks_fixed_length(n, name, integer(a, "record_bytes", 0), .header_bytes = integer(a, "header_bytes", 0),
                                .footer_bytes = integer(a, "footer_bytes", 0), .files = o);
    return lks_map(
        lks_list_files(n, name, .shuffle = truth(a, "shuffle"), .seed = seed(a), .global_seed = global_seed(a)), &last);
}

lks_dataset *data_source(const stage_args *a, const char *op)
{
    static const char *const files[] = { "text_lines", "tfrecord", "csv", "fixed_length", "list_files" };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(op, files[i]) == 0) return make_files(a, op);
    if (strcmp(op, "range") == 0) return make_range(a);
    if (strcmp(op, "from_tensor_slices") == 0) return make_tensors(a, true);
    if (strcmp(op, "from_tensors") == 0) return make_tensors(a, false);
    if (strcmp(op, "random") == 0)
        return lks_random(.seed = seed(a), .global_seed = global_seed(a),
                          .rerandomize_each_iteration = truth(a, "rerandomize_each_iteration"));
    return missing(a, op);
}
