/* map_window.c - a map's window of pieces on the work pool: a ring of blocks in input order. The consumer alone pulls the input, fills
 * blocks, queues them and hands out results from the oldest; workers only run the function. So the order is the input's whatever the threads
 * do, and a block that no thread has begun is run by the consumer itself.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/cpu.h"
#include "data/functions/op.h"
#include "data/ledger.h"
#include "data/meter.h"
#include "data/placer.h"
#include "data/work.h"
#include "files/reader.h"
#include "map_block.h"

enum { MAX_WINDOW = 512, FIRST_WINDOW = 4, BLOCK_BYTES = 1 << 16 };

void lks__map_keep_error(lks_map_result *r, lks_status status)
{
    r->element = NULL;
    r->status = status;
    r->error = lks__calloc(1, sizeof *r->error);
    if (r->error != NULL) lks__error_capture(r->error, status);
}

/* What can't be read is read again by the function itself, which says why. */
static void read_one(lks_map_cursor *m, lks_map_result *r, lks_map_file *f)
{
    const lks_bytes *name = lks_tensor_cdata(lks_element_tensor(r->element, (size_t)m->file));
    char path[4096];
    size_t n;

    if (name->size >= sizeof path || memchr(name->data, 0, name->size) != NULL) return;
    memcpy(path, name->data, name->size);
    path[name->size] = '\0';
    if (lks__read_file_again(path, &f->data, &f->room, &n) != LKS_OK) return;
    lks__work_read(n);
    r->bytes = (lks_bytes){ f->data, n };
    r->place.read = &r->bytes;
}

static void read_files(lks_map_block *b)
{
    lks_map_cursor *m = b->map;
    int64_t begin = lks__wall_ns(), took, before = atomic_load_explicit(&m->read_ns, memory_order_relaxed);

    for (int i = 0; i < b->n; i++)
        if (b->result[i].status == LKS_OK) read_one(m, &b->result[i], &b->file[i]);
    took = (lks__wall_ns() - begin) / b->n;
    atomic_store_explicit(&m->read_ns, before == 0 ? took : (3 * before + took) / 4 + 1, memory_order_relaxed);
}

/* Files that lie in the system's memory are read by who needs them: another thread would cost more than it saves. Now and then one is
 * asked all the same. */
static bool reads_itself(const lks_map_cursor *m)
{
    enum { QUICK = 100000, SAMPLE = 64 }; /* nanoseconds a file */
    int64_t ns = atomic_load_explicit(&((lks_map_cursor *)m)->read_ns, memory_order_relaxed);

    return m->file >= 0 && ns > 0 && ns < QUICK && m->index % SAMPLE != 0;
}

void lks__map_run_one(lks_map_block *b, int i)
{
    lks_map_cursor *m = b->map;
    lks_map_result *r = &b->result[i];
    lks_status status;

    if (r->status != LKS_OK) return; /* the input failed here */
    status = lks__map_apply(m, r->place, r->element, &r->element);
    r->place.batch = NULL;
    if (status != LKS_OK) lks__map_keep_error(r, status);
    else if (i == 0) m->expected = lks__expected_bytes(m->expected, lks__element_bytes(r->element));
}

static void run_block(lks_work *work)
{
    lks_map_block *b = (lks_map_block *)work;
    lks_map_cursor *m = b->map;
    double begin = lks__now();
    int64_t cpu = m->base.meter == NULL ? 0 : lks__cpu_ns();

    pthread_mutex_lock(&m->lock);
    b->begun = true;
    pthread_mutex_unlock(&m->lock);
    if (b->reads) read_files(b);
    if (b->n_batches > 0) lks__map_run_batches(b);
    for (int i = b->stacked; i < b->n && b->n_batches == 0; i++) lks__map_run_one(b, i);
    lks__ledger_unreserve(b->reserved);
    b->reserved = 0;
    b->seconds = lks__now() - begin;
    if (m->base.meter != NULL) lks__meter_work(m->base.meter, lks__cpu_ns() - cpu);
    pthread_mutex_lock(&m->lock);
    b->done = true;
    if (m->awaited == b) pthread_cond_signal(&m->finished);
    pthread_mutex_unlock(&m->lock);
}

