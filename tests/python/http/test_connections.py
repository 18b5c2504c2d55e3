"""Many connections, slow ones, and the server's end."""

import concurrent.futures
import json
import signal
import socket
import subprocess
import time

import pytest


def test_five_hundred_connects(server):
    """All at once, all answered."""
    sockets = [socket.socket() for _ in range(500)]
    for connection in sockets:
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", server.port))
    for connection in sockets:
        connection.settimeout(60)
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for connection in sockets:
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
        connection.close()


def test_slow_senders_do_not_hold_others_up(server, raw, web):
    slow = [raw(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localh") for _ in range(100)]
    slow += [raw(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
             for _ in range(100)]
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2}
    assert web.post("/v1/chat/completions", json=body).status_code == 200
    assert len(slow) == 200


def test_keep_alive_and_pipelining(raw, chat_bytes):
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2}
    connection = raw(chat_bytes(body) + b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    received = b""
    while more := connection.recv(65536):
        received += more
    assert received.count(b"HTTP/1.1 200") == 2
    assert received.index(b"chat.completion") < received.index(b'"status":"ok"')


def test_concurrent_replies_equal_single_ones(client):
    def ask(number):
        reply = client.chat.completions.create(
            model="m", temperature=0, max_tokens=30, extra_body={"enable_thinking": False},
            messages=[{"role": "user", "content": f"What is {number} plus {number + 1}?"}])
        return reply.choices[0].message.content

    alone = [ask(number) for number in range(6)]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert list(pool.map(ask, range(6))) == alone


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_stops_while_a_reply_runs(serve, endless, sig):
    server = serve()
    body = json.dumps({"messages": [{"role": "user", "content": "Go on."}], "stream": True, "max_tokens": 7000,
                       "logit_bias": endless}).encode()
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
                       % len(body) + body)
    received = connection.recv(65536)
    assert received.startswith(b"HTTP/1.1 200")
    server.process.send_signal(sig)
    while "finishing" not in server.log():
        assert server.process.poll() is None
    begin = time.monotonic()
    code, _, err = server.stop(sig)
    assert code == 0, err
    assert time.monotonic() - begin < 15
    while more := connection.recv(65536):
        received += more
    assert b"event: error" in received and b"[DONE]" not in received


def test_a_busy_port_is_one_sentence(server, binary):
    second = subprocess.run([binary, "serve", "--port", str(server.port)], capture_output=True, text=True,
                            timeout=120, check=False)
    assert second.returncode != 0
    assert f"port {server.port}" in second.stderr and "in use" in second.stderr
    assert "terminate" not in second.stderr
