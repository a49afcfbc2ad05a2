/* tensor.c - counted dense arrays. A view keeps its base alive instead of copying. */
#include "tensor.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"

struct lks_tensor {
    atomic_int references;
    lks_dtype dtype;
    lks_shape shape;
    int64_t size;
    char *data;
    lks_tensor *base;            /* not NULL: a view of base's memory */
    void (*release)(void *user); /* for wrapped memory */
    void *user;
    int owns_data;
    void (*home)(void *owner, lks_tensor *tensor); /* recycled tensors go there instead of being freed */
    void *owner;
    size_t capacity; /* bytes, of recycled tensors */
    int64_t kept;    /* of recycled ones: the first elements hold strings whose memory serves again */
};

/* Right before the bytes of every string: how many fit, and how far before the bytes their block begins. A string that was a part of
 * another has its head within what the other was, at any address: heads are copied in and out. */
typedef struct text_head {
    size_t room, before;
} text_head;

/* Allocates the object and, if `data` is NULL, memory for it. */
static lks_tensor *make(lks_dtype dtype, lks_shape shape, void *data, bool zeroed)
{
    lks_tensor *t;
    size_t bytes;

    if (lks_dtype_size(dtype) == 0) {
        lks__fail(LKS_E_ARG, "dtype %d does not exist", (int)dtype);
        return NULL;
    }
    if (lks__shape_check(&shape) != LKS_OK) return NULL;
    if (!lks__mul_size((size_t)lks_shape_size(&shape), lks_dtype_size(dtype), &bytes)) {
        lks__fail(LKS_E_LIMIT, "a tensor's size in bytes overflows");
        return NULL;
    }
    t = lks__calloc(1, sizeof *t);
    if (t == NULL) goto no_memory;
    atomic_init(&t->references, 1);
    t->dtype = dtype;
    t->shape = shape;
    t->size = lks_shape_size(&shape);
    t->data = data;
    if (data == NULL) {
        t->data = zeroed ? lks__aligned_calloc(bytes ? bytes : 1) : lks__aligned_malloc(bytes ? bytes : 1);
        t->owns_data = 1;
        if (t->data == NULL) goto free_tensor;
    }
    return t;

free_tensor:
    lks__free(t);
no_memory:
    lks__fail(LKS_E_NOMEM, "no memory for a tensor of %zu bytes", bytes);
    return NULL;
}

lks_tensor *lks_tensor_create(lks_dtype dtype, lks_shape shape)
{
    return make(dtype, shape, NULL, true);
}

lks_tensor *lks__tensor_create_raw(lks_dtype dtype, lks_shape shape)
{
    return make(dtype, shape, NULL, false);
}

lks_tensor *lks_tensor_from(lks_dtype dtype, lks_shape shape, const void *data)
{
    lks_tensor *t;

    if (dtype == LKS_STRING) {
        lks__fail(LKS_E_ARG, "lks_tensor_from cannot copy strings");
        return NULL;
    }
    t = make(dtype, shape, NULL, true);
    if (t != NULL && t->size > 0) memcpy(t->data, data, (size_t)t->size * lks_dtype_size(dtype));
    return t;
}

lks_tensor *lks_tensor_wrap(lks_dtype dtype, lks_shape shape, void *data, void (*release)(void *user), void *user)
{
    static char nothing;
    lks_tensor *t = make(dtype, shape, data != NULL ? data : &nothing, false);

    if (t == NULL) {
        if (release != NULL) release(user);
        return NULL;
    }
    t->release = release;
    t->user = user;
    return t;
}

int lks__tensor_references(const lks_tensor *tensor)
{
    return atomic_load_explicit(&tensor->references, memory_order_relaxed);
}

lks_tensor *lks_tensor_retain(lks_tensor *tensor)
{
    if (tensor != NULL) atomic_fetch_add(&tensor->references, 1);
    return tensor;
}

static text_head head_of(const lks_bytes *b)
{
    text_head head = { 0, 0 };

    if (b->data != NULL) memcpy(&head, b->data - sizeof head, sizeof head);
    return head;
}

/* The memory that a string lies in. */
static char *block_of(const lks_bytes *b)
{
    return b->data == NULL ? NULL : (char *)b->data - head_of(b).before;
}

/* Bytes that fit where its string begins with its block. */
static size_t block_room(const lks_bytes *b)
{
    text_head head = head_of(b);

    return b->data == NULL ? 0 : head.room + head.before - sizeof head;
}

static void begin_string(lks_bytes *b, char *data, size_t size, text_head head)
{
    memcpy(data - sizeof head, &head, sizeof head);
    data[size] = '\0';
    b->data = data;
    b->size = size;
}

static void free_strings(lks_tensor *tensor, int64_t n)
{
    lks_bytes *b = (lks_bytes *)tensor->data;

    for (int64_t i = 0; i < n; i++) lks__free(block_of(&b[i]));
}

