"""Breaks the reference backend in every way of traps.py, one at a time, and checks that a fixture notices.

Run by CTest (tests/traps/CMakeLists.txt). For each trap: a copy of the one source with the change applied, compiled,
linked with the driver in front of the unbroken backend, run on the trap's case. Fails if a change no longer applies
exactly once, does not compile, or leaves the logits within 10 x the fixtures' tolerance. The unbroken backend must
pass every case first.
"""

import argparse
import concurrent.futures
import math
import os
import shlex
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from traps import TRAPS

TOLERANCE = 1e-4  # of the fixtures: max|difference| / max|logit|
BROKEN = 10 * TOLERANCE


def difference(program, case, fixture):
    done = subprocess.run([program, case, fixture], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[-400:]}")
    return float(done.stdout)


def spring(index, trap, options):
    """None if the trap breaks its case; otherwise why not."""
    source = (options.sources / trap.file).read_text()
    if source.count(trap.find) != 1:
        return f"the text to find occurs {source.count(trap.find)} times in {trap.file}, expected once"
    stem = options.work / f"trap_{index}"
    broken = stem.with_suffix(".cpp")
    # bf16 conversions are what the dtype traps need and some of the sources do not include.
    broken.write_text('#include "base/dtype.h"\n' + source.replace(trap.find, trap.replace))
    compile_command = [
        options.compiler,
        *options.flags,
        "-std=c++20",
        "-O1",
        "-w",
        "-ffp-contract=off",
        "-I",
        str(options.include),
        "-c",
        str(broken),
        "-o",
        str(stem.with_suffix(".o")),
    ]
    link_command = [
        options.compiler,
        *options.flags,
        *options.driver,
        str(stem.with_suffix(".o")),
        *options.libraries,
        "-lpthread",
        "-o",
        str(stem),
    ]
    for command in (compile_command, link_command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return f"does not build: {done.stderr.strip()[:600]}"
    found = difference(str(stem), trap.case, options.fixture)
    stem.unlink()
    if not math.isnan(found) and found <= BROKEN:
        return f"goes unnoticed: difference {found:.1e}, expected more than {BROKEN:.0e}"
    print(f"  {trap.name}: {found:.1e} ({trap.case})", flush=True)
    return None


def write_report(results, seconds):
    """As GoogleTest programs do: GTEST_OUTPUT=xml:DIRECTORY/ asks for a JUnit report, which scripts/run_tests.py counts."""
    target = os.environ.get("GTEST_OUTPUT", "")
    if not target.startswith("xml:"):
        return
    suite = ElementTree.Element("testsuite", name="traps")
    for name, problem in results.items():
        case = ElementTree.SubElement(
            suite, "testcase", name=name, status="run", time=str(seconds / len(results))
        )
        if problem:
            ElementTree.SubElement(case, "failure", message=problem)
    path = Path(target.removeprefix("xml:"))
    ElementTree.ElementTree(suite).write(path / "test_traps.xml" if target.endswith("/") else path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", type=shlex.split, default=[])
    parser.add_argument("--include", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--driver", nargs="+", required=True, help="object files of the driver")
    parser.add_argument("--libraries", nargs="+", required=True)
    parser.add_argument("--control", required=True, help="the driver linked with the unbroken backend")
    parser.add_argument("--fixture", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="traps whose name contains this")
    options = parser.parse_args()
    options.sources = options.include / "backend" / "reference"
    options.work.mkdir(parents=True, exist_ok=True)

    start = time.monotonic()
    results = {}
    for case in sorted({trap.case for trap in TRAPS}):
        found = difference(options.control, case, options.fixture)
        good = found < TOLERANCE
        results[f"unbroken, {case}"] = (
            None if good else f"difference {found:.1e}, expected below {TOLERANCE:.0e}"
        )
    chosen = [(i, trap) for i, trap in enumerate(TRAPS) if options.only in trap.name]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(spring, i, trap, options): trap for i, trap in chosen}
        for done in concurrent.futures.as_completed(waiting):
            try:
                problem = done.result()
            except (RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
                problem = str(error)
            results[waiting[done].name] = problem
    failures = {name: problem for name, problem in results.items() if problem}
    for name, problem in failures.items():
        print(f"FAILED {name}: {problem}")
    print(f"{len(chosen)} traps, {len(failures)} failures, {time.monotonic() - start:.0f} s")
    write_report(results, time.monotonic() - start)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
