/* buffers.c - the free lists behind a stage's elements. A list never grows in a release: its room is made when the thing that
 * will come home is created. */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "element.h"
#include "ledger.h"
#include "lockstep/dataset.h"
#include "tensor/tensor.h"
#include "work.h"

enum { LARGE = 1 << 16 }; /* bytes from which a tensor is worth freeing when memory is short */

typedef struct free_list {
    lks_buffers *owner;
    void **item;
    size_t n, made, capacity; /* free now, ever made, room */
} free_list;

typedef struct pool_name {
    struct pool_name *next;
    char text[];
} pool_name;

struct lks_buffers {
    pthread_mutex_t lock;
    lks_spec *spec;
    size_t n_leaves;
    int64_t out; /* things that will come home, and one for the owner */
    size_t spare;
    bool closed;
    unsigned forks; /* a forked child must not wait for a lock that nobody will open */
    pool_name *names;
    free_list elements;
    free_list lists[]; /* [2 i] tensors and [2 i + 1] views of component i */
};

lks_buffers *lks__buffers_create(const lks_spec *spec, int64_t held)
{
    enum { MAX_SPARE = 1 << 16 };
    size_t n = lks_spec_leaf_count(spec);
    lks_buffers *b = lks__calloc(1, sizeof *b + 2 * n * sizeof *b->lists);

    if (b == NULL || pthread_mutex_init(&b->lock, NULL) != 0) {
        lks__free(b);
        lks__fail(LKS_E_NOMEM, "no memory for a pool of buffers");
        return NULL;
    }
    b->spec = lks_spec_retain(spec);
    b->n_leaves = n;
    b->out = 1;
    b->spare = (size_t)(held < 0 ? 0 : held > MAX_SPARE ? MAX_SPARE : held);
    b->forks = lks__fork_count();
    b->elements.owner = b;
    for (size_t i = 0; i < 2 * n; i++) b->lists[i].owner = b;
    return b;
}

const lks_spec *lks__buffers_spec(const lks_buffers *b)
{
    return b->spec;
}

/* Tensors of a pool stand in the ledger from their making to their end. */
static void free_tensor(lks_tensor *t)
{
    lks__ledger_add(-(int64_t)lks__tensor_capacity(t));
    lks__tensor_destroy(t);
}

static void destroy(lks_buffers *b)
{
    for (size_t k = 0; k < b->elements.n; k++) lks__free(b->elements.item[k]);
    lks__free(b->elements.item);
    for (size_t i = 0; i < 2 * b->n_leaves; i++) {
        for (size_t k = 0; k < b->lists[i].n; k++) free_tensor(b->lists[i].item[k]);
        lks__free(b->lists[i].item);
    }
    for (pool_name *n = b->names, *next; n != NULL; n = next) {
        next = n->next;
        lks__free(n);
    }
    pthread_mutex_destroy(&b->lock);
    lks_spec_release(b->spec);
    lks__free(b);
}

static bool forked(const lks_buffers *b)
{
    return b->forks != lks__fork_count();
}

void lks__buffers_release(lks_buffers *b)
{
    bool last;

    if (b == NULL || forked(b)) return; /* a child leaves the parent's pool alone */
    pthread_mutex_lock(&b->lock);
    b->closed = true;
    last = --b->out == 0;
    pthread_mutex_unlock(&b->lock);
    if (last) destroy(b);
}

/* Puts a thing back; false if it is to be freed instead because the owner is gone or `unwanted`. */
static bool come_home(lks_buffers *b, free_list *list, void *item, bool unwanted)
{
    bool kept, last;

    pthread_mutex_lock(&b->lock);
    kept = !b->closed && !unwanted;
    if (unwanted && !b->closed) list->made--;
    if (kept) list->item[list->n++] = item;
    last = --b->out == 0;
    pthread_mutex_unlock(&b->lock);
    if (last) destroy(b);
    return kept;
}

/* Takes a free thing or makes room for one more and returns NULL. `*status` tells the two NULLs apart. */
static void *take(lks_buffers *b, free_list *list, lks_status *status)
{
    void *item = NULL;

    *status = LKS_OK;
    pthread_mutex_lock(&b->lock);
    if (list->n > 0) item = list->item[--list->n];
    else {
        *status = lks__grow(&list->item, &list->capacity, list->made + 1, sizeof *list->item);
        if (*status == LKS_OK) list->made++;
    }
    if (*status == LKS_OK) b->out++;
    pthread_mutex_unlock(&b->lock);
    return item;
}

