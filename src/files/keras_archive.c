/* keras_archive.c - see keras_archive.h. Members are read into memory and never unpacked to disk, so a name cannot lead
 * anywhere; names that would are refused all the same, because such an archive was made to harm. */
#include "keras_archive.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text.h"
#include "job.h"
#include "json.h"
#include "reader.h"
#include "zip_archive.h"

enum { CONFIG_LIMIT = 256 << 20, METADATA_LIMIT = 1 << 20 };

static const char metadata_name[] = "metadata.json", config_name[] = "config.json", weights_name[] = "model.weights.h5";

/* Where members come from: an archive, or a folder. */
typedef struct members {
    lks_zip *zip;
    const char *folder;
} members;

void lks__archive_free(lks_archive *a)
{
    lks__free(a->metadata);
    lks__free(a->config);
    lks__weights_free(&a->weights);
    memset(a, 0, sizeof *a);
}

static bool leads_outside(const char *name)
{
    if (*name == '/' || strchr(name, '\\') != NULL || strchr(name, ':') != NULL) return true;
    for (const char *part = name; part != NULL; part = strchr(part, '/')) {
        if (*part == '/') part++;
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return true;
    }
    return false;
}

static lks_status check_names(const lks_zip *zip)
{
    for (size_t i = 0; i < lks__zip_count(zip); i++)
        if (leads_outside(lks__zip_name(zip, i)))
            return lks__fail(LKS_E_FORMAT, "the name of member '%s' leads out of the archive", lks__zip_name(zip, i));
    return LKS_OK;
}

static lks_status read_from_folder(const char *folder, const char *name, uint64_t limit, void **out, size_t *n)
{
    lks_text path = { 0 };
    char *full;
    lks_status status;

    lks__text_printf(&path, "%s/%s", folder, name);
    LKS_TRY(lks__text_take(&path, &full));
    status = lks__read_file(full, limit, out, n);
    lks__free(full);
    return status;
}

/* LKS_E_NOTFOUND if the member is missing. */
static lks_status read_member(const members *m, const char *name, uint64_t limit, void **out, size_t *n)
{
    size_t i;

    if (m->zip == NULL) return read_from_folder(m->folder, name, limit, out, n);
    if (!lks__zip_find(m->zip, name, &i))
        return lks__fail(LKS_E_NOTFOUND, "member %s is missing at the top level of the archive", name);
    return lks__zip_read(m->zip, i, limit, out, n);
}

/* A JSON object's text. */
static lks_status read_text(const members *m, const char *name, uint64_t limit, char **out)
{
    void *data;
    size_t n;
    json_t *json;
    bool object;
    lks_status status;

    LKS_TRY(read_member(m, name, limit, &data, &n));
    status = lks__json_parse(data, n, name, &json);
    if (status == LKS_OK) {
        object = json_is_object(json);
        json_decref(json);
        if (!object) status = lks__fail(LKS_E_FORMAT, "%s must hold an object", name);
    }
    if (status != LKS_OK) {
        lks__free(data);
        return status;
    }
    *out = data;
    return LKS_OK;
}

static lks_status read_weights(const members *m, lks_weights *out)
{
    void *data;
    size_t n, i;
    lks_status status;

    if (m->zip != NULL && !lks__zip_find(m->zip, weights_name, &i) && lks__zip_find(m->zip, "model.weights.npz", &i))
        return lks__fail(LKS_E_UNSUPPORTED,
                         "the weights are in model.weights.npz (pickled); save the model with h5py "
                         "installed, so that it has %s",
                         weights_name);
    LKS_TRY(read_member(m, weights_name, UINT64_MAX, &data, &n));
    status = lks__weights_read_h5(data, n, weights_name, out);
    lks__free(data);
    return status;
}

