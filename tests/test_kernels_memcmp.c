/* test_kernels_memcmp.c - every fast kernel gives the bits of the op's plain C kernel, and stays inside its arrays.
 *
 * Each array ends (or, in every second run, begins) at a page that may not be touched. Kernels of an instruction set that
 * this machine lacks are skipped with a word; the sources are also built here for 16 and 4 lanes on AVX2 ("pair",
 * "quad"), which walks the paths of AVX-512 and NEON.
 */
#include "test_kernels.h"

static const lks_kernel *kernel_for(const lks_kernel_set *set, const problem *p, const lks_type *const *in,
                                    const lks_type *out)
{
    for (const lks_kernel *k = set->kernels; k != NULL && k->op != NULL; k++)
        if (k->op == p->op && (k->applicable == NULL || k->applicable(p->attrs, p->n_in, in, out))) return k;
    return NULL;
}

/* Sums in a kernel's own order as they lie in the op's. */
static void settle(const lks_kernel *k, const lks_op_call *call, void *sums)
{
    lks_op_call settled = *call;

    settled.out = sums;
    for (int part = 0; k->settle != NULL && part < 3; part++) k->settle(&settled, part, 3);
}

/* A kernel that starts its sums itself and joins them: as zeros, the plain kernel, then one addition after the other. */
static void compare_sums(const lks_kernel *k, const problem *p, lks_op_call *call, float *want, float *got,
                         void *plain_scratch)
{
    const int64_t size = count_of(call->out_type, p->n);
    void *const scratch = call->scratch;
    guarded others[2];
    const float *join[2];
    float *settled[2];

    for (int i = 0; i < 2; i++) {
        others[i] = guarded_new(bytes_of(call->out_type, p->n), i);
        fill(others[i].data, call->out_type, size);
        join[i] = others[i].data;
        settled[i] = malloc(bytes_of(call->out_type, p->n) + 1);
        assert_non_null(settled[i]);
        memcpy(settled[i], join[i], bytes_of(call->out_type, p->n));
        settle(k, call, settled[i]);
    }
    for (call->n_join = 0; call->n_join < 3; call->n_join++) {
        memset(want, 0, bytes_of(call->out_type, p->n));
        fill(got, call->out_type, size);
        call->fresh = true;
        call->join = join;
        call->out = got;
        call->scratch = scratch;
        k->run(call);
        settle(k, call, got);
        call->out = want;
        call->scratch = plain_scratch;
        p->op->run(call);
        for (int j = 0; j < call->n_join; j++)
            for (int64_t i = 0; i < size; i++) want[i] += settled[j][i];
        if (memcmp(want, got, bytes_of(call->out_type, p->n)) != 0) print_problem(p, k->name, call->out_type);
        assert_memory_equal(want, got, bytes_of(call->out_type, p->n));
    }
    for (int i = 0; i < 2; i++) {
        guarded_free(&others[i]);
        free(settled[i]);
    }
}

/* In parts, by packed weights if the kernel has such; as plain, alone and with what it does behind. */
static void compare_parts(const lks_kernel *k, const problem *p, lks_op_call *call, const float *plain, bool at_end)
{
    const size_t bytes = bytes_of(call->out_type, p->n), packed_bytes = k->parts->packed_bytes(p->attrs, call->in_type);
    guarded packed = guarded_new(packed_bytes, at_end);
    way w = { k, 1, packed_bytes > 0 ? packed.data : NULL };

    for (int part = 0; packed_bytes > 0 && part < 2; part++)
        k->parts->pack(p->attrs, call->in_type, call->in[1], packed.data, part, 2);
    for (; w.parts <= (p->n == 1 && !k->parts->each_step ? 3 : 1); w.parts++) {
        memset(call->out, 255, bytes);
        run_way(&w, call);
        if (memcmp(plain, call->out, bytes) != 0) print_problem(p, "parts", call->out_type);
        assert_memory_equal(plain, call->out, bytes);
        if (w.parts == 1 + (p->n == 1 && !k->parts->each_step)) compare_after(&w, p, call, plain, at_end);
    }
    guarded_free(&packed);
}

