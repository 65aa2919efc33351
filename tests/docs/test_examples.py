"""The examples in README and docs do what they say; see pages.py for what is run."""

import contextlib
import doctest
import importlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from pages import PAGES, ROOT, Block, blocks, read

import cardenvs
from cardenvs.agents.kinds import find_kind
from cardenvs.agents.specs import split_specs
from cardenvs.core import registry
from cardenvs.core.errors import MissingExtraError
from cardenvs.core.kernel import COMPILED

HIGH_CARD = ROOT / "examples" / "high_card"
OPTIONAL = (
    "torch",
    "sb3_contrib",
    "stable_baselines3",
    "matplotlib",
    "pyspiel",
    "pyarrow",
    "openenv",
    "gem",
    "textarena",
)  # modules of extras
WITH_CODE = [
    page for page in PAGES if any(b.language in ("python", "console") and not b.skipped for b in blocks(read(page)))
]
COMMAND_S = 120


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to run a page in; High Card is there as if it were installed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(HIGH_CARD))
    monkeypatch.setattr(registry, "_added", dict(registry._added))
    return tmp_path


@pytest.mark.skipif(not COMPILED, reason="the examples play too many games for uncompiled rules")
@pytest.mark.parametrize("page", WITH_CODE)
def test_the_examples_of_a_page_run_and_print_what_they_say(page, folder):
    if "high_card_v0" in read(page):
        cardenvs.register_game("high_card_v0", "high_card:GAME")
    namespace: dict = {"__name__": "__main__"}
    for block in blocks(read(page)):
        if block.skipped or block.language not in ("python", "console"):
            continue
        if page == "README.md":
            namespace = {"__name__": "__main__"}
        printed = run_python(block, page, namespace) if block.language == "python" else run_console(block)
        if block.output is not None:
            assert same(block.output, printed), f"{page}:{block.line} prints\n{printed}\nnot\n{block.output}"


def run_python(block: Block, page: str, namespace: dict) -> str:
    for module in OPTIONAL:
        if re.search(rf"^\s*(import|from) (cardenvs\.llm\.trainers\.)?{module}\b", block.code, re.MULTILINE):
            pytest.importorskip(module)
    code = compile("\n" * (block.line - 1) + block.code, str(ROOT / page), "exec")  # so that tracebacks name the line
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def run_console(block: Block) -> str:
    printed = ""
    for line in block.code.splitlines():
        assert line.startswith("$ cardenvs "), f"a console block holds lines `$ cardenvs ...`, not {line!r}"
        done = subprocess.run(
            [sys.executable, "-m", "cardenvs", *shlex.split(line.removeprefix("$ cardenvs "))],
            env={**os.environ, "COLUMNS": "120", "NO_COLOR": "1", "CARDENVS_QUIET": "1"},
            capture_output=True, text=True, timeout=COMMAND_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line} fails:\n{done.stderr}"
        printed += done.stdout
    return printed


def same(expected: str, printed: str) -> bool:
    """Whether two texts are the same but for blanks at the ends of lines, and for what "..." stands for."""
    expected, printed = (
        "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n" for text in (expected, printed)
    )
    return doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)


def test_outputs_are_compared():
    assert same("a\n...\nc\n", "a  \nb\nc\n")
    assert not same("a\n", "b\n")
    (block,) = blocks("x\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n")
    assert block.output == "1\n"


# ---------------------------------------------------------------------------------------------------------------
# Commands that are not run


def bash_lines() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for block in blocks(read(page)):
            if block.language == "bash":
                lines = block.code.replace("\\\n", "").splitlines()  # a line that goes on after a backslash is one
                found += [(page, line) for line in lines if line.strip()]
    return found


@pytest.mark.parametrize(("page", "line"), bash_lines())
def test_the_commands_that_pages_name_exist(page, line):
    words = shlex.split(line, comments=True)
    if words[:1] == ["make"]:
        check_make(words[1])
    elif words[:1] == ["cardenvs"]:
        check_cardenvs(words[1:])
    elif "pip" in words and "install" in words:
        check_pip(words)
    elif words[0] == "python":
        check_python(words[1:])
    else:
        assert words[0] in ("source", "git", "cd", "export", "curl", "npm", "vf-eval", "torchrun", "jupyter"), (
            f"{page} names a command that this test does not know: {line}"
        )


GAME_NAMES = re.compile(rf"\b(?:{'|'.join(cardenvs.list_games())})\b")
SPECS = re.compile(r"--(?:agents|against|agent) (\"[^\"]+\"|\S+)")


def agents_named() -> list[tuple[str, str, str]]:
    """Return (page, game, spec) for each agent in a command that names one game of cardenvs."""
    found = []
    for page in PAGES:
        for command in re.findall(r"cardenvs [a-z][^`|\n]*", read(page)):
            games, specs = GAME_NAMES.findall(command), SPECS.search(command)
            if len(games) == 1 and specs:
                found += [(page, games[0], spec) for spec in split_specs(specs[1].strip('"'))]
    return sorted(set(found))