static void read_block(lks_work *work)
{
    lks_map_block *b = (lks_map_block *)((char *)work - offsetof(lks_map_block, reading));
    lks_map_cursor *m = b->map;

    read_files(b);
    pthread_mutex_lock(&m->lock); /* keeps the block until the end of this: nothing is done without the lock */
    lks__work_submit(&b->work);
    b->moved = true;
    if (m->awaited == b) pthread_cond_signal(&m->finished);
    pthread_mutex_unlock(&m->lock);
}

/* The block is the caller's if nobody has begun it, or what comes after reading. */
static bool take_back(lks_map_block *b)
{
    return (b->map->file >= 0 && lks__work_take_back(&b->reading)) || lks__work_take_back(&b->work);
}

static lks_map_block *block_at(lks_map_cursor *m, int k)
{
    return m->ring[(m->head + k) % m->room];
}

static int window_of(const lks_map_cursor *m)
{
    return atomic_load_explicit(&((lks_map_cursor *)m)->window.size, memory_order_relaxed);
}

/* Room in the memory budget for another block; where the window is empty, one is allowed in any case. Numbers of the user are kept. */
static bool afford(const lks_map_cursor *m, int rows, int64_t *reserved)
{
    int64_t bytes = m->expected * rows;

    *reserved = 0;
    if (lks__map_recipe(m)->parallel != LKS_AUTOTUNE) return true;
    if (bytes == 0) return m->count == 0; /* the first element will tell */
    if (lks__ledger_reserve(bytes)) *reserved = bytes;
    return *reserved > 0 || m->count == 0;
}

/* To sleep and to be woken is nothing beside such an element (a JPEG picture, say): threads of the pool run them all, and whoever waits
 * has its hands free. */
static bool is_dear(const lks_map_cursor *m)
{
    enum { DEAR = 500000 };

    return m->cost > DEAR;
}

/* The ring's next block, with room for results; NULL: no memory. */
static lks_map_block *new_block(lks_map_cursor *m, int rows)
{
    lks_map_block **slot = &m->ring[(m->head + m->count) % m->room], *b = *slot;

    if (b == NULL) b = *slot = lks__calloc(1, sizeof *b);
    if (b == NULL || lks__grow(&b->result, &b->room, (size_t)rows, sizeof *b->result) != LKS_OK) {
        lks__cursor_fail(&m->base, LKS_E_NOMEM, "no memory for the window");
        return NULL;
    }
    b->work = (lks_work){ .run = run_block, .rank = m->base.dataset->number, .helper = is_dear(m) ? NULL : m };
    b->reading = (lks_work){ .run = read_block, .rank = b->work.rank, .io = true };
    b->map = m;
    b->reads = reads_itself(m);
    b->begun = b->done = b->moved = false;
    b->n = b->taken = b->stacked = 0;
    return b;
}

/* Takes up to `rows` elements of the input. */
static void fill_block(lks_map_cursor *m, lks_map_block *b, int rows)
{
    while (b->n < rows) {
        lks_map_result *r = &b->result[b->n];
        lks_status status = lks__cursor_next(m->base.input[0], &r->element);
        if (status == LKS_END) {
            m->input_ended = true;
            return;
        }
        r->status = LKS_OK;
        r->error = NULL;
        if (status != LKS_OK) lks__map_keep_error(r, status);
        else r->place = lks__map_place(m, m->index, b->n_batches == 0);
        b->n++;
        m->index++;
        if (status == LKS_E_CANCELED) return;
    }
}

/* Fills one more block of `rows` elements from the input and queues it. */
static lks_status add_block(lks_map_cursor *m, int rows, int batches, int64_t reserved)
{
    lks_map_block *b = new_block(m, rows);

    if (b == NULL) {
        lks__ledger_unreserve(reserved);
        return LKS_E_NOMEM;
    }
    b->reserved = reserved;
    b->n_batches = batches;
    if (batches > 0) lks__placer_end(m->base.place.placer);
    fill_block(m, b, rows);
    if (b->n == 0) {
        lks__ledger_unreserve(b->reserved);
        b->reserved = 0;
        return LKS_OK;
    }
    m->count++;
    lks__work_submit(m->file >= 0 && !b->reads ? &b->reading : &b->work);
    return LKS_OK;
}

