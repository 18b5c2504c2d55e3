#!/usr/bin/env bash
# Configures and builds a preset; the compiler's output is shown only when something fails. Without a terminal
# a line tells every tenth of the work.
#   scripts/build.sh <preset> [<target>...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
shift
targets=()
(($#)) && targets=(--target "$@")
mkdir -p "build/$preset"
log=build/$preset/build.log

on_terminal() { [[ -t 1 && -z ${CI:-} ]]; }

# Ninja's output goes to the log; of its "[done/all] ..." lines one is shown for each tenth that is passed.
show_tenths() {
  awk -v log_file="$log" '{
    print >>log_file
    if (match($0, /^\[[0-9]+\/[0-9]+\]/)) {
      split(substr($0, 2, RLENGTH - 2), step, "/")
      tenth = int(10 * step[1] / step[2])
      if (tenth > told && step[2] >= 20) { print "  " step[1] " of " step[2] " steps"; fflush(); told = tenth }
    }
  }'
}

if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  echo "Configuring preset $preset failed." >&2
  exit 1
fi
if on_terminal; then
  cmake --build "build/$preset" "${targets[@]}"
elif ! cmake --build "build/$preset" "${targets[@]}" 2>&1 | show_tenths; then
  grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking)' "$log" | tail -n 150 >&2
  echo "Building preset $preset failed; everything it said is in $log." >&2
  exit 1
fi
