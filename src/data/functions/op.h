/* op.h - internal. The library's element functions: small operations on one component, run one after another by one map function.
 *
 * An op is a class and its numbers. A class tells the result's dtype and shape from the input's (also with unknown sizes)
 * and fills it; op.c finds the memory: the element's own tensor for the last op on a component, scratch before that.
 */
#ifndef LKS_DATA_FUNCTIONS_OP_H
#define LKS_DATA_FUNCTIONS_OP_H

#include "data/functions/resize.h"
#include "data/stage.h"
#include "files/image.h"
#include "lockstep/image_functions.h"

enum { LKS_OP_FUNCTION = 16, LKS_OP_LEAVES = 32, LKS_OP_TEXT = 96 }; /* kind of these functions; components; a name */

typedef struct lks_op lks_op;
typedef struct lks_op_call lks_op_call;

/* A component on its way through a chain. Strings: data is an array of lks_bytes. */
typedef struct lks_view {
    lks_dtype dtype;
    lks_shape shape;
    const void *data;
} lks_view;

typedef struct lks_op_class {
    const char *name;
    bool per_image; /* run is called for each picture of a batch, with three axes */
    bool random;
    /* From the input's dtype and shape to the output's, in place; also refuses inputs. Unknown sizes are -1. */
    lks_status (*shape)(const lks_op *op, lks_dtype *dtype, lks_shape *shape);
    /* Fills out (of that shape). */
    lks_status (*run)(const lks_op *op, lks_op_call *call, const lks_view *in, const lks_view *out, void *data);
    /* Instead of run, where the shape is known only then: takes room with lks__op_room. */
    lks_status (*make)(const lks_op *op, lks_op_call *call, const lks_view *in, lks_view *out);
} lks_op_class;

struct lks_op {
    const lks_op_class *class;
    int64_t component;
    int64_t n[4];
    double x[4];
    lks_dtype dtype;
    lks_shape shape;
    lks_resize_method method;
    bool antialias, flag[3];
    lks_decode_options decode;
    lks_status refused; /* with text: what is wrong with the arguments */
    char text[LKS_OP_TEXT];
};

struct lks_op_call {
    const lks_map_context *context;
    lks_element *out;
    int64_t component, depth; /* of one-hot rows */
    bool last;                /* the result of this op is the element's component */
    uint32_t number, image;   /* of the op in its chain, of the picture in its batch: what random draws differ by */
    lks_scratch *result;      /* this op's, where it is not the last */
    lks_scratch *work, *more; /* shared by all ops of a thread: nothing in them outlives the op */
    lks_bytes bytes;          /* the result of read_file */
};

/* Room for the op's result and the view of it; NULL on failure. */
void *lks__op_room(lks_op_call *call, lks_dtype dtype, const lks_shape *shape, lks_view *out);
/* Number i drawn for this picture, in [0, 1). */
float lks__op_draw(const lks_op_call *call, int i);

/* A function of this one op. The printf text is its name with all that decides what it does. */
const lks_map_fn *lks__op_function(const lks_op *op, const char *fmt, ...) LKS_PRINTF(2, 3);
/* A number for that: as few digits as give it back, in every locale. */
enum { LKS_OP_NUMBER = 40 };
const char *lks__op_number(double v, char buffer[LKS_OP_NUMBER]);
/* One that is refused with this thread's last error. */
const lks_map_fn *lks__op_refused(const char *name);

/* ---- the functions of consecutive maps as one ---- */
typedef struct lks_op_part {
    const lks_map_fn *fn;
    lks_map_context context;
    const lks_spec *spec; /* of the elements behind it */
} lks_op_part;
/* Runs them from in to out; *failed: whose op the status is from. */
lks_status lks__op_parts(const lks_op_part *part, size_t n, lks_element *in, lks_element *out, size_t *failed);
/* The function begins with reading the file that component *component names. */
bool lks__op_begins_with_file(const lks_map_fn *fn, int64_t *component);
/* Both are the library's, and `above` can go on where `below` ends. *ops: of `above` and all that it was joined with (0: of it alone);
 * `below`'s are added. */
bool lks__op_joins(const lks_map_fn *below, const lks_map_fn *above, int *ops);

/* LKS_E_SHAPE unless a picture or a batch of them; *at: the axis of the height. */
lks_status lks__op_picture(const lks_op *op, lks_dtype dtype, const lks_shape *shape, int64_t *at);
/* A picture (three axes) as pixels. */
lks_pixels lks__view_pixels(const lks_view *v);

/* ---- decoding and resizing as one (op_decode_resize.c) ---- */

/* Decodes; a decoder that has rows to give gives them to `rows` (may be NULL), and out stays as it is. */
lks_status lks__op_decode_rows(const lks_op *op, lks_op_call *call, const lks_view *in, lks_view *out,
                               lks_image_rows *rows);
/* This resizing needs two rows at a time; and what it takes of a picture of height x width. */
bool lks__op_resizes_rows(const lks_op *op);
lks_row_resize lks__op_resize_part(const lks_op *op, int64_t height, int64_t width);
/* `below` decodes and `above` makes smaller what it gives, both on one component: they may run as one. */
bool lks__op_takes_rows(const lks_op *below, const lks_op *above);
/* *both: the rows were resized while they were decoded, and out is what `above` gives. Else `above` is still to run. */
lks_status lks__op_decode_resize(const lks_op *below, lks_op_call *call_below, const lks_op *above,
                                 lks_op_call *call_above, const lks_view *in, lks_view *out, bool *both);

extern const lks_op_class lks__op_read_file, lks__op_decode, lks__op_one_hot, lks__op_resize;

#endif
