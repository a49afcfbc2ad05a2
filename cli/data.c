/* data.c - "--data": mnist or fashion_mnist (uint8 pictures, class numbers), images:DIR (images.c),
 * npz:FILE (arrays as they are) or random:N. Pictures stay bytes in memory
 * and become float32 a batch at a time in the input pipeline, four times less memory than converted ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static int read_mnist(const cli_options *o, bool fashion, const char *split, cli_set *out)
{
    const char *source = NULL;
    lks_status status = fashion ? lks_fashion_mnist_arrays(split, &out->x, &out->y, &source)
                                : lks_mnist_arrays(split, &out->x, &out->y, &source);

    if (status != LKS_OK) return cli_library_failed();
    if (o->verbose > 0 && source != NULL) cli_say("%s (%s): %s\n", o->data, split, source);
    out->pixels = true;
    return CLI_OK;
}

static int read_npz(const char *path, const char *split, cli_set *out)
{
    char key[16];

    snprintf(key, sizeof key, "x_%s", split);
    if (lks_read_npz(path, key, &out->x) != LKS_OK) return cli_library_failed();
    snprintf(key, sizeof key, "y_%s", split);
    switch (lks_read_npz(path, key, &out->y)) {
    case LKS_OK:
    case LKS_E_NOTFOUND: break; /* fine for predict, and where the input is the answer */
    default: return cli_library_failed();
    }
    if (out->y != NULL && lks_tensor_shape(out->x).dim[0] != lks_tensor_shape(out->y).dim[0])
        return cli_fail("%s: x_%s has %lld rows, y_%s has %lld; both need one row an example", path, split,
                        (long long)lks_tensor_shape(out->x).dim[0], split, (long long)lks_tensor_shape(out->y).dim[0]);
    return CLI_OK;
}

/* "random" alone: one batch. */
static int read_random(const char *command, const cli_options *o, const cli_program *p, cli_set *out)
{
    char *end = NULL;
    long long n = o->data[6] == ':' ? strtoll(o->data + 7, &end, 10) : p->batch_size;

    if (n < 1 || n > INT32_MAX || (end != NULL && (*end != '\0' || end == o->data + 7)))
        return cli_usage(command, "--data random:N takes a number of examples, not \"%s\"", o->data + 7);
    return cli_random_data(p, n, out);
}

static int read_data(const char *command, const cli_options *o, const cli_program *p, const char *split, cli_set *out)
{
    static const char *const words[] = { "mnist", "fashion_mnist", "images:", "npz:", "random:", NULL };

    if (o->data == NULL) return cli_usage(command, "%s needs --data: mnist, images:DIR or npz:FILE", command);
    if (strcmp(o->data, "random") == 0 || strncmp(o->data, "random:", 7) == 0) return read_random(command, o, p, out);
    if (strcmp(o->data, "mnist") == 0) return read_mnist(o, false, split, out);
    if (strcmp(o->data, "fashion_mnist") == 0) return read_mnist(o, true, split, out);
    if (strncmp(o->data, "images:", 7) == 0) return cli_read_images(command, o, p, split, out);
    if (strncmp(o->data, "npz:", 4) == 0) return read_npz(o->data + 4, split, out);
    return cli_usage(command, "--data is mnist, fashion_mnist, images:DIR, npz:FILE or random:N, not \"%s\"%s", o->data,
                     cli_suggestion(o->data, words));
}

/* The first n rows of *t, in place. */
static int cut(lks_tensor **t, int64_t begin, int64_t end)
{
    lks_tensor *rows = lks_tensor_rows(*t, begin, end);

    if (rows == NULL) return cli_library_failed();
    lks_tensor_release(*t);
    *t = rows;
    return CLI_OK;
}

static int limit_rows(int64_t n, cli_set *set)
{
    int code = CLI_OK;

    if (n <= 0 || n >= cli_set_size(set)) return CLI_OK;
    code = cut(&set->x, 0, n);
    if (code == CLI_OK && set->y != NULL) code = cut(&set->y, 0, n);
    return code;
}

/* Pictures without a channel axis get one where the model has it: (N, 28, 28) for (28, 28, 1). */
static int add_channel(const cli_program *p, cli_set *set)
{
    lks_shape have = lks_tensor_shape(set->x), want = lks_model_input_shape(p->model, 0);
    lks_tensor *x;

    if (want.rank != have.rank + 1 || want.dim[want.rank - 1] != 1) return CLI_OK;
    have.dim[have.rank++] = 1;
    x = lks_tensor_reshape(set->x, have);
    if (x == NULL) return cli_library_failed();
    lks_tensor_release(set->x);
    set->x = x;
    return CLI_OK;
}

int cli_open_set(const char *command, const cli_options *o, const cli_program *p, const char *split, cli_set *out)
{
    cli_set set = { NULL, NULL, false, CLI_AS_GIVEN, 0 };
    int code = read_data(command, o, p, split, &set);

    if (code == CLI_OK && lks_tensor_shape(set.x).rank < 1)
        code = cli_fail("x_%s is a scalar, not a list of examples", split);
    if (code == CLI_OK) code = limit_rows(o->limit, &set);
    if (code == CLI_OK) code = add_channel(p, &set);
    if (code == CLI_OK) code = cli_settle_targets(command, o, p, &set);
    if (code != CLI_OK) {
        cli_close_set(&set);
        return code;
    }
    *out = set;
    return CLI_OK;
}

void cli_close_set(cli_set *set)
{
    lks_tensor_release(set->x);
    lks_tensor_release(set->y);
    set->x = set->y = NULL;
}

int64_t cli_set_size(const cli_set *set)
{
    return lks_tensor_shape(set->x).dim[0];
}

int cli_split_set(cli_set *set, double share, cli_set *tail)
{
    int64_t n = cli_set_size(set), k = (int64_t)((double)n * (1.0 - share));
    int code;

    if (k < 1 || k >= n)
        return cli_fail("--validation-split %g leaves no examples to %s (there are %lld)", share,
                        k < 1 ? "train on" : "validate on", (long long)n);
    *tail = *set;
    lks_tensor_retain(tail->x);
    lks_tensor_retain(tail->y);
    code = cut(&set->x, 0, k);
    if (code == CLI_OK) code = cut(&tail->x, k, n);
    if (code == CLI_OK && set->y != NULL) code = cut(&set->y, 0, k);
    if (code == CLI_OK && tail->y != NULL) code = cut(&tail->y, k, n);
    if (code != CLI_OK) cli_close_set(tail);
    return code;
}
