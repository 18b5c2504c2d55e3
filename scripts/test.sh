#!/usr/bin/env bash
# make test: installs what is missing, builds presets ci and fuzz, runs every test. `--long` adds the long ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/dependencies.sh test
python=$(scripts/python_env.sh)
started=$SECONDS
echo "Building with tests (preset ci, warnings are errors)"
scripts/build.sh ci
fuzz=()
if [[ $(uname) == Linux ]]; then # libFuzzer comes with clang there
  echo "Building the fuzz targets (preset fuzz)"
  scripts/build.sh fuzz fuzzers
  fuzz=(--fuzz-build build/fuzz)
fi
echo "build took $((SECONDS - started)) s"
exec python3 scripts/run_tests.py --build build/ci --python "$python" ${fuzz[@]+"${fuzz[@]}"} "$@"
