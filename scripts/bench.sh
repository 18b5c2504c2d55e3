#!/usr/bin/env bash
# make bench: prefill and decode of the demo model on this machine, at several contexts and widths.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/dependencies.sh run
scripts/build.sh release orfebre
program=build/release/src/cli/orfebre
"$program" bench --context 0 1024 4096 --prefill 512 --decode 64 --repeat 5
echo
"$program" bench --context 1024 --prefill 512 --decode 64 --repeat 5 --sequences 4
