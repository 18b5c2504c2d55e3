#!/usr/bin/env bash
# make run and make demo: from a bare clone to a reply of the demo model over HTTP.
#   scripts/demo.sh serve   then keeps serving
#   scripts/demo.sh once    then stops, exit code 0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=${1:-serve}
port=${PORT:-8080}
program=build/release/src/cli/orfebre
url=http://127.0.0.1:$port
question="What is 27 + 15?"

if [[ ! $port =~ ^[0-9]{1,5}$ ]] || ((10#$port < 1 || 10#$port > 65535)); then
  echo "PORT=$port is not a port; choose a number from 1 to 65535, for example PORT=8080." >&2
  exit 2
fi
if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
  echo "Port $port is in use; choose another one with PORT=, for example PORT=$((port + 1)) make run." >&2
  exit 2
fi
scripts/dependencies.sh run
if [[ ! -x $program ]]; then
  echo "Building Orfebre (Release); the first time takes a few minutes."
fi
scripts/build.sh release orfebre

log=build/release/server-$port.log # one a port: a second server leaves the first one's alone
"$program" serve --port "$port" 2>"$log" &
server=$!
stop_server() {
  kill -TERM "$server" 2>/dev/null || true
  wait "$server" || true
}
trap stop_server EXIT
trap 'exit 0' INT TERM

if ! python3 scripts/ask.py --wait-for "$server" "$url"; then
  trap - EXIT
  kill -TERM "$server" 2>/dev/null || true
  cat "$log" >&2
  wait "$server" && exit 1 || exit $?
fi
cat "$log"
python3 scripts/ask.py "$url" "$question"

cat <<TEXT

Ask it yourself:
  curl -N $url/v1/chat/completions -H 'Content-Type: application/json' \\
    -d '{"messages":[{"role":"user","content":"$question"}],"stream":true}'

This is the demo: a model of 25 million parameters with the architecture of Qwen3.6-35B-A3B, trained from
scratch on text that a script wrote. It does small sums, answers a few simple facts and calls tools. It
proves the code path; it says nothing about Qwen's quality or speed.

The real model: download an MLX 4-bit checkpoint of Qwen3.6-35B-A3B (about 20 GB), then
  $program serve --model /path/to/Qwen3.6-35B-A3B-4bit
TEXT

if [[ $mode == serve ]]; then
  echo
  echo "Serving on $url; its log is $log; Ctrl-C stops."
  wait "$server"
fi
