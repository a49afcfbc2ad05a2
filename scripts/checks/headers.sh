#!/bin/sh
# Each public header compiles alone, as C11 and as C++17, in every compiler found, without a warning.
set -eu
cd "$(dirname "$0")/../.."

warn='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only -Iinclude'
status=0
tried=0
for header in include/lockstep.h include/lockstep/*.h; do
    for cc in gcc clang; do
        command -v $cc >/dev/null 2>&1 || continue
        tried=1
        printf '#include "%s"\nint main(void) { return 0; }\n' "${header#include/}" | $cc -std=c11 $warn -x c - || status=1
    done
    for cxx in g++ clang++; do
        command -v $cxx >/dev/null 2>&1 || continue
        printf '#include "%s"\nint main() { return 0; }\n' "${header#include/}" | $cxx -std=c++17 $warn -x c++ - || status=1
    done
done
[ $tried = 1 ] || { echo "skipped: neither gcc nor clang found"; exit 77; }
exit $status
