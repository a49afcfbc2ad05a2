/* jpeg_errors.h - internal to jpeg*.c. How libjpeg's errors come back: it leaves by longjmp to `back` and prints nothing. */
#ifndef LKS_FILES_JPEG_ERRORS_H
#define LKS_FILES_JPEG_ERRORS_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct lks_jpeg_errors {
    struct jpeg_error_mgr manager; /* first: libjpeg knows only this part */
    jmp_buf back;
    char message[JMSG_LENGTH_MAX]; /* after a jump: what was wrong; manager.msg_code is its number */
} lks_jpeg_errors;

/* What goes into cinfo.err before cinfo is created. */
struct jpeg_error_mgr *lks__jpeg_errors_init(lks_jpeg_errors *e);

#endif
