/* buffers.c - the free lists behind a stage's elements. A list never grows in a release: its room is made when the thing that
 * will come home is created.
 *
 * Shells are the common case: they come home without a lock (pushed on `returned`, which whoever needs one takes whole), and
 * their tensors rest in them. The lock is for tensors that others held on to, and for what is new. */
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
    _Atomic int64_t out;   /* things that will come home, and one for the owner: who brings the last frees the pool */
    _Atomic int64_t bytes; /* of its tensors */
    size_t spare;
    atomic_bool closed;
    unsigned forks; /* a forked child must not wait for a lock that nobody will open */
    pool_name *names;
    _Atomic(lks_element *) returned;
    lks_element *shells; /* under the lock */
    size_t shells_made;
    free_list lists[]; /* [2 i] tensors and [2 i + 1] views of component i */
};

/* Where tensor (k = 2 i) or view (2 i + 1) of component i rests between two uses of the shell. */
static lks_tensor **rest_of(lks_element *e, size_t k)
{
    return &e->value[e->home->n_leaves + k].tensor;
}

static size_t spare_for(int64_t held)
{
    enum { MAX_SPARE = 1 << 16 };

    return (size_t)(held < 0 ? 0 : held > MAX_SPARE ? MAX_SPARE : held);
}

lks_buffers *lks__buffers_create(const lks_spec *spec, int64_t held)
{
    size_t n = lks_spec_leaf_count(spec);
    lks_buffers *b = lks__calloc(1, sizeof *b + 2 * n * sizeof *b->lists);

    if (b == NULL || pthread_mutex_init(&b->lock, NULL) != 0) {
        lks__free(b);
        lks__fail(LKS_E_NOMEM, "no memory for a pool of buffers");
        return NULL;
    }
    b->spec = lks_spec_retain(spec);
    b->n_leaves = n;
    atomic_init(&b->out, 1);
    b->spare = spare_for(held);
    b->forks = lks__fork_count();
    for (size_t i = 0; i < 2 * n; i++) b->lists[i].owner = b;
    return b;
}

const lks_spec *lks__buffers_spec(const lks_buffers *b)
{
    return b->spec;
}

/* Tensors of a pool stand in the ledger from their making to their end. */
static void count_bytes(lks_buffers *b, int64_t bytes)
{
    lks__ledger_add(bytes);
    atomic_fetch_add_explicit(&b->bytes, bytes, memory_order_relaxed);
}

static void free_tensor(lks_buffers *b, lks_tensor *t)
{
    count_bytes(b, -(int64_t)lks__tensor_capacity(t));
    lks__tensor_destroy(t);
}

static lks_tensor *make_tensor(free_list *list, size_t bytes);

static void free_shell(lks_element *e)
{
    for (size_t k = 0; k < 2 * e->home->n_leaves; k++)
        if (*rest_of(e, k) != NULL) free_tensor(e->home, *rest_of(e, k));
    lks__free(e);
}

static void free_shells(lks_element *e)
{
    for (lks_element *next; e != NULL; e = next) {
        next = e->next;
        free_shell(e);
    }
}

