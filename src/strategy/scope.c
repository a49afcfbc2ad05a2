/* scope.c - the per-thread stack of strategies in force. Entering the current one again only counts. */
#include "strategy.h"

enum { MAX_DEPTH = 64 };

static _Thread_local struct {
    lks_strategy *stack[MAX_DEPTH];
    int depth;
} scopes;

lks_strategy *lks__scope_current(void)
{
    int top = scopes.depth < MAX_DEPTH ? scopes.depth : MAX_DEPTH;

    return top > 0 ? scopes.stack[top - 1] : NULL;
}

void lks_scope_enter(lks_strategy *strategy)
{
    if (scopes.depth < MAX_DEPTH) scopes.stack[scopes.depth] = lks_strategy_retain(strategy);
    scopes.depth++;
}

void lks_scope_exit(lks_strategy *strategy)
{
    (void)strategy;
    if (scopes.depth == 0) return;
    scopes.depth--;
    if (scopes.depth < MAX_DEPTH) lks_strategy_release(scopes.stack[scopes.depth]);
}
