/* fuzz_json.c - any bytes as config.json; what parses is printed and must come back equal. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *json, *again;
    char *text = NULL;

    if (lks__json_parse((const char *)data, size, "config.json", &json) != LKS_OK) return 0;
    if (lks__json_dump(json, &text) != LKS_OK) abort();
    if (lks__json_parse(text, strlen(text), "again", &again) != LKS_OK || !json_equal(json, again)) abort();
    lks_free(text);
    json_decref(again);
    json_decref(json);
    return 0;
}
