/* npy_header.c - the dictionary at the start of an npy file. It looks like Python but is only ever read as a literal:
 * three known keys, a string, a truth value and a tuple of whole numbers. */
#include <string.h>

#include "base/alloc.h"
#include "endian.h"
#include "npy.h"
#include "tensor/tensor.h"

typedef struct cursor {
    const char *at, *end;
} cursor;

typedef struct fields {
    char descr[64];
    int has_descr, has_fortran, has_shape, is_record;
} fields;

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r')) c->at++;
}

static int take(cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->at >= c->end || *c->at != wanted) return 0;
    c->at++;
    return 1;
}

static int take_word(cursor *c, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0) return 0;
    c->at += n;
    return 1;
}

static lks_status not_literal(const char *what)
{
    return lks__fail(LKS_E_FORMAT, "the npy header is not a plain dictionary: %s", what);
}

static lks_status read_string(cursor *c, char *out, size_t room)
{
    char quote;
    size_t n = 0;

    skip_blanks(c);
    if (c->at >= c->end || (*c->at != '\'' && *c->at != '"')) return not_literal("a quoted string was expected");
    quote = *c->at++;
    while (c->at < c->end && *c->at != quote) {
        if (*c->at == '\\' || n + 1 >= room) return not_literal("a string in it is too long or has escapes");
        out[n++] = *c->at++;
    }
    if (c->at >= c->end) return not_literal("a string in it does not end");
    c->at++;
    out[n] = '\0';
    return LKS_OK;
}

/* The data of Python 2 may write 3L for 3. */
static lks_status read_size(cursor *c, int64_t *out)
{
    int negative = take(c, '-');
    int64_t v = 0;

    skip_blanks(c);
    if (c->at >= c->end || *c->at < '0' || *c->at > '9') return not_literal("a whole number was expected in the shape");
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (v > (INT64_MAX - 9) / 10) return lks__fail(LKS_E_FORMAT, "a size in the shape overflows 63 bits");
        v = v * 10 + (*c->at - '0');
    }
    if (c->at < c->end && *c->at == 'L') c->at++;
    if (negative) return lks__fail(LKS_E_FORMAT, "dimension -%lld in the shape is negative", (long long)v);
    *out = v;
    return LKS_OK;
}

static lks_status read_shape(cursor *c, lks_shape *shape)
{
    *shape = (lks_shape){ 0 };
    if (!take(c, '(')) return not_literal("the shape must be a tuple");
    while (!take(c, ')')) {
        if (shape->rank == LKS_MAX_RANK)
            return lks__fail(LKS_E_LIMIT, "the array has more than the %d axes that are supported", LKS_MAX_RANK);
        LKS_TRY(read_size(c, &shape->dim[shape->rank]));
        shape->rank++;
        if (!take(c, ',')) {
            if (!take(c, ')')) return not_literal("the shape's tuple does not end");
            break;
        }
    }
    return LKS_OK;
}

static lks_status read_value(cursor *c, const char *key, fields *f, lks_npy_info *info)
{
    if (strcmp(key, "descr") == 0) {
        f->has_descr = 1;
        skip_blanks(c);
        if (c->at < c->end && *c->at == '[')
            return lks__fail(LKS_E_UNSUPPORTED,
                             "the array is structured (records); save one plain array for each field");
        return read_string(c, f->descr, sizeof f->descr);
    }
    if (strcmp(key, "fortran_order") == 0) {
        f->has_fortran = 1;
        if (take_word(c, "True")) info->fortran = 1;
        else if (!take_word(c, "False")) return not_literal("fortran_order must be True or False");
        return LKS_OK;
    }
    if (strcmp(key, "shape") == 0) {
        f->has_shape = 1;
        return read_shape(c, &info->shape);
    }
    return lks__fail(LKS_E_FORMAT, "the npy header has an unknown key '%s'", key);
}

static const struct {
    const char *code;
    lks_dtype dtype;
} codes[] = {
    { "f4", LKS_FLOAT32 }, { "f8", LKS_FLOAT64 }, { "f2", LKS_FLOAT16 }, { "i1", LKS_INT8 },   { "i2", LKS_INT16 },
    { "i4", LKS_INT32 },   { "i8", LKS_INT64 },   { "u1", LKS_UINT8 },   { "u2", LKS_UINT16 }, { "u4", LKS_UINT32 },
    { "u8", LKS_UINT64 },  { "b1", LKS_BOOL },    { "?", LKS_BOOL },
};

