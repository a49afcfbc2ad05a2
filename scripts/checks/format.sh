#!/bin/sh
# Every C file is as clang-format 14 with our .clang-format leaves it. To repair: sh scripts/checks/format.sh --fix
set -eu
cd "$(dirname "$0")/../.."

tool=
for candidate in clang-format-14 clang-format; do
    if command -v $candidate >/dev/null 2>&1 && $candidate --version | grep -q 'version 14\.'; then
        tool=$candidate
        break
    fi
done
if [ -z "$tool" ]; then
    echo "skipped: clang-format 14 not found (other versions lay out a few things differently)"
    exit 77
fi
files=$(git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cpp')
if [ "${1:-}" = --fix ]; then
    echo "$files" | xargs $tool -i
    exit 0
fi
bad=$(echo "$files" | while read -r file; do [ ! -f "$file" ] || echo "$file"; done |
    xargs -n 25 $tool --dry-run --Werror --ferror-limit=1 2>&1 | sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: error.*/\1/p' | sort -u)
[ -n "$bad" ] || exit 0
echo "$bad"
echo "these files are laid out otherwise; to repair: sh scripts/checks/format.sh --fix"
exit 1
