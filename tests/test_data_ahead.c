/* test_data_ahead.c - the blocks of a file that is read ahead by several threads: they come in the file's order and follow each other, are
 * looked at one after another, and what is written behind a short one is found.
 *
 * ctest labels: concurrent
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "data/stream_ahead.h"
#include "test_records.h"

enum { SIZE = 1 << 16, ROUNDS = 60 };

static unsigned char byte_at(uint64_t i)
{
    return (unsigned char)(i * 7 + i / 251 + i / 65521);
}

static void append(int fd, uint64_t from, uint64_t to)
{
    unsigned char part[4096];

    while (from < to) {
        size_t n = to - from < sizeof part ? (size_t)(to - from) : sizeof part;
        for (size_t k = 0; k < n; k++) part[k] = byte_at(from + k);
        assert_int_equal(pwrite(fd, part, n, (off_t)from), n);
        from += n;
    }
}

static int begin_file(const char *name, uint64_t size)
{
    int fd = open(path(name), O_RDWR | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    append(fd, 0, size);
    return fd;
}

typedef struct look {
    lks_block_look base;
    uint64_t next; /* where the next block must begin */
    int wrong;
} look;

static uint64_t see(lks_block_look *base, const unsigned char *data, size_t n, uint64_t offset)
{
    look *l = (look *)base;

    l->wrong += offset != l->next || data[0] != byte_at(offset);
    l->next = offset + n;
    return l->next;
}

/* Takes blocks up to the end; returns where that is. */
static uint64_t take_all(lks_stream_ahead *a, unsigned char **block, uint64_t from, bool looked_at)
{
    size_t have;
    uint64_t good;

    for (;;) {
        int wrong = 0;
        assert_int_equal(lks__stream_ahead_take(a, block, &have, &good), 0);
        if (have == 0) return from;
        for (size_t k = 0; k < have; k++) wrong += (*block)[k] != byte_at(from + k);
        assert_int_equal(wrong, 0);
        from += have;
        assert_true(good == (looked_at ? from : 0));
    }
}

static void blocks_come_in_order_and_are_looked_at(void **state)
{
    static const uint64_t sizes[] = { 2 * SIZE, 2 * SIZE + 1, 9 * SIZE - 1, 40 * SIZE + 777 };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int fd = begin_file("ahead.bin", sizes[i]);
        for (int round = 0; round < ROUNDS; round++) {
            look l = { { see }, 100, 0 };
            unsigned char *block = lks__malloc(SIZE);
            lks_stream_ahead *a = lks__stream_ahead_begin(fd, 100, SIZE, round % 2 ? &l.base : NULL);
            assert_non_null(block);
            if (a != NULL) { /* one core has nobody to read ahead */
                assert_true(take_all(a, &block, 100, round % 2) == sizes[i]);
                assert_true(take_all(a, &block, sizes[i], false) == sizes[i]);
                assert_int_equal(l.wrong, 0);
            }
            lks__stream_ahead_end(a);
            lks__free(block);
        }
        close(fd);
    }
}

static void what_is_added_behind_a_short_block_is_found(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t size = 3 * SIZE + (uint64_t)round * 1001, end;
        int fd = begin_file("grows.bin", size);
        unsigned char *block = lks__malloc(SIZE);
        lks_stream_ahead *a = lks__stream_ahead_begin(fd, 0, SIZE, NULL);
        assert_non_null(block);
        for (uint64_t at = 0; a != NULL && at + SIZE <= size; at += SIZE) { /* the whole blocks */
            size_t have;
            uint64_t good;
            assert_int_equal(lks__stream_ahead_take(a, &block, &have, &good), 0);
            assert_int_equal(have, SIZE);
            assert_int_equal(block[0], byte_at(at));
        }
        append(fd, size, 2 * size); /* the rest may have been read before or not */
        if (a != NULL) {
            end = take_all(a, &block, size - size % SIZE, false);
            assert_true(end == 2 * size || end == size);
        }
        lks__stream_ahead_end(a);
        lks__free(block);
        close(fd);
    }
}

static void reading_may_be_given_up(void **state)
{
    int fd = begin_file("ahead.bin", 30 * SIZE);

    (void)state;
    for (int round = 0; round < 5 * ROUNDS; round++) {
        unsigned char *block = lks__malloc(SIZE);
        lks_stream_ahead *a = lks__stream_ahead_begin(fd, 0, SIZE, NULL);
        size_t have;
        uint64_t good;
        assert_non_null(block);
        for (int k = 0; a != NULL && k < round % 9; k++)
            assert_int_equal(lks__stream_ahead_take(a, &block, &have, &good), 0);
        lks__stream_ahead_end(a);
        lks__free(block);
    }
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_in_order_and_are_looked_at),
        cmocka_unit_test(what_is_added_behind_a_short_block_is_found),
        cmocka_unit_test(reading_may_be_given_up),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