@pytest.mark.parametrize(("page", "game", "spec"), agents_named())
def test_the_agents_that_commands_name_exist(page, game, spec):
    policies = cardenvs.get_game(game).engine.policy_names()
    assert spec in policies or find_kind(spec.partition(":")[0]), f"{page}: {game} has no agent {spec}"


def check_make(target: str) -> None:
    assert re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def check_cardenvs(words: list[str]) -> None:
    from cardenvs.cli import app

    command = typer.main.get_command(app)
    while hasattr(command, "list_commands"):  # the commands of a single game are one level down
        command, words = command.get_command(None, words[0]), words[1:]
        assert command is not None
    parameters = command.get_params(typer.Context(command))
    options = {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}
    for word in words:
        if word.startswith("-"):
            assert word in options


def check_pip(words: list[str]) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for word in words:
        if match := re.fullmatch(r"(?:cardenvs|\.)\[([\w,]+)\]", word):
            assert set(match[1].split(",")) <= set(extras)
        elif word.startswith("./") or word.endswith(".txt"):
            assert (ROOT / word).exists()


def check_python(words: list[str]) -> None:
    if words[0] == "-m":
        assert importlib.util.find_spec(words[1]) is not None
        words = words[2:]
    for word in words:
        if re.fullmatch(r"[\w/]+(\.py|/goofspiel|/high_card|/plain_whist)", word):
            assert (ROOT / word).exists()


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_plain_lines_in_the_readme_are_those_of_the_makefile(target):
    makefile, readme = (ROOT / "Makefile").read_text(), read("README.md")
    extra, recipe = re.search(rf"^{target}: \$\(VENV\)/(\S+).*\n((?:\t.+\n)+)", makefile, re.MULTILINE).groups()
    assert f'python -m pip install --constraint constraints.txt --editable ".[{extra}]"' in readme
    for name, value in re.findall(r"^(\w+) \?= (.+)", makefile, re.MULTILINE):
        recipe = recipe.replace(f"$({name})", value)
    commands = re.sub(r"\s*\\\n\s*", " ", recipe).replace("$(BIN)/", "").split("\n")
    for command in commands:
        assert command.strip() in ["", *readme.splitlines()]


# ---------------------------------------------------------------------------------------------------------------
# Links, paths and versions


def test_the_comparison_has_the_pinned_versions():
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    names = {"OpenSpiel": "open-spiel", "PettingZoo classic": "pettingzoo"}
    rows = re.findall(r"^\| \[([\w ]+)\]\(\S+\) \| ([^|]+) \|", read("docs/comparison.md"), re.MULTILINE)
    for title, version in rows:
        name = names.get(title, title.lower())
        assert name not in pinned or version == pinned[name], f"{title} is pinned to {pinned[name]}"
    assert sum(version[0].isdigit() for _, version in rows) > 4


@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith("docs/")])
def test_links_from_pages_that_mkdocs_does_not_see_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", read(page)):
        assert "://" in target or (ROOT / target).exists(), f"{page} links to {target}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/")])
def test_links_in_html_which_mkdocs_does_not_check_lead_somewhere(page):
    path = ROOT / page
    address = path.parent if path.stem == "index" else path.with_suffix("")  # pages are folders of the site
    for target in re.findall(r'(?:href|src)="([^"#:]+)', read(page)):
        found = Path(os.path.normpath(address / target))
        assert (found.with_suffix(".md") if target.endswith("/") else found).is_file(), f"{page} links to {target}"


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_exist(page):
    folders = "benchmarks|cardenvs|configs|docs|examples|tests|training"
    for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", read(page)):
        assert re.search(r"[A-Z]{3}|-v\d+$", path) or (ROOT / path).exists(), f"{page} names {path}"


def test_pages_hold_no_path_of_a_machine():
    for page in PAGES:
        assert not re.search(r"(/home/|/root/|/opt/|/work/|C:\\)", read(page)), page


def test_the_reference_names_what_there_is():
    text = read("docs/api.md")
    for name in cardenvs.__all__:
        assert re.search(rf"\b{name}\b", text), f"docs/api.md lacks {name}"
    for path in re.findall(r"\[`(cardenvs\.[\w.]+)`\]", text):
        assert imported(path) is not None
    for target, members in re.findall(
        r"^::: ([\w.]+)\n(?:    options:\n      members: \[(.*)\]\n)?", text, re.MULTILINE
    ):
        found = imported(target)
        for member in filter(None, members.split(", ")):
            assert hasattr(found, member), f"{target} has no {member}"


def imported(path: str) -> object:
    """The module, or the object in a module, of a dotted path."""
    try:
        return importlib.import_module(path)
    except MissingExtraError as error:
        pytest.skip(str(error))
    except ImportError:
        module, _, name = path.rpartition(".")
        return getattr(imported(module), name)
