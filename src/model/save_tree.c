/* save_tree.c - see save_tree.h. Paths are built from class names: "dense", "dense_1", ... counted among the layers of one
 * model. An object that was met already (a shared layer, a model called twice) is stored at its first path alone.
 */
#include "save_tree.h"

#include <string.h>

#include "base/text.h"

typedef struct tree {
    lks_tree_fn fn;
    void *user;
    const lks_layer **met;
    size_t n_met, capacity;
} tree;

static bool is_met(const tree *t, const lks_layer *layer)
{
    for (size_t i = 0; i < t->n_met; i++) {
        if (t->met[i] == layer) return true;
    }
    return false;
}

static bool is_listed(const lks_model *m, const lks_layer *layer)
{
    return !m->sequential || layer->class_ != &lks__input_layer_class;
}

static lks_status visit_model(tree *t, const lks_model *m, const char *prefix);

static lks_status visit_layer(tree *t, const lks_model *m, size_t i, const char *prefix)
{
    const lks_layer *layer = m->layers[i];
    lks_text text = { 0 };
    char *path;
    size_t before = 0;
    lks_status status;

    for (size_t k = 0; k < i; k++) {
        before += is_listed(m, m->layers[k]) && strcmp(m->layers[k]->class_->snake, layer->class_->snake) == 0;
    }
    if (is_met(t, layer)) return LKS_OK;
    LKS_TRY(lks__grow(&t->met, &t->capacity, t->n_met + 1, sizeof *t->met));
    t->met[t->n_met++] = layer;
    lks__text_printf(&text, "%slayers/%s", prefix, layer->class_->snake);
    if (before > 0) lks__text_printf(&text, "_%zu", before);
    lks__text_puts(&text, layer->model != NULL ? "/" : "/vars");
    LKS_TRY(lks__text_take(&text, &path));
    if (layer->model != NULL) status = visit_model(t, layer->model, path);
    else status = t->fn(t->user, path, layer->name != NULL ? layer->name : layer->class_->snake, layer);
    lks__free(path);
    return status;
}

static lks_status visit_model(tree *t, const lks_model *m, const char *prefix)
{
    lks_text text = { 0 };
    char *path;
    lks_status status;

    lks__text_printf(&text, "%svars", prefix);
    LKS_TRY(lks__text_take(&text, &path));
    status = t->fn(t->user, path, m->name, NULL);
    lks__free(path);
    for (size_t i = 0; i < m->n_layers && status == LKS_OK; i++) {
        if (is_listed(m, m->layers[i])) status = visit_layer(t, m, i, prefix);
    }
    return status;
}

lks_status lks__save_tree(const lks_model *model, lks_tree_fn fn, void *user)
{
    tree t = { .fn = fn, .user = user };
    lks_status status = visit_model(&t, model, "");

    lks__free(t.met);
    return status;
}
