/* cmocka.h - the little of cmocka that a test needs which runs under an emulator, where no cmocka is (scripts/checks/neon.sh). A failed
 * assertion ends the program.
 */
#ifndef LOCKSTEP_TESTS_CROSS_CMOCKA_H
#define LOCKSTEP_TESTS_CROSS_CMOCKA_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf cross_skipped;
static size_t cross_passed, cross_skips;

#define fail_msg(...)                          \
    do {                                       \
        printf("%s:%d: ", __FILE__, __LINE__); \
        printf(__VA_ARGS__);                   \
        printf("\n");                          \
        exit(1);                               \
    } while (0)
#define cross_assert(truth, text)                   \
    do {                                            \
        if (!(truth)) fail_msg("failed: %s", text); \
    } while (0)
#define assert_true(x) cross_assert(x, #x)
#define assert_false(x) cross_assert(!(x), "not " #x)
#define assert_non_null(x) cross_assert((x) != NULL, #x " is not NULL")
#define assert_null(x) cross_assert((x) == NULL, #x " is NULL")
#define assert_int_equal(a, b) cross_assert((a) == (b), #a " == " #b)
#define assert_memory_equal(a, b, n) cross_assert(memcmp(a, b, n) == 0, #a " has the bytes of " #b)
#define print_message printf
#define skip() longjmp(cross_skipped, 1)

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};
#define cmocka_unit_test(f) \
    {                       \
#f, f               \
    }

static int cross_run(const struct CMUnitTest *tests, size_t n)
{
    void *state = NULL;

    for (volatile size_t i = 0; i < n; i++) {
        if (setjmp(cross_skipped) != 0) {
            cross_skips++;
            continue;
        }
        tests[i].run(&state);
        cross_passed++;
    }
    printf("%zu passed, 0 failed, %zu skipped\n", cross_passed, cross_skips);
    return cross_passed > 0 ? 0 : 1;
}
#define cmocka_run_group_tests(tests, before, after) cross_run(tests, sizeof(tests) / sizeof *(tests))

#endif
