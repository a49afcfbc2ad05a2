/* backup.c - a training run as a list of named records: where it stands, weights, optimizer and metric variables, data position,
 * history. Everything is checked before anything is set. */
#include "backup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "files/crc32c.h"
#include "files/endian.h"
#include "files/os_error.h"
#include "files/reader.h"
#include "files/save.h"
#include "files/temporary.h"
#include "tensor/tensor.h"

enum { CHECKSUM = 4, MAX_IDENTITY = 4 };
static const char magic[8] = { 'L', 'K', 'S', 'B', 'A', 'C', 'K', '1' };

/* ---- records ---- */

static void put_u64(lks_text *t, uint64_t v)
{
    unsigned char b[8];

    for (int i = 0; i < 8; i++) b[i] = (unsigned char)(v >> 8 * i);
    lks__text_append(t, (const char *)b, 8);
}

static void put_record(lks_text *t, const char *name, const void *data, size_t size)
{
    put_u64(t, strlen(name));
    lks__text_puts(t, name);
    put_u64(t, size);
    lks__text_append(t, data, size);
}

static void put_numbers(lks_text *t, const char *name, const void *numbers, size_t n)
{
    lks_text bytes = { 0 };

    for (size_t i = 0; i < n; i++) put_u64(&bytes, (uint64_t)((const int64_t *)numbers)[i]);
    t->failed |= bytes.failed;
    put_record(t, name, bytes.data, bytes.length);
    lks__text_free(&bytes);
}

typedef struct file {
    char *bytes;
    size_t size; /* without the checksum */
} file;

/* The record's bytes; NULL if there is none. */
static const char *find(const file *f, const char *name, size_t *size)
{
    size_t at = sizeof magic, want = strlen(name);

    while (f->size - at >= 8) {
        uint64_t length = lks__le64((const unsigned char *)f->bytes + at), n;
        const char *here = f->bytes + at + 8;
        at += 8;
        if (length > f->size - at || f->size - at - (size_t)length < 8) return NULL;
        at += (size_t)length;
        n = lks__le64((const unsigned char *)f->bytes + at);
        at += 8;
        if (n > f->size - at) return NULL;
        if (length == want && memcmp(here, name, want) == 0) {
            *size = (size_t)n;
            return f->bytes + at;
        }
        at += (size_t)n;
    }
    return NULL;
}

static lks_status find_numbers(const file *f, const char *name, void *out, size_t n)
{
    size_t size = 0;
    const unsigned char *p = (const unsigned char *)find(f, name, &size);

    if (p == NULL || size != 8 * n) return lks__fail(LKS_E_FORMAT, "the record '%s' is missing or damaged", name);
    for (size_t i = 0; i < n; i++) ((int64_t *)out)[i] = (int64_t)lks__le64(p + 8 * i);
    return LKS_OK;
}

/* ---- variables ---- */

typedef struct variables {
    lks_variable **item;
    size_t n, capacity;
} variables;

static lks_status add(variables *v, lks_variable *one)
{
    if (one == NULL) return LKS_OK;
    LKS_TRY(lks__grow(&v->item, &v->capacity, v->n + 1, sizeof *v->item));
    v->item[v->n++] = one;
    return LKS_OK;
}

static lks_status add_metrics(variables *v, size_t n, lks_metric *const *metrics)
{
    for (size_t i = 0; i < n; i++) {
        lks_variable *own[2] = { NULL, NULL };
        size_t count = lks__metric_variables(metrics[i], own);
        for (size_t k = 0; k < count; k++) LKS_TRY(add(v, own[k]));
    }
    return LKS_OK;
}

/* Everything that a step changes, in one fixed order. The model is built. */
static lks_status collect(const lks_model *m, variables *v)
{
    lks_variable **list = NULL;
    size_t n = 0;
    lks_status status = lks__model_weights(m, &list, &n);

    for (size_t i = 0; status == LKS_OK && i < n; i++) status = add(v, list[i]);
    lks__free(list);
    LKS_TRY(status);
    list = lks__optimizer_variables(m->compiled->optimizer, &n);
    for (size_t i = 0; i < n; i++) LKS_TRY(add(v, list[i]));
    LKS_TRY(add(v, m->loss_total));
    LKS_TRY(add(v, m->loss_count));
    for (size_t i = 0; i < m->n_outputs; i++) {
        LKS_TRY(add_metrics(v, m->compiled->n_metrics[i], m->compiled->metrics[i]));
        LKS_TRY(add_metrics(v, m->compiled->n_weighted_metrics[i], m->compiled->weighted_metrics[i]));
        for (size_t k = 2 * i; m->output_loss != NULL && k < 2 * i + 2; k++) LKS_TRY(add(v, m->output_loss[k]));
    }
    return LKS_OK;
}

