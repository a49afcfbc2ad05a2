/* library.c - see library.h. A library stays loaded: its threads and handlers may be in use until the process ends. */
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static lks_status find_names(const lks_library *l, void *handle)
{
    for (size_t i = 0; i < l->n; i++) {
        void *found = dlsym(handle, l->names[i]);

        if (found == NULL)
            return lks__fail(LKS_E_UNSUPPORTED,
                             "%s, needed for %s, lacks %s: install the version that Lockstep was built with", l->file,
                             l->what, l->names[i]);
        memcpy((char *)l->table + i * sizeof found, &found, sizeof found);
    }
    return LKS_OK;
}

static lks_status load(lks_library *l)
{
    void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
    lks_status status;

    if (handle == NULL) {
        const char *why = dlerror();

        return lks__fail(LKS_E_UNSUPPORTED, "%s, needed for %s, cannot be loaded: install it (Debian's %s): %s",
                         l->file, l->what, l->package, why != NULL ? why : "no reason given");
    }
    status = find_names(l, handle);
    if (status != LKS_OK) dlclose(handle);
    return status;
}

lks_status lks__library_load(lks_library *l)
{
    lks_status status = LKS_OK;

    if (atomic_load_explicit(&l->loaded, memory_order_acquire)) return LKS_OK;
    pthread_mutex_lock(&turn);
    if (!atomic_load_explicit(&l->loaded, memory_order_relaxed)) {
        status = load(l);
        if (status == LKS_OK) atomic_store_explicit(&l->loaded, true, memory_order_release);
    }
    pthread_mutex_unlock(&turn);
    return status;
}
