/* npz.c - see npz.h. Only the directory is read when an archive is opened. */
#include "npz.h"

#include <string.h>

#include "base/alloc.h"
#include "lockstep/files.h"
#include "npy.h"

struct lks_npz {
    lks_zip *zip;
    char **names; /* without the suffix, in the archive's order */
    size_t count;
    size_t *member;
};

static size_t array_name_length(const char *member)
{
    size_t n = strlen(member);

    return n >= 4 && strcmp(member + n - 4, ".npy") == 0 ? n - 4 : 0;
}

static lks_status list_names(lks_npz *npz)
{
    size_t n = lks__zip_count(npz->zip);

    npz->names = lks__calloc(n, sizeof *npz->names);
    npz->member = lks__calloc(n, sizeof *npz->member);
    if (npz->names == NULL || npz->member == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu names", n);
    for (size_t i = 0; i < n; i++) {
        const char *member = lks__zip_name(npz->zip, i);
        size_t length = array_name_length(member);
        char *name;
        if (length == 0) continue;
        name = lks__memdup(member, length + 1);
        if (name == NULL) return lks__fail(LKS_E_NOMEM, "no memory for %zu names", n);
        name[length] = '\0';
        npz->member[npz->count] = i;
        npz->names[npz->count++] = name;
    }
    return LKS_OK;
}

static lks_status finish_open(lks_zip *zip, lks_npz **out)
{
    lks_npz *npz = lks__calloc(1, sizeof *npz);
    lks_status status;

    if (npz == NULL) {
        lks__zip_close(zip);
        return lks__fail(LKS_E_NOMEM, "no memory to open an npz archive");
    }
    npz->zip = zip;
    status = list_names(npz);
    if (status != LKS_OK) {
        lks__npz_close(npz);
        return status;
    }
    *out = npz;
    return LKS_OK;
}

lks_status lks__npz_open(const char *path, lks_npz **out)
{
    lks_zip *zip;

    LKS_TRY(lks__zip_open_file(path, &zip));
    return finish_open(zip, out);
}

lks_status lks__npz_open_memory(const void *data, size_t n, lks_npz **out)
{
    lks_zip *zip;

    LKS_TRY(lks__zip_open_memory(data, n, &zip));
    return finish_open(zip, out);
}

void lks__npz_close(lks_npz *npz)
{
    if (npz == NULL) return;
    for (size_t i = 0; i < npz->count; i++) lks__free(npz->names[i]);
    lks__free(npz->names);
    lks__free(npz->member);
    lks__zip_close(npz->zip);
    lks__free(npz);
}

size_t lks__npz_count(const lks_npz *npz)
{
    return npz->count;
}

const char *lks__npz_name(const lks_npz *npz, size_t i)
{
    return npz->names[i];
}

static lks_status find(const lks_npz *npz, const char *name, bool *found, size_t *i)
{
    lks_text member = { 0 };
    char *full;

    lks__text_puts(&member, name);
    lks__text_puts(&member, ".npy");
    LKS_TRY(lks__text_take(&member, &full));
    *found = lks__zip_find(npz->zip, full, i);
    lks__free(full);
    return LKS_OK;
}

bool lks__npz_has(const lks_npz *npz, const char *name)
{
    bool found = false;
    size_t i;

    return find(npz, name, &found, &i) == LKS_OK && found;
}

static lks_status not_found(const lks_npz *npz, const char *name)
{
    char list[400] = "";
    size_t used = 0;

    for (size_t i = 0; i < npz->count; i++) {
        size_t n = strlen(npz->names[i]);
        if (used + n + 8 > sizeof list) {
            memcpy(list + used, ", ...", 6);
            break;
        }
        if (used > 0) memcpy(list + used, ", ", 2), used += 2;
        memcpy(list + used, npz->names[i], n);
        used += n;
        list[used] = '\0';
    }
    return lks__fail(LKS_E_NOTFOUND, "no array '%s' in the archive; it has: %s", name, npz->count > 0 ? list : "none");
}

lks_status lks__npz_read(lks_npz *npz, const char *name, lks_tensor **out)
{
    bool found = false;
    size_t i = 0;
    lks_reader *r;
    lks_status status;

    LKS_TRY(find(npz, name, &found, &i));
    if (!found) return not_found(npz, name);
    LKS_TRY(lks__zip_member(npz->zip, i, &r));
    status = lks__npy_read(r, out);
    lks__reader_close(r);
    return status == LKS_OK ? LKS_OK : lks__context(status, "array '%s'", name);
}

lks_status lks_read_npz(const char *path, const char *key, lks_tensor **out)
{
    lks_npz *npz;
    lks_status status;

    if (path == NULL || key == NULL || out == NULL)
        return lks__fail(LKS_E_ARG, "lks_read_npz: path, key and out must not be NULL");
    LKS_TRY(lks__npz_open(path, &npz));
    status = lks__npz_read(npz, key, out);
    lks__npz_close(npz);
    return status == LKS_OK ? LKS_OK : lks__context(status, "'%s'", path);
}
