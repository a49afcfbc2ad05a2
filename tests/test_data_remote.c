/* test_data_remote.c - files behind an address: ranges, retries, servers that lie. The server is a thread of this program on the
 * loopback interface, which is why plain http is allowed here.
 * ctest labels: concurrent
 */
#include "test_sources.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "files/remote.h"

enum { SIZE = 10 << 20 }; /* more than two ranges */

static struct {
    int listener, port;
    pthread_t thread;
    unsigned char *file;
    size_t size;
    atomic_int requests, fail_next, ignore_ranges, change_tag, cut_next, quit;
    atomic_long sent;
} server;

static void send_all(int fd, const void *data, size_t n)
{
    const char *p = data;

    while (n > 0) {
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
        if (k <= 0) return;
        p += k;
        n -= (size_t)k;
    }
}

/* What is asked for: the record file, or one of the TFDS folder's, which `own` is freed of. NULL: there is none. */
static unsigned char *find(const char *request, size_t *size, unsigned char **own)
{
    char name[256], local[512];
    FILE *f;

    *size = server.size;
    if (strncmp(request, "GET /file", 9) == 0) return server.file;
    if (sscanf(request, "GET /tiny/%200s", name) != 1) return NULL;
    snprintf(local, sizeof local, "%s/tiny/1.10.0/%s", folder, name);
    f = fopen(local, "rb");
    if (f == NULL) return NULL;
    *own = malloc(65536);
    *size = fread(*own, 1, 65536, f);
    fclose(f);
    return *own;
}

