/* summary_table.c - see summary_table.h. Widths are in characters of UTF-8, each taken as one cell wide. */
#include "summary_table.h"

#include <string.h>

/* Keras gives its columns widths that add up to the line, and forgets paddings and borders; rich then takes the excess
 * from the columns in turn, each an equal part of what is left, halves rounded to even. */
lks_status lks__summary_layout(lks_summary_table *t, int64_t line_length, const double *positions)
{
    int excess = 3 * t->n_columns + 1, end = 0;

    if (line_length > 10000) return lks__fail(LKS_E_ARG, "summary: line_length must be at most 10000");
    for (int i = 0; i < t->n_columns; i++) {
        int left = t->n_columns - i, part = excess / left, rest = excess % left;
        if (2 * rest > left || (2 * rest == left && part % 2 == 1)) part++;
        t->width[i] = (int)(positions[i] * (double)line_length) - end + 2 - part;
        end = (int)(positions[i] * (double)line_length);
        excess -= part;
        if (t->width[i] < 4) {
            return lks__fail(LKS_E_ARG, "summary: a line of %lld characters is too short for %d columns",
                             (long long)line_length, t->n_columns);
        }
    }
    return LKS_OK;
}

static void rule(lks_summary_table *t, const char *left, const char *line, const char *cross, const char *right)
{
    for (int i = 0; i < t->n_columns; i++) {
        lks__text_puts(t->out, i == 0 ? left : cross);
        for (int k = 0; k < t->width[i]; k++) lks__text_puts(t->out, line);
    }
    lks__text_puts(t->out, right);
    lks__text_puts(t->out, "\n");
}

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static int count_characters(const char *text, size_t n)
{
    int count = 0;

    for (size_t i = 0; i < n; i++) count += starts_character(text[i]);
    return count;
}

/* Takes the next line of at most `width` characters off *text: as many words as fit, or the start of one that does not
 * fit alone. Returns its bytes; *length gets its characters. */
static size_t next_line(const char **text, int width, int *length, bool *cut)
{
    const char *start = *text, *p = start;
    size_t bytes = 0;

    *cut = false;
    while (*p != '\0') {
        const char *end = p + strcspn(p, " ");
        if (count_characters(start, (size_t)(end - start)) > width && bytes > 0) break;
        bytes = (size_t)(end - start);
        p = end + strspn(end, " ");
        if (count_characters(start, bytes) > width) break;
    }
    *text = p;
    *length = count_characters(start, bytes);
    if (*length <= width) return bytes;
    *cut = true;
    *length = width;
    for (bytes = 0; width > 1 || !starts_character(start[bytes]); bytes++) {
        if (starts_character(start[bytes])) width--;
    }
    return bytes;
}

static void blanks(lks_text *out, int n)
{
    while (n-- > 0) lks__text_puts(out, " ");
}

static void write_cell(lks_summary_table *t, int i, const char **text)
{
    int width = t->width[i] - 2, length;
    const char *start = *text;
    bool cut;
    size_t bytes = next_line(text, width, &length, &cut);

    blanks(t->out, 1 + (t->right[i] ? width - length : 0));
    lks__text_append(t->out, start, bytes);
    if (cut) lks__text_puts(t->out, "…");
    blanks(t->out, 1 + (t->right[i] ? 0 : width - length));
}

static void write_row(lks_summary_table *t, const char *const *cells, const char *line)
{
    const char *rest[LKS_SUMMARY_COLUMNS];
    bool more = true;

    for (int i = 0; i < t->n_columns; i++) rest[i] = cells[i];
    while (more) {
        more = false;
        for (int i = 0; i < t->n_columns; i++) {
            lks__text_puts(t->out, line);
            write_cell(t, i, &rest[i]);
            more = more || *rest[i] != '\0';
        }
        lks__text_puts(t->out, line);
        lks__text_puts(t->out, "\n");
    }
}

void lks__summary_head(lks_summary_table *t)
{
    rule(t, "┏", "━", "┳", "┓");
    write_row(t, t->head, "┃");
    rule(t, "┡", "━", "╇", "┩");
}

void lks__summary_row(lks_summary_table *t, const char *const *cells)
{
    if (t->rows) rule(t, "├", "─", "┼", "┤");
    t->rows = true;
    write_row(t, cells, "│");
}

void lks__summary_end(lks_summary_table *t)
{
    rule(t, "└", "─", "┴", "┘");
}
