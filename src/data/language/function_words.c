/* function_words.c - functions by their words: a word alone, {"fn": word, ...} with arguments, or a list, which is a chain. */
#include <string.h>

#include "data/function.h"
#include "language.h"
#include "lockstep/dataset_distribute.h"
#include "lockstep/image_functions.h"

enum { MOST_CHAINED = 32 };

/* ---- files ---- */

static lks_spec *lines_spec(const lks_map_context *context, const lks_spec *in, void *user)
{
    (void)context, (void)in, (void)user;
    return lks_spec_dataset(lks_spec_tensor(LKS_STRING, (lks_shape){ .rank = 0 }));
}

/* Elements are file names; our strings end with a zero byte. */
static lks_status lines_apply(const lks_map_context *context, lks_element *in, lks_element *out, void *user)
{
    const lks_bytes *name = lks_tensor_cdata(lks_element_tensor(in, 0));

    (void)context;
    return lks_element_set_dataset(out, 0,
                                   user != NULL ? lks_tfrecord(1, &name->data) : lks_text_lines(1, &name->data));
}

static int tfrecord_mark;
static const lks_map_fn read_lines = { .struct_size = sizeof read_lines,
                                       .name = "read_text_lines",
                                       .output_spec = lines_spec,
                                       .apply = lines_apply,
                                       .flags = LKS_FN_PURE | LKS_FN_OPENS_FILES },
                        read_records = { .struct_size = sizeof read_records,
                                         .name = "read_tfrecord",
                                         .output_spec = lines_spec,
                                         .apply = lines_apply,
                                         .flags = LKS_FN_PURE | LKS_FN_OPENS_FILES,
                                         .user = &tfrecord_mark };

/* ---- pictures ---- */

static int64_t height(const lks_call *c)
{
    return lks__call_int(c, "height", 0);
}

static int64_t width(const lks_call *c)
{
    return lks__call_int(c, "width", 0);
}

static const lks_map_fn *decode(const lks_call *c)
{
    return lks_fn_decode_image(.channels = lks__call_int(c, "channels", 0), .ratio = lks__call_int(c, "ratio", 0),
                               .at_least_height = lks__call_int(c, "at_least_height", 0),
                               .at_least_width = lks__call_int(c, "at_least_width", 0),
                               .fancy_upscaling = lks__call_truth(c, "fancy_upscaling"),
                               .dct_method = lks__call_text(c, "dct_method"));
}

static const lks_map_fn *resize(const lks_call *c)
{
    const lks_resize_options o = { .struct_size = sizeof o,
                                   .method = lks__call_text(c, "method"),
                                   .antialias = lks__call_truth(c, "antialias"),
                                   .preserve_aspect_ratio = lks__call_truth(c, "preserve_aspect_ratio"),
                                   .crop_to_aspect_ratio = lks__call_truth(c, "crop_to_aspect_ratio"),
                                   .pad_to_aspect_ratio = lks__call_truth(c, "pad_to_aspect_ratio") };

    return strcmp(c->word, "resize") == 0 ? lks_fn_resize_with(height(c), width(c), &o)
                                          : lks_fn_resize_with_pad_with(height(c), width(c), &o);
}

enum { CROP_OR_PAD, CENTER_CROP, RANDOM_CROP, LEFT_RIGHT, UP_DOWN, TO_GREY, TO_RGB, STANDARDIZE, READ_FILE };

static const lks_map_fn *sized(const lks_call *c)
{
    if (c->tag == CROP_OR_PAD) return lks_fn_resize_with_crop_or_pad(height(c), width(c));
    return c->tag == CENTER_CROP ? lks_fn_center_crop(height(c), width(c)) : lks_fn_random_crop(height(c), width(c));
}

static const lks_map_fn *bare(const lks_call *c)
{
    switch (c->tag) {
    case LEFT_RIGHT: return lks_fn_flip_left_right();
    case UP_DOWN: return lks_fn_flip_up_down();
    case TO_GREY: return lks_fn_rgb_to_grayscale();
    case TO_RGB: return lks_fn_grayscale_to_rgb();
    case STANDARDIZE: return lks_fn_standardize();
    default: return lks_fn_read_file();
    }
}

enum {
    BRIGHTNESS,
    CONTRAST,
    SATURATION,
    HUE,
    RANDOM_BRIGHTNESS,
    RANDOM_HUE,
    RANDOM_CONTRAST,
    RANDOM_SATURATION,
    CENTRAL
};

static const lks_map_fn *colour(const lks_call *c)
{
    double delta = lks__call_number(c, "delta", 0), factor = lks__call_number(c, "factor", 1);
    double lower = lks__call_number(c, "lower", 0), upper = lks__call_number(c, "upper", 0);

    switch (c->tag) {
    case BRIGHTNESS: return lks_fn_adjust_brightness(delta);
    case CONTRAST: return lks_fn_adjust_contrast(factor);
    case SATURATION: return lks_fn_adjust_saturation(factor);
    case HUE: return lks_fn_adjust_hue(delta);
    case RANDOM_BRIGHTNESS: return lks_fn_random_brightness(lks__call_number(c, "max_delta", 0));
    case RANDOM_HUE: return lks_fn_random_hue(lks__call_number(c, "max_delta", 0));
    case RANDOM_CONTRAST: return lks_fn_random_contrast(lower, upper);
    case RANDOM_SATURATION: return lks_fn_random_saturation(lower, upper);
    default: return lks_fn_central_crop(lks__call_number(c, "fraction", 1));
    }
}

