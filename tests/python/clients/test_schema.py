"""Requests made from the served OpenAPI document: no 5xx, no status and no content type that it does not name, replies
as it describes them."""

import json
import subprocess
import sys
import urllib.request

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
N_EXAMPLES = 8


def test_requests_made_from_the_document(serve, tmp_path):
    server = serve("--context", "192")  # whatever is asked for, replies stay short
    document = tmp_path / "openapi.json"
    with urllib.request.urlopen(f"{server.url}/openapi.json") as response:
        document.write_bytes(response.read())
    n_operations = sum(len(path) for path in json.loads(document.read_text())["paths"].values())
    run = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "run", str(document), "--url", server.url, "--checks", CHECKS,
         "--max-examples", str(N_EXAMPLES), "--seed", "1", "--phases", "examples,coverage,fuzzing", "--no-color"],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    assert f"Tested: {n_operations}" in run.stdout, run.stdout[-2000:]
