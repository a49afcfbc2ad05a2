/* targets.c - what a model is to answer: one-hot rows, class numbers, the arrays as they are, or its own input. Said with
 * --targets, or seen from the model's output, its loss and the answers in the data. */
#include <string.h>

#include "program.h"

static bool is_integer(const lks_tensor *t)
{
    lks_dtype d = lks_tensor_dtype(t);

    return d == LKS_UINT8 || d == LKS_INT32 || d == LKS_INT64 || d == LKS_INT8 || d == LKS_INT16 || d == LKS_UINT16 ||
           d == LKS_UINT32 || d == LKS_UINT64;
}

/* Rows of the data have the shape that the model puts out. */
static bool same_rows(const lks_tensor *t, const lks_shape *output)
{
    lks_shape s = lks_tensor_shape(t);

    if (s.rank != output->rank) return false;
    for (int64_t i = 1; i < s.rank; i++)
        if (s.dim[i] != output->dim[i]) return false;
    return true;
}

static bool are_classes(const lks_tensor *y)
{
    lks_shape s = lks_tensor_shape(y);

    return is_integer(y) && (s.rank == 1 || (s.rank == 2 && s.dim[1] == 1));
}

static cli_targets guess(const cli_program *p, const cli_set *set, const lks_shape *output)
{
    bool classes = set->y != NULL && are_classes(set->y), several = output->rank == 2 && output->dim[1] > 1;

    if (set->y != NULL && !set->pixels && same_rows(set->y, output)) return CLI_AS_GIVEN;
    if (output->rank > 2 && same_rows(set->x, output)) return CLI_INPUT;
    if (!classes || !several) return CLI_AS_GIVEN;
    return lks_model_takes_classes(p->model, 0) ? CLI_INTEGER : CLI_ONE_HOT;
}

static int read_word(const char *command, const char *word, cli_targets *out)
{
    static const char *const words[] = { "one-hot", "integer", "input", NULL };
    static const cli_targets values[] = { CLI_ONE_HOT, CLI_INTEGER, CLI_INPUT };

    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0) {
            *out = values[i];
            return CLI_OK;
        }
    return cli_usage(command, "--targets is one-hot, integer or input, not \"%s\"%s", word,
                     cli_suggestion(word, words));
}

static int64_t label_at(const lks_tensor *int64_labels, int64_t i)
{
    return ((const int64_t *)lks_tensor_cdata(int64_labels))[i];
}

/* Class numbers as float32 rows, once for the whole array. */
static int make_one_hot(cli_set *set)
{
    int64_t n = cli_set_size(set), k = set->classes;
    lks_tensor *labels = lks_tensor_cast(set->y, LKS_INT64), *hot = lks_tensor_create(LKS_FLOAT32, lks_shape(n, k));
    int code = labels != NULL && hot != NULL ? CLI_OK : cli_library_failed();

    for (int64_t i = 0; code == CLI_OK && i < n; i++) {
        int64_t label = label_at(labels, i);
        if (label < 0 || label >= k)
            code = cli_fail("label %lld of example %lld does not lie in [0, %lld), the classes that the model knows",
                            (long long)label, (long long)i, (long long)k);
        else ((float *)lks_tensor_data(hot))[i * k + label] = 1.0f;
    }
    lks_tensor_release(labels);
    if (code != CLI_OK) {
        lks_tensor_release(hot);
        return code;
    }
    lks_tensor_release(set->y);
    set->y = hot;
    set->targets = CLI_AS_GIVEN;
    return CLI_OK;
}

static int make_int32(cli_set *set)
{
    lks_tensor *labels = lks_tensor_cast(set->y, LKS_INT32);

    if (labels == NULL) return cli_library_failed();
    lks_tensor_release(set->y);
    set->y = labels;
    return CLI_OK;
}

int cli_settle_targets(const char *command, const cli_options *o, const cli_program *p, cli_set *set)
{
    lks_shape output = lks_model_output_shape(p->model, 0);
    int code = CLI_OK;

    set->targets = guess(p, set, &output);
    if (o->targets != NULL) code = read_word(command, o->targets, &set->targets);
    if (code != CLI_OK) return code;
    if (set->targets == CLI_INPUT && !same_rows(set->x, &output))
        return cli_fail(
            "--targets input needs a model that puts out what goes in; this one's output has another shape");
    if (set->targets == CLI_ONE_HOT || set->targets == CLI_INTEGER) {
        if (set->y == NULL || !are_classes(set->y))
            return cli_fail("--targets %s needs class numbers in the data",
                            set->targets == CLI_ONE_HOT ? "one-hot" : "integer");
        set->classes = output.rank >= 1 ? output.dim[output.rank - 1] : 0;
        if (set->targets == CLI_INTEGER) return make_int32(set);
        return set->pixels ? CLI_OK : make_one_hot(set);
    }
    return CLI_OK;
}
