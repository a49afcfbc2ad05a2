#!/bin/sh
# Compares with a golden set made by real Keras: sh scripts/golden.sh TOPIC [DIR] [--strict]
#   TOPIC   math, runs, data, files, distribute
#   DIR     a folder of that topic's format; default: ../shared/golden/TOPIC
#   --strict makes "not yet" a failure
# Prints per topic the numbers passed, failed and not yet, and exits 1 if a case fails or none ran.
# LOCKSTEP_BUILD names another build folder than build/release.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib/setup.sh

usage() { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }

topic= dir= strict=
for word in "$@"; do
    case $word in
    --strict) strict=--strict ;;
    -*) usage ;;
    *) if [ -z "$topic" ]; then topic=$word; elif [ -z "$dir" ]; then dir=$word; else usage; fi ;;
    esac
done
[ -n "$topic" ] || usage
case $dir in
"") dir=${LOCKSTEP_SHARED:-../shared}/golden/$topic ;;
/*) ;;
*) dir=${LOCKSTEP_CALLED_FROM:-$OLDPWD}/$dir ;;
esac
if [ ! -d "$dir" ]; then
    case $dir in
    *shared/golden/*) say "skipped: ../shared not found (no golden set '$topic' at $dir)"; exit 77 ;;
    esac
    say "There is no folder $dir"
    exit 1
fi

if [ -z "${LOCKSTEP_BUILD:-}" ]; then
    lockstep_install >&2
    lockstep_build release >build-golden.log 2>&1 || { cat build-golden.log; rm -f build-golden.log; exit 1; }
    rm -f build-golden.log
fi
exec "${LOCKSTEP_BUILD:-build/release}/tests/golden/golden" "$topic" "$dir" $strict