/* Runs the plain kernel and the set's; false if the set has none for it. */
static bool compare(const lks_kernel_set *set, const problem *p)
{
    const lks_type *in[4] = { &p->in[0], &p->in[1], &p->in[2], &p->in[3] };
    const bool at_end = draw(2);
    const lks_kernel *k;
    guarded x[4], want, got, scratch, plain_scratch;
    lks_type out;
    lks_op_call call = { p->attrs, p->n_in, in, &out, NULL, NULL, p->n, 0, p->n, 0, 0, NULL, NULL, false, 0, NULL };
    const void *data[4];
    int differs;

    assert_int_equal(p->op->infer(p->attrs, p->n_in, in, &out), LKS_OK);
    k = kernel_for(set, p, in, &out);
    if (k == NULL) return false;
    for (int i = 0; i < p->n_in; i++) {
        x[i] = guarded_new(bytes_of(in[i], p->n), at_end);
        fill(x[i].data, in[i], count_of(in[i], p->n));
        data[i] = x[i].data;
    }
    want = guarded_new(bytes_of(&out, p->n), at_end);
    got = guarded_new(bytes_of(&out, p->n), at_end);
    plain_scratch = guarded_new(p->op->scratch != NULL ? p->op->scratch(p->attrs, in, &out) : 0, at_end);
    scratch = guarded_new(k->scratch != NULL ? k->scratch(p->attrs, in, &out) : 0, at_end);
    fill(want.data, &out, count_of(&out, p->n));
    memcpy(got.data, want.data, bytes_of(&out, p->n));
    settle(k, &call, want.data);
    call.in = data;
    call.out = want.data;
    call.scratch = plain_scratch.data;
    p->op->run(&call);
    call.out = got.data;
    call.scratch = scratch.data;
    k->run(&call);
    settle(k, &call, got.data);
    differs = memcmp(want.data, got.data, bytes_of(&out, p->n));
    if (differs != 0) print_problem(p, k->name, &out);
    assert_int_equal(differs, 0);
    if (k->after) compare_after(&(way){ k, 0, NULL }, p, &call, want.data, at_end);
    if (k->parts != NULL && p->n > 0 && k->parts->applicable(p->attrs, in))
        compare_parts(k, p, &call, want.data, at_end);
    if (k->sums) compare_sums(k, p, &call, want.data, got.data, plain_scratch.data);
    for (int i = 0; i < p->n_in; i++) guarded_free(&x[i]);
    guarded_free(&want);
    guarded_free(&got);
    guarded_free(&scratch);
    guarded_free(&plain_scratch);
    return true;
}

/* ---- problems ---- */

static lks_type row(int64_t a, int64_t b, int64_t c)
{
    return (lks_type){ LKS_FLOAT32, true, false, { 3, { a, b, c } } };
}

static void convolutions(const lks_kernel_set *set, const lks_conv_attrs *a, int64_t cin, int64_t cout, int64_t n)
{
    const lks_type x = row(a->in[0], a->in[1], cin * a->groups), y = row(a->out[0], a->out[1], cout * a->groups);
    const lks_type w = { LKS_FLOAT32, false, false, { 4, { a->kernel[0], a->kernel[1], cin, cout * a->groups } } };
    problem forward = { &lks__op_conv2d, a, 2, { x, w }, n }, input = { &lks__op_conv2d_input, a, 2, { y, w }, n };
    problem filter = { &lks__op_conv2d_filter, a, 2, { x, y }, n };

    if (a->out[0] < 1 || a->out[1] < 1) return;
    compare(set, &forward);
    compare(set, &input);
    compare(set, &filter);
}

/* Output size and padding in front, as Keras: "same", or "valid". */
static lks_conv_attrs conv(int64_t h, int64_t w, int64_t kernel, int64_t stride, int64_t dilation, int64_t groups,
                           bool same)
{
    lks_conv_attrs a = { .kernel = { kernel, kernel },
                         .stride = { stride, stride },
                         .dilation = { dilation, dilation },
                         .groups = groups,
                         .in = { h, w } };

    for (int i = 0; i < 2; i++) {
        const int64_t reach = (kernel - 1) * dilation + 1;
        int64_t pad = 0;
        a.out[i] = same ? (a.in[i] + stride - 1) / stride : a.in[i] < reach ? 0 : (a.in[i] - reach) / stride + 1;
        if (same) pad = (a.out[i] - 1) * stride + reach - a.in[i];
        a.before[i] = pad > 0 ? pad / 2 : 0;
    }
    return a;
}