static size_t bytes_of(const lks_variable *v)
{
    return (size_t)lks_tensor_size(v->value) * lks_dtype_size(lks_tensor_dtype(v->value));
}

static void record_name(char *out, size_t size, size_t i, const lks_variable *v)
{
    snprintf(out, size, "%zu:%s", i, v->path != NULL ? v->path : "");
}

/* Checks (set false) or sets the values of all variables. */
static lks_status read_variables(const file *f, const variables *v, bool set)
{
    char name[256];

    for (size_t i = 0; i < v->n; i++) {
        size_t size = 0;
        const char *data;
        record_name(name, sizeof name, i, v->item[i]);
        data = find(f, name, &size);
        if (data == NULL || size != bytes_of(v->item[i]))
            return lks__fail(LKS_E_ARG, "it holds another model or another optimizer: %s '%s' %s",
                             data == NULL ? "there is no value of" : "the size of", v->item[i]->path,
                             data == NULL ? "in it" : "is not the same");
        if (!set) continue;
        memcpy(lks_tensor_data(v->item[i]->value), data, size);
        lks__variable_changed(v->item[i]);
    }
    return LKS_OK;
}

/* ---- the whole ---- */

static void path_of(const char *folder, char *out, size_t size)
{
    snprintf(out, size, "%s/backup.lks", folder);
}

static lks_status put_data(lks_text *t, const lks_backup *b)
{
    lks_text feed = { 0 };
    lks_status status = b->train->save(b->train, true, &feed);

    put_record(t, "data", feed.data, feed.length);
    lks__text_free(&feed);
    if (status == LKS_OK && b->validation != NULL) {
        status = b->validation->save(b->validation, false, &feed);
        put_record(t, "validation", feed.data, feed.length);
        lks__text_free(&feed);
    }
    return status;
}

static lks_status put_all(lks_text *t, const lks_backup *b, const lks_backup_place *place)
{
    variables v = { 0 };
    lks_text history = { 0 };
    char name[256];
    lks_status status = collect(b->model, &v);
    const lks_type *input = lks__model_input_type(b->model, 0);
    int64_t shape[2 + LKS_MAX_RANK] = { input->dtype, input->shape.rank };

    for (int64_t k = 0; k < input->shape.rank; k++) shape[2 + k] = input->shape.dim[k];
    lks__text_append(t, magic, sizeof magic);
    put_numbers(t, "place", place, sizeof *place / 8);
    put_numbers(t, "identity", &b->identity, MAX_IDENTITY);
    put_numbers(t, "input", shape, 2 + LKS_MAX_RANK);
    for (size_t i = 0; status == LKS_OK && i < v.n; i++) {
        record_name(name, sizeof name, i, v.item[i]);
        put_record(t, name, lks_tensor_cdata(v.item[i]->value), bytes_of(v.item[i]));
    }
    lks__free(v.item);
    lks__history_write(b->history, &history);
    t->failed |= history.failed;
    put_record(t, "history", history.data, history.length);
    lks__text_free(&history);
    return status == LKS_OK ? put_data(t, b) : status;
}

lks_status lks__backup_write(const char *folder, const lks_backup *b, const lks_backup_place *place)
{
    char path[4096], crc[CHECKSUM];
    lks_text t = { 0 };
    lks_status status = put_all(&t, b, place);
    uint32_t sum = t.failed ? 0 : lks__crc32c(0, t.data, t.length);

    for (int i = 0; i < CHECKSUM; i++) crc[i] = (char)(sum >> 8 * i);
    lks__text_append(&t, crc, CHECKSUM);
    if (status == LKS_OK && t.failed) status = lks__fail(LKS_E_NOMEM, "no memory for a backup");
    if (status == LKS_OK && mkdir(folder, 0777) != 0 && errno != EEXIST)
        status = lks__fail(LKS_E_IO, "the folder can't be made: %s", lks__os_error(errno));
    path_of(folder, path, sizeof path);
    if (status == LKS_OK) status = lks__save_file(path, t.data, t.length);
    lks__text_free(&t);
    return status == LKS_OK ? LKS_OK : lks__context(status, "backup in '%s'", folder);
}

