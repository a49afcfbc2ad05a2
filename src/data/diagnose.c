/* diagnose.c - a pass with meters, and what they mean. A pipeline is a row of threads with queues between; the busiest one is what it
 * waits for, and the stage with the most work on it is what to change. */
#include "lockstep/dataset_diagnose.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "function.h"
#include "fuse.h"
#include "iterator.h"
#include "ledger.h"
#include "meter.h"
#include "stages.h"
#include "work.h"

enum { NAME_TEXT = 192 };

struct lks_diagnosis {
    lks_meters meters;
    lks_stage_report report[LKS_MAX_METERS];
    char name[LKS_MAX_METERS][NAME_TEXT]; /* of functions */
    size_t n;
    int64_t elements;
    double seconds, waited;
    double file_bytes_per_s, files_busy; /* read from files; of the time of the threads for them */
    int threads;
    lks_bottleneck bottleneck;
    int64_t stage;
    double share; /* of the time that the busiest thread was busy */
    char *advice, *text;
};

static double load(atomic_int_fast64_t *v)
{
    return (double)atomic_load(v) * 1e-9;
}

/* ---- reading ---- */

static void sleep_ms(double ms)
{
    struct timespec t = { (time_t)(ms / 1000), 0 };

    t.tv_nsec = (long)((ms / 1000 - (double)t.tv_sec) * 1e9);
    if (ms > 0) nanosleep(&t, NULL);
}

static lks_status read_for_a_while(lks_diagnosis *d, lks_iter *it, const lks_diagnose_options *o)
{
    int64_t bytes[2], busy[2];
    int64_t begin = lks__wall_ns(), limit = (int64_t)((o->seconds > 0 ? o->seconds : 5) * 1e9), waited = 0, now = begin;
    lks_status status = LKS_OK;

    lks__work_io(&bytes[0], &busy[0]);
    while (now - begin < limit && (o->elements <= 0 || d->elements < o->elements)) {
        lks_element *e = NULL;
        int64_t asked = lks__wall_ns();
        status = lks_iter_next(it, &e);
        now = lks__wall_ns();
        if (d->elements > 0) waited += now - asked; /* the first one also starts everything */
        if (status != LKS_OK) break;
        d->elements++;
        lks_element_release(e);
        sleep_ms(o->consumer_ms);
    }
    d->seconds = (double)(lks__wall_ns() - begin) * 1e-9;
    lks__work_io(&bytes[1], &busy[1]);
    d->file_bytes_per_s = (double)(bytes[1] - bytes[0]) / d->seconds;
    d->files_busy = (double)(busy[1] - busy[0]) * 1e-9 / d->seconds / lks__data_io_threads();
    d->waited = (double)waited * 1e-9;
    return status == LKS_END ? LKS_OK : status;
}

/* ---- meaning ---- */

/* Numbers the threads: what lies below a prefetch is pulled by its thread. */
static void set_segments(lks_meters *m, const lks_dataset *ds, int segment, int *last)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->meter[i].dataset == ds) m->meter[i].segment = segment;
    if (ds->stage == &lks__stage_prefetch && lks__prefetch_size(ds) != 0) segment = ++*last;
    for (size_t i = 0; i < ds->n_inputs; i++) set_segments(m, ds->input[i], segment, last);
}

static const char *function_name(const lks_dataset *ds)
{
    bool has = ds->stage == &lks__stage_map || ds->stage == &lks__stage_flat_map ||
               ds->stage == &lks__stage_interleave || ds->stage == &lks__stage_filter;

    return has ? ((const lks_fn_dataset *)ds)->f.fn.name : "";
}

static bool has_meter(const lks_meters *m, const lks_dataset *ds)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->meter[i].dataset == ds) return true;
    return false;
}

/* The functions that run in this stage: its own, and those of maps below that have no line since they run as one with it. */
static const char *function_names(const lks_meters *m, const lks_dataset *ds, char text[NAME_TEXT])
{
    const lks_dataset *below = ds;
    lks_fused kind;
    size_t used;

    snprintf(text, NAME_TEXT, "%.*s", NAME_TEXT - 1, function_name(ds));
    if (ds->stage == &lks__stage_batch && (below = lks__fusable_map(ds, &kind)) != NULL && !has_meter(m, below))
        snprintf(text, NAME_TEXT, "%.*s", NAME_TEXT - 1, function_name(below));
    if (ds->stage != &lks__stage_map) return text;
    while ((below = below->input[0])->stage == &lks__stage_map && !has_meter(m, below)) {
        const char *name = function_name(below);
        used = strlen(text);
        if (used + strlen(name) + 3 > NAME_TEXT) break;
        memmove(text + strlen(name) + 2, text, used + 1); /* the lowest runs first */
        memcpy(text, name, strlen(name));
        memcpy(text + strlen(name), ", ", 2);
    }
    return text;
}

