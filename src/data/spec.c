/* spec.c - element specs: immutable counted trees. Every node keeps its leaves in flat order, so that a component
 * number finds its leaf at once. */
#include "spec.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"

struct lks_spec {
    atomic_int references;
    lks_spec_kind kind;
    lks_dtype dtype;
    lks_shape shape;
    int64_t num_classes, ragged_rank;
    size_t n, n_leaves;
    lks_spec **child;
    char **name;
    const lks_spec **leaf;
};

static lks_spec *fail_nomem(void)
{
    lks__fail(LKS_E_NOMEM, "no memory for an element spec");
    return NULL;
}

void lks_spec_release(lks_spec *spec)
{
    if (spec == NULL || atomic_fetch_sub(&spec->references, 1) != 1) return;
    for (size_t i = 0; i < spec->n; i++) {
        lks_spec_release(spec->child[i]);
        if (spec->name != NULL) lks__free(spec->name[i]);
    }
    lks__free(spec->child);
    lks__free(spec->name);
    lks__free(spec->leaf);
    lks__free(spec);
}

lks_spec *lks_spec_retain(const lks_spec *spec)
{
    lks_spec *s = (lks_spec *)spec; /* immutable but for its count */

    if (s != NULL) atomic_fetch_add(&s->references, 1);
    return s;
}

static lks_spec *make_leaf(lks_spec_kind kind, lks_dtype dtype, lks_shape shape)
{
    lks_spec *s;

    if (kind != LKS_SPEC_DATASET && lks_dtype_size(dtype) == 0) {
        lks__fail(LKS_E_ARG, "an element spec has dtype %d, which does not exist", (int)dtype);
        return NULL;
    }
    if (shape.rank > LKS_MAX_RANK) shape.rank = -1;
    for (int64_t i = 0; i < shape.rank; i++)
        if (shape.dim[i] < -1) {
            lks__fail(LKS_E_ARG, "an element spec has an axis of size %lld: sizes are at least 0, or -1 for unknown",
                      (long long)shape.dim[i]);
            return NULL;
        }
    s = lks__calloc(1, sizeof *s);
    if (s == NULL) return fail_nomem();
    atomic_init(&s->references, 1);
    s->kind = kind;
    s->dtype = dtype;
    s->shape = shape;
    s->n_leaves = 1;
    s->leaf = lks__malloc(sizeof *s->leaf);
    if (s->leaf == NULL) {
        lks__free(s);
        return fail_nomem();
    }
    s->leaf[0] = s;
    return s;
}

lks_spec *lks_spec_tensor(lks_dtype dtype, lks_shape shape)
{
    return make_leaf(LKS_SPEC_TENSOR, dtype, shape);
}

lks_spec *lks_spec_label(lks_dtype dtype, lks_shape shape, int64_t num_classes)
{
    lks_spec *s = make_leaf(LKS_SPEC_TENSOR, dtype, shape);

    if (s != NULL) s->num_classes = num_classes > 0 ? num_classes : 0;
    return s;
}

lks_spec *lks_spec_ragged(lks_dtype dtype, lks_shape shape, int64_t ragged_rank)
{
    lks_spec *s = make_leaf(LKS_SPEC_RAGGED, dtype, shape);

    if (s != NULL) s->ragged_rank = ragged_rank;
    return s;
}

lks_spec *lks_spec_dataset(lks_spec *element)
{
    lks_spec *s = NULL;

    if (element == NULL) return NULL;
    s = make_leaf(LKS_SPEC_DATASET, (lks_dtype)0, (lks_shape){ .rank = -1 });
    if (s != NULL) s->child = lks__malloc(sizeof *s->child);
    if (s == NULL || s->child == NULL) {
        lks_spec_release(s);
        lks_spec_release(element);
        return fail_nomem();
    }
    s->child[0] = element;
    s->n = 1;
    return s;
}

static void release_all(size_t n, lks_spec *const *children)
{
    for (size_t i = 0; i < n; i++) lks_spec_release(children[i]);
}

