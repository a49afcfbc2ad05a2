#!/bin/sh
# No file above 500 lines, no function above 80 (aim: 150 and 40). The code's layout makes counting simple: a function's
# body stands between a "{" and a "}" in column 1. Exceptions: waivers.txt. Prints a short report.
set -eu
cd "$(dirname "$0")/../.."

git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cpp' | while read -r file; do
    [ -f "$file" ] && printf '%s\n' "$file"
done | xargs awk -v waivers=scripts/checks/waivers.txt '
    BEGIN {
        while ((getline line < waivers) > 0) { split(line, w, " "); if (w[1] == "length") waived[w[2], w[3]] = 1 }
    }
    FNR == 1 { if (file != "") end_file(); file = FILENAME; lines = 0; start = 0; open = 0 }
    { lines++ }
    /^[A-Za-z_]/ { if (!open) { start = FNR; head = $0 } }
    /^\{/ && start { open = 1 }
    /^\}/ && open {
        size = FNR - start + 1
        name = head; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
        count[++functions] = size
        if (size > 40) above_40++
        if (size > 80 && !((file, name) in waived)) {
            printf "%s:%d: function %s has %d lines, 80 is the law\n", file, start, name, size; failed = 1
        }
        open = 0; start = 0
    }
    function end_file() {
        files++; total += lines; file_lines[files] = lines
        if (lines > 500 && !((file, "file") in waived)) { printf "%s: %d lines, 500 is the law\n", file, lines; failed = 1 }
    }
    function sort(a, n,    i, j, t) { for (i = 2; i <= n; i++) { t = a[i]; for (j = i - 1; j > 0 && a[j] > t; j--) a[j + 1] = a[j]; a[j + 1] = t } }
    function at(a, n, share,    i) { i = int(n * share + 0.999999); return a[i < 1 ? 1 : i] }
    END {
        if (file != "") end_file()
        sort(count, functions); sort(file_lines, files)
        printf "%d files, %d lines; file median %d, 90%% %d, longest %d; ", files, total, at(file_lines, files, 0.5), at(file_lines, files, 0.9), file_lines[files]
        printf "%d functions, median %d, 90%% %d, longest %d, above 40: %d\n", functions, at(count, functions, 0.5), at(count, functions, 0.9), count[functions], above_40
        exit failed
    }'
