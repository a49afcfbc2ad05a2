/* machine.c - see machine.h. Linux tells it in /proc/cpuinfo and through sysconf. */
#include "machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One word a line of this table; more than one name for the same thing never appear on one machine. */
static const char *const telling[] = { "sse4_2",   "avx",      "avx2",     "fma",         "f16c",        "avx512f",
                                       "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16", "amx_tile",
                                       "amx_bf16", "sha_ni",   "asimd",    "asimdhp",     "sve",         NULL };

static int has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = text; (at = strstr(at, word)) != NULL; at += n)
        if ((at == text || at[-1] == ' ' || at[-1] == '\t') && (at[n] == ' ' || at[n] == '\n' || at[n] == '\0'))
            return 1;
    return 0;
}

static void add_word(char *to, size_t size, const char *word)
{
    size_t n = strlen(to);

    snprintf(to + n, size - n, "%s%s", n > 0 ? " " : "", word);
}

/* "key : value" of the first processor. */
static void read_line(const char *line, cli_machine *m)
{
    const char *value = strchr(line, ':');

    if (value == NULL) return;
    value += value[1] == ' ' ? 2 : 1;
    if (strncmp(line, "model name", 10) == 0 && m->processor[0] == '\0')
        snprintf(m->processor, sizeof m->processor, "%.*s", (int)strcspn(value, "\n"), value);
    if ((strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0) && m->flags[0] == '\0')
        for (int i = 0; telling[i] != NULL; i++)
            if (has_word(value, telling[i])) add_word(m->flags, sizeof m->flags, telling[i]);
}

/* Linux' own table of processor 0's caches; the C library's figures for some virtual machines are of the whole socket. */
static long cache_size(const char *index, int name)
{
    char path[96];
    long kib = 0, n = sysconf(name);
    FILE *file;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/%s/size", index);
    file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%ldK", &kib) != 1) kib = 0;
        fclose(file);
    }
    return kib > 0 ? kib << 10 : n > 0 ? n : 0;
}

void cli_know_machine(cli_machine *out)
{
    static char line[16384];
    FILE *file = fopen("/proc/cpuinfo", "r");

    memset(out, 0, sizeof *out);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) read_line(line, out);
    if (file != NULL) fclose(file);
    if (out->processor[0] == '\0') snprintf(out->processor, sizeof out->processor, "unknown processor");
    out->cores = cli_usable_cores();
    out->l1d = cache_size("index0", _SC_LEVEL1_DCACHE_SIZE);
    out->l2 = cache_size("index2", _SC_LEVEL2_CACHE_SIZE);
    out->l3 = cache_size("index3", _SC_LEVEL3_CACHE_SIZE);
}

void cli_print_machine(const cli_machine *m)
{
    printf("%s, %d core%s; caches %ld KiB L1d, %ld KiB L2, %ld KiB L3\n", m->processor, m->cores,
           m->cores == 1 ? "" : "s", m->l1d >> 10, m->l2 >> 10, m->l3 >> 10);
    printf("instruction sets: %s\n", m->flags);
}

void cli_line_machine(cli_line *line)
{
    cli_machine m;

    cli_know_machine(&m);
    cli_line_string(line, "processor", m.processor);
    cli_line_string(line, "flags", m.flags);
    cli_line_int(line, "cores", m.cores);
    cli_line_int(line, "l1d_bytes", m.l1d);
    cli_line_int(line, "l2_bytes", m.l2);
    cli_line_int(line, "l3_bytes", m.l3);
}

void cli_line_limits(cli_line *line, const cli_limits *limits)
{
    cli_line_int(line, "threads", limits->threads);
    cli_line_string(line, "peak_isa", limits->isa);
    cli_line_number(line, "peak_gflops", limits->gflops);
    cli_line_number(line, "peak_gflops_one", limits->gflops_one);
    cli_line_number(line, "memory_gbytes_per_s", limits->gbytes_per_s);
}
