#!/usr/bin/env bash
# Configures and builds a preset; the compiler's output is shown only when something fails.
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

if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  echo "Configuring preset $preset failed." >&2
  exit 1
fi
if on_terminal; then
  cmake --build "build/$preset" "${targets[@]}"
elif ! cmake --build "build/$preset" "${targets[@]}" >>"$log" 2>&1; then
  grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking)' "$log" | tail -n 150 >&2
  echo "Building preset $preset failed; everything it said is in $log." >&2
  exit 1
fi
