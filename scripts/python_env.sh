#!/usr/bin/env bash
# Makes the Python environment of the tests once, from pinned requirements, and prints its interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

requirements=tests/python/requirements.txt
folder=.cache/python
stamp=$folder/requirements.txt
if ! cmp -s "$requirements" "$stamp"; then
  echo "Installing into $folder: $(grep -cE '^[a-z]' "$requirements") pinned Python packages" >&2
  python3 -m venv --clear "$folder" >&2
  "$folder/bin/pip" --disable-pip-version-check --quiet install --requirement "$requirements" >&2
  cp "$requirements" "$stamp"
fi
echo "$folder/bin/python"
