#!/bin/sh
# Runs the checks of scripts/checks (all, or those named): sh scripts/check.sh [NAME...]
# STRICT=1 makes a skipped check a failure (as CI wants it). LOCKSTEP_BUILD names the build folder to look at.
set -u
cd "$(dirname "$0")/.." || exit 1

all="layering banned length words docs headers symbols install format tidy"
failed=
for name in ${*:-$all}; do
    script=scripts/checks/$name.sh
    [ -f "$script" ] || { echo "no check is called $name; there are: $all"; exit 2; }
    started=$(date +%s)
    output=$(sh "$script" 2>&1)
    code=$?
    seconds=$(($(date +%s) - started))
    case $code in
    0) echo "ok      $name (${seconds} s)" ;;
    77)
        echo "skipped $name"
        [ "${STRICT:-0}" = 0 ] || failed="$failed $name"
        ;;
    *)
        echo "FAILED  $name (${seconds} s)"
        failed="$failed $name"
        ;;
    esac
    [ -z "$output" ] || printf '%s\n' "$output" | sed 's/^/        /'
done
if [ -n "$failed" ]; then
    echo "checks failed:$failed"
    exit 1
fi
echo "all checks passed"
