#!/bin/sh
# Every public declaration stands in a block (between empty lines) that has a comment at or above it, the umbrella
# header includes every public header, and relative links in the documents lead somewhere.
set -eu
cd "$(dirname "$0")/../.."

status=0
for file in include/lockstep/*.h; do
    awk -v file="$file" '
        /^[ \t]*$/ { documented = 0 }
        /\/\*/ { documented = 1 }
        /^(LKS_API|typedef)/ { start = FNR; text = ""; open = 1 }
        open { text = text $0; if ($0 ~ /;/) { if (!documented && text ~ /^LKS_API/) report(); open = 0 } }
        function report(    name) {
            name = text; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
            printf "%s:%d: %s has no comment\n", file, start, name; failed = 1
        }
        END { exit failed }' "$file" || status=1
    if ! grep -q "#include \"lockstep/$(basename "$file")\"" include/lockstep.h; then
        echo "include/lockstep.h does not include lockstep/$(basename "$file")"
        status=1
    fi
done
for file in $(git ls-files --cached --others --exclude-standard '*.md'); do
    [ -f "$file" ] || continue
    for link in $(sed -n 's/](\([^)#]*\)[^)]*)/\n\1\n/gp' "$file" | grep -E '^[A-Za-z0-9_./-]+$' | grep -E '[./]' || true); do
        case $link in http*) continue ;; esac
        if [ ! -e "$(dirname "$file")/$link" ]; then
            echo "$file: link to $link leads nowhere"
            status=1
        fi
    done
done
exit $status
