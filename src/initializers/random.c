/* random.c - see rules.h: uniform and normal numbers from the counter-based generator.
 *
 * Element i owns the counter {i, attempt, 0, stream} (uniform: four elements share one block), so the values are the same
 * whatever the order of drawing. Logarithm and cosine are those of the library's own elementwise functions: initial
 * weights do not depend on the C library.
 */
#include <math.h>

#include "ops/elementwise.h"
#include "rules.h"

enum { BLOCK = LKS_EW_BLOCK };

void lks__draw_uniform(const lks_draw *d, float low, float high)
{
    float width = high - low;

    for (int64_t i = 0; i < d->n; i += 4) {
        const uint32_t counter[4] = { (uint32_t)(i / 4), (uint32_t)((uint64_t)(i / 4) >> 32), 0, d->stream };
        lks_philox_block block = lks__philox(d->key, counter);
        for (int64_t j = i; j < d->n && j < i + 4; j++) d->out[j] = low + width * lks__unit_float(block.word[j - i]);
    }
}

/* Box and Muller: n <= BLOCK numbers for elements first, first + 1, ... at the given attempt. */
static void normal_block(const lks_draw *d, int64_t first, int n, uint32_t attempt, float *out)
{
    float radius[BLOCK] = { 0 }, angle[BLOCK] = { 0 };

    for (int i = 0; i < n; i++) {
        uint64_t element = (uint64_t)(first + i);
        const uint32_t counter[4] = { (uint32_t)element, (uint32_t)(element >> 32), attempt, d->stream };
        lks_philox_block block = lks__philox(d->key, counter);
        radius[i] = 1.0f - lks__unit_float(block.word[0]); /* (0, 1] */
        angle[i] = 6.28318530717958648f * lks__unit_float(block.word[1]);
    }
    lks__ew_ref[LKS_EW_LOG](n, radius, radius, NULL, NULL);
    lks__ew_ref[LKS_EW_COS](n, angle, angle, NULL, NULL);
    for (int i = 0; i < n; i++) out[i] = sqrtf(-2.0f * radius[i]) * angle[i];
}

void lks__draw_normal(const lks_draw *d, int64_t n, float limit, float *out)
{
    for (int64_t first = 0; first < n; first += BLOCK) {
        int here = n - first < BLOCK ? (int)(n - first) : BLOCK;
        normal_block(d, first, here, 0, out + first);
        for (int i = 0; limit > 0 && i < here; i++) {
            for (uint32_t attempt = 1; fabsf(out[first + i]) > limit && attempt < 1000; attempt++) {
                normal_block(d, first + i, 1, attempt, out + first + i);
            }
        }
    }
}
