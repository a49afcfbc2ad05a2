/* test_files_json.c - parsing with limits, Python's way of printing, typed access. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "files/json.h"
#include "lockstep/status.h"
#include "support/failing_alloc.h"

static void numbers_print_as_python_prints_them(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        { 0.0, "0.0" },
        { -0.0, "-0.0" },
        { 1.0, "1.0" },
        { 0.1, "0.1" },
        { 100.0, "100.0" },
        { 0.0010000000474974513, "0.0010000000474974513" },
        { 1e-07, "1e-07" },
        { 0.0001, "0.0001" },
        { 0.00001234, "1.234e-05" },
        { 123456.789, "123456.789" },
        { 1e15, "1000000000000000.0" },
        { 1e16, "1e+16" },
        { 1.5e300, "1.5e+300" },
        { 5e-324, "5e-324" },
        { 1.7976931348623157e308, "1.7976931348623157e+308" },
        { 1.0 / 3, "0.3333333333333333" },
        { 9007199254740993.0, "9007199254740992.0" },
        { 0.30000000000000004, "0.30000000000000004" },
    };
    char buffer[LKS_NUMBER_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(lks__number_text(cases[i].v, buffer), cases[i].text);
}

static void texts_print_as_python_prints_them(void **state)
{
    static const char text[] = "{\"b\": [1, -2, null, true, false], \"a\": {\"k\": \"\\\"\\\\/\\n\\t\\u0007\\u007f"
                               "\\u00e9\\u20ac\\ud83d\\ude00\"}, \"e\": [], \"o\": {}, \"x\": 1.5}";
    json_t *json;
    char *again;

    (void)state;
    assert_int_equal(lks__json_parse(text, strlen(text), "text", &json), LKS_OK);
    assert_int_equal(lks__json_dump(json, &again), LKS_OK);
    assert_string_equal(again, text);
    lks_free(again);
    json_decref(json);
}

static void what_is_not_plain_json_is_refused_with_its_place(void **state)
{
    static char deep[2000];
    static const struct {
        const char *text, *why;
        lks_status status;
    } cases[] = {
        { "{\"a\": 1", "line 1", LKS_E_FORMAT },
        { "", "line 1", LKS_E_FORMAT },
        { "{\"a\": NaN}", "near 'NaN'", LKS_E_FORMAT },
        { "{\"a\": 1e999}", "real number overflow", LKS_E_FORMAT },
        { "{\"a\": 99999999999999999999}", "too big", LKS_E_FORMAT },
        { "{\"a\": 1, \"a\": 2}", "duplicate", LKS_E_FORMAT },
        { "{\"a\": \"\xff\"}", "byte 0xff", LKS_E_FORMAT },
        { "{\"a\": \"\\u0000\"}", "\\u0000", LKS_E_FORMAT },
        { "\xef\xbb\xbf{}", "byte order mark", LKS_E_FORMAT },
        { "{} {}", "end of file expected", LKS_E_FORMAT },
        { deep, "deeper than the 256 levels", LKS_E_LIMIT },
    };
    json_t *json;

    (void)state;
    memset(deep, '[', sizeof deep - 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_status status = lks__json_parse(cases[i].text, strlen(cases[i].text), "it", &json);
        if (status != cases[i].status || strstr(lks_last_error(), cases[i].why) == NULL)
            fail_msg("case %zu: %s: %s", i, lks_status_name(status), lks_last_error());
    }
    memset(deep, ']', 2 * LKS_JSON_DEPTH);
    memset(deep, '[', LKS_JSON_DEPTH);
    assert_int_equal(lks__json_parse(deep, 2 * LKS_JSON_DEPTH, "it", &json), LKS_OK);
    json_decref(json);
}

static void typed_access_says_what_is_wrong(void **state)
{
    static const char text[] = "{\"units\": 1.5, \"name\": \"d\", \"rate\": 1, \"none\": null, \"list\": [1]}";
    json_t *o, *list;
    const char *s = NULL;
    int64_t i = 0;
    double d = 0;
    bool b = false;

    (void)state;
    assert_int_equal(lks__json_parse(text, strlen(text), "it", &o), LKS_OK);
    assert_int_equal(lks__json_get_int(o, "layer 'd'", "units", &i), LKS_E_FORMAT);
    assert_string_equal(lks_last_error(), "layer 'd': 'units' must be an integer, it is a number with a fraction");
    assert_int_equal(lks__json_get_int(o, "layer 'd'", "filters", &i), LKS_E_FORMAT);
    assert_string_equal(lks_last_error(), "layer 'd': 'filters' is missing");
    assert_int_equal(lks__json_get_string(o, "layer", "none", &s), LKS_E_FORMAT);
    assert_string_equal(lks_last_error(), "layer: 'none' is null");
    assert_int_equal(lks__json_opt_string(o, "layer", "none", "linear", &s), LKS_OK);
    assert_string_equal(s, "linear");
    assert_int_equal(lks__json_opt_int(o, "layer", "name", 3, &i), LKS_E_FORMAT);
    assert_int_equal(lks__json_get_double(o, "layer", "rate", &d), LKS_OK);
    assert_true(d == 1.0);
    assert_int_equal(lks__json_opt_bool(o, "layer", "use_bias", true, &b), LKS_OK);
    assert_true(b);
    assert_int_equal(lks__json_get_array(o, "layer", "list", &list), LKS_OK);
    assert_int_equal(lks__json_get_object(o, "layer", "list", &list), LKS_E_FORMAT);
    assert_int_equal(lks__json_get_int(json_object_get(o, "list"), "it", "k", &i), LKS_E_FORMAT);
    assert_string_equal(lks_last_error(), "it must be an object, it is a list");
    json_decref(o);
}

static void printing_survives_every_failing_allocation(void **state)
{
    json_t *json = json_pack("{s:[i,f,s],s:o}", "a", 1, 2.5, "text", "b", json_object());
    char *text = NULL;
    lks_status status = LKS_OK;

    (void)state;
    EVERY_ALLOCATION_FAILS(status = lks__json_dump(json, &text), lks_free(text));
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_print_as_python_prints_them),
        cmocka_unit_test(texts_print_as_python_prints_them),
        cmocka_unit_test(what_is_not_plain_json_is_refused_with_its_place),
        cmocka_unit_test(typed_access_says_what_is_wrong),
        cmocka_unit_test(printing_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
