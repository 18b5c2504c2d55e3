#!/usr/bin/env bash
# Builds the fuzz targets (preset fuzz, clang) and runs them; without a limit for a minute in all.
#   scripts/fuzz.sh [--seconds N | --runs N] [--seed N] [<target>...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh fuzz fuzzers
exec python3 scripts/fuzz_targets.py "$@"
