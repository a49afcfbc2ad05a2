/* clone.c - nodes of a recipe over other inputs. The clone's fields are a copy of the original's bytes, and the original, which it
 * keeps alive, owns what they point to. */
#include "clone.h"

#include <string.h>

lks_dataset *lks__dataset_clone(lks_dataset *of, lks_dataset *const *inputs, int64_t cardinality)
{
    lks_dataset *ds = lks__dataset_begin(of->stage, of->n_inputs, inputs);
    size_t head = sizeof *ds;

    if (!lks__dataset_ok(ds)) return ds;
    memcpy((char *)ds + head, (const char *)of + head, of->stage->dataset_size - head);
    ds->original = lks_dataset_retain(of);
    ds->number = of->number;
    ds->cardinality = cardinality;
    lks_spec_release(ds->spec);
    ds->spec = lks_spec_retain(of->spec);
    return ds;
}
