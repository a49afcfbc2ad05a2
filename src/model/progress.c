/* progress.c - see progress.h. A draw is one string: backspaces over the old line, the bar, the time, the values, blanks
 * over what is left of a longer old line. The width kept is the visible one, without the escape sequences.
 *
 * Keras' bar runs past its end when a step counts for several (9/7, 25 cells); here it stops at the end.
 */
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CELLS = 20 };
static const double redraw_after = 0.05; /* seconds */

static double monotonic(void *user)
{
    struct timespec t;

    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(const lks_progress *p)
{
    return p->setup.clock(p->setup.clock_user);
}

void lks__progress_begin(lks_progress *p, const lks_progress_setup *setup)
{
    memset(p, 0, sizeof *p);
    p->setup = *setup;
    if (p->setup.clock == NULL) p->setup.clock = monotonic;
    p->first_step = -1;
}

void lks__progress_epoch(lks_progress *p, int64_t epoch)
{
    if (p->setup.verbose == 0) return;
    p->seen = p->width = 0;
    p->drawn = false;
    p->first_step = -1;
    p->start = now(p);
    if (p->setup.epochs > 1) lks__printf("Epoch %lld/%lld\n", (long long)epoch + 1, (long long)p->setup.epochs);
}

void lks__progress_end(lks_progress *p)
{
    lks__text_free(&p->line);
}

/* ---- pieces of a line; each returns nothing and counts its visible characters in p->width ---- */

static void visible(lks_progress *p, const char *text)
{
    lks__text_puts(&p->line, text);
    p->width += (int64_t)strlen(text);
}

static void escape(lks_progress *p, const char *code)
{
    lks__text_puts(&p->line, code);
}

static void cells(lks_progress *p, const char *colour, int64_t n)
{
    escape(p, colour);
    for (int64_t i = 0; i < n; i++) lks__text_puts(&p->line, "\xe2\x94\x81"); /* U+2501 */
    escape(p, "\x1b[0m");
    p->width += n;
}

/* The host's locale may have another decimal point than '.'; not-a-number has no sign in Python. */
static void visible_value(lks_progress *p, double value, bool fixed)
{
    char raw[512], text[512];
    size_t n = 0;

    if (isnan(value)) value = (double)NAN;
    snprintf(raw, sizeof raw, fixed ? "%.4f" : "%.4e", value);
    for (const char *c = raw; *c != '\0'; c++) {
        if (strchr("0123456789+-einfa", *c) != NULL) text[n++] = *c;
        else if (n == 0 || text[n - 1] != '.') text[n++] = '.';
    }
    text[n] = '\0';
    visible(p, text);
}

static void visible_logs(lks_progress *p, const lks_logs *logs, bool by_size)
{
    for (size_t i = 0; logs != NULL && i < logs->n; i++) {
        double value = logs->items[i].value;
        visible(p, " - ");
        visible(p, logs->items[i].name);
        visible(p, ": ");
        visible_value(p, value, (by_size ? fabs(value) : value) > 1e-3); /* verbose 2 forgets the sign, as Keras */
    }
}

static void visible_per_step(lks_progress *p, double seconds)
{
    char text[64];

    if (seconds >= 1 || seconds == 0) snprintf(text, sizeof text, " %.0fs/step", seconds);
    else if (seconds >= 1e-3) snprintf(text, sizeof text, " %.0fms/step", seconds * 1e3);
    else snprintf(text, sizeof text, " %.0fus/step", seconds * 1e6);
    visible(p, text);
}

/* "17/313", the first number as wide as the second. */
static void visible_count(lks_progress *p, int64_t seen)
{
    char target[32], text[64];

    snprintf(target, sizeof target, "%lld", (long long)p->setup.target);
    snprintf(text, sizeof text, "%*lld/%s", (int)strlen(target), (long long)seen, target);
    visible(p, text);
}

static void visible_bar(lks_progress *p, int64_t seen)
{
    int64_t target = p->setup.target, done;

    if (target <= 0) {
        char text[64];
        snprintf(text, sizeof text, "%7lld/Unknown", (long long)seen);
        visible(p, text);
        return;
    }
    if (seen > target) seen = target;
    escape(p, "\x1b[1m");
    visible_count(p, seen);
    escape(p, "\x1b[0m");
    visible(p, " ");
    done = (int64_t)(CELLS * ((double)seen / (double)target));
    if (done > 0) cells(p, "\x1b[32m", done);
    cells(p, "\x1b[37m", CELLS - done);
}

static void visible_time(lks_progress *p, double per_step, bool final, double t)
{
    char text[64];
    int64_t eta = 0;
    double left = per_step * (double)(p->setup.target - p->seen);

    if (p->setup.target <= 0 || final) {
        snprintf(text, sizeof text, "%.0fs", t - p->start);
    } else {
        eta = left > 0 && left < 9e15 ? (int64_t)left : 0;
        if (left > 3600)
            snprintf(text, sizeof text, "%lld:%02d:%02d", (long long)(eta / 3600), (int)(eta % 3600 / 60),
                     (int)(eta % 60));
        else if (left > 60) snprintf(text, sizeof text, "%lld:%02d", (long long)(eta / 60), (int)(eta % 60));
        else snprintf(text, sizeof text, "%llds", (long long)eta);
    }
    visible(p, " ");
    escape(p, "\x1b[1m");
    visible(p, text);
    escape(p, "\x1b[0m");
}

/* ---- drawing ---- */

/* Seconds a step; the first, which builds and warms up, counts only while it is alone. */
static double per_step(const lks_progress *p, double t)
{
    if (p->seen == 0) return 0;
    if (p->first_step >= 0 && p->seen > 1) return (t - p->first_step) / (double)(p->seen - 1);
    return (t - p->start) / (double)p->seen;
}

static void print_line(lks_progress *p)
{
    if (!p->line.failed && p->line.length > 0) lks__print(p->line.data, p->line.length);
}

static void draw(lks_progress *p, const lks_logs *logs, double seconds, bool final, double t)
{
    int64_t old = p->width;

    p->line.length = 0;
    p->width = 0;
    for (int64_t i = 0; i < old; i++) escape(p, "\b");
    escape(p, "\r");
    visible_bar(p, p->seen);
    visible_time(p, seconds, final, t);
    visible_per_step(p, seconds);
    visible_logs(p, logs, true);
    for (int64_t i = p->width; i < old; i++) escape(p, " ");
    if (final) escape(p, "\n");
    print_line(p);
    p->drawn = true;
    p->last_draw = t;
}

static void print_epoch(lks_progress *p, const lks_logs *logs, double seconds, double t)
{
    char text[64];

    p->line.length = 0;
    visible_count(p, p->seen);
    snprintf(text, sizeof text, " - %.0fs -", t - p->start);
    visible(p, text);
    visible_per_step(p, seconds);
    visible_logs(p, logs, false);
    escape(p, "\n");
    print_line(p);
}

bool lks__progress_step(lks_progress *p, int64_t seen)
{
    if (p->setup.verbose == 0) return false;
    p->seen = seen;
    if (p->setup.verbose != 1) return false;
    p->now = now(p);
    p->per_step = per_step(p, p->now);
    if (seen == 1) p->first_step = p->now;
    return !p->drawn || p->now - p->last_draw >= redraw_after;
}

void lks__progress_draw(lks_progress *p, const lks_logs *logs)
{
    if (p->setup.verbose == 1) draw(p, logs, p->per_step, false, p->now);
}

/* An epoch that ended early is shown as whole: Keras sets the count to the target. */
void lks__progress_finish(lks_progress *p, const lks_logs *logs)
{
    double t;

    if (p->setup.verbose == 0) return;
    t = now(p);
    if (p->setup.target <= 0) p->setup.target = p->seen;
    p->seen = p->setup.target;
    if (p->setup.verbose == 1) draw(p, logs, per_step(p, t), true, t);
    else print_epoch(p, logs, per_step(p, t), t);
}