/* Fills the window as far as its size and memory allow. */
static lks_status fill_window(lks_map_cursor *m)
{
    while (m->count < window_of(m) && !m->input_ended) {
        int64_t reserved;
        int batches, most, rows = lks__map_batch_rows(m, &batches, &most);
        if (rows == 0) rows = m->block_size < most ? m->block_size : most;
        if (!afford(m, rows, &reserved)) break;
        LKS_TRY(add_block(m, rows, batches, reserved));
    }
    return LKS_OK;
}

/* Smoothed, so that one call in which the thread was put aside does not count. */
static void note_cost(lks_map_cursor *m, int64_t ns)
{
    if (m->cost > 0 && ns > 2 * m->cost) ns = 2 * m->cost;
    m->cost = m->cost == 0 ? ns : (3 * m->cost + ns) / 4 + 1;
}

/* Small elements travel in larger blocks: a block should be worth some 100 microseconds, and stay in the caches. */
static void adapt(lks_map_cursor *m, const lks_map_block *b)
{
    int before = m->block_size;

    note_cost(m, (int64_t)(b->seconds * 1e9) / b->n);
    if (b->n_batches > 0) {
        lks__map_batch_adapt(m, b);
        return;
    }
    if (b->seconds < 50e-6 && b->n == m->block_size && m->block_size < LKS_MAP_MOST_ELEMENTS &&
        2 * m->block_size * m->expected <= BLOCK_BYTES)
        m->block_size *= 2;
    if (b->seconds > 500e-6 && m->block_size > 1) m->block_size /= 2;
    if (m->block_size != before)
        atomic_store_explicit(&((lks_map_dataset *)m->base.dataset)->block, m->block_size, memory_order_relaxed);
}

/* A thread that reads ahead and does not help need not be woken for each block: it sleeps until the last of those is done that threads
 * work on now. (Of those alone: what nobody has begun may never be begun, if all threads wait like this one.) Under the lock. */
static lks_map_block *worth_waking_for(lks_map_cursor *m, lks_map_block *b)
{
    if (!m->base.place.has_thread || !b->begun || b->work.helper != NULL) return b;
    for (int k = m->count - 1; k > 0; k--) {
        lks_map_block *later = block_at(m, k);
        if (later->begun && !later->done) return later;
    }
    return b;
}

/* Sleeps until the block is done, or has been read. */
static void sleep_for(lks_map_cursor *m, lks_map_block *b)
{
    pthread_mutex_lock(&m->lock);
    m->awaited = worth_waking_for(m, b);
    while (!b->done && !b->moved) {
        pthread_cond_wait(&m->finished, &m->lock);
        m->awaited = b;
    }
    m->awaited = NULL;
    pthread_mutex_unlock(&m->lock);
}

static bool is_done(lks_map_cursor *m, lks_map_block *b, bool *moved)
{
    bool done;

    pthread_mutex_lock(&m->lock);
    done = b->done;
    *moved = b->moved;
    b->moved = false;
    pthread_mutex_unlock(&m->lock);
    return done;
}

/* A block that has been read and that no thread has begun is run here, and so are later ones meanwhile:
 * to sleep and to be woken for each block would cost more than that, and leave cores idle. */
static void wait_until_done(lks_map_cursor *m, lks_map_block *b)
{
    bool moved;

    while (!is_done(m, b, &moved)) {
        if (moved && lks__work_take_back(&b->work)) lks__work_run(&b->work);
        else if (!lks__work_help(m) && !moved) sleep_for(m, b);
    }
}