/* A thing that was to be made could not be. */
static void take_back(lks_buffers *b, free_list *list)
{
    pthread_mutex_lock(&b->lock);
    list->made--;
    b->out--;
    pthread_mutex_unlock(&b->lock);
}

/* With the first thing of a list come as many more as the stages above may hold: their number at any moment depends on
 * timing, and a warm pipeline must not allocate. Failing here costs nothing yet. */
static void add_spare(lks_buffers *b, free_list *list, void *(*make)(free_list *list, size_t bytes), size_t bytes)
{
    enum { MAX_BYTES = 1 << 26 };
    size_t most = (size_t)(lks__ledger_budget() / 8) < MAX_BYTES ? (size_t)(lks__ledger_budget() / 8) : MAX_BYTES;
    size_t n = bytes > 0 && b->spare > most / bytes ? most / bytes : b->spare;
    void *item;

    pthread_mutex_lock(&b->lock);
    if (list->made > 1 || lks__ledger_tight()) n = 0;
    if (n > 0 && lks__grow(&list->item, &list->capacity, list->made + n, sizeof *list->item) != LKS_OK) n = 0;
    for (; n > 0 && (item = make(list, bytes)) != NULL; n--) {
        list->item[list->n++] = item;
        list->made++;
    }
    pthread_mutex_unlock(&b->lock);
}

const char *lks__buffers_name(lks_buffers *b, const char *name)
{
    size_t size = strlen(name) + 1;
    pool_name *n;

    pthread_mutex_lock(&b->lock);
    for (n = b->names; n != NULL && strcmp(n->text, name) != 0;) n = n->next;
    if (n == NULL && (n = lks__malloc(sizeof *n + size)) != NULL) {
        memcpy(n->text, name, size);
        n->next = b->names;
        b->names = n;
    }
    pthread_mutex_unlock(&b->lock);
    return n == NULL ? NULL : n->text;
}

static void *make_shell(free_list *list, size_t bytes)
{
    lks_element *e = lks__calloc(1, bytes);

    if (e != NULL) e->home = list->owner;
    return e;
}

lks_element *lks__buffers_element(lks_buffers *b)
{
    size_t bytes = sizeof(lks_element) + b->n_leaves * sizeof(lks_value);
    lks_status status;
    lks_element *e = take(b, &b->elements, &status);

    if (status != LKS_OK) return NULL;
    if (e == NULL) {
        e = make_shell(&b->elements, bytes);
        if (e == NULL) {
            take_back(b, &b->elements);
            lks__fail(LKS_E_NOMEM, "no memory for an element");
            return NULL;
        }
        add_spare(b, &b->elements, make_shell, bytes);
    }
    atomic_store(&e->references, 1);
    e->origin = (lks_origin){ .file = NULL };
    return e;
}

static void tensor_home(void *owner, lks_tensor *tensor)
{
    free_list *list = owner;
    bool large = lks__tensor_capacity(tensor) >= LARGE;

    if (forked(list->owner)) lks__tensor_destroy(tensor);
    else if (!come_home(list->owner, list, tensor, large && lks__ledger_tight())) free_tensor(tensor);
}

static void *make_tensor(free_list *list, size_t bytes)
{
    lks_tensor *t = lks__tensor_create_homed(bytes, tensor_home, list);

    if (t != NULL) lks__ledger_add((int64_t)lks__tensor_capacity(t));
    return t;
}

