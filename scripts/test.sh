#!/usr/bin/env bash
# make test: installs what is missing, builds the program, the fuzz targets and (on x86-64 Linux) the backends for
# Arm, runs every test, those for Arm in an emulator. `--long` adds the long ones. With CI=true warnings are errors
# (presets ci); elsewhere a compiler that knows more warnings does no harm (preset dev).
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
arm=()
if [[ $(uname -sm) == "Linux x86_64" ]]; then
  emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
  if [[ -n $emulator && -d /usr/src/googletest ]] && command -v aarch64-linux-gnu-g++ >/dev/null; then
    arm_preset=arm64
    [[ ${CI:-} == true ]] && arm_preset=arm64-ci
    echo "Building the backends and their tests for 64-bit Arm (preset $arm_preset)"
    scripts/build.sh "$arm_preset" test_backend
    arm=(--arm64-build "build/$arm_preset" --arm64-emulator "$emulator")
  else
    echo "LEFT OUT: the tests of the Arm kernels; they need aarch64-linux-gnu-g++, qemu-aarch64 (user mode)" \
      "and GoogleTest's sources in /usr/src/googletest."
    [[ ${CI:-} != true ]] || exit 1
  fi
fi
echo "build took $((SECONDS - started)) s"
exec python3 scripts/run_tests.py --build "build/$preset" --python "$python" ${fuzz[@]+"${fuzz[@]}"} \
  ${arm[@]+"${arm[@]}"} "$@"