static lks_status check_identity(const file *f, const lks_backup *b)
{
    static const char *const names[MAX_IDENTITY] = { "seed", "batch_size", "steps_per_epoch",
                                                     "number of batches in the data" };
    const int64_t mine[MAX_IDENTITY] = { b->identity.seed, b->identity.batch_size, b->identity.steps_per_epoch,
                                         b->identity.batches };
    int64_t theirs[MAX_IDENTITY];

    LKS_TRY(find_numbers(f, "identity", theirs, MAX_IDENTITY));
    for (int i = 0; i < MAX_IDENTITY; i++)
        if (mine[i] != theirs[i])
            return lks__fail(LKS_E_ARG, "it belongs to another run: its %s is %lld, here it is %lld", names[i],
                             (long long)theirs[i], (long long)mine[i]);
    return LKS_OK;
}

/* Sequential models that wait for their input's shape, and optimizers, are built as they were. */
static lks_status build(const file *f, lks_model *m)
{
    int64_t n[2 + LKS_MAX_RANK];
    lks_type row = { .batched = true };

    LKS_TRY(find_numbers(f, "input", n, 2 + LKS_MAX_RANK));
    if (n[1] < 0 || n[1] > LKS_MAX_RANK) return lks__fail(LKS_E_FORMAT, "the record 'input' is damaged");
    row.dtype = (lks_dtype)n[0];
    row.shape.rank = n[1];
    for (int64_t k = 0; k < n[1]; k++) row.shape.dim[k] = n[2 + k];
    if (!m->built) LKS_TRY(lks__sequential_build(m, row));
    return lks__model_build_optimizer(m);
}

static lks_status restore_data(const file *f, const lks_backup *b, const lks_backup_place *place)
{
    size_t size = 0;
    const char *data = find(f, "data", &size);

    if (data == NULL) return lks__fail(LKS_E_FORMAT, "the record 'data' is missing");
    LKS_TRY(b->train->resume(b->train, true, data, size, place->pass));
    data = b->validation == NULL ? NULL : find(f, "validation", &size);
    return data == NULL ? LKS_OK : b->validation->resume(b->validation, false, data, size, 0);
}

static lks_status restore(const file *f, const lks_backup *b, lks_backup_place *place)
{
    variables v = { 0 };
    size_t size = 0;
    const char *history = find(f, "history", &size);
    lks_status status;

    LKS_TRY(find_numbers(f, "place", place, sizeof *place / 8));
    LKS_TRY(check_identity(f, b));
    LKS_TRY(build(f, b->model));
    status = collect(b->model, &v);
    if (status == LKS_OK) status = read_variables(f, &v, false);
    if (status == LKS_OK) status = restore_data(f, b, place);
    if (status == LKS_OK) status = lks__history_read(b->history, history, size);
    if (status == LKS_OK) status = read_variables(f, &v, true);
    lks__free(v.item);
    return status;
}

static lks_status check_file(file *f)
{
    if (f->size < sizeof magic + CHECKSUM || memcmp(f->bytes, magic, sizeof magic) != 0)
        return lks__fail(LKS_E_FORMAT, "it is no backup of a training run");
    f->size -= CHECKSUM;
    if (lks__crc32c(0, f->bytes, f->size) != lks__le32((const unsigned char *)f->bytes + f->size))
        return lks__fail(LKS_E_FORMAT, "its checksum is wrong");
    return LKS_OK;
}

lks_status lks__backup_read(const char *folder, const lks_backup *b, lks_backup_place *place, bool *found)
{
    char path[4096];
    file f = { NULL, 0 };
    lks_status status;

    path_of(folder, path, sizeof path);
    lks__temporary_sweep(path);
    *found = access(path, F_OK) == 0;
    if (!*found) return LKS_OK;
    status = lks__read_file(path, SIZE_MAX / 2, (void **)&f.bytes, &f.size);
    if (status == LKS_OK) status = check_file(&f);
    if (status == LKS_OK) status = restore(&f, b, place);
    lks__free(f.bytes);
    if (status == LKS_OK) return LKS_OK;
    return lks__context(status, "the backup '%s' can't be used (remove it, or give another backup_dir)", path);
}

void lks__backup_remove(const char *folder)
{
    char path[4096];

    path_of(folder, path, sizeof path);
    unlink(path);
    rmdir(folder);
}
