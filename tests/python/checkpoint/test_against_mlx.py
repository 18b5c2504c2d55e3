"""The committed fixtures are what today's generators and the pinned mlx make, and mlx-lm reads what we export."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / "tools" / "checkpoint"
DATA = ROOT / "tests" / "data" / "checkpoint"

pytestmark = pytest.mark.long


@pytest.fixture(scope="session")
def mlx_python(python_with) -> Path:
    return python_with("mlx", TOOLS / "requirements.txt")


def run(python: Path, script: Path, *arguments: str):
    subprocess.run([python, script, *arguments], check=True, timeout=600, stdout=sys.stderr)


def test_affine_fixture_is_reproduced(mlx_python, tmp_path):
    run(mlx_python, TOOLS / "make_affine_fixture.py", str(tmp_path / "affine.safetensors"))
    assert (tmp_path / "affine.safetensors").read_bytes() == (DATA / "affine.safetensors").read_bytes()


def test_export_fixture_is_reproduced(mlx_python, tmp_path):
    (tmp_path / "demo_config.json").write_bytes((DATA / "demo_config.json").read_bytes())
    run(mlx_python, TOOLS / "make_export_fixture.py", str(tmp_path))
    for name in ("export_fixture.json", "demo_config_mlx.json"):
        assert json.loads((tmp_path / name).read_text()) == json.loads((DATA / name).read_text()), name


def test_mlx_lm_loads_what_we_quantise(mlx_python, binary, tmp_path):
    """`orfebre quantize` on the synthetic checkpoint, then mlx-lm's strict loader and a comparison with its own
    conversion, tensor by tensor."""
    run(mlx_python, TOOLS / "make_export_fixture.py", "--write-source", str(tmp_path / "source"))
    subprocess.run([binary, "quantize", tmp_path / "source", tmp_path / "out"], check=True, timeout=300)
    result = subprocess.run([mlx_python, TOOLS / "make_export_fixture.py", "--list", str(tmp_path / "out")],
                            check=True, timeout=300, capture_output=True, text=True)
    assert json.loads(result.stdout) == json.loads((DATA / "export_fixture.json").read_text())["bf16"]
