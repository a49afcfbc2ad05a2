#!/bin/sh
# clang-tidy over the files of src/ and cli/, those changed since the last commits first, until TIDY_SECONDS (default 300)
# have passed; says how many were reached. LOCKSTEP_BUILD names a build folder made by clang or gcc.
set -eu
cd "$(dirname "$0")/../.."
build=${LOCKSTEP_BUILD:-build/dev}

command -v clang-tidy >/dev/null 2>&1 || { echo "skipped: clang-tidy not found"; exit 77; }
[ -e "$build/compile_commands.json" ] || { echo "skipped: no compile_commands.json in $build"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

{
    git diff --name-only HEAD -- 'src/*.c' 'cli/*.c'
    git log --format= --name-only -n 30 -- 'src/*.c' 'cli/*.c'
    git ls-files --cached --others --exclude-standard 'src/*.c' 'cli/*.c'
} | awk '!seen[$0]++' | while read -r f; do [ -f "$f" ] && printf '%s\n' "$f"; done >"$tmp/files"
# Vector kernels are compiled once per instruction set: enough for clang-tidy is what their compile commands hold first.
end=$(($(date +%s) + ${TIDY_SECONDS:-300}))
export build tmp end
xargs -P "$(nproc)" -n 4 sh -c '
    [ "$(date +%s)" -lt "$end" ] || exit 0
    out=$(mktemp "$tmp/out.XXXXXX")
    clang-tidy --quiet -p "$build" "$@" >"$out" 2>/dev/null || touch "$tmp/failed"
    for f in "$@"; do echo "$f" >>"$tmp/done.$$"; done' sh <"$tmp/files"
cat "$tmp"/out.* 2>/dev/null | grep -E 'warning:|error:|note:' | sort -u || true
echo "$(cat "$tmp"/done.* 2>/dev/null | wc -l) of $(wc -l <"$tmp/files") files"
[ ! -e "$tmp/failed" ]
