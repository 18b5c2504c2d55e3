#!/usr/bin/env bash
# make test-full: the real width against transformers in float32, on every backend. Needs 4 GB of free memory, and
# 22 GB for the whole model; what does not fit is named and left out. Ten minutes and an hour on two cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/dependencies.sh test
cmake --preset ci >/dev/null
cmake --build build/ci --target test_full
filter='-*Qwen36*'
if [[ $(awk '/MemAvailable/ {print int($2 / 1e6)}' /proc/meminfo) -ge 22 ]]; then
  filter='*'
else
  echo "Less than 22 GB of memory are free: the whole model is left out, its slice runs"
fi
exec build/ci/tests/test_full --gtest_filter="$filter"
