/* matmul_wide.c - matmul and matmul_filter over a worker's whole batch, for layers with many weights and one position an
 * example: each weight is read once a pass, whatever the number of shards, and each gradient is written once.
 *
 * Threads split columns of the result (matmul) or rows of the weights' gradient, which cannot change bits. The batch's
 * operand is packed once, by all threads together (prepare); the weights are packed by the thread that multiplies them, a block
 * that fits its L2 cache at a time, while the next one is on its way from memory.
 */
#include "entries.h"
#include "gemm.h"

enum {
    PANELS = 4,     /* of weights in a block */
    FEW_ROWS = 4,   /* examples up to which packing costs more than it brings */
    BLOCK_BYTES = 200 * 1024,
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
    float *packed_a, *packed_w, *y;
} product;

static product product_of(const lks_wide_call *wide)
{
    const lks_op_call *call = wide->call;
    const lks_shape *w = &call->in_type[1]->shape;
    const bool transposed = *(const bool *)call->attrs;

    return (product){ .transposed = transposed,
                      .rows = call->n,
                      .depth = w->dim[transposed],
                      .columns = w->dim[!transposed],
                      .a = call->in[0],
                      .w = call->in[1],
                      .w_row = w->dim[1],
                      .packed_a = wide->common,
                      .packed_w = call->scratch,
                      .y = call->out };
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
    (void)n;
    return (size_t)(PANELS * GEMM_COLUMNS * GEMM_DEPTH) * sizeof(float);
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

/* Terms [k, k + depth) of columns [j, j + columns), packed. */
static void pack_weights(const product *p, int64_t k, int64_t depth, int64_t j, int64_t columns)
{
    if (p->transposed) SIMD(gemm_pack_transposed)(p->w + j * p->w_row + k, p->w_row, columns, depth, p->packed_w);
    else SIMD(gemm_pack_columns)(p->w + k * p->w_row + j, p->w_row, columns, depth, p->packed_w);
}

/* The weights that come next, on their way into the L2 cache a few lines at a time. */
typedef struct ahead {
    const float *w;
    int64_t row, width; /* floats from row to row, and of a row */
    int64_t i, j, rows;
} ahead;

static ahead ahead_of(const product *p, int64_t k, int64_t j)
{
    const int64_t depth = least(GEMM_DEPTH, p->depth - k), columns = least(PANELS * GEMM_COLUMNS, p->columns - j);
    ahead a = { .w = p->w, .row = p->w_row };

    if (depth <= 0 || columns <= 0) return a;
    a.w += p->transposed ? j * p->w_row + k : k * p->w_row + j;
    a.rows = p->transposed ? columns : depth;
    a.width = p->transposed ? depth : columns;
    return a;
}

static void fetch(ahead *a, int64_t lines)
{
    for (; lines > 0 && a->i < a->rows; lines--) {
        __builtin_prefetch(a->w + a->i * a->row + a->j, 0, 2);
        a->j += 16;
        if (a->j >= a->width) a->j = 0, a->i++;
    }
}

/* All rows of one block of weights. */
static void multiply_block(const product *p, int64_t k, int64_t depth, int64_t j, int64_t columns, ahead *next)
{
    const int64_t calls = (p->rows + GEMM_ROWS - 1) / GEMM_ROWS * ((columns + GEMM_COLUMNS - 1) / GEMM_COLUMNS);
    const int64_t lines = (PANELS * GEMM_COLUMNS * GEMM_DEPTH / 16 + calls - 1) / calls;
    gemm_tile t = { .depth = depth, .b = p->packed_w, .c_row = p->columns, .carry = k > 0 };

    for (int64_t c = 0; c < columns; c += GEMM_COLUMNS, t.b += GEMM_COLUMNS * depth) {
        t.a = p->packed_a + k * ceil_to(p->rows, GEMM_ROWS);
        for (int64_t i = 0; i < p->rows; i += GEMM_ROWS, t.a += GEMM_ROWS * depth) {
            const int64_t rows = least(GEMM_ROWS, p->rows - i);

            t.c = p->y + i * p->columns + j + c;
            fetch(next, lines);
            if (columns - c >= GEMM_COLUMNS) SIMD(gemm_block)(&t, rows);
            else SIMD(gemm_edge)(&t, rows, columns - c);
        }
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
            for (int64_t i = 0; i < p->rows; i++)
                SIMD(gemm_add_terms)(least(4, p->depth - k), p->a + i * p->depth + k, p->w + k * p->w_row + j, p->w_row,
                                     n, p->y + i * p->columns + j);
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
    for (int64_t j = begin; j < end; j += PANELS * GEMM_COLUMNS) {
        const int64_t columns = least(PANELS * GEMM_COLUMNS, end - j);

        for (int64_t k = 0; k < p.depth; k += GEMM_DEPTH) {
            const int64_t depth = least(GEMM_DEPTH, p.depth - k);
            ahead next = k + depth < p.depth ? ahead_of(&p, k + depth, j)
                         : j + columns < end ? ahead_of(&p, 0, j + columns)
                                             : (ahead){ 0 };

            pack_weights(&p, k, depth, j, columns);
            multiply_block(&p, k, depth, j, columns, &next);
        }
    }
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

    SIMD(gemm_pack_columns)((const float *)call->in[1] + begin, m, end - begin, call->n,
                            (float *)wide->common + begin * call->n);
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
        for (int64_t j = 0; j < m; j += GEMM_COLUMNS) {
            s.columns = least(GEMM_COLUMNS, m - j);
            s.b = (const float *)wide->common + j * call->n;
            for (int64_t r = 0; r < rows; r += GEMM_ROWS) {
                s.a = packed + r * call->n;
                s.c = (float *)call->out + (i + r) * m + j;
                finite = SIMD(gemm_sum_block)(&s, least(GEMM_ROWS, rows - r)) && finite;
            }
        }
    }
    vf_stream_end();
    return finite;
}

const lks_wide SIMD(matmul_filter_wide) = { filter_common, filter_scratch, filter_prepare, filter_run };