static double cpu_of(lks_meter *m)
{
    double sampled = load(&m->sample_wall_ns), own = load(&m->wall_ns);

    return (sampled > 0 ? own * load(&m->sample_cpu_ns) / sampled : 0) + load(&m->work_cpu_ns);
}

static void fill_reports(lks_diagnosis *d)
{
    d->n = d->meters.n;
    for (size_t i = 0; i < d->n; i++) {
        lks_meter *m = &d->meters.meter[i];
        lks_stage_report *r = &d->report[i];
        double n = (double)atomic_load(&m->elements);
        *r = (lks_stage_report){ .stage = m->dataset->stage->name,
                                 .what = function_names(&d->meters, m->dataset, d->name[i]),
                                 .number = m->dataset->number,
                                 .inner = m->inner,
                                 .elements = atomic_load(&m->elements),
                                 .per_s = d->seconds > 0 ? n / d->seconds : 0,
                                 .cpu_ms = n > 0 ? 1e3 * cpu_of(m) / n : 0,
                                 .busy_ms = n > 0 ? 1e3 * load(&m->wall_ns) / n : 0,
                                 .wait_s = load(&m->wait_ns),
                                 .full_s = load(&m->full_ns),
                                 .window = atomic_load(&m->window),
                                 .bytes = atomic_load(&m->bytes) };
    }
}

/* Without the longest call: a thread that is put off its core once, or a stage's first call, is not what limits a pass. */
static double usual_wall(lks_meter *m)
{
    return load(&m->wall_ns) - load(&m->longest_ns);
}

/* The busiest thread's stage with the most work of its own. */
static size_t busiest_stage(lks_diagnosis *d, double *share)
{
    double busy[LKS_MAX_METERS + 1] = { 0 };
    size_t segment = 0, stage = 0;
    double most = -1;

    for (size_t i = 0; i < d->n; i++)
        if (d->meters.meter[i].segment >= 0) busy[d->meters.meter[i].segment] += load(&d->meters.meter[i].wall_ns);
    for (size_t s = 0; s <= LKS_MAX_METERS; s++)
        if (busy[s] > busy[segment]) segment = s;
    for (size_t i = 0; i < d->n; i++) {
        lks_meter *m = &d->meters.meter[i];
        if ((m->segment == (int)segment || m->inner) && usual_wall(m) > most) {
            most = usual_wall(m);
            stage = i;
        }
    }
    *share = d->seconds > 0 ? busy[segment] / d->seconds : 0;
    return stage;
}

static bool is_source(const lks_dataset *ds)
{
    return ds->n_inputs == 0;
}

static void judge(lks_diagnosis *d, double consumer_ms)
{
    size_t stage, workers = 0;

    d->stage = -1;
    if (d->elements < 2 || d->n == 0) return;
    if (consumer_ms > 0 && d->waited < 0.05 * d->seconds) {
        d->bottleneck = LKS_BOUND_BY_CONSUMER;
        return;
    }
    stage = busiest_stage(d, &d->share);
    for (size_t i = 0; i < d->n; i++)
        if (load(&d->meters.meter[i].work_cpu_ns) > load(&d->meters.meter[workers].work_cpu_ns)) workers = i;
    if (load(&d->meters.meter[workers].work_cpu_ns) > 0.5 * d->threads * d->seconds) {
        d->bottleneck = LKS_BOUND_BY_CORES;
        d->stage = (int64_t)workers;
        d->share = 1;
        return;
    }
    d->stage = (int64_t)stage;
    d->bottleneck = LKS_BOUND_BY_STAGE;
    if (is_source(d->meters.meter[stage].dataset) &&
        cpu_of(&d->meters.meter[stage]) < 0.5 * load(&d->meters.meter[stage].wall_ns))
        d->bottleneck = LKS_BOUND_BY_SOURCE;
}

