"""The page of requirements names tests, files and commands that there are, and has a test for each requirement."""

import ast
import functools
import re
import shlex

import pytest
from pages import ROOT, read
from test_examples import check_cardenvs

PAGE = read("docs/sources.md")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| requirement", "| ---"))
]
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
DESCRIPTIONS = (
    "Universal card engine", "Wingspan simulator", "One-player poker API", "LLM hold'em tournaments", "Rummikub engine",
)  # fmt: skip


@functools.cache
def names_in(path):
    """The names of the tests of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_page_has_all_descriptions_and_many_rows():
    assert tuple(re.findall(r"^## (.+)$", PAGE, re.MULTILINE)) == DESCRIPTIONS
    assert len(ROWS) > 200


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_a_requirement_has_tests_that_exist(row):
    assert len(row) == 3, row
    named = TEST.findall(row[2])
    assert named
    assert TEST.sub("", row[2]).strip() == "", f"tests only: {row[2]}"
    for path, name in named:
        assert (ROOT / path).is_file(), path
        assert name in names_in(path), f"{path} has no {name}"


def test_a_name_that_does_not_exist_is_noticed():
    assert "test_the_steps_reach_exactly_the_legal_plays" in names_in("tests/games/test_rummikub_steps.py")
    assert "test_nothing_of_the_kind" not in names_in("tests/games/test_rummikub_steps.py")


def test_files_that_the_page_names_exist():
    named = re.findall(r"`((?:cardenvs|docs|examples|tests)/[\w./-]+)`", PAGE)
    assert len(named) > 5
    for path in named:
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("command", sorted(set(re.findall(r"`cardenvs ([a-z][^`]*)`", PAGE))))
def test_commands_that_the_page_names_exist(command):
    check_cardenvs([word for word in shlex.split(command) if not word.isupper()])