static const lks_map_fn *rotation(const lks_call *c)
{
    if (strcmp(c->word, "rot90") == 0) return lks_fn_rot90(lks__call_int(c, "times", 1));
    return lks_fn_random_rotation(lks__call_number(c, "factor", 0), .fill_mode = lks__call_text(c, "fill_mode"),
                                  .interpolation = lks__call_text(c, "interpolation"),
                                  .fill_value = lks__call_number(c, "fill_value", 0));
}

static const lks_map_fn *moded(const lks_call *c)
{
    const char *mode = lks__call_text(c, "mode");

    if (strcmp(c->word, "preprocess") == 0) return lks_fn_preprocess(mode != NULL ? mode : "tf");
    return lks_fn_random_flip(mode != NULL ? mode : "horizontal");
}

/* ---- numbers ---- */

static const lks_map_fn *cast(const lks_call *c)
{
    lks_dtype dtype = lks__call_dtype(lks__call_value(c, "dtype"));

    return dtype == 0 ? NULL : lks_fn_cast(dtype);
}

static const lks_map_fn *decode_raw(const lks_call *c)
{
    lks_dtype dtype = lks__call_dtype(lks__call_value(c, "dtype"));
    lks_shape shape = { .rank = -1 };

    if (dtype == 0) return NULL;
    if (lks__call_value(c, "shape") != NULL) shape.rank = (int64_t)lks__call_ints(c, "shape", shape.dim, LKS_MAX_RANK);
    return lks_fn_decode_raw(dtype, shape);
}

static const lks_map_fn *arithmetic(const lks_call *c)
{
    if (strcmp(c->word, "rescale") == 0)
        return lks_fn_rescale(lks__call_number(c, "scale", 1), lks__call_number(c, "offset", 0));
    if (strcmp(c->word, "one_hot") == 0) return lks_fn_one_hot(lks__call_int(c, "depth", 0));
    return lks_fn_expand_dims(lks__call_int(c, "axis", -1));
}

static const lks_map_fn *plain(const lks_call *c)
{
    if (strcmp(c->word, "cast_rescale") == 0) return lks_cast_rescale;
    if (strcmp(c->word, "cast_rescale_onehot") == 0) return lks_cast_rescale_onehot;
    return strcmp(c->word, "read_tfrecord") == 0 ? &read_records : &read_lines;
}

#define DECODE "component:i channels:i ratio:i at_least_height:i at_least_width:i fancy_upscaling:b dct_method:s"
#define RESIZE                                                                                          \
    "component:i height:i width:i method:s antialias:b preserve_aspect_ratio:b crop_to_aspect_ratio:b " \
    "pad_to_aspect_ratio:b"

