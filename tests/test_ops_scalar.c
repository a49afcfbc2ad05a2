/* test_ops_scalar.c - the elementary functions of scalar_math.h against libm's in double: the worst error in units of the
 * last place over all exponents, and the special values.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ops/scalar_math.h"

static double sigmoid(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

/* |got - want| in units of the last place of float32 at want; 0 for equal specials. */
static double ulps(float got, double want)
{
    int exponent;
    float nearest = (float)want;

    if (isnan(want)) return isnan(got) ? 0 : HUGE_VAL;
    if (got == nearest)
        return signbit(got) != signbit(nearest) && got == 0 ? HUGE_VAL
               : got == 0 || isinf(got)
                   ? 0
                   : fabs((double)got - want) / ldexp(1, ilogb(want) < -126 ? -149 : ilogb(want) - 23);
    if (isinf(got) || isnan(got)) return HUGE_VAL;
    if (want == 0) return fabs((double)got) / 0x1p-149;
    exponent = ilogb(want);
    if (exponent > 127) exponent = 127; /* the largest float is near enough to an overflow by a hair */
    return fabs((double)got - want) / ldexp(1, exponent < -126 ? -149 : exponent - 23);
}

typedef struct function {
    const char *name;
    float (*got)(float);
    double (*want)(double);
    double limit;
    float most; /* |x| up to here */
} function;

static const function functions[] = {
    { "exp", lks__exp_f, exp, 1.0, INFINITY },
    { "log", lks__log_f, log, 1.0, INFINITY },
    { "tanh", lks__tanh_f, tanh, 1.5, INFINITY },
    { "sigmoid", lks__sigmoid_f, sigmoid, 2.5, INFINITY },
    { "expm1", lks__expm1_f, expm1, 0.51, INFINITY },
    { "log1p", lks__log1p_f, log1p, 0.51, INFINITY },
    { "softplus", lks__softplus_f, softplus, 0.51, INFINITY },
    { "erf", lks__erf_f, erf, 1.5, INFINITY },
    { "erfc", lks__erfc_f, erfc, 1.0, INFINITY },
    { "sin", lks__sin_f, sin, 0.51, 0x1p49f },
    { "cos", lks__cos_f, cos, 0.51, 0x1p49f },
    { "rsqrt", lks__rsqrt_f, rsqrt, 1.5, INFINITY },
    { "floor", lks__floor_f, floor, 0, INFINITY },
    { "round", lks__round_f, nearbyint, 0, INFINITY },
};

static void every_function_is_accurate_at_all_exponents(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        const function *f = &functions[k];
        double worst = 0;
        float at = 0;
        for (uint64_t bits = 0; bits < (1ull << 32); bits += 5003) { /* prime: all exponents, both signs, NaN too */
            float x = lks__float_of((uint32_t)bits);
            double e;
            if (fabsf(x) > f->most) continue;
            e = ulps(f->got(x), f->want((double)x));
            if (e > worst) {
                worst = e;
                at = x;
            }
        }
        if (worst > f->limit)
            fail_msg("%s(%a) = %a is off by %g units, limit %g", f->name, (double)at, (double)f->got(at), worst,
                     f->limit);
        print_message("%-9s %.3f units at %a\n", f->name, worst, (double)at);
    }
}

/* Where most arguments of networks lie. */
static void every_function_is_accurate_near_zero(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        const function *f = &functions[k];
        double worst = 0;
        float at = 0;
        for (int i = -400000; i <= 400000; i++) {
            float x = (float)i * 0.00005f;
            double e = ulps(f->got(x), f->want((double)x));
            if (e > worst) {
                worst = e;
                at = x;
            }
        }
        if (worst > f->limit)
            fail_msg("%s(%a) = %a is off by %g units, limit %g", f->name, (double)at, (double)f->got(at), worst,
                     f->limit);
    }
}

static void power_follows_c_for_special_values_and_is_accurate(void **state)
{
    static const float special[] = { 0.0f,   -0.0f,   1.0f,           -1.0f,    2.0f,      -2.0f,   3.0f,
                                     -3.0f,  0.5f,    -0.5f,          1.5f,     1e-40f,    -1e-40f, 1e38f,
                                     -1e38f, 0x1p24f, 0x1.fffffep23f, INFINITY, -INFINITY, NAN };
    const int n = sizeof special / sizeof *special;

    (void)state;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float got = lks__power_f(special[i], special[j]);
            double e = ulps(got, pow((double)special[i], (double)special[j]));
            if (e > 0.6) fail_msg("power(%g, %g) = %g", (double)special[i], (double)special[j], (double)got);
        }
    for (int i = 1; i < 700; i++)
        for (int j = -300; j < 300; j++) {
            float x = (float)i * 0.013f, y = (float)j * 0.11f;
            double e = ulps(lks__power_f(x, y), pow((double)x, (double)y));
            if (e > 0.51) fail_msg("power(%a, %a) is off by %g units", (double)x, (double)y, e);
        }
}

static void not_a_number_passes_comparisons(void **state)
{
    (void)state;
    assert_true(isnan(lks__max_f(NAN, 1.0f)) && isnan(lks__max_f(1.0f, NAN)));
    assert_true(isnan(lks__min_f(NAN, 1.0f)) && isnan(lks__min_f(1.0f, NAN)));
    assert_true(isnan(lks__relu_f(NAN)) && isnan(lks__sign_f(NAN)));
    assert_true(lks__max_f(1.0f, 2.0f) == 2.0f && lks__min_f(1.0f, 2.0f) == 1.0f);
    assert_true(lks__max_f(-INFINITY, -INFINITY) == -INFINITY);
    assert_true(lks__relu_f(-1.0f) == 0.0f && lks__relu_f(INFINITY) == INFINITY);
    assert_true(lks__sign_f(-3.0f) == -1.0f && lks__sign_f(1e-45f) == 1.0f && lks__sign_f(0.0f) == 0.0f);
}

static void conversion_to_int_truncates_and_saturates(void **state)
{
    (void)state;
    assert_int_equal(lks__int_of(-1.9f), -1);
    assert_int_equal(lks__int_of(1.9f), 1);
    assert_int_equal(lks__int_of(NAN), 0);
    assert_int_equal(lks__int_of(INFINITY), INT32_MAX);
    assert_int_equal(lks__int_of(-INFINITY), INT32_MIN);
    assert_int_equal(lks__int_of(0x1p31f), INT32_MAX);
    assert_int_equal(lks__int_of(-0x1p31f), INT32_MIN);
    assert_int_equal(lks__int_of(0x1.fffffep30f), 0x7fffff80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_accurate_at_all_exponents),
        cmocka_unit_test(every_function_is_accurate_near_zero),
        cmocka_unit_test(power_follows_c_for_special_values_and_is_accurate),
        cmocka_unit_test(not_a_number_passes_comparisons),
        cmocka_unit_test(conversion_to_int_truncates_and_saturates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
