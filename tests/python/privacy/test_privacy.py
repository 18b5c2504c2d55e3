"""What was said stays in the server's memory: words that exist nowhere else are sent through every endpoint, in
every kind of error and into a crash, and then looked for in files, logs, metrics, answers and cores."""

import json
import os
import random
import signal
import socket
import string
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from watched_server import SystemCalls, Traces, allow_large_cores, dumps_core, machine_dumps_cores  # noqa: E402

SMALL = ["--context", "1024", "--parallel", "2"]


@pytest.fixture
def words() -> list[str]:
    """Two words of this run alone; a part of what was said is a finding like the whole."""
    return ["".join(random.choices(string.ascii_lowercase, k=14)) for _ in range(2)]


@pytest.fixture
def canary(words) -> str:
    return f"Please repeat: the {words[0]} sings to the {words[1]}."


@pytest.fixture
def start(serve_with):
    """start(command, traces) -> a ServerProcess in the folders of `traces` that may write cores of any size."""
    return lambda command, traces: serve_with(command, *SMALL, cwd=traces.work, env=traces.environment(),
                                              preexec_fn=allow_large_cores)


def ask(server, request: bytes) -> bytes:
    """The whole answer to a request that ends its connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        try:
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(65536), b""))
        except ConnectionResetError:  # refused while it was still being sent
            return b""


def http(method: str, path: str, body: bytes = b"", *headers: str) -> bytes:
    fields = {"Host": "localhost", "Connection": "close", "Content-Type": "application/json",
              "Content-Length": str(len(body)), **dict(header.split(": ", 1) for header in headers)}
    head = [f"{method} {path} HTTP/1.1", *[f"{name}: {value}" for name, value in fields.items()]]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def post(body, *headers: str, path: str = "/v1/chat/completions") -> bytes:
    return http("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode(), *headers)


# Fields that each API refuses with a text for a value.
REFUSED_FIELDS = {(path, "stream") for path in ("/v1/responses", "/v1/messages", "/api/chat", "/api/generate")} | {
    ("/v1/responses", "temperature"), ("/v1/messages", "temperature"), ("/v1/messages", "messages"), ("/v1/messages", "tools"),
    ("/api/chat", "messages"), ("/api/chat", "options"), ("/api/generate", "options")}


def user(text, **fields) -> dict:
    return {"messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 12, **fields}


def accepted(canary: str, word: str) -> list[bytes]:
    """Requests that are answered, by a reply."""
    tool = {"type": "function", "function": {"name": word, "description": canary, "parameters": {"type": "object"}}}
    call = {"id": word, "type": "function", "function": {"name": word, "arguments": json.dumps({word: canary})}}
    return [
        post(user(canary)), post(user(canary, stream=True, stream_options={"include_usage": True})),
        post(user(canary, tools=[tool])), post(user(canary, tools=[{"type": word}])),
        post(user(canary, stop=[word], logprobs=True, top_logprobs=3)),
        post(user([{"type": "text", "text": canary}], model=word, user=word), path=f"/v1/chat/completions?{word}={word}"),
        post({"messages": [{"role": "system", "content": canary}, {"role": "user", "content": "Hello"},
                           {"role": "assistant", "content": canary, "reasoning_content": canary, "tool_calls": [call]},
                           {"role": "tool", "tool_call_id": word, "content": canary}], "max_tokens": 3}),
        *[post(body, path=path) for path, body in other_apis(canary, word)],
        *[post({**body, "stream": True}, path=path) for path, body in other_apis(canary, word)],
        post({"messages": [{"role": "user", "content": canary}], "system": word}, path="/v1/messages/count_tokens"),
        post({"prompt": canary, "stop": [word], "echo": True, "max_tokens": 5}, path="/v1/completions"),
        post({"content": canary}, path="/tokenize"), post({"model": word}, path="/api/show"),
        http("GET", f"/health?{word}", b"", f"X-Note: {word}"), http("GET", "/v1/models", b"", f"Cookie: {word}"),
    ]


def other_apis(canary: str, word: str) -> list[tuple[str, dict]]:
    """What is said, in the words of each API."""
    return [
        ("/v1/responses", {"input": canary, "instructions": canary, "max_output_tokens": 12, "metadata": {word: word}}),
        ("/v1/messages", {"messages": [{"role": "user", "content": canary}], "system": canary, "max_tokens": 12,
                          "tools": [{"name": word, "input_schema": {"type": "object"}}], "metadata": {"user_id": word}}),
        ("/api/chat", {"messages": [{"role": "user", "content": canary}], "options": {"num_predict": 12}}),
        ("/api/generate", {"prompt": canary, "system": word, "options": {"num_predict": 12}}),
    ]


def refused(canary: str, word: str) -> list[bytes]:
    """Requests that are answered by an error, the canary in each part that a request has."""
    raw = canary.encode()
    whole = json.dumps(user(canary)).encode()
    image = [{"type": "image_url", "image_url": {"url": word}}]
    return [
        post(raw), post(whole[:-1]), post(whole + raw), post(b'"' + raw + b'"'), post(whole.replace(b".", b"\xff")),
        post({"messages": canary}), post({"messages": [canary]}), post({word: canary, "messages": []}), post(user({word: canary})),
        post(user(image)), post(user([{"type": word, word: canary}])), post({"messages": [{"role": word, "content": canary}]}),
        *[post(user(canary, **{field: word})) for field in ("temperature", "top_p", "top_k", "max_tokens", "seed", "stream",
                                                            "tools", "logit_bias", "logprobs", "tool_choice", "stream_options")],
        *[post(user(canary, **fields)) for fields in ({"n": 99}, {"temperature": 9}, {"stop": [[word]]}, {"tools": [word]},
                                                      {"logit_bias": {word: 1}}, {"response_format": {"type": word}})],
        *[post({**body, field: word}, path=path) for path, body in other_apis(canary, word)
          for field in ("stream", "tools", "options", "temperature", "input", "messages")
          if (path, field) in REFUSED_FIELDS],
        post({"prompt": {word: canary}}, path="/v1/completions"), post({"prompt": canary, "logprobs": word}, path="/v1/completions"),
        post({"messages": [{"role": word, "content": canary}]}, path="/v1/messages"),
        post({"input": [{"role": word, "content": canary}]}, path="/v1/responses"),
        post({"input": canary, "previous_response_id": word}, path="/v1/responses"),
        post({"messages": [{"role": word, "content": canary}]}, path="/api/chat"),
        post({"tokens": [word]}, path="/detokenize"), post({"content": {word: canary}}, path="/tokenize"),
        post({"input": canary}, path="/v1/embeddings"), http("GET", f"/v1/responses/{word}"),
        post(user(canary * 2000)), post(user(canary * 2000, stream=True)),  # more than the context holds
        post(user(canary), f"Content-Type: text/{word}"), post(user(canary), f"Origin: https://{word}.example"),
        post(user(canary), f"Host: {word}.example"), post(user(canary), f"Content-Length: {word}"),
        post(user(canary), f"Transfer-Encoding: {word}"), post(user(canary), f"X-Long: {word * 9000}"),
        post(user(canary), path=f"/v1/{word}"), http("GET", f"/{word}?{word}"), http("GET", f"/v1/models/{word}"),
        http("DELETE", "/v1/chat/completions", raw), http(word.upper(), "/"), http("GET", f"/v1/models/%{word}"),
        raw + b"\r\n\r\n", f"GET /{word} HTTP/9.9\r\n\r\n".encode(), f"GET / HTTP/1.1\r\n{word}\r\n\r\n".encode(),
        post(b" " * (33 << 20) + raw),
    ]


def assert_silent(words: list[str], name: str, text: str | bytes):
    data = text if isinstance(text, bytes) else text.encode()
    assert not [word for word in words if word.encode() in data or word.upper().encode() in data], (name, data[-2000:])


def talk_to(server, canary: str, words: list[str]) -> list[str]:
    """Sends everything, and a client that leaves in between; returns the replies' texts."""
    replies = []
    for request in accepted(canary, words[0]):
        answer = ask(server, request)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        if answer.endswith(b"}") and b'"chat.completion"' in answer:
            replies.append(json.loads(answer.split(b"\r\n\r\n", 1)[1])["choices"][0]["message"].get("content") or "")
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as leaves:
        leaves.sendall(post(user(canary, stream=True, max_tokens=900)))
        leaves.recv(10)
    for request in refused(canary, words[0]):
        answer = ask(server, request)
        assert answer == b"" or b"HTTP/1.1 4" in answer[:10], (request[:200], answer)
        assert_silent(words, "the answer", answer)
    for path in ("/metrics", "/health", "/v1/models", "/"):
        answer = ask(server, http("GET", path))
        assert b"HTTP/1.1 200" in answer
        assert_silent(words, path, answer)
    return replies


