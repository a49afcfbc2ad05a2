/* test_files_save.c - files that are being written: what a killed writer leaves is removed by the next one of that file, what a
 * living one holds never is.
 */
#include "test_data.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/folder.h"

static char target[64];

static lks_status records(bool killed)
{
    lks_record_writer *w = NULL;
    lks_status status = lks_record_writer_open(&w, target);

    if (status == LKS_OK) status = lks_record_writer_write(w, "some bytes", 10);
    if (killed) raise(SIGKILL);
    if (status == LKS_OK) return lks_record_writer_close(w);
    lks_record_writer_drop(w);
    return status;
}

static lks_status cache(bool killed)
{
    lks_dataset *ds = lks_cache(lks_range(0, 10, 1), .filename = target);
    lks_iter *it = NULL;
    lks_status status = lks_iter_create(ds, &it);
    lks_element *e;

    lks_dataset_release(ds);
    while (status == LKS_OK && (status = lks_iter_next(it, &e)) == LKS_OK) {
        lks_element_release(e);
        if (killed) raise(SIGKILL);
    }
    lks_iter_release(it);
    return status == LKS_END ? LKS_OK : status;
}

static int entries(void)
{
    DIR *d = opendir(folder);
    int n = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void in_a_process_that_is_killed(lks_status (*writer)(bool))
{
    pid_t child = fork();
    int how = 0;

    assert_true(child >= 0);
    if (child == 0) _exit(writer(true) != LKS_OK);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

static void what_killed_writers_left_is_removed_by_the_next(void **state)
{
    static lks_status (*const writers[])(bool) = { records, cache };

    (void)state;
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        in_a_process_that_is_killed(writers[i]);
        in_a_process_that_is_killed(writers[i]); /* it removes the first one's */
        assert_int_equal(entries(), 1);
        assert_int_not_equal(access(target, F_OK), 0);
        assert_status(writers[i](false), LKS_OK);
        assert_int_equal(entries(), 1);
        assert_int_equal(unlink(target), 0);
    }
}

static void what_others_are_writing_is_left_to_them(void **state)
{
    lks_record_writer *here = NULL;
    int go[2], ready[2], how = 1;
    pid_t child;
    char byte;

    (void)state;
    assert_int_equal(pipe(go) + pipe(ready), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        lks_record_writer *w = NULL;
        lks_status status = lks_record_writer_open(&w, target);
        if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) != 1) _exit(2);
        if (status == LKS_OK) status = lks_record_writer_close(w);
        _exit(status != LKS_OK);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_status(lks_record_writer_open(&here, target), LKS_OK); /* several at once, here and elsewhere */
    assert_int_equal(entries(), 2);
    for (int i = 0; i < 3; i++) assert_status(records(false), LKS_OK);
    assert_int_equal(entries(), 3);
    assert_int_equal(write(go[1], "", 1), 1);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    assert_status(lks_record_writer_close(here), LKS_OK);
    assert_int_equal(entries(), 1);
    assert_int_equal(unlink(target), 0);
    for (int i = 0; i < 2; i++) {
        close(go[i]);
        close(ready[i]);
    }
}

static void what_stands_in_the_way_is_no_file_of_ours(void **state)
{
    char pipe_name[80], link_name[80], elsewhere[80], target_of_link[80];

    (void)state;
    snprintf(pipe_name, sizeof pipe_name, "%s.lks-tmp0", target);
    snprintf(link_name, sizeof link_name, "%s.lks-tmp1", target);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    assert_int_equal(mkfifo(pipe_name, 0600), 0);
    assert_int_equal(symlink("elsewhere", link_name), 0);
    assert_status(records(false), LKS_OK);
    assert_int_equal(entries(), 3);
    assert_int_not_equal(access(elsewhere, F_OK), 0);
    assert_true(readlink(link_name, target_of_link, sizeof target_of_link) > 0);
    assert_int_equal(unlink(pipe_name) + unlink(link_name) + unlink(target), 0);
}

static int name_target(void **state)
{
    if (make_folder(state) != 0) return -1;
    snprintf(target, sizeof target, "%s/data", folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_killed_writers_left_is_removed_by_the_next),
        cmocka_unit_test(what_others_are_writing_is_left_to_them),
        cmocka_unit_test(what_stands_in_the_way_is_no_file_of_ours),
    };

    return cmocka_run_group_tests(tests, name_target, remove_empty_folder);
}
