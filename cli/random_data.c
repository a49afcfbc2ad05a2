/* random_data.c - "--data random:N": N examples of the model's input shape and answers that fit its output. For measuring speed and
 * trying a model out: pictures of one channel are bytes, other inputs float32 in [-1, 1), classes and yes-or-no answers in turn.
 */
#include <stdlib.h>
#include <string.h>

#include "program.h"

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void fill(lks_tensor *t)
{
    uint64_t state = 1;
    const int64_t n = lks_tensor_size(t);

    if (lks_tensor_dtype(t) == LKS_UINT8) {
        unsigned char *to = lks_tensor_data(t);
        for (int64_t i = 0; i < n; i++) to[i] = (unsigned char)draw(&state);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        ((float *)lks_tensor_data(t))[i] = (float)(draw(&state) >> 8) / 4194304.0f - 1.0f; /* 23 bits */
}

/* The model's shape with n in front; false if the model leaves a size open. */
static bool with_rows(lks_shape *shape, int64_t n)
{
    if (shape->rank < 1) return false;
    shape->dim[0] = n;
    for (int64_t i = 1; i < shape->rank; i++)
        if (shape->dim[i] < 0) return false;
    return true;
}

static lks_tensor *answers(lks_shape shape)
{
    const int64_t n = shape.dim[0], width = shape.rank == 2 ? shape.dim[1] : 0;
    lks_tensor *y = width > 1 ? lks_tensor_create(LKS_INT64, lks_shape(n)) : lks_tensor_create(LKS_FLOAT32, shape);

    if (y == NULL) return NULL;
    for (int64_t i = 0; width > 1 && i < n; i++) ((int64_t *)lks_tensor_data(y))[i] = i % width;
    for (int64_t i = 0; width == 1 && i < n; i++) ((float *)lks_tensor_data(y))[i] = (float)(i % 2);
    if (width == 0) fill(y);
    return y;
}

int cli_random_data(const cli_program *p, int64_t n, cli_set *out)
{
    lks_shape in = lks_model_input_shape(p->model, 0), result = lks_model_output_shape(p->model, 0);

    if (!with_rows(&in, n) || !with_rows(&result, n))
        return cli_fail("--data random needs a model whose sizes are all known");
    out->pixels = in.rank == 4 && in.dim[3] == 1;
    out->x = lks_tensor_create(out->pixels ? LKS_UINT8 : LKS_FLOAT32, in);
    if (out->x != NULL) fill(out->x);
    if (out->x != NULL && !(result.rank > 2 && lks_shape_equal(&in, &result))) {
        out->y = answers(result);
        if (out->y == NULL) return cli_library_failed();
    }
    return out->x != NULL ? CLI_OK : cli_library_failed();
}
