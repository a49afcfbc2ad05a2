/* remote.c - see remote.h. One block of the file is in memory at a time; a server that ignores ranges gives the whole file at
 * once, which is then the block. A file that changes while it is read is noticed by its ETag. */
#include "remote.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

bool lks__is_remote(const char *path)
{
    return lks__starts_with(path, "https://") || lks__starts_with(path, "http://");
}

#ifdef LKS_HAVE_LIBCURL
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "curl_late.h"

enum {
    BLOCK = 4 << 20,         /* bytes of one range */
    LARGEST_WHOLE = 1 << 30, /* of a file that comes at once */
    TRIES = 5,
    FIRST_PAUSE_MS = 100, /* then twice as long each time */
    CONNECT_SECONDS = 10,
    STALL_SECONDS = 20
};

struct lks_remote {
    char *url, *tag; /* tag: the ETag that the first answer had, quotes included */
    CURL *curl;
    uint64_t size, at;    /* at: of the next byte given out */
    uint64_t block_begin; /* the bytes [block_begin, + have) are in memory */
    unsigned char *block;
    size_t have, room;
    bool whole; /* the block is the file */
    /* of the answer that comes in */
    uint64_t answer_size;
    char *answer_tag;
    bool too_large, no_memory;
};

uint64_t lks__remote_size(const lks_remote *r)
{
    return r->size;
}

static size_t keep(char *bytes, size_t size, size_t count, void *user)
{
    lks_remote *r = user;
    size_t n = size * count;

    if (n > LARGEST_WHOLE - r->have) {
        r->too_large = true;
        return 0;
    }
    if (lks__grow(&r->block, &r->room, r->have + n, 1) != LKS_OK) {
        r->no_memory = true;
        return 0;
    }
    memcpy(r->block + r->have, bytes, n);
    r->have += n;
    return n;
}

/* The value of a header line if it is the one of this name; blanks around it are left out. */
static bool header_is(const char *line, size_t n, const char *name, const char **value, size_t *length)
{
    size_t k = strlen(name);

    if (n <= k || line[k] != ':') return false;
    for (size_t i = 0; i < k; i++)
        if (lks__ascii_lower((unsigned char)line[i]) != name[i]) return false;
    for (k++; k < n && line[k] == ' ';) k++;
    while (n > k && (line[n - 1] == '\r' || line[n - 1] == '\n' || line[n - 1] == ' ')) n--;
    *value = line + k;
    *length = n - k;
    return true;
}

static size_t see_header(char *line, size_t size, size_t count, void *user)
{
    lks_remote *r = user;
    const char *value, *slash;
    size_t n;

    if (header_is(line, size * count, "content-range", &value, &n)) { /* "bytes 0-99/1234" */
        uint64_t total = 0;
        slash = memchr(value, '/', n);
        for (const char *p = slash == NULL ? value + n : slash + 1; p < value + n && *p >= '0' && *p <= '9'; p++)
            total = 10 * total + (uint64_t)(*p - '0');
        r->answer_size = total;
    } else if (header_is(line, size * count, "etag", &value, &n) && n < 200) {
        char *tag = lks__malloc(n + 1);
        if (tag == NULL) return size * count;
        memcpy(tag, value, n);
        tag[n] = '\0';
        lks__free(r->answer_tag);
        r->answer_tag = tag;
    }
    return size * count;
}

static void set_up(lks_remote *r)
{
    const char *authorities = getenv("CURL_CA_BUNDLE");

    if (authorities == NULL || *authorities == '\0') authorities = getenv("SSL_CERT_FILE");
    curl_easy_setopt(r->curl, CURLOPT_URL, r->url);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(r->curl, CURLOPT_PROTOCOLS_STR, "https,http");
    curl_easy_setopt(r->curl, CURLOPT_REDIR_PROTOCOLS_STR, "https");
#else
    curl_easy_setopt(r->curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTPS | CURLPROTO_HTTP));
    curl_easy_setopt(r->curl, CURLOPT_REDIR_PROTOCOLS, (long)CURLPROTO_HTTPS);
#endif
    curl_easy_setopt(r->curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(r->curl, CURLOPT_MAXREDIRS, 8L);
    curl_easy_setopt(r->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(r->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(r->curl, CURLOPT_LOW_SPEED_LIMIT, 1000L);
    curl_easy_setopt(r->curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    curl_easy_setopt(r->curl, CURLOPT_USERAGENT, "lockstep");
    curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, r);
    curl_easy_setopt(r->curl, CURLOPT_HEADERFUNCTION, see_header);
    curl_easy_setopt(r->curl, CURLOPT_HEADERDATA, r);
    if (authorities != NULL && *authorities != '\0') curl_easy_setopt(r->curl, CURLOPT_CAINFO, authorities);
}

static void wait_before(int attempt)
{
    long ms = (long)FIRST_PAUSE_MS << (attempt - 1);
    struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&pause, NULL);
}

/* What an answer means. LKS_E_TIMEOUT here: worth another try. */
static lks_status judge(lks_remote *r, CURLcode code, long answer, uint64_t begin)
{
    if (r->no_memory) return lks__fail(LKS_E_NOMEM, "no memory to read %s", r->url);
    if (r->too_large)
        return lks__fail(LKS_E_LIMIT, "%s comes as a whole (the server knows no ranges) and is above 1 GiB", r->url);
    if (code != CURLE_OK) {
        bool again = code != CURLE_UNSUPPORTED_PROTOCOL && code != CURLE_URL_MALFORMAT &&
                     code != CURLE_PEER_FAILED_VERIFICATION && code != CURLE_TOO_MANY_REDIRECTS;
        return lks__fail(again ? LKS_E_TIMEOUT : LKS_E_IO, "%s, byte %llu: %s", r->url, (unsigned long long)begin,
                         curl_easy_strerror(code));
    }
    if (answer == 206 || answer == 200) return LKS_OK;
    if (answer == 416 && begin == 0) { /* an empty file has no byte 0 */
        r->have = 0;
        r->answer_size = 0;
        return LKS_OK;
    }
    if (answer == 404 || answer == 410)
        return lks__fail(LKS_E_NOTFOUND, "%s does not exist (the server says %ld)", r->url, answer);
    return lks__fail(answer >= 500 || answer == 429 || answer == 408 ? LKS_E_TIMEOUT : LKS_E_IO,
                     "%s, byte %llu: the server answers %ld", r->url, (unsigned long long)begin, answer);
}

/* One request for the block that begins at `begin`. */
static lks_status ask(lks_remote *r, uint64_t begin, long *answer)
{
    char range[64];
    CURLcode code;

    r->have = 0;
    r->answer_size = UINT64_MAX;
    r->too_large = r->no_memory = false;
    snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)begin, (unsigned long long)(begin + BLOCK - 1));
    curl_easy_setopt(r->curl, CURLOPT_RANGE, range);
    code = curl_easy_perform(r->curl);
    *answer = 0;
    curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, answer);
    return judge(r, code, *answer, begin);
}

