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
else
    echo "$files" | xargs $tool --dry-run --Werror --ferror-limit=3
fi
