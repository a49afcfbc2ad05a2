/* report.c - see golden.h: counting cases and saying what came of them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "golden.h"

bool golden_begin(golden_report *r, const char *name)
{
    if (r->only != NULL && strstr(name, r->only) == NULL) return false;
    snprintf(r->name, sizeof r->name, "%s", name);
    r->faults = 0;
    r->reason[0] = '\0';
    r->case_worst = 0;
    return true;
}

static void count_missing(golden_report *r, const char *what, int count)
{
    for (int i = 0; i < r->n_missing; i++) {
        if (strcmp(r->missing[i].what, what) != 0) continue;
        r->missing[i].count += count;
        return;
    }
    if (r->n_missing == GOLDEN_MISSING) return;
    snprintf(r->missing[r->n_missing].what, sizeof r->missing[0].what, "%s", what);
    r->missing[r->n_missing++].count = count;
}

void golden_end(golden_report *r)
{
    if (r->reason[0] != '\0') {
        r->not_yet++;
        count_missing(r, r->reason, 1);
        if (r->verbose) printf("  %s: not yet: %s\n", r->name, r->reason);
        return;
    }
    if (r->faults > 0) {
        r->failed++;
        return;
    }
    r->passed++;
    if (r->case_worst > r->worst) {
        r->worst = r->case_worst;
        memcpy(r->worst_case, r->name, sizeof r->worst_case);
    }
}

/* The first fault of a case is always printed, the others when asked for. */
void golden_fault(golden_report *r, const char *fmt, ...)
{
    va_list args;

    if (r->reason[0] != '\0') return;
    if (r->faults++ > 0 && !r->verbose) return;
    printf("  %s: FAILED: ", r->name);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
}

void golden_not_yet(golden_report *r, const char *fmt, ...)
{
    va_list args;

    if (r->reason[0] != '\0') return;
    va_start(args, fmt);
    vsnprintf(r->reason, sizeof r->reason, fmt, args);
    va_end(args);
}

/* "layer LSTM" from a sentence such as: there is no layer "LSTM"; ... False: the sentence says nothing of that kind. */
static bool missing_kind(const char *sentence, char *out, size_t size)
{
    const char *what = strstr(sentence, "there is no "), *open, *close;

    if (what == NULL) return false;
    what += strlen("there is no ");
    open = strchr(what, '"');
    close = open != NULL ? strchr(open + 1, '"') : NULL;
    if (close == NULL) return false;
    snprintf(out, size, "%.*s%.*s", (int)(open - what), what, (int)(close - open - 1), open + 1);
    return true;
}

bool golden_ok(golden_report *r, lks_status status, const char *doing)
{
    char kind[96];

    if (status == LKS_OK) return true;
    if ((status == LKS_E_UNSUPPORTED || status == LKS_E_ARG) && missing_kind(lks_last_error(), kind, sizeof kind)) {
        golden_not_yet(r, "%s", kind);
    } else if (status == LKS_E_UNSUPPORTED) {
        golden_not_yet(r, "%s", lks_last_error());
    } else {
        golden_fault(r, "%s: %s: %s", doing, lks_status_name(status), lks_last_error());
    }
    return false;
}

bool golden_running(const golden_report *r)
{
    return r->faults == 0 && r->reason[0] == '\0';
}

void golden_print(const char *group, const golden_report *r)
{
    printf("%-34s %4d passed, %3d failed, %4d not yet", group, r->passed, r->failed, r->not_yet);
    if (r->passed > 0) printf(", worst %.3f of its tolerance", r->worst);
    if (r->worst > 0) printf(" (%s)", r->worst_case);
    printf("\n");
    if (r->n_missing > 0) printf("    not yet:");
    for (int i = 0; i < r->n_missing; i++) {
        printf("%s %s (%d)", i > 0 ? "," : "", r->missing[i].what, r->missing[i].count);
    }
    if (r->n_missing > 0) printf("\n");
    fflush(stdout);
}

void golden_add(golden_report *sum, const golden_report *r)
{
    sum->passed += r->passed;
    sum->failed += r->failed;
    sum->not_yet += r->not_yet;
    if (r->worst > sum->worst) {
        sum->worst = r->worst;
        memcpy(sum->worst_case, r->worst_case, sizeof sum->worst_case);
    }
    for (int i = 0; i < r->n_missing; i++) count_missing(sum, r->missing[i].what, r->missing[i].count);
}