static lks_status read_all(const members *m, lks_archive *out)
{
    lks_archive a = { 0 };
    lks_status status = LKS_OK;

    if (m->zip != NULL) status = check_names(m->zip);
    if (status == LKS_OK) status = read_text(m, config_name, CONFIG_LIMIT, &a.config);
    if (status == LKS_OK) {
        status = read_text(m, metadata_name, METADATA_LIMIT, &a.metadata);
        if (status == LKS_E_NOTFOUND) status = LKS_OK;
    }
    if (status == LKS_OK) status = read_weights(m, &a.weights);
    if (status != LKS_OK) {
        lks__archive_free(&a);
        return status == LKS_E_NOTFOUND ? LKS_E_FORMAT : status;
    }
    *out = a;
    return LKS_OK;
}

typedef struct read_job {
    const char *path;
    const void *data;
    size_t n;
    lks_archive *out;
} read_job;

static lks_status read_zip(lks_zip *zip, lks_archive *out)
{
    const members m = { .zip = zip };
    lks_status status = read_all(&m, out);

    lks__zip_close(zip);
    return status;
}

static lks_status run_read(void *user)
{
    read_job *j = user;
    const members folder = { .folder = j->path };
    struct stat info;
    lks_zip *zip;

    if (j->path == NULL) {
        LKS_TRY(lks__zip_open_memory(j->data, j->n, &zip));
        return read_zip(zip, j->out);
    }
    if (stat(j->path, &info) == 0 && S_ISDIR(info.st_mode)) return read_all(&folder, j->out);
    LKS_TRY(lks__zip_open_file(j->path, &zip));
    return read_zip(zip, j->out);
}

lks_status lks__archive_read(const char *path, lks_archive *out)
{
    read_job job = { .path = path, .out = out };
    lks_status status = lks__file_job(run_read, &job);

    if (status == LKS_OK || strstr(lks_last_error(), path) != NULL) return status;
    return lks__context(status, "cannot read '%s'", path);
}

lks_status lks__archive_read_memory(const void *data, size_t n, lks_archive *out)
{
    read_job job = { .data = data, .n = n, .out = out };

    return lks__file_job(run_read, &job);
}

typedef struct write_job {
    const char *path; /* NULL: to memory */
    const lks_archive *a;
    void **out;
    size_t *n;
} write_job;

static lks_status add_members(lks_zip_writer *w, const lks_archive *a, const void *weights, size_t n)
{
    const lks_zip_part metadata = { a->metadata, strlen(a->metadata) }, config = { a->config, strlen(a->config) };
    const lks_zip_part h5 = { weights, n };

    LKS_TRY(lks__zip_add(w, metadata_name, &metadata, 1));
    LKS_TRY(lks__zip_add(w, config_name, &config, 1));
    return lks__zip_add(w, weights_name, &h5, 1);
}

static lks_status run_write(void *user)
{
    write_job *j = user;
    void *weights;
    size_t n;
    lks_zip_writer *w;
    lks_status status;

    LKS_TRY(lks__weights_write_h5(&j->a->weights, &weights, &n));
    status = j->path != NULL ? lks__zip_writer_file(j->path, &w) : lks__zip_writer_memory(&w);
    if (status != LKS_OK) goto free_weights;
    status = add_members(w, j->a, weights, n);
    if (status != LKS_OK) lks__zip_drop(w);
    else status = j->path != NULL ? lks__zip_finish_file(w) : lks__zip_finish_memory(w, j->out, j->n);

free_weights:
    lks__free(weights);
    return status;
}

static lks_status write_archive(write_job *job)
{
    if (job->a->metadata == NULL || job->a->config == NULL)
        return lks__fail(LKS_E_ARG, "an archive needs %s and %s", metadata_name, config_name);
    return lks__file_job(run_write, job);
}

lks_status lks__archive_write(const char *path, const lks_archive *a)
{
    write_job job = { .path = path, .a = a };
    lks_status status = write_archive(&job);

    return status == LKS_OK ? LKS_OK : lks__context(status, "cannot save '%s'", path);
}

lks_status lks__archive_write_memory(const lks_archive *a, void **out, size_t *n)
{
    write_job job = { .a = a, .out = out, .n = n };

    return write_archive(&job);
}