static lks_status check_answer(lks_remote *r, uint64_t begin, long answer)
{
    if (answer == 200) {
        if (begin > 0) return lks__fail(LKS_E_IO, "%s: the server stopped to answer ranges", r->url);
        r->whole = true;
        r->answer_size = r->have;
    }
    if (r->tag != NULL && r->answer_tag != NULL && strcmp(r->tag, r->answer_tag) != 0)
        return lks__fail(LKS_E_FORMAT, "%s changed while it was read", r->url);
    if (r->size != UINT64_MAX && r->answer_size != r->size)
        return lks__fail(LKS_E_FORMAT, "%s changed its size while it was read", r->url);
    if (answer == 206 && r->answer_size != UINT64_MAX) {
        uint64_t want = r->answer_size < begin ? 0 : r->answer_size - begin;
        if (want > BLOCK) want = BLOCK;
        if (r->have != want)
            return lks__fail(LKS_E_IO, "%s, byte %llu: %zu bytes came, %llu were asked for", r->url,
                             (unsigned long long)begin, r->have, (unsigned long long)want);
    }
    if (r->tag == NULL) {
        r->tag = r->answer_tag;
        r->answer_tag = NULL;
    }
    r->size = r->answer_size;
    r->block_begin = begin;
    return LKS_OK;
}

static lks_status fetch_block(lks_remote *r, uint64_t begin)
{
    lks_status status = LKS_OK;
    long answer = 0;

    for (int attempt = 0; attempt < TRIES; attempt++) {
        if (attempt > 0) wait_before(attempt);
        status = ask(r, begin, &answer);
        if (status != LKS_E_TIMEOUT) break;
    }
    if (status == LKS_OK) return check_answer(r, begin, answer);
    r->have = 0;
    if (status != LKS_E_TIMEOUT) return status;
    return lks__context(LKS_E_IO, "given up after %d tries", TRIES);
}

lks_status lks__remote_open(const char *url, lks_remote **out)
{
    lks_remote *r;
    lks_status status;

    LKS_TRY(lks__curl_begin());
    r = lks__calloc(1, sizeof *r);
    if (r != NULL) {
        r->url = lks__strdup(url);
        r->curl = curl_easy_init();
        r->size = UINT64_MAX;
    }
    if (r == NULL || r->url == NULL || r->curl == NULL) {
        lks__remote_close(r);
        return lks__fail(LKS_E_NOMEM, "no memory to read %s", url);
    }
    set_up(r);
    status = fetch_block(r, 0);
    if (status == LKS_OK) *out = r;
    else lks__remote_close(r);
    return status;
}

void lks__remote_close(lks_remote *r)
{
    if (r == NULL) return;
    if (r->curl != NULL) curl_easy_cleanup(r->curl);
    lks__free(r->block);
    lks__free(r->tag);
    lks__free(r->answer_tag);
    lks__free(r->url);
    lks__free(r);
}

lks_status lks__remote_read(lks_remote *r, void *buffer, size_t n, size_t *got)
{
    size_t offset;

    *got = 0;
    if (r->at >= r->size || n == 0) return LKS_OK;
    if (r->at < r->block_begin || r->at - r->block_begin >= r->have) {
        if (r->whole) return LKS_OK;
        LKS_TRY(fetch_block(r, r->at));
        if (r->have == 0) return LKS_OK;
    }
    offset = (size_t)(r->at - r->block_begin);
    *got = r->have - offset < n ? r->have - offset : n;
    memcpy(buffer, r->block + offset, *got);
    r->at += *got;
    return LKS_OK;
}

bool lks__remote_pass(lks_remote *r, uint64_t n)
{
    if (r->size == UINT64_MAX || n > r->size - r->at) return false;
    r->at += n;
    return true;
}
#else
lks_status lks__remote_open(const char *url, lks_remote **out)
{
    (void)out;
    return lks__fail(LKS_E_UNSUPPORTED, "%s cannot be read: this build has no libcurl", url);
}

void lks__remote_close(lks_remote *r)
{
    (void)r;
}

uint64_t lks__remote_size(const lks_remote *r)
{
    (void)r;
    return UINT64_MAX;
}

lks_status lks__remote_read(lks_remote *r, void *buffer, size_t n, size_t *got)
{
    (void)r, (void)buffer, (void)n, (void)got;
    return LKS_E_INTERNAL;
}

bool lks__remote_pass(lks_remote *r, uint64_t n)
{
    (void)r, (void)n;
    return false;
}
#endif
