#!/usr/bin/env bash
# Runs every fuzz target of the tree for FUZZTIME (default 5s) beyond its seeds.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do
  grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/func //' | while read -r target; do
    echo "$dir $target"
    "$GO" test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-5s}"
  done
done
