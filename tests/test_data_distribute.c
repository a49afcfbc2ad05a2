/* test_data_distribute.c - one dataset for several workers and replicas: every element comes exactly once, in pieces of the stated
 * sizes, whatever the policy; recipes stay as they were; refusals name the policy that helps.
 */
#include "test_data.h"

#include "support/failing_alloc.h"

#include <stdlib.h>
#include <unistd.h>

enum { FILES = 6, MOST = 64 };

static char path[FILES][64];

/* File f has f + 1 lines: "100 f", "100 f + 1", ... */
static int write_files(void **state)
{
    (void)state;
    for (int f = 0; f < FILES; f++) {
        FILE *out;
        int fd;
        snprintf(path[f], sizeof path[f], "/tmp/test-distribute-XXXXXX");
        fd = mkstemp(path[f]);
        out = fd < 0 ? NULL : fdopen(fd, "w");
        if (out == NULL) return 1;
        for (int i = 0; i <= f; i++) fprintf(out, "%d\n", 100 * f + i);
        fclose(out);
    }
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    for (int f = 0; f < FILES; f++) unlink(path[f]);
    return 0;
}

static lks_spec *one_int(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_tensor(LKS_INT64, (lks_shape){ .rank = 0 });
}

static lks_status parse_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *y = lks_element_output(out, 0);

    (void)context, (void)user;
    if (y == NULL) return LKS_E_NOMEM;
    *(int64_t *)lks_tensor_data(y) = strtol(((const lks_bytes *)lks_tensor_cdata(lks_element_tensor(in, 0)))->data,
                                            NULL, 10);
    return LKS_OK;
}
static const lks_map_fn parse = { .struct_size = sizeof(lks_map_fn),
                                  .name = "parse",
                                  .output_spec = one_int,
                                  .apply = parse_apply,
                                  .flags = LKS_FN_PURE };

static lks_dataset *lines(void)
{
    const char *name[FILES];

    for (int f = 0; f < FILES; f++) name[f] = path[f];
    return lks_map(lks_text_lines(FILES, name), &parse);
}

static lks_dataset *parallel_lines(void)
{
    const char *name[FILES];

    for (int f = 0; f < FILES; f++) name[f] = path[f];
    return lks_map(lks_text_lines(FILES, name, .num_parallel_reads = 2), &parse);
}

static lks_dataset *numbers(void)
{
    return lks_shuffle(lks_range(0, 31, 1), 31, .seed = 5);
}

static lks_dataset *zipped(void)
{
    return lks_zip(lines(), lks_range(0, 100, 1));
}

static lks_dataset *hinted(void)
{
    return lks_shard(numbers(), LKS_SHARD_HINT, 0);
}

static const struct {
    const char *name;
    lks_dataset *(*make)(void);
    int elements;
    lks_shard_policy policy;
} sources[] = {
    { "files by file", lines, 21, LKS_SHARD_FILE },
    { "files by file, found by AUTO", lines, 21, LKS_SHARD_AUTO },
    { "files read in parallel", parallel_lines, 21, LKS_SHARD_FILE },
    { "files by element", lines, 21, LKS_SHARD_DATA },
    { "numbers", numbers, 31, LKS_SHARD_AUTO },
    { "a zip of files and numbers", zipped, 21, LKS_SHARD_AUTO },
    { "a hint", hinted, 31, LKS_SHARD_HINTED },
};

typedef struct bag {
    int64_t value[MOST];
    int n;
} bag;

static void put(bag *b, lks_element *e)
{
    const lks_tensor *t = lks_element_tensor(e, 0);

    for (int64_t i = 0; i < lks_tensor_size(t); i++) {
        assert_true(b->n < MOST);
        b->value[b->n++] = ((const int64_t *)lks_tensor_cdata(t))[i];
    }
}

/* Reads a dataset into the bag; returns the elements. Steals it. */
static int drain(lks_dataset *ds, bag *b)
{
    lks_iter *it = NULL;
    lks_element *e;
    int n = 0;
    lks_status status;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    while ((status = lks_iter_next(it, &e)) == LKS_OK) {
        put(b, e);
        lks_element_release(e);
        n++;
    }
    assert_status(status, LKS_END);
    lks_iter_release(it);
    lks_dataset_release(ds);
    return n;
}