/* The models of the tutorials, edges, and what is odd. */
static void listed_convolutions(const lks_kernel_set *set)
{
    static const struct {
        int64_t h, w, kernel, stride, dilation, groups, cin, cout, n;
        bool same;
    } t[] = {
        { 28, 28, 3, 1, 1, 1, 1, 8, 3, true },   { 28, 28, 3, 2, 1, 1, 1, 16, 2, true },
        { 14, 14, 3, 2, 1, 1, 16, 8, 2, true },  { 14, 14, 3, 2, 1, 1, 8, 8, 2, true },
        { 28, 28, 3, 2, 1, 1, 16, 8, 2, true },  { 28, 28, 3, 1, 1, 1, 16, 1, 2, true },
        { 26, 30, 3, 1, 1, 1, 1, 12, 2, true },  { 26, 30, 3, 1, 1, 1, 24, 1, 2, true },
        { 28, 28, 3, 2, 1, 1, 12, 24, 2, true }, { 1, 1, 3, 1, 1, 1, 4, 8, 5, true },
        { 1, 1, 3, 2, 1, 1, 1, 8, 0, true },     { 2, 1, 3, 1, 1, 1, 1, 1, 2, true },
        { 9, 9, 1, 1, 1, 1, 17, 33, 2, true },   { 9, 9, 1, 2, 1, 1, 16, 16, 2, true },
        { 20, 20, 5, 1, 1, 1, 3, 10, 2, false }, { 20, 22, 3, 1, 3, 1, 5, 9, 2, true },
        { 15, 15, 3, 1, 1, 37, 1, 1, 2, true },  { 16, 15, 3, 2, 1, 32, 1, 1, 2, true },
        { 7, 7, 3, 1, 1, 1, 64, 40, 1, true },   { 12, 12, 3, 7, 1, 1, 3, 5, 2, false },
        { 8, 70, 3, 1, 1, 1, 20, 2, 1, true },   { 32, 32, 3, 2, 1, 1, 3, 32, 2, true },
        { 5, 5, 1, 1, 1, 1, 200, 24, 1, true },  { 5, 5, 1, 1, 1, 1, 300, 40, 1, true },
        { 2, 3, 1, 1, 1, 1, 17, 8, 1, true },    { 15, 15, 1, 1, 1, 1, 20, 50, 1, true },
        { 20, 21, 1, 1, 1, 1, 5, 16, 1, true },  { 3, 1, 1, 1, 1, 1, 520, 97, 1, true },
        { 17, 9, 3, 1, 1, 41, 1, 1, 1, true },   { 33, 10, 3, 2, 1, 24, 1, 1, 1, true },
        { 5, 5, 3, 1, 1, 64, 1, 1, 1, true },    { 10, 10, 3, 2, 1, 30, 1, 1, 1, true },
        { 5, 41, 3, 1, 1, 1, 1, 24, 2, true },   { 9, 17, 3, 2, 1, 1, 1, 20, 2, true },
        { 6, 31, 3, 1, 1, 1, 12, 1, 2, true },   { 5, 9, 3, 1, 1, 1, 40, 3, 2, true },
        { 4, 75, 3, 1, 1, 1, 8, 1, 2, false },   { 7, 3, 3, 1, 1, 1, 9, 1, 2, false },
        { 6, 13, 3, 1, 1, 1, 1, 16, 2, false },  { 3, 2, 3, 1, 1, 1, 1, 33, 2, true },
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        lks_conv_attrs a = conv(t[i].h, t[i].w, t[i].kernel, t[i].stride, t[i].dilation, t[i].groups, t[i].same);
        convolutions(set, &a, t[i].cin, t[i].cout, t[i].n);
    }
}

