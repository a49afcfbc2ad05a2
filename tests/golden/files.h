/* files.h - the groups of the topic "files", one a folder; the topic's README says what stands in each. */
#ifndef LKS_TESTS_GOLDEN_FILES_H
#define LKS_TESTS_GOLDEN_FILES_H

#include "golden.h"
#include "lockstep/train.h"

typedef struct golden_folder {
    const char *path; /* of the group: ".../files/keras" */
    json_t *index;
    golden_report *report;
} golden_folder;

void golden_files_keras(golden_folder *f);
void golden_files_older(golden_folder *f);
void golden_files_hostile(golden_folder *f);
void golden_files_npy(golden_folder *f);
void golden_files_images(golden_folder *f);
void golden_files_tfrecord(golden_folder *f);
void golden_files_folder(golden_folder *f);
void golden_files_resize(golden_folder *f); /* resize.json beside the pictures */

/* What an archive must hold: weights w*, optimizer variables o*, predictions y* for x*, weights n* after one more step on
 * x*, t*. model NULL: lks_load failed. `where` names the npz file. */
void golden_check_archive(golden_report *r, const char *path, const char *values, bool one_more_step);

#endif
