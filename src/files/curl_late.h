/* curl_late.h - internal: libcurl's names, as functions of a library that is loaded when it is first needed (base/library.h).
 * lks__curl_begin loads it. A name that is used is in the list and has its line below.
 */
#ifndef LKS_FILES_CURL_LATE_H
#define LKS_FILES_CURL_LATE_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#undef curl_easy_getinfo
#undef curl_easy_setopt

#include "base/library.h"

#ifdef LKS_LATE_LIBCURL
/* clang-format off */
#define LKS_CURL_NAMES(F) \
    F(curl_easy_cleanup) F(curl_easy_getinfo) F(curl_easy_init) F(curl_easy_perform) F(curl_easy_setopt) \
    F(curl_easy_strerror) F(curl_free) F(curl_global_init) F(curl_url) F(curl_url_cleanup) \
    F(curl_url_get) F(curl_url_set)
/* clang-format on */

typedef struct lks_curl_late {
#define LKS_MEMBER(name) __typeof__(name) *name;
    LKS_CURL_NAMES(LKS_MEMBER)
#undef LKS_MEMBER
} lks_curl_late;

extern lks_curl_late lks__curl_late;
extern lks_library lks__curl_library;

#define curl_easy_cleanup lks__curl_late.curl_easy_cleanup
#define curl_easy_getinfo lks__curl_late.curl_easy_getinfo
#define curl_easy_init lks__curl_late.curl_easy_init
#define curl_easy_perform lks__curl_late.curl_easy_perform
#define curl_easy_setopt lks__curl_late.curl_easy_setopt
#define curl_easy_strerror lks__curl_late.curl_easy_strerror
#define curl_free lks__curl_late.curl_free
#define curl_global_init lks__curl_late.curl_global_init
#define curl_url lks__curl_late.curl_url
#define curl_url_cleanup lks__curl_late.curl_url_cleanup
#define curl_url_get lks__curl_late.curl_url_get
#define curl_url_set lks__curl_late.curl_url_set
#endif

#endif
