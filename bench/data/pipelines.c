/* pipelines.c - our side of bench/data/run: one pipeline, a pass at each word "go", in the talk of bench/peers.
 *
 *     pipelines parse FILE single|batch auto|serial     TFRecord of Examples to batches of parsed features
 *     pipelines images DIR [SIZE [reduced]]             a folder of pictures, four times over
 *     pipelines json FILE                               a pipeline in JSON
 *     pipelines load FILE...                            arrays from one npz file or from IDX files
 *     pipelines memcpy MEGABYTES                        what the machine copies
 *     pipelines spin THREADS                            what processor time the machine gives: threads that do nothing else
 *     pipelines write DIR                               makes table, image and floats.tfrecord
 *
 * Passes of less than 0.3 s are repeated; the figures are those of one.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "pipelines/examples.h"

enum { BATCH = 128 };

typedef struct work {
    lks_dataset *ds; /* NULL: another kind of work */
    char **file;     /* to load */
    int n_files;
    char *from, *to; /* to copy */
    size_t bytes;
    int spinning; /* threads that spin */
} work;

typedef struct tally {
    double elements, bytes; /* of a pass: elements along the first axis of batches */
} tally;

static double clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void count(const lks_element *e, tally *t)
{
    lks_shape shape;

    for (size_t i = 0; i < lks_element_count(e); i++) {
        const lks_tensor *x = lks_element_tensor(e, i);
        if (x != NULL) t->bytes += (double)lks_tensor_size(x) * (double)lks_dtype_size(lks_tensor_dtype(x));
    }
    shape = lks_tensor_shape(lks_element_tensor(e, 0));
    t->elements += shape.rank > 0 ? (double)shape.dim[0] : 1;
}

static int read_all(lks_dataset *ds, tally *t)
{
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status = lks_iter_create(ds, &it);

    while (status == LKS_OK && (status = lks_iter_next(it, &e)) == LKS_OK) {
        count(e, t);
        lks_element_release(e);
    }
    lks_iter_release(it);
    if (status == LKS_END) return 0;
    fprintf(stderr, "%s\n", lks_last_error());
    return 1;
}

static int load(const work *w, tally *t)
{
    size_t length = strlen(w->file[0]);
    bool npz = length > 4 && strcmp(w->file[0] + length - 4, ".npz") == 0;
    lks_dataset *ds = npz ? lks_npz(w->file[0], "x_train", "y_train")
                          : lks_idx_n((size_t)w->n_files, (const char *const *)w->file);
    int failed;

    t->bytes = 0;
    ds = lks_batch(ds, 1 << 20);
    failed = lks_dataset_status(ds) != LKS_OK;
    t->elements = 1;
    if (failed) fprintf(stderr, "%s\n", lks_last_error());
    lks_dataset_release(ds);
    return failed;
}

typedef struct spinner {
    pthread_t thread;
    int core;
    double until;
} spinner;

