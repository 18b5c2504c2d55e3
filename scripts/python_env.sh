#!/usr/bin/env bash
# Makes the Python environment of the tests once, from pinned requirements, and prints its interpreter. The source archives
# of sources.txt lie unpacked nowhere: tests read them in FOLDER/sources. Official clients (requirements-clients.txt) come
# into it where PyPI can be reached; else the file no-clients in the environment says so, and their tests are named as left
# out. With CI=1 they must be there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

requirements=tests/python/requirements.txt
sources=tests/python/sources.txt
clients=tests/python/requirements-clients.txt
folder=.cache/python
stamp=$folder/requirements.txt
client_stamp=$folder/requirements-clients.txt
pip=("$folder/bin/pip" --disable-pip-version-check --quiet)

if ! cat "$requirements" "$sources" | cmp -s - "$stamp"; then
  echo "Installing into $folder: $(cat "$requirements" "$sources" | grep -cE '^[a-z]') pinned Python packages" >&2
  python3 -m venv --clear "$folder" >&2
  "${pip[@]}" install --requirement "$requirements" >&2
  "${pip[@]}" download --no-deps --no-binary :all: --dest "$folder/sources" --requirement "$sources" >&2
  cat "$requirements" "$sources" >"$stamp"
fi
if ! cmp -s "$clients" "$client_stamp"; then
  echo "Installing into $folder: $(grep -cE '^[a-z]' "$clients") clients of the API (450 MB, a minute or two)" >&2
  if "${pip[@]}" install --requirement "$requirements" --requirement "$clients" >&2; then
    cp "$clients" "$client_stamp"
    rm -f "$folder/no-clients"
  elif [[ ${CI:-} == 1 || ${CI:-} == true ]]; then
    exit 1
  else
    echo "The clients could not be installed (see above): tests/python/clients is left out" >&2
    touch "$folder/no-clients"
  fi
fi
echo "$folder/bin/python"
