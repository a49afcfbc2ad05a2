/* runs_summaries.c - lks_summary_text against what Keras printed, character for character. */
#include <stdio.h>
#include <string.h>

#include "runs.h"

static lks_model *cnn(void)
{
    lks_node in = lks_input(lks_shape(28, 28, 1)), x;

    x = lks_conv2d(in, .filters = 8, .kernel_size = { 3, 3 }, .padding = "same", .activation = "relu");
    x = lks_flatten(x);
    return lks_model_create(in, lks_dense(x, .units = 10, .activation = "softmax"));
}

static lks_layer *conv(const char *name, int64_t filters)
{
    return lks_conv2d_layer(.name = name, .filters = filters, .kernel_size = { 3, 3 }, .strides = { 2, 2 },
                            .padding = "same", .activation = "relu");
}

static lks_layer *transposed(int64_t filters)
{
    return lks_conv2d_transpose_layer(.filters = filters, .kernel_size = { 3, 3 }, .strides = { 2, 2 },
                                      .padding = "same", .activation = "relu");
}

static lks_model *encoder(void)
{
    lks_model *m = lks_sequential(.name = "encoder", .input_shape = { 28, 28, 1 });

    lks_sequential_add(m, conv("conv2d_4", 16));
    lks_sequential_add(m, conv("conv2d_5", 8));
    return m;
}

static lks_model *autoencoder(void)
{
    lks_node in = lks_input(lks_shape(28, 28, 1), .name = "input_layer_1"), out;
    lks_model *first = encoder(), *second = lks_sequential(.name = "decoder", .input_shape = { 7, 7, 8 });

    lks_sequential_add(second, transposed(8));
    lks_sequential_add(second, transposed(16));
    lks_sequential_add(
        second, lks_conv2d_layer(.filters = 1, .kernel_size = { 3, 3 }, .padding = "same", .activation = "sigmoid"));
    out = lks_model_call(second, lks_model_call(first, in));
    lks_model_release(first);
    lks_model_release(second);
    return lks_model_create(in, out, .name = "autoencoder");
}

static const struct {
    const char *name;
    lks_model *(*make)(void);
    const char *missing;
} models[] = {
    { "cnn", cnn, NULL },
    { "autoencoder", autoencoder, NULL },
    { "encoder", encoder, NULL },
    { "text", NULL, "layer LSTM" },
    { "cnn compiled and built, show_trainable, expand_nested", NULL, "summary option show_trainable" },
};

/* Blank lines at the end do not count. */
static bool same_text(const char *got, const char *want)
{
    size_t n = strlen(got), m = strlen(want);

    while (n > 0 && got[n - 1] == '\n') n--;
    while (m > 0 && want[m - 1] == '\n') m--;
    return n == m && memcmp(got, want, n) == 0;
}

static void check(golden_run *run, size_t k, const char *want)
{
    lks_model *model;
    char *got = NULL;

    if (models[k].make == NULL) {
        golden_not_yet(run->report, "%s", models[k].missing);
        return;
    }
    model = models[k].make();
    if (golden_ok(run->report, lks_summary_text(model, 0, &got), "summary") && !same_text(got, want)) {
        golden_fault(run->report, "printed\n%s\nexpected\n%s", got, want);
    }
    lks_free(got);
    lks_model_release(model);
}

void golden_runs_summaries(golden_run *run)
{
    json_t *item;
    char name[GOLDEN_NAME];
    size_t i, k;

    json_array_foreach(json_object_get(run->json, "cases"), i, item)
    {
        snprintf(name, sizeof name, "summary of %s", golden_text(item, "name"));
        if (!golden_begin(run->report, name)) continue;
        for (k = 0; k < sizeof models / sizeof *models; k++) {
            if (strcmp(models[k].name, golden_text(item, "name")) == 0) break;
        }
        if (k < sizeof models / sizeof *models) check(run, k, golden_text(item, "text"));
        else golden_not_yet(run->report, "the model of this summary");
        golden_end(run->report);
    }
}
