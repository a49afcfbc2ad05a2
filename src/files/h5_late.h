/* h5_late.h - internal to h5*.c: HDF5's names, as functions of a library that is loaded when it is first needed (base/library.h).
 * lks__h5_enter loads it. A name that h5*.c use is in the list and has its line below.
 */
#ifndef LKS_FILES_H5_LATE_H
#define LKS_FILES_H5_LATE_H

#include <hdf5.h>

#include "base/library.h"

#ifdef LKS_LATE_HDF5
/* clang-format off */
#define LKS_H5_NAMES(F) \
    F(H5Aclose) F(H5Acreate2) F(H5Aexists) F(H5Aget_space) F(H5Aget_storage_size) F(H5Aget_type) \
    F(H5Aiterate2) F(H5Aopen) F(H5Aread) F(H5Awrite) F(H5Dclose) F(H5Dcreate2) F(H5Dget_create_plist) \
    F(H5Dget_offset) F(H5Dget_space) F(H5Dget_storage_size) F(H5Dget_type) F(H5Dopen2) F(H5Dread) \
    F(H5Dwrite) F(H5Eclear2) F(H5Eget_auto2) F(H5Eset_auto2) F(H5Ewalk2) F(H5Fclose) F(H5Fcreate) \
    F(H5Fflush) F(H5Fget_file_image) F(H5Fget_vfd_handle) F(H5Fopen) F(H5Gclose) F(H5Gcreate2) \
    F(H5Gopen2) F(H5Iget_type) F(H5Lexists) F(H5Lget_info) F(H5Literate) F(H5Oclose) \
    F(H5Oget_info_by_name1) F(H5Oopen) F(H5Ovisit1) F(H5Pclose) F(H5Pcreate) F(H5Pget_chunk) \
    F(H5Pget_external_count) F(H5Pget_filter2) F(H5Pget_layout) F(H5Pget_nfilters) F(H5Pset_fapl_core) \
    F(H5Pset_file_image) F(H5Pset_file_locking) F(H5Pset_obj_track_times) F(H5Sclose) F(H5Screate) \
    F(H5Screate_simple) F(H5Sget_simple_extent_dims) F(H5Sget_simple_extent_ndims) \
    F(H5Sget_simple_extent_npoints) F(H5Sget_simple_extent_type) F(H5Sselect_hyperslab) F(H5Tclose) \
    F(H5Tcopy) F(H5Tcreate) F(H5Tenum_create) F(H5Tenum_insert) F(H5Tequal) F(H5Tget_class) \
    F(H5Tget_fields) F(H5Tget_order) F(H5Tget_sign) F(H5Tget_size) F(H5Tis_variable_str) F(H5Tset_cset) \
    F(H5Tset_ebias) F(H5Tset_fields) F(H5Tset_order) F(H5Tset_size) F(H5check_version) F(H5free_memory) \
    F(H5open) F(H5P_CLS_DATASET_CREATE_ID_g) F(H5P_CLS_FILE_ACCESS_ID_g) F(H5T_C_S1_g) \
    F(H5T_IEEE_F32LE_g) F(H5T_NATIVE_DOUBLE_g) F(H5T_NATIVE_FLOAT_g) F(H5T_NATIVE_INT16_g) \
    F(H5T_NATIVE_INT32_g) F(H5T_NATIVE_INT64_g) F(H5T_NATIVE_INT8_g) F(H5T_NATIVE_UINT16_g) \
    F(H5T_NATIVE_UINT32_g) F(H5T_NATIVE_UINT64_g) F(H5T_NATIVE_UINT8_g)
/* clang-format on */

typedef struct lks_h5_late {
#define LKS_MEMBER(name) __typeof__(name) *name;
    LKS_H5_NAMES(LKS_MEMBER)
#undef LKS_MEMBER
} lks_h5_late;

extern lks_h5_late lks__h5_late;
extern lks_library lks__h5_library;

