/* generator.c - elements from a C function, one at a time. Each pass opens a state of its own, so repeat starts it anew; it is
 * closed as soon as it has ended, and in any case once. */
#include <string.h>

#include "data/function.h"
#include "data/stages.h"

typedef struct generator_dataset {
    lks_dataset base;
    lks_generator g; /* name is our copy */
} generator_dataset;

typedef struct generator_cursor {
    lks_cursor base;
    void *state;
    bool opened, ended;
    int64_t index;
} generator_cursor;

static void close_state(generator_cursor *n)
{
    const lks_generator *g = &((generator_dataset *)n->base.dataset)->g;

    if (n->opened && g->close != NULL) g->close(n->state, g->user);
    n->opened = false;
}

static lks_status explain(lks_status status, const lks_cursor *n, unsigned before, int64_t index)
{
    const lks_generator *g = &((const generator_dataset *)n->dataset)->g;

    status = lks__returned_status(status, before);
    return lks__context(status, "generator '%s' failed at element %lld", g->name, (long long)index);
}

static lks_status next(lks_cursor *base, lks_element **out)
{
    generator_cursor *n = (generator_cursor *)base;
    const lks_generator *g = &((generator_dataset *)base->dataset)->g;
    unsigned before = lks__error_serial();
    lks_element *e;
    lks_status status;

    if (n->ended) return LKS_END;
    if (!n->opened) {
        status = g->open == NULL ? LKS_OK : g->open(g->user, &n->state);
        if (status != LKS_OK) {
            n->ended = true;
            return explain(status == LKS_END ? LKS_E_ARG : status, base, before, n->index);
        }
        n->opened = true;
    }
    e = lks__cursor_element(base);
    if (e == NULL) return LKS_E_NOMEM;
    status = g->next(n->state, e, g->user);
    if (status == LKS_OK) status = lks__element_complete(e);
    if (status == LKS_OK) *out = e;
    else lks_element_release(e);
    if (status == LKS_END) {
        n->ended = true;
        close_state(n);
        return LKS_END;
    }
    if (status != LKS_OK) status = explain(status, base, before, n->index);
    n->index++;
    return status;
}

static void close(lks_cursor *n)
{
    close_state((generator_cursor *)n);
}

static void destroy(lks_dataset *ds)
{
    generator_dataset *d = (generator_dataset *)ds;

    if (d->g.release != NULL) d->g.release(d->g.user);
    lks__free((char *)d->g.name);
}

static void describe(const lks_dataset *ds, lks_recipe *r)
{
    lks__recipe_text(r, ((const generator_dataset *)ds)->g.name);
}

static const char *unsavable(const lks_dataset *ds)
{
    (void)ds;
    return "a generator can't be set back to an earlier element";
}

const lks_stage lks__stage_generator = { .name = "from_generator",
                                         .dataset_size = sizeof(generator_dataset),
                                         .cursor_size = sizeof(generator_cursor),
                                         .next = next,
                                         .close = close,
                                         .destroy = destroy,
                                         .describe = describe,
                                         .unsavable = unsavable };

lks_dataset *lks_from_generator(lks_spec *spec, const lks_generator *generator)
{
    lks_dataset *ds = lks__dataset_begin(&lks__stage_generator, 0, NULL);
    generator_dataset *d = (generator_dataset *)ds;
    lks_generator g;

    lks__options(&g, sizeof g, generator);
    if (ds == NULL) {
        if (g.release != NULL) g.release(g.user);
        lks_spec_release(spec);
        return NULL;
    }
    d->g = g;
    d->g.name = lks__strdup(g.name != NULL ? g.name : "generator");
    ds->spec = spec;
    if (d->g.name == NULL) return lks__dataset_fail(ds, lks__fail(LKS_E_NOMEM, "no memory for a generator"));
    if (g.next == NULL)
        return lks__dataset_fail(ds, lks__fail(LKS_E_ARG, "no function given (next is NULL or struct_size not set)"));
    if (spec == NULL)
        return lks__dataset_fail(ds, lks__context(LKS_E_ARG, "the element spec is NULL (the last error was)"));
    return ds;
}
