#!/usr/bin/env python3
"""Runs every test of a built tree and ends with one plain line: "N passed, M failed".

Suites: the script checks, each GoogleTest program (through ctest, two at a time), the Arm kernels in an emulator,
the Python tests, the fuzz targets. Outputs go to <build>/test-logs; a failing suite's output is shown. N and M count
GoogleTest cases, pytest cases, script checks and fuzz targets; a suite that crashes or times out counts as one failure.
"""

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import fuzz_targets

ROOT = Path(__file__).resolve().parent.parent
SCRIPT_CHECKS = ["check_layers.py", "check_sizes.py"]
FUZZ_SECONDS = 60
FUZZ_RUNS = 2_000_000
# Emulated processors, and which tests of the backends run on each: all instruction sets on the newest; on the
# others that the best of theirs is found and gives the same bits.
SETS_ONLY = "CpuPaths.*:CpuGolden.*:CpuBackend.RefusesWhatItCannotMultiplyAndPathsItLacks"
ARM_TESTS = {
    "max": SETS_ONLY + ":CpuKernels.*:CpuBackend.*:CpuPick.TiesGoToTheLowerId:CpuPick.NotFiniteLogitsFailTheRow"
                       ":CpuPick.NothingLeftFailsTheRow:Rows/CpuOps.*/Probe7:Rows/CpuOps.*/Demo2"
                       ":Shapes/CpuModel.LogitsAreTheSameBitsOnEveryMachine/*",
    "cortex-a76": SETS_ONLY,  # dotprod, no i8mm
    "cortex-a72": SETS_ONLY,  # neither
}


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def add(self, suite: str, passed: int, failed: int, seconds: float):
        self.passed += passed
        self.failed += failed
        print(f"{suite:<28} {passed:5} ok {failed:4} bad {seconds:8.1f} s", flush=True)


def show(log: Path, lines: int = 120):
    text = log.read_text(errors="replace").splitlines()
    print(f"--- {log.name}, last {min(lines, len(text))} lines", flush=True)
    # Indented: a test runner's own closing line must not look like ours.
    print("\n".join("    " + line for line in text[-lines:]), flush=True)


def run_logged(command: list[str], log: Path, timeout: int, **kwargs) -> int:
    """Runs `command` with its output in `log`; 124 when it took longer than `timeout` seconds."""
    with log.open("w") as out:
        try:
            return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                  timeout=timeout, check=False, **kwargs).returncode
        except subprocess.TimeoutExpired:
            out.write(f"\ntimed out after {timeout} s\n")
            return 124


def junit_counts(report: Path) -> tuple[int, int, float]:
    """(passed, failed, seconds) of a JUnit report, GoogleTest's or pytest's. A skipped case counts as failed:
    nothing may be skipped."""
    passed = failed = 0
    seconds = 0.0
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        bad = any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))
        if bad or case.get("result") == "skipped":
            failed += 1
        elif case.get("status") != "notrun":
            passed += 1
        seconds += float(case.get("time", 0))
    return passed, failed, seconds


def run_script_checks(tally: Tally, logs: Path):
    for name in SCRIPT_CHECKS:
        start = time.monotonic()
        log = logs / f"{name}.log"
        ok = run_logged([sys.executable, str(ROOT / "scripts" / name)], log, 120) == 0
        tally.add(f"scripts/{name}", int(ok), int(not ok), time.monotonic() - start)
        if not ok:
            show(log)


def list_ctest(build: Path) -> list[str]:
    listing = subprocess.run(["ctest", "--test-dir", str(build), "-N"], capture_output=True, text=True, check=True)
    return [line.split(": ")[1].strip() for line in listing.stdout.splitlines() if " Test " in line and ": " in line]


def run_ctest(tally: Tally, build: Path, logs: Path, timeout: int):
    reports = logs / "gtest"
    reports.mkdir(exist_ok=True)
    for old in reports.glob("*.xml"):
        old.unlink()
    names = list_ctest(build)
    log = logs / "ctest.log"
    environment = ["env", f"GTEST_OUTPUT=xml:{reports}/"]
    code = run_logged([*environment, "ctest", "--test-dir", str(build), "-j2", "--output-on-failure",
                       "--timeout", str(timeout), "--no-tests=ignore"], log, 2 * timeout)
    any_bad = False
    for name in names:
        report = reports / f"{name}.xml"
        passed, failed, seconds = junit_counts(report) if report.exists() else (0, 1, 0.0)
        any_bad |= failed > 0
        tally.add(name, passed, failed, seconds)
    if code != 0 and not any_bad:  # for example a crash after the report was written
        tally.add("ctest", 0, 1, 0.0)
    if code != 0 or any_bad:
        show(log)


