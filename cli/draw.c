/* draw.c - pictures of predictions: sixteen examples with prediction and truth, or eight rows "real, predicted". */
#include <stdio.h>
#include <string.h>

#include "program.h"

enum { DIGITS = 16, ROWS = 8 };

static int64_t argmax(const float *row, int64_t n)
{
    int64_t best = 0;

    for (int64_t i = 1; i < n; i++)
        if (row[i] > row[best]) best = i;
    return best;
}

lks_tensor *cli_classes(const lks_tensor *predictions)
{
    lks_shape s = lks_tensor_shape(predictions);
    const float *rows = lks_tensor_cdata(predictions);
    lks_tensor *out;
    int64_t *to;

    if (s.rank != 2 || s.dim[1] < 2 || lks_tensor_dtype(predictions) != LKS_FLOAT32) return NULL;
    out = lks_tensor_create(LKS_INT64, lks_shape(s.dim[0]));
    if (out == NULL) return NULL;
    to = lks_tensor_data(out);
    for (int64_t i = 0; i < s.dim[0]; i++) to[i] = argmax(rows + i * s.dim[1], s.dim[1]);
    return out;
}

static bool is_picture(const lks_tensor *t)
{
    lks_shape s = lks_tensor_shape(t);

    return s.rank == 3 || (s.rank == 4 && (s.dim[3] == 1 || s.dim[3] == 3 || s.dim[3] == 4));
}

/* The answers as class numbers, whichever way they are put; NULL if they are no classes. */
static lks_tensor *true_classes(const cli_set *set)
{
    if (set->y == NULL) return NULL;
    if (lks_tensor_shape(set->y).rank == 1) return lks_tensor_cast(set->y, LKS_INT64);
    return cli_classes(set->y);
}

static int draw_classes(const char *path, const cli_set *set, const lks_tensor *classes)
{
    const int64_t count = cli_set_size(set), n = count < DIGITS ? count : DIGITS;
    const int64_t *said = lks_tensor_cdata(classes);
    char texts[DIGITS][48];
    const char *captions[DIGITS];
    unsigned char wrong[DIGITS] = { 0 };
    lks_tensor *first = lks_tensor_rows(set->x, 0, n), *truth = true_classes(set);
    lks_status status = first != NULL ? LKS_OK : LKS_E_NOMEM;

    for (int64_t i = 0; i < n; i++) {
        int64_t is = truth != NULL ? ((const int64_t *)lks_tensor_cdata(truth))[i] : said[i];
        if (truth != NULL) snprintf(texts[i], sizeof texts[i], "says %lld, is %lld", (long long)said[i], (long long)is);
        else snprintf(texts[i], sizeof texts[i], "says %lld", (long long)said[i]);
        captions[i] = texts[i];
        wrong[i] = said[i] != is;
    }
    if (status == LKS_OK)
        status = lks_draw_grid(path, first, .columns = 4, .title = "Predictions", .captions = captions, .wrong = wrong);
    lks_tensor_release(first);
    lks_tensor_release(truth);
    return status == LKS_OK ? CLI_OK : cli_library_failed();
}

static int draw_pairs(const char *path, const cli_set *set, lks_tensor *predictions)
{
    static const char *const titles[] = { "Real", "Predicted" };
    const int64_t count = cli_set_size(set), n = count < ROWS ? count : ROWS;
    lks_tensor *real = lks_tensor_rows(set->x, 0, n), *predicted = lks_tensor_rows(predictions, 0, n);
    lks_status status = LKS_E_NOMEM;

    if (real != NULL && predicted != NULL)
        status = lks_draw_grid(path, real, .beside = predicted, .column_titles = titles);
    lks_tensor_release(real);
    lks_tensor_release(predicted);
    return status == LKS_OK ? CLI_OK : cli_library_failed();
}

int cli_draw_predictions(const char *path, const cli_set *set, lks_tensor *predictions)
{
    lks_shape a = lks_tensor_shape(set->x), b = lks_tensor_shape(predictions);
    lks_tensor *classes = cli_classes(predictions);
    int code;

    if (!is_picture(set->x))
        code = cli_fail(
            "--png draws pictures, (N, height, width) or (N, height, width, 1, 3 or 4); x_test is something else");
    else if (classes != NULL) code = draw_classes(path, set, classes);
    else if (lks_shape_equal(&a, &b)) code = draw_pairs(path, set, predictions);
    else
        code = cli_fail(
            "--png draws models that tell classes apart or put out pictures like their input; this one does neither");
    lks_tensor_release(classes);
    if (code == CLI_OK) cli_say("drew %s\n", path);
    return code;
}