lks_tensor *lks__buffers_tensor(lks_buffers *b, size_t i, lks_dtype dtype, const lks_shape *shape)
{
    free_list *list = &b->lists[2 * i];
    lks_status status;
    lks_tensor *t;
    size_t bytes;

    if (lks__shape_check(shape) != LKS_OK) return NULL;
    if (!lks__mul_size((size_t)lks_shape_size(shape), lks_dtype_size(dtype), &bytes)) {
        lks__fail(LKS_E_LIMIT, "a tensor's size in bytes overflows");
        return NULL;
    }
    t = take(b, list, &status);
    if (status != LKS_OK) return NULL;
    if (t != NULL && lks__tensor_capacity(t) < bytes) {
        free_tensor(t); /* too small: a larger one takes its place */
        t = NULL;
    }
    if (t == NULL) {
        t = make_tensor(list, bytes > 0 ? bytes : 1);
        if (t == NULL) {
            take_back(b, list);
            return NULL;
        }
        add_spare(b, list, make_tensor, bytes > 0 ? bytes : 1);
    }
    lks__tensor_revive(t, dtype, shape);
    return t;
}

lks_tensor *lks__buffers_view(lks_buffers *b, size_t i, lks_tensor *base, const lks_shape *shape, size_t offset)
{
    free_list *list = &b->lists[2 * i + 1];
    lks_status status;
    lks_tensor *t = take(b, list, &status);

    if (status != LKS_OK) return NULL;
    if (t == NULL) {
        t = make_tensor(list, 0);
        if (t == NULL) {
            take_back(b, list);
            return NULL;
        }
        add_spare(b, list, make_tensor, 0);
    }
    lks__tensor_revive_view(t, base, shape, offset);
    return t;
}

lks_tensor *lks__buffers_row(lks_buffers *b, size_t i, lks_tensor *base, int64_t row)
{
    lks_shape shape = lks_tensor_shape(base), rest = { .rank = shape.rank - 1 };
    size_t bytes;

    for (int64_t k = 0; k < rest.rank; k++) rest.dim[k] = shape.dim[k + 1];
    bytes = (size_t)lks_shape_size(&rest) * lks_dtype_size(lks_tensor_dtype(base));
    return lks__buffers_view(b, i, base, &rest, (size_t)row * bytes);
}

static void clear(lks_element *e)
{
    const lks_spec *spec = e->home->spec;

    for (size_t i = 0; i < e->home->n_leaves; i++) {
        switch (lks_spec_kind_of(lks_spec_leaf(spec, i))) {
        case LKS_SPEC_DATASET: lks_dataset_release(e->value[i].dataset); break;
        case LKS_SPEC_RAGGED: lks_ragged_release(e->value[i].ragged); break;
        default: lks_tensor_release(e->value[i].tensor); break;
        }
        e->value[i] = (lks_value){ NULL };
    }
}

int64_t lks__element_bytes(const lks_element *e)
{
    int64_t bytes = 1;

    for (size_t i = 0; i < e->home->n_leaves; i++) {
        const lks_tensor *t = e->value[i].tensor;
        if (lks_spec_kind_of(lks_spec_leaf(e->home->spec, i)) != LKS_SPEC_TENSOR || t == NULL) continue;
        bytes += lks_tensor_size(t) * (int64_t)lks_dtype_size(lks_tensor_dtype(t));
        for (int64_t k = 0; lks_tensor_dtype(t) == LKS_STRING && k < lks_tensor_size(t); k++)
            bytes += (int64_t)((const lks_bytes *)lks_tensor_cdata(t))[k].size;
    }
    return bytes;
}

int64_t lks__spec_bytes(const lks_spec *spec)
{
    int64_t bytes = 1;

    for (size_t i = 0; i < lks_spec_leaf_count(spec); i++) {
        const lks_spec *leaf = lks_spec_leaf(spec, i);
        lks_shape shape = lks_spec_shape(leaf);
        size_t size = lks_dtype_size(lks_spec_dtype(leaf));
        if (lks_spec_kind_of(leaf) != LKS_SPEC_TENSOR || shape.rank < 0 || lks_spec_dtype(leaf) == LKS_STRING) return 0;
        for (int64_t k = 0; k < shape.rank; k++)
            if (shape.dim[k] < 0 || !lks__mul_size(size, (size_t)shape.dim[k], &size)) return 0;
        if (size > INT64_MAX / 2 || bytes > INT64_MAX / 2) return 0;
        bytes += (int64_t)size;
    }
    return bytes;
}

void lks_element_release(lks_element *e)
{
    if (e == NULL || atomic_fetch_sub(&e->references, 1) != 1) return;
    clear(e);
    if (forked(e->home) || !come_home(e->home, &e->home->elements, e, false)) lks__free(e);
}
