#!/usr/bin/env python3
"""Runs built fuzz targets, two at a time, each from its committed corpus. scripts/fuzz.sh builds them first.

A run takes `--seconds` in all, shared evenly, or `--runs` inputs a target. Runs with the same seed and number
of inputs are the same. New inputs go to <build>/corpus/, which the next run begins anew; an input that fails
is kept in <build>/findings/: fix the fault, add the input to fuzz/corpus/<target>/ as finding-<what>, and a
test to the owner's tests.
"""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUZZ = ROOT / "fuzz"
JOBS = 2
# Longer inputs find no more, only later. A config alone is long; decisions make much text each.
LONGEST_INPUT_BYTES = 1024
LONGEST_INPUT_BYTES_OF = {"model_config": 3072, "chat_template": 192, "json_schema": 512, "reply_parser": 512,
                          "streamed_text": 256}
# Of a number of inputs for each target, the part for those that compile much from every input.
PART_OF_RUNS = {"json_schema": 0.1}
# Targets whose inputs are JSON share a dictionary.
JSON_TARGETS = {"chat_request", "json_schema", "model_config", "other_requests", "python_json", "safetensors_file",
                "safetensors_index", "tokenizer_file"}
# Little memory for freed blocks: targets make many small ones, and use after free shows at once or never.
SANITIZER_OPTIONS = {"ASAN_OPTIONS": "quarantine_size_mb=16:malloc_context_size=8",
                     "UBSAN_OPTIONS": "print_stacktrace=1"}


@dataclass
class Outcome:
    target: str
    ok: bool
    seconds: float
    log: Path


def target_names() -> list[str]:
    return sorted(path.stem for path in FUZZ.glob("*.cpp"))


def write_dictionary(target: str, path: Path):
    parts = [FUZZ / "dictionaries" / "json.dict"] if target in JSON_TARGETS else []
    own = FUZZ / "dictionaries" / f"{target}.dict"
    parts += [own] if own.exists() else []
    path.write_text("".join(part.read_text() for part in parts))


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def without_random_addresses() -> list[str]:
    """A prefix that turns address randomisation off where that is allowed: with as many random bits as newer
    kernels use, the sanitizers of older clangs cannot always place their tables and die at the start."""
    prefix = ["setarch", "-R"]
    try:
        works = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        works = False
    return prefix if works else []


def run_target(build: Path, target: str, limit: list[str], seed: int, scratch: Path, timeout: float) -> Outcome:
    """One target with libFuzzer's option for its limit; what it prints goes to <build>/logs/<target>.log."""
    findings = build / "findings"
    findings.mkdir(exist_ok=True)
    logs = build / "logs"
    logs.mkdir(exist_ok=True)
    dictionary = logs / f"{target}.dict"
    write_dictionary(target, dictionary)
    command = [*without_random_addresses(), str(build / "fuzz" / f"fuzz_{target}"), *limit, f"-seed={seed}", "-timeout=60", "-rss_limit_mb=2048",
               f"-max_len={LONGEST_INPUT_BYTES_OF.get(target, LONGEST_INPUT_BYTES)}", "-print_final_stats=1",
               "-entropic=0",  # weighting inputs by rare features takes a tenth of the time and found no more
               f"-artifact_prefix={findings}/{target}-"]
    command += [f"-dict={dictionary}"] if dictionary.stat().st_size else []
    command += [str(fresh(build / "corpus" / target)), str(FUZZ / "corpus" / target)]
    log = logs / f"{target}.log"
    start = time.monotonic()
    with log.open("w") as out:
        try:
            code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
                                  timeout=timeout, env={**os.environ, **SANITIZER_OPTIONS, "TMPDIR": str(scratch)}).returncode
        except (subprocess.TimeoutExpired, OSError) as error:
            out.write(f"\n{error}\n")
            code = 1
    return Outcome(target, code == 0, time.monotonic() - start, log)


def run_all(build: Path, targets: list[str], seconds: int, runs: int, seed: int, jobs: int = JOBS):
    """Yields an Outcome for each target as it ends. `runs` inputs a target, or with 0 `seconds` in all."""
    share = max(1, round(seconds / len(targets)))

    def limit(target: str) -> list[str]:
        return [f"-runs={round(runs * PART_OF_RUNS.get(target, 1))}"] if runs else [f"-max_total_time={share}"]

    timeout = 4 * 3600 if runs else share + 300
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="orfebre-fuzz-", dir=memory if os.access(memory, os.W_OK) else None) as scratch:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            jobs = [pool.submit(run_target, build, target, limit(target), seed, Path(scratch), timeout) for target in targets]
            for job in concurrent.futures.as_completed(jobs):
                yield job.result()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="target", help="all of them unless named")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument("--seconds", type=int, default=60, help="for all targets together")
    parser.add_argument("--runs", type=int, default=0, help="inputs for each target, instead of --seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=JOBS, help="targets at a time")
    arguments = parser.parse_args()
    unknown = set(arguments.targets) - set(target_names())
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(target_names())}")
    n_failed = 0
    for outcome in run_all(arguments.build.resolve(), arguments.targets or target_names(), arguments.seconds,
                           arguments.runs, arguments.seed, arguments.jobs):
        print(f"{outcome.target:<20} {'nothing found' if outcome.ok else 'FAILED'} {outcome.seconds:8.1f} s", flush=True)
        if not outcome.ok:
            n_failed += 1
            print("\n".join("    " + line for line in outcome.log.read_text(errors="replace").splitlines()[-60:]))
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