static void destroy(lks_buffers *b)
{
    free_shells(b->shells);
    free_shells(atomic_load(&b->returned));
    for (size_t i = 0; i < 2 * b->n_leaves; i++) {
        for (size_t k = 0; k < b->lists[i].n; k++) free_tensor(b, b->lists[i].item[k]);
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

/* `n` things are home: the caller touches b no more. */
static void came_home(lks_buffers *b, int64_t n)
{
    if (atomic_fetch_sub(&b->out, n) == n) destroy(b);
}

void lks__buffers_release(lks_buffers *b)
{
    if (b == NULL || forked(b)) return; /* a child leaves the parent's pool alone */
    atomic_store(&b->closed, true);
    came_home(b, 1);
}

void lks__buffers_rest(lks_buffers *b, _Atomic(lks_buffers *) *place)
{
    enum { MOST = 1 << 27, SHARE = 16 }; /* bytes; of the budget, one in so many */
    int64_t budget = lks__ledger_budget() / SHARE;

    if (b == NULL) return;
    if (!forked(b) && !lks__ledger_tight() && atomic_load(&b->bytes) <= (budget < MOST ? budget : MOST))
        b = atomic_exchange(place, b);
    lks__buffers_release(b);
}

lks_buffers *lks__buffers_wake(_Atomic(lks_buffers *) *place, const lks_spec *spec, int64_t held)
{
    lks_buffers *b = atomic_exchange(place, NULL);

    if (b == NULL || forked(b)) return lks__buffers_create(spec, held);
    b->spare = spare_for(held);
    return b;
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
    pthread_mutex_unlock(&b->lock);
    if (*status == LKS_OK) atomic_fetch_add(&b->out, 1);
    return item;
}

/* A thing that was to be made could not be, or was freed. The owner or a thing of its own keeps the pool alive. */
static void take_back(lks_buffers *b, free_list *list)
{
    pthread_mutex_lock(&b->lock);
    list->made--;
    pthread_mutex_unlock(&b->lock);
    atomic_fetch_sub(&b->out, 1);
}

/* How many more come with the first thing of a kind: as many as the stages above may hold, since their number at any moment depends on
 * timing, and a warm pipeline must not allocate. */
static size_t spare_of(const lks_buffers *b, size_t bytes)
{
    enum { MAX_BYTES = 1 << 26 };
    size_t most = (size_t)(lks__ledger_budget() / 8) < MAX_BYTES ? (size_t)(lks__ledger_budget() / 8) : MAX_BYTES;

    if (lks__ledger_tight()) return 0;
    return bytes > 0 && b->spare > most / bytes ? most / bytes : b->spare;
}

/* Failing here costs nothing yet. */
static void add_spare(lks_buffers *b, free_list *list, size_t bytes)
{
    size_t n = spare_of(b, bytes);
    void *item;

    pthread_mutex_lock(&b->lock);
    if (list->made > 1) n = 0;
    if (n > 0 && lks__grow(&list->item, &list->capacity, list->made + n, sizeof *list->item) != LKS_OK) n = 0;
    for (; n > 0 && (item = make_tensor(list, bytes)) != NULL; n--) {
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

/* ---- shells ---- */

static lks_element *make_shell(lks_buffers *b)
{
    lks_element *e = lks__calloc(1, sizeof *e + 3 * b->n_leaves * sizeof *e->value);

    if (e != NULL) e->home = b;
    return e;
}

/* Under the lock: what came home last goes out first, since its memory is in the caches. NULL: one is to be made. */
static lks_element *pop_shell(lks_buffers *b)
{
    lks_element *e = atomic_load(&b->returned) == NULL ? NULL : atomic_exchange(&b->returned, NULL), *last = e;

    if (e != NULL) {
        while (last->next != NULL) last = last->next;
        last->next = b->shells;
        b->shells = e;
    }
    e = b->shells;
    if (e != NULL) b->shells = e->next;
    else b->shells_made++;
    return e;
}

static lks_element *first_shell(lks_buffers *b)
{
    lks_element *e = make_shell(b), *more;
    size_t n;

    if (e == NULL) lks__fail(LKS_E_NOMEM, "no memory for an element");
    pthread_mutex_lock(&b->lock);
    if (e == NULL) b->shells_made--;
    n = e == NULL || b->shells_made > 1 ? 0 : spare_of(b, sizeof *e);
    for (; n > 0 && (more = make_shell(b)) != NULL; n--) {
        more->next = b->shells;
        b->shells = more;
        b->shells_made++;
    }
    pthread_mutex_unlock(&b->lock);
    return e;
}

lks_element *lks__buffers_element(lks_buffers *b)
{
    lks_element *e;

    pthread_mutex_lock(&b->lock);
    e = pop_shell(b);
    pthread_mutex_unlock(&b->lock);
    if (e == NULL && (e = first_shell(b)) == NULL) return NULL;
    atomic_fetch_add(&b->out, 1 + e->resting);
    e->resting = 0;
    atomic_store(&e->references, 1);
    e->origin = (lks_origin){ .file = NULL };
    e->given = false;
    return e;
}

/* The tensor of component i or its view: rests if nobody else holds it and memory is not short. */
static void let_go(lks_element *e, size_t i)
{
    lks_tensor *t = e->value[i].tensor;
    bool unwanted;

    if (t == NULL) return;
    unwanted = lks__tensor_capacity(t) >= LARGE && lks__ledger_tight();
    for (size_t k = 2 * i; k < 2 * i + 2 && !unwanted; k++)
        if (*rest_of(e, k) == NULL && lks__tensor_rest(t, &e->home->lists[k])) {
            *rest_of(e, k) = t;
            return;
        }
    lks_tensor_release(t);
}

static void clear(lks_element *e)
{
    const lks_spec *spec = e->home->spec;

    for (size_t i = 0; i < e->home->n_leaves; i++) {
        switch (lks_spec_kind_of(lks_spec_leaf(spec, i))) {
        case LKS_SPEC_DATASET: lks_dataset_release(e->value[i].dataset); break;
        case LKS_SPEC_RAGGED: lks_ragged_release(e->value[i].ragged); break;
        default: let_go(e, i); break;
        }
        e->value[i] = (lks_value){ NULL };
    }
    for (size_t k = 0; k < 2 * e->home->n_leaves; k++) e->resting += *rest_of(e, k) != NULL;
}

bool lks__element_again(lks_element *e)
{
    if (atomic_load(&e->references) != 1) return false;
    lks_element_release(e->batch);
    e->batch = NULL;
    clear(e);
    e->resting = 0; /* they are out with it */
    e->origin = (lks_origin){ .file = NULL };
    e->given = false;
    return true;
}

void lks_element_release(lks_element *e)
{
    lks_buffers *b;
    int64_t home;

    if (e == NULL || atomic_fetch_sub(&e->references, 1) != 1) return;
    b = e->home;
    lks_element_release(e->batch);
    e->batch = NULL;
    clear(e);
    home = 1 + e->resting;
    if (forked(b) || atomic_load(&b->closed)) {
        free_shell(e);
    } else {
        e->next = atomic_load(&b->returned);
        while (!atomic_compare_exchange_weak(&b->returned, &e->next, e)) continue;
    }
    if (!forked(b)) came_home(b, home);
}

/* ---- tensors ---- */

/* Puts a tensor back or frees it, because the owner is gone or memory is short. */
static void tensor_home(void *owner, lks_tensor *tensor)
{
    free_list *list = owner;
    lks_buffers *b = list->owner;
    bool unwanted = lks__tensor_capacity(tensor) >= LARGE && lks__ledger_tight(), kept;

    if (forked(b)) {
        lks__tensor_destroy(tensor);
        return;
    }
    pthread_mutex_lock(&b->lock);
    kept = !b->closed && !unwanted;
    if (kept) list->item[list->n++] = tensor;
    else list->made--;
    pthread_mutex_unlock(&b->lock);
    if (!kept) free_tensor(b, tensor);
    came_home(b, 1);
}

static lks_tensor *make_tensor(free_list *list, size_t bytes)
{
    lks_tensor *t = lks__tensor_create_homed(bytes, tensor_home, list);

    if (t != NULL) count_bytes(list->owner, (int64_t)lks__tensor_capacity(t));
    return t;
}

/* One with a capacity of at least `bytes` (0: for a view) from its rest, from the list, or a new one. */
static lks_tensor *tensor_of(lks_element *e, size_t k, size_t bytes)
{
    lks_buffers *b = e->home;
    free_list *list = &b->lists[k];
    lks_tensor *t = *rest_of(e, k);
    lks_status status = LKS_OK;

    *rest_of(e, k) = NULL;
    if (t == NULL) t = take(b, list, &status);
    if (status != LKS_OK) return NULL;
    if (t != NULL && lks__tensor_capacity(t) >= bytes) return t;
    if (t != NULL) free_tensor(b, t); /* too small: a larger one takes its place */
    t = make_tensor(list, bytes);
    if (t == NULL) take_back(b, list);
    else add_spare(b, list, bytes);
    return t;
}

/* The row of the batch that waits for this component, as a view; NULL: there is none. */
static lks_tensor *placed(lks_element *e, size_t i, lks_dtype dtype, const lks_shape *shape, size_t bytes)
{
    lks_tensor *all = bytes < LKS_PLACED_BYTES ? NULL : e->batch->value[i].tensor;
    lks_shape rows;

    if (all == NULL || dtype == LKS_STRING || lks_tensor_dtype(all) != dtype) return NULL;
    rows = lks_tensor_shape(all);
    if (rows.rank != shape->rank + 1) return NULL;
    for (int64_t k = 0; k < shape->rank; k++)
        if (rows.dim[k + 1] != shape->dim[k]) return NULL;
    return lks__element_view(e, i, all, shape, (size_t)e->row * bytes);
}

lks_tensor *lks__element_room(lks_element *e, size_t i, lks_dtype dtype, const lks_shape *shape)
{
    lks_tensor *t;
    size_t bytes;

    if (lks__shape_check(shape) != LKS_OK) return NULL;
    if (!lks__mul_size((size_t)lks_shape_size(shape), lks_dtype_size(dtype), &bytes)) {
        lks__fail(LKS_E_LIMIT, "a tensor's size in bytes overflows");
        return NULL;
    }
    if (e->batch != NULL && (t = placed(e, i, dtype, shape, bytes)) != NULL) return t;
    t = tensor_of(e, 2 * i, bytes > 0 ? bytes : 1);
    if (t != NULL) lks__tensor_revive(t, dtype, shape);
    return t;
}

lks_tensor *lks__element_view(lks_element *e, size_t i, lks_tensor *base, const lks_shape *shape, size_t offset)
{
    lks_tensor *t = tensor_of(e, 2 * i + 1, 0);

    if (t != NULL) lks__tensor_revive_view(t, base, shape, offset);
    return t;
}

lks_tensor *lks__element_row(lks_element *e, size_t i, lks_tensor *base, int64_t row)
{
    lks_shape shape = lks_tensor_shape(base), rest = { .rank = shape.rank - 1 };
    size_t bytes;

    for (int64_t k = 0; k < rest.rank; k++) rest.dim[k] = shape.dim[k + 1];
    bytes = (size_t)lks_shape_size(&rest) * lks_dtype_size(lks_tensor_dtype(base));
    return lks__element_view(e, i, base, &rest, (size_t)row * bytes);
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
