#!/usr/bin/env bash
# Formats the C++ sources in place (--write) or says which ones are not formatted (--check).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v clang-format >/dev/null || scripts/dependencies.sh lint
mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.cpp' '*.h' '*.inl')
case ${1:---check} in
  --write) clang-format -i "${sources[@]}" ;;
  --check) clang-format --dry-run --Werror "${sources[@]}" ;;
  *) echo "usage: scripts/format.sh --write | --check" >&2; exit 2 ;;
esac