/* Recycled tensors keep the memory of strings of usual size, so that warm pipelines allocate nothing. */
static void let_strings_go(lks_tensor *tensor)
{
    enum { USUAL = 1 << 20 };
    lks_bytes *b = (lks_bytes *)tensor->data;

    if (!tensor->owns_data || tensor->dtype != LKS_STRING) return;
    if (tensor->home == NULL) {
        free_strings(tensor, tensor->size);
        return;
    }
    if (tensor->kept < tensor->size) tensor->kept = tensor->size;
    for (int64_t i = 0; i < tensor->kept; i++) {
        b[i].size = 0;
        if (block_room(&b[i]) <= USUAL) continue;
        lks__free(block_of(&b[i]));
        b[i].data = NULL;
    }
}

void lks__tensor_destroy(lks_tensor *tensor)
{
    free_strings(tensor, tensor->kept);
    if (tensor->owns_data) lks__aligned_free(tensor->data);
    if (tensor->release != NULL) tensor->release(tensor->user);
    lks__free(tensor);
}

void lks_tensor_release(lks_tensor *tensor)
{
    while (tensor != NULL && atomic_fetch_sub(&tensor->references, 1) == 1) {
        lks_tensor *base = tensor->base;
        let_strings_go(tensor);
        tensor->base = NULL;
        if (tensor->home != NULL) tensor->home(tensor->owner, tensor);
        else lks__tensor_destroy(tensor);
        tensor = base;
    }
}

lks_tensor *lks__tensor_create_homed(size_t capacity, void (*home)(void *owner, lks_tensor *tensor), void *owner)
{
    lks_tensor *t = lks__calloc(1, sizeof *t);

    if (t != NULL && capacity > 0) {
        t->data = lks__aligned_malloc(capacity);
        t->owns_data = 1;
        if (t->data == NULL) {
            lks__free(t);
            t = NULL;
        }
    }
    if (t == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for a tensor of %zu bytes", capacity);
        return NULL;
    }
    t->home = home;
    t->owner = owner;
    t->capacity = capacity;
    return t;
}

bool lks__tensor_rest(lks_tensor *tensor, const void *owner)
{
    if (tensor->owner != owner || tensor->home == NULL || atomic_load(&tensor->references) != 1) return false;
    let_strings_go(tensor);
    lks_tensor_release(tensor->base);
    tensor->base = NULL;
    return true;
}

size_t lks__tensor_capacity(const lks_tensor *tensor)
{
    return tensor->capacity;
}

void lks__tensor_revive(lks_tensor *tensor, lks_dtype dtype, const lks_shape *shape)
{
    atomic_store(&tensor->references, 1);
    if (dtype != LKS_STRING) {
        free_strings(tensor, tensor->kept);
        tensor->kept = 0;
    }
    tensor->dtype = dtype;
    tensor->shape = *shape;
    tensor->size = lks_shape_size(shape);
    if (dtype == LKS_STRING && tensor->size > tensor->kept)
        memset(tensor->data + (size_t)tensor->kept * sizeof(lks_bytes), 0,
               (size_t)(tensor->size - tensor->kept) * sizeof(lks_bytes));
}

/* Rows that are cut off may hold strings already: a record was good up to some feature. */
void lks__tensor_set_rows(lks_tensor *tensor, int64_t rows)
{
    if (tensor->home != NULL && tensor->owns_data && tensor->dtype == LKS_STRING && tensor->kept < tensor->size)
        tensor->kept = tensor->size;
    tensor->shape.dim[0] = rows;
    tensor->size = lks_shape_size(&tensor->shape);
}

void lks__tensor_revive_view(lks_tensor *tensor, lks_tensor *base, const lks_shape *shape, size_t offset)
{
    atomic_store(&tensor->references, 1);
    tensor->dtype = base->dtype;
    tensor->shape = *shape;
    tensor->size = lks_shape_size(shape);
    tensor->data = base->data + offset;
    while (base->base != NULL) base = base->base; /* one link, however often a view is viewed */
    tensor->base = lks_tensor_retain(base);
}

/* Room for a string of recycled tensors: the next one in its place may be somewhat longer. Pages that are never touched cost nothing. */
static size_t room_for(const lks_tensor *tensor, size_t size)
{
    enum { SMALL = 1 << 10, LARGE = 1 << 20 };
    size_t room = SMALL;

    if (tensor->home == NULL || size < SMALL || size > LARGE) return size;
    while (room < size) room *= 2;
    return room;
}

