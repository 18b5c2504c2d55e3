"""The JSON Schema Test Suite (draft 2020-12) as acceptance for the compiler. The suite is read from the source
archive of the package jsonschema, which carries it.

The compiler enforces a part of JSON Schema and may allow less than a schema (src/sample/schema/compiler.h says
what). So for each group it either refuses the schema, naming a keyword, or never takes an invalid instance. How
many groups and valid instances it takes is asserted too, so that the supported part cannot shrink unseen."""

import json
import sys
import tarfile
from collections import Counter
from pathlib import Path

import pytest

DRAFT = "json/tests/draft2020-12/"
# Groups whose keywords mean something only together with what is outside the document or the draft.
BEYOND = {"anchor.json", "dynamicRef.json", "refRemote.json", "vocabulary.json", "id.json", "unknownKeyword.json",
          "infinite-loop-detection.json", "defs.json", "default.json"}

@pytest.fixture(scope="module")
def suite():
    archive, = (Path(sys.prefix) / "sources").glob("jsonschema-*.tar.gz")
    files = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            name = member.name.split("/", 1)[-1]
            if name.startswith(DRAFT) and name.endswith(".json") and "/" not in name[len(DRAFT):]:
                files[name[len(DRAFT):]] = json.loads(tar.extractfile(member).read())
    assert len(files) > 40
    return {name: groups for name, groups in files.items() if name not in BEYOND}


def ask(tool, group):
    texts = [json.dumps(test["data"], ensure_ascii=False) for test in group["tests"]]
    return tool.ask(group["schema"], texts)


def test_no_invalid_instance_is_taken(tool, suite):
    taken, valid, compiled, refused = Counter(), Counter(), Counter(), Counter()
    for name, groups in suite.items():
        for group in groups:
            answer = ask(tool, group)
            if "error" in answer:
                refused[name] += 1
                assert answer["error"]["path"].startswith("schema"), (name, group["description"])
                continue
            compiled[name] += 1
            for test, accepted in zip(group["tests"], answer["accepts"]):
                assert test["valid"] or not accepted, (name, group["description"], test["description"])
                valid[name] += test["valid"]
                taken[name] += test["valid"] and accepted
    for name in sorted(suite):
        print(f"{name:32} groups {compiled[name]:3} compiled {refused[name]:3} refused, "
              f"valid instances {taken[name]:3} of {valid[name]:3} taken")
    print(f"groups: {compiled.total()} compiled, {refused.total()} refused; valid: {taken.total()} of {valid.total()}")
    assert compiled.total() >= 165 and taken.total() >= 250
