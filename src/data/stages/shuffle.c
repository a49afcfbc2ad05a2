/* shuffle.c - TensorFlow's shuffle buffer, bit for bit.
 *
 * The buffer fills before the first element leaves; then one is drawn, the oldest takes its slot, one more is pulled. The ring
 * grows towards buffer_size only as far as the input goes. Each pass draws its seeds from the dataset object's generator: the
 * number of passes begun so far is all the state that passes share.
 */
#include "data/stages.h"
#include "data/stream.h"

typedef struct shuffle_dataset {
    lks_dataset base;
    int64_t buffer_size;
    uint64_t seed[2];
    bool reshuffle;
    _Atomic int64_t passes;
} shuffle_dataset;

typedef struct shuffle_cursor {
    lks_cursor base;
    lks_tf_stream random;
    lks_element **ring;
    int64_t *rows; /* instead of the ring, where row numbers are asked for */
    size_t capacity;
    uint64_t start, end; /* positions; the slot is position mod capacity */
    bool input_ended;
} shuffle_cursor;

static lks_status open(lks_cursor *n)
{
    shuffle_cursor *s = (shuffle_cursor *)n;
    shuffle_dataset *d = (shuffle_dataset *)n->dataset;
    int64_t keep = d->buffer_size;

    s->random.seed[0] = d->seed[0];
    s->random.seed[1] = d->seed[1];
    if (d->reshuffle) {
        lks_tf_stream generator = s->random;
        lks__tf_stream_seek(&generator, 2 * (uint64_t)atomic_fetch_add(&d->passes, 1));
        s->random.seed[0] = lks__tf_stream_next(&generator);
        s->random.seed[1] = lks__tf_stream_next(&generator);
    }
    if (n->dataset->cardinality >= 0 && keep > n->dataset->cardinality) keep = n->dataset->cardinality;
    return lks__cursor_open_inputs_at(n, lks__place_below(n->place, keep < 1 << 16 ? keep : 1 << 16, false));
}

static lks_element **slot(shuffle_cursor *s, uint64_t position)
{
    return &s->ring[position % s->capacity];
}

/* Room for one more element: doubles the ring and lays the elements out anew. */
static lks_status make_room(shuffle_cursor *s)
{
    size_t size = s->capacity == 0 ? 64 : 2 * s->capacity;
    lks_element **ring;

    if (s->end - s->start < s->capacity) return LKS_OK;
    ring = lks__calloc(size, sizeof *ring);
    if (ring == NULL) return lks__cursor_fail(&s->base, LKS_E_NOMEM, "no memory for a buffer of %zu elements", size);
    for (uint64_t p = s->start; p < s->end; p++) ring[p % size] = *slot(s, p);
    lks__free(s->ring);
    s->ring = ring;
    s->capacity = size;
    return LKS_OK;
}

static lks_status fill(shuffle_cursor *s)
{
    uint64_t limit = (uint64_t)((const shuffle_dataset *)s->base.dataset)->buffer_size;

    while (!s->input_ended && s->end - s->start < limit) {
        lks_status status;
        LKS_TRY(make_room(s));
        status = lks__cursor_next(s->base.input[0], slot(s, s->end));
        if (status == LKS_OK) s->end++;
        else if (status != LKS_END) return status;
        else s->input_ended = true;
    }
    return LKS_OK;
}

static lks_status next(lks_cursor *n, lks_element **out)
{
    shuffle_cursor *s = (shuffle_cursor *)n;
    uint64_t pick;

    LKS_TRY(fill(s));
    if (s->start == s->end) return LKS_END;
    pick = s->start + lks__tf_stream_next(&s->random) % (s->end - s->start);
    *out = *slot(s, pick);
    *slot(s, pick) = *slot(s, s->start);
    s->start++;
    return LKS_OK;
}

/* ---- the same with row numbers: they come in bulk and cost no element each ---- */

static lks_status make_row_room(shuffle_cursor *s, uint64_t limit)
{
    const int64_t known = s->base.dataset->cardinality;
    size_t size = limit < 1 << 16 ? (size_t)limit : 1 << 16;
    int64_t *rows;

    if (s->end - s->start < s->capacity) return LKS_OK;
    if (s->capacity > 0) size = 2 * s->capacity;
    else if (known > 0 && (uint64_t)known <= limit) size = (size_t)known;
    if (size > limit) size = (size_t)limit;
    rows = lks__calloc(size, sizeof *rows);
    if (rows == NULL) return lks__cursor_fail(&s->base, LKS_E_NOMEM, "no memory for a buffer of %zu rows", size);
    for (uint64_t p = s->start; p < s->end; p++) rows[p % size] = s->rows[p % s->capacity];
    lks__free(s->rows);
    s->rows = rows;
    s->capacity = size;
    return LKS_OK;
}

