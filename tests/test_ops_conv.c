/* test_ops_conv.c - convolution and its gradients against plain loops: values in double, and the bits in the order that the op
 * files state, for many shapes (one pixel, kernels larger than the image, strides above the kernel, dilation, groups, channels
 * on both sides of where lanes begin).
 */
#include "support/ops.h"

typedef struct conv_case {
    lks_conv_attrs a;
    int64_t c_in, c_out;
    lks_type x, y, w;
} conv_case;

static conv_case random_conv(void)
{
    conv_case c = { .c_in = 1, .c_out = 1 };

    c.a.groups = 1 + draw(3);
    c.c_in = c.a.groups * (draw(3) == 0 ? 8 + draw(12) : 1 + draw(3)); /* both sides of where lanes begin */
    c.c_out = c.a.groups * (draw(3) == 0 ? 8 + draw(12) : 1 + draw(5));
    for (int i = 0; i < 2; i++) {
        int64_t span;
        c.a.kernel[i] = 1 + draw(4);
        c.a.stride[i] = 1 + draw(5);
        c.a.dilation[i] = 1 + draw(3);
        c.a.in[i] = 1 + draw(5);
        span = (c.a.kernel[i] - 1) * c.a.dilation[i] + 1;
        if (draw(2) == 0) { /* same */
            int64_t total;
            c.a.out[i] = (c.a.in[i] + c.a.stride[i] - 1) / c.a.stride[i];
            total = (c.a.out[i] - 1) * c.a.stride[i] + span - c.a.in[i];
            c.a.before[i] = total > 0 ? total / 2 : 0;
        } else { /* any padding */
            c.a.before[i] = draw(4);
            c.a.in[i] += span;
            c.a.out[i] = (c.a.in[i] - span) / c.a.stride[i] + 1;
        }
    }
    c.x = (lks_type)LKS_ROW(3, c.a.in[0], c.a.in[1], c.c_in);
    c.y = (lks_type)LKS_ROW(3, c.a.out[0], c.a.out[1], c.c_out);
    c.w = (lks_type)LKS_SHARED(4, c.a.kernel[0], c.a.kernel[1], c.c_in / c.a.groups, c.c_out);
    return c;
}

/* One multiplication: what it joins, and its tap and channels within the group. */
typedef struct product {
    int64_t x, w, y;
    int ky, kx, in, out;
} product;

/* All of example e, outputs row-major; returns how many. */
static int64_t list_products(const conv_case *c, int64_t e, product *list)
{
    const lks_conv_attrs *a = &c->a;
    int64_t in_group = c->c_in / a->groups, out_group = c->c_out / a->groups, n = 0;

    for (int64_t oy = 0; oy < a->out[0]; oy++)
        for (int64_t ox = 0; ox < a->out[1]; ox++)
            for (int64_t t = 0; t < a->kernel[0] * a->kernel[1]; t++) {
                int64_t ky = t / a->kernel[1], kx = t % a->kernel[1];
                int64_t iy = oy * a->stride[0] + ky * a->dilation[0] - a->before[0];
                int64_t ix = ox * a->stride[1] + kx * a->dilation[1] - a->before[1];
                if (iy < 0 || ix < 0 || iy >= a->in[0] || ix >= a->in[1]) continue;
                for (int64_t k = 0; k < in_group * c->c_out; k++) {
                    int64_t ci = k / c->c_out, co = k % c->c_out;
                    list[n++] = (product){ ((e * a->in[0] + iy) * a->in[1] + ix) * c->c_in + co / out_group * in_group +
                                               ci,
                                           (t * in_group + ci) * c->c_out + co,
                                           ((e * a->out[0] + oy) * a->out[1] + ox) * c->c_out + co,
                                           (int)ky,
                                           (int)kx,
                                           (int)ci,
                                           (int)(co % out_group) };
                }
            }
    return n;
}

/* The stated orders of one element's products: kh, channel, kw; with lanes: channel, kh, kw. */
static int by_kernel_row(const void *a, const void *b)
{
    const product *p = a, *q = b;
    int channel = p->in != q->in ? p->in - q->in : p->out - q->out;

    return p->ky != q->ky ? p->ky - q->ky : channel != 0 ? channel : p->kx - q->kx;
}

static int by_channel(const void *a, const void *b)
{
    const product *p = a, *q = b;
    int channel = p->in != q->in ? p->in - q->in : p->out - q->out;

    return channel != 0 ? channel : p->ky != q->ky ? p->ky - q->ky : p->kx - q->kx;
}

/* The sum in the stated order, of n products that one element takes; lane number by the channel that is summed over. */
static float stated_sum(product *list, int64_t n, const float *left, bool left_is_x, const float *w, bool lanes)
{
    float lane[16] = { 0 };

    qsort(list, (size_t)n, sizeof *list, lanes ? by_channel : by_kernel_row);
    for (int64_t i = 0; i < n; i++) {
        int l = lanes ? (left_is_x ? list[i].in : list[i].out) % 16 : 0;
        lane[l] = fmaf(left[left_is_x ? list[i].x : list[i].y], w[list[i].w], lane[l]);
    }
    return lks__tree_sum16(lane); /* of one lane: itself */
}

