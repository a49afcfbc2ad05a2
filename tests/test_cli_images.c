/* test_cli_images.c - the command on a folder of pictures: it learns to tell bright from dark, measures and predicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "lockstep.h"
#include "support/command.h"

static const char *at(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", command_folder(), name);
    return path;
}

static void put_picture(const char *name, unsigned char value)
{
    lks_tensor *t = lks_tensor_create(LKS_UINT8, lks_shape(6, 5, 3));

    memset(lks_tensor_data(t), value, 90);
    assert_int_equal(lks_write_jpeg(at(name), t, 90), LKS_OK);
    lks_tensor_release(t);
}

static int make_data(void **state)
{
    static const char *const folders[] = {
        "p", "p/train", "p/train/dark", "p/train/light", "p/validation", "p/validation/dark", "p/validation/light"
    };
    lks_node in = lks_input(lks_shape(4, 4, 3));
    lks_model *model = lks_model_create(in, lks_dense(lks_flatten(in), .units = 2, .activation = "softmax"));
    char name[64];

    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdir(at(folders[i]), 0700) != 0) return -1;
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "p/train/%s/%d.jpg", i % 2 ? "light" : "dark", i);
        put_picture(name, (unsigned char)(i % 2 ? 200 + i : 20 + i));
    }
    put_picture("p/validation/dark/a.jpg", 30);
    put_picture("p/validation/light/b.jpg", 210);
    if (lks_compile(model, .optimizer = "sgd:learning_rate=0.1", .loss = "categorical_crossentropy",
                    .metrics = "accuracy") != LKS_OK)
        return -1;
    if (lks_save(model, at("net.keras")) != LKS_OK) return -1;
    lks_release(model);
    return 0;
}

static int remove_data(void **state)
{
    (void)state;
    command_remove_folder();
    return 0;
}

static void a_folder_of_pictures_is_learnt_measured_and_predicted(void **state)
{
    command_result r;

    (void)state;
    command_run(&r, LOCKSTEP_COMMAND,
                "fit --model net.keras --data images:p --epochs 30 --verbose 0 --validate --save out.keras");
    if (r.code != 0) fail_msg("%s", r.err);
    command_run(&r, LOCKSTEP_COMMAND, "evaluate --model out.keras --data images:p --verbose 0 --json");
    if (r.code != 0 || strstr(r.out, "\"accuracy\": 1") == NULL) fail_msg("%s%s", r.out, r.err);
    assert_non_null(strstr(r.out, "\"examples\": 2"));
    command_run(&r, LOCKSTEP_COMMAND, "predict --model out.keras --data images:p --verbose 0 --output p.npz");
    assert_int_equal(r.code, 0);
    command_run(&r, LOCKSTEP_COMMAND,
                "evaluate --model out.keras --data images:p --pixels bytes --limit 1 --verbose 1");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "1 pictures of 2 classes"));
}

static void what_cannot_be_is_said(void **state)
{
    command_result r;

    (void)state;
    command_run(&r, LOCKSTEP_COMMAND, "evaluate --model net.keras --data images:nowhere");
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.err, "nowhere"));
    command_run(&r, LOCKSTEP_COMMAND, "evaluate --model net.keras --data images:p --pixels byte");
    assert_int_equal(r.code, 2);
    assert_non_null(strstr(r.err, "did you mean \"bytes\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_of_pictures_is_learnt_measured_and_predicted),
        cmocka_unit_test(what_cannot_be_is_said),
    };

#ifndef LKS_HAVE_LIBJPEG
    return 0;
#endif
    return cmocka_run_group_tests(tests, make_data, remove_data);
}
