/* feed.c - a set as what fit and evaluate take: arrays, or the first tutorial's pipeline of pictures. */
#include "program.h"

/* (x) -> (x, x): the answer of an autoencoder is its input. Nothing is copied. */
static lks_spec *twin_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    const lks_spec *x = lks_spec_leaf(in, 0);

    (void)context, (void)user;
    return lks_spec_tuple_of(lks_spec_retain(x), lks_spec_retain(x));
}

static lks_status twin(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    lks_tensor *x = lks_element_tensor(in, 0);
    lks_status status = lks_element_set(out, 0, x);

    (void)context, (void)user;
    return status == LKS_OK ? lks_element_set(out, 1, x) : status;
}

static const lks_map_fn input_is_target[1] = { { .struct_size = sizeof(lks_map_fn),
                                                 .name = "input_is_target",
                                                 .output_spec = twin_spec,
                                                 .apply = twin,
                                                 .flags = LKS_FN_PURE } };

static lks_dataset *slices(const cli_set *set)
{
    if (set->targets == CLI_INPUT || set->y == NULL) return lks_from_tensor_slices(set->x);
    return lks_from_tensor_slices(set->x, set->y);
}

static lks_dataset *prepare(const cli_set *set, lks_dataset *data)
{
    if (set->targets == CLI_ONE_HOT)
        return lks_map(data, lks_cast_rescale_onehot, .depth = set->classes, .num_parallel_calls = LKS_AUTOTUNE);
    data = lks_map(data, lks_cast_rescale, .num_parallel_calls = LKS_AUTOTUNE);
    return set->targets == CLI_INPUT ? lks_map(data, input_is_target) : data;
}

lks_dataset *cli_set_pipeline(const cli_set *set, int64_t batch_size, int64_t epochs, int64_t seed)
{
    lks_dataset *data = prepare(set, slices(set));

    data = lks_shuffle(data, 256, .seed = seed);
    data = lks_batch(data, batch_size);
    data = lks_repeat(data, epochs);
    return lks_prefetch(data, LKS_AUTOTUNE);
}

lks_arrays cli_set_arrays(const cli_set *set)
{
    bool input = set->targets == CLI_INPUT;
    double divisor = set->pixels ? 255.0 : 0.0;

    return (lks_arrays){ .x = set->x,
                         .y = input ? set->x : set->y,
                         .x_divisor = divisor,
                         .y_divisor = input ? divisor : 0.0,
                         .y_one_hot = set->pixels && set->targets == CLI_ONE_HOT ? set->classes : 0 };
}
