/* names.c - automatic names, counted per model, and the paths of weights: "conv2d/kernel", in a Sequential model behind its
 * own name. */
#include "names.h"

#include <stdio.h>
#include <string.h>

static bool taken(const lks_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_layers; i++)
        if (m->layers[i]->name != NULL && strcmp(m->layers[i]->name, name) == 0) return true;
    return false;
}

static lks_status auto_name(const lks_model *m, lks_layer *layer)
{
    char name[128];

    for (int k = 0;; k++) {
        if (k == 0) snprintf(name, sizeof name, "%s", layer->class_->snake);
        else snprintf(name, sizeof name, "%s_%d", layer->class_->snake, k);
        if (!taken(m, name)) break;
    }
    layer->name = lks__strdup(name);
    layer->auto_named = true;
    return layer->name != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for a layer's name");
}

/* Weights are named once, by the first model that holds the layer: a path without "/" is still the weight's own name. */
static lks_status name_weights(const lks_model *m, const lks_layer *layer)
{
    for (size_t i = 0; i < layer->n_weights; i++) {
        lks_variable *v = layer->weights[i];
        size_t size = strlen(m->name) + strlen(layer->name) + strlen(v->path) + 3;
        char *path;
        if (strchr(v->path, '/') != NULL) continue;
        path = lks__malloc(size);
        if (path == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a weight's path");
        snprintf(path, size, "%s%s%s/%s", m->sequential ? m->name : "", m->sequential ? "/" : "", layer->name, v->path);
        lks__free(v->path);
        v->path = path;
    }
    return LKS_OK;
}

/* A nested model that was never given a name takes the one it gets here, so that two of them differ in their weights' paths (and with
 * these in their initial values). */
static lks_status adopt_name(lks_layer *layer)
{
    lks_model *inner = layer->model;
    size_t old = strlen(inner->name);
    char *name;

    if (!inner->auto_named || strcmp(inner->name, layer->name) == 0) return LKS_OK;
    for (size_t i = 0; inner->sequential && i < inner->n_layers; i++)
        for (size_t k = 0; k < inner->layers[i]->n_weights; k++) {
            lks_variable *v = inner->layers[i]->weights[k];
            size_t size = strlen(v->path) + strlen(layer->name) + 1;
            char *path;
            if (strncmp(v->path, inner->name, old) != 0 || v->path[old] != '/') continue;
            path = lks__malloc(size);
            if (path == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a weight's path");
            snprintf(path, size, "%s%s", layer->name, v->path + old);
            lks__free(v->path);
            v->path = path;
            inner->layers[i]->info[k].initialized = false;
        }
    name = lks__strdup(layer->name);
    if (name == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a model's name");
    lks__free(inner->name);
    inner->name = name;
    return lks_model_iterations(inner) == 0 ? lks__model_initialize(inner) : LKS_OK;
}

static lks_status check_unique(const lks_model *m, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(m->layers[k]->name, m->layers[i]->name) == 0)
            return lks__fail(LKS_E_ARG, "model '%s': two layers are named '%s'; names must differ", m->name,
                             m->layers[i]->name);
    return LKS_OK;
}

lks_status lks__name_layers(lks_model *m)
{
    for (size_t i = 0; i < m->n_layers; i++)
        if (m->layers[i]->name == NULL) LKS_TRY(auto_name(m, m->layers[i]));
    for (size_t i = 0; i < m->n_layers; i++) {
        LKS_TRY(check_unique(m, i));
        if (m->layers[i]->model != NULL) LKS_TRY(adopt_name(m->layers[i]));
        LKS_TRY(name_weights(m, m->layers[i]));
    }
    return LKS_OK;
}

lks_status lks__model_initialize(lks_model *m)
{
    for (size_t i = 0; i < m->n_layers; i++) LKS_TRY(lks__layer_initialize(m->layers[i], m->seed));
    return LKS_OK;
}
