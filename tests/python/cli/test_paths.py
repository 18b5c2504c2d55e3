"""Every path to the same reply, forced once from end to end: the reference backend, each instruction set that this
processor has, one thread and two."""

import json
import platform
import urllib.request
from pathlib import Path

import pytest

QUESTIONS = ["What is 27 + 15?", "Count from 1 to 30.", "What are the three largest planets, and why?"]
# A bound for what 15-bit activations move the demo's log-probabilities by (docs/numerics.md), with room to spare.
UNDECIDED = 0.05


def instruction_sets() -> list[str]:
    if platform.machine() not in ("x86_64", "AMD64"):
        return [""]
    has_avx512 = "avx512_vnni" in Path("/proc/cpuinfo").read_text()
    return ["avx2", "avx512"] if has_avx512 else ["avx2"]


def ask(server, question: str, think: bool) -> list[dict]:
    """The tokens of the greedy reply: their text, log-probability, and the two likeliest."""
    body = {"messages": [{"role": "user", "content": question}], "temperature": 0, "max_tokens": 100,
            "logprobs": True, "top_logprobs": 2, "enable_thinking": think}
    request = urllib.request.Request(server.url + "/v1/chat/completions", data=json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.loads(response.read())["choices"][0]["logprobs"]["content"]


@pytest.fixture(scope="module")
def replies():
    return {}


def replies_of(serve_with, binary, replies, *arguments: str) -> list[list[dict]]:
    """Every question's reply on a server of its own, made once."""
    if arguments not in replies:
        server = serve_with(binary, "--context", "1024", "--parallel", "1", *arguments)
        replies[arguments] = [ask(server, question, think) for question in QUESTIONS for think in (False, True)]
        assert server.stop()[0] == 0
        log = server.log()
        if arguments[1] == "reference":
            assert " on reference" in log, log
        else:
            path = arguments[arguments.index("--cpu-path") + 1] if "--cpu-path" in arguments else "cpu"
            n_threads = int(arguments[arguments.index("--threads") + 1])
            assert path in log and f"{n_threads} thread" in log, log
    return replies[arguments]


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("path", instruction_sets())
def test_every_cpu_path_gives_the_same_bits(serve_with, binary, replies, path, threads):
    forced = ["--cpu-path", path] if path else []
    first = ["--cpu-path", instruction_sets()[0]] if path else []
    expected = replies_of(serve_with, binary, replies, "--backend", "cpu", "--threads", "1", *first)
    assert replies_of(serve_with, binary, replies, "--backend", "cpu", "--threads", threads, *forced) == expected
    assert all(len(reply) > 5 for reply in expected)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_reference_gives_the_same_tokens(serve_with, binary, replies, threads):
    """Equal up to the first token that the reference itself hardly prefers: from there on both tell another story."""
    forced = ["--cpu-path", instruction_sets()[-1]] if instruction_sets()[-1] else []
    ours = replies_of(serve_with, binary, replies, "--backend", "cpu", "--threads", threads, *forced)
    truth = replies_of(serve_with, binary, replies, "--backend", "reference", "--threads", "1")
    n_equal = 0
    for expected, found in zip(truth, ours):
        for wanted, token in zip(expected, found):
            first, second = (top["logprob"] for top in wanted["top_logprobs"])
            if wanted["token"] != token["token"]:
                assert first - second < UNDECIDED, (wanted, token)
                break
            assert abs(wanted["logprob"] - token["logprob"]) < UNDECIDED
            n_equal += 1
        else:
            assert len(expected) == len(found)
    assert n_equal > 0.9 * sum(len(reply) for reply in truth), n_equal