static lks_status refuse_type(const char *descr, char kind)
{
    static const struct {
        char kind;
        const char *what;
    } known[] = {
        { 'O', "Python objects (pickle), which are never loaded" },
        { 'c', "complex numbers" },
        { 'U', "strings (UTF-32)" },
        { 'S', "byte strings" },
        { 'a', "byte strings" },
        { 'V', "raw items (perhaps bfloat16: save it as float32)" },
        { 'M', "dates" },
        { 'm', "time differences" },
        { 'f', "floating-point numbers of a size that is not supported" },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == kind)
            return lks__fail(LKS_E_UNSUPPORTED, "the array's dtype '%s' holds %s", descr, known[i].what);
    return lks__fail(LKS_E_UNSUPPORTED, "the array's dtype '%s' is not known", descr);
}

static lks_status read_dtype(const char *descr, lks_npy_info *info)
{
    const char *code = descr;
    int little = lks__host_is_little();

    if (*code == '<' || *code == '>') info->swapped = (*code == '<') != little;
    if (*code != '\0' && strchr("<>|=", *code) != NULL) code++;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(code, codes[i].code) == 0) {
            info->dtype = codes[i].dtype;
            return LKS_OK;
        }
    return refuse_type(descr, *code);
}

lks_status lks__npy_parse_header(const char *text, size_t n, lks_npy_info *out)
{
    cursor c = { text, text + n };
    fields f = { 0 };
    lks_npy_info info = { 0 };
    char key[32];

    if (!take(&c, '{')) return not_literal("it does not start with {");
    while (!take(&c, '}')) {
        LKS_TRY(read_string(&c, key, sizeof key));
        if (!take(&c, ':')) return not_literal("a colon is missing");
        LKS_TRY(read_value(&c, key, &f, &info));
        if (!take(&c, ',')) {
            if (!take(&c, '}')) return not_literal("it does not end with }");
            break;
        }
    }
    skip_blanks(&c);
    if (c.at < c.end) return not_literal("something follows it");
    if (!f.has_descr || !f.has_fortran || !f.has_shape)
        return lks__fail(LKS_E_FORMAT, "the npy header's key '%s' is missing",
                         !f.has_descr     ? "descr"
                         : !f.has_fortran ? "fortran_order"
                                          : "shape");
    LKS_TRY(read_dtype(f.descr, &info));
    *out = info;
    return LKS_OK;
}

lks_status lks__npy_header(const lks_tensor *t, lks_text *out)
{
    lks_dtype dtype = lks_tensor_dtype(t);
    lks_shape shape = lks_tensor_shape(t);
    const char *code = NULL;
    lks_text d = { 0 };
    size_t padding;
    unsigned char head[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };

    for (size_t i = 0; i < sizeof codes / sizeof *codes && code == NULL; i++)
        if (codes[i].dtype == dtype) code = codes[i].code;
    if (code == NULL)
        return lks__fail(LKS_E_UNSUPPORTED, "NumPy has no dtype for %s; cast the tensor first", lks_dtype_name(dtype));
    lks__text_printf(&d, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                     lks_dtype_size(dtype) == 1 ? '|'
                     : lks__host_is_little()    ? '<'
                                                : '>',
                     code);
    for (int64_t i = 0; i < shape.rank; i++)
        lks__text_printf(&d,
                         i + 1 < shape.rank ? "%lld, "
                         : shape.rank == 1  ? "%lld,"
                                            : "%lld",
                         (long long)shape.dim[i]);
    lks__text_puts(&d, "), }");
    padding = (64 - (sizeof head + d.length + 1) % 64) % 64;
    for (size_t i = 0; i < padding; i++) lks__text_puts(&d, " ");
    lks__text_puts(&d, "\n");
    head[8] = (unsigned char)(d.length & 255);
    head[9] = (unsigned char)(d.length >> 8);
    lks__text_append(out, (const char *)head, sizeof head);
    if (!d.failed) lks__text_append(out, d.data, d.length);
    if (d.failed || out->failed) {
        lks__text_free(&d);
        return lks__fail(LKS_E_NOMEM, "no memory for an npy header");
    }
    lks__text_free(&d);
    return LKS_OK;
}
