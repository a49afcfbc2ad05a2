/* rules.c - see rules.h: the distributions of spec Keras 2.2. */
#include "rules.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

static void fill(const lks_draw *d, float v)
{
    for (int64_t i = 0; i < d->n; i++) d->out[i] = v;
}

lks_status lks__init_zeros(const lks_draw *d, const lks_init_options *o)
{
    (void)o;
    fill(d, 0.0f);
    return LKS_OK;
}

lks_status lks__init_ones(const lks_draw *d, const lks_init_options *o)
{
    (void)o;
    fill(d, 1.0f);
    return LKS_OK;
}

lks_status lks__init_constant(const lks_draw *d, const lks_init_options *o)
{
    fill(d, (float)o->value);
    if (o->values.n == 0) return LKS_OK;
    if (d->n % o->values.n != 0 || d->shape.rank < 1 || d->shape.dim[d->shape.rank - 1] != o->values.n) {
        return lks__fail(LKS_E_SHAPE, "Constant: a list of %lld values does not fit the last axis of the weight",
                         (long long)o->values.n);
    }
    for (int64_t i = 0; i < d->n; i++) d->out[i] = (float)o->values.values[i % o->values.n];
    return LKS_OK;
}

lks_status lks__init_identity(const lks_draw *d, const lks_init_options *o)
{
    if (d->shape.rank != 2)
        return lks__fail(LKS_E_SHAPE, "Identity: the weight must have two axes, it has %d", (int)d->shape.rank);
    fill(d, 0.0f);
    for (int64_t i = 0; i < d->shape.dim[0] && i < d->shape.dim[1]; i++)
        d->out[i * d->shape.dim[1] + i] = (float)o->gain;
    return LKS_OK;
}

static void scale_shift(const lks_draw *d, double stddev, double mean)
{
    for (int64_t i = 0; i < d->n; i++) d->out[i] = d->out[i] * (float)stddev + (float)mean;
}

lks_status lks__init_normal(const lks_draw *d, const lks_init_options *o)
{
    lks__draw_normal(d, d->n, 0.0f, d->out);
    scale_shift(d, o->stddev, o->mean);
    return LKS_OK;
}

lks_status lks__init_truncated(const lks_draw *d, const lks_init_options *o)
{
    lks__draw_normal(d, d->n, 2.0f, d->out);
    scale_shift(d, o->stddev, o->mean);
    return LKS_OK;
}

lks_status lks__init_uniform(const lks_draw *d, const lks_init_options *o)
{
    lks__draw_uniform(d, (float)o->minval, (float)o->maxval);
    return LKS_OK;
}

/* The product of the named axes' sizes; `fallback` where no axes are named. */
static double fan_of(const lks_draw *d, const int64_t *axes, double fallback)
{
    double fan = 1;

    if (axes[0] == LKS_NONE_INT) return fallback;
    for (int i = 0; i < LKS_MAX_RANK && axes[i] != 0; i++) {
        int64_t axis = axes[i] == LKS_ZERO_INT ? 0 : axes[i] < 0 ? axes[i] + d->shape.rank : axes[i];
        if (axis >= 0 && axis < d->shape.rank) fan *= (double)d->shape.dim[axis];
    }
    return fan;
}

lks_status lks__init_scaling(const lks_draw *d, const lks_init_options *o)
{
    const lks_init_class *c = d->class_;
    const char *mode = c->mode != NULL ? c->mode : o->mode;
    const char *distribution = c->distribution != NULL ? c->distribution : o->distribution;
    double scale = c->scale > 0 ? c->scale : o->scale, in, out, fan, s;

    lks__initializer_fans(&d->shape, &in, &out);
    in = fan_of(d, o->input_axes, in);
    out = fan_of(d, o->output_axes, out);
    fan = strcmp(mode, "fan_in") == 0 ? in : strcmp(mode, "fan_out") == 0 ? out : (in + out) / 2;
    s = scale / (fan > 1 ? fan : 1);
    if (strcmp(distribution, "uniform") == 0) {
        lks__draw_uniform(d, -(float)sqrt(3 * s), (float)sqrt(3 * s));
    } else if (strcmp(distribution, "untruncated_normal") == 0) {
        lks__draw_normal(d, d->n, 0.0f, d->out);
        scale_shift(d, sqrt(s), 0);
    } else { /* the standard deviation of a normal cut off at two is 0.8796... of the uncut one's */
        lks__draw_normal(d, d->n, 2.0f, d->out);
        scale_shift(d, sqrt(s) / 0.87962566103423978, 0);
    }
    return LKS_OK;
}

