/* build_elementwise.c - arithmetic, comparisons, logic, choice, conversion: dtypes made equal, then one op.
 *
 * Arithmetic with a number that changes nothing gives the operand itself: gradients are full of ones and zeros.
 */
#include "graph/build.h"

/* The same of the same among the last few nodes: the gradient of x x asks for d x twice. */
static lks_node made_just_now(const lks_op *op, const lks_node *in)
{
    const lks_graph *g = in[0].graph;
    int64_t last = (int64_t)g->n_nodes - 1;

    if (in[0].graph != in[1].graph || !lks__node_ok(in[0]) || !lks__node_ok(in[1])) return lks__no_node;
    for (int64_t id = last; id >= 0 && id > last - 8; id--)
        if (g->nodes[id]->op == op && g->nodes[id]->in[0] == in[0].id && g->nodes[id]->in[1] == in[1].id)
            return (lks_node){ in[0].graph, id };
    return lks__no_node;
}

static lks_node binary(const lks_op *op, lks_node a, lks_node b, bool keep_bool)
{
    lks_node in[2] = { a, b }, former;

    if (!lks__build_usable(2, in)) return lks__build_refuse(op, 2, in);
    lks__build_pair(&in[0], &in[1], keep_bool);
    former = made_just_now(op, in);
    return lks__node_ok(former) ? former : lks__node_create(a.graph, op, NULL, 2, in);
}

/* What x repeats, where the other operand alone makes the result as large: an operand need not be repeated first. */
static lks_node unrepeated(lks_node x, lks_node other)
{
    lks_node both[2] = { x, other };
    const lks_graph_node *n;
    const lks_type *t;

    if (!lks__build_usable(2, both) || x.graph != other.graph) return x;
    n = lks__node_at(x);
    t = lks__node_type(other);
    if (n->op != &lks__op_broadcast || t->batched != n->type.batched || t->dtype != n->type.dtype ||
        !lks_shape_equal(&t->shape, &n->type.shape) || lks__node_at(other)->op == &lks__op_broadcast)
        return x;
    return (lks_node){ x.graph, n->in[0] };
}

/* For ops that know float32 alone. */
static lks_node binary_float(const lks_op *op, lks_node a, lks_node b)
{
    return binary(op, lks__build_float(a), lks__build_float(b), false);
}

static lks_node unary_float(const lks_op *op, lks_node x)
{
    return lks__graph_unary(op, NULL, lks__build_float(x));
}

/* Whether the number n leaves x as it is in its dtype and shape (every x, since n is a scalar). */
static bool neutral(lks_node x, lks_node n, float value)
{
    lks_node both[2] = { x, n };

    return lks__build_usable(2, both) && x.graph == n.graph && lks__build_is_number(n, value);
}

static bool is_int(lks_node x)
{
    return lks__build_usable(1, &x) && lks__node_type(x)->dtype == LKS_INT32;
}

static lks_node int_number(lks_node like, int32_t value)
{
    lks_type scalar = { .dtype = LKS_INT32 };

    return lks__graph_constant(like.graph, scalar, &value);
}

/* 2 x; of a product with a shared factor, that is doubled: it has fewer elements. */
static lks_node doubled(lks_node x)
{
    const lks_graph_node *n = lks__node_at(x);
    lks_node two = lks_ops_number(x, 2.0);

    for (int k = 0; k < 2 && n->op == &lks__op_multiply && n->type.batched; k++) {
        lks_node factor = { x.graph, n->in[k] }, other = { x.graph, n->in[1 - k] };
        if (!lks__node_type(factor)->batched) return lks_ops_multiply(lks_ops_multiply(factor, two), other);
    }
    return lks_ops_multiply(x, two);
}

lks_node lks_ops_add(lks_node a, lks_node b)
{
    if (neutral(a, b, 0.0f)) return lks__build_float(a);
    if (neutral(b, a, 0.0f)) return lks__build_float(b);
    if (a.id == b.id && a.graph == b.graph && lks__build_usable(1, &a) && lks__node_type(a)->dtype == LKS_FLOAT32)
        return doubled(a);
    return binary(&lks__op_add, unrepeated(a, b), unrepeated(b, a), false);
}

lks_node lks_ops_subtract(lks_node a, lks_node b)
{
    return neutral(a, b, 0.0f) ? lks__build_float(a) : binary(&lks__op_subtract, a, b, false);
}

lks_node lks_ops_multiply(lks_node a, lks_node b)
{
    if (neutral(a, b, 1.0f)) return lks__build_float(a);
    if (neutral(b, a, 1.0f)) return lks__build_float(b);
    return binary(&lks__op_multiply, unrepeated(a, b), unrepeated(b, a), false);
}

lks_node lks_ops_divide(lks_node a, lks_node b)
{
    return neutral(a, b, 1.0f) ? lks__build_float(a) : binary_float(&lks__op_divide, a, b);
}

lks_node lks_ops_maximum(lks_node a, lks_node b)
{
    return binary(&lks__op_maximum, a, b, false);
}

lks_node lks_ops_minimum(lks_node a, lks_node b)
{
    return binary(&lks__op_minimum, a, b, false);
}

