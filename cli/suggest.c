/* suggest.c - "did you mean": the known word with the fewest letters to change (Levenshtein). */
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { WORD = 48 };

static int least(int a, int b, int c)
{
    int m = a < b ? a : b;

    return m < c ? m : c;
}

static int distance(const char *a, const char *b)
{
    int rows[2][WORD + 1], na = (int)strnlen(a, WORD), nb = (int)strnlen(b, WORD);

    for (int j = 0; j <= nb; j++) rows[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *above = rows[(i - 1) % 2], *row = rows[i % 2];
        row[0] = i;
        for (int j = 1; j <= nb; j++)
            row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
    }
    return rows[na % 2][nb];
}

const char *cli_suggestion(const char *word, const char *const *list)
{
    static char texts[2][WORD + 64];
    static int turn;
    const char *best = NULL;
    int nearest = (int)strnlen(word, WORD) / 3 + 2;
    char *text = texts[turn++ % 2];

    for (; *list != NULL; list++) {
        int d = distance(word, *list);
        bool begins = strlen(word) >= 3 && strncmp(word, *list, strlen(word)) == 0;
        if (begins) d = 1; /* "eval" */
        if (d < nearest) {
            nearest = d;
            best = *list;
        }
    }
    if (best == NULL) return "";
    snprintf(text, sizeof texts[0], "; did you mean \"%.*s\"?", WORD, best);
    return text;
}