char *lks__tensor_string(lks_tensor *tensor, int64_t i, size_t size)
{
    lks_bytes *b = (lks_bytes *)tensor->data + i;
    text_head head = { block_room(b), sizeof head };
    char *block = block_of(b);

    if (block == NULL || head.room < size) {
        char *old = block;
        head.room = room_for(tensor, size);
        block = head.room > SIZE_MAX - sizeof head - 1 ? NULL : lks__malloc(sizeof head + head.room + 1);
        if (block == NULL) {
            lks__fail(LKS_E_NOMEM, "no memory for a string of %zu bytes", size);
            return NULL;
        }
        lks__free(old);
    }
    begin_string(b, block + sizeof head, size, head);
    return block + sizeof head;
}

/* Both are recycled, and nobody else sees `from`. */
static bool can_give(const lks_tensor *from, const lks_tensor *to)
{
    return from->dtype == LKS_STRING && from->home != NULL && to->home != NULL && from->owns_data && to->owns_data &&
           atomic_load(&from->references) == 1;
}

bool lks__tensor_move_strings(lks_tensor *to, int64_t at, lks_tensor *from)
{
    lks_bytes *a = (lks_bytes *)from->data, *b = (lks_bytes *)to->data + at;

    if (!can_give(from, to)) return false;
    for (int64_t i = 0; i < from->size; i++) {
        lks_bytes empty = b[i]; /* of a recycled tensor: memory that serves again */
        b[i] = a[i];
        a[i] = empty;
    }
    return true;
}

bool lks__tensor_move_part(lks_tensor *to, int64_t at, lks_tensor *from, int64_t i, size_t offset, size_t size)
{
    lks_bytes *a = (lks_bytes *)from->data + i, *b = (lks_bytes *)to->data + at, part, empty = *b;
    text_head head = head_of(a);

    if (!can_give(from, to) || offset < sizeof head || offset > a->size || size > a->size - offset) return false;
    head.room -= offset;
    head.before += offset;
    begin_string(&part, (char *)a->data + offset, size, head);
    *b = part;
    *a = (lks_bytes){ empty.data, 0 };
    return true;
}

lks_status lks__tensor_set_bytes(lks_tensor *tensor, int64_t i, const void *data, size_t size)
{
    char *to = lks__tensor_string(tensor, i, size);

    if (to == NULL) return LKS_E_NOMEM;
    if (size > 0) memcpy(to, data, size);
    return LKS_OK;
}

lks_dtype lks_tensor_dtype(const lks_tensor *tensor)
{
    return tensor->dtype;
}

lks_shape lks_tensor_shape(const lks_tensor *tensor)
{
    return tensor->shape;
}

int64_t lks_tensor_size(const lks_tensor *tensor)
{
    return tensor->size;
}

void *lks_tensor_data(lks_tensor *tensor)
{
    return tensor->data;
}

const void *lks_tensor_cdata(const lks_tensor *tensor)
{
    return tensor->data;
}

static lks_tensor *view(lks_tensor *tensor, lks_shape shape, char *data)
{
    lks_tensor *v = make(tensor->dtype, shape, data, false);

    if (v != NULL) v->base = lks_tensor_retain(tensor);
    return v;
}

lks_tensor *lks_tensor_rows(lks_tensor *tensor, int64_t begin, int64_t end)
{
    lks_shape shape;
    size_t row;

    if (tensor == NULL) return NULL;
    shape = tensor->shape;
    if (shape.rank < 1 || begin < 0 || end < begin || end > shape.dim[0]) {
        lks__fail(LKS_E_ARG, "rows [%lld, %lld) do not lie in a tensor of %lld rows", (long long)begin, (long long)end,
                  (long long)(shape.rank < 1 ? 0 : shape.dim[0]));
        return NULL;
    }
    row = shape.dim[0] == 0 ? 0 : (size_t)(tensor->size / shape.dim[0]) * lks_dtype_size(tensor->dtype);
    shape.dim[0] = end - begin;
    return view(tensor, shape, tensor->data + (size_t)begin * row);
}

lks_tensor *lks_tensor_reshape(lks_tensor *tensor, lks_shape shape)
{
    char from[LKS_SHAPE_TEXT], to[LKS_SHAPE_TEXT];

    if (tensor == NULL) return NULL;
    if (lks_shape_size(&shape) != tensor->size) {
        lks__fail(LKS_E_SHAPE, "cannot reshape %s to %s: the numbers of elements differ",
                  lks__shape_text(&tensor->shape, from), lks__shape_text(&shape, to));
        return NULL;
    }
    return view(tensor, shape, tensor->data);
}

lks_tensor *lks_tensor_cast(const lks_tensor *tensor, lks_dtype dtype)
{
    lks_tensor *t;

    if (tensor == NULL) return NULL;
    if (tensor->dtype == LKS_STRING || dtype == LKS_STRING) {
        lks__fail(LKS_E_ARG, "strings cannot be converted to or from numbers by lks_tensor_cast");
        return NULL;
    }
    t = lks_tensor_create(dtype, tensor->shape);
    if (t != NULL) lks__convert(tensor->dtype, tensor->data, dtype, t->data, t->size);
    return t;
}