static int by_value(const void *a, const void *b)
{
    return (*(const int64_t *)a > *(const int64_t *)b) - (*(const int64_t *)a < *(const int64_t *)b);
}

static void assert_same_elements(const char *name, bag *all, lks_dataset *whole)
{
    bag want = { .n = 0 };

    drain(whole, &want);
    qsort(all->value, (size_t)all->n, sizeof *all->value, by_value);
    qsort(want.value, (size_t)want.n, sizeof *want.value, by_value);
    if (all->n != want.n || memcmp(all->value, want.value, (size_t)all->n * sizeof *all->value) != 0)
        fail_msg("%s: %d elements instead of %d, or others", name, all->n, want.n);
}

static lks_dataset *whole(size_t k)
{
    return sources[k].policy == LKS_SHARD_HINTED ? numbers() : sources[k].make();
}

static void every_element_comes_once_over_the_workers(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++)
        for (int64_t workers = 1; workers <= 4; workers++) {
            bag all = { .n = 0 };
            for (int64_t w = 0; w < workers; w++)
                drain(lks_auto_shard(sources[k].make(), workers, w, sources[k].policy), &all);
            assert_same_elements(sources[k].name, &all, whole(k));
        }
}

static void every_element_comes_once_over_the_replicas(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++)
        for (int64_t n = 1; n <= 9; n++) {
            int64_t workers = (n - 1) / 3 + 1, replicas = (n - 1) % 3 + 1;
            bag all = { .n = 0 };
            for (int64_t w = 0; w < workers; w++) {
                int pieces = drain(lks_distribute(lks_batch(sources[k].make(), 7), .num_workers = workers, .worker = w,
                                                  .num_replicas = replicas, .policy = sources[k].policy),
                                   &all);
                assert_int_equal(pieces % replicas, 0);
            }
            assert_same_elements(sources[k].name, &all, whole(k));
        }
}

/* Worker w's pieces as "[0 1] [2] ". */
static void pieces_of(lks_dataset *ds, char *text, size_t size)
{
    lks_iter *it = NULL;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    lks_dataset_release(ds);
    read_pass(it, text, size, 100);
    lks_iter_release(it);
}

static void rows_of_a_batch_are_dealt_in_order(void **state)
{
    char text[512];

    (void)state;
    pieces_of(lks_distribute(lks_batch(lks_range(0, 12, 1), 5), .num_workers = 2, .num_replicas = 2), text,
              sizeof text);
    assert_string_equal(text, "[0 1] [2] [5 6] [7] [10] [11] ");
    pieces_of(lks_distribute(lks_batch(lks_range(0, 12, 1), 5), .num_workers = 2, .worker = 1, .num_replicas = 2), text,
              sizeof text);
    assert_string_equal(text, "[3] [4] [8] [9] [] [] ");
    pieces_of(lks_split_batches(lks_batch(lks_range(0, 5, 1), 5), 4, 0, 4, 1), text, sizeof text);
    assert_string_equal(text, "[0 1] [2 3] [4] [] ");
}

static void the_given_recipe_stays_as_it_was(void **state)
{
    lks_dataset *ds = lks_cache(lks_shuffle(lines(), 10, .seed = 3)), *part;
    bag before = { .n = 0 }, after = { .n = 0 }, some = { .n = 0 };

    (void)state;
    part = lks_auto_shard(lks_dataset_retain(ds), 3, 1, LKS_SHARD_FILE);
    drain(part, &some);
    assert_int_equal(some.n, 2 + 5); /* files 1 and 4 */
    drain(lks_dataset_retain(ds), &before);
    drain(ds, &after);
    assert_int_equal(before.n, 21);
    assert_memory_equal(before.value, after.value, sizeof *after.value * 21);
}

