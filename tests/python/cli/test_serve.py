"""`orfebre serve` as a process: signals, ports, logs. The API itself is tests/python/server."""

import json
import re
import signal
import socket
import subprocess
import urllib.request

import pytest
from cli_tools import assert_one_sentence, run


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


def test_signal_while_replying_ends_it_well(serve, demo_model):
    server = serve("--backend", "reference")
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        body = json.dumps({"messages": [{"role": "user", "content": "word " * 3000}], "max_tokens": 5}).encode()
        client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                       + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert server.stop(signal.SIGTERM)[0] == 0


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
