"""Running the program in the tests of its commands."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from pathlib import Path

STATISTICS = re.compile(r"\[(\d+) tokens, [\d.]+ tok/s; prompt (\d+) tokens in [\d.]+ s; .*\]")


def run(binary: Path, *arguments: str, **kwargs) -> subprocess.CompletedProcess:
    """Runs to the end, at most two minutes; text in and out, standard input empty unless `input` is given."""
    if "input" not in kwargs:
        kwargs["stdin"] = subprocess.DEVNULL
    return subprocess.run([str(binary), *arguments], capture_output=True, text=True, timeout=120, check=False,
                          **kwargs)


def assert_one_sentence(result: subprocess.CompletedProcess, code: int, *words: str):
    """The program refused: `code`, nothing on standard output, one line on standard error with `words`."""
    assert result.returncode == code, result
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("orfebre: "), result.stderr
    for word in words:
        assert word in lines[0], (word, lines[0])


class Terminal:
    """The program on a pseudo-terminal: what a person at a keyboard sees and types."""

    def __init__(self, binary: Path, *arguments: str):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(binary, [str(binary), *arguments])
        self.seen = ""
        self.read_to = 0

    def type(self, text: str):
        os.write(self.fd, text.encode())

    def _read(self, seconds: float) -> bool:
        """Reads what is there within `seconds`; False at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            chunk = os.read(self.fd, 65536)
        except OSError:  # the other side is gone
            return False
        self.seen += chunk.decode(errors="replace")
        return bool(chunk)

    def expect(self, pattern: str, seconds: float = 60) -> re.Match:
        """The first match after the last one; fails with the screen's text when none comes."""
        deadline = time.monotonic() + seconds
        while True:
            match = re.compile(pattern, re.DOTALL).search(self.seen, self.read_to)
            if match:
                self.read_to = match.end()
                return match
            assert time.monotonic() < deadline and self._read(0.2), f"no {pattern!r} in {self.seen!r}"

    def expect_signal_keys(self, seconds: float = 60):
        """Until Ctrl-C is a signal again, which it is not while the program edits a line."""
        deadline = time.monotonic() + seconds
        while not termios.tcgetattr(self.fd)[3] & termios.ISIG:
            assert time.monotonic() < deadline and self._read(0.01), "Ctrl-C stays a key"

    def wait(self, seconds: float = 20) -> int:
        """The exit code."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f"still running; screen: {self.seen!r}")

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


def endless() -> dict[str, int]:
    """A logit_bias under which the demo's turns do not end, so that a reply is as long as it may be."""
    tokenizer = json.loads((Path(__file__).resolve().parents[3] / "models" / "demo" / "tokenizer.json").read_text())
    return {str(token["id"]): -100 for token in tokenizer["added_tokens"]
            if token["content"] in ("<|im_end|>", "<|endoftext|>")}


def read_all(client) -> bytes:
    """What a socket's other side sends until it closes."""
    data = b""
    while more := client.recv(65536):
        data += more
    return data
