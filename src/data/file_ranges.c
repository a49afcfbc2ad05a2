/* file_ranges.c - names with ranges of numbers, "train-{000..146}.tar", written out. The numbers have as many digits as the first. */
#include <stdio.h>
#include <string.h>

#include "file_source.h"

enum { MOST = 1000000 };

typedef struct names {
    char **item;
    size_t n, room;
} names;

static void free_names(names *l)
{
    for (size_t i = 0; i < l->n; i++) lks__free(l->item[i]);
    lks__free(l->item);
}

static lks_status add(names *l, const char *text)
{
    LKS_TRY(lks__grow(&l->item, &l->room, l->n + 1, sizeof *l->item));
    l->item[l->n] = lks__strdup(text);
    if (l->item[l->n] == NULL) return lks__fail(LKS_E_NOMEM, "no memory for file names");
    l->n++;
    return LKS_OK;
}

/* Digits at *p; their number in *width. */
static long long number(const char **p, int *width)
{
    long long v = 0;

    for (*width = 0; **p >= '0' && **p <= '9' && *width < 12; ++*p, ++*width) v = 10 * v + (**p - '0');
    return v;
}

/* The first "{a..b}" of the text: where it begins and ends. False: there is none. */
static bool find_range(const char *text, const char **begin, const char **end, long long *a, long long *b, int *width)
{
    for (const char *p = strchr(text, '{'); p != NULL; p = strchr(p + 1, '{')) {
        const char *q = p + 1;
        int second;
        *a = number(&q, width);
        if (*width == 0 || q[0] != '.' || q[1] != '.') continue;
        q += 2;
        *b = number(&q, &second);
        if (second == 0 || *q != '}') continue;
        *begin = p;
        *end = q + 1;
        return true;
    }
    return false;
}

/* Ranges from left to right: the first varies slowest. */
static lks_status expand(names *l, const char *text)
{
    const char *begin, *end;
    long long a, b;
    int width;
    lks_status status = LKS_OK;

    if (!find_range(text, &begin, &end, &a, &b, &width)) return add(l, text);
    if (b < a || b - a >= MOST)
        return lks__fail(LKS_E_ARG, "the range in '%s' must rise and have at most %d numbers", text, MOST);
    for (long long i = a; i <= b && status == LKS_OK; i++) {
        size_t room = strlen(text) + 24;
        char *one = lks__malloc(room);
        if (one == NULL) return lks__fail(LKS_E_NOMEM, "no memory for file names");
        snprintf(one, room, "%.*s%0*lld%s", (int)(begin - text), text, width, i, end);
        status = l->n > MOST ? lks__fail(LKS_E_LIMIT, "the ranges give more than %d names", MOST) : expand(l, one);
        lks__free(one);
    }
    return status;
}

lks_status lks__file_list_ranges(lks_file_list *list, size_t n, const char *const *files, const lks_files_options *o)
{
    names l = { NULL, 0, 0 };
    lks_status status = LKS_OK;

    for (size_t i = 0; i < n && status == LKS_OK; i++)
        status = files[i] == NULL ? lks__fail(LKS_E_ARG, "file name %zu is NULL", i) : expand(&l, files[i]);
    if (status == LKS_OK) status = lks__file_list_init(list, l.n, (const char *const *)l.item, o);
    free_names(&l);
    return status;
}