lks_node lks_ops_power(lks_node a, lks_node b)
{
    return neutral(a, b, 1.0f) ? lks__build_float(a) : binary_float(&lks__op_power, a, b);
}

lks_node lks_ops_negative(lks_node x)
{
    return is_int(x) ? lks_ops_subtract(int_number(x, 0), x) : unary_float(&lks__op_negative, x);
}

lks_node lks_ops_abs(lks_node x)
{
    return is_int(x) ? lks_ops_maximum(x, lks_ops_negative(x)) : unary_float(&lks__op_abs, x);
}

lks_node lks_ops_square(lks_node x)
{
    return lks_ops_multiply(x, x);
}

lks_node lks_ops_relu(lks_node x)
{
    return is_int(x) ? lks_ops_maximum(x, int_number(x, 0)) : unary_float(&lks__op_relu, x);
}

/* x is the first operand, so that at the bounds it receives the gradient. */
lks_node lks_ops_clip(lks_node x, double low, double high)
{
    return lks_ops_minimum(lks_ops_maximum(x, lks_ops_number(x, low)), lks_ops_number(x, high));
}

lks_node lks__graph_relu_grad(lks_node y, lks_node d)
{
    return binary(&lks__op_relu_grad, y, d, false);
}

lks_node lks_ops_sign(lks_node x)
{
    return unary_float(&lks__op_sign, x);
}

lks_node lks_ops_sqrt(lks_node x)
{
    return unary_float(&lks__op_sqrt, x);
}

lks_node lks_ops_rsqrt(lks_node x)
{
    return unary_float(&lks__op_rsqrt, x);
}

lks_node lks_ops_exp(lks_node x)
{
    return unary_float(&lks__op_exp, x);
}

lks_node lks_ops_log(lks_node x)
{
    return unary_float(&lks__op_log, x);
}

lks_node lks_ops_log1p(lks_node x)
{
    return unary_float(&lks__op_log1p, x);
}

lks_node lks_ops_expm1(lks_node x)
{
    return unary_float(&lks__op_expm1, x);
}

lks_node lks_ops_tanh(lks_node x)
{
    return unary_float(&lks__op_tanh, x);
}

lks_node lks_ops_sigmoid(lks_node x)
{
    return unary_float(&lks__op_sigmoid, x);
}

lks_node lks_ops_softplus(lks_node x)
{
    return unary_float(&lks__op_softplus, x);
}

lks_node lks_ops_erf(lks_node x)
{
    return unary_float(&lks__op_erf, x);
}

lks_node lks_ops_erfc(lks_node x)
{
    return unary_float(&lks__op_erfc, x);
}

lks_node lks_ops_sin(lks_node x)
{
    return unary_float(&lks__op_sin, x);
}

lks_node lks_ops_cos(lks_node x)
{
    return unary_float(&lks__op_cos, x);
}

lks_node lks_ops_floor(lks_node x)
{
    return unary_float(&lks__op_floor, x);
}

lks_node lks_ops_round(lks_node x)
{
    return unary_float(&lks__op_round, x);
}

lks_node lks_ops_isfinite(lks_node x)
{
    return unary_float(&lks__op_isfinite, x);
}

lks_node lks_ops_equal(lks_node a, lks_node b)
{
    return binary(&lks__op_equal, a, b, true);
}

lks_node lks_ops_not_equal(lks_node a, lks_node b)
{
    return binary(&lks__op_not_equal, a, b, true);
}

lks_node lks_ops_less(lks_node a, lks_node b)
{
    return binary(&lks__op_less, a, b, true);
}

lks_node lks_ops_less_equal(lks_node a, lks_node b)
{
    return binary(&lks__op_less_equal, a, b, true);
}

lks_node lks_ops_greater(lks_node a, lks_node b)
{
    return binary(&lks__op_greater, a, b, true);
}

lks_node lks_ops_greater_equal(lks_node a, lks_node b)
{
    return binary(&lks__op_greater_equal, a, b, true);
}

lks_node lks_ops_logical_and(lks_node a, lks_node b)
{
    return binary(&lks__op_logical_and, lks__build_bool(a), lks__build_bool(b), true);
}

lks_node lks_ops_logical_or(lks_node a, lks_node b)
{
    return binary(&lks__op_logical_or, lks__build_bool(a), lks__build_bool(b), true);
}

lks_node lks_ops_logical_not(lks_node a)
{
    return lks__graph_unary(&lks__op_logical_not, NULL, lks__build_bool(a));
}

lks_node lks_ops_where(lks_node condition, lks_node a, lks_node b)
{
    lks_node in[3] = { condition, a, b };

    if (!lks__build_usable(3, in)) return lks__build_refuse(&lks__op_where, 3, in);
    in[0] = lks__build_bool(condition);
    lks__build_pair(&in[1], &in[2], true);
    return lks__node_create(condition.graph, &lks__op_where, NULL, 3, in);
}

lks_node lks_ops_cast(lks_node x, lks_dtype dtype)
{
    if (lks__build_usable(1, &x) && lks__node_type(x)->dtype == dtype) return x;
    return lks__graph_unary(&lks__op_cast, &dtype, x);
}

lks_node lks_ops_stop_gradient(lks_node x)
{
    return lks__graph_unary(&lks__op_stop_gradient, NULL, x);
}
