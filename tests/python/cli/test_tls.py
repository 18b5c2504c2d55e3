"""`orfebre serve` behind TLS."""

import json
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
import warnings

import pytest
from cli_tools import assert_one_sentence, endless, read_all, run


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """(certificate, key) files for localhost, made on the spot."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, capture_output=True)
    return cert, key


class TlsServer:
    """A server that speaks https; conftest's ServerProcess waits by http."""

    def __init__(self, binary, port: int, cert, key, *more: str):
        self.port = port
        self.context = ssl.create_default_context(cafile=cert)
        self.process = subprocess.Popen([str(binary), "serve", "--port", str(port), "--tls-cert", str(cert), "--tls-key", str(key),
                                         *more], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(self, path: str, body: dict | None = None):
        request = urllib.request.Request(f"https://localhost:{self.port}{path}",
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=30, context=self.context)

    def wait(self):
        for _ in range(1200):
            try:
                with self.ask("/health"):
                    return
            except (urllib.error.URLError, ConnectionError):
                assert self.process.poll() is None
                time.sleep(0.05)
        raise AssertionError("not ready")


@pytest.fixture
def tls_server(binary, certificate):
    server = TlsServer(binary, free_port(), *certificate)
    try:
        server.wait()
        yield server
    finally:
        server.process.terminate()
        assert server.process.wait(timeout=20) == 0


def test_https(tls_server):
    body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 5}
    with tls_server.ask("/v1/chat/completions", body) as response:
        assert json.loads(response.read())["usage"]["completion_tokens"] > 0
    with tls_server.ask("/v1/chat/completions", {**body, "stream": True}) as response:
        assert response.read().endswith(b"data: [DONE]\n\n")
    long = {"messages": [{"role": "user", "content": "word " * 200_000}]}  # more than one TLS record, refused by size
    with pytest.raises(urllib.error.HTTPError) as refused:
        tls_server.ask("/v1/chat/completions", long)
    assert refused.value.code == 400


def test_https_is_not_http_and_needs_a_modern_client(tls_server):
    with socket.create_connection(("127.0.0.1", tls_server.port), timeout=20) as plain:
        plain.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert not read_all(plain).startswith(b"HTTP")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"https://localhost:{tls_server.port}/health", timeout=20)  # unknown authority
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", tls_server.port), timeout=20) as plain, pytest.raises((ssl.SSLError, OSError)):
        old.wrap_socket(plain)


def test_a_client_that_leaves_https_frees_its_reply(tls_server):
    response = tls_server.ask("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello"}], "stream": True,
                                                       "temperature": 2, "logit_bias": endless()})
    assert response.read(20)

    def n_running() -> int:
        with tls_server.ask("/health") as health:
            return json.loads(health.read())["running"]

    def wait_for(n_replies: int):
        deadline = time.monotonic() + 20
        while n_running() != n_replies:
            assert time.monotonic() < deadline
            time.sleep(0.02)

    wait_for(1)
    response.close()
    wait_for(0)


def test_tls_files_that_are_none(binary, certificate, tmp_path):
    cert, key = certificate
    assert_one_sentence(run(binary, "serve", "--port", "0", "--tls-cert", str(cert)), 2, "--tls-key")
    for arguments in (["--tls-cert", str(tmp_path / "none.pem"), "--tls-key", str(key)],
                      ["--tls-cert", str(cert), "--tls-key", str(cert)]):
        result = run(binary, "serve", "--port", "0", *arguments)
        assert result.returncode == 2 and "TLS" in result.stderr.splitlines()[-1]
