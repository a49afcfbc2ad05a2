/* os_error.h - internal. The operating system's words for an errno value, safe between threads. */
#ifndef LKS_FILES_OS_ERROR_H
#define LKS_FILES_OS_ERROR_H

const char *lks__os_error(int error); /* valid until this thread's next call */

#endif