def run_arm(tally: Tally, build: Path, logs: Path, emulator: str, timeout: int):
    """The backends' tests built for 64-bit Arm, on emulated processors."""
    for processor, tests in ARM_TESTS.items():
        name = f"arm64 backend/{processor}"
        stem = name.replace(" ", "_").replace("/", "_")
        report, log = logs / f"{stem}.xml", logs / f"{stem}.log"
        report.unlink(missing_ok=True)
        code = run_logged([emulator, "-cpu", processor, str(build / "tests" / "test_backend"),
                           f"--gtest_filter={tests}", "--gtest_brief=1", f"--gtest_output=xml:{report}"], log, timeout)
        passed, failed, seconds = junit_counts(report) if report.exists() else (0, 1, 0.0)
        if (code != 0 or not passed) and failed == 0:
            failed = 1
        tally.add(name, passed, failed, seconds)
        if failed:
            show(log)


def clients_are_missing(python: str) -> bool:
    """Whether scripts/python_env.sh could not install them; where CI is set that is a failure of its own."""
    return (Path(python).parent.parent / "no-clients").exists() and os.environ.get("CI") not in ("1", "true")


def run_pytest(tally: Tally, build: Path, logs: Path, python: str, timeout: int, marker: str):
    folders = sorted({path.parent for path in (ROOT / "tests" / "python").rglob("test_*.py")})
    for folder in folders:
        name = str(folder.relative_to(ROOT / "tests"))
        if folder.name == "clients" and clients_are_missing(python):
            print(f"{name:<28} LEFT OUT: the clients could not be installed", flush=True)
            continue
        stem = name.replace("/", "_")
        report, log = logs / f"{stem}.xml", logs / f"{stem}.log"
        report.unlink(missing_ok=True)
        start = time.monotonic()
        code = run_logged([python, "-m", "pytest", "-q", "-m", marker, f"--junitxml={report}",
                           f"--binary={build / 'src' / 'cli' / 'orfebre'}", str(folder)],
                          log, timeout, cwd=ROOT)
        passed, failed, _ = junit_counts(report) if report.exists() else (0, 1, 0.0)
        if code not in (0, 5) and failed == 0:  # 5: all of the folder's tests are long ones
            failed = 1
        if passed or failed:
            tally.add(name, passed, failed, time.monotonic() - start)
        if failed:
            show(log)


def run_fuzzers(tally: Tally, fuzz_build: Path, is_long: bool):
    """Every target counts as one test: a minute in all, or FUZZ_RUNS inputs each."""
    runs = FUZZ_RUNS if is_long else 0
    for outcome in fuzz_targets.run_all(fuzz_build, fuzz_targets.target_names(), FUZZ_SECONDS, runs, seed=1):
        tally.add(f"fuzz/{outcome.target}", int(outcome.ok), int(not outcome.ok), outcome.seconds)
        if not outcome.ok:
            show(outcome.log, 40)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="a configured and built tree with tests")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has pytest")
    parser.add_argument("--timeout", type=int, default=900, help="seconds for one suite")
    parser.add_argument("--arm64-build", type=Path, help="a tree of preset arm64; without it no Arm kernel is run")
    parser.add_argument("--arm64-emulator", default="qemu-aarch64", help="what runs that tree's programs")
    parser.add_argument("--fuzz-build", type=Path, help="a tree of built fuzz targets; without it none is run")
    parser.add_argument("--long", action="store_true", help="also the tests marked 'long', and long fuzzing")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    logs = build / "test-logs"
    logs.mkdir(exist_ok=True)
    tally = Tally()
    start = time.monotonic()
    run_script_checks(tally, logs)
    run_ctest(tally, build, logs, arguments.timeout)
    if arguments.arm64_build:
        run_arm(tally, arguments.arm64_build.resolve(), logs, arguments.arm64_emulator, arguments.timeout)
    marker = "long or not long" if arguments.long else "not long"
    run_pytest(tally, build, logs, arguments.python, arguments.timeout, marker)
    if arguments.fuzz_build:
        run_fuzzers(tally, arguments.fuzz_build.resolve(), arguments.long)
    print(f"all suites took {time.monotonic() - start:.1f} s; outputs are in {logs.relative_to(ROOT)}")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
