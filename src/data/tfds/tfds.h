/* tfds.h - internal. Folders as TensorFlow Datasets writes them: which files a split has, what its Examples hold, and how that
 * becomes elements. */
#ifndef LKS_DATA_TFDS_TFDS_H
#define LKS_DATA_TFDS_TFDS_H

#include "base/text.h"
#include "data/stage.h"
#include "files/json.h"
#include "lockstep/records.h"
#include "lockstep/sources.h"

typedef struct lks_tfds_folder {
    char *path; /* with the two JSON files in it */
    json_t *info, *features;
} lks_tfds_folder;

/* Finds the version and reads both files. Free also after a failure. */
lks_status lks__tfds_open(const char *folder, lks_tfds_folder *out);
void lks__tfds_close(lks_tfds_folder *f);

/* One part of a split expression: its files, which records of them. */
typedef struct lks_tfds_part {
    char **file;
    int64_t *length; /* records of each */
    size_t n;
    int64_t begin, end; /* records of all files together */
} lks_tfds_part;

/* "train[10%:20%]"; the text ends at `n`. */
lks_status lks__tfds_split(const lks_tfds_folder *f, const char *text, size_t n, lks_tfds_part *out);
void lks__tfds_part_free(lks_tfds_part *p);

/* ---- features ---- */

typedef enum lks_tfds_kind {
    LKS_TFDS_SAME,  /* as it was parsed */
    LKS_TFDS_CAST,  /* int64 or float32 lists of another dtype */
    LKS_TFDS_IMAGE, /* encoded bytes */
    LKS_TFDS_RAW,   /* a tensor's bytes */
    LKS_TFDS_ZLIB   /* the same, compressed */
} lks_tfds_kind;

typedef struct lks_tfds_leaf {
    char *key; /* in the Example: names joined by '/' */
    lks_tfds_kind kind;
    lks_dtype dtype;
    lks_shape shape;
    int64_t classes;
    size_t column; /* in what parse_example gives */
} lks_tfds_leaf;

/* What features.json says, in the order of the element's components. */
typedef struct lks_tfds_layout {
    lks_tfds_leaf *leaf;
    size_t n, room;
    lks_spec *spec; /* nested dicts, or the supervised tuple */
} lks_tfds_layout;

lks_status lks__tfds_layout(const lks_tfds_folder *f, bool decode_images, bool supervised, lks_tfds_layout *out);
void lks__tfds_layout_free(lks_tfds_layout *l);

#endif