/* Steals the children into a new node. */
static lks_spec *make_node(lks_spec_kind kind, size_t n, lks_spec *const *children)
{
    lks_spec *s;
    size_t leaves = 0;

    for (size_t i = 0; i < n; i++) {
        if (children[i] == NULL) {
            release_all(n, children);
            return NULL;
        }
        leaves += children[i]->n_leaves;
    }
    s = lks__calloc(1, sizeof *s);
    if (s == NULL) goto no_memory;
    atomic_init(&s->references, 1);
    s->kind = kind;
    s->shape.rank = -1;
    s->n_leaves = leaves;
    s->leaf = lks__calloc(leaves, sizeof *s->leaf);
    s->child = lks__calloc(n, sizeof *s->child);
    if (kind == LKS_SPEC_DICT) s->name = lks__calloc(n, sizeof *s->name);
    if (s->leaf == NULL || s->child == NULL || (kind == LKS_SPEC_DICT && s->name == NULL)) {
        lks_spec_release(s);
        goto no_memory;
    }
    for (size_t i = 0; i < n; i++) s->child[i] = children[i];
    s->n = n;
    return s;

no_memory:
    release_all(n, children);
    return fail_nomem();
}

/* The flat list of leaves is the children's lists one after another. */
static lks_spec *collect_leaves(lks_spec *s)
{
    size_t k = 0;

    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->child[i]->n_leaves; j++) s->leaf[k++] = s->child[i]->leaf[j];
    return s;
}

lks_spec *lks_spec_tuple(size_t n, lks_spec *const *children)
{
    lks_spec *s = make_node(LKS_SPEC_TUPLE, n, children);

    return s == NULL ? NULL : collect_leaves(s);
}

/* Insertion of field i into the fields before it, which are sorted. */
static lks_status insert_name(lks_spec *s, size_t i, const char *text)
{
    char *name = lks__strdup(text);
    lks_spec *child = s->child[i];
    size_t j = i;

    if (name == NULL) return lks__fail(LKS_E_NOMEM, "no memory for an element spec");
    for (; j > 0 && strcmp(s->name[j - 1], name) > 0; j--) {
        s->name[j] = s->name[j - 1];
        s->child[j] = s->child[j - 1];
    }
    s->name[j] = name;
    s->child[j] = child;
    if (j > 0 && strcmp(s->name[j - 1], name) == 0)
        return lks__fail(LKS_E_ARG, "an element spec has two fields named '%s'", text);
    return LKS_OK;
}

lks_spec *lks_spec_dict(size_t n, const char *const *names, lks_spec *const *children)
{
    lks_spec *s = make_node(LKS_SPEC_DICT, n, children);

    if (s == NULL) return NULL;
    for (size_t i = 0; i < n; i++)
        if (insert_name(s, i, names[i]) != LKS_OK) {
            lks_spec_release(s);
            return NULL;
        }
    return collect_leaves(s);
}

lks_spec_kind lks_spec_kind_of(const lks_spec *spec)
{
    return spec->kind;
}

lks_dtype lks_spec_dtype(const lks_spec *spec)
{
    return spec->dtype;
}

lks_shape lks_spec_shape(const lks_spec *spec)
{
    return spec->shape;
}

int64_t lks_spec_num_classes(const lks_spec *spec)
{
    return spec->num_classes;
}

int64_t lks_spec_ragged_rank(const lks_spec *spec)
{
    return spec->ragged_rank;
}

size_t lks_spec_child_count(const lks_spec *spec)
{
    return spec->n;
}

const lks_spec *lks_spec_child(const lks_spec *spec, size_t i)
{
    return i < spec->n ? spec->child[i] : NULL;
}

const char *lks_spec_child_name(const lks_spec *spec, size_t i)
{
    return spec->name != NULL && i < spec->n ? spec->name[i] : NULL;
}

size_t lks_spec_leaf_count(const lks_spec *spec)
{
    return spec->n_leaves;
}

const lks_spec *lks_spec_leaf(const lks_spec *spec, size_t i)
{
    return i < spec->n_leaves ? spec->leaf[i] : NULL;
}

bool lks__spec_same_structure(const lks_spec *a, const lks_spec *b)
{
    if (a->kind != b->kind || a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++) {
        if (a->name != NULL && strcmp(a->name[i], b->name[i]) != 0) return false;
        if (!lks__spec_same_structure(a->child[i], b->child[i])) return false;
    }
    return true;
}

int lks_spec_equal(const lks_spec *a, const lks_spec *b)
{
    if (a == b) return 1;
    if (a == NULL || b == NULL || !lks__spec_same_structure(a, b)) return 0;
    for (size_t i = 0; i < a->n_leaves; i++) {
        const lks_spec *x = a->leaf[i], *y = b->leaf[i];
        if (x->dtype != y->dtype || x->ragged_rank != y->ragged_rank || !lks_shape_equal(&x->shape, &y->shape))
            return 0;
        if (x->kind == LKS_SPEC_DATASET && !lks_spec_equal(x->child[0], y->child[0])) return 0;
    }
    return 1;
}
