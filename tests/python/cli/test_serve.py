"""`orfebre serve` as a process: signals, ports, logs. The API itself is tests/python/http."""

import json
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request

import pytest
from cli_tools import assert_one_sentence, endless, read_all, run


def chat(server, content: str, **fields) -> dict:
    body = {"messages": [{"role": "user", "content": content}], "temperature": 0, **fields}
    request = urllib.request.Request(server.url + "/v1/chat/completions", data=json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_it_well(serve, sig):
    server = serve()
    assert server.stop(sig)[0] == 0


def long_chat(server, stream: bool, max_tokens: int = 300) -> socket.socket:
    """A connection on which a reply of `max_tokens` tokens has begun."""
    body = json.dumps({"messages": [{"role": "user", "content": "Hello"}], "stream": stream, "max_tokens": max_tokens,
                       "temperature": 2, "logit_bias": endless()}).encode()
    client = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                   + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    while running(server) == 0:
        pass
    return client


def running(server) -> int:
    return server.get("/health")[1]["running"]


@pytest.mark.parametrize("stream", [True, False])
def test_the_first_signal_lets_replies_end(serve, stream):
    server = serve()
    with long_chat(server, stream) as client:
        server.process.send_signal(signal.SIGTERM)
        answer = read_all(client)
        assert answer.startswith(b"HTTP/1.1 200")
        assert b'"finish_reason":"length"' in answer
        assert answer.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n") if stream else answer.endswith(b"}")
    assert server.stop()[0] == 0
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=5)


def test_the_second_signal_ends_them_at_once(serve):
    server = serve("--backend", "reference", "--context", "4096")
    with long_chat(server, True, 4000) as client:
        server.process.send_signal(signal.SIGTERM)
        while "finishing" not in server.log():
            assert server.process.poll() is None
        server.process.send_signal(signal.SIGINT)
        assert b"shutting down" in read_all(client)
        assert server.process.wait(timeout=20) == 0


def test_port_from_the_environment(binary, monkeypatch, serve):
    server = serve()
    monkeypatch.setenv("PORT", str(server.port))
    assert_busy(run(binary, "serve"), server.port)


def assert_busy(result, port: int):
    assert result.returncode == 2
    complaints = [line for line in result.stderr.splitlines() if line.startswith("orfebre: ")]
    assert len(complaints) == 1 and str(port) in complaints[0] and "in use" in complaints[0], result.stderr


def test_busy_port_is_one_sentence(binary, serve):
    server = serve()
    assert_busy(run(binary, "serve", "--port", str(server.port)), server.port)
    assert "choices" in chat(server, "hello")  # the first one is unharmed


def test_remote_address_needs_a_key(binary):
    # One sentence: refused before anything is planned or loaded.
    assert_one_sentence(run(binary, "serve", "--host", "0.0.0.0", "--port", "0"), 2, "key")


def test_an_empty_key_is_no_key(binary):
    assert_one_sentence(run(binary, "serve", "--host", "0.0.0.0", "--port", "0", "--api-key", ""), 2, "--api-key")


def test_inspect_prints_the_plan_of_serving(serve, binary):
    lines = run(binary, "inspect", "--memory", "0.5").stdout.splitlines()
    row = next(line for line in lines if re.match(r" +4096 ", line))
    err = serve("--memory", "0.5", "--context", "4096").stop()[2]
    planned = re.search(r"memory: .* = ([\d.]+ .B) of", err)
    assert planned and planned[1] in row, (err, row)


def test_memory_is_planned_and_kept(serve):
    server = serve("--context", "4096", "--parallel", "4")
    for _ in range(3):
        chat(server, "word " * 1000, max_tokens=8)
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        fields = dict(line.split(":", 1) for line in status)
    private_bytes = int(fields["RssAnon"].split()[0]) * 1024
    _, _, err = server.stop()
    plan = next(line for line in err.splitlines() if "memory:" in line)
    amount, unit = plan.split(" = ")[1].split()[:2]
    planned_bytes = float(amount) * {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
    assert private_bytes <= planned_bytes, plan


def test_signal_while_starting(binary):
    process = subprocess.Popen([str(binary), "serve", "--port", "0"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    process.send_signal(signal.SIGTERM)  # before, while or after it catches signals
    try:
        _, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode in (0, -signal.SIGTERM), err


def test_pages_of_the_list_may_ask(serve):
    server = serve("--allow-origin", "https://chat.example.org")

    def ask(origin: str, method: str = "GET"):
        headers = {"Origin": origin, "Access-Control-Request-Headers": "authorization,x-stainless-os"}
        request = urllib.request.Request(server.url + "/v1/models", headers=headers, method=method)
        return urllib.request.urlopen(request, timeout=20)

    with ask("https://chat.example.org") as response:
        assert response.headers["Access-Control-Allow-Origin"] == "https://chat.example.org"
    with ask("https://chat.example.org", "OPTIONS") as response:
        assert response.headers["Access-Control-Allow-Headers"] == "authorization,x-stainless-os"
    for foreign in ("https://evil.example.org", "http://chat.example.org", "null"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(foreign)
        assert refused.value.code == 403 and "Access-Control-Allow-Origin" not in refused.value.headers


def test_no_auth_opens_another_address(serve):
    server = serve("--host", "0.0.0.0", "--no-auth")
    assert server.get("/v1/models")[0] == 200
