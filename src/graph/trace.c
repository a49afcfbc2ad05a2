/* trace.c - see trace.h. */
#include "trace.h"

#include <string.h>

lks_status lks__trace_init(lks_trace *t, bool training, int replicas)
{
    memset(t, 0, sizeof *t);
    t->training = training;
    t->replicas = replicas;
    t->iterations = lks__no_node;
    return lks__graph_create(&t->graph);
}

void lks__trace_free(lks_trace *t)
{
    for (size_t i = 0; i < t->n_assignments; i++) lks__variable_release(t->assignments[i].variable);
    lks__free(t->assignments);
    lks__free(t->losses);
    lks__graph_release(t->graph);
    memset(t, 0, sizeof *t);
}

static bool value_fits(lks_trace *t, const lks_variable *v, lks_node value)
{
    const lks_type *type;
    lks_shape want = lks_tensor_shape(v->value);
    char have[LKS_TYPE_TEXT], wanted[LKS_TYPE_TEXT];
    lks_type expected = { .dtype = lks_tensor_dtype(v->value), .shape = want };

    if (!lks__node_ok(value)) {
        lks__node_fail(t->graph, lks__fail(LKS_E_ARG, "variable '%s' is assigned an absent node", v->path));
        return false;
    }
    type = lks__node_type(value);
    if (!type->batched && !type->local && type->dtype == expected.dtype && lks_shape_equal(&type->shape, &want))
        return true;
    lks__node_fail(t->graph, lks__fail(LKS_E_SHAPE, "variable '%s' is %s, the value assigned to it is %s%s", v->path,
                                       lks__type_text(&expected, wanted), lks__type_text(type, have),
                                       type->local ? ", one for each replica" : ""));
    return false;
}

void lks__trace_assign(lks_trace *t, lks_variable *v, lks_node value)
{
    if (t->graph->error.code != LKS_OK || !value_fits(t, v, value)) return;
    for (size_t i = 0; i < t->n_assignments; i++)
        if (t->assignments[i].variable == v) {
            t->assignments[i].value = value;
            return;
        }
    if (lks__grow(&t->assignments, &t->assignments_capacity, t->n_assignments + 1, sizeof *t->assignments) != LKS_OK) {
        lks__node_fail(t->graph, LKS_E_NOMEM);
        return;
    }
    t->assignments[t->n_assignments++] = (lks_assignment){ lks__variable_retain(v), value };
}

void lks__trace_add_loss(lks_trace *t, lks_node scalar)
{
    if (t->graph->error.code != LKS_OK) return;
    if (lks__grow(&t->losses, &t->losses_capacity, t->n_losses + 1, sizeof *t->losses) != LKS_OK) {
        lks__node_fail(t->graph, LKS_E_NOMEM);
        return;
    }
    t->losses[t->n_losses++] = scalar;
}
