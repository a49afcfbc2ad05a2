/* schedule.c - learning-rate schedules by spec. */
#include "layers/weights.h"

lks_status lks__schedule_to_json(const char *spec, json_t **out)
{
    (void)out;
    return lks__fail(LKS_E_UNSUPPORTED, "the learning-rate schedule \"%.60s\" is not available yet", spec);
}
