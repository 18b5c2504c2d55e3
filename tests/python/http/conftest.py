"""What the tests of the HTTP API share. They hold for any weights: a reply's content is compared with other
replies of the same server, never with a text written here (tests/python/demo asserts what the demo says)."""

import json
import socket
import time

import httpx
import openai
import pytest


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="unused", max_retries=0, timeout=120) as client:
        yield client


@pytest.fixture
def web(server):
    with httpx.Client(base_url=server.url, timeout=60) as web:
        yield web


@pytest.fixture(scope="session")
def endless(demo_model):
    """A logit_bias under which no turn ends, so that a reply is as long as max_tokens says."""
    tokenizer = json.loads((demo_model / "tokenizer.json").read_text())
    return {str(token["id"]): -100 for token in tokenizer["added_tokens"]
            if token["content"] in ("<|im_end|>", "<|endoftext|>")}


@pytest.fixture
def counters(web):
    """counters() -> the numbers of /metrics by name, without the prefix."""

    def read() -> dict[str, float]:
        lines = web.get("/metrics").text.splitlines()
        pairs = [line.split(" ") for line in lines if not line.startswith("#")]
        return {name.removeprefix("orfebre_"): float(value) for name, value in pairs}

    return read


@pytest.fixture
def eventually():
    def wait(condition, seconds=30):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return True
            time.sleep(0.02)
        return False

    return wait


@pytest.fixture
def raw(server):
    """raw(bytes) -> a connected socket that has sent them."""
    sockets = []

    def connect(request: bytes, receive_buffer: int = 0) -> socket.socket:
        connection = socket.socket()
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(request)
        sockets.append(connection)
        return connection

    yield connect
    for connection in sockets:
        connection.close()


@pytest.fixture
def chat_bytes():
    """chat_bytes(body) -> the bytes of a chat request."""

    def build(body: dict | bytes, path: str = "/v1/chat/completions") -> bytes:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        return head.encode() + data

    return build
