#!/usr/bin/env bash
# Fetches what the tests need and runs them all, or those of the packages that
# are named: npm packages into an ignored
# folder, Debian packages where it may. What it can't get it names at the end
# with the line that installs it; with CI=true that is a failure.
set -uo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
missing=()

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# need COMMAND PACKAGES: the command, from Debian's packages where we may.
need() {
  command -v "$1" >/dev/null && return 0
  if may_install; then
    echo "installing $2 for the tests"
    apt-get install -y -qq $2 >/dev/null 2>&1 ||
      { apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq $2 >/dev/null 2>&1; }
    command -v "$1" >/dev/null && return 0
  fi
  missing+=("$1: apt-get install -y $2")
  return 1
}

need node nodejs && need npm npm
need java openjdk-17-jre-headless
if command -v npm >/dev/null; then
  for lock in test/*/package-lock.json; do
    folder=$(dirname "$lock")
    stamp=$folder/node_modules/.installed
    cmp -s "$lock" "$stamp" && continue
    echo "fetching the npm packages of $folder"
    if (cd "$folder" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error); then
      cp "$lock" "$stamp"
    else
      missing+=("npm packages: (cd $folder && npm ci --ignore-scripts)")
    fi
  done
fi

need redis-server redis-server
need redis-sentinel redis-sentinel
need prlimit util-linux

race=-race
if ! need gcc gcc; then
  race=
fi

what=("$@")
[ ${#what[@]} -gt 0 ] || what=(./...)
echo "running the tests of ${what[*]}${race:+ with the race detector}"
"$GO" test $race -timeout 20m "${what[@]}"
status=$?

if [ ${#missing[@]} -gt 0 ]; then
  echo
  echo "Not everything could be tested here. Missing, with the line that installs it:"
  printf '  %s\n' "${missing[@]}"
  if [ "${CI:-}" = true ]; then
    status=1
  fi
fi
exit $status
