/* test_no_allocation.c - after the first step a training step allocates nothing, the partial last batch included: counted at malloc itself,
 * which this program replaces. (Sanitizers bring their own malloc: there the count is left out.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lockstep.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define COUNTED 0
#endif
#endif
#if !defined(COUNTED) && defined(__GLIBC__)
#define COUNTED 1
#elif !defined(COUNTED)
#define COUNTED 0
#endif

static atomic_long allocations;

#if COUNTED
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(p, n);
}
#endif

enum { ROWS = 75, BATCH = 32, STEPS = 3 };

typedef struct counts {
    long at[2 * STEPS];
    int n;
} counts;

static lks_status note(void *user, lks_model *model, int64_t step, const lks_logs *logs)
{
    counts *c = user;

    (void)model;
    (void)step;
    (void)logs;
    if (c->n < 2 * STEPS) c->at[c->n++] = atomic_load(&allocations);
    return LKS_OK;
}

static void a_step_allocates_nothing(void **state)
{
    lks_tensor *x = lks_tensor_create(LKS_FLOAT32, lks_shape(ROWS, 8, 8, 1)),
               *y = lks_tensor_create(LKS_INT64, lks_shape(ROWS));
    lks_arrays arrays = { .x = x, .y = y };
    lks_node in = lks_input(lks_shape(8, 8, 1)), h;
    lks_model *model;
    counts c = { { 0 }, 0 };
    lks_callback callback = { .struct_size = sizeof callback, .user = &c, .on_train_batch_end = note };

    (void)state;
    for (int i = 0; i < ROWS * 64; i++) ((float *)lks_tensor_data(x))[i] = (float)(i % 13) * 0.1f;
    h = lks_batch_normalization(lks_conv2d(in, .filters = 4, .kernel_size = { 3, 3 }));
    h = lks_dropout(lks_flatten(lks_relu(h)), .rate = 0.25);
    model = lks_model_create(in, lks_dense(h, .units = 3));
    assert_int_equal(lks_compile(model, .optimizer = "adam", .loss = "sparse_categorical_crossentropy:from_logits=true",
                                 .metrics = "accuracy"),
                     LKS_OK);
    if (lks_fit_arrays(model, &arrays, .epochs = 2, .batch_size = BATCH, .threads = 2, .callbacks = &callback,
                       .n_callbacks = 1) != LKS_OK)
        fail_msg("%s", lks_last_error());
    assert_int_equal(c.n, 2 * STEPS);
    if (COUNTED) {
        assert_true(c.at[0] > 0);
        assert_int_equal(c.at[2], c.at[0]); /* steps 2 and 3 of the first epoch, the last one partial */
        assert_int_equal(c.at[5], c.at[3]); /* and of the second */
    }
    lks_model_release(model);
    lks_tensor_release(x);
    lks_tensor_release(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_step_allocates_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
