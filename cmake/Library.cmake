# liblockstep: one compilation, a static and a shared library. Only functions marked LKS_API are exported.
file(GLOB_RECURSE LOCKSTEP_SOURCES CONFIGURE_DEPENDS src/*.c)
file(GLOB SIMD_SOURCES CONFIGURE_DEPENDS src/kernels/simd/*.c)
list(FILTER LOCKSTEP_SOURCES EXCLUDE REGEX "/src/kernels/simd/")

# The instruction sets whose kernels this build holds: name, flags. The best that the machine has is chosen at run time.
set(LOCKSTEP_ISAS "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(LOCKSTEP_ISAS avx2 avx512)
  set(flags_avx2 -mavx2 -mfma)
  set(flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(LOCKSTEP_ISAS neon)
  set(flags_neon "")
endif()

# Sanitized builds hold one set: guard pages watch every kernel's loads in all builds (tests/test_kernels_*.c). The other
# checks of unrolled vector code would take minutes a file to compile.
if(LOCKSTEP_SANITIZE AND LOCKSTEP_ISAS)
  list(GET LOCKSTEP_ISAS 0 LOCKSTEP_ISAS)
  if(LOCKSTEP_SANITIZE MATCHES "address")
    list(APPEND flags_${LOCKSTEP_ISAS} -fno-sanitize=all -fsanitize=address)
  endif()
endif()

# What every object of the library is compiled with.
add_library(lockstep_build INTERFACE)
target_include_directories(lockstep_build INTERFACE include src)
target_compile_definitions(lockstep_build INTERFACE _GNU_SOURCE LOCKSTEP_VERSION="${PROJECT_VERSION}"
                           ${LOCKSTEP_DEFINITIONS})
target_compile_options(lockstep_build INTERFACE -fvisibility=hidden)
target_link_libraries(lockstep_build INTERFACE lockstep_warnings lockstep_arithmetic PkgConfig::NEEDED
                      ${LOCKSTEP_OPTIONAL_TARGETS} Threads::Threads m ${CMAKE_DL_LIBS})

# Reference kernels live in src/ops and src/kernels: they are tested at full size, so also quick in Debug builds.
foreach(source ${LOCKSTEP_SOURCES})
  if(source MATCHES "/src/(ops|kernels)/")
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${LOCKSTEP_OPS_LEVEL}")
  endif()
endforeach()
add_library(lockstep_objects OBJECT ${LOCKSTEP_SOURCES})
target_link_libraries(lockstep_objects PRIVATE lockstep_build)

# src/kernels/simd/*.c once for each instruction set, with LKS_SIMD_ISA as its name.
# These are written with vectors and unrolled by hand: -O3 only doubles the time to compile them, debug information again.
set(SIMD_OBJECTS "")
set(by_hand ${SIMD_SOURCES})
list(FILTER by_hand EXCLUDE REGEX "/elementwise.c$")
if("${LOCKSTEP_KERNEL_LEVEL}" MATCHES "O3")
  set_source_files_properties(${by_hand} PROPERTIES COMPILE_OPTIONS "-O2;-g0")
endif()
if(SIMD_SOURCES)
  foreach(isa ${LOCKSTEP_ISAS})
    add_library(lockstep_simd_${isa} OBJECT ${SIMD_SOURCES})
    target_compile_definitions(lockstep_simd_${isa} PRIVATE LKS_SIMD_ISA=${isa})
    target_compile_options(lockstep_simd_${isa} PRIVATE ${flags_${isa}} ${LOCKSTEP_KERNEL_LEVEL})
    target_link_libraries(lockstep_simd_${isa} PRIVATE lockstep_build)
    list(APPEND SIMD_OBJECTS $<TARGET_OBJECTS:lockstep_simd_${isa}>)
    string(TOUPPER ${isa} upper)
    target_compile_definitions(lockstep_objects PRIVATE LKS_HAVE_${upper}=1)
  endforeach()
endif()

function(lockstep_library target type)
  add_library(${target} ${type} $<TARGET_OBJECTS:lockstep_objects> ${SIMD_OBJECTS})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Private: who uses the library sees none of the headers of HDF5 and friends.
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:PkgConfig::NEEDED> Threads::Threads m ${CMAKE_DL_LIBS})
  foreach(optional ${LOCKSTEP_OPTIONAL_TARGETS})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${optional}>)
  endforeach()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME lockstep LINKER_LANGUAGE C)
endfunction()

lockstep_library(lockstep_static STATIC)
add_library(lockstep::lockstep ALIAS lockstep_static)
if(LOCKSTEP_BUILD_SHARED)
  lockstep_library(lockstep_shared SHARED)
  set_target_properties(lockstep_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
endif()
