/* map_join.c - consecutive maps of the library's functions run as one: no elements are made and nothing waits between them. Each keeps its own
 * name, pass and seed, so results, failures and saved states are what they are apart. */
#include "data/functions/op.h"
#include "data/records/example.h"
#include "data/stages.h"
#include "map.h"

static bool joins(const lks_map_dataset *below, const lks_map_dataset *above, int *ops)
{
    return below->base.stage == &lks__stage_map && below->base.error == NULL && below->parallel == above->parallel &&
           below->deterministic == above->deterministic && (below->f.fn.flags & LKS_FN_PURE) &&
           lks__op_joins(&below->f.fn, &above->f.fn, ops);
}

/* Maps below that run as one with this: no elements are made between them. Returns what the lowest one reads. */
static lks_dataset *join_below(lks_map_cursor *m)
{
    lks_map_dataset *d = (lks_map_dataset *)m->base.dataset, *found[LKS_MOST_JOINED] = { d };
    int n = 1, ops = 0;

    for (lks_map_dataset *below = (lks_map_dataset *)d->base.input[0];
         n < LKS_MOST_JOINED && &below->base != m->base.place.bypass && (d->f.fn.flags & LKS_FN_PURE) &&
         joins(below, found[n - 1], &ops);
         below = (lks_map_dataset *)below->base.input[0])
        found[n++] = below;
    for (int i = 0; i < n; i++) {
        lks_map_dataset *one = found[n - 1 - i];
        m->joined[i] = (lks_joined_fn){ &one->f, one->base.spec,
                                        one == d ? m->epoch : atomic_fetch_add(&one->passes, 1) };
    }
    m->n_joined = n;
    if (!lks__op_begins_with_file(&m->joined[0].f->fn, &m->file)) m->file = -1;
    return found[n - 1]->base.input[0];
}

/* What lies below the joined maps is opened in place of the input. */
lks_status lks__map_open_below(lks_map_cursor *m, lks_cursor_place place)
{
    lks_dataset *below = join_below(m);

    m->base.input = lks__calloc(1, sizeof *m->base.input);
    if (m->base.input == NULL) return lks__cursor_fail(&m->base, LKS_E_NOMEM, "no memory for the input");
    place.placer = NULL;
    if (m->n_joined == 1) m->rows_of = lks__parses_rows(&m->joined[0].f->fn, below->spec);
    return lks__cursor_open(below, place, m->base.input);
}