static void advise_stage(lks_text *t, const lks_diagnosis *d, size_t stage)
{
    const lks_dataset *ds = d->meters.meter[stage].dataset;
    bool function = function_name(ds)[0] != '\0';

    if (function && ds->stage == &lks__stage_map) {
        if (!(((const lks_fn_dataset *)ds)->f.fn.flags & LKS_FN_PURE))
            lks__text_puts(t, "If the function depends on its element alone, declare it LKS_FN_PURE and give the map "
                              ".num_parallel_calls = LKS_AUTOTUNE.");
        else if (d->report[stage].window > 0)
            lks__text_puts(
                t, "It runs on several threads already. Make it cheaper (smaller pictures, reduced-size decoding) "
                   "or, if it gives the same in every pass, put cache behind it.");
        else
            lks__text_puts(t,
                           "Give the map .num_parallel_calls = LKS_AUTOTUNE; if it gives the same in every pass, put "
                           "cache behind it.");
    } else if (ds->stage == &lks__stage_interleave || ds->stage == &lks__stage_flat_map) {
        lks__text_puts(t,
                       "Use interleave with .num_parallel_calls = LKS_AUTOTUNE, so that several datasets are read at "
                       "the same time.");
    } else if (ds->stage->is_files) {
        lks__text_puts(t, "Read several files at a time (.num_parallel_reads), and put prefetch behind it.");
    } else if (ds->stage == &lks__stage_shuffle || ds->stage == &lks__stage_filter) {
        lks__text_puts(t, "Put it below the costly functions, and end the pipeline with prefetch(LKS_AUTOTUNE).");
    } else if (d->meters.meter[0].dataset->stage == &lks__stage_prefetch) {
        lks__text_puts(
            t, "It copies: keep elements small (bytes rather than floats, converted by the model), or use larger "
               "batches.");
    } else {
        lks__text_puts(t, "End the pipeline with prefetch(LKS_AUTOTUNE) so that it works while the consumer does.");
    }
}

static lks_status write_advice(lks_diagnosis *d)
{
    const lks_stage_report *r = d->stage >= 0 ? &d->report[d->stage] : NULL;
    lks_text t = { 0 };

    if (r != NULL)
        lks__text_printf(&t, "Bottleneck: %s (stage %d%s)%s%s%s", r->stage, r->number,
                         r->inner ? " of a function's dataset" : "", r->what[0] ? " '" : "", r->what,
                         r->what[0] ? "'" : "");
    switch (d->bottleneck) {
    case LKS_BOUND_BY_NOTHING:
        lks__text_puts(&t, "Too few elements were read to tell what limits the pipeline.");
        break;
    case LKS_BOUND_BY_CONSUMER:
        lks__text_puts(&t, "The consumer is the bottleneck: it ");
        if (d->waited < 0.0005 * d->seconds) lks__text_puts(&t, "never waited for data");
        else lks__text_printf(&t, "waited for data only %.1f %% of the time", 100 * d->waited / d->seconds);
        lks__text_puts(&t, ". The pipeline needs no change.");
        break;
    case LKS_BOUND_BY_CORES:
        lks__text_printf(
            &t,
            " keeps all %d threads busy, %.3f ms of processor time an element. Make the function cheaper (smaller "
            "pictures, reduced-size decoding), do it once (cache, snapshot), or use more cores.",
            d->threads, r->cpu_ms);
        break;
    case LKS_BOUND_BY_SOURCE:
        lks__text_printf(&t, " waits for the disk or network: %.3f ms an element, %.3f of them computing. ", r->busy_ms,
                         r->cpu_ms);
        advise_stage(&t, d, (size_t)d->stage);
        break;
    case LKS_BOUND_BY_STAGE:
        lks__text_printf(&t, " takes %.3f ms an element on one thread. ", r->busy_ms);
        advise_stage(&t, d, (size_t)d->stage);
        break;
    }
    if ((d->bottleneck == LKS_BOUND_BY_STAGE || d->bottleneck == LKS_BOUND_BY_CORES) && d->share < 0.4)
        lks__text_printf(&t, " (Its thread computed only %.0f %% of the time: other programs may use the cores.)",
                         100 * d->share);
    return lks__text_take(&t, &d->advice);
}

/* Nothing of passes of one element: the first also starts everything, and is not counted. */
static void write_waiting(lks_text *t, const lks_diagnosis *d)
{
    double share = d->seconds > 0 ? 100 * d->waited / d->seconds : 0;

    if (d->elements < 2) return;
    if (share >= 0.05) lks__text_printf(t, "; the consumer waited %.1f %% of the time", share);
    else lks__text_puts(t, "; the consumer never waited");
}

/* What a line begins with, its end cut off where it is longer than anybody reads; returns its length. */
static int line_name(const lks_stage_report *r, char name[NAME_TEXT])
{
    enum { MOST = 64 };
    int n = snprintf(name, NAME_TEXT, "%s%d %s%s%s", r->inner ? "  " : "", r->number, r->stage, r->what[0] ? " " : "",
                     r->what);

    if (n > MOST) memcpy(name + MOST - 3, "...", 4);
    return n > MOST ? MOST : n;
}

