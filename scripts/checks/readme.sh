#!/bin/sh
# The commands that README.md tells people to type do what it says: every line of its ```sh blocks is run, in order, from
# the top folder. What stands in other blocks (a clone, a listing) is not run.
set -eu
cd "$(dirname "$0")/../.."

script=$(mktemp)
trap 'rm -f "$script"' EXIT
awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' README.md >"$script"
[ -s "$script" ] || { echo "README.md has no sh block"; exit 1; }
while read -r line; do
    case $line in
    "" | "#"*) continue ;;
    "sh scripts/test.sh"*) continue ;; # CI has just run it
    esac
    echo "\$ $line"
    sh -euc "$line" </dev/null || { echo "README.md: this command failed: $line"; exit 1; }
done <"$script"
