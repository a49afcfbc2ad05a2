/* words.c - see words.h. Near are words with few letters to change, longer words that begin so ("categorical"), and words whose
 * parts have these initials ("lr" for learning_rate). */
#include "words.h"

#include <string.h>

#include "text.h"

/* Levenshtein distance of short words; longer ones are cut, which only makes them less near. */
static int distance(const char *a, const char *b)
{
    enum { MAX = 64 };
    int row[MAX + 1];
    int na = (int)strlen(a), nb = (int)strlen(b);

    if (na > MAX) na = MAX;
    if (nb > MAX) nb = MAX;
    for (int j = 0; j <= nb; j++) row[j] = j;
    for (int i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            int up = row[j], same = lks__ascii_lower(a[i - 1]) == lks__ascii_lower(b[j - 1]);
            int best = diagonal + !same;
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diagonal = up;
        }
    }
    return row[nb];
}

static bool begins_with(const char *word, const char *begin)
{
    size_t n = strlen(begin);

    for (size_t i = 0; i < n; i++)
        if (lks__ascii_lower(word[i]) != lks__ascii_lower(begin[i])) return false;
    return n >= 3;
}

static bool has_initials(const char *word, const char *initials)
{
    const char *at = word;

    for (; *initials != '\0' && at != NULL; initials++) {
        if (lks__ascii_lower(*at) != lks__ascii_lower(*initials)) return false;
        at = strchr(at, '_');
        if (at != NULL) at++;
    }
    return *initials == '\0' && at == NULL && strchr(word, '_') != NULL;
}

const char *lks__nearest(const char *word, const char *const *list)
{
    const char *best = NULL;
    int limit = (int)strlen(word) / 3 + 2;

    for (; *list != NULL; list++) {
        int d = begins_with(*list, word) || has_initials(*list, word) ? 1 : distance(word, *list);
        if (d < limit) {
            limit = d;
            best = *list;
        }
    }
    return best;
}

void lks__words_join(const char *const *list, char *out, size_t size)
{
    size_t used = 0;

    for (; *list != NULL && used + strlen(*list) + 8 <= size; list++) {
        if (used > 0) memcpy(out + used, ", ", 2), used += 2;
        memcpy(out + used, *list, strlen(*list));
        used += strlen(*list);
    }
    memcpy(out + used, *list != NULL ? ", ..." : "", *list != NULL ? 6 : 1);
}

lks_status lks__no_such(lks_status code, const char *what, const char *word, const char *const *list)
{
    const char *near = lks__nearest(word, list);
    char all[400];

    if (near != NULL) return lks__fail(code, "there is no %s \"%.80s\"; did you mean \"%s\"?", what, word, near);
    if (*list == NULL) return lks__fail(code, "there is no %s \"%.80s\", nor any other", what, word);
    lks__words_join(list, all, sizeof all);
    return lks__fail(code, "there is no %s \"%.80s\"; there are: %s", what, word, all);
}
