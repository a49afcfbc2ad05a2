/* case.c - see golden.h: a case is an object of a JSON file with arrays in the npz file beside it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/json.h"
#include "golden.h"

bool golden_is_file(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

json_t *golden_read_json(const char *path)
{
    FILE *file = fopen(path, "rb");
    json_t *json = NULL;
    char *text = NULL;
    long size = -1;

    if (file != NULL && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    if (size >= 0) text = malloc((size_t)size + 1);
    if (text == NULL || fseek(file, 0, SEEK_SET) != 0 || fread(text, 1, (size_t)size, file) != (size_t)size) {
        printf("%s: cannot be read\n", path);
    } else if (lks__json_parse(text, (size_t)size, path, &json) != LKS_OK) {
        printf("%s\n", lks_last_error());
        json = NULL;
    }
    free(text);
    if (file != NULL) fclose(file);
    return json;
}

lks_tensor *golden_keep(golden_case *c, lks_tensor *t)
{
    if (t == NULL) {
        golden_fault(c->report, "%s", lks_last_error());
        return NULL;
    }
    if (c->n_kept == GOLDEN_KEPT) {
        golden_fault(c->report, "more than %d arrays in one case", (int)GOLDEN_KEPT);
        lks_tensor_release(t);
        return NULL;
    }
    c->kept[c->n_kept++] = t;
    return t;
}

lks_tensor *golden_array(golden_case *c, const char *array)
{
    char member[2 * GOLDEN_NAME];
    lks_tensor *t = NULL;

    snprintf(member, sizeof member, "%s%s%s", c->name, *c->name != '\0' ? "/" : "", array != NULL ? array : "?");
    if (c->npz == NULL || array == NULL) {
        golden_fault(c->report, "there is no array %s", member);
        return NULL;
    }
    if (lks__npz_read(c->npz, member, &t) != LKS_OK) t = NULL;
    return golden_keep(c, t);
}

void golden_case_free(golden_case *c)
{
    while (c->n_kept > 0) lks_tensor_release(c->kept[--c->n_kept]);
}

double golden_rtol(const golden_case *c)
{
    return golden_double(json_object_get(json_object_get(c->json, "tolerance"), "rtol"));
}

double golden_atol(const golden_case *c, const char *array)
{
    json_t *tolerance = json_object_get(c->json, "tolerance");
    json_t *own = json_object_get(json_object_get(tolerance, "per_array"), array);

    return golden_double(own != NULL ? own : json_object_get(tolerance, "atol"));
}

void golden_expect(golden_case *c, const char *array, const lks_tensor *got)
{
    lks_tensor *want;

    if (got == NULL) return;
    want = golden_array(c, array);
    golden_compare(c->report, array, got, want, golden_rtol(c), golden_atol(c, array));
}

const char *golden_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

bool golden_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

int64_t golden_int(const json_t *object, const char *key, int64_t fallback)
{
    json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? (int64_t)json_integer_value(value) : fallback;
}

double golden_double(const json_t *value)
{
    const char *word = json_string_value(value);

    if (json_is_number(value)) return json_number_value(value);
    if (word == NULL || strcmp(word, "nan") == 0) return NAN;
    return word[0] == '-' ? -INFINITY : INFINITY;
}
