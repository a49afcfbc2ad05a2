/* spec_shape.c - what specs allow, how two of them are joined, and how messages write them. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "spec.h"
#include "tensor/tensor.h"

bool lks__shape_fits(const lks_shape *pattern, const lks_shape *shape)
{
    if (pattern->rank < 0) return true;
    if (pattern->rank != shape->rank) return false;
    for (int64_t i = 0; i < pattern->rank; i++)
        if (pattern->dim[i] >= 0 && pattern->dim[i] != shape->dim[i]) return false;
    return true;
}

lks_shape lks__shape_join(const lks_shape *a, const lks_shape *b)
{
    lks_shape s = *a;

    if (a->rank != b->rank) return (lks_shape){ .rank = -1 };
    for (int64_t i = 0; i < s.rank; i++)
        if (a->dim[i] != b->dim[i]) s.dim[i] = -1;
    return s;
}

bool lks__spec_allows(const lks_spec *want, const lks_spec *found)
{
    if (!lks__spec_same_structure(want, found)) return false;
    for (size_t i = 0; i < lks_spec_leaf_count(want); i++) {
        const lks_spec *w = lks_spec_leaf(want, i), *f = lks_spec_leaf(found, i);
        lks_shape ws = lks_spec_shape(w), fs = lks_spec_shape(f);
        if (lks_spec_dtype(w) != lks_spec_dtype(f) || lks_spec_ragged_rank(w) != lks_spec_ragged_rank(f)) return false;
        if (lks_spec_kind_of(w) == LKS_SPEC_DATASET) {
            if (!lks__spec_allows(lks_spec_child(w, 0), lks_spec_child(f, 0))) return false;
        } else if (!lks__shape_fits(&ws, &fs)) {
            return false;
        }
    }
    return true;
}

/* Children of tuples and dicts one by one; `next` counts leaves. */
static lks_spec *map_tree(const lks_spec *spec, lks_leaf_fn fn, void *user, size_t *next)
{
    size_t n = lks_spec_child_count(spec), i = 0;
    lks_spec_kind kind = lks_spec_kind_of(spec);
    lks_spec **child, *s = NULL;
    const char **name;

    if (kind != LKS_SPEC_TUPLE && kind != LKS_SPEC_DICT) return fn(user, (*next)++, spec);
    child = lks__calloc(n, sizeof *child);
    name = lks__calloc(n, sizeof *name);
    if (child == NULL || name == NULL) lks__fail(LKS_E_NOMEM, "no memory for an element spec");
    else
        for (; i < n; i++) {
            name[i] = lks_spec_child_name(spec, i);
            child[i] = map_tree(lks_spec_child(spec, i), fn, user, next);
            if (child[i] == NULL) break;
        }
    if (child != NULL && name != NULL && i == n)
        s = kind == LKS_SPEC_TUPLE ? lks_spec_tuple(n, child) : lks_spec_dict(n, name, child);
    else
        while (i > 0) lks_spec_release(child[--i]);
    lks__free(child);
    lks__free(name);
    return s;
}

lks_spec *lks__spec_map(const lks_spec *spec, lks_leaf_fn fn, void *user)
{
    size_t next = 0;

    return map_tree(spec, fn, user, &next);
}

typedef struct join_args {
    const lks_spec *a, *b;
} join_args;

static lks_spec *join_leaf(void *user, size_t i, const lks_spec *x)
{
    const join_args *args = user;
    const lks_spec *y = lks_spec_leaf(args->b, i);
    lks_dtype dtype = lks_spec_dtype(x);
    lks_shape sx = lks_spec_shape(x), sy = lks_spec_shape(y), shape = lks__shape_join(&sx, &sy);
    int64_t rank = lks_spec_ragged_rank(x), classes = lks_spec_num_classes(x);
    char name[LKS_LEAF_TEXT];

    if (dtype != lks_spec_dtype(y) || rank != lks_spec_ragged_rank(y)) {
        lks__fail(LKS_E_SHAPE, "%s is %s in one dataset and %s in the other", lks__leaf_text(args->a, i, name),
                  lks_dtype_name(dtype), lks_dtype_name(lks_spec_dtype(y)));
        return NULL;
    }
    switch (lks_spec_kind_of(x)) {
    case LKS_SPEC_DATASET: return lks_spec_dataset(lks__spec_join(lks_spec_child(x, 0), lks_spec_child(y, 0)));
    case LKS_SPEC_RAGGED: return lks_spec_ragged(dtype, shape, rank);
    default: return lks_spec_label(dtype, shape, classes == lks_spec_num_classes(y) ? classes : 0);
    }
}