def assert_no_trace(traces: Traces, words: list[str], out: str, err: str):
    assert_silent(words, "standard output", out)
    assert_silent(words, "standard error", err)
    assert traces.files_with(words) == []
    assert traces.files() == []


def decode_and_crash(server, canary: str, endless: dict):
    """SIGSEGV between the first tokens of a reply and its end."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(post(user(canary, stream=True, max_tokens=900, logit_bias=endless)))
        received = b""
        while received.count(b"data: ") < 4:
            part = connection.recv(65536)
            assert part, received
            received += part
        assert b"[DONE]" not in received
        server.process.send_signal(signal.SIGSEGV)
        return dumps_core(server.process)


@pytest.fixture(scope="module")
def endless(demo_model) -> dict:
    tokens = json.loads((demo_model / "tokenizer.json").read_text())["added_tokens"]
    return {str(token["id"]): -100 for token in tokens if token["content"] in ("<|im_end|>", "<|endoftext|>")}


def test_requests_leave_no_trace(binary, start, tmp_path, canary, words):
    traces = Traces(tmp_path)
    server = start(binary, traces)
    replies = talk_to(server, canary, words)
    assert len(replies) >= 4
    code, out, err = server.stop()
    assert code == 0
    assert_no_trace(traces, words, out, err)
    assert not [reply for reply in replies if len(reply) > 8 and reply in out + err]


def test_the_search_finds_what_is_there(tmp_path, words):
    traces = Traces(tmp_path)
    assert traces.files_with(words) == []
    for place in (traces.work / "log", traces.folder / "cache" / "deep" / words[1]):
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"before {words[0]} behind" if place.name == "log" else "")
        assert place in traces.files_with(words)
    assert len(traces.files()) == 2


def test_a_crash_leaves_no_trace(binary, start, tmp_path, canary, words, endless):
    traces = Traces(tmp_path)
    server = start(binary, traces)
    assert not decode_and_crash(server, canary, endless), "the kernel wrote a core file"
    assert_no_trace(traces, words, *server.stop()[1:])


def test_developers_may_allow_core_dumps(binary, start, tmp_path, canary, words, endless):
    traces = Traces(tmp_path)
    server = start([binary, "--allow-core-dumps"], traces)
    assert decode_and_crash(server, canary, endless) == machine_dumps_cores()
    for core in traces.files():  # where the system puts cores beside the program
        assert core in traces.files_with(words), "a core that holds nothing shows nothing"


if sys.platform == "linux":

    def test_connects_to_nobody_and_writes_no_file(start, binary, tmp_path, canary, words):
        """From start to end, by the system calls themselves."""
        traces, calls = Traces(tmp_path), SystemCalls(tmp_path / "calls")
        server = start(calls.command(binary), traces)
        talk_to(server, canary, words)
        program = calls.program_pid()
        for limit in Path(f"/proc/{program}/limits").read_text().splitlines():
            assert not limit.startswith("Max core file size") or limit.split()[4:6] == ["0", "0"]
        os.kill(program, signal.SIGTERM)
        server.process.wait(timeout=20)
        assert server.process.returncode == 0, server.log()

        assert calls.named("execve") and len(calls.named("execve")) == 1, "it starts no other program"
        assert [call for call in calls.named("prctl") if "PR_SET_DUMPABLE, SUID_DUMP_DISABLE) = 0" in call]
        assert calls.named("connect", "io_uring_setup") == []
        sockets = calls.named("socket")
        assert sockets and all("AF_INET, SOCK_STREAM" in call for call in sockets), sockets
        sent = calls.named("sendto", "sendmsg", "sendmmsg")
        assert sent and not [call for call in sent if "MSG_FASTOPEN" in call]
        assert calls.written_files() == []
        assert_no_trace(traces, words, *server.stop()[1:])
