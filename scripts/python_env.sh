#!/usr/bin/env bash
# Makes the Python environment of the tests once, from pinned requirements, and prints its interpreter. The
# source archives of sources.txt lie unpacked nowhere: tests read them in FOLDER/sources.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

requirements=tests/python/requirements.txt
sources=tests/python/sources.txt
folder=.cache/python
stamp=$folder/requirements.txt
if ! cat "$requirements" "$sources" | cmp -s - "$stamp"; then
  echo "Installing into $folder: $(cat "$requirements" "$sources" | grep -cE '^[a-z]') pinned Python packages" >&2
  python3 -m venv --clear "$folder" >&2
  pip=("$folder/bin/pip" --disable-pip-version-check --quiet)
  "${pip[@]}" install --requirement "$requirements" >&2
  "${pip[@]}" download --no-deps --no-binary :all: --dest "$folder/sources" --requirement "$sources" >&2
  cat "$requirements" "$sources" >"$stamp"
fi
echo "$folder/bin/python"
