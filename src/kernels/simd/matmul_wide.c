/* matmul_wide.c - matmul and matmul_filter over a worker's whole batch, for layers with many weights and one position an
 * example: each weight is read once a pass, whatever the number of shards, and each gradient is written once.
 *
 * Threads split columns of the result (matmul) or rows of the weights' gradient, which cannot change bits. The batch's
 * operand is packed once, by all threads together (prepare); the weights are packed by the thread that multiplies them, a block
 * that fits its L2 cache at a time, a few lines between two tiles of the block before.
 */
#include "entries.h"
#include "gemm.h"

enum {
    PANELS = 4,   /* of weights in a block of GEMM_DEPTH terms */
    FEW_ROWS = 4, /* examples up to which packing costs more than it brings */
    BLOCK_BYTES = 96 * 1024,
    STREAM_FLOATS = 2 << 20 /* gradients from here on are written past the caches: nobody reads them soon */
};

static int64_t ceil_to(int64_t n, int64_t step)
{
    return (n + step - 1) / step * step;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of `n` things in units of `unit`: where the part begins. */
static int64_t part_begin(int64_t n, int64_t unit, int part, int parts)
{
    const int64_t begin = (n + unit - 1) / unit * part / parts * unit;

    return begin < n ? begin : n;
}

typedef struct product {
    bool transposed;
    int64_t rows, depth, columns; /* of the result; terms of each sum */
    const float *a, *w;
    int64_t w_row; /* floats from row to row of the matrix */
    float *packed_a, *packed_w, *waiting, *y;
    const float *add;
    bool stream;
    int64_t width; /* columns of a block */
} product;

static product product_of(const lks_wide_call *wide)
{
    const lks_op_call *call = wide->call;
    const lks_shape *w = &call->in_type[1]->shape;
    const bool transposed = *(const bool *)call->attrs;
    const int64_t depth = w->dim[transposed];
    const int64_t panels = depth > 0 && depth < GEMM_DEPTH ? PANELS * GEMM_DEPTH / depth : PANELS;
    const bool whole = w->dim[!transposed] % GEMM_COLUMNS == 0 && (uintptr_t)call->out % 64 == 0;

    return (product){ .transposed = transposed,
                      .rows = call->n,
                      .depth = depth,
                      .columns = w->dim[!transposed],
                      .a = call->in[0],
                      .w = call->in[1],
                      .w_row = w->dim[1],
                      .packed_a = wide->common,
                      .packed_w = call->scratch,
                      .waiting = (float *)call->scratch + 2 * PANELS * GEMM_COLUMNS * GEMM_DEPTH,
                      .y = call->out,
                      .add = wide->add,
                      .stream = wide->stream && whole,
                      .width = panels * GEMM_COLUMNS };
}

static size_t product_common(const lks_type *const *in, const lks_type *out, int64_t n)
{
    (void)out;
    return (size_t)(ceil_to(n, GEMM_ROWS) * in[0]->shape.dim[0]) * sizeof(float);
}

static size_t product_scratch(const lks_type *const *in, const lks_type *out, int64_t n)
{
    (void)in;
    (void)out;
    return (size_t)(PANELS * GEMM_COLUMNS * (2 * GEMM_DEPTH + ceil_to(n, GEMM_ROWS))) * sizeof(float);
}

static bool few_rows(const product *p)
{
    return p->rows <= FEW_ROWS && !p->transposed;
}

static void product_prepare(const lks_wide_call *wide)
{
    const product p = product_of(wide);
    const int64_t groups = ceil_to(p.rows, GEMM_ROWS);
    int64_t k = part_begin(p.depth, GEMM_DEPTH, wide->part, wide->parts);
    const int64_t end = part_begin(p.depth, GEMM_DEPTH, wide->part + 1, wide->parts);

    if (few_rows(&p)) return;
    for (; k < end; k += GEMM_DEPTH)
        SIMD(gemm_pack_rows)(p.a + k, p.depth, p.rows, least(GEMM_DEPTH, p.depth - k), p.packed_a + k * groups);
}

/* A block of weights: terms [k, k + depth) of columns [j, j + columns). */
typedef struct block {
    int64_t k, depth, j, columns;
    float *packed;
} block;

/* The block behind `b` of the columns before `end`; its depth is 0 behind the last. */
static block block_after(const product *p, const block *b, int64_t end)
{
    block next = *b;

    next.k += b->depth;
    if (next.k >= p->depth) {
        next.k = 0;
        next.j += b->columns;
    }
    next.columns = least(p->width, end - next.j);
    next.depth = next.columns > 0 ? least(GEMM_DEPTH, p->depth - next.k) : 0;
    next.packed = b->packed == p->packed_w ? p->packed_w + PANELS * GEMM_COLUMNS * GEMM_DEPTH : p->packed_w;
    return next;
}

static gemm_packer packer_of(const product *p, const block *b)
{
    const float *w = p->w + (p->transposed ? b->j * p->w_row + b->k : b->k * p->w_row + b->j);

    return SIMD(gemm_packer)(p->transposed, w, p->w_row, b->columns, b->depth, b->packed);
}

/* All rows of one block: a group of them stays in the L1 cache while the block passes by. Between its tiles the next block is
 * packed. Sums wait side by side for their next terms: rows of the result often lie a power of two apart, where they
 * would push each other out of the caches. */
static void multiply_block(const product *p, const block *b, gemm_packer *next)
{
    const int64_t groups = (p->rows + GEMM_ROWS - 1) / GEMM_ROWS;
    const int64_t tiles = groups * ((b->columns + GEMM_COLUMNS - 1) / GEMM_COLUMNS);
    const int64_t units = (next->units + tiles - 1) / tiles;
    const bool last = b->k + b->depth == p->depth;
    float *waiting = p->waiting;
    gemm_tile t = { .depth = b->depth, .from_row = GEMM_COLUMNS, .c_row = last ? p->columns : GEMM_COLUMNS };

    t.stream = last && p->stream;

    t.a = p->packed_a + b->k * groups * GEMM_ROWS;
    for (int64_t i = 0; i < p->rows; i += GEMM_ROWS, t.a += GEMM_ROWS * b->depth) {
        const int64_t rows = least(GEMM_ROWS, p->rows - i);

        t.b = b->packed;
        for (int64_t c = 0; c < b->columns; c += GEMM_COLUMNS, waiting += GEMM_ROWS * GEMM_COLUMNS) {
            t.from = b->k > 0 ? waiting : NULL;
            t.c = last ? p->y + i * p->columns + b->j + c : waiting;
            t.add = last && p->add != NULL ? p->add + (t.c - p->y) : NULL;
            SIMD(gemm_pack_some)(next, units);
            if (!last || b->columns - c >= GEMM_COLUMNS) SIMD(gemm_block)(&t, rows);
            else SIMD(gemm_edge)(&t, rows, b->columns - c);
            t.b += GEMM_COLUMNS * b->depth;
        }
    }
    SIMD(gemm_pack_some)(next, next->units);
}

static void multiply_columns(const product *p, int64_t begin, int64_t end)
{
    block b = {
        .depth = least(GEMM_DEPTH, p->depth), .j = begin, .columns = least(p->width, end - begin), .packed = p->packed_w
    };
    gemm_packer first = packer_of(p, &b);

    SIMD(gemm_pack_some)(&first, first.units);
    while (b.columns > 0) {
        const block next = block_after(p, &b, end);
        gemm_packer packer = next.depth > 0 ? packer_of(p, &next) : (gemm_packer){ 0 };

        multiply_block(p, &b, &packer);
        b = next;
    }
}

/* Few rows: the weights pass once, in the order in which they lie; four rows of them at a time meet the sums in the L1 cache. */
static void multiply_few(const product *p, int64_t begin, int64_t end)
{
    enum { CHUNK = 1024 };

    for (int64_t j = begin; j < end; j += CHUNK) {
        const int64_t n = least(CHUNK, end - j);

        for (int64_t i = 0; i < p->rows; i++) memset(p->y + i * p->columns + j, 0, (size_t)n * sizeof *p->y);
        for (int64_t k = 0; k < p->depth; k += 4)
            for (int64_t i = 0; i < p->rows; i++) {
                const float *a = p->a + i * p->depth + k, *w = p->w + k * p->w_row + j;

                SIMD(gemm_add_terms)(least(4, p->depth - k), a, w, p->w_row, n, p->y + i * p->columns + j);
            }
        for (int64_t i = 0; p->add != NULL && i < p->rows; i++)
            for (int64_t c = i * p->columns + j; c < i * p->columns + j + n; c++) p->y[c] += p->add[c];
    }
}

static bool product_run(const lks_wide_call *wide)
{
    const product p = product_of(wide);
    const int64_t begin = part_begin(p.columns, GEMM_COLUMNS, wide->part, wide->parts);
    const int64_t end = part_begin(p.columns, GEMM_COLUMNS, wide->part + 1, wide->parts);

    if (p.rows == 0) return false;
    if (few_rows(&p)) {
        multiply_few(&p, begin, end);
        return false;
    }
    if (begin < end) multiply_columns(&p, begin, end);
    if (p.stream) vf_stream_end();
    return false; /* not looked at */
}

const lks_wide SIMD(matmul_wide) = { product_common, product_scratch, product_prepare, product_run };

/* ---- the gradient of the matrix ---- */

/* Rows of the gradient whose packed operand fills half of an L2 cache. */
static int64_t filter_rows(int64_t n)
{
    const int64_t rows = BLOCK_BYTES / (int64_t)sizeof(float) / (n > 0 ? n : 1) / GEMM_ROWS * GEMM_ROWS;

    return rows < GEMM_ROWS ? GEMM_ROWS : rows > 32 * GEMM_ROWS ? 32 * GEMM_ROWS : rows;
}

static size_t filter_common(const lks_type *const *in, const lks_type *out, int64_t n)
{
    (void)in;
    return (size_t)(ceil_to(out->shape.dim[1], GEMM_COLUMNS) * n) * sizeof(float);
}

static size_t filter_scratch(const lks_type *const *in, const lks_type *out, int64_t n)
{
    const int64_t most = BLOCK_BYTES / (int64_t)sizeof(float), least_rows = GEMM_ROWS * n;

    (void)in;
    (void)out;
    return (size_t)(GEMM_STACK_FLOATS + (most > least_rows ? most : least_rows)) * sizeof(float);
}

static void filter_prepare(const lks_wide_call *wide)
{
    const lks_op_call *call = wide->call;
    const int64_t m = call->out_type->shape.dim[1];
    const int64_t begin = part_begin(m, GEMM_COLUMNS, wide->part, wide->parts);
    const int64_t end = part_begin(m, GEMM_COLUMNS, wide->part + 1, wide->parts);

    SIMD(gemm_pack_columns)
    ((const float *)call->in[1] + begin, m, end - begin, call->n, (float *)wide->common + begin * call->n);
}

static bool filter_run(const lks_wide_call *wide)
{
    const lks_op_call *call = wide->call;
    const int64_t k = call->out_type->shape.dim[0], m = call->out_type->shape.dim[1];
    const int64_t end = part_begin(k, GEMM_ROWS, wide->part + 1, wide->parts), step = filter_rows(call->n);
    bool finite = true;
    float *stack = call->scratch, *packed = stack + GEMM_STACK_FLOATS;
    gemm_sum s = { .shards = wide->shards, .ends = wide->ends, .c_row = m, .stack = stack };

    s.stream = k * m >= STREAM_FLOATS && m % GEMM_COLUMNS == 0 && (uintptr_t)call->out % 64 == 0;
    for (int64_t i = part_begin(k, GEMM_ROWS, wide->part, wide->parts); i < end; i += step) {
        const int64_t rows = least(step, end - i);

        SIMD(gemm_pack_terms)((const float *)call->in[0] + i, k, rows, call->n, packed);
        for (int64_t first = 0; first < m; first += PANELS * GEMM_COLUMNS)
            for (int64_t r = 0; r < rows; r += GEMM_ROWS) {
                s.a = packed + r * call->n;
                for (int64_t j = first; j < least(first + PANELS * GEMM_COLUMNS, m); j += GEMM_COLUMNS) {
                    s.columns = least(GEMM_COLUMNS, m - j);
                    s.b = (const float *)wide->common + j * call->n;
                    s.c = (float *)call->out + (i + r) * m + j;
                    finite = SIMD(gemm_sum_block)(&s, least(GEMM_ROWS, rows - r)) && finite;
                }
            }
    }
    vf_stream_end();
    return finite;
}

const lks_wide SIMD(matmul_filter_wide) = { filter_common, filter_scratch, filter_prepare, filter_run };
