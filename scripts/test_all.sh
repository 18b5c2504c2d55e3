#!/usr/bin/env bash
# make test-all: make test with the long tests, then the C++ tests under the sanitizers and built by clang,
# then the two commands in an arm64 system.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/dependencies.sh test-all
scripts/test.sh --long
echo "A thousand conversations, from the prefix cache and without"
scripts/build.sh dev soak_cache
build/dev/tests/soak_cache 1000
for preset in asan-ubsan tsan ci-clang; do
  echo "Building and testing preset $preset"
  scripts/build.sh "$preset"
  ctest --test-dir "build/$preset" -j2 --output-on-failure --timeout 1800
done
echo "The two commands in an arm64 system"
status=0
scripts/test_arm64.sh || status=$?
if ((status == 77)) && [[ ${CI:-} != true ]]; then
  echo "LEFT OUT: the arm64 system, for the reason above."
elif ((status)); then
  exit "$status"
fi
