/* compare.c - see golden.h: element by element in double, the worst one named. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden.h"
#include "tensor/tensor.h"

double golden_element(const lks_tensor *t, int64_t i)
{
    lks_dtype dtype = lks_tensor_dtype(t);
    double value = 0;

    lks__convert(dtype, (const char *)lks_tensor_cdata(t) + (size_t)i * lks_dtype_size(dtype), LKS_FLOAT64, &value, 1);
    return value;
}

/* The error as a fraction of what is allowed. */
static double fraction_of(double got, double want, double rtol, double atol)
{
    double error, allowed;

    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(want) || isinf(got)) return got == want ? 0 : INFINITY;
    error = fabs(got - want);
    allowed = atol + rtol * fabs(want);
    return error == 0 ? 0 : error / allowed;
}

/* "(1, 2)": where element i of a shape is. */
static const char *place(const lks_shape *shape, int64_t i, char *text, size_t size)
{
    int64_t index[LKS_MAX_RANK];
    size_t at = 0;

    for (int64_t k = shape->rank; k-- > 0;) {
        index[k] = i % shape->dim[k];
        i /= shape->dim[k];
    }
    text[0] = '\0';
    for (int64_t k = 0; k < shape->rank && at < size; k++) {
        at += (size_t)snprintf(text + at, size - at, "%s%lld", k > 0 ? ", " : "", (long long)index[k]);
    }
    return text;
}

void golden_compare(golden_report *r, const char *name, const lks_tensor *got, const lks_tensor *want, double rtol,
                    double atol)
{
    lks_shape have, wanted;
    char a[LKS_SHAPE_TEXT], b[LKS_SHAPE_TEXT];
    double worst = 0;
    int64_t at = -1;

    if (got == NULL || want == NULL) return;
    have = lks_tensor_shape(got);
    wanted = lks_tensor_shape(want);
    if (!lks_shape_equal(&have, &wanted)) {
        golden_fault(r, "%s: shape %s, expected %s", name, lks__shape_text(&have, a), lks__shape_text(&wanted, b));
        return;
    }
    for (int64_t i = 0; i < lks_tensor_size(want); i++) {
        double fraction = fraction_of(golden_element(got, i), golden_element(want, i), rtol, atol);
        if (fraction > worst) worst = fraction, at = i;
    }
    if (worst > r->case_worst) r->case_worst = worst;
    if (worst <= 1) return;
    golden_fault(r, "%s[%s]: %.9g, expected %.9g, tolerance %.3g + %.3g |expected|, error %.3g of it", name,
                 place(&wanted, at, a, sizeof a), golden_element(got, at), golden_element(want, at), atol, rtol, worst);
}

void golden_number(golden_report *r, const char *name, double got, double want, double rtol, double atol)
{
    double fraction = fraction_of(got, want, rtol, atol);

    if (fraction > r->case_worst) r->case_worst = fraction;
    if (fraction <= 1) return;
    golden_fault(r, "%s: %.9g, expected %.9g, tolerance %.3g, error %.3g of it", name, got, want,
                 atol + rtol * fabs(want), fraction);
}

void golden_compare_to_largest(golden_report *r, const char *name, const lks_tensor *got, const lks_tensor *want,
                               double fraction)
{
    double largest = 0;

    if (want == NULL) return;
    for (int64_t i = 0; i < lks_tensor_size(want); i++) {
        double magnitude = fabs(golden_element(want, i));
        if (isfinite(magnitude) && magnitude > largest) largest = magnitude;
    }
    golden_compare(r, name, got, want, 0, fraction * largest);
}
