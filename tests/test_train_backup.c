/* test_train_backup.c - training that is killed at any step and started again ends with the same weights, bit for bit, and the same
 * history; what can't be replayed is refused before the first step; a backup of another run is refused; broken ones are.
 *
 * Every run is a process of its own, killed by SIGKILL in the callback at the end of a step.
 */
#include "test_data.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/folder.h"

enum { ROWS = 70, BATCH = 8, EPOCHS = 3 };

static char backup[64];

/* What a run is, and what it says through the pipe. */
typedef struct plan {
    int64_t arrays, steps_per_epoch, save_freq, die_after, seed, impure;
} plan;
typedef struct answer {
    lks_status status;
    char digest[65], text[400];
    double loss[EPOCHS];
    size_t epochs;
    int64_t iterations;
} answer;

/* (x, y) -> (x + noise, y); new noise in every pass */
static lks_status noisy_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const float *x = lks_tensor_cdata(lks_element_tensor(in, 0));
    lks_tensor *y = lks_element_output(out, 0);
    uint32_t words[4];

    (void)user;
    if (y == NULL) return LKS_E_NOMEM;
    lks_map_random(context, 1, 0, words);
    for (int i = 0; i < 3; i++) ((float *)lks_tensor_data(y))[i] = x[i] + (float)(words[i] % 100) * 0.001f;
    return lks_element_set(out, 1, lks_element_tensor(in, 1));
}
static lks_map_fn noisy = {
    .struct_size = sizeof(lks_map_fn), .name = "noisy", .apply = noisy_apply, .flags = LKS_FN_PURE | LKS_FN_RANDOM
};

static void rows(lks_tensor **x, lks_tensor **y)
{
    *x = lks_tensor_create(LKS_FLOAT32, lks_shape(ROWS, 3));
    *y = lks_tensor_create(LKS_INT32, lks_shape(ROWS));
    for (int i = 0; i < ROWS * 3; i++) ((float *)lks_tensor_data(*x))[i] = (float)((i * 7) % 11) * 0.1f;
    for (int i = 0; i < ROWS; i++) ((int32_t *)lks_tensor_data(*y))[i] = i % 2;
}

static lks_dataset *data(const plan *p, lks_tensor *x, lks_tensor *y)
{
    lks_map_fn f = noisy;
    lks_dataset *ds;

    if (p->impure) f.flags = 0;
    ds = lks_map(lks_from_tensor_slices(x, y), &f, .num_parallel_calls = LKS_AUTOTUNE);
    ds = lks_batch(lks_shuffle(ds, 20, .seed = 4), BATCH);
    if (p->steps_per_epoch > 0) ds = lks_repeat(ds, -1);
    return lks_prefetch(ds, LKS_AUTOTUNE);
}

/* Waits for its input's shape: a resumed run must build it before the first batch. */
static lks_model *model(void)
{
    lks_model *m = lks_sequential();

    lks_sequential_add(m, lks_dense_layer(.units = 6, .activation = "tanh"));
    lks_sequential_add(m, lks_batch_normalization_layer());
    lks_sequential_add(m, lks_dropout_layer(.rate = 0.3));
    lks_sequential_add(m, lks_dense_layer(.units = 2));
    lks_compile(m, .optimizer = "adam", .loss = "sparse_categorical_crossentropy:from_logits=true",
                .metrics = "accuracy");
    return m;
}

static lks_status die(void *user, lks_model *m, int64_t step, const lks_logs *logs)
{
    const plan *p = user;

    (void)step, (void)logs;
    if (lks_model_iterations(m) == p->die_after) kill(getpid(), SIGKILL);
    return LKS_OK;
}

static void fit(const plan *p, answer *out)
{
    const lks_callback deadly = { .struct_size = sizeof deadly, .user = (void *)p, .on_train_batch_end = die };
    lks_model *m = model();
    lks_history *h = NULL;
    lks_tensor *x, *y;
    const double *loss;

    rows(&x, &y);
    lks_arrays a = { .x = x, .y = y };
    lks_fit_options o = { .struct_size = sizeof o,
                          .epochs = EPOCHS,
                          .batch_size = BATCH,
                          .seed = p->seed,
                          .steps_per_epoch = p->steps_per_epoch,
                          .callbacks = &deadly,
                          .n_callbacks = 1,
                          .history = &h,
                          .backup_dir = p->save_freq >= 0 ? backup : NULL,
                          .save_freq = p->save_freq > 0 ? p->save_freq : 0 };
    if (p->arrays) o.validation_split = 0.2;
    out->status = p->arrays ? lks_fit_arrays_with(m, &a, &o) : lks_fit_with(m, data(p, x, y), &o);
    snprintf(out->text, sizeof out->text, "%s", out->status == LKS_OK ? "" : lks_last_error());
    out->iterations = lks_model_iterations(m);
    if (out->status == LKS_OK) {
        lks_model_digest(m, out->digest);
        loss = lks_history_values(h, p->arrays ? "val_loss" : "loss", &out->epochs);
        for (size_t i = 0; i < out->epochs && i < EPOCHS; i++) out->loss[i] = loss[i];
    }
    lks_history_release(h);
    lks_model_release(m);
    lks_tensor_release(x);
    lks_tensor_release(y);
}

/* False: the process was killed. */
static bool run(const plan *p, answer *out)
{
    int ends[2], status;
    pid_t child;
    ssize_t n;

    memset(out, 0, sizeof *out);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fit(p, out);
        _exit(write(ends[1], out, sizeof *out) == sizeof *out ? 0 : 1);
    }
    close(ends[1]);
    n = read(ends[0], out, sizeof *out);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) assert_int_equal(WTERMSIG(status), SIGKILL);
    return n == sizeof *out;
}