#define H5Aclose lks__h5_late.H5Aclose
#define H5Acreate2 lks__h5_late.H5Acreate2
#define H5Aexists lks__h5_late.H5Aexists
#define H5Aget_space lks__h5_late.H5Aget_space
#define H5Aget_storage_size lks__h5_late.H5Aget_storage_size
#define H5Aget_type lks__h5_late.H5Aget_type
#define H5Aiterate2 lks__h5_late.H5Aiterate2
#define H5Aopen lks__h5_late.H5Aopen
#define H5Aread lks__h5_late.H5Aread
#define H5Awrite lks__h5_late.H5Awrite
#define H5Dclose lks__h5_late.H5Dclose
#define H5Dcreate2 lks__h5_late.H5Dcreate2
#define H5Dget_create_plist lks__h5_late.H5Dget_create_plist
#define H5Dget_offset lks__h5_late.H5Dget_offset
#define H5Dget_space lks__h5_late.H5Dget_space
#define H5Dget_storage_size lks__h5_late.H5Dget_storage_size
#define H5Dget_type lks__h5_late.H5Dget_type
#define H5Dopen2 lks__h5_late.H5Dopen2
#define H5Dread lks__h5_late.H5Dread
#define H5Dwrite lks__h5_late.H5Dwrite
#define H5Eclear2 lks__h5_late.H5Eclear2
#define H5Eget_auto2 lks__h5_late.H5Eget_auto2
#define H5Eset_auto2 lks__h5_late.H5Eset_auto2
#define H5Ewalk2 lks__h5_late.H5Ewalk2
#define H5Fclose lks__h5_late.H5Fclose
#define H5Fcreate lks__h5_late.H5Fcreate
#define H5Fflush lks__h5_late.H5Fflush
#define H5Fget_file_image lks__h5_late.H5Fget_file_image
#define H5Fget_vfd_handle lks__h5_late.H5Fget_vfd_handle
#define H5Fopen lks__h5_late.H5Fopen
#define H5Gclose lks__h5_late.H5Gclose
#define H5Gcreate2 lks__h5_late.H5Gcreate2
#define H5Gopen2 lks__h5_late.H5Gopen2
#define H5Iget_type lks__h5_late.H5Iget_type
#define H5Lexists lks__h5_late.H5Lexists
#define H5Lget_info lks__h5_late.H5Lget_info
#define H5Literate lks__h5_late.H5Literate
#define H5Oclose lks__h5_late.H5Oclose
#define H5Oget_info_by_name1 lks__h5_late.H5Oget_info_by_name1
#define H5Oopen lks__h5_late.H5Oopen
#define H5Ovisit1 lks__h5_late.H5Ovisit1
#define H5Pclose lks__h5_late.H5Pclose
#define H5Pcreate lks__h5_late.H5Pcreate
#define H5Pget_chunk lks__h5_late.H5Pget_chunk
#define H5Pget_external_count lks__h5_late.H5Pget_external_count
#define H5Pget_filter2 lks__h5_late.H5Pget_filter2
#define H5Pget_layout lks__h5_late.H5Pget_layout
#define H5Pget_nfilters lks__h5_late.H5Pget_nfilters
#define H5Pset_fapl_core lks__h5_late.H5Pset_fapl_core
#define H5Pset_file_image lks__h5_late.H5Pset_file_image
#define H5Pset_file_locking lks__h5_late.H5Pset_file_locking
#define H5Pset_obj_track_times lks__h5_late.H5Pset_obj_track_times
#define H5Sclose lks__h5_late.H5Sclose
#define H5Screate lks__h5_late.H5Screate
#define H5Screate_simple lks__h5_late.H5Screate_simple
#define H5Sget_simple_extent_dims lks__h5_late.H5Sget_simple_extent_dims
#define H5Sget_simple_extent_ndims lks__h5_late.H5Sget_simple_extent_ndims
#define H5Sget_simple_extent_npoints lks__h5_late.H5Sget_simple_extent_npoints
#define H5Sget_simple_extent_type lks__h5_late.H5Sget_simple_extent_type
#define H5Sselect_hyperslab lks__h5_late.H5Sselect_hyperslab
#define H5Tclose lks__h5_late.H5Tclose
#define H5Tcopy lks__h5_late.H5Tcopy
#define H5Tcreate lks__h5_late.H5Tcreate
#define H5Tenum_create lks__h5_late.H5Tenum_create
#define H5Tenum_insert lks__h5_late.H5Tenum_insert
#define H5Tequal lks__h5_late.H5Tequal
#define H5Tget_class lks__h5_late.H5Tget_class
#define H5Tget_fields lks__h5_late.H5Tget_fields
#define H5Tget_order lks__h5_late.H5Tget_order
#define H5Tget_sign lks__h5_late.H5Tget_sign
#define H5Tget_size lks__h5_late.H5Tget_size
#define H5Tis_variable_str lks__h5_late.H5Tis_variable_str
#define H5Tset_cset lks__h5_late.H5Tset_cset
#define H5Tset_ebias lks__h5_late.H5Tset_ebias
#define H5Tset_fields lks__h5_late.H5Tset_fields
#define H5Tset_order lks__h5_late.H5Tset_order
#define H5Tset_size lks__h5_late.H5Tset_size
#define H5check_version lks__h5_late.H5check_version
#define H5free_memory lks__h5_late.H5free_memory
#define H5open lks__h5_late.H5open
#define H5P_CLS_DATASET_CREATE_ID_g (*lks__h5_late.H5P_CLS_DATASET_CREATE_ID_g)
#define H5P_CLS_FILE_ACCESS_ID_g (*lks__h5_late.H5P_CLS_FILE_ACCESS_ID_g)
#define H5T_C_S1_g (*lks__h5_late.H5T_C_S1_g)
#define H5T_IEEE_F32LE_g (*lks__h5_late.H5T_IEEE_F32LE_g)
#define H5T_NATIVE_DOUBLE_g (*lks__h5_late.H5T_NATIVE_DOUBLE_g)
#define H5T_NATIVE_FLOAT_g (*lks__h5_late.H5T_NATIVE_FLOAT_g)
#define H5T_NATIVE_INT16_g (*lks__h5_late.H5T_NATIVE_INT16_g)
#define H5T_NATIVE_INT32_g (*lks__h5_late.H5T_NATIVE_INT32_g)
#define H5T_NATIVE_INT64_g (*lks__h5_late.H5T_NATIVE_INT64_g)
#define H5T_NATIVE_INT8_g (*lks__h5_late.H5T_NATIVE_INT8_g)
#define H5T_NATIVE_UINT16_g (*lks__h5_late.H5T_NATIVE_UINT16_g)
#define H5T_NATIVE_UINT32_g (*lks__h5_late.H5T_NATIVE_UINT32_g)
#define H5T_NATIVE_UINT64_g (*lks__h5_late.H5T_NATIVE_UINT64_g)
#define H5T_NATIVE_UINT8_g (*lks__h5_late.H5T_NATIVE_UINT8_g)
#endif

#endif
