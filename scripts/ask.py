#!/usr/bin/env python3
"""Asks an OpenAI-compatible server one question and shows the streamed reply, with nothing but the standard
library. With --wait-for PID it first waits until the server is ready, and gives up when that process ends."""

import argparse
import json
import os
import sys
import time
import urllib.error
import urllib.request


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except OSError:
        return True


def wait_until_ready(url: str, pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not is_running(pid):
            return False
        try:
            with urllib.request.urlopen(url + "/health", timeout=2) as response:
                if response.status == 200:
                    return True
        except (OSError, urllib.error.URLError):
            time.sleep(0.05)
    print(f"the server was not ready after {seconds:.0f} s", file=sys.stderr)
    return False


def stream(url: str, question: str):
    """Yields the pieces of the reply: ("reasoning" | "content", text)."""
    body = {"messages": [{"role": "user", "content": question}], "stream": True, "temperature": 0}
    request = urllib.request.Request(url + "/v1/chat/completions", data=json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        for line in response:
            if not line.startswith(b"data: ") or line.strip() == b"data: [DONE]":
                continue
            for choice in json.loads(line[6:]).get("choices", []):
                delta = choice.get("delta", {})
                if delta.get("reasoning_content"):
                    yield "reasoning", delta["reasoning_content"]
                if delta.get("content"):
                    yield "content", delta["content"]


def show(url: str, question: str):
    print(f"\nQ: {question}")
    start = time.monotonic()
    first = None
    last_kind = None
    for kind, text in stream(url, question):
        first = first or time.monotonic() - start
        if kind != last_kind:
            print("\nthinking: " if kind == "reasoning" else "A: " if last_kind is None else "\nA: ", end="")
            last_kind = kind
        print(text, end="", flush=True)
    print(f"\n(first text after {first or 0:.2f} s, all after {time.monotonic() - start:.2f} s)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wait-for", type=int, metavar="PID", help="the server's process")
    parser.add_argument("url")
    parser.add_argument("question", nargs="?", help="none: only wait")
    arguments = parser.parse_args()
    if arguments.wait_for and not wait_until_ready(arguments.url, arguments.wait_for, 60):
        return 1
    if arguments.question is None:
        return 0
    try:
        show(arguments.url, arguments.question)
    except urllib.error.HTTPError as error:
        print(f"the server answered {error.code}: {error.read().decode(errors='replace')}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read this has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