static void wait_for(lks_map_cursor *m, lks_map_block *b)
{
    int64_t begin = lks__wall_ns(), waited;

    if (take_back(b)) lks__work_run(&b->work);
    else wait_until_done(m, b);
    waited = lks__wall_ns() - begin;
    m->ahead = (int64_t)window_of(m) * b->n;
    atomic_store_explicit(&m->window.bytes, m->expected * b->n, memory_order_relaxed);
    if (lks__map_recipe(m)->parallel == LKS_AUTOTUNE)
        lks__window_waited(&m->window, waited, !m->base.place.has_thread, m->count >= window_of(m));
    if (m->base.meter == NULL) return;
    lks__meter_waited(m->base.meter, waited); /* work of its own on a block is in the pool's account */
    lks__meter_window(m->base.meter, (int64_t)window_of(m) * b->n, m->expected);
}

static lks_status hand_out(lks_map_result *r, lks_element **out)
{
    lks_status status = r->status;

    if (status == LKS_OK) {
        *out = r->element;
    } else if (r->error != NULL) {
        lks__error_raise(r->error);
        lks__free(r->error);
    } else {
        lks__fail(status, "an element of map failed, and there was no memory to keep the reason");
    }
    *r = (lks_map_result){ .status = LKS_OK };
    return status;
}

/* A cheap function, by the thread that pulls. Its cost is looked at now and then: it may become dear. */
static lks_status next_inline(lks_map_cursor *m, lks_element **out)
{
    enum { SAMPLE = 64 };
    int64_t begin = m->index % SAMPLE == 0 || m->cost > LKS_PACE_TINY ? lks__wall_ns() : 0;
    lks_element *in;
    lks_status status = lks__cursor_next(m->base.input[0], &in);

    if (begin != 0) begin = lks__wall_ns();
    if (status == LKS_END) m->input_ended = true;
    if (status == LKS_END) return status;
    m->index++;
    if (status == LKS_OK) status = lks__map_apply(m, lks__map_place(m, m->index - 1, true), in, out);
    if (begin != 0) note_cost(m, lks__wall_ns() - begin);
    if (begin != 0 && m->base.meter != NULL) lks__meter_window(m->base.meter, 1, m->expected);
    return status;
}

/* Handing the function over may cost as much as the function: it is tiny, or does little more than write its result. */
static bool is_light(const lks_map_cursor *m)
{
    enum { NS_A_BYTE = 2 };
    int64_t bytes = atomic_load_explicit(&((lks_map_cursor *)m)->expected, memory_order_relaxed);

    return m->cost > 0 && (m->cost < LKS_PACE_TINY || m->cost < NS_A_BYTE * bytes);
}

/* The block's next result. */
static lks_status take_next(lks_map_cursor *m, lks_map_block *b, lks_element **out)
{
    int before = b->taken, i;
    lks_status status = LKS_OK;

    if (!lks__map_take_batch(m, b, out)) {
        i = b->taken++;
        status = i < b->stacked ? lks__map_take_row(m, b, i, out) : hand_out(&b->result[i], out);
    }
    m->pace.given += b->taken - before - 1;
    m->pace.countdown -= b->taken - before - 1;
    if (b->taken < b->n) return status;
    lks__map_drop_batches(b);
    m->head = (m->head + 1) % m->room;
    m->count--;
    return status;
}

/* The function does next to nothing with large elements: what would be handed over leaves the caches, so there is nothing to try. */
static bool only_moves(const lks_map_cursor *m)
{
    enum { LARGE = 1 << 16, BYTES_A_NS = 4 };
    int64_t bytes = atomic_load_explicit(&((lks_map_cursor *)m)->expected, memory_order_relaxed);

    return m->cost > 0 && bytes >= LARGE && BYTES_A_NS * m->cost < bytes;
}

/* The first windows after a change cost memory and find no thread awake: they tell nothing. */
static bool is_settled(const lks_map_cursor *m)
{
    return m->pace.inline_now ? m->count == 0 : m->pace.given - m->pace.from > 2 * m->ahead;
}

lks_status lks__map_next_parallel(lks_map_cursor *m, lks_element **out)
{
    lks_map_block *b;

    if (only_moves(m)) m->pace.inline_now = true;
    else lks__pace_step(&m->pace, m->cost, is_light(m), is_settled(m));
    if (m->pace.inline_now && m->count == 0) return m->input_ended ? LKS_END : next_inline(m, out);
    if ((m->count == 0 || block_at(m, 0)->taken == 0) && !m->pace.inline_now) LKS_TRY(fill_window(m));
    if (m->count == 0) return LKS_END;
    b = block_at(m, 0);
    if (b->taken == 0) {
        wait_for(m, b);
        adapt(m, b);
    }
    return take_next(m, b, out);
}