lks_spec *lks__spec_join(const lks_spec *a, const lks_spec *b)
{
    join_args args = { a, b };
    char one[LKS_SPEC_TEXT], two[LKS_SPEC_TEXT];

    if (lks__spec_same_structure(a, b)) return lks__spec_map(a, join_leaf, &args);
    lks__fail(LKS_E_SHAPE, "the structures %s and %s differ", lks__spec_text(a, one), lks__spec_text(b, two));
    return NULL;
}

/* Appends to a buffer of LKS_SPEC_TEXT bytes, cutting. */
static void put(char *buffer, const char *text)
{
    size_t n = strlen(buffer);

    snprintf(buffer + n, LKS_SPEC_TEXT - n, "%s", text);
}

static void write_spec(const lks_spec *s, char *buffer)
{
    lks_spec_kind kind = lks_spec_kind_of(s);
    lks_shape shape = lks_spec_shape(s);
    char text[LKS_SHAPE_TEXT];

    if (kind == LKS_SPEC_TENSOR || kind == LKS_SPEC_RAGGED) {
        if (kind == LKS_SPEC_RAGGED) put(buffer, "ragged ");
        put(buffer, lks_dtype_name(lks_spec_dtype(s)));
        put(buffer, " ");
        put(buffer, lks__shape_text(&shape, text));
        return;
    }
    put(buffer, kind == LKS_SPEC_DICT ? "{" : kind == LKS_SPEC_TUPLE ? "(" : "dataset(");
    for (size_t i = 0; i < lks_spec_child_count(s); i++) {
        if (i > 0) put(buffer, ", ");
        if (kind == LKS_SPEC_DICT) {
            put(buffer, lks_spec_child_name(s, i));
            put(buffer, ": ");
        }
        write_spec(lks_spec_child(s, i), buffer);
    }
    put(buffer, kind == LKS_SPEC_DICT ? "}" : ")");
}

const char *lks__spec_text(const lks_spec *spec, char *buffer)
{
    buffer[0] = '\0';
    if (spec != NULL) write_spec(spec, buffer);
    return buffer;
}

/* The names on the way to leaf i, joined by '/'; tuples contribute nothing. */
static void leaf_path(const lks_spec *s, size_t i, char *buffer, size_t size)
{
    const lks_spec *child;
    size_t n = strlen(buffer);

    if (lks_spec_kind_of(s) != LKS_SPEC_TUPLE && lks_spec_kind_of(s) != LKS_SPEC_DICT) return;
    for (size_t k = 0; (child = lks_spec_child(s, k)) != NULL; k++) {
        if (i >= lks_spec_leaf_count(child)) {
            i -= lks_spec_leaf_count(child);
            continue;
        }
        if (lks_spec_child_name(s, k) != NULL)
            snprintf(buffer + n, size - n, "%s%s", n > 0 ? "/" : "", lks_spec_child_name(s, k));
        leaf_path(child, i, buffer, size);
        return;
    }
}

const char *lks__leaf_text(const lks_spec *spec, size_t i, char *buffer)
{
    char path[LKS_LEAF_TEXT - 32] = "";

    leaf_path(spec, i, path, sizeof path);
    if (path[0] != '\0') snprintf(buffer, LKS_LEAF_TEXT, "component %zu (%s)", i, path);
    else if (lks_spec_leaf_count(spec) == 1) snprintf(buffer, LKS_LEAF_TEXT, "the element");
    else snprintf(buffer, LKS_LEAF_TEXT, "component %zu", i);
    return buffer;
}
