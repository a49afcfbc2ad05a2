/* image_folder_plan.h - internal. Which files a folder of pictures gives, with which labels, in which order. */
#ifndef LKS_DATA_SOURCES_IMAGE_FOLDER_PLAN_H
#define LKS_DATA_SOURCES_IMAGE_FOLDER_PLAN_H

#include "image_walk.h"
#include "lockstep/image_folder.h"

typedef enum lks_label_kind { LKS_NO_LABELS, LKS_INT_LABELS, LKS_BINARY_LABELS, LKS_CATEGORICAL_LABELS } lks_label_kind;

typedef struct lks_folder_plan {
    lks_image_folder_options o;
    lks_label_kind kind;
    int64_t channels, batch, seed;
    bool inferred, shuffle;
    lks_name_list classes, files; /* files in their final order */
    int64_t *label;               /* one a file; NULL: none */
    size_t label_room;
} lks_folder_plan;

/* Checks the options, walks the directory, permutes. */
lks_status lks__folder_plan(const char *directory, const lks_image_folder_options *options, lks_folder_plan *out);
void lks__folder_plan_free(lks_folder_plan *p);
/* The files [begin, end) of a subset; without a split, all are training files. */
void lks__folder_plan_part(const lks_folder_plan *p, bool validation, size_t *begin, size_t *end);

#endif
