"""`orfebre run`: replies, where they go, and every way in which a model can be refused."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from cli_tools import STATISTICS, Terminal, assert_one_sentence, run

QUESTION = "What is 27 + 15?"


def test_reply_on_stdout_and_speed_on_stderr(binary):
    result = run(binary, "run", "--temperature", "0", "--no-think", QUESTION)
    assert result.returncode == 0, result.stderr
    assert "42" in result.stdout and result.stdout.endswith("\n")
    assert STATISTICS.search(result.stderr)
    assert len(result.stderr.splitlines()) == 1
    assert "\x1b" not in result.stdout + result.stderr  # no terminal, no escapes, no progress bar


def test_thinking_goes_to_stderr(binary):
    result = run(binary, "run", "--temperature", "0", QUESTION)
    assert result.returncode == 0, result.stderr
    assert "42" in result.stdout
    assert "<think>" not in result.stdout and "</think>" not in result.stdout
    assert len(STATISTICS.sub("", result.stderr).strip()) > 0


def test_on_a_terminal_the_answer_has_its_own_line(binary):
    terminal = Terminal(binary, "run", "--temperature", "0", QUESTION)
    try:
        terminal.expect(r"tokens, .*\]")
    finally:
        terminal.close()
    screen = re.sub(r"\x1b\[[0-9]*[mK]", "", terminal.seen)
    assert re.search(r"[\r\n]27 \+ 15 = 42\.\r?\n", screen), screen


def test_prompt_from_stdin(binary):
    from_stdin = run(binary, "run", "--temperature", "0", "-", input=QUESTION)
    assert from_stdin.stdout == run(binary, "run", "--temperature", "0", QUESTION).stdout


@pytest.mark.parametrize("threads", ["1", "2"])
def test_greedy_reply_does_not_depend_on_threads(binary, threads):
    one = run(binary, "run", "--temperature", "0", "--threads", threads, QUESTION)
    assert one.stdout == run(binary, "run", "--temperature", "0", QUESTION).stdout


def test_seed_decides_the_reply(binary):
    arguments = ["run", "--temperature", "2", "--top-k", "0", "--top-p", "1", "--max-tokens", "20", "--no-think"]
    replies = [run(binary, *arguments, "--seed", seed, QUESTION).stdout for seed in ["1", "1", "2", "3"]]
    assert replies[0] == replies[1]
    assert len(set(replies)) > 1


def test_max_tokens(binary):
    result = run(binary, "run", "--temperature", "0", "--max-tokens", "3", QUESTION)
    assert STATISTICS.search(result.stderr).group(1) == "3"


def test_runs_from_any_directory(binary):
    assert "42" in run(binary, "run", "--temperature", "0", QUESTION, cwd="/").stdout


def test_installed_program_finds_its_demo(binary, tmp_path):
    build = binary.parents[2]
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(tmp_path / "first")], check=True,
                   capture_output=True)
    prefix = (tmp_path / "first").rename(tmp_path / "moved")
    result = run(prefix / "bin" / "orfebre", "inspect", cwd="/")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(str(prefix / "share/orfebre/models/demo"))


# --- refusals ---------------------------------------------------------------------------------------------


def test_missing_model(binary):
    assert_one_sentence(run(binary, "run", "--model", "/nowhere/at/all", "hi"), 2, "/nowhere/at/all")


def test_directory_without_a_model(binary, tmp_path):
    assert_one_sentence(run(binary, "run", "--model", str(tmp_path), "hi"), 2, "config.json")


@pytest.fixture
def copied_model(demo_model, tmp_path) -> Path:
    return Path(shutil.copytree(demo_model, tmp_path / "copy"))


def edit_config(model: Path, **changes):
    path = model / "config.json"
    config = json.loads(path.read_text())
    (config.get("text_config", config)).update(changes)
    path.write_text(json.dumps(config))


def test_wrong_shape(binary, copied_model):
    edit_config(copied_model, hidden_size=320)
    assert_one_sentence(run(binary, "run", "--model", str(copied_model), "hi"), 2, "hidden_size", "320")


def test_truncated_weights(binary, copied_model):
    weights = next(copied_model.glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    assert_one_sentence(run(binary, "run", "--model", str(copied_model), "hi"), 1, weights.name)


def test_missing_tokenizer(binary, copied_model):
    (copied_model / "tokenizer.json").unlink()
    assert_one_sentence(run(binary, "run", "--model", str(copied_model), "hi"), 2, "tokenizer.json")


def test_unknown_backend(binary):
    assert_one_sentence(run(binary, "run", "--backend", "abacus", "hi"), 2, "abacus", "reference")


def test_planned_backend_says_that_it_is_not_there(binary):
    assert_one_sentence(run(binary, "run", "--backend", "cuda", "hi"), 2, "not part of this build")


@pytest.mark.parametrize("arguments", [
    [], ["fly"], ["run"], ["run", "--temperature", "-1", "hi"], ["run", "--context", "0", "hi"],
    ["run", "--parallel", "2", "hi"], ["serve", "--port", "70000"], ["tokenize", "--plain", "--chat", "hi"],
])
def test_wrong_command_line(binary, arguments):
    assert_one_sentence(run(binary, *arguments), 2, "--help")


def test_a_wrong_command_line_names_what_is_wrong(binary):
    assert_one_sentence(run(binary, "fly"), 2, "no command 'fly'", "orfebre --help")
    assert_one_sentence(run(binary, "run", "--nope", "hi"), 2, "--nope", "orfebre run --help")
    assert_one_sentence(run(binary, "run", "--temperature", "9", "hi"), 2, "expected 0 to 2, found 9")
    for seed in ["18446744073709551616", "-1", "x"]:
        assert_one_sentence(run(binary, "run", "--seed", seed, "hi"), 2, "expected 0 to 18446744073709551615, found " + seed)


def test_help_and_version(binary):
    assert "serve" in run(binary, "--help").stdout
    assert re.fullmatch(r"orfebre \d+\.\d+\.\d+\n", run(binary, "--version").stdout)


def test_more_context_than_the_model_has(binary):
    assert_one_sentence(run(binary, "run", "--context", "9000", "hi"), 2, "9000", "8192")


def test_context_that_does_not_fit_is_refused_with_the_largest_that_does(binary):
    # Enough for the weights, not for the whole context: found by asking for less and less.
    for mib in range(400, 50, -5):
        memory = ["--memory", str(mib / 1024)]
        refused = run(binary, "run", *memory, "--context", "8192", "--max-tokens", "1", "hi")
        if refused.returncode == 1:
            break
    assert_one_sentence(refused, 1, "largest context that fits is")
    largest = int(re.search(r"fits is (\d+)", refused.stderr).group(1))
    assert 0 < largest < 8192
    fits = run(binary, "run", *memory, "--context", str(largest), "--max-tokens", "1", "hi")
    assert fits.returncode == 0, fits.stderr
    one_more = run(binary, "run", *memory, "--context", str(largest + 64), "--max-tokens", "1", "hi")
    assert one_more.returncode == 1


@pytest.mark.parametrize("how", ["stream", "mmap"])
def test_experts_on_disk_give_the_same_reply(binary, how):
    arguments = ["run", "--temperature", "0", "--max-tokens", "40", "What is 27 + 15?"]
    streamed = run(binary, *arguments, "--load", how, "--expert-memory", "0.001")
    assert streamed.returncode == 0, streamed.stderr
    assert streamed.stdout == run(binary, *arguments).stdout != ""


def test_wrong_ways_to_load(binary):
    assert_one_sentence(run(binary, "run", "--load", "half", "hi"), 2, "--load")
    assert_one_sentence(run(binary, "run", "--expert-memory", "1", "hi"), 2, "--load stream")
    assert_one_sentence(run(binary, "run", "--load", "stream", "--backend", "reference", "hi"), 2, "--backend cpu")


def test_advice_for_too_little_memory_can_be_followed(binary):
    refused = run(binary, "run", "--memory", "0.01", "hi")
    assert_one_sentence(refused, 1, "raise --memory to")
    enough = re.search(r"raise --memory to ([\d.]+)", refused.stderr)[1]
    assert run(binary, "run", "--memory", enough, "--max-tokens", "1", "hi").returncode == 0


def test_no_memory_at_all(binary):
    assert_one_sentence(run(binary, "run", "--memory", "0.001", "hi"), 1, "may be used")


def test_prompt_longer_than_the_context(binary):
    assert_one_sentence(run(binary, "run", "--context", "1024", "word " * 3000), 2, "1024")


def test_empty_prompt_is_answered(binary):
    result = run(binary, "run", "--temperature", "0", "--max-tokens", "4", "")
    assert result.returncode == 0, result.stderr


LONG = ["run", "--temperature", "0", "--no-think", "Count from 1 to 200."]


def test_a_reader_that_leaves_ends_the_program(binary):
    with subprocess.Popen([binary, *LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout.read(4) == b"1, 2"
        program.stdout.close()
        assert program.wait(20) == -signal.SIGPIPE
        assert program.stderr.read() == b""  # the statistics of a whole reply would be here


@pytest.mark.parametrize("command", [LONG, ["tokenize", "hello"], ["inspect"], ["--help"]])
def test_output_that_cannot_be_written_is_an_error(binary, command):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = subprocess.run([binary, *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                check=False)
    assert result.returncode == 1
    assert result.stderr.startswith("orfebre: ") and "No space left" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_starts_without_standard_descriptors(binary, closed):
    command = f'"$0" run --temperature 0 --no-think -n 3 {QUESTION!r} {closed} && "$0" chat --no-think {closed}'
    result = subprocess.run(["sh", "-c", command, str(binary)], capture_output=True, text=True, timeout=60,
                            stdin=subprocess.DEVNULL, check=False)
    assert result.returncode == 0, result


def test_too_many_threads_for_the_system(binary):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    result = run(binary, "run", "--threads", "1024", QUESTION, preexec_fn=limit)
    assert_one_sentence(result, 1, "threads", "ask for fewer")


@pytest.mark.parametrize("option", ["--max-tokens", "--context"])
def test_a_number_below_its_range(binary, option):
    result = run(binary, "run", option, "0", QUESTION)
    assert_one_sentence(result, 2, option, "or more, found 0")


def test_a_tokenizer_that_is_no_regular_file(binary, copied_model):
    (copied_model / "tokenizer.json").unlink()
    os.mkfifo(copied_model / "tokenizer.json")
    result = run(binary, "run", "--model", str(copied_model), QUESTION)
    assert_one_sentence(result, 1, "tokenizer.json", "regular file")
