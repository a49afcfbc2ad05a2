#!/bin/sh
# What is installed can be used from outside: headers, both libraries, pkg-config and find_package, from any place.
# LOCKSTEP_BUILD names the build folder.
set -eu
cd "$(dirname "$0")/../.."
build=${LOCKSTEP_BUILD:-build/dev}
[ -e "$build/liblockstep.so" ] || { echo "skipped: no liblockstep.so in $build (set LOCKSTEP_BUILD)"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cmake --install "$build" --prefix "$tmp/first" >/dev/null
mv "$tmp/first" "$tmp/moved" # nothing may remember where it was installed
printf '#include <lockstep.h>\nint main(void) { return lks_version()[0] == 0; }\n' >"$tmp/user.c"

PKG_CONFIG_PATH=$(dirname "$(find "$tmp/moved" -name lockstep.pc)")
export PKG_CONFIG_PATH
cc -std=c11 "$tmp/user.c" $(pkg-config --cflags --libs lockstep) -o "$tmp/user"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir lockstep) "$tmp/user"

cat >"$tmp/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(user C)
find_package(lockstep 0.1 REQUIRED)
add_executable(with_shared user.c)
target_link_libraries(with_shared PRIVATE lockstep::lockstep)
add_executable(with_static user.c)
target_link_libraries(with_static PRIVATE lockstep::static)
END
cmake -S "$tmp" -B "$tmp/b" -DCMAKE_PREFIX_PATH="$tmp/moved" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
cmake --build "$tmp/b" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
"$tmp/b/with_shared"
"$tmp/b/with_static"
if [ "$(objdump -p "$build/liblockstep.so" | awk '$1 == "SONAME" { print $2 }')" != liblockstep.so.0 ]; then
    echo "the soname is not liblockstep.so.0"
    exit 1
fi
