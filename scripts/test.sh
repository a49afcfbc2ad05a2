#!/bin/sh
# Installs what is missing, builds, runs all tests: sh scripts/test.sh [ctest argument...]
# Works on a fresh Debian or Ubuntu with git and a shell, as root or with sudo; a second run takes seconds.
# LOCKSTEP_CMAKE_ARGS adds arguments to the configuration (used by CI).
set -eu
cd "$(dirname "$0")/.."
. scripts/lib/setup.sh

lockstep_install
lockstep_build release ${LOCKSTEP_CMAKE_ARGS:-}

# ctest's last lines stay last: the words of skipped tests come before them.
log=build/release/test.log
set +e
{
    ctest --test-dir build/release --output-on-failure --no-label-summary -j "$(nproc)" "$@"
    echo $? >build/release/test.code
} | tee "$log" | sed '/tests passed, /,$d'
grep -aohE 'skipped: .*' build/release/Testing/Temporary/LastTest.log | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /'
sed -n '/tests passed, /,$p' "$log" | grep -v '^$'
exit "$(cat build/release/test.code)"
