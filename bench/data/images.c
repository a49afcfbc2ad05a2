/* images.c - how fast a folder of pictures becomes batches: images DIR [SIZE [PASSES]]. A pass is the folder four
 * times over; the median of the passes is printed, the first does not count. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "lockstep.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Pictures of one pass; -1 after a message. */
static long pass(lks_dataset *ds)
{
    lks_iter *it = NULL;
    lks_element *e;
    lks_status status = lks_iter_create(ds, &it);
    long n = 0;

    while (status == LKS_OK && (status = lks_iter_next(it, &e)) == LKS_OK) {
        n += (long)lks_tensor_shape(lks_element_tensor(e, 0)).dim[0];
        lks_element_release(e);
    }
    lks_iter_release(it);
    if (status == LKS_END) return n;
    fprintf(stderr, "%s\n", lks_last_error());
    return -1;
}

static int measure(const char *what, lks_dataset *ds, int passes)
{
    enum { MOST = 100 };
    double rate[MOST], busy = 0;
    struct rusage usage;
    int n = passes < MOST ? passes : MOST;

    for (int i = -1; i < n; i++) {
        double begin = now(), used = cpu(), seconds;
        long images = pass(ds);
        if (images < 0) return 1;
        seconds = now() - begin;
        if (i < 0) continue;
        rate[i] = (double)images / seconds;
        busy += (cpu() - used) / seconds / n;
    }
    qsort(rate, (size_t)n, sizeof *rate, by_size);
    getrusage(RUSAGE_SELF, &usage);
    printf("%-10s %8.0f images/s (best %.0f), %.2f cores busy, peak memory %.0f MB\n", what, rate[n / 2], rate[n - 1],
           busy, (double)usage.ru_maxrss / 1024);
    return 0;
}

int main(int argc, char **argv)
{
    int64_t size = argc > 2 ? atoi(argv[2]) : 160;
    int passes = argc > 3 ? atoi(argv[3]) : 7, failed = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: images DIR [SIZE [PASSES]]\n");
        return 2;
    }
    for (int reduced = 0; reduced < 2; reduced++) {
        lks_dataset *ds = lks_image_dataset_from_directory(argv[1], .height = size, .width = size, .shuffle = LKS_FALSE,
                                                           .reduced_jpeg = reduced ? LKS_TRUE : LKS_FALSE);
        ds = lks_repeat(ds, 4);
        failed = measure(reduced ? "reduced" : "full", ds, passes) || failed;
        lks_dataset_release(ds);
    }
    return failed;
}
