#!/bin/sh
# No paths of one machine, and no debts left in comments.
set -eu
cd "$(dirname "$0")/../.."

status=0
paths='(^|[^A-Za-z0-9_.])/(wor[k]|roo[t]|hom[e]/[a-z]|tm[p]/team|tm[p]/build-)(/|[^A-Za-z0-9_]|$)'
if git ls-files --cached --others --exclude-standard | grep -Ev '^(LICENSE|scripts/checks/words\.sh)$|\.(png|gz|npz|keras|h5|zip|bin)$' |
    xargs grep -nIE "$paths" /dev/null; then
    echo "these lines name paths of one machine"
    status=1
fi
if git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cpp' '*.cmake' '*.txt' | xargs grep -nE '\<(TODO|FIXME|XXX|HACK)\>' /dev/null; then
    echo "these lines are debts: do it, or file an issue"
    status=1
fi
exit $status
