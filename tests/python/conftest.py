"""What every Python test may use: the program under test, the demo model, a running server."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser):
    parser.addoption("--binary", default=str(ROOT / "build/ci/src/cli/orfebre"), help="the program under test")


@pytest.fixture(scope="session")
def binary(pytestconfig) -> Path:
    path = Path(pytestconfig.getoption("--binary")).resolve()
    assert path.is_file(), f"{path} is not built"
    return path


@pytest.fixture(scope="session")
def demo_model() -> Path:
    return ROOT / "models" / "demo"


@pytest.fixture(scope="session")
def python_with():
    """python_with(name, requirements) -> an interpreter with the packages of that file, made once for all runs."""

    def make(name: str, requirements: Path) -> Path:
        folder = ROOT / ".cache" / f"python-{name}"
        python, stamp = folder / "bin" / "python", folder / "requirements.txt"
        if not stamp.is_file() or stamp.read_text() != requirements.read_text():
            venv.create(folder, clear=True, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements],
                           check=True, timeout=1200)
            stamp.write_text(requirements.read_text())
        return python

    return make


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ServerProcess:
    """A running `orfebre serve` on a free port of the loopback. `binary`: the program, or the beginning of a
    command line that ends with it and its general options."""

    def __init__(self, binary: Path | list, *arguments: str, **popen):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        # Files, because nobody reads a pipe while the server logs a line a reply.
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        program = [str(part) for part in (binary if isinstance(binary, list) else [binary])]
        self.process = subprocess.Popen(
            [*program, "serve", "--port", str(self.port), *arguments],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err, **popen)
        self._wait_until_ready()

    def _wait_until_ready(self, seconds: float = 60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"server ended with {self.process.returncode}: {self.log()}")
            try:
                if self.get("/health")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)
        self.process.kill()
        raise AssertionError(f"server was not ready after {seconds} s")

    def get(self, path: str):
        with urllib.request.urlopen(self.url + path, timeout=10) as response:
            return response.status, json.loads(response.read() or b"null")

    def log(self) -> str:
        """What the server has written to stderr so far."""
        return self._text(self.err)

    @staticmethod
    def _text(file) -> str:
        # By pread: the server writes at the same offset as this file object would move.
        return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")

    def stop(self, sig=signal.SIGTERM) -> tuple[int, str, str]:
        """(exit code, stdout, stderr)."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.process.returncode, self._text(self.out), self.log()


@pytest.fixture
def serve_with():
    """serve_with(command, *arguments, **popen) -> ServerProcess; stopped at the end of the test."""
    started = []

    def start(command: Path | list, *arguments: str, **popen) -> ServerProcess:
        started.append(ServerProcess(command, *arguments, **popen))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def serve(binary, serve_with):
    """serve(*arguments) -> ServerProcess; stopped at the end of the test."""
    return lambda *arguments: serve_with(binary, *arguments)


@pytest.fixture(scope="session")
def server(binary):
    """One server with default settings for all tests that only talk to it."""
    process = ServerProcess(binary)
    yield process
    code, _, err = process.stop()
    assert code == 0, err
