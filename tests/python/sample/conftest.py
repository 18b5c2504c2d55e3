"""The schema compiler, asked from outside, and an independent validator."""

import json
import subprocess
from decimal import Decimal

import jsonschema
import pytest


class SchemaTool:
    """Answers of tests/sample/tool/schema_tool.cpp."""

    def __init__(self, path):
        self.process = subprocess.Popen([str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        encoding="utf-8")

    def ask(self, schema, instances=(), walks: int = 0, seed: int = 1) -> dict:
        question = {"schema": schema, "instances": list(instances), "walks": walks, "seed": seed}
        self.process.stdin.write(json.dumps(question, ensure_ascii=False) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the tool found a dead end (see its last words) or crashed"
        return json.loads(line)


@pytest.fixture(scope="session")
def tool(binary):
    path = binary.parents[2] / "tests" / "schema_tool"
    assert path.is_file(), f"{path} is not built"
    tool = SchemaTool(path)
    yield tool
    tool.process.stdin.close()
    tool.process.wait(timeout=20)


@pytest.fixture(scope="session")
def is_valid():
    """is_valid(schema, text): by the package jsonschema, with exact decimals."""
    checker = jsonschema.FormatChecker(["date", "ipv4", "uuid", "email"])

    def check(schema, text: str) -> bool:
        exact = json.loads(json.dumps(schema), parse_float=Decimal)
        value = json.loads(text, parse_float=Decimal)
        return jsonschema.Draft202012Validator(exact, format_checker=checker).is_valid(value)

    return check
