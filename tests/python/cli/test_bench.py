"""`orfebre bench`: the report's form and its arithmetic; never its speeds."""

import json

from cli_tools import assert_one_sentence, run

QUICK = ["--prefill", "40", "--decode", "6", "--repeat", "2"]


def test_json_report(binary):
    result = run(binary, "bench", "--json", *QUICK, "--context", "0", "100", "--threads", "1")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["model"] == "demo" and report["repeat"] == 2
    assert report["read_bytes_per_second"] > 0
    assert [row["context_tokens"] for row in report["measurements"]] == [0, 100]
    for row in report["measurements"]:
        for speed in (row["prefill_tokens_per_second"], row["decode_tokens_per_second"]):
            assert 0 < speed["low"] <= speed["median"] <= speed["high"]
        bytes_per_second = row["decode_step_bytes"] * row["decode_tokens_per_second"]["median"]
        assert abs(row["decode_bytes_per_second"] / bytes_per_second - 1) < 1e-6
        assert abs(row["share_of_read_bandwidth"] * report["read_bytes_per_second"] / bytes_per_second - 1) < 1e-6
    # More context, more KV cache to read.
    assert report["measurements"][1]["decode_step_bytes"] > report["measurements"][0]["decode_step_bytes"]


def test_table_and_several_sequences(binary):
    result = run(binary, "bench", *QUICK, "--sequences", "3")
    assert result.returncode == 0, result.stderr
    assert "decode tok/s" in result.stdout and "read bandwidth" in result.stdout


def test_reference_backend(binary):
    result = run(binary, "bench", "--json", "--backend", "reference", "--prefill", "4", "--decode", "2", "--repeat", "1")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["backend"].startswith("reference")


def test_more_tokens_than_the_model_has(binary):
    assert_one_sentence(run(binary, "bench", "--context", "8190", *QUICK), 2, "8192")


def test_decode_alone(binary):
    result = run(binary, "bench", "--json", "--prefill", "0", "--decode", "3", "--repeat", "1")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["measurements"][0]["decode_tokens_per_second"]["median"] > 0
