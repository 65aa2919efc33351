"""The page on reliability names commands; the files and the tests that they select are there."""

import re
import shlex

import pytest
from pages import ROOT

PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`((?:[A-Z_]+=\w+ )?pytest [^`]+)`", PAGE)))


def test_the_page_has_commands():
    assert len(COMMANDS) > 40


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_selects_tests(command):
    words = shlex.split(command)
    paths = [ROOT / word for word in words if word.startswith("tests/")]
    assert paths
    assert all(path.exists() for path in paths)
    files = [file for path in paths for file in (path.rglob("test_*.py") if path.is_dir() else [path])]
    names = f"{files} {' '.join(file.read_text(encoding='utf-8') for file in files)}".lower()
    for alternative in words[words.index("-k") + 1].split(" or ") if "-k" in words else ():
        assert alternative.strip().lower() in names
