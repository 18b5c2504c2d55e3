"""Which files are ours to check: git's list, by kind."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CPP_SUFFIXES = {".cpp", ".h", ".hpp", ".inl", ".cu", ".cuh", ".metal", ".mm"}
HEADER_SUFFIXES = {".h", ".hpp", ".cuh"}
OTHER_SUFFIXES = {".py", ".sh", ".js", ".css", ".html", ".cmake"}


def tracked_files() -> list[Path]:
    """Tracked and not yet added files that exist, relative to the root, sorted."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    ).stdout.decode()
    names = {name for name in listed.split("\0") if name}
    return sorted(Path(name) for name in names if (ROOT / name).is_file())


def is_hand_written(path: Path) -> bool:
    """Source that people read: not data, not documents."""
    if path.parts[:2] in {("tests", "data"), ("models", "demo")}:
        return False
    return path.suffix in CPP_SUFFIXES | OTHER_SUFFIXES or path.name in {"CMakeLists.txt", "Makefile"}


def read(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
