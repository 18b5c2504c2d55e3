"""Many connections and many clients that leave, for `make test-all`: afterwards everything is where it was."""

import concurrent.futures
import json
import random
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest

pytestmark = pytest.mark.long


def resident_bytes(server) -> int:
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        fields = dict(line.split(":", 1) for line in status)
    return int(fields["RssAnon"].split()[0]) * 1024


def n_files(server) -> int:
    """Open files."""
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


def counters_of(server) -> dict[str, float]:
    lines = httpx.get(f"{server.url}/metrics", timeout=60).text.splitlines()
    return {name.removeprefix("orfebre_"): float(value)
            for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def wait_until_idle(server, seconds: float = 120) -> dict[str, float]:
    deadline = time.monotonic() + seconds
    while True:
        now = counters_of(server)
        if now["requests_running"] == now["requests_waiting"] == 0 and now["http_connections"] <= 1:
            return now
        assert time.monotonic() < deadline, now
        time.sleep(0.1)


def test_500_connections_are_held(binary, serve_with):
    server = serve_with([binary, "--allow-core-dumps"])  # otherwise nobody but root may count its files
    wait_until_idle(server)
    files = n_files(server)
    sockets = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(500)]
    for number, connection in enumerate(sockets):
        if number % 2:  # half are idle, half have sent the beginning of a request
            connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n")
    while counters_of(server)["http_connections"] < 500:
        time.sleep(0.05)
    body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8}
    for _ in range(20):
        assert httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=60).status_code == 200
    answered = 0
    for connection in sockets[::2]:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answered += connection.recv(4096).startswith(b"HTTP/1.1 200")
    assert answered == 250
    for connection in sockets:
        connection.close()
    after = wait_until_idle(server)
    assert after["kv_blocks_free"] + after["prefix_cache_kv_blocks"] == after["kv_blocks_total"]
    assert n_files(server) <= files + 2


BODIES = [
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Tell a story."}], "max_tokens": 60}),
    ("/v1/completions", {"prompt": "Once upon a time", "max_tokens": 60}),
    ("/v1/messages", {"messages": [{"role": "user", "content": "Tell a story."}], "max_tokens": 60}),
    ("/v1/responses", {"input": "Tell a story. " * 40, "max_output_tokens": 60}),
    ("/api/chat", {"messages": [{"role": "user", "content": "Tell a story."}], "options": {"num_predict": 60}}),
]


def ask_and_perhaps_leave(server, seed: int) -> str:
    """One request whose client leaves at a random moment: while it sends, waits, or reads; or stays."""
    draw = random.Random(seed)
    path, body = draw.choice(BODIES)
    data = json.dumps({**body, "stream": draw.random() < 0.7, "temperature": 1, "seed": seed}).encode()
    request = (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n").encode() + data
    fate = draw.choice(["sends half", "leaves at once", "leaves later", "resets", "stays"])
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as connection:
        if fate == "sends half":
            connection.sendall(request[:draw.randrange(len(request))])
            return fate
        connection.sendall(request)
        if fate == "resets":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        if fate in ("leaves later", "resets"):
            connection.settimeout(draw.random() * 0.2)
            try:
                while connection.recv(512):
                    pass
            except (TimeoutError, ConnectionError):
                pass
        elif fate == "stays":
            answer = b""
            while more := connection.recv(65536):
                answer += more
            assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 429")), answer[:200]
    return fate


def test_2000_clients_that_leave_when_they_like(binary, serve_with):
    server = serve_with([binary, "--allow-core-dumps"])
    fates = {}
    lock = threading.Lock()

    def one(seed: int):
        fate = ask_and_perhaps_leave(server, seed)
        with lock:
            fates[fate] = fates.get(fate, 0) + 1

    def many(seeds):
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for job in [pool.submit(one, seed) for seed in seeds]:
                job.result()
        return wait_until_idle(server)

    warm = many(range(400))
    memory, files = resident_bytes(server), n_files(server)
    after = many(range(400, 2400))
    assert sum(fates.values()) == 2400 and len(fates) == 5
    assert after["kv_blocks_free"] + after["prefix_cache_kv_blocks"] == after["kv_blocks_total"]
    assert after["requests_cancelled_total"] > warm["requests_cancelled_total"] + 100
    assert after["requests_failed_total"] == 0
    assert n_files(server) <= files + 2
    assert resident_bytes(server) <= memory + 8_000_000, "memory grows"
    body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8}
    assert httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=60).status_code == 200
