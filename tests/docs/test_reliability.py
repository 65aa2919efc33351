"""The page on reliability names commands; each of them selects tests that are there."""

import os
import re
import shlex
import subprocess
import sys

import pytest
from pages import ROOT

PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`((?:[A-Z_]+=\w+ )?pytest [^`]+)`", PAGE)))


def test_the_page_has_commands():
    assert len(COMMANDS) > 40


def test_every_command_selects_tests():
    """All names of tests are collected once; pytest itself selects among them by `-k`."""
    paths = sorted({word for command in COMMANDS for word in shlex.split(command) if word.startswith("tests/")})
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert not missing
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-o", "addopts=", *paths],
        cwd=ROOT, env={**os.environ, "CARDENVS_QUIET": "1"}, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    names = [line for line in collected.stdout.splitlines() if "::" in line]
    assert names, collected.stdout + collected.stderr
    empty = [command for command in COMMANDS if not any(_is_selected(command, name) for name in names)]
    assert not empty


def _is_selected(command, name):
    words = shlex.split(command)
    if not any(name.startswith((f"{path}::", f"{path}/")) for path in words if path.startswith("tests/")):
        return False
    if "-k" not in words:
        return True
    return any(part.strip().lower() in name.lower() for part in words[words.index("-k") + 1].split(" or "))


@pytest.mark.parametrize("expression", re.findall(r'-k "([^"]+)"', PAGE))
def test_expressions_are_lists_of_alternatives(expression):
    assert " and " not in expression
    assert "not " not in expression
