#!/usr/bin/env bash
# make test: installs what is missing, builds the program and the fuzz targets, runs every test. `--long` adds
# the long ones. With CI=true warnings are errors (preset ci); elsewhere a compiler that knows more warnings
# does no harm (preset dev).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/dependencies.sh test
python=$(scripts/python_env.sh)
started=$SECONDS
preset=dev
[[ ${CI:-} == true ]] && preset=ci
echo "Building with tests (preset $preset)"
scripts/build.sh "$preset"
fuzz=()
if [[ $(uname) == Linux ]]; then # libFuzzer comes with clang there
  echo "Building the fuzz targets (preset fuzz)"
  scripts/build.sh fuzz fuzzers
  fuzz=(--fuzz-build build/fuzz)
fi
echo "build took $((SECONDS - started)) s"
exec python3 scripts/run_tests.py --build "build/$preset" --python "$python" ${fuzz[@]+"${fuzz[@]}"} "$@"
