# What is needed, what is used when found, and what its absence costs (Summary.cmake prints the last).
#
# lockstep_optional(NAME what-it-costs pkg-config-module...) makes the switch LOCKSTEP_WITH_<NAME> (ON, OFF or AUTO, the
# default: on when found). The first module found becomes PkgConfig::<NAME>; sources see LKS_HAVE_<MODULE> = 1.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_search_module(HDF5 REQUIRED IMPORTED_TARGET hdf5 hdf5-serial) # under the first name or the second
pkg_check_modules(NEEDED REQUIRED IMPORTED_TARGET libzip jansson zlib)
option(LOCKSTEP_LATE_LIBRARIES "Load HDF5, cairo and libcurl when they are first needed, not when a program starts" ON)

set(LOCKSTEP_FOUND_LINES "")
set(LOCKSTEP_MISSING_LINES "")
set(LOCKSTEP_OPTIONAL_TARGETS "")
set(LOCKSTEP_DEFINITIONS "")
set(LOCKSTEP_PC_REQUIRES "libzip jansson zlib")

set(users_of_HDF5 h5*.c)
set(users_of_CAIRO draw.c)
set(users_of_LIBCURL fetch.c remote.c)
# lockstep_link(ID PkgConfig-prefix module): the module's library is linked, or (src/base/library.h) found by its soname later:
# LKS_LATE_<ID> is that name, known
# to the files that use the library, and only headers are used now.
function(lockstep_link id prefix module)
  set(soname "")
  list(GET ${prefix}_LINK_LIBRARIES 0 file)
  if(LOCKSTEP_LATE_LIBRARIES AND id MATCHES "^(HDF5|CAIRO|LIBCURL)$" AND EXISTS "${file}" AND CMAKE_OBJDUMP)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${file} OUTPUT_VARIABLE text ERROR_QUIET)
    string(REGEX MATCH "SONAME +([^ \n]+)" soname "${text}")
    set(soname "${CMAKE_MATCH_1}")
  endif()
  if(id STREQUAL "HDF5" AND NOT HDF5_VERSION VERSION_LESS 1.12) # names of later versions are macros
    set(soname "")
  endif()
  if(soname)
    add_library(lockstep_late_${id} INTERFACE)
    target_include_directories(lockstep_late_${id} SYSTEM INTERFACE ${${prefix}_INCLUDE_DIRS})
    list(APPEND LOCKSTEP_OPTIONAL_TARGETS lockstep_late_${id})
    list(TRANSFORM users_of_${id} PREPEND ${PROJECT_SOURCE_DIR}/src/files/)
    file(GLOB users ${users_of_${id}})
    set_source_files_properties(${users} PROPERTIES COMPILE_DEFINITIONS "LKS_LATE_${id}=\"${soname}\"")
  else()
    list(APPEND LOCKSTEP_OPTIONAL_TARGETS PkgConfig::${prefix})
    string(APPEND LOCKSTEP_PC_REQUIRES " ${module}")
  endif()
  foreach(v OPTIONAL_TARGETS DEFINITIONS PC_REQUIRES)
    set(LOCKSTEP_${v} "${LOCKSTEP_${v}}" PARENT_SCOPE)
  endforeach()
endfunction()

lockstep_link(HDF5 HDF5 ${HDF5_MODULE_NAME})

function(lockstep_optional name cost)
  set(LOCKSTEP_WITH_${name} AUTO CACHE STRING "${name}: ON, OFF, or AUTO = on when found")
  set_property(CACHE LOCKSTEP_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
  string(TOUPPER "${LOCKSTEP_WITH_${name}}" wish)
  if(wish MATCHES "^(OFF|NO|FALSE|0)$")
    list(APPEND LOCKSTEP_MISSING_LINES "${name}: switched off; ${cost}")
  else()
    foreach(module ${ARGN})
      string(REGEX REPLACE "[^A-Za-z0-9]" "_" id ${module})
      string(TOUPPER ${id} id)
      pkg_check_modules(OPT_${id} IMPORTED_TARGET QUIET ${module})
      if(OPT_${id}_FOUND)
        list(APPEND LOCKSTEP_FOUND_LINES "${name}: ${module} ${OPT_${id}_VERSION}")
        list(APPEND LOCKSTEP_DEFINITIONS LKS_HAVE_${id}=1)
        lockstep_link(${id} OPT_${id} ${module})
        set(found TRUE)
        break()
      endif()
    endforeach()
    if(NOT found)
      if(wish MATCHES "^(ON|YES|TRUE|1)$")
        message(FATAL_ERROR "LOCKSTEP_WITH_${name}=${LOCKSTEP_WITH_${name}}, but pkg-config finds none of: ${ARGN}")
      endif()
      list(APPEND LOCKSTEP_MISSING_LINES "${name}: not found (${ARGN}); ${cost}")
    endif()
  endif()
  foreach(v FOUND_LINES MISSING_LINES OPTIONAL_TARGETS DEFINITIONS PC_REQUIRES)
    set(LOCKSTEP_${v} "${LOCKSTEP_${v}}" PARENT_SCOPE)
  endforeach()
endfunction()

lockstep_optional(PNG "no PNG files can be read" spng libpng)               # LKS_HAVE_SPNG or LKS_HAVE_LIBPNG
lockstep_optional(JPEG "no JPEG files can be read or written" libjpeg)          # LKS_HAVE_LIBJPEG
lockstep_optional(CAIRO "no pictures of predictions can be drawn" cairo)    # LKS_HAVE_CAIRO
lockstep_optional(CURL "datasets are not downloaded over https" libcurl)    # LKS_HAVE_LIBCURL
lockstep_optional(DEFLATE "gzip files are read with zlib, half as fast" libdeflate)
# LKS_HAVE_LIBDEFLATE, known to one file: nothing else need be compiled again for it.
if(LKS_HAVE_LIBDEFLATE=1 IN_LIST LOCKSTEP_DEFINITIONS)
  list(REMOVE_ITEM LOCKSTEP_DEFINITIONS LKS_HAVE_LIBDEFLATE=1)
  set_source_files_properties(src/files/inflate.c PROPERTIES COMPILE_DEFINITIONS LKS_HAVE_LIBDEFLATE=1)
endif()
