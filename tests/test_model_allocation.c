/* test_model_allocation.c - every allocation of the library failing in turn while a model is built, compiled, trained for two steps and used:
 * always LKS_E_NOMEM, never a crash or a leak.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep.h"
#include "support/failing_alloc.h"

enum { ROWS = 6 };

static lks_model *build(void)
{
    lks_model *head = lks_sequential(.name = "head", .input_shape = { 2, 2, 2 });
    lks_node in = lks_input(lks_shape(4, 4, 1)), x, both[2];
    lks_model *model;

    lks_sequential_add(head, lks_flatten_layer());
    lks_sequential_add(head, lks_dense_layer(.units = 3, .activation = "softmax"));
    x = lks_conv2d(in, .filters = 2, .kernel_size = { 3, 3 }, .padding = "same", .activation = "relu");
    both[0] = x;
    both[1] = lks_batch_normalization(x);
    x = lks_add(2, both);
    x = lks_dropout(x, .rate = 0.25);
    x = lks_max_pooling2d(x);
    model = lks_model_create(in, lks_model_call(head, x));
    lks_model_release(head);
    return model;
}

static lks_status use_model(lks_model *m, const lks_arrays *arrays)
{
    lks_status status = lks_compile(m, .optimizer = "adam", .loss = "sparse_categorical_crossentropy",
                                    .metrics = "accuracy");
    lks_tensor *out = NULL;
    lks_logs logs;

    if (status == LKS_OK) status = lks_fit_arrays(m, arrays, .epochs = 1, .batch_size = 4, .threads = 2);
    if (status == LKS_OK) status = lks_evaluate_arrays(m, arrays, &logs, .batch_size = 4, .threads = 2);
    if (status == LKS_OK) status = lks_predict_arrays_with(m, 1, &arrays->x, 1, &out, NULL);
    lks_tensor_release(out);
    return status;
}

static lks_status everything(void)
{
    lks_tensor *x = lks_tensor_create(LKS_FLOAT32, lks_shape(ROWS, 4, 4, 1)), *y = NULL;
    lks_arrays arrays = { .x = x };
    lks_model *m = NULL;
    lks_status status = x != NULL ? LKS_OK : LKS_E_NOMEM;

    if (status == LKS_OK) arrays.y = y = lks_tensor_create(LKS_INT32, lks_shape(ROWS));
    if (y == NULL) status = LKS_E_NOMEM;
    if (status == LKS_OK) {
        for (int i = 0; i < ROWS * 16; i++) ((float *)lks_tensor_data(x))[i] = (float)(i % 7) * 0.2f;
        m = build();
        status = m != NULL ? lks_model_status(m) : LKS_E_NOMEM;
    }
    if (status == LKS_OK) status = use_model(m, &arrays);
    lks_model_release(m);
    lks_tensor_release(x);
    lks_tensor_release(y);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    lks_status status;

    (void)state;
    if (everything() != LKS_OK) fail_msg("%s", lks_last_error()); /* threads and caches of the process are made first */
    EVERY_ALLOCATION_FAILS(status = everything(), {});
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
