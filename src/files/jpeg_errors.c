/* jpeg_errors.c - see jpeg_errors.h. */
#ifdef LKS_HAVE_LIBJPEG
#include "jpeg_errors.h"

static void on_error(j_common_ptr cinfo)
{
    lks_jpeg_errors *e = (lks_jpeg_errors *)cinfo->err;

    cinfo->err->format_message(cinfo, e->message);
    longjmp(e->back, 1);
}

static void on_message(j_common_ptr cinfo, int level)
{
    (void)cinfo, (void)level;
}

static void on_output(j_common_ptr cinfo)
{
    (void)cinfo;
}

struct jpeg_error_mgr *lks__jpeg_errors_init(lks_jpeg_errors *e)
{
    struct jpeg_error_mgr *manager = jpeg_std_error(&e->manager);

    manager->error_exit = on_error;
    manager->emit_message = on_message;
    manager->output_message = on_output;
    return manager;
}
#else
typedef int lks_no_jpeg_errors; /* a file of C holds something */
#endif
