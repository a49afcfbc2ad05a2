/* error_file.h - internal. The file that this thread's error is about, for those who count failures by file. It travels with
 * the text: lks_error carries it in the last bytes of its buffer, behind the sentence. */
#ifndef LKS_BASE_ERROR_FILE_H
#define LKS_BASE_ERROR_FILE_H

#include "error.h"

enum { LKS_ERROR_FILE = 128 };

/* Set behind the lks__fail that it belongs to; long names keep their end. */
void lks__error_set_file(const char *path);
/* "" if the error is about none. */
const char *lks__error_file(void);

#endif
