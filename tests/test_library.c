/* test_library.c - libraries that are loaded when first needed: their functions work, and what is missing is named with a cure.
 *
 * ctest labels: concurrent
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "base/library.h"

typedef struct calls {
    double (*cos)(double x);
    double (*hypot)(double x, double y);
} calls;

static calls math;
static const char *const names[] = { "cos", "hypot" }, *const wrong[] = { "cos", "no_such_function" };

static lks_library library_of(const char *file, const char *const *of)
{
    return (lks_library){ .file = file, .what = "waves", .package = "libwaves1", .names = of, .table = &math, .n = 2 };
}

static void *load_it(void *user)
{
    return lks__library_load(user) == LKS_OK ? user : NULL;
}

static void several_threads_load_it_once_and_its_functions_work(void **unused)
{
    lks_library l = library_of("libm.so.6", names);
    pthread_t thread[4];

    (void)unused;
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, load_it, &l), 0);
    for (int i = 0; i < 4; i++) {
        void *loaded;

        pthread_join(thread[i], &loaded);
        assert_ptr_equal(loaded, &l);
    }
    assert_true(math.cos(0.0) == 1.0);
    assert_true(math.hypot(3.0, 4.0) == 5.0);
}

static void a_missing_library_is_named_with_its_package(void **unused)
{
    lks_library l = library_of("libwaves.so.1", names);

    (void)unused;
    assert_int_equal(lks__library_load(&l), LKS_E_UNSUPPORTED);
    assert_non_null(
        strstr(lks_last_error(), "libwaves.so.1, needed for waves, cannot be loaded: install it (Debian's libwaves1)"));
    assert_int_equal(lks__library_load(&l), LKS_E_UNSUPPORTED);
}

static void a_missing_name_is_named(void **unused)
{
    lks_library l = library_of("libm.so.6", wrong);

    (void)unused;
    assert_int_equal(lks__library_load(&l), LKS_E_UNSUPPORTED);
    assert_non_null(strstr(lks_last_error(), "libm.so.6, needed for waves, lacks no_such_function"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_threads_load_it_once_and_its_functions_work),
        cmocka_unit_test(a_missing_library_is_named_with_its_package),
        cmocka_unit_test(a_missing_name_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
