/* job.h - internal. Work on files runs on a thread of ours with a large stack: HDF5 and jansson are deep, and the caller
 * may have 64 KiB. */
#ifndef LKS_FILES_JOB_H
#define LKS_FILES_JOB_H

#include "base/error.h"

typedef lks_status (*lks_job_fn)(void *user);

/* Runs fn(user) to its end on such a thread and passes on its status and error text. Within a job it is a plain call.
 * Warnings of the job reach the hook on that thread while the caller waits. */
lks_status lks__file_job(lks_job_fn fn, void *user);

/* For programs of ours whose main thread has a large stack (the fuzz targets): jobs run on this thread from now on. */
void lks__file_job_here(void);

#endif