static lks_status write_text(lks_diagnosis *d)
{
    char name[NAME_TEXT];
    lks_text t = { 0 };
    int width = 20;

    for (size_t i = 0; i < d->n; i++) {
        int n = line_name(&d->report[i], name);
        if (n > width) width = n;
    }
    lks__text_printf(&t, "%lld element%s in %.2f s (%.1f a second)", (long long)d->elements,
                     d->elements == 1 ? "" : "s", d->seconds, d->seconds > 0 ? (double)d->elements / d->seconds : 0);
    write_waiting(&t, d);
    lks__text_printf(&t, "\n\n%-*s %12s %10s %10s %8s %8s %7s %12s\n", width, "stage", "elements/s", "CPU ms",
                     "busy ms", "wait s", "full s", "window", "bytes");
    for (size_t i = 0; i < d->n; i++) {
        const lks_stage_report *r = &d->report[i];
        line_name(r, name);
        lks__text_printf(&t, "%-*s %12.1f %10.4f %10.4f %8.2f %8.2f %7lld %12lld\n", width, name, r->per_s, r->cpu_ms,
                         r->busy_ms, r->wait_s, r->full_s, (long long)r->window, (long long)r->bytes);
    }
    if (d->file_bytes_per_s > 0)
        lks__text_printf(&t, "\nFiles: %.1f MB/s; the %d threads for them were busy %.1f %% of the time.\n",
                         d->file_bytes_per_s * 1e-6, lks__data_io_threads(), 100 * d->files_busy);
    lks__text_printf(&t, "\n%s\n", d->advice);
    return lks__text_take(&t, &d->text);
}

/* ---- the whole ---- */

static lks_status diagnose(lks_diagnosis *d, lks_dataset *dataset, const lks_diagnose_options *o)
{
    lks_iter *it = NULL;
    lks_status status;
    int last = 0;

    LKS_TRY(lks__iter_create_metered(dataset, &d->meters, &it));
    status = read_for_a_while(d, it, o);
    lks_iter_release(it);
    LKS_TRY(status);
    set_segments(&d->meters, dataset, 0, &last);
    d->threads = lks__work_threads();
    fill_reports(d);
    judge(d, o->consumer_ms);
    LKS_TRY(write_advice(d));
    return write_text(d);
}

lks_status lks_dataset_diagnose_with(lks_dataset *dataset, lks_diagnosis **out, const lks_diagnose_options *options)
{
    lks_diagnosis *d;
    lks_diagnose_options o;
    lks_status status;

    if (out == NULL) return lks__fail(LKS_E_ARG, "lks_dataset_diagnose: the output is NULL");
    LKS_TRY(lks_dataset_status(dataset));
    lks__options(&o, sizeof o, options);
    if (o.seconds < 0 || o.elements < 0 || o.consumer_ms < 0 || o.consumer_ms > 1e6)
        return lks__fail(LKS_E_ARG, "lks_dataset_diagnose: seconds, elements and consumer_ms can't be negative");
    d = lks__calloc(1, sizeof *d);
    if (d == NULL || pthread_mutex_init(&d->meters.lock, NULL) != 0) {
        lks__free(d);
        return lks__fail(LKS_E_NOMEM, "no memory for a diagnosis");
    }
    lks__warn_traps(dataset, true);
    status = diagnose(d, dataset, &o);
    if (status == LKS_OK) *out = d;
    else lks_diagnosis_release(d);
    return status;
}

void lks_diagnosis_release(lks_diagnosis *d)
{
    if (d == NULL) return;
    for (size_t i = 0; i < d->meters.n; i++) lks_dataset_release(d->meters.meter[i].dataset);
    pthread_mutex_destroy(&d->meters.lock);
    lks__free(d->advice);
    lks__free(d->text);
    lks__free(d);
}

int64_t lks_diagnosis_elements(const lks_diagnosis *d)
{
    return d->elements;
}

double lks_diagnosis_seconds(const lks_diagnosis *d)
{
    return d->seconds;
}

double lks_diagnosis_wait_share(const lks_diagnosis *d)
{
    return d->seconds > 0 ? d->waited / d->seconds : 0;
}

size_t lks_diagnosis_stages(const lks_diagnosis *d)
{
    return d->n;
}

const lks_stage_report *lks_diagnosis_stage(const lks_diagnosis *d, size_t i)
{
    return i < d->n ? &d->report[i] : NULL;
}

lks_bottleneck lks_diagnosis_bottleneck(const lks_diagnosis *d, int64_t *stage)
{
    if (stage != NULL) *stage = d->stage;
    return d->bottleneck;
}

void lks_diagnosis_files(const lks_diagnosis *d, double *bytes_per_s, double *busy)
{
    if (bytes_per_s != NULL) *bytes_per_s = d->file_bytes_per_s;
    if (busy != NULL) *busy = d->files_busy;
}

const char *lks_diagnosis_advice(const lks_diagnosis *d)
{
    return d->advice;
}

const char *lks_diagnosis_text(const lks_diagnosis *d)
{
    return d->text;
}