/* Some elements of the result, bit by bit. */
static void check_order(const char *what, const product *all, int64_t n, const float *left, bool left_is_x,
                        const float *w, bool lanes, const float *got, int64_t n_got)
{
    product *mine = malloc((size_t)n * sizeof *mine + 1);

    for (int trial = 0; trial < 5; trial++) {
        int64_t element = draw((uint32_t)n_got), m = 0;
        float want;
        for (int64_t i = 0; i < n; i++)
            if ((left_is_x ? all[i].y : all[i].x) == element) mine[m++] = all[i];
        want = stated_sum(mine, m, left, left_is_x, w, lanes);
        if (want != got[element])
            fail_msg("%s: element %lld is %a, in the stated order %a", what, (long long)element, (double)got[element],
                     (double)want);
    }
    free(mine);
}

typedef struct conv_data {
    float *x, *w, *d;
    double *y_sum, *x_sum, *w_sum;
    float *running; /* the kernel's gradient in the stated order: an accumulator of its own for each example */
    product *first; /* of example 0 */
    int64_t n_first, n_x, n_y, n_w;
} conv_data;

static void sum_example(const conv_case *c, int64_t e, conv_data *data, product *list)
{
    int64_t n = list_products(c, e, list);
    float *one = calloc((size_t)data->n_w, sizeof *one);

    for (int64_t i = 0; i < n; i++) {
        const product *p = &list[i];
        data->y_sum[p->y] += (double)data->x[p->x] * (double)data->w[p->w];
        data->x_sum[p->x] += (double)data->d[p->y] * (double)data->w[p->w];
        data->w_sum[p->w] += (double)data->x[p->x] * (double)data->d[p->y];
        one[p->w] = fmaf(data->x[p->x], data->d[p->y], one[p->w]);
    }
    for (int64_t i = 0; i < data->n_w; i++) data->running[i] += one[i];
    free(one);
}

static conv_data make_conv_data(const conv_case *c)
{
    conv_data data = { .n_x = N * lks__type_size(&c->x),
                       .n_y = N * lks__type_size(&c->y),
                       .n_w = lks__type_size(&c->w) };

    data.x = random_floats(data.n_x);
    data.w = random_floats(data.n_w);
    data.d = random_floats(data.n_y);
    data.y_sum = calloc((size_t)data.n_y, sizeof(double));
    data.x_sum = calloc((size_t)data.n_x, sizeof(double));
    data.w_sum = calloc((size_t)data.n_w, sizeof(double));
    data.running = calloc((size_t)data.n_w, sizeof(float));
    data.first = malloc(
        (size_t)(data.n_y / N * c->a.kernel[0] * c->a.kernel[1] * c->c_in / c->a.groups) * sizeof(product) + 1);
    for (int64_t e = 0; e < N; e++) sum_example(c, e, &data, data.first);
    data.n_first = list_products(c, 0, data.first);
    return data;
}

static void free_conv_data(conv_data *data)
{
    free(data->x);
    free(data->w);
    free(data->d);
    free(data->y_sum);
    free(data->x_sum);
    free(data->w_sum);
    free(data->running);
    free(data->first);
}

static void check_conv(const conv_case *c)
{
    conv_data data = make_conv_data(c);
    int64_t in_group = c->c_in / c->a.groups, out_group = c->c_out / c->a.groups;
    lks_type out;
    float *got = run_op(&lks__op_conv2d, &c->a, 2, (const lks_type *[]){ &c->x, &c->w },
                        (const void *[]){ data.x, data.w }, &out, NAN);

    assert_near("conv2d", got, data.y_sum, data.n_y);
    check_order("conv2d", data.first, data.n_first, data.x, true, data.w, out_group < 4 && in_group >= 8, got,
                data.n_y / N);
    free(got);
    got = run_op(&lks__op_conv2d_input, &c->a, 2, (const lks_type *[]){ &c->y, &c->w },
                 (const void *[]){ data.d, data.w }, &out, NAN);
    assert_true(lks_shape_equal(&out.shape, &c->x.shape));
    assert_near("conv2d_input", got, data.x_sum, data.n_x);
    check_order("conv2d_input", data.first, data.n_first, data.d, false, data.w, in_group < 4 && out_group >= 8, got,
                data.n_x / N);
    free(got);
    got = run_op(&lks__op_conv2d_filter, &c->a, 2, (const lks_type *[]){ &c->x, &c->y },
                 (const void *[]){ data.x, data.d }, &out, 0);
    assert_near("conv2d_filter", got, data.w_sum, data.n_w);
    assert_memory_equal(got, data.running, (size_t)data.n_w * sizeof *got);
    free(got);
    free_conv_data(&data);
}

static void convolution_and_its_gradients_equal_plain_loops(void **state)
{
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        conv_case c = random_conv();
        check_conv(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolution_and_its_gradients_equal_plain_loops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
