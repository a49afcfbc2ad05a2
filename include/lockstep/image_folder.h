/* image_folder.h - image_dataset_from_directory: a folder with one subfolder a class as a dataset of batches.
 *
 * Files, order, split and labels are Keras' for the same arguments and seed. Pictures are float32 from 0 to 255, not rescaled.
 */
#ifndef LOCKSTEP_IMAGE_FOLDER_H
#define LOCKSTEP_IMAGE_FOLDER_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lks_image_folder_options {
    size_t struct_size;
    const char *labels; /* "inferred" (default): subfolders are classes; "none": every picture below the directory */
    const int64_t *label_list; /* instead: one label a file, in the order of the sorted walk; n_labels of them */
    int64_t n_labels;
    const char *label_mode; /* "int" (default): int32 (b,); "binary": float32 (b, 1), two classes; "categorical":
                                   float32 (b, classes); "none": no labels */
    int64_t n_class_names;  /* a choice of subfolders, in this order; default: all, sorted by their bytes */
    const char *const *class_names;
    const char *color_mode;    /* "rgb" (default), "rgba", "grayscale": 3, 4, 1 channels */
    int64_t batch_size;        /* default 32; LKS_ZERO_INT: single pictures */
    int64_t height, width;     /* default 256 */
    lks_tristate shuffle;      /* default true: files are permuted once by `seed`, then anew in every pass */
    int64_t seed;              /* must be given where shuffled data are split (LKS_ZERO_INT is 0) */
    double validation_split;   /* 0 to 1: the last so many of the (permuted) files are the validation subset */
    const char *subset;        /* "training" or "validation", with validation_split */
    const char *interpolation; /* as lks_resize_options.method; nearest gives uint8 */
    lks_tristate follow_links; /* to directories; default false */
    lks_tristate crop_to_aspect_ratio, pad_to_aspect_ratio; /* as lks_resize_options */
    lks_tristate
        reduced_jpeg; /* default false. True: JPEGs are decoded at the smallest of 1/1, 1/2, 1/4, 1/8 that is not
                                   below the wanted size: faster, the larger the pictures the more; pixels a little different */
    lks_tristate check_files;   /* default true: the first bytes of every file are looked at now, and files that are no
                                   pictures are named. False: each fails when its turn comes */
    int64_t num_parallel_calls; /* pictures decoded at once; default LKS_AUTOTUNE */
} lks_image_folder_options;

/* (pictures, labels) in batches, or pictures alone; the directory is walked now, pictures are read as they are needed. Names that
 * begin with "._" (side files of macOS) are passed over. */
LKS_API lks_dataset *lks_image_dataset_from_directory_with(const char *directory,
                                                           const lks_image_folder_options *options);
/* Both subsets of validation_split, which must be given (subset must not); the caller owns both. The validation subset keeps its
 * order. */
LKS_API lks_status lks_image_datasets_from_directory_with(const char *directory, lks_dataset **training,
                                                          lks_dataset **validation,
                                                          const lks_image_folder_options *options);

/* What such a dataset knows, also through the stages above it; 0 and NULL for other datasets. Borrowed. */
LKS_API int64_t lks_dataset_class_count(const lks_dataset *dataset);
LKS_API const char *lks_dataset_class_name(const lks_dataset *dataset, int64_t i);
LKS_API int64_t lks_dataset_file_count(const lks_dataset *dataset);
LKS_API const char *lks_dataset_file_path(const lks_dataset *dataset, int64_t i);

#ifndef __cplusplus
/* lks_image_dataset_from_directory("flowers", .height = 160, .width = 160, .validation_split = 0.2, .subset = "training", .seed = 1) */
#define lks_image_dataset_from_directory(...) \
    LKS_CALL1(lks_image_dataset_from_directory_with, lks_image_folder_options, __VA_ARGS__, )
#define lks_image_datasets_from_directory(...) \
    LKS_FOLDER_CALL3(lks_image_datasets_from_directory_with, lks_image_folder_options, __VA_ARGS__, )
#define LKS_FOLDER_CALL3(fn, type, a, b, c, ...) fn(a, b, c, &(const type){ .struct_size = sizeof(type), __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif
#endif
