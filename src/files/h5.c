/* h5.c - entering and leaving HDF5, and its numeric types. HDF5 may be built without thread safety, so a lock of ours
 * stands before it; a host that uses HDF5 on other threads at the same time needs a thread-safe build of it. */
#include "h5.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

#ifdef LKS_LATE_HDF5
lks_h5_late lks__h5_late;
LKS_LATE_LIBRARY(lks__h5_library, LKS_H5_NAMES, lks__h5_late, LKS_LATE_HDF5, "weights and HDF5 files", "libhdf5-103-1");
#endif

lks_status lks__h5_enter(lks_h5_guard *g)
{
#ifdef LKS_LATE_HDF5
    LKS_TRY(lks__library_load(&lks__h5_library));
#endif
    pthread_mutex_lock(&turn);
    g->handler = NULL;
    g->user = NULL;
    H5Eget_auto2(H5E_DEFAULT, &g->handler, &g->user);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return LKS_OK;
}

void lks__h5_leave(const lks_h5_guard *g)
{
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, g->handler, g->user);
    pthread_mutex_unlock(&turn);
}

/* The first entry on the way up is where it happened. */
static herr_t innermost(unsigned n, const H5E_error2_t *e, void *user)
{
    if (n == 0 && e->desc != NULL) snprintf(user, 256, "%s", e->desc);
    return 0;
}

lks_status lks__h5_fail(const char *fmt, ...)
{
    char text[512], reason[256] = "";
    va_list args;
    int no_memory;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, reason);
    no_memory = strstr(reason, "memory allocation failed") != NULL || strstr(reason, "can't allocate") != NULL;
    return lks__fail(no_memory ? LKS_E_NOMEM : LKS_E_FORMAT, "%s%s%s", text, reason[0] != '\0' ? ": HDF5 says: " : "",
                     reason);
}

hid_t lks__h5_memory_access(const void *data, size_t n)
{
    enum { INCREMENT = 1 << 16 };
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    if (access < 0) return access;
    if (H5Pset_fapl_core(access, INCREMENT, 0) < 0 ||
        (data != NULL && H5Pset_file_image(access, (void *)(uintptr_t)data, n) < 0)) {
        H5Pclose(access);
        return -1;
    }
    return access;
}