static void a_part_can_be_saved_and_restored(void **state)
{
    lks_dataset *ds = lks_auto_shard(lks_shuffle(parallel_lines(), 4, .seed = 3), 2, 0, LKS_SHARD_FILE);
    lks_dataset *other = lks_auto_shard(lks_shuffle(parallel_lines(), 4, .seed = 3), 2, 1, LKS_SHARD_FILE);
    lks_iter *it = NULL, *again = NULL;
    lks_element *e, *same;
    void *bytes;
    size_t size;

    (void)state;
    assert_status(lks_iter_create(ds, &it), LKS_OK);
    for (int i = 0; i < 3; i++) {
        assert_status(lks_iter_next(it, &e), LKS_OK);
        lks_element_release(e);
    }
    assert_status(lks_iter_save(it, &bytes, &size), LKS_OK);
    assert_status(lks_iter_restore(other, bytes, size, &again), LKS_E_ARG); /* the other worker's */
    assert_status(lks_iter_restore(ds, bytes, size, &again), LKS_OK);
    assert_status(lks_iter_next(it, &e), LKS_OK);
    assert_status(lks_iter_next(again, &same), LKS_OK);
    assert_int_equal(*(const int64_t *)lks_tensor_cdata(lks_element_tensor(e, 0)),
                     *(const int64_t *)lks_tensor_cdata(lks_element_tensor(same, 0)));
    lks_element_release(e);
    lks_element_release(same);
    lks_iter_release(it);
    lks_iter_release(again);
    lks_free(bytes);
    lks_dataset_release(ds);
    lks_dataset_release(other);
}

/* The builder's refusal; its sentence holds `word`. */
static void assert_refused(lks_dataset *ds, lks_status want, const char *word)
{
    assert_status(lks_dataset_status(ds), want);
    if (strstr(lks_last_error(), word) == NULL) fail_msg("'%s' is not in: %s", word, lks_last_error());
    lks_dataset_release(ds);
}

static void refusals_say_what_helps(void **state)
{
    const char *one = path[0];

    (void)state;
    assert_refused(lks_auto_shard(lks_range(0, 9, 1), 2, 0, LKS_SHARD_FILE), LKS_E_NOTFOUND, "DATA");
    assert_refused(lks_auto_shard(lks_text_lines(1, &one), 2, 1, LKS_SHARD_AUTO), LKS_E_ARG, "1 files are not enough");
    assert_refused(lks_auto_shard(lks_range(0, 2, 1), 3, 2, LKS_SHARD_DATA), LKS_E_ARG, "elements");
    assert_refused(lks_auto_shard(hinted(), 2, 0, LKS_SHARD_AUTO), LKS_E_STATE, "HINT");
    assert_refused(lks_auto_shard(lks_range(0, 9, 1), 2, 2, LKS_SHARD_DATA), LKS_E_ARG, "worker 2 of 2");
    assert_refused(lks_distribute(lks_range(0, 9, 1), .num_replicas = 2), LKS_E_SHAPE, "batch");
    assert_refused(lks_distribute(lks_range(0, 9, 1), .num_workers = -1), LKS_E_ARG, "at least 1");
    assert_refused(lks_split_batches(lks_batch(lks_range(0, 9, 1), 3), 2, 1, 2, 0), LKS_E_ARG, "pieces");
}

/* Fewer elements than workers, which only reading tells: all workers say so at their first element. */
static void too_few_elements_fail_on_every_worker(void **state)
{
    (void)state;
    for (int64_t w = 0; w < 3; w++) {
        lks_dataset *ds = lks_auto_shard(lks_take_while(lks_range(0, 2, 1), &even), 3, w, LKS_SHARD_DATA);
        lks_iter *it = NULL;
        lks_element *e;
        assert_status(lks_iter_create(ds, &it), LKS_OK);
        assert_status(lks_iter_next(it, &e), LKS_E_ARG);
        lks_iter_release(it);
        lks_dataset_release(ds);
    }
}

static void every_allocation_may_fail(void **state)
{
    lks_status status;

    (void)state;
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++)
        EVERY_ALLOCATION_FAILS(status = read_some(lks_distribute(lks_batch(sources[k].make(), 7), .num_workers = 2,
                                                                 .num_replicas = 2, .policy = sources[k].policy),
                                                  8),
                               {});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_comes_once_over_the_workers),
        cmocka_unit_test(every_element_comes_once_over_the_replicas),
        cmocka_unit_test(rows_of_a_batch_are_dealt_in_order),
        cmocka_unit_test(the_given_recipe_stays_as_it_was),
        cmocka_unit_test(a_part_can_be_saved_and_restored),
        cmocka_unit_test(refusals_say_what_helps),
        cmocka_unit_test(too_few_elements_fail_on_every_worker),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, write_files, remove_files);
}
