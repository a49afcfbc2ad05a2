/* fuzz_weights.c - any bytes as a weights file. Most of this is HDF5's own code, which is not ours to repair: a finding
 * inside libhdf5 is recorded and reported there. */
#include <stddef.h>
#include <stdint.h>

#include "files/job.h"
#include "files/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lks_weights w = { 0 };

    lks__file_job_here();
    if (lks__weights_read_h5(data, size, "fuzz", &w) == LKS_OK) lks__weights_free(&w);
    return 0;
}
