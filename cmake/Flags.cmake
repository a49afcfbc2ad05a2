# Compiler flags, in one place: warnings, the arithmetic that keeps bits equal, sanitizers, visibility.
include(CheckCCompilerFlag)

add_library(lockstep_warnings INTERFACE)
target_compile_options(lockstep_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                       $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
                       $<$<BOOL:${LOCKSTEP_WERROR}>:-Werror>)

# One fixed sequence of operations an output: no contraction behind our back, no fast-math anywhere (docs/ARCHITECTURE.md).
add_library(lockstep_arithmetic INTERFACE)
target_compile_options(lockstep_arithmetic INTERFACE -ffp-contract=off -fno-math-errno -fno-trapping-math)

set(LOCKSTEP_KERNEL_LEVEL -O3) # src/kernels/simd, whatever the build type
set(LOCKSTEP_OPS_LEVEL $<IF:$<CONFIG:Debug>,-O1,-O3>)
if(LOCKSTEP_SANITIZE)
  # Recovery is off: the first finding ends the test. -O1 keeps a whole run of the tests within minutes.
  set(sanitize -fsanitize=${LOCKSTEP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_compile_options(${sanitize} -O1)
  if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    add_compile_options(-Wno-pass-failed) # sanitized loops that are asked to be vectors can't be: no fault
  endif()
  add_link_options(${sanitize})
  set(LOCKSTEP_KERNEL_LEVEL -O1)
  set(LOCKSTEP_OPS_LEVEL -O1)
endif()