static lks_status fill_rows(shuffle_cursor *s)
{
    uint64_t limit = (uint64_t)((const shuffle_dataset *)s->base.dataset)->buffer_size;

    while (!s->input_ended && s->end - s->start < limit) {
        uint64_t at, room;
        int64_t got;
        LKS_TRY(make_row_room(s, limit));
        at = s->end % s->capacity;
        room = s->capacity - (s->end - s->start); /* of which this call fills what lies in one piece */
        if (room > s->capacity - at) room = s->capacity - at;
        if (room > limit - (s->end - s->start)) room = limit - (s->end - s->start);
        LKS_TRY(lks__cursor_next_rows(s->base.input[0], s->rows + at, (int64_t)room, &got));
        s->end += (uint64_t)got;
        s->input_ended = got == 0;
    }
    return LKS_OK;
}

static lks_status next_rows(lks_cursor *n, int64_t *rows, int64_t want, int64_t *got)
{
    shuffle_cursor *s = (shuffle_cursor *)n;

    for (*got = 0; *got < want; ++*got) {
        uint64_t at, first;
        LKS_TRY(fill_rows(s));
        if (s->start == s->end) return LKS_OK;
        at = (s->start + lks__tf_stream_next(&s->random) % (s->end - s->start)) % s->capacity;
        first = s->start % s->capacity;
        rows[*got] = s->rows[at];
        s->rows[at] = s->rows[first];
        s->start++;
    }
    return LKS_OK;
}

static void close(lks_cursor *n)
{
    shuffle_cursor *s = (shuffle_cursor *)n;

    lks__free(s->rows);
    if (s->rows != NULL) return;
    for (; s->start < s->end; s->start++) lks_element_release(*slot(s, s->start));
    lks__free(s->ring);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    const shuffle_dataset *d = (const shuffle_dataset *)ds;

    lks__recipe_int(r, d->buffer_size);
    lks__recipe_int(r, (int64_t)d->seed[0]);
    lks__recipe_int(r, (int64_t)d->seed[1]);
    lks__recipe_int(r, d->reshuffle);
}

static void counters(lks_dataset *ds, lks_counters *c)
{
    lks__counter_atomic(c, &((shuffle_dataset *)ds)->passes);
}

const lks_stage lks__stage_shuffle = { .name = "shuffle",
                                       .dataset_size = sizeof(shuffle_dataset),
                                       .cursor_size = sizeof(shuffle_cursor),
                                       .open = open,
                                       .next = next,
                                       .next_rows = next_rows,
                                       .close = close,
                                       .describe = describe,
                                       .counters = counters };

lks_dataset *lks_shuffle_with(lks_dataset *dataset, int64_t buffer_size, const lks_shuffle_options *options)
{
    lks_dataset *ds = lks__dataset_begin1(&lks__stage_shuffle, dataset);
    shuffle_dataset *d = (shuffle_dataset *)ds;
    lks_shuffle_options o;

    if (!lks__dataset_ok(ds)) return ds;
    lks__options(&o, sizeof o, options);
    if (buffer_size < 1 && buffer_size != LKS_UNKNOWN_CARDINALITY)
        return lks__dataset_fail(ds, lks__fail(LKS_E_ARG,
                                               "buffer_size must be at least 1, or -2 for the whole input, "
                                               "found %lld",
                                               (long long)buffer_size));
    d->buffer_size = buffer_size < 0 ? INT64_MAX : buffer_size;
    d->reshuffle = o.reshuffle_each_iteration != LKS_FALSE;
    lks__seeds(o.seed, o.global_seed, ds->number, d->seed);
    return ds;
}

bool lks__shuffle_is_new_each_pass(const lks_dataset *ds)
{
    return ((const shuffle_dataset *)ds)->reshuffle;
}

int64_t lks__shuffle_buffer(const lks_dataset *ds)
{
    return ((const shuffle_dataset *)ds)->buffer_size;
}
