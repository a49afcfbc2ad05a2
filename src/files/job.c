/* job.c - see job.h. One thread a job: it costs some tens of microseconds, and nothing is left behind. The thread takes
 * no signals, so a host's handlers never run on it. */
#include "job.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "os_error.h"

enum { STACK_BYTES = 8 << 20 };

typedef struct job {
    lks_job_fn fn;
    void *user;
    lks_status status;
    lks_error error;
} job;

static _Thread_local int inside;

static void *run(void *arg)
{
    job *j = arg;

    inside = 1;
    fesetenv(FE_DFL_ENV);
    j->status = j->fn(j->user);
    lks__error_capture(&j->error, j->status);
    return NULL;
}

static int start(job *j, pthread_t *thread)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int failed;

    failed = pthread_attr_init(&attr);
    if (failed) return failed;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = pthread_create(thread, &attr, run, j);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return failed;
}

lks_status lks__file_job(lks_job_fn fn, void *user)
{
    job j = { .fn = fn, .user = user };
    pthread_t thread;
    int failed;

    if (inside) return fn(user);
    failed = start(&j, &thread);
    if (failed) return lks__fail(LKS_E_NOMEM, "cannot start a thread to work on files: %s", lks__os_error(failed));
    pthread_join(thread, NULL);
    return j.status == LKS_OK ? LKS_OK : lks__error_raise(&j.error);
}

void lks__file_job_here(void)
{
    inside = 1;
}
