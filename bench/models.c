/* models.c - writes the models that bench/peers trains and that no builtin is: MobileNetV2 with one logit, all of it trained
 * (mobilenet.json), and a frozen base with the second tutorial's head (frozen.json).
 *
 * usage: models FOLDER
 */
#include <stdio.h>
#include <string.h>

#include "lockstep.h"

static lks_model *one_logit(int frozen)
{
    lks_model *base = lks_mobilenet_v2(.input_shape = { 160, 160, 3 }, .include_top = LKS_FALSE), *model;
    lks_node x;

    if (frozen && lks_model_set_trainable(base, NULL, 0) != LKS_OK) return NULL;
    x = lks_global_average_pooling2d(lks_model_output(base, 0));
    if (frozen) x = lks_dropout(lks_dense(x, .units = 512, .activation = "relu"), .rate = 0.5);
    model = lks_model_create(lks_model_input(base, 0), lks_dense(x, .units = 1),
                             .name = frozen ? "frozen" : "mobilenet");
    lks_model_release(base);
    return model;
}

static int failed(const char *what)
{
    fprintf(stderr, "models: %s: %s\n", what, lks_last_error());
    return 1;
}

static int write_json(const char *folder, int frozen)
{
    lks_model *model = one_logit(frozen);
    char path[4096], *text = NULL;
    FILE *file;
    int bad = 0;

    if (model == NULL ||
        lks_compile(model, .optimizer = "adam", .loss = "binary_crossentropy:from_logits=true") != LKS_OK ||
        lks_model_to_json(model, &text) != LKS_OK)
        bad = failed("no model");
    snprintf(path, sizeof path, "%s/%s.json", folder, frozen ? "frozen" : "mobilenet");
    file = bad ? NULL : fopen(path, "w");
    if (!bad && file == NULL) bad = failed(path);
    if (file != NULL && (fwrite(text, 1, strlen(text), file) != strlen(text)) | (fclose(file) != 0)) bad = failed(path);
    lks_free(text);
    lks_model_release(model);
    return bad;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: models FOLDER\n");
        return 2;
    }
    return write_json(argv[1], 0) || write_json(argv[1], 1);
}
