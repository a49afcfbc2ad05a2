/* examples.h - the TFRecord files of bench/data. */
#ifndef BENCH_DATA_EXAMPLES_H
#define BENCH_DATA_EXAMPLES_H

#include "lockstep.h"

/* Makes table.tfrecord (14 small features), image.tfrecord (some 12 KB of bytes and a label) and floats.tfrecord (784 floats, a label,
 * a list) in the folder; nonzero after a message. */
int write_examples(const char *folder);
/* What to read of such a file. */
lks_features *features_of(const char *file);

#endif