static void random_convolutions(const lks_kernel_set *set)
{
    for (uint32_t i = 0; i < 400; i++) {
        const int64_t cin = draw(3)   ? 1 + draw(9)
                            : draw(2) ? 16
                                      : 20,
                      cout = draw(3) ? 1 + draw(20) : 8 * (1 + draw(3));
        lks_conv_attrs a = conv(1 + draw(15), 1 + draw(20), draw(3) ? 3 : 1 + draw(5),
                                draw(4) ? 1 + draw(2) : 1 + draw(4), draw(4) ? 1 : 1 + draw(3),
                                draw(4) ? 1 : 1 + draw(20), draw(2));

        if (draw(4) == 0) a.kernel[0] = 1 + draw(3), a = (a.before[0] = 0, a), a.out[0] = 0;
        if (a.out[0] == 0) { /* another height of the kernel, without padding */
            int64_t reach = (a.kernel[0] - 1) * a.dilation[0] + 1;
            a.out[0] = a.in[0] < reach ? 0 : (a.in[0] - reach) / a.stride[0] + 1;
            a.before[0] = 0;
        }
        if (draw(6) == 0) a = conv(1 + draw(15), 1 + draw(20), 1, 1, 1, 1, true);
        if (a.groups > 4) convolutions(set, &a, 1, 1, draw(3));
        else convolutions(set, &a, cin, cout, draw(3));
    }
}

static void matrices(const lks_kernel_set *set)
{
    static const int64_t sizes[][3] = { { 6272, 10, 3 }, { 6272, 10, 16 }, { 20, 10, 0 },  { 784, 128, 5 },
                                        { 33, 1, 2 },    { 1, 1, 1 },      { 100, 16, 9 }, { 37, 300, 7 },
                                        { 64, 3, 11 },   { 5, 2, 4 } };
    static const bool plain = false, transposed = true;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes + 150; i++) {
        const bool listed = i < sizeof sizes / sizeof *sizes, leading = !listed && draw(3) == 0;
        const int64_t k = listed ? sizes[i][0] : 1 + draw(70), m = listed ? sizes[i][1] : 1 + draw(40);
        const int64_t n = listed ? sizes[i][2] : draw(20), lead = 1 + draw(9);
        lks_type a = { LKS_FLOAT32, true, false, { 1, { k } } }, d = { LKS_FLOAT32, true, false, { 1, { m } } };
        const lks_type w = { LKS_FLOAT32, false, false, { 2, { k, m } } };

        if (leading) a.shape = lks_shape(lead, k), d.shape = lks_shape(lead, m);
        compare(set, &(problem){ &lks__op_matmul, &plain, 2, { a, w }, n });
        compare(set, &(problem){ &lks__op_matmul, &transposed, 2, { d, w }, n });
        compare(set, &(problem){ &lks__op_matmul_filter, NULL, 2, { a, d }, n });
    }
}

/* Pixels of several vectors, several examples at once; sums of one number each. */
static void reductions(const lks_kernel_set *set)
{
    static const int64_t shapes[][3] = { { 5, 7, 8 }, { 5, 7, 16 }, { 3, 4, 40 }, { 2, 3, 53 }, { 6, 5, 1 } };
    static const lks_op *const ops[] = { &lks__op_batch_sum, &lks__op_batch_max };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t n = 0; n < 14; n++)
            for (uint32_t axes = 3; axes <= 4; axes++) { /* the pixels; the channels */
                const lks_type x = { LKS_FLOAT32, true, false, { 3, { shapes[i][0], shapes[i][1], shapes[i][2] } } };
                const lks_batch_attrs batch = { .axes = axes };
                const lks_reduce_attrs row = { .axes = axes };

                for (int k = 0; k < 2; k++) compare(set, &(problem){ ops[k], &batch, 1, { x }, n });
                compare(set, &(problem){ &lks__op_reduce_sum, &row, 1, { x }, n });
                compare(set, &(problem){ &lks__op_reduce_max, &row, 1, { x }, n });
            }
}

static void self_checks_of_all_ops(const lks_kernel_set *set)
{
    for (int i = 0; lks__ops[i] != NULL; i++)
        for (const lks_op_case *c = lks__ops[i]->cases; c != NULL && c->name != NULL; c++) {
            problem p = { lks__ops[i], c->attrs, c->n_in, { c->in[0], c->in[1], c->in[2], c->in[3] }, 1 };

            for (int k = 0; k < c->n_in; k++)
                if (c->in[k].batched) p.n = 3;
            compare(set, &p);
        }
}

/* ---- elementwise functions and the set's own ---- */