static void begin_window(lks_map_cursor *m)
{
    const lks_map_dataset *d = lks__map_recipe(m);
    int first = atomic_load_explicit(&((lks_map_dataset *)d)->window, memory_order_relaxed);

    if (d->parallel != LKS_AUTOTUNE) atomic_init(&m->window.size, m->room);
    else lks__window_begin(&m->window, first > 0 && first <= m->room ? first : FIRST_WINDOW, m->room, false);
}

lks_status lks__map_open_window(lks_map_cursor *m)
{
    int64_t p = lks__map_recipe(m)->parallel;

    m->block_size = atomic_load_explicit(&((lks_map_dataset *)m->base.dataset)->block, memory_order_relaxed);
    if (m->block_size < 1) m->block_size = 1;
    m->block_batches = 1;
    lks__pace_begin(&m->pace, &((lks_map_dataset *)m->base.dataset)->pace);
    m->forks = lks__fork_count();
    if (p == LKS_AUTOTUNE) m->room = 4 * lks__work_threads();
    else m->room = (int)(p < MAX_WINDOW ? p : MAX_WINDOW);
    if (m->room < FIRST_WINDOW && p == LKS_AUTOTUNE) m->room = FIRST_WINDOW;
    m->ring = lks__calloc((size_t)m->room, sizeof *m->ring);
    if (m->ring == NULL || pthread_mutex_init(&m->lock, NULL) != 0)
        return lks__cursor_fail(&m->base, LKS_E_NOMEM, "no memory for the window");
    if (pthread_cond_init(&m->finished, NULL) != 0) {
        pthread_mutex_destroy(&m->lock);
        return lks__cursor_fail(&m->base, LKS_E_NOMEM, "no memory for the window");
    }
    m->has_lock = true;
    begin_window(m);
    m->expected = lks__spec_bytes(m->base.dataset->spec);
    return LKS_OK;
}

/* Nobody wants the block any more: it is not begun, or ended by who has begun it. */
static void give_up(lks_map_cursor *m, lks_map_block *b)
{
    bool moved;

    while (!is_done(m, b, &moved)) {
        if (take_back(b)) b->done = true;
        else sleep_for(m, b);
    }
}

static void drop_block(lks_map_block *b)
{
    for (int i = b->taken; i < b->n; i++) {
        if (i < b->stacked) continue;
        lks_element_release(b->result[i].element);
        lks_element_release(b->result[i].place.batch);
        lks__free(b->result[i].error);
    }
    lks__map_drop_batches(b);
}

static void free_block(lks_map_block *b)
{
    if (b == NULL) return;
    for (int i = 0; i < LKS_MAP_MOST_ELEMENTS; i++) lks__free(b->file[i].data);
    lks__free(b->result);
    lks__free(b);
}

void lks__map_close_window(lks_map_cursor *m)
{
    lks_map_dataset *d = (lks_map_dataset *)m->base.dataset;
    bool child = m->room > 0 && m->forks != lks__fork_count(); /* the threads that ran our blocks are the parent's */

    for (int k = 0; k < m->count && !child; k++)
        if (take_back(block_at(m, k))) block_at(m, k)->done = true;
    for (int k = 0; k < m->count && !child; k++) {
        lks_map_block *b = block_at(m, k);
        give_up(m, b);
        lks__ledger_unreserve(b->reserved);
        b->reserved = 0;
        drop_block(b);
    }
    for (int k = 0; k < m->room && m->ring != NULL; k++) free_block(m->ring[k]);
    lks__free(m->ring);
    if (!m->has_lock || child) return;
    if (d->parallel == LKS_AUTOTUNE) {
        lks__window_end(&m->window);
        atomic_store_explicit(&d->window, window_of(m), memory_order_relaxed);
    }
    pthread_cond_destroy(&m->finished);
    pthread_mutex_destroy(&m->lock);
}
