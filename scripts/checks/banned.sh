#!/bin/sh
# The library is a guest: it never prints, ends the process, changes its locale, signals or environment, and calls no
# function that is unsafe with buffers, threads or locales. Exceptions: waivers.txt.
set -eu
cd "$(dirname "$0")/../.."
here=scripts/checks

calls='printf|vprintf|puts|putchar|perror|exit|_exit|_Exit|quick_exit|abort|assert|gets|strcpy|stpcpy|strcat|sprintf|vsprintf'
calls="$calls|strtok|rand|srand|random|srandom|drand48|alloca|malloc|calloc|realloc|free|strdup|strndup|posix_memalign"
calls="$calls|aligned_alloc|asprintf|vasprintf|setlocale|strtod|strtof|strtold|atof|atoi|atol|atoll|strcasecmp|strncasecmp"
calls="$calls|toupper|tolower|isalpha|isdigit|isspace|isalnum|isupper|islower|signal|sigaction|setenv|putenv|unsetenv"
calls="$calls|system|popen|tmpnam|mktemp|localtime|gmtime|ctime|asctime|strerror|getwd"

for file in $(git ls-files --cached --others --exclude-standard 'src/*.c' 'src/*.h'); do
    awk -f $here/strip.awk "$file" | awk -v file="$file" -v calls="$calls" -v waivers=$here/waivers.txt '
        BEGIN {
            n = split(calls, a, "|"); for (i = 1; i <= n; i++) banned[a[i]] = 1
            while ((getline line < waivers) > 0) { split(line, w, " "); if (w[1] == "banned" && w[2] == file) waived[w[3]] = 1 }
        }
        /^[ \t]*#[ \t]*include[ \t]*<(ctype|locale|signal|assert)\.h>/ { h = $0; gsub(/.*<|>.*/, "", h); if (!(h in waived)) bad("#include <" h ">") }
        /^[ \t]*#/ && !/define/ { next }
        {
            rest = $0
            while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
                word = substr(rest, RSTART, RLENGTH)
                before = substr(rest, 1, RSTART - 1); sub(/[ \t]+$/, "", before)
                after = substr(rest, RSTART + RLENGTH)
                member = (before ~ /(->|\.)$/)
                if (!member && (word == "stdout" || word == "stderr") && !(word in waived)) bad(word)
                if (!member && (word in banned) && after ~ /^[ \t]*\(/ && !(word in waived)) bad(word "()")
                rest = after
            }
        }
        function bad(what) { printf "%s:%d: %s is banned in the library\n", file, FNR, what; failed = 1 }
        END { exit failed }' || touch "${TMPDIR:-/tmp}/lockstep-banned.$$"
done
if [ -e "${TMPDIR:-/tmp}/lockstep-banned.$$" ]; then
    rm -f "${TMPDIR:-/tmp}/lockstep-banned.$$"
    exit 1
fi
