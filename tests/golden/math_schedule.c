/* math_schedule.c - learning-rate schedules: the rate at each of the recorded steps. */
#include "math_kinds.h"
#include "program.h"
#include "schedules/schedule.h"

void golden_math_schedule(golden_case *c)
{
    lks_tensor *steps = golden_array(c, json_string_value(json_array_get(json_object_get(c->json, "inputs"), 0)));
    char *spec = NULL;
    golden_program p;
    lks_node s;
    int rate;

    if (steps == NULL ||
        !golden_ok(c->report, lks__spec_from_json(json_object_get(c->json, "config"), &spec), "config"))
        return;
    if (golden_program_init(&p, c, true)) {
        s = golden_feed(&p, steps, true);
        if (lks_node_dtype(s) != LKS_FLOAT32) s = lks_ops_cast(s, LKS_FLOAT32);
        rate = golden_fetch(&p, lks__schedule_apply(spec, s));
        if (golden_running(c->report) && golden_program_run(&p, 0)) {
            golden_expect(c, json_string_value(json_array_get(json_object_get(c->json, "outputs"), 0)),
                          golden_result(&p, rate));
        }
        golden_program_free(&p);
    }
    lks_free(spec);
}