/* One request; false: the connection ends. */
static bool answer(int fd)
{
    char request[4096], head[512];
    size_t n = 0;
    unsigned long long begin = 0, end;
    unsigned char *file, *own = NULL;
    const char *range;
    size_t size;
    bool partial, whole = true;

    while (n + 1 < sizeof request) {
        ssize_t k = recv(fd, request + n, sizeof request - 1 - n, 0);
        if (k <= 0) return false;
        n += (size_t)k;
        request[n] = '\0';
        if (strstr(request, "\r\n\r\n") != NULL) break;
    }
    atomic_fetch_add(&server.requests, 1);
    if (atomic_load(&server.fail_next) > 0) {
        atomic_fetch_sub(&server.fail_next, 1);
        send_all(fd, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", 41);
        return true;
    }
    file = find(request, &size, &own);
    if (file == NULL) {
        send_all(fd, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", 39);
        return true;
    }
    end = size - 1;
    range = strstr(request, "Range: bytes=");
    partial = range != NULL && !atomic_load(&server.ignore_ranges);
    if (partial && sscanf(range, "Range: bytes=%llu-%llu", &begin, &end) == 2 && end >= size) end = size - 1;
    snprintf(head, sizeof head,
             "HTTP/1.1 %s\r\nETag: \"v%d\"\r\nContent-Range: bytes %llu-%llu/%zu\r\nContent-Length: %llu\r\n\r\n",
             partial ? "206 Part" : "200 OK", begin > 0 ? atomic_load(&server.change_tag) : 0, begin, end, size,
             end + 1 - begin);
    send_all(fd, head, strlen(head));
    if (atomic_exchange(&server.cut_next, 0)) {
        send_all(fd, file + begin, 100);
        whole = false;
    } else {
        send_all(fd, file + begin, (size_t)(end + 1 - begin));
        atomic_fetch_add(&server.sent, (long)(end + 1 - begin));
    }
    free(own);
    return whole;
}

static void *serve(void *unused)
{
    while (!atomic_load(&server.quit)) {
        int fd = accept(server.listener, NULL, NULL);
        if (fd < 0) break;
        while (!atomic_load(&server.quit) && answer(fd)) {}
        close(fd);
    }
    return unused;
}

static const char *address(const char *name)
{
    static char text[4][128];
    static int turn;
    char *p = text[turn++ % 4];

    snprintf(p, sizeof text[0], "http://127.0.0.1:%d/%s", server.port, name);
    return p;
}

static void reset(void)
{
    atomic_store(&server.requests, 0);
    atomic_store(&server.sent, 0);
    atomic_store(&server.fail_next, 0);
    atomic_store(&server.ignore_ranges, 0);
    atomic_store(&server.change_tag, 0);
    atomic_store(&server.cut_next, 0);
}

static int64_t records_of(int64_t skip, lks_status *last)
{
    const char *url = address("file");
    lks_dataset *ds = lks_skip(lks_tfrecord(1, &url, .allow_http = LKS_TRUE), skip);
    lks_iter *it = NULL;
    lks_element *e;
    int64_t n = 0;

    assert_status(lks_iter_create(ds, &it), LKS_OK);
    while ((*last = lks_iter_next(it, &e)) == LKS_OK) {
        const lks_bytes *b = lks_tensor_cdata(lks_element_tensor(e, 0));
        assert_int_equal((unsigned char)b->data[b->size - 1], (skip + n) % 256);
        lks_element_release(e);
        n++;
    }
    lks_iter_release(it);
    lks_dataset_release(ds);
    return n;
}

enum { RECORDS_THERE = 160 };

static void a_file_is_read_by_ranges(void **state)
{
    lks_status last;

    (void)state;
    reset();
    assert_int_equal(records_of(0, &last), RECORDS_THERE);
    assert_int_equal(last, LKS_END);
    assert_int_equal(atomic_load(&server.requests), 3);
}

static void what_is_passed_over_is_not_fetched(void **state)
{
    lks_status last;
    long all = (long)server.size;

    (void)state;
    reset();
    assert_int_equal(records_of(RECORDS_THERE - 2, &last), 2);
    assert_true(atomic_load(&server.sent) <= all);
}

static void a_busy_server_is_asked_again(void **state)
{
    lks_status last;

    (void)state;
    reset();
    atomic_store(&server.fail_next, 2);
    assert_int_equal(records_of(0, &last), RECORDS_THERE);
    assert_int_equal(atomic_load(&server.requests), 5);
    reset();
    atomic_store(&server.cut_next, 1);
    assert_int_equal(records_of(0, &last), RECORDS_THERE);
    reset();
    atomic_store(&server.fail_next, 100);
    assert_int_equal(records_of(0, &last), 0);
    assert_int_equal(last, LKS_E_IO);
    assert_non_null(strstr(lks_last_error(), "given up after 5 tries"));
}

static void servers_without_ranges_and_without_the_file(void **state)
{
    const char *url = address("none");
    lks_remote *r = NULL;
    lks_status last;

    (void)state;
    reset();
    atomic_store(&server.ignore_ranges, 1);
    assert_int_equal(records_of(0, &last), RECORDS_THERE);
    assert_int_equal(atomic_load(&server.requests), 1);
    assert_status(lks__remote_open(url, &r), LKS_E_NOTFOUND);
    assert_non_null(strstr(lks_last_error(), "404"));
}

static void a_file_that_changes_is_noticed(void **state)
{
    lks_status last;

    (void)state;
    reset();
    atomic_store(&server.change_tag, 7);
    assert_true(records_of(0, &last) < RECORDS_THERE);
    assert_int_equal(last, LKS_E_FORMAT);
    assert_non_null(strstr(lks_last_error(), "changed while it was read"));
}

static void see_label(lks_element *e, int64_t i)
{
    assert_int_equal(int_of(e, 1), i + 1);
}

static void a_tfds_folder_is_read_from_its_address(void **state)
{
    (void)state;
    reset();
    write_tfds();
    assert_int_equal(
        each(lks_tfds(address("tiny"), "train[1:]", .as_supervised = LKS_TRUE, .allow_http = LKS_TRUE), see_label), 2);
    assert_fails(lks_tfds(address("tiny"), "train"), LKS_E_ARG, "allow_http");
    assert_fails(lks_tfds(address("small"), "train", .allow_http = LKS_TRUE), LKS_E_NOTFOUND, "404");
}

static void plain_http_is_refused_unless_allowed(void **state)
{
    const char *url = address("file");

    (void)state;
    assert_fails(lks_tfrecord(1, &url), LKS_E_ARG, "allow_http");
}

static int begin(void **state)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;
    lks_record_writer *w = NULL;
    unsigned char *record = calloc(1, SIZE / RECORDS_THERE);
    const char *name;
    FILE *f;

    if (make_folder(state) != 0) return -1;
    name = path("remote.tfrecord");
    if (lks_record_writer_open(&w, name) != LKS_OK) return -1;
    for (int i = 0; i < RECORDS_THERE; i++) {
        record[SIZE / RECORDS_THERE - 1] = (unsigned char)i;
        if (lks_record_writer_write(w, record, SIZE / RECORDS_THERE) != LKS_OK) return -1;
    }
    free(record);
    if (lks_record_writer_close(w) != LKS_OK) return -1;
    server.file = malloc(SIZE + 65536);
    f = fopen(name, "rb");
    server.size = fread(server.file, 1, SIZE + 65536, f);
    fclose(f);
    server.listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(server.listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(server.listener, 8) != 0) return -1;
    getsockname(server.listener, (struct sockaddr *)&a, &n);
    server.port = ntohs(a.sin_port);
    return pthread_create(&server.thread, NULL, serve, NULL);
}

static int end(void **state)
{
    atomic_store(&server.quit, 1);
    shutdown(server.listener, SHUT_RDWR);
    close(server.listener);
    pthread_join(server.thread, NULL);
    free(server.file);
    return remove_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_by_ranges),
        cmocka_unit_test(what_is_passed_over_is_not_fetched),
        cmocka_unit_test(a_busy_server_is_asked_again),
        cmocka_unit_test(servers_without_ranges_and_without_the_file),
        cmocka_unit_test(a_file_that_changes_is_noticed),
        cmocka_unit_test(plain_http_is_refused_unless_allowed),
        cmocka_unit_test(a_tfds_folder_is_read_from_its_address),
    };

#ifndef LKS_HAVE_LIBCURL
    return 0;
#endif
    return cmocka_run_group_tests(tests, begin, end);
}
