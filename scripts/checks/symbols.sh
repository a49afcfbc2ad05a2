#!/bin/sh
# What the built library exports: from the shared one only lks_*, and all that the headers declare; in the static one
# every global name starts with lks_ too. Every public function is used in a test, an example or the command.
# LOCKSTEP_BUILD names the build folder.
set -eu
cd "$(dirname "$0")/../.."
build=${LOCKSTEP_BUILD:-build/dev}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

status=0
for header in include/lockstep/*.h; do
    awk -f scripts/checks/strip.awk "$header" | sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' | sed "/^#/d" | tr "\n" " " | sed "s/;/;\n/g"
done | sed -n "s/^[^([]*LKS_API[^([]*[ *]\(lks_[a-z0-9_]*\)[([].*/\1/p" | sort -u >"$tmp/declared"
cat $(git ls-files --cached --others --exclude-standard 'examples/*.c' 'tests/*.c' 'tests/*.h' 'tests/*.cpp' 'cli/*.c' 'cli/*.h') 2>/dev/null |
    grep -oE 'lks_[a-z0-9_]+' | sort -u >"$tmp/used"
while read -r name; do
    grep -qxE "${name}|${name%_with}" "$tmp/used" || { echo "$name: no test, example or command uses it"; status=1; }
done <"$tmp/declared"

if [ ! -e "$build/liblockstep.so" ] || [ ! -e "$build/liblockstep.a" ]; then
    [ $status = 0 ] || exit 1
    echo "skipped: no liblockstep.so and liblockstep.a in $build (set LOCKSTEP_BUILD)"
    exit 77
fi
nm -D --defined-only "$build/liblockstep.so" | awk '{ print $NF }' | sort -u >"$tmp/exported"
if grep -vE '^lks_' "$tmp/exported"; then
    echo "these symbols of liblockstep.so have no lks_ prefix"
    status=1
fi
if grep -E '^lks__' "$tmp/exported"; then
    echo "these internal symbols are exported from liblockstep.so"
    status=1
fi
if nm -g --defined-only "$build/liblockstep.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | grep -vE '^lks_'; then
    echo "these global symbols of liblockstep.a have no lks_ prefix"
    status=1
fi
if comm -23 "$tmp/declared" "$tmp/exported" | grep .; then
    echo "these functions are declared in include/ but not exported"
    status=1
fi
if comm -13 "$tmp/declared" "$tmp/exported" | grep .; then
    echo "these functions are exported but not declared in include/"
    status=1
fi
exit $status