const lks_word lks__function_words[] = {
    { "add", "arg:i", NULL, lks__number_function, 0 },
    { "adjust_brightness", "component:i delta:n", NULL, colour, BRIGHTNESS },
    { "adjust_contrast", "component:i factor:n", NULL, colour, CONTRAST },
    { "adjust_hue", "component:i delta:n", NULL, colour, HUE },
    { "adjust_saturation", "component:i factor:n", NULL, colour, SATURATION },
    { "batch_all", "arg:i", NULL, lks__number_function, 0 },
    { "batch_window", "arg:i", NULL, lks__number_function, 0 },
    { "cast", "component:i dtype:s", NULL, cast, 0 },
    { "cast_rescale", "", NULL, plain, 0 },
    { "cast_rescale_onehot", "", NULL, plain, 0 },
    { "center_crop", "component:i height:i width:i", NULL, sized, CENTER_CROP },
    { "central_crop", "component:i fraction:n", NULL, colour, CENTRAL },
    { "decode_image", DECODE, NULL, decode, 0 },
    { "decode_jpeg", DECODE, NULL, decode, 0 },
    { "decode_png", DECODE, NULL, decode, 0 },
    { "decode_raw", "component:i dtype:s shape:l", NULL, decode_raw, 0 },
    { "double", "", NULL, lks__number_function, 0 },
    { "expand_dims", "component:i axis:i", NULL, arithmetic, 0 },
    { "fail_on", "arg:i", NULL, lks__number_function, 0 },
    { "flip_left_right", "component:i", NULL, bare, LEFT_RIGHT },
    { "flip_up_down", "component:i", NULL, bare, UP_DOWN },
    { "grayscale_to_rgb", "component:i", NULL, bare, TO_RGB },
    { "is_even", "", NULL, lks__number_function, 0 },
    { "length", "", NULL, lks__number_function, 0 },
    { "less", "arg:i", NULL, lks__number_function, 0 },
    { "mod", "arg:i", NULL, lks__number_function, 0 },
    { "one_hot", "component:i depth:i", NULL, arithmetic, 0 },
    { "parse_example", "features:v", NULL, lks__parse_function, 0 },
    { "parse_sequence_example", "context:v sequence:v", NULL, lks__parse_function, 0 },
    { "preprocess", "component:i mode:s", NULL, moded, 0 },
    { "random_brightness", "component:i max_delta:n", NULL, colour, RANDOM_BRIGHTNESS },
    { "random_contrast", "component:i lower:n upper:n", NULL, colour, RANDOM_CONTRAST },
    { "random_crop", "component:i height:i width:i", NULL, sized, RANDOM_CROP },
    { "random_flip", "component:i mode:s", NULL, moded, 0 },
    { "random_hue", "component:i max_delta:n", NULL, colour, RANDOM_HUE },
    { "random_rotation", "component:i factor:n fill_mode:s interpolation:s fill_value:n", NULL, rotation, 0 },
    { "random_saturation", "component:i lower:n upper:n", NULL, colour, RANDOM_SATURATION },
    { "range_of", "", NULL, lks__number_function, 0 },
    { "read_file", "component:i", NULL, bare, READ_FILE },
    { "read_text_lines", "", NULL, plain, 0 },
    { "read_tfrecord", "", NULL, plain, 0 },
    { "repeated", "arg:i", NULL, lks__number_function, 0 },
    { "rescale", "component:i scale:n offset:n", NULL, arithmetic, 0 },
    { "resize", RESIZE, NULL, resize, 0 },
    { "resize_with_crop_or_pad", "component:i height:i width:i", NULL, sized, CROP_OR_PAD },
    { "resize_with_pad", RESIZE, NULL, resize, 0 },
    { "rgb_to_grayscale", "component:i", NULL, bare, TO_GREY },
    { "rot90", "component:i times:i", NULL, rotation, 0 },
    { "running_sum", "", NULL, lks__number_function, 0 },
    { "square", "", NULL, lks__number_function, 0 },
    { "standardize", "component:i", NULL, bare, STANDARDIZE },
    { NULL, NULL, NULL, NULL, 0 },
};

/* ---- finding them ---- */

/* The program's own, by the callback of the options. */
static bool is_own(const lks_call *c, lks_map_fn *out)
{
    return c->language->o.function != NULL && c->language->o.function(c->word, out, c->language->o.user) != 0;
}

static const lks_map_fn *library_function(lks_call *c)
{
    const lks_word *w = lks__word_find(lks__function_words, c->word, "function");
    const lks_map_fn *fn;

    if (w == NULL || (json_is_object(c->json) && lks__call_check(c, w, "fn") != LKS_OK)) return NULL;
    c->tag = w->tag;
    fn = w->function(c);
    if (fn == NULL) lks__context(lks__error_code(), "\"%s\"", c->word);
    return fn != NULL && lks__call_value(c, "component") != NULL ? lks_fn_on(lks__call_int(c, "component", 0), fn) : fn;
}

static bool name_of(lks_call *c, const json_t *json)
{
    c->json = json;
    c->word = json_is_string(json) ? json_string_value(json) : json_string_value(json_object_get(json, "fn"));
    if (c->word == NULL) lks__fail(LKS_E_NOTFOUND, "a function is a word, or an object with \"fn\"");
    return c->word != NULL;
}

static void drop(const lks_map_fn *f)
{
    if (f->release != NULL) f->release(f->user);
}

static const lks_map_fn *chain(lks_call *c, const json_t *list)
{
    const lks_map_fn *part[MOST_CHAINED];
    size_t n = json_array_size(list), i = 0;

    if (n == 0 || n > MOST_CHAINED) {
        lks__fail(LKS_E_ARG, "a chain has 1 to %d functions", (int)MOST_CHAINED);
        return NULL;
    }
    for (; i < n; i++) {
        part[i] = name_of(c, json_array_get(list, i)) ? library_function(c) : NULL;
        if (part[i] == NULL) break;
    }
    if (i == n) return lks_fn_chain_n(n, part);
    while (i-- > 0) drop(part[i]);
    return NULL;
}

bool lks__call_function(const lks_call *c, const char *key, lks_map_fn *out)
{
    const json_t *json = lks__call_value(c, key);
    lks_call f = { c->language, json, NULL, 0 };
    const lks_map_fn *fn;

    if (json == NULL) {
        lks__fail(LKS_E_NOTFOUND, "\"%s\" needs the function \"%s\"", c->word, key);
        return false;
    }
    if (json_is_array(json)) {
        fn = chain(&f, json);
    } else {
        if (!name_of(&f, json)) return false;
        if (is_own(&f, out)) return true;
        fn = library_function(&f);
    }
    if (fn != NULL) *out = *fn;
    return fn != NULL;
}
