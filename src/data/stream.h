/* stream.h - internal. TensorFlow's use of Philox for shuffle, random and sample_from_datasets (spec 2.18): a stream of 32-bit
 * words from two seeds, addressed by the number of the word, so that its state is one counter. */
#ifndef LKS_DATA_STREAM_H
#define LKS_DATA_STREAM_H

#include "base/philox.h"

typedef struct lks_tf_stream {
    uint64_t seed[2];
    uint64_t position; /* words given so far */
    lks_philox_block block;
} lks_tf_stream;

static inline uint32_t lks__tf_stream_next(lks_tf_stream *s)
{
    if (s->position % 4 == 0) {
        uint64_t b = s->position / 4;
        uint32_t counter[4] = { (uint32_t)b, (uint32_t)(b >> 32), (uint32_t)s->seed[1], (uint32_t)(s->seed[1] >> 32) };
        s->block = lks__philox(s->seed[0], counter);
    }
    return s->block.word[s->position++ % 4];
}

/* Goes to any word. */
static inline void lks__tf_stream_seek(lks_tf_stream *s, uint64_t position)
{
    s->position = position - position % 4;
    while (s->position < position) lks__tf_stream_next(s);
}

#endif
