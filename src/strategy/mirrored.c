/* mirrored.c - MirroredStrategy: replicas in this process that hold the same weights and share every global batch. On CPUs a replica
 * is a contiguous run of virtual shards on threads of its own, so their number cannot show in the bits. */
#include <string.h>

#include "base/alloc.h"
#include "base/options.h"
#include "base/text.h"
#include "strategy.h"

static const lks_strategy_class mirrored_class = { "mirrored" };

static const char *const worlds[] = {
    [LKS_ANY_WORLD] = "any_world", [LKS_SAME_WORLD] = "same_world", [LKS_FASTEST] = "fastest"
};

enum { WORLDS = sizeof worlds / sizeof *worlds };

enum { MAX_REPLICAS = 256, MAX_SHARDS = 65536 };

const char *lks__reproducible_name(lks_reproducible r)
{
    return worlds[r];
}

static lks_status read_reproducible(const lks_mirrored_options *o, lks_reproducible *out)
{
    int w = 0;

    while (o->reproducible != NULL && w < WORLDS && !lks__same_word(o->reproducible, worlds[w])) w++;
    if (w == WORLDS)
        return lks__fail(LKS_E_ARG, "reproducible '%s' is none of any_world, same_world and fastest", o->reproducible);
    if (w != LKS_ANY_WORLD && o->virtual_shards > 0)
        return lks__fail(
            LKS_E_ARG,
            "virtual_shards %lld with reproducible '%s': shards are for 'any_world'; elsewhere each thread "
            "sums its examples, so leave virtual_shards out",
            (long long)o->virtual_shards, worlds[w]);
    *out = (lks_reproducible)w;
    return LKS_OK;
}

static lks_status check_options(const lks_mirrored_options *o)
{
    if (o->replicas < 0 || o->replicas > MAX_REPLICAS)
        return lks__fail(LKS_E_ARG, "replicas must be 1 to %d, got %lld", MAX_REPLICAS, (long long)o->replicas);
    if (o->virtual_shards < 0 || o->virtual_shards > MAX_SHARDS)
        return lks__fail(LKS_E_ARG, "virtual_shards must be 1 to %d, got %lld", MAX_SHARDS,
                         (long long)o->virtual_shards);
    if (o->virtual_shards > 0 && o->replicas > o->virtual_shards)
        return lks__fail(LKS_E_LIMIT,
                         "%lld replicas for %lld virtual shards: a replica owns at least one shard, so use fewer "
                         "replicas or more shards",
                         (long long)o->replicas, (long long)o->virtual_shards);
    if (o->devices != NULL && !lks__same_word(o->devices, "cpu"))
        return lks__fail(LKS_E_UNSUPPORTED, "devices '%s': this version has replicas on 'cpu' only", o->devices);
    return LKS_OK;
}

lks_strategy *lks_mirrored_with(const lks_mirrored_options *options)
{
    lks_mirrored_options o = { 0 };
    lks_strategy *s = lks__calloc(1, sizeof *s);
    lks_status status;

    if (s == NULL) {
        lks__fail(LKS_E_NOMEM, "no memory for a strategy");
        return NULL;
    }
    lks__options_copy(&o, sizeof o, options);
    atomic_init(&s->references, 1);
    s->class_ = &mirrored_class;
    s->replicas = 1;
    status = check_options(&o);
    if (status == LKS_OK) status = read_reproducible(&o, &s->reproducible);
    if (status != LKS_OK) {
        lks__error_capture(&s->error, lks__context(status, "lks_mirrored"));
        return s;
    }
    if (o.replicas > 0) s->replicas = (int)o.replicas;
    s->virtual_shards = (int)o.virtual_shards;
    return s;
}

int lks_num_replicas(const lks_strategy *strategy)
{
    return strategy != NULL && strategy->error.code == LKS_OK ? strategy->replicas : 1;
}

lks_strategy *lks_strategy_retain(lks_strategy *strategy)
{
    if (strategy != NULL) atomic_fetch_add(&strategy->references, 1);
    return strategy;
}

void lks_strategy_release(lks_strategy *strategy)
{
    if (strategy != NULL && atomic_fetch_sub(&strategy->references, 1) == 1) lks__free(strategy);
}
