"""`orfebre tokenize` and `orfebre inspect`."""

import re
from pathlib import Path

import pytest
from cli_tools import assert_one_sentence, run
from full_size import make_full_size_model

TEXT = "Añil, 12 naïve café — 東京 🙂\n\ttwo  spaces"


def ids_of(binary, *arguments, **kwargs) -> list[int]:
    result = run(binary, "tokenize", *arguments, **kwargs)
    assert result.returncode == 0, result.stderr
    return [int(word) for word in result.stdout.split()]


def test_ids_and_back(binary):
    ids = ids_of(binary, TEXT)
    assert len(ids) > 5
    back = run(binary, "tokenize", "--decode", " ".join(map(str, ids)))
    assert back.stdout == TEXT + "\n"


def test_stdin(binary):
    assert ids_of(binary, input=TEXT) == ids_of(binary, TEXT)
    assert ids_of(binary, "-", input=TEXT) == ids_of(binary, TEXT)


def test_control_tokens_only_where_they_are_meant(binary):
    assert len(ids_of(binary, "<|im_end|>")) == 1
    plain = ids_of(binary, "--plain", "<|im_end|>")
    assert len(plain) > 1 and ids_of(binary, "<|im_end|>")[0] not in plain


def test_chat_wraps_one_user_message(binary):
    ids = ids_of(binary, "--chat", "hello <|im_end|>")
    text = run(binary, "tokenize", "--decode", " ".join(map(str, ids))).stdout
    assert text == "<|im_start|>user\nhello <|im_end|><|im_end|>\n<|im_start|>assistant\n<think>\n\n"
    assert ids.count(ids_of(binary, "<|im_end|>")[0]) == 1  # the message's own is ordinary text


def test_pieces_join_to_the_text(binary):
    lines = run(binary, "tokenize", "--pieces", "one two 34").stdout.splitlines()
    assert "".join(line[8:] for line in lines) == "one two 34"
    assert [int(line.split()[0]) for line in lines] == ids_of(binary, "one two 34")


@pytest.mark.parametrize("ids", ["1 x", "1.5", "-3", "99999999999999"])
def test_bad_ids(binary, ids):
    assert_one_sentence(run(binary, "tokenize", "--decode", "--", ids), 2, "whole numbers")


def test_unknown_id(binary):
    assert_one_sentence(run(binary, "tokenize", "--decode", "5 999999"), 2, "999999", "0 to ")


def test_inspect_says_what_it_is_and_what_it_needs(binary, demo_model):
    result = run(binary, "inspect")
    assert result.returncode == 0, result.stderr
    assert str(demo_model) in result.stdout
    assert "Orfebre demo" in result.stdout and "8 layers" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines() if re.match(r" +\d+ +[\d.]+ .B", line)]
    contexts = [int(row[0]) for row in rows]
    assert contexts == sorted(contexts) and contexts[-1] == 8192
    assert rows[-1][-1] == "yes"


def test_inspect_with_little_memory_says_no(binary):
    assert " no" in run(binary, "inspect", "--memory", "0.01").stdout


@pytest.fixture(scope="module")
def full_size(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("full") / "Qwen3.6-35B-A3B-4bit"
    make_full_size_model(folder, Path(request.config.rootpath) / "../data/checkpoint/qwen36_config_mlx.json")
    return folder


def test_inspect_the_real_model_before_loading_it(binary, full_size):
    result = run(binary, "inspect", "--model", str(full_size), "--memory", "64", "--parallel", "1")
    assert result.returncode == 0, result.stderr
    assert "Qwen3.6-35B-A3B: 40 layers (10 attention, 30 Gated DeltaNet), hidden 2048" in result.stdout
    parameters, active = map(float, re.search(r"parameters +([\d.]+) million, of which ([\d.]+)",
                                              result.stdout).groups())
    assert 34_650 < parameters < 34_661 and 2_940 < active < 2_950
    last = [line.split() for line in result.stdout.splitlines() if line.strip().startswith("262144")][0]
    weights, kv = float(last[1]), float(last[3])
    assert 19.4 < weights < 20.0 and last[2] == "GB"
    assert abs(kv - 20480 * 262144 / 1e9) < 0.01  # 16-bit k and v of 10 layers
    assert last[-1] == "yes"


def test_inspect_says_what_other_machines_could_do(binary, full_size):
    lines = run(binary, "inspect", "--model", str(full_size)).stdout.splitlines()
    rows = {int(found[1]): line for line in lines if (found := re.match(r" +(\d\d) GB ", line))}
    assert sorted(rows) == [16, 24, 32, 48, 64]
    assert "does not fit" in rows[16] and "262144" in rows[32] and "262144" in rows[64]
    assert 65536 <= int(rows[24].split()[4]) < 262144
    if "--load stream" in "".join(lines):  # a backend that can
        kept, all_experts = map(float, re.search(r"([\d.]+) GB of ([\d.]+) GB", rows[16]).groups())
        assert 9 < kept < all_experts


def test_the_real_model_on_a_small_machine_is_refused_before_loading(binary, full_size):
    result = run(binary, "run", "--model", str(full_size), "--memory", "16", "hi")
    assert_one_sentence(result, 1, "17.18 GB may be used")
    asked = run(binary, "serve", "--model", str(full_size), "--memory", "22", "--context", "262144", "--port", "0")
    assert_one_sentence(asked, 1, "largest context that fits is")
