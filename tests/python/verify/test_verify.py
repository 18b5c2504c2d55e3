"""`orfebre verify` on the demo model, against goldens that mlx-lm made from it (tools/goldens)."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

GOLDENS = Path(__file__).resolve().parents[2] / "data" / "goldens"


@pytest.fixture
def verify(binary):
    def run(*arguments) -> subprocess.CompletedProcess:
        return subprocess.run([str(binary), "verify", *map(str, arguments)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300, check=False)

    return run


@pytest.fixture
def golden(tmp_path):
    """One golden in a directory of its own, changed by the caller: golden(change) -> the directory."""
    def make(change) -> Path:
        document = json.loads((GOLDENS / "fact.json").read_text())
        change(document)
        folder = tmp_path / "goldens"
        folder.mkdir()
        (folder / "fact.json").write_text(json.dumps(document))
        return folder

    return make


def refused(result, *words):
    assert result.returncode == 2 and result.stdout == "", result
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("orfebre: "), result.stderr
    for word in words:
        assert word in lines[0], (word, lines[0])


def test_demo_agrees_with_mlx_lm(verify, tmp_path):
    path = tmp_path / "report.json"
    result = verify("--golden", GOLDENS, "--report", path)
    assert result.returncode == 0, result
    assert "everything agrees" in result.stdout and "DIFFER" not in result.stdout
    report = json.loads(path.read_text())
    assert report["passed"] is True and report["shape"] == "Orfebre demo"
    assert report["checkpoint"]["text_tensors"] == 357 and report["checkpoint"]["is_public_layout"]
    assert {golden["name"] for golden in report["goldens"]} == {p.stem for p in GOLDENS.glob("*.json")}
    for item in report["goldens"]:
        source = json.loads((GOLDENS / f"{item['name']}.json").read_text())
        assert item["prompt_ids_agree"] and item["passed"]
        assert item["prompt_tokens"] == len(source["prompt_token_ids"])
        assert item["steps"] == len(source["steps"]) == len(item["each_step"])
        assert item["decided_agree"] == item["decided_steps"] > 0
        assert item["top1_agree"] >= 0.75 * item["steps"]
        assert 0 < item["mean_kl_nats"] < 0.02
    assert len(report["consistency"]) == 7
    assert all(check["same_tokens"] and check["same_bits"] for check in report["consistency"])


def test_report_holds_prompts_only_when_asked(verify, golden, tmp_path):
    folder = golden(lambda document: None)
    prompt = json.loads((folder / "fact.json").read_text())["prompt"]
    path = tmp_path / "report.json"
    assert verify("--golden", folder, "--report", path).returncode == 0
    assert prompt not in path.read_text() and str(tmp_path) not in path.read_text()
    assert verify("--golden", folder, "--report", path, "--with-prompts").returncode == 0
    assert json.loads(path.read_text())["goldens"][0]["prompt"] == prompt


def test_a_decided_step_that_differs_fails(verify, golden, tmp_path):
    def swap(document):
        first, second = document["steps"][5]["topk"][:2]
        document["steps"][5]["topk"][:2] = [[second[0], first[1]], [first[0], second[1]]]
        document["steps"][5]["chosen"] = second[0]
        document["steps"][6:] = []

    path = tmp_path / "report.json"
    result = verify("--golden", golden(swap), "--report", path)
    assert result.returncode == 1 and "DIFFER fact: top-1 5 of 6" in result.stdout, result
    report = json.loads(path.read_text())
    assert report["passed"] is False and report["goldens"][0]["first_divergence"] == 5
    assert all(check["same_tokens"] for check in report["consistency"])


def test_other_prompt_ids_fail(verify, golden):
    def change(document):
        document["prompt_token_ids"][7] += 1

    result = verify("--golden", golden(change))
    assert result.returncode == 1 and "first difference at 7" in result.stdout, result


def test_damaged_weights_fail(verify, golden, demo_model, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(demo_model, model)
    weights = bytearray((model / "model.safetensors").read_bytes())
    header = json.loads(weights[8 : 8 + int.from_bytes(weights[:8], "little")])
    start = 8 + int.from_bytes(weights[:8], "little")
    begin, end = header["language_model.model.layers.0.linear_attn.in_proj_qkv.weight"]["data_offsets"]
    weights[start + begin : start + end] = bytes(reversed(weights[start + begin : start + end]))
    (model / "model.safetensors").write_bytes(weights)
    result = verify("--model", model, "--golden", golden(lambda document: None))
    assert result.returncode == 1 and "DIFFER fact: top-1" in result.stdout, result


def test_without_goldens_the_model_is_held_against_itself(verify):
    result = verify("--backend", "reference")
    assert result.returncode == 0 and result.stdout.count("ok    ") == 7, result


@pytest.mark.parametrize("change, word", [
    (lambda d: d.pop("prompt_token_ids"), '"prompt_token_ids"'),
    (lambda d: d["prompt_token_ids"].append(4096), "ids from 0 to 4095"),
    (lambda d: d["steps"][0].update(topk=[[1, 0.5]]), "log-probabilities of at most 0"),
    (lambda d: d["steps"][0].update(topk=[[1, -1], [1, -2]]), "every id once"),
    (lambda d: d.update(steps=[]), "one step"),
    (lambda d: d.update(prompt=5), '"prompt"'),
])
def test_damaged_goldens_are_refused(verify, golden, change, word):
    refused(verify("--golden", golden(change)), "fact.json", word)


def test_missing_goldens_and_unwritable_report(verify, tmp_path):
    refused(verify("--golden", tmp_path), str(tmp_path), "goldens")
    refused(verify("--golden", tmp_path / "none"), "none")
    (tmp_path / "x.json").write_text("{")
    refused(verify("--golden", tmp_path), "x.json", "JSON")
    refused(verify("--report", tmp_path / "no" / "report.json"), "report")