static bool exists(void)
{
    struct stat info;

    return stat(backup, &info) == 0;
}

static void assert_same_end(const plan *p, const answer *want, const answer *got)
{
    if (got->status != LKS_OK) fail_msg("%s", got->text);
    if (strcmp(want->digest, got->digest) != 0 || memcmp(want->loss, got->loss, sizeof got->loss) != 0)
        fail_msg("killed after step %lld, backed up every %lld: other weights or losses", (long long)p->die_after,
                 (long long)p->save_freq);
    assert_int_equal(got->epochs, EPOCHS);
}

/* Dies again and again, a random number of steps further each time. */
static void kill_and_go_on(plan p)
{
    static unsigned random = 7;
    answer whole, part;
    plan undisturbed = p;
    int64_t steps;

    undisturbed.save_freq = -1;
    assert_true(run(&undisturbed, &whole));
    if (whole.status != LKS_OK) fail_msg("%s", whole.text);
    steps = whole.iterations;
    for (int round = 0; round < 6; round++) {
        for (p.die_after = 0; p.die_after <= steps;) {
            random = random * 1664525u + 1013904223u;
            p.die_after += 1 + (random >> 16) % 9;
            if (run(&p, &part)) break;
            assert_true(p.save_freq == 0 || p.die_after <= p.save_freq || exists());
        }
        assert_same_end(&p, &whole, &part);
        assert_false(exists());
    }
}

static void a_dataset_goes_on_in_mid_epoch(void **state)
{
    (void)state;
    kill_and_go_on((plan){ .save_freq = 1 });
    kill_and_go_on((plan){ .save_freq = 4 });
    kill_and_go_on((plan){ .save_freq = 0 });
}

static void an_endless_dataset_goes_on_in_mid_epoch(void **state)
{
    (void)state;
    kill_and_go_on((plan){ .save_freq = 1, .steps_per_epoch = 7 });
    kill_and_go_on((plan){ .save_freq = 3, .steps_per_epoch = 7 });
    kill_and_go_on((plan){ .save_freq = 0, .steps_per_epoch = 7 });
}

static void arrays_go_on_in_mid_epoch(void **state)
{
    (void)state;
    kill_and_go_on((plan){ .save_freq = 1, .arrays = 1 });
    kill_and_go_on((plan){ .save_freq = 5, .arrays = 1 });
    kill_and_go_on((plan){ .save_freq = 0, .arrays = 1 });
}

static void expect_refusal(const plan *p, lks_status status, const char *word)
{
    answer a;

    assert_true(run(p, &a));
    if (a.status != status || strstr(a.text, word) == NULL)
        fail_msg("%s instead of a refusal with '%s': %s", lks_status_name(a.status), word, a.text);
    assert_int_equal(a.iterations, 0);
}

static void data_that_cannot_be_replayed_are_refused_at_once(void **state)
{
    const plan p = { .save_freq = 1, .impure = 1 };

    (void)state;
    expect_refusal(&p, LKS_E_STATE, "'map'");
    assert_false(exists());
}

static void other_runs_and_broken_files_are_refused(void **state)
{
    plan p = { .save_freq = 2, .die_after = 5 };
    char path[128], *bytes = malloc(1 << 20);
    answer a;
    size_t n;
    FILE *f;

    (void)state;
    assert_false(run(&p, &a));
    p.die_after = 0;
    p.seed = 9;
    expect_refusal(&p, LKS_E_ARG, "seed");
    p.seed = 0;
    p.arrays = 1;
    expect_refusal(&p, LKS_E_ARG, "batch_size");
    p.arrays = 0;
    p.steps_per_epoch = 7;
    expect_refusal(&p, LKS_E_ARG, "steps_per_epoch");
    p.steps_per_epoch = 0;
    snprintf(path, sizeof path, "%s/backup.lks", backup);
    f = fopen(path, "rb");
    assert_non_null(f);
    n = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    for (size_t cut = 0; cut < n; cut += n / 7) {
        f = fopen(path, "wb");
        fwrite(bytes, 1, cut, f);
        fclose(f);
        expect_refusal(&p, LKS_E_FORMAT, "backup");
    }
    bytes[n / 2] ^= 1;
    f = fopen(path, "wb");
    fwrite(bytes, 1, n, f);
    fclose(f);
    expect_refusal(&p, LKS_E_FORMAT, "checksum");
    unlink(path);
    rmdir(backup);
    free(bytes);
}

static void half_written_backups_of_killed_runs_are_removed(void **state)
{
    plan p = { .save_freq = 2, .die_after = 5 };
    char left[128];
    FILE *f;
    answer a;

    (void)state;
    assert_false(run(&p, &a));
    snprintf(left, sizeof left, "%s/backup.lks.lks-tmp0", backup);
    f = fopen(left, "wb");
    assert_non_null(f);
    fclose(f);
    p.die_after = 0;
    assert_true(run(&p, &a));
    assert_int_equal(a.status, LKS_OK);
    assert_int_equal(access(backup, F_OK), -1); /* it was empty and is removed */
}

static int name_backup(void **state)
{
    if (make_folder(state) != 0) return -1;
    snprintf(backup, sizeof backup, "%s/run", folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dataset_goes_on_in_mid_epoch),
        cmocka_unit_test(an_endless_dataset_goes_on_in_mid_epoch),
        cmocka_unit_test(arrays_go_on_in_mid_epoch),
        cmocka_unit_test(data_that_cannot_be_replayed_are_refused_at_once),
        cmocka_unit_test(other_runs_and_broken_files_are_refused),
        cmocka_unit_test(half_written_backups_of_killed_runs_are_removed),
    };

    return cmocka_run_group_tests(tests, name_backup, remove_empty_folder);
}
