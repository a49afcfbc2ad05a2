/* stream_ahead.c - a file's copy out of the page cache costs as much as half of what is done with its records: here another thread does it.
 * A ring of blocks is filled by a piece of work; whoever finds it empty, and the piece not begun, reads by itself. What comes out is the
 * same. All reading says where: the file's own position is left alone. */
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
    size_t have;
    uint64_t good; /* what the look said */
    int error;
} ahead_block;

struct lks_stream_ahead {
    lks_work work;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned forks;
    bool active, ended, stop; /* active: the piece is queued or runs, and it alone reads */
    int fd, head, count;
    uint64_t offset; /* of who reads */
    size_t size;
    lks_block_look *look;
    ahead_block ring[BLOCKS];
};

static bool is_long(int fd, uint64_t offset, size_t size)
{
    struct stat info;

    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (uint64_t)info.st_size > offset &&
           (uint64_t)info.st_size - offset > size;
}

/* By the piece of work, or where there is none. */
static void read_block(lks_stream_ahead *a, ahead_block *b)
{
    ssize_t n;

    do n = pread(a->fd, b->data, a->size, (off_t)a->offset);
    while (n < 0 && errno == EINTR);
    b->error = n < 0 ? errno : 0;
    b->have = n < 0 ? 0 : (size_t)n;
    b->good = a->look != NULL && b->have > 0 ? a->look->see(a->look, b->data, b->have, a->offset) : 0;
    a->offset += b->have;
    lks__work_read(b->have);
}

static void run(lks_work *work)
{
    lks_stream_ahead *a = (lks_stream_ahead *)work;

    pthread_mutex_lock(&a->lock);
    while (!a->stop && !a->ended && a->count < BLOCKS) {
        ahead_block *b = &a->ring[(a->head + a->count) % BLOCKS];
        pthread_mutex_unlock(&a->lock);
        read_block(a, b);
        pthread_mutex_lock(&a->lock);
        a->count++;
        a->ended = b->have == 0;
        pthread_cond_signal(&a->changed);
    }
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
    a->offset = offset;
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

/* Under the lock: until there is a block, or nobody who reads. */
static void wait_for_block(lks_stream_ahead *a)
{
    while (a->count == 0 && a->active) {
        bool mine;
        pthread_mutex_unlock(&a->lock);
        mine = lks__work_take_back(&a->work);
        pthread_mutex_lock(&a->lock);
        if (mine) a->active = false;
        else if (a->count == 0 && a->active) pthread_cond_wait(&a->changed, &a->lock);
    }
}

int lks__stream_ahead_take(lks_stream_ahead *a, unsigned char **block, size_t *have, uint64_t *good)
{
    ahead_block *b;
    unsigned char *empty = *block;
    bool submit;
    int error;

    pthread_mutex_lock(&a->lock);
    wait_for_block(a);
    b = &a->ring[a->head];
    if (a->count == 0) { /* this thread alone has it now */
        read_block(a, b);
        a->count = 1;
        a->ended = b->have == 0;
    }
    *have = b->have;
    *good = b->good;
    error = b->error;
    if (b->have > 0) { /* an end stays and is found again */
        *block = b->data;
        b->data = empty;
        a->head = (a->head + 1) % BLOCKS;
        a->count--;
    }
    submit = !a->active && !a->ended && a->count <= BLOCKS / 2;
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