/* On a core of its own: what is measured is the machine, not how soon the system spreads threads. */
static void *spin(void *arg)
{
    const spinner *s = arg;
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(s->core, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    while (clock_s() < s->until) continue;
    return NULL;
}

/* One thread for each core that this process may use, up to n. */
static int spin_all(int n)
{
    spinner s[CPU_SETSIZE];
    double until = clock_s() + 0.3;
    cpu_set_t usable;
    int begun = 0;

    if (sched_getaffinity(0, sizeof usable, &usable) != 0) return 1;
    for (int core = 0; core < CPU_SETSIZE && begun < n; core++) {
        if (!CPU_ISSET(core, &usable)) continue;
        s[begun] = (spinner){ .core = core, .until = until };
        if (pthread_create(&s[begun].thread, NULL, spin, &s[begun]) != 0) break;
        begun++;
    }
    for (int i = 0; i < begun; i++) pthread_join(s[i].thread, NULL);
    return begun == n ? 0 : 1;
}

static int pass(const work *w, tally *t)
{
    *t = (tally){ 0, 0 };
    if (w->spinning > 0) return spin_all(w->spinning);
    if (w->ds != NULL) return read_all(w->ds, t);
    if (w->file != NULL) return load(w, t);
    memcpy(w->to, w->from, w->bytes);
    *t = (tally){ 1, (double)w->bytes };
    return 0;
}

static int timed(const work *w)
{
    double begin = clock_s(), cpu = cpu_s(), seconds;
    tally t;
    int n = 0;

    do {
        if (pass(w, &t) != 0) return 1;
        n++;
        seconds = clock_s() - begin;
    } while (seconds < 0.3);
    printf("{\"seconds\": %.6f, \"cpu_s\": %.6f, \"elements\": %.0f, \"bytes\": %.0f}\n", seconds / n,
           (cpu_s() - cpu) / n, t.elements, t.bytes);
    return 0;
}

static int serve(const work *w)
{
    struct rusage usage;
    char line[32];
    int failed = timed(w); /* warms up, and says that it is ready */

    fflush(stdout);
    while (failed == 0 && fgets(line, sizeof line, stdin) != NULL && strncmp(line, "go", 2) == 0) {
        failed = timed(w);
        fflush(stdout);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"peak_rss_mb\": %.1f}\n", (double)usage.ru_maxrss / 1024);
    return failed;
}

static lks_dataset *parse(const char *file, const char *mode, int64_t parallel)
{
    lks_dataset *ds = lks_tfrecord(1, &file);

    if (strcmp(mode, "batch") == 0)
        ds = lks_map(lks_batch(ds, BATCH), lks_parse_example(features_of(file)), .num_parallel_calls = parallel);
    else ds = lks_batch(lks_map(ds, lks_parse_example(features_of(file)), .num_parallel_calls = parallel), BATCH);
    return parallel != 0 ? lks_prefetch(ds, LKS_AUTOTUNE) : ds;
}

static lks_dataset *images(const char *folder, int64_t size, bool reduced)
{
    lks_dataset *ds = lks_image_dataset_from_directory(folder, .height = size, .width = size, .shuffle = LKS_FALSE,
                                                       .reduced_jpeg = reduced ? LKS_TRUE : LKS_FALSE);

    return lks_repeat(ds, 4);
}

static lks_dataset *from_json(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "r");
    size_t n = f == NULL ? 0 : fread(text, 1, sizeof text - 1, f);

    if (f != NULL) fclose(f);
    text[n] = '\0';
    return lks_dataset_from_json(text);
}

static work prepare(int argc, char **argv)
{
    work w = { .n_files = argc - 2, .file = NULL };

    if (strcmp(argv[1], "parse") == 0 && argc == 5)
        w.ds = parse(argv[2], argv[3], strcmp(argv[4], "auto") == 0 ? LKS_AUTOTUNE : 0);
    else if (strcmp(argv[1], "images") == 0) w.ds = images(argv[2], argc > 3 ? atoi(argv[3]) : 160, argc > 4);
    else if (strcmp(argv[1], "json") == 0) w.ds = from_json(argv[2]);
    else if (strcmp(argv[1], "load") == 0) w.file = argv + 2;
    else if (strcmp(argv[1], "spin") == 0) w.spinning = atoi(argv[2]);
    else if (strcmp(argv[1], "memcpy") == 0 && atoi(argv[2]) > 0) {
        w.bytes = (size_t)atoi(argv[2]) << 20;
        w.from = calloc(1, w.bytes);
        w.to = calloc(1, w.bytes);
    }
    return w;
}

int main(int argc, char **argv)
{
    work w;
    int failed = 2;

    if (argc == 3 && strcmp(argv[1], "write") == 0) return write_examples(argv[2]);
    w = argc > 2 ? prepare(argc, argv) : (work){ NULL };
    if (w.ds != NULL || w.file != NULL || w.spinning > 0 || (w.from != NULL && w.to != NULL)) failed = serve(&w);
    else fprintf(stderr, "usage: pipelines parse|images|json|load|memcpy|spin|write ...\n");
    lks_dataset_release(w.ds);
    free(w.from);
    free(w.to);
    return failed;
}
