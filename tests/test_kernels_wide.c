/* test_kernels_wide.c - kernels over the whole batch: all parts together give the bits of plain C kernels on each shard, joined
 * by the tree; nothing outside their arrays is touched.
 *
 * Instruction sets that this machine lacks are skipped with a word; see test_kernels_memcmp.c for "pair" and "quad".
 */
#include "test_kernels.h"

/* ---- over the whole batch ---- */

/* What the executor does where nothing is wide: each shard's sums from zero, joined by the fixed tree. */
static void join_shards(const problem *p, const lks_op_call *call, int shards, const int64_t *ends, float *out)
{
    const int64_t size = lks__type_size(call->out_type);
    float *nodes = calloc((size_t)(size * shards), sizeof *nodes);
    lks_op_call one = *call;
    int64_t first = 0;

    assert_non_null(nodes);
    for (int s = 0; s < shards; s++) {
        const void *in[2];

        for (int i = 0; i < 2; i++) in[i] = (const float *)call->in[i] + first * lks__type_size(call->in_type[i]);
        one.in = in;
        one.out = nodes + s * size;
        one.n = ends[s] - first;
        first = ends[s];
        p->op->run(&one);
    }
    for (int step = 1; step < shards; step *= 2)
        for (int s = 0; s + step < shards; s += 2 * step)
            for (int64_t i = 0; i < size; i++) nodes[s * size + i] += nodes[(s + step) * size + i];
    memcpy(out, nodes, (size_t)size * sizeof *out);
    free(nodes);
}

/* The parts of a wide kernel, one after the other, give the bits of the plain kernel. */
static void compare_wide(const lks_kernel_set *set, const problem *p, int shards, int parts)
{
    const lks_wide *wide = p->op == &lks__op_matmul ? set->matmul_wide : set->matmul_filter_wide;
    const lks_type *in[4] = { &p->in[0], &p->in[1] };
    const bool at_end = draw(2);
    guarded x[2], want, got, common, scratch;
    lks_type out;
    const void *data[2];
    int64_t ends[64];

    assert_int_equal(p->op->infer(p->attrs, p->n_in, in, &out), LKS_OK);
    for (int i = 0; i < 2; i++) {
        x[i] = guarded_new(bytes_of(in[i], p->n), at_end);
        fill(x[i].data, in[i], count_of(in[i], p->n));
        data[i] = x[i].data;
    }
    want = guarded_new(bytes_of(&out, p->n), at_end);
    got = guarded_new(bytes_of(&out, p->n), at_end);
    common = guarded_new(wide->common(in, &out, p->n), at_end);
    for (int s = 0; s < shards; s++) ends[s] = ((s + 1) * p->n + shards - 1) / shards;
    lks_op_call call = {
        p->attrs, p->n_in, in, &out, data, want.data, p->n, 0, p->n, 0, 0, NULL, NULL, false, 0, NULL
    };
    if (out.batched) p->op->run(&call);
    else join_shards(p, &call, shards, ends, want.data);
    call.out = got.data;
    for (int pass = 0; pass < 2; pass++)
        for (int part = 0; part < parts; part++) {
            const lks_wide_call w = {
                .call = &call, .common = common.data, .part = part, .parts = parts, .shards = shards, .ends = ends
            };

            scratch = guarded_new(wide->scratch(in, &out, p->n), at_end);
            call.scratch = scratch.data;
            if (pass == 0) wide->prepare(&w);
            else wide->run(&w);
            guarded_free(&scratch);
        }
    if (memcmp(want.data, got.data, bytes_of(&out, p->n)) != 0) {
        print_problem(p, "wide", &out);
        fail_msg("%d shards, %d parts", shards, parts);
    }
    for (int i = 0; i < 2; i++) guarded_free(&x[i]);
    guarded_free(&want);
    guarded_free(&got);
    guarded_free(&common);
}

static void wide_matrices(const lks_kernel_set *set)
{
    static const bool plain = false, transposed = true;

    for (int i = 0; i < 60; i++) {
        const int64_t k = draw(4) ? 1 + draw(90) : 500 + draw(100), m = draw(4) ? 1 + draw(90) : 16 * (1 + draw(20));
        const int64_t n = draw(5) ? draw(30) : 100 + draw(60);
        const int shards = 1 + (int)draw(20), parts = 1 + (int)draw(5);
        const lks_type a = { LKS_FLOAT32, true, false, { 1, { k } } }, d = { LKS_FLOAT32, true, false, { 1, { m } } };
        const lks_type w = { LKS_FLOAT32, false, false, { 2, { k, m } } };

        if (m >= 16) compare_wide(set, &(problem){ &lks__op_matmul, &plain, 2, { a, w }, n }, shards, parts);
        compare_wide(set, &(problem){ &lks__op_matmul, &transposed, 2, { d, w }, n }, shards, parts);
        compare_wide(set, &(problem){ &lks__op_matmul_filter, NULL, 2, { a, d }, n }, shards, parts);
    }
}

static void check_isa(lks_isa isa)
{
    const lks_kernel_set *set = lks__kernels_for(isa);

    if (set->isa != isa) {
        print_message("skipped: no kernels of %s in this build or on this machine\n", lks__isa_name(isa));
        skip();
    }
    state = 1;
    wide_matrices(set);
}

static void avx2_parts_give_the_bits_of_joined_shards(void **unused)
{
    (void)unused;
    check_isa(LKS_ISA_AVX2);
}

static void avx512_parts_give_the_bits_of_joined_shards(void **unused)
{
    (void)unused;
    check_isa(LKS_ISA_AVX512);
}

static void neon_parts_give_the_bits_of_joined_shards(void **unused)
{
    (void)unused;
    check_isa(LKS_ISA_NEON);
}

static void parts_of_sources_built_for_16_and_4_lanes_do_too(void **unused)
{
    (void)unused;
#if LKS_TEST_WIDTHS
    if (lks__isa_available(LKS_ISA_AVX2)) {
        state = 1;
        wide_matrices(&lks__kernels_pair);
        wide_matrices(&lks__kernels_quad);
        return;
    }
#endif
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(avx2_parts_give_the_bits_of_joined_shards),
        cmocka_unit_test(avx512_parts_give_the_bits_of_joined_shards),
        cmocka_unit_test(neon_parts_give_the_bits_of_joined_shards),
        cmocka_unit_test(parts_of_sources_built_for_16_and_4_lanes_do_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
