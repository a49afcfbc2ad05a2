/* stream_ahead.c - a file's copy out of the page cache costs as much as half of what is done with its records: here another thread does it.
 * A ring of blocks is filled by a piece of work; who wants a block that is not there yet reads the next one that nobody has begun, so that
 * both are busy whichever is faster. Blocks are looked at in the file's order, one at a time, by who finds the next one read. What comes out
 * is the same. All reading says where: the file's own position is left alone. */
#include "stream_ahead.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "meter.h"
#include "work.h"

enum { BLOCKS = 4, SMALLEST = 1 << 16, LARGEST = 1 << 22 };

typedef struct ahead_block {
    unsigned char *data;
    uint64_t offset;
    size_t have;
    uint64_t good; /* what the look said */
    int error;
    bool was_read;
} ahead_block;

struct lks_stream_ahead {
    lks_work work;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned forks;
    bool active, stop; /* active: the piece is queued or runs */
    bool ended;        /* nothing more is begun: the file's end was seen */
    bool looking;      /* somebody looks at block `seen` */
    uint64_t taken, seen,
        begun;             /* blocks so far: given out, looked at, begun to be read; block i is in ring[i % BLOCKS] */
    uint64_t offset, next; /* of the block that is begun next, and of the one that is to be given out next */
    int fd;
    size_t size;
    lks_block_look *look;
    ahead_block ring[BLOCKS];
};

static ahead_block *block_at(lks_stream_ahead *a, uint64_t i)
{
    return &a->ring[i % BLOCKS];
}

static bool is_long(int fd, uint64_t offset, size_t size)
{
    struct stat info;

    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (uint64_t)info.st_size > offset &&
           (uint64_t)info.st_size - offset > size;
}

/* As much as there is: less than a block only at the end. */
static void read_block(const lks_stream_ahead *a, ahead_block *b)
{
    b->have = 0;
    b->error = 0;
    while (b->have < a->size) {
        ssize_t n = pread(a->fd, b->data + b->have, a->size - b->have, (off_t)(b->offset + b->have));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) b->error = errno;
        if (n <= 0) break;
        b->have += (size_t)n;
    }
    lks__work_read(b->have);
}

/* Under the lock. Behind the end nothing is looked at: if the file grows meanwhile, blocks no longer follow each other. */
static void look_at_next(lks_stream_ahead *a)
{
    while (!a->looking && a->seen < a->begun && block_at(a, a->seen)->was_read) {
        ahead_block *b = block_at(a, a->seen);
        b->good = 0;
        if (a->look != NULL && b->have > 0) {
            a->looking = true;
            pthread_mutex_unlock(&a->lock);
            b->good = a->look->see(a->look, b->data, b->have, b->offset);
            pthread_mutex_lock(&a->lock);
            a->looking = false;
        }
        if (b->have < a->size) a->look = NULL;
        a->seen++;
        pthread_cond_signal(&a->changed);
    }
}

/* Under the lock: reads the next block that nobody has begun; false: there is no room for one, or no need. */
static bool read_next(lks_stream_ahead *a)
{
    ahead_block *b = block_at(a, a->begun);

    if (a->stop || a->ended || a->begun - a->taken == BLOCKS) return false;
    b->offset = a->offset;
    b->was_read = false;
    a->offset += a->size;
    a->begun++;
    pthread_mutex_unlock(&a->lock);
    read_block(a, b);
    pthread_mutex_lock(&a->lock);
    b->was_read = true;
    if (b->have < a->size) a->ended = true;
    look_at_next(a);
    return true;
}

static void run(lks_work *work)
{
    lks_stream_ahead *a = (lks_stream_ahead *)work;

    pthread_mutex_lock(&a->lock);
    while (read_next(a)) continue;
    a->active = false;
    pthread_cond_signal(&a->changed); /* the last that is done here: it may be gone after this */
    pthread_mutex_unlock(&a->lock);
}

static void destroy(lks_stream_ahead *a)
{
    for (int i = 0; i < BLOCKS; i++) lks__free(a->ring[i].data);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    lks__free(a);
}

lks_stream_ahead *lks__stream_ahead_begin(int fd, uint64_t offset, size_t size, lks_block_look *look)
{
    lks_stream_ahead *a;
    bool ok = true;

    if (size < SMALLEST || size > LARGEST || lks__work_threads() < 2 || !is_long(fd, offset, size)) return NULL;
    a = lks__calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    a->forks = lks__fork_count();
    a->fd = fd;
    a->offset = a->next = offset;
    a->size = size;
    a->look = look;
    for (int i = 0; i < BLOCKS; i++) {
        a->ring[i].data = lks__malloc(size);
        ok = ok && a->ring[i].data != NULL;
    }
    if (!ok) {
        destroy(a);
        return NULL;
    }
    a->work = (lks_work){ .run = run, .io = true };
    a->active = true;
    lks__work_submit(&a->work);
    return a;
}

/* Under the lock: the last block was short. What was begun behind it does not follow on it, even if the file has grown. */
static void go_back(lks_stream_ahead *a)
{
    while (a->seen < a->begun) pthread_cond_wait(&a->changed, &a->lock);
    a->seen = a->begun = a->taken;
    a->offset = a->next;
    a->ended = false;
}

/* Under the lock: until the next block is there. */
static ahead_block *wait_for_block(lks_stream_ahead *a)
{
    for (;;) {
        if (a->seen > a->taken && block_at(a, a->taken)->offset == a->next) return block_at(a, a->taken);
        if (a->seen > a->taken || (a->ended && a->begun == a->taken)) go_back(a);
        if (!read_next(a)) pthread_cond_wait(&a->changed, &a->lock);
    }
}

int lks__stream_ahead_take(lks_stream_ahead *a, unsigned char **block, size_t *have, uint64_t *good)
{
    ahead_block *b;
    unsigned char *empty = *block;
    bool submit;
    int error;

    pthread_mutex_lock(&a->lock);
    b = wait_for_block(a);
    *have = b->have;
    *good = b->good;
    error = b->error;
    if (b->have > 0) { /* an end stays and is found again */
        *block = b->data;
        b->data = empty;
        a->next += b->have;
        a->taken++;
    }
    submit = !a->active && !a->ended && a->begun - a->taken <= BLOCKS / 2;
    if (submit) a->active = true;
    pthread_mutex_unlock(&a->lock);
    if (submit) lks__work_submit(&a->work);
    return error;
}

void lks__stream_ahead_end(lks_stream_ahead *a)
{
    if (a == NULL || a->forks != lks__fork_count())
        return; /* a child leaves alone what the parent's threads may hold */
    if (lks__work_take_back(&a->work)) a->active = false;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    while (a->active) pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
    destroy(a);
}
