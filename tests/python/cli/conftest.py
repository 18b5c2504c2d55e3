"""What the tests of the commands share: a terminal."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cli_tools import Terminal  # noqa: E402


@pytest.fixture
def terminal(binary):
    """terminal(*arguments) -> Terminal; closed at the end of the test."""
    opened = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(binary, *arguments))
        return opened[-1]

    yield start
    for item in opened:
        item.close()
