/* ledger.c - one account for the process. It counts what the stages' buffers have allocated, so it is what the process really holds,
 * and what work under way is about to allocate. */
#include "ledger.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/quota.h"
#include "base/text.h"
#include "lockstep/dataset_budget.h"
#include "stage.h"
#include "work.h"

static atomic_int_fast64_t in_use, reserved, peak, budget; /* budget 0: not settled */
static atomic_int threads, io_threads;                     /* 0: not settled; -1: none given */
enum { IO_THREADS = 8 };

/* "300M" in bytes; 0 where it is no size. */
static int64_t parse_size(const char *text)
{
    static const char units[] = "KMGT";
    char digits[24];
    size_t n = 0;
    int64_t value;
    const char *unit;

    while (text[n] >= '0' && text[n] <= '9' && n < sizeof digits - 1) n++;
    memcpy(digits, text, n);
    digits[n] = '\0';
    if (!lks__parse_int(digits, &value) || value <= 0) return 0;
    if (text[n] == '\0') return value;
    unit = strchr(units, text[n] >= 'a' ? text[n] - 'a' + 'A' : text[n]);
    if (unit == NULL) return 0;
    for (const char *u = units; u <= unit; u++) value = value > INT64_MAX / 1024 ? INT64_MAX : value * 1024;
    return value;
}

/* Of the machine, or of a cgroup where that is less. */
static int64_t memory_limit(void)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE), limit = pages > 0 ? pages * size : 1 << 30;
    double group = lks__cgroup_memory("/sys/fs/cgroup", "/proc/self/cgroup");

    return group >= 1 && group < (double)limit ? (int64_t)group : limit;
}

static int64_t default_budget(void)
{
    const char *text = getenv("LOCKSTEP_DATA_MEMORY");
    int64_t given = text == NULL || *text == '\0' ? 0 : parse_size(text);

    if (text != NULL && *text != '\0' && given == 0)
        lks__warn("LOCKSTEP_DATA_MEMORY is \"%s\": not a size such as 300M or 2G, so it is left out", text);
    return given > 0 ? given : memory_limit() / 4;
}

int64_t lks__ledger_budget(void)
{
    int64_t b = atomic_load_explicit(&budget, memory_order_relaxed);

    if (b > 0) return b;
    b = default_budget();
    atomic_store_explicit(&budget, b, memory_order_relaxed);
    return b;
}

void lks__ledger_add(int64_t bytes)
{
    int64_t now = atomic_fetch_add_explicit(&in_use, bytes, memory_order_relaxed) + bytes;
    int_fast64_t top = atomic_load_explicit(&peak, memory_order_relaxed);

    while (now > top && !atomic_compare_exchange_weak(&peak, &top, now)) continue;
}

bool lks__ledger_reserve(int64_t bytes)
{
    int64_t used = atomic_load_explicit(&in_use, memory_order_relaxed);
    int64_t held = atomic_fetch_add_explicit(&reserved, bytes, memory_order_relaxed);

    int64_t b = lks__ledger_budget(),
            rest = bytes < b / 8 ? 4 * bytes : b / 2; /* left to what must go on in any case */

    if (used + held + bytes <= b - rest) return true;
    atomic_fetch_sub_explicit(&reserved, bytes, memory_order_relaxed);
    return false;
}

void lks__ledger_unreserve(int64_t bytes)
{
    atomic_fetch_sub_explicit(&reserved, bytes, memory_order_relaxed);
}

bool lks__ledger_tight(void)
{
    int64_t b = lks__ledger_budget();

    return atomic_load_explicit(&in_use, memory_order_relaxed) + atomic_load_explicit(&reserved, memory_order_relaxed) >
           b / 2;
}

double lks__ledger_share(void)
{
    int64_t taken = atomic_load_explicit(&in_use, memory_order_relaxed) +
                    atomic_load_explicit(&reserved, memory_order_relaxed);

    return (double)taken / (double)lks__ledger_budget();
}

/* The number given to the process or by the environment; -1: none. */
static int settle(atomic_int *known, const char *variable)
{
    int n = atomic_load_explicit(known, memory_order_relaxed);
    const char *text = n == 0 ? getenv(variable) : NULL;
    int64_t value = 0;

    if (n != 0) return n;
    n = text != NULL && lks__parse_int(text, &value) && value > 0 && value < 1024 ? (int)value : -1;
    atomic_store_explicit(known, n, memory_order_relaxed);
    return n;
}

int lks__data_threads(void)
{
    int n = settle(&threads, "LOCKSTEP_DATA_THREADS");

    return n > 0 ? n : 0;
}

int lks__data_io_threads(void)
{
    int n = settle(&io_threads, "LOCKSTEP_DATA_IO_THREADS");

    return n > 0 ? n : IO_THREADS;
}

lks_status lks_set_data_budget(const lks_data_budget *given)
{
    lks_data_budget b;

    lks__options(&b, sizeof b, given);
    if (b.memory_bytes < 0 || b.threads < 0 || b.threads > 1024 || b.io_threads < 0 || b.io_threads > 1024)
        return lks__fail(
            LKS_E_ARG,
            "lks_set_data_budget: memory_bytes is %lld, threads %lld and io_threads %lld; none may be negative, "
            "nor threads more than 1024",
            (long long)b.memory_bytes, (long long)b.threads, (long long)b.io_threads);
    atomic_store(&budget, b.memory_bytes > 0 ? b.memory_bytes : default_budget());
    atomic_store(&threads, b.threads > 0 ? (int)b.threads : 0);
    atomic_store(&io_threads, b.io_threads > 0 ? (int)b.io_threads : 0);
    return LKS_OK;
}

void lks_get_data_usage(lks_data_usage *out)
{
    lks_data_usage u = { .memory_budget = lks__ledger_budget(),
                         .memory_bytes = atomic_load(&in_use),
                         .peak_bytes = atomic_load(&peak),
                         .threads = lks__work_threads(),
                         .io_threads = lks__data_io_threads() };
    size_t size = out->struct_size < sizeof u ? out->struct_size : sizeof u;

    u.struct_size = out->struct_size;
    memcpy(out, &u, size);
}
