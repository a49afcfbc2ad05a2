/* options_check.c - see options.h: the range, the allowed words and the inner names of one normalised option. */
#include <math.h>
#include <string.h>

#include "base/words.h"
#include "initializers/initializer.h"
#include "lockstep/layers.h"
#include "options.h"
#include "weights.h"

static lks_status check_int(const lks_field *f, int64_t v)
{
    if (v == LKS_NONE_INT) {
        if (f->fallback == NULL) return lks__fail(LKS_E_ARG, "%s must be given", f->key);
        return LKS_OK;
    }
    if ((f->flags & LKS_FIELD_POSITIVE) != 0 && v <= 0) {
        return lks__fail(LKS_E_ARG, "%s must be a positive integer, found %lld", f->key, (long long)v);
    }
    if ((f->flags & LKS_FIELD_NONNEGATIVE) != 0 && v < 0) {
        return lks__fail(LKS_E_ARG, "%s must not be negative, found %lld", f->key, (long long)v);
    }
    if (v > INT64_MAX / 16) return lks__fail(LKS_E_LIMIT, "%s is too large: %lld", f->key, (long long)v);
    return LKS_OK;
}

static lks_status check_float(const lks_field *f, double v)
{
    if (isnan(v)) return LKS_OK; /* None */
    if (!isfinite(v)) return lks__fail(LKS_E_ARG, "%s must be finite, found %g", f->key, v);
    if ((f->flags & LKS_FIELD_POSITIVE) != 0 && !(v > 0)) {
        return lks__fail(LKS_E_ARG, "%s must be positive, found %g", f->key, v);
    }
    if ((f->flags & LKS_FIELD_NONNEGATIVE) != 0 && v < 0) {
        return lks__fail(LKS_E_ARG, "%s must not be negative, found %g", f->key, v);
    }
    if ((f->flags & LKS_FIELD_FRACTION) != 0 && (v < 0 || v > 1)) {
        return lks__fail(LKS_E_ARG, "%s must lie between 0 and 1, found %g", f->key, v);
    }
    return LKS_OK;
}

static lks_status check_word(const lks_field *f, const char *text)
{
    const char *near;
    size_t i = 0;

    if (f->words == NULL || text == NULL) return LKS_OK;
    while (f->words[i] != NULL && strcmp(f->words[i], text) != 0) i++;
    if (f->words[i] != NULL) return LKS_OK;
    near = lks__nearest(text, f->words);
    return lks__fail(LKS_E_ARG, "%s cannot be \"%.60s\"; did you mean \"%s\"?", f->key, text,
                     near != NULL ? near : f->words[0]);
}

static lks_status check_spec(const lks_field *f, const char *spec)
{
    lks_status status = LKS_OK;

    if (spec == NULL) return LKS_OK;
    switch (f->kind) {
    case LKS_FIELD_ACTIVATION: status = lks__activation_check(spec); break;
    case LKS_FIELD_INITIALIZER: status = lks__initializer_check(spec); break;
    case LKS_FIELD_REGULARIZER: status = lks__regularizer_check(spec); break;
    case LKS_FIELD_CONSTRAINT: status = lks__constraint_check(spec); break;
    default: break;
    }
    return status == LKS_OK ? LKS_OK : lks__context(status, "%s", f->key);
}

lks_status lks__option_check(const lks_field *f, const void *options)
{
    const void *at = lks__cat(options, f->offset);

    switch (f->kind) {
    case LKS_FIELD_INT: return check_int(f, *(const int64_t *)at);
    case LKS_FIELD_INT2:
    case LKS_FIELD_INT22:
        for (int i = 0; i < (f->kind == LKS_FIELD_INT2 ? 2 : 4); i++) LKS_TRY(check_int(f, ((const int64_t *)at)[i]));
        return LKS_OK;
    case LKS_FIELD_FLOAT:
    case LKS_FIELD_FLOATS:
    case LKS_FIELD_RATE: return check_float(f, *(const double *)at);
    case LKS_FIELD_TEXT: return check_word(f, *(const char *const *)at);
    case LKS_FIELD_ACTIVATION:
    case LKS_FIELD_INITIALIZER:
    case LKS_FIELD_REGULARIZER:
    case LKS_FIELD_CONSTRAINT: return check_spec(f, *(const char *const *)at);
    default: return LKS_OK;
    }
}