/* Floats of all sizes, with zeros and the edges of the functions, but no NaN; or integers. */
static void fill_elements(void *data, int n, bool integers)
{
    static const float edges[] = { 0.0f,    -0.0f,      1.0f,  -1.0f,   0x1p-149f, -0x1p-130f,
                                   0x1p23f, -0x1.8p22f, 88.7f, -103.9f, 0.5f };
    float *x = data;
    int32_t *v = data;

    for (int i = 0; i < n; i++) {
        if (integers) v[i] = draw(3) ? (int32_t)draw(3) : (int32_t)(draw(1u << 24) << 8);
        else if (draw(4) == 0) x[i] = edges[draw(sizeof edges / sizeof *edges)];
        else x[i] = ((float)draw(20001) - 10000.0f) * (draw(2) ? 1e-3f : 1e-5f);
    }
}

static void elementwise(const lks_kernel_set *set)
{
    static const int lengths[] = { 0, 1, 7, 8, 31, 100, LKS_EW_BLOCK };
    float a[3][LKS_EW_BLOCK], want[LKS_EW_BLOCK], got[LKS_EW_BLOCK];

    for (int code = LKS_EW_NONE + 1; code < LKS_EW_COUNT; code++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (int integers = 0; integers < 2; integers++) {
                for (int i = 0; i < 3; i++)
                    fill_elements(a[i], LKS_EW_BLOCK, integers && !(i > 0 && code == LKS_EW_WHERE));
                if (code == LKS_EW_WHERE) fill_elements(a[0], LKS_EW_BLOCK, true);
                memset(want, 0, sizeof want);
                memset(got, 0, sizeof got);
                lks__ew_ref[code](lengths[l], want, a[0], a[1], a[2]);
                set->elementwise[code](lengths[l], got, a[0], a[1], a[2]);
                for (int i = 0; i < LKS_EW_BLOCK; i++) {
                    if (want[i] != want[i] && got[i] != got[i]) continue; /* NaN */
                    if (memcmp(&want[i], &got[i], sizeof *want) != 0)
                        print_message("function %d of %g, %g: %a, not %a\n", code, (double)a[0][i], (double)a[1][i],
                                      (double)got[i], (double)want[i]);
                    assert_memory_equal(&want[i], &got[i], sizeof *want);
                }
            }
}

static void sums_and_finite_checks(const lks_kernel_set *set)
{
    float a[100], b[100], x[100];

    for (int n = 0; n < 100; n++) {
        fill_elements(a, 100, false);
        fill_elements(x, 100, false);
        memcpy(b, a, sizeof a);
        lks__kernels_ref.add(a, x, n);
        set->add(b, x, n);
        assert_memory_equal(a, b, sizeof a);
        assert_true(set->all_finite(x, n));
        if (n == 0) continue;
        x[n - 1] = draw(2) ? __builtin_inff() : __builtin_nanf("");
        assert_false(set->all_finite(x, n));
        assert_true(set->all_finite(x, n - 1));
    }
}

/* ---- sets ---- */

static void check_set(const lks_kernel_set *set)
{
    state = 1;
    self_checks_of_all_ops(set);
    listed_convolutions(set);
    random_convolutions(set);
    reductions(set);
    matrices(set);
    elementwise(set);
    sums_and_finite_checks(set);
}

static void check_isa(lks_isa isa)
{
    const lks_kernel_set *set = lks__kernels_for(isa);

    if (set->isa != isa) {
        print_message("skipped: no kernels of %s in this build or on this machine\n", lks__isa_name(isa));
        skip();
    }
    check_set(set);
}

static void avx2_kernels_give_the_bits_of_plain_c(void **unused)
{
    (void)unused;
    check_isa(LKS_ISA_AVX2);
}

static void avx512_kernels_give_the_bits_of_plain_c(void **unused)
{
    (void)unused;
    check_isa(LKS_ISA_AVX512);
}

static void neon_kernels_give_the_bits_of_plain_c(void **unused)
{
    (void)unused;
    check_isa(LKS_ISA_NEON);
}

static void sources_built_for_16_and_4_lanes_give_the_bits_of_plain_c(void **unused)
{
    (void)unused;
#if LKS_TEST_WIDTHS
    if (lks__isa_available(LKS_ISA_AVX2)) {
        check_set(&lks__kernels_pair);
        check_set(&lks__kernels_quad);
        return;
    }
#endif
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(avx2_kernels_give_the_bits_of_plain_c),
        cmocka_unit_test(avx512_kernels_give_the_bits_of_plain_c),
        cmocka_unit_test(neon_kernels_give_the_bits_of_plain_c),
        cmocka_unit_test(sources_built_for_16_and_4_lanes_give_the_bits_of_plain_c),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
