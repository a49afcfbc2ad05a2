/* fetch.c - files over https through libcurl; see mnist.h. Nothing waits long: a few seconds to connect, and a transfer
 * that stalls is given up. */
#include <string.h>

#include "base/alloc.h"
#include "mnist.h"
#include "remote.h"

#ifdef LKS_HAVE_LIBCURL
#include <pthread.h>
#include <stdlib.h>

#include "curl_late.h"

enum { CONNECT_SECONDS = 4, STALL_SECONDS = 15, SLOWEST_BYTES_PER_SECOND = 1000 };

typedef struct download {
    char *data;
    size_t n, capacity;
    uint64_t limit;
    lks_status status;
} download;

#ifdef LKS_LATE_LIBCURL
lks_curl_late lks__curl_late;
LKS_LATE_LIBRARY(lks__curl_library, LKS_CURL_NAMES, lks__curl_late, LKS_LATE_LIBCURL, "files over https", "libcurl4");
#endif

static void start_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static size_t keep(char *bytes, size_t size, size_t count, void *user)
{
    download *d = user;
    size_t n = size * count;

    if (n > d->limit - d->n)
        d->status = lks__fail(LKS_E_LIMIT, "it is larger than %llu bytes", (unsigned long long)d->limit);
    else d->status = lks__grow(&d->data, &d->capacity, d->n + n + 1, 1);
    if (d->status != LKS_OK) return 0;
    memcpy(d->data + d->n, bytes, n);
    d->n += n;
    d->data[d->n] = '\0';
    return n;
}

static void set_up(CURL *curl, const char *url, download *d)
{
    const char *authorities = getenv("CURL_CA_BUNDLE");

    if (authorities == NULL || *authorities == '\0') authorities = getenv("SSL_CERT_FILE");
    curl_easy_setopt(curl, CURLOPT_URL, url);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "https,http");
#else
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTPS | CURLPROTO_HTTP));
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTPS | CURLPROTO_HTTP));
#endif
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 8L);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOWEST_BYTES_PER_SECOND);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "lockstep");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, d);
    if (authorities != NULL && *authorities != '\0') curl_easy_setopt(curl, CURLOPT_CAINFO, authorities);
}

lks_status lks__curl_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

#ifdef LKS_LATE_LIBCURL
    LKS_TRY(lks__library_load(&lks__curl_library));
#endif
    pthread_once(&once, start_curl);
    return LKS_OK;
}

lks_status lks__fetch(const char *url, uint64_t limit, void **out, size_t *n)
{
    download d = { .limit = limit };
    CURLcode code;
    CURL *curl;

    LKS_TRY(lks__curl_begin());
    curl = curl_easy_init();
    if (curl == NULL) return lks__fail(LKS_E_NOMEM, "no memory to fetch %s", url);
    set_up(curl, url, &d);
    code = curl_easy_perform(curl);
    curl_easy_cleanup(curl);
    if (d.status == LKS_OK && code == CURLE_OK && d.data == NULL) d.status = lks__fail(LKS_E_NOTFOUND, "nothing came");
    if (d.status == LKS_OK && code == CURLE_OK) {
        *out = d.data;
        *n = d.n;
        return LKS_OK;
    }
    lks__free(d.data);
    if (d.status != LKS_OK) return lks__context(d.status, "%s", url);
    return lks__fail(code == CURLE_OUT_OF_MEMORY ? LKS_E_NOMEM : LKS_E_NOTFOUND, "%s cannot be fetched: %s", url,
                     curl_easy_strerror(code));
}

lks_status lks__fetch_resolve(const char *base, const char *reference, char **out)
{
    char *whole = NULL;
    CURLU *u;

    LKS_TRY(lks__curl_begin());
    u = curl_url();
    if (u == NULL) return lks__fail(LKS_E_NOMEM, "no memory for an address");
    if (curl_url_set(u, CURLUPART_URL, base, 0) == CURLUE_OK &&
        curl_url_set(u, CURLUPART_URL, reference, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_URL, &whole, 0) == CURLUE_OK)
        *out = lks__strdup(whole);
    else *out = NULL;
    curl_url_cleanup(u);
    if (whole == NULL) return lks__fail(LKS_E_NOTFOUND, "'%s' on %s leads nowhere", reference, base);
    curl_free(whole);
    return *out != NULL ? LKS_OK : lks__fail(LKS_E_NOMEM, "no memory for an address");
}
#else
lks_status lks__fetch(const char *url, uint64_t limit, void **out, size_t *n)
{
    (void)limit, (void)out, (void)n;
    return lks__fail(LKS_E_NOTFOUND, "%s cannot be fetched: this build has no libcurl", url);
}

lks_status lks__fetch_resolve(const char *base, const char *reference, char **out)
{
    (void)out;
    return lks__fail(LKS_E_NOTFOUND, "'%s' on %s cannot be found: this build has no libcurl", reference, base);
}
#endif
