/* rules.h - internal to src/initializers: how each class fills a weight. */
#ifndef LKS_INITIALIZERS_RULES_H
#define LKS_INITIALIZERS_RULES_H

#include "base/philox.h"
#include "initializer.h"
#include "lockstep/layers.h"

typedef struct lks_init_options {
    size_t struct_size;
    int64_t seed;
    double value, gain, mean, stddev, minval, maxval, scale;
    lks_numbers values;
    const char *mode, *distribution;
    int64_t input_axes[LKS_MAX_RANK], output_axes[LKS_MAX_RANK];
} lks_init_options;

typedef struct lks_init_class lks_init_class;

/* One weight being filled. Random number i of the stream depends on (key, stream, i) alone. */
typedef struct lks_draw {
    lks_shape shape;
    int64_t n;
    float *out;
    const lks_init_class *class_;
    uint64_t key;
    uint32_t stream;
} lks_draw;

struct lks_init_class {
    lks_config_class config;
    lks_status (*rule)(const lks_draw *d, const lks_init_options *o);
    double scale; /* of a named VarianceScaling; 0 = the options say */
    const char *mode, *distribution;
};

lks_status lks__init_zeros(const lks_draw *d, const lks_init_options *o);
lks_status lks__init_ones(const lks_draw *d, const lks_init_options *o);
lks_status lks__init_constant(const lks_draw *d, const lks_init_options *o);
lks_status lks__init_identity(const lks_draw *d, const lks_init_options *o);
lks_status lks__init_normal(const lks_draw *d, const lks_init_options *o);
lks_status lks__init_truncated(const lks_draw *d, const lks_init_options *o);
lks_status lks__init_uniform(const lks_draw *d, const lks_init_options *o);
lks_status lks__init_orthogonal(const lks_draw *d, const lks_init_options *o);
lks_status lks__init_scaling(const lks_draw *d, const lks_init_options *o);

/* n standard normal numbers; `limit` > 0 draws again what lies outside it. */
void lks__draw_normal(const lks_draw *d, int64_t n, float limit, float *out);
void lks__draw_uniform(const lks_draw *d, float low, float high);

#endif
