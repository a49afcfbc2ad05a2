/* test_profile.c - where the time of a step goes: the rows account for the step's work and time, whatever the threads; the command
 * prints them, and makes up data for a model that has none. ctest labels: concurrent */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep.h"
#include "support/command.h"

enum { ROWS = 64 };

static lks_arrays arrays;

static int make_data(void **state)
{
    (void)state;
    arrays.x = lks_tensor_create(LKS_FLOAT32, lks_shape(ROWS, 12, 12, 3));
    arrays.y = lks_tensor_create(LKS_INT32, lks_shape(ROWS));
    if (arrays.x == NULL || arrays.y == NULL) return -1;
    for (int i = 0; i < ROWS * 432; i++) ((float *)lks_tensor_data(arrays.x))[i] = (float)((i * 7) % 11) * 0.1f;
    for (int i = 0; i < ROWS; i++) ((int32_t *)lks_tensor_data(arrays.y))[i] = i % 5;
    return 0;
}

static int drop_data(void **state)
{
    (void)state;
    lks_tensor_release(arrays.x);
    lks_tensor_release(arrays.y);
    return 0;
}

static lks_model *compiled(void)
{
    lks_node in = lks_input(lks_shape(12, 12, 3)), x;
    lks_model *m;

    x = lks_batch_normalization(lks_conv2d(in, .filters = 8, .kernel_size = { 3, 3 }));
    m = lks_model_create(in, lks_dense(lks_flatten(x), .units = 5));
    assert_int_equal(lks_compile(m, .optimizer = "adam", .loss = "sparse_categorical_crossentropy:from_logits=true"),
                     LKS_OK);
    return m;
}

static void rows_account_for_the_step(void **state)
{
    (void)state;
    for (int64_t threads = 1; threads <= 2; threads++) {
        lks_model *m = compiled();
        lks_profile *p = NULL;
        double flop = 0, seconds = 0;
        int filters = 0, updates = 0;
        assert_int_equal(lks_model_profile(m, &arrays, threads, 3, &p), LKS_OK);
        for (size_t i = 0; i < p->n; i++) {
            const lks_profile_item *x = &p->items[i];
            assert_true(x->seconds > -1e-3 && x->flop >= 0 && x->bytes >= x->memory_bytes);
            if (x->batched) flop += x->flop;
            seconds += x->seconds;
            filters += strstr(x->op, "conv2d_filter") != NULL && strstr(x->layer, "conv2d") != NULL;
            updates += !x->batched && strstr(x->layer, "optimizer") != NULL;
        }
        assert_true(fabs(flop - p->flop) <= 1e-9 * flop);
        assert_true(seconds > 0 && p->step_seconds > 0);
        assert_true(filters == 1 && updates > 0);
        assert_int_equal(p->threads, threads);
        assert_int_equal(p->batch_size, ROWS);
        assert_int_equal(p->steps, 3);
        assert_int_equal(lks_model_iterations(m), 7); /* one to warm up, 3 with clocks, 3 without */
        lks_profile_release(p);
        lks_model_release(m);
    }
}

static void misuse_is_refused(void **state)
{
    lks_model *m = compiled();
    lks_profile *p = NULL;
    lks_arrays none = { 0 };

    (void)state;
    assert_int_equal(lks_model_profile(m, &arrays, -1, 1, &p), LKS_E_ARG);
    assert_int_equal(lks_model_profile(m, &arrays, 1, -1, &p), LKS_E_ARG);
    assert_int_equal(lks_model_profile(m, &none, 1, 1, &p), LKS_E_ARG);
    assert_int_equal(lks_model_profile(m, NULL, 1, 1, &p), LKS_E_ARG);
    assert_null(p);
    lks_profile_release(NULL);
    lks_model_release(m);
}

#define BENCH "bench --model builtin:mnist_cnn --batch-size 32 --threads 1 --steps 2 "

static void the_command_prints_the_table(void **state)
{
    static command_result r;

    (void)state;
    command_run(&r, LOCKSTEP_COMMAND, BENCH "--roofline");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "instruction sets: "));
    assert_non_null(strstr(r.out, "the whole step"));
    command_run(&r, LOCKSTEP_COMMAND, BENCH "--roofline --json");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "\"op\": \"gather rows\""));
    assert_non_null(strstr(r.out, "\"peak_share\""));
    command_run(&r, LOCKSTEP_COMMAND, BENCH "--predict --json");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "\"median_s\""));
    command_run(&r, LOCKSTEP_COMMAND,
                "fit --model builtin:mnist_autoencoder --data random:64 --epochs 1 --batch-size 32 --verbose 0 --json");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "\"images_per_s\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_account_for_the_step),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(the_command_prints_the_table),
    };
    int failed = cmocka_run_group_tests(tests, make_data, drop_data);

    command_remove_folder();
    return failed;
}
