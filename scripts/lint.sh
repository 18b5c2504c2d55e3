#!/usr/bin/env bash
# make lint: what a reviewer should not have to say.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/dependencies.sh lint
python3 scripts/check_layers.py
python3 scripts/check_sizes.py
scripts/format.sh --check
shellcheck --external-sources scripts/*.sh .ci/run
cmake --preset ci >/dev/null
mapfile -t sources < <(git ls-files 'src/*.cpp')
clang-tidy --quiet -p build/ci --warnings-as-errors='*' \
  --checks='-*,bugprone-*,performance-*,-bugprone-easily-swappable-parameters,-bugprone-narrowing-conversions' \
  "${sources[@]}"
echo "lint: nothing to say"
