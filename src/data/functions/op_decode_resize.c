/* op_decode_resize.c - decoding and the resizing behind it as one: rows go from the decoder into the result, and the
 * picture is never held as a whole. Decoders that have no rows to give (see files/image.h) decode as ever, and the
 * resizing runs behind them. */
#include "op.h"

typedef struct resizing {
    lks_image_rows rows;
    const lks_op *op;
    lks_op_call *call;
    lks_view *out;
    lks_row_resizer resizer;
    bool began;
} resizing;

static lks_status begin(lks_image_rows *rows, int64_t height, int64_t width)
{
    resizing *r = (resizing *)rows;
    lks_row_resize sizes = lks__op_resize_part(r->op, height, width);
    lks_shape shape = { 3, { sizes.to_height, sizes.to_width, 3 } };
    float *to = lks__op_room(r->call, LKS_FLOAT32, &shape, r->out);

    if (to == NULL) return lks__error_code();
    r->began = true;
    return lks__row_resizer_init(&r->resizer, &sizes, to, r->call->work);
}

static unsigned char *place(lks_image_rows *rows, int64_t y)
{
    return lks__row_resizer_place(&((resizing *)rows)->resizer, y);
}

static void arrived(lks_image_rows *rows, int64_t y)
{
    lks__row_resizer_arrived(&((resizing *)rows)->resizer, y);
}

bool lks__op_takes_rows(const lks_op *below, const lks_op *above)
{
    return below->class == &lks__op_decode && lks__op_resizes_rows(above) &&
           (below->decode.dtype == 0 || below->decode.dtype == LKS_UINT8);
}

lks_status lks__op_decode_resize(const lks_op *below, lks_op_call *call_below, const lks_op *above,
                                 lks_op_call *call_above, const lks_view *in, lks_view *out, bool *both)
{
    resizing r = { .rows = { begin, place, arrived }, .op = above, .call = call_above, .out = out };
    lks_status status = lks__op_decode_rows(below, call_below, in, out, &r.rows);

    *both = r.began;
    return status;
}