/* Householder's reflections turn the long x wide matrix a (row-major) into R, kept above the diagonal with its diagonal in r;
 * the reflectors stay below. */
static void factor(double *a, double *r, int64_t rows, int64_t cols)
{
    for (int64_t k = 0; k < cols; k++) {
        double norm = 0;
        for (int64_t i = k; i < rows; i++) norm += a[i * cols + k] * a[i * cols + k];
        norm = sqrt(norm);
        if (norm == 0) norm = 1e-300;
        r[k] = a[k * cols + k] > 0 ? -norm : norm;
        a[k * cols + k] -= r[k];
        for (int64_t j = k + 1; j < cols; j++) {
            double dot = 0, vv = 0;
            for (int64_t i = k; i < rows; i++) {
                dot += a[i * cols + k] * a[i * cols + j];
                vv += a[i * cols + k] * a[i * cols + k];
            }
            for (int64_t i = k; i < rows; i++) a[i * cols + j] -= 2 * dot / vv * a[i * cols + k];
        }
    }
}

/* q (rows x cols) from the reflectors, its columns signed as Keras signs them. */
static void form_q(const double *a, const double *r, double *q, int64_t rows, int64_t cols)
{
    memset(q, 0, (size_t)(rows * cols) * sizeof *q);
    for (int64_t k = 0; k < cols; k++) q[k * cols + k] = r[k] < 0 ? -1 : 1;
    for (int64_t k = cols - 1; k >= 0; k--) {
        double vv = 0;
        for (int64_t i = k; i < rows; i++) vv += a[i * cols + k] * a[i * cols + k];
        for (int64_t j = 0; j < cols; j++) {
            double dot = 0;
            for (int64_t i = k; i < rows; i++) dot += a[i * cols + k] * q[i * cols + j];
            for (int64_t i = k; i < rows; i++) q[i * cols + j] -= 2 * dot / vv * a[i * cols + k];
        }
    }
}

lks_status lks__init_orthogonal(const lks_draw *d, const lks_init_options *o)
{
    int64_t cols = d->shape.rank > 0 ? d->shape.dim[d->shape.rank - 1] : 0, rows = cols > 0 ? d->n / cols : 0;
    int64_t tall = rows > cols ? rows : cols, narrow = rows > cols ? cols : rows;
    double *a, *q, *r;
    float *normal;

    if (d->shape.rank < 2) return lks__fail(LKS_E_SHAPE, "Orthogonal: the weight must have at least two axes");
    if (d->n == 0) return LKS_OK;
    a = lks__calloc((size_t)d->n, sizeof *a);
    q = lks__calloc((size_t)d->n, sizeof *q);
    r = lks__calloc((size_t)narrow, sizeof *r);
    normal = lks__calloc((size_t)d->n, sizeof *normal);
    if (a != NULL && q != NULL && r != NULL && normal != NULL) {
        lks__draw_normal(d, d->n, 0.0f, normal);
        for (int64_t i = 0; i < d->n; i++) a[i] = (double)normal[i];
        factor(a, r, tall, narrow);
        form_q(a, r, q, tall, narrow);
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = 0; j < cols; j++) {
                d->out[i * cols + j] = (float)(o->gain * (rows >= cols ? q[i * narrow + j] : q[j * narrow + i]));
            }
        }
    }
    lks__free(a);
    lks__free(q);
    lks__free(r);
    lks__free(normal);
    return a != NULL && q != NULL && r != NULL && normal != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "out of memory");
}