hid_t lks__h5_text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    if (type < 0) return type;
    if (H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

/* ---- reading ---- */

static lks_dtype integer_dtype(hid_t type)
{
    int is_signed = H5Tget_sign(type) != H5T_SGN_NONE;

    switch (H5Tget_size(type)) {
    case 1: return is_signed ? LKS_INT8 : LKS_UINT8;
    case 2: return is_signed ? LKS_INT16 : LKS_UINT16;
    case 4: return is_signed ? LKS_INT32 : LKS_UINT32;
    case 8: return is_signed ? LKS_INT64 : LKS_UINT64;
    default: return (lks_dtype)0;
    }
}

static lks_dtype float_dtype(hid_t type)
{
    size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0, size = H5Tget_size(type);

    if (size == 4) return LKS_FLOAT32;
    if (size == 8) return LKS_FLOAT64;
    if (size != 2 || H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0)
        return (lks_dtype)0;
    if (sign != 15 || mantissa != 0 || exponent != mantissa_bits) return (lks_dtype)0;
    if (exponent_bits == 5 && mantissa_bits == 10) return LKS_FLOAT16;
    return exponent_bits == 8 && mantissa_bits == 7 ? LKS_BFLOAT16 : (lks_dtype)0;
}

/* Keras writes bfloat16 as opaque items of two bytes and says so in an attribute. */
static int says_bfloat16(hid_t dataset)
{
    hid_t attr, type = -1, text = -1;
    char *value = NULL;
    int says = 0;

    if (H5Aexists(dataset, "dtype") <= 0) return 0;
    attr = H5Aopen(dataset, "dtype", H5P_DEFAULT);
    if (attr >= 0) type = H5Aget_type(attr);
    if (type >= 0 && H5Tis_variable_str(type) > 0) text = lks__h5_text_type();
    if (text >= 0 && H5Aget_storage_size(attr) <= 16 && H5Aread(attr, text, &value) >= 0 && value != NULL) {
        says = strcmp(value, "bfloat16") == 0;
        H5free_memory(value);
    }
    if (text >= 0) H5Tclose(text);
    if (type >= 0) H5Tclose(type);
    if (attr >= 0) H5Aclose(attr);
    return says;
}

static hid_t native_type(lks_dtype dtype)
{
    switch (dtype) {
    case LKS_FLOAT32: return H5T_NATIVE_FLOAT;
    case LKS_FLOAT64: return H5T_NATIVE_DOUBLE;
    case LKS_INT8: return H5T_NATIVE_INT8;
    case LKS_INT16: return H5T_NATIVE_INT16;
    case LKS_INT32: return H5T_NATIVE_INT32;
    case LKS_INT64: return H5T_NATIVE_INT64;
    case LKS_UINT8: return H5T_NATIVE_UINT8;
    case LKS_UINT16: return H5T_NATIVE_UINT16;
    case LKS_UINT32: return H5T_NATIVE_UINT32;
    case LKS_UINT64: return H5T_NATIVE_UINT64;
    default: return -1;
    }
}

lks_status lks__h5_read_type(hid_t dataset, hid_t file_type, lks_dtype *dtype, hid_t *mem)
{
    H5T_class_t class = H5Tget_class(file_type);
    size_t size = H5Tget_size(file_type);
    lks_dtype d = (lks_dtype)0;
    hid_t m;

    if (class == H5T_INTEGER) d = integer_dtype(file_type);
    else if (class == H5T_FLOAT) d = float_dtype(file_type);
    else if (class == H5T_ENUM && size == 1) d = LKS_BOOL;
    else if (class == H5T_OPAQUE && size == 2 && says_bfloat16(dataset)) d = LKS_BFLOAT16;
    if (d == 0) return lks__fail(LKS_E_UNSUPPORTED, "its items are not numbers that can be read");
    m = H5Tcopy(native_type(d) >= 0 ? native_type(d) : file_type);
    if (m < 0) return lks__h5_fail("its type cannot be read");
    if (class == H5T_FLOAT && size == 2 && H5Tset_order(m, H5Tget_order(H5T_NATIVE_FLOAT)) < 0) {
        H5Tclose(m);
        return lks__h5_fail("its type cannot be read");
    }
    *dtype = d;
    *mem = m;
    return LKS_OK;
}

/* ---- writing ---- */

static hid_t half_type(void)
{
    hid_t t = H5Tcopy(H5T_IEEE_F32LE);

    if (t >= 0 && (H5Tset_fields(t, 15, 10, 5, 0, 10) < 0 || H5Tset_size(t, 2) < 0 || H5Tset_ebias(t, 15) < 0)) {
        H5Tclose(t);
        return -1;
    }
    return t;
}

/* As h5py spells a truth value. */
static hid_t bool_type(void)
{
    hid_t t = H5Tenum_create(H5T_NATIVE_INT8);
    const signed char no = 0, yes = 1;

    if (t >= 0 && (H5Tenum_insert(t, "FALSE", &no) < 0 || H5Tenum_insert(t, "TRUE", &yes) < 0)) {
        H5Tclose(t);
        return -1;
    }
    return t;
}

/* Little-endian in the file, whatever the host is. */
static hid_t file_type(lks_dtype dtype)
{
    hid_t t;

    if (dtype == LKS_FLOAT16) return half_type();
    if (dtype == LKS_BFLOAT16) return H5Tcreate(H5T_OPAQUE, 2);
    if (dtype == LKS_BOOL) return bool_type();
    t = H5Tcopy(native_type(dtype));
    if (t >= 0 && H5Tset_order(t, H5T_ORDER_LE) < 0) {
        H5Tclose(t);
        return -1;
    }
    return t;
}

lks_status lks__h5_write_types(lks_dtype dtype, hid_t *file, hid_t *mem)
{
    hid_t f, m;

    if (dtype == LKS_STRING) return lks__fail(LKS_E_UNSUPPORTED, "strings cannot be weights");
    f = file_type(dtype);
    m = f < 0 ? -1 : H5Tcopy(native_type(dtype) >= 0 ? native_type(dtype) : f);
    if (m >= 0 && dtype == LKS_FLOAT16 && H5Tset_order(m, H5Tget_order(H5T_NATIVE_FLOAT)) < 0) {
        H5Tclose(m);
        m = -1;
    }
    if (f < 0 || m < 0) {
        if (f >= 0) H5Tclose(f);
        return lks__h5_fail("no type for %s", lks_dtype_name(dtype));
    }
    *file = f;
    *mem = m;
    return LKS_OK;
}
