"""What importing does, imports within a folder, and that generic code names no game.

Who may import whom is checked by the import contracts in pyproject.toml.
"""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import cardenvs

PACKAGE = Path(cardenvs.__file__).parent
GAMES = sorted(path.parent for path in (PACKAGE / "games").glob("*/__init__.py"))
GENERIC = ["core", "envs", "agents", "arena", "llm", "testing", "server"]  # they know games by the registry only
HEAVY = ["numba", "torch", "rich", "typer", "tensorboard", "stable_baselines3", "sb3_contrib"]


def modules_after(code):
    """The modules that are imported after `code` in a fresh interpreter, and what it wrote to standard error."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return set(done.stdout.split()), done.stderr


def test_importing_the_package_compiles_nothing_and_brings_nothing_heavy():
    modules, err = modules_after("import cardenvs\ncardenvs.list_games()")
    assert not modules & set(HEAVY)
    assert not {name for name in modules if name.startswith("cardenvs.games.")}
    assert err == ""


@pytest.mark.parametrize(
    "name", ["cardenvs.envs.aec", "cardenvs.envs.vector", "cardenvs.core.replay", "cardenvs.agents", "cardenvs.arena"]
)
def test_importing_a_face_imports_no_game_and_compiles_nothing(name):
    modules, err = modules_after(f"import {name}")
    assert not {module for module in modules if module.startswith("cardenvs.games.")}
    assert "torch" not in modules
    assert err == ""


def test_importing_every_game_compiles_nothing():
    _, err = modules_after("import cardenvs\n[cardenvs.get_game(name) for name in cardenvs.list_games()]")
    assert err == ""


def imported(path):
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def own_imports(folder):
    """(file, line, module) of every import of this package in a folder."""
    for path in sorted(folder.rglob("*.py")):
        for module, line in imported(path):
            if module.startswith("cardenvs."):
                yield f"{path.relative_to(PACKAGE)}:{line}", module


def within(module, *allowed):
    return any(module == name or module.startswith(f"{name}.") for name in allowed)


@pytest.mark.parametrize("folder", GAMES, ids=lambda folder: folder.name)
def test_the_rules_of_a_game_import_neither_its_observation_nor_its_words(folder):
    wrong = [
        f"{path.name}:{line} imports {module}"
        for path in folder.glob("*.py")
        if path.stem not in ("__init__", "observation", "view")
        for module, line in imported(path)
        if within(module, f"cardenvs.games.{folder.name}.observation", f"cardenvs.games.{folder.name}.view")
    ]
    assert not wrong, "\n".join(wrong)


def test_the_files_of_the_command_line_import_each_other_in_no_circle():
    graph: dict[str, set[str]] = {}
    for where, module in own_imports(PACKAGE / "cli"):
        file = PACKAGE / where.partition(":")[0]
        importer = ".".join(["cardenvs", *file.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
        graph.setdefault(importer, set()).add(module)
    TopologicalSorter(graph).prepare()


def words_of_games():
    """The first word of each game of this package, as a word of a name or of a class: gin, Gin, kuhn, ...

    DouZero is a method, which code may cite.
    """
    first = {folder.name.split("_")[0] for folder in GAMES} - {"one", "dou"}
    return sorted(first | {word.capitalize() for word in first} | {"one_player", "OnePlayer", "dou_dizhu", "Dizhu"})


@pytest.mark.parametrize("folder", GENERIC)
def test_generic_code_names_no_game(folder):
    words = re.compile(rf"(?<![A-Za-z])({'|'.join(words_of_games())})(?![a-z])")
    wrong = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for path in sorted((PACKAGE / folder).rglob("*"))
        if path.suffix in (".py", ".json", ".html", ".md")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if words.search(line)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_pages_of_the_server_name_no_game():
    words = re.compile(rf"(?<![A-Za-z])({'|'.join(words_of_games())})(?![a-z])")
    for path in (*(PACKAGE / "server" / "static").iterdir(), PACKAGE / "server" / "messages.py"):
        found = words.search(path.read_text(encoding="utf-8"))
        assert not found, f"{path.name}: {found}"


def test_rules_know_no_clock_and_no_randomness_but_the_games_own():
    forbidden = {"random", "secrets", "time", "datetime", "uuid"}
    found = []
    for path in sorted((PACKAGE / "games").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = {one.name.partition(".")[0] for one in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {(node.module or "").partition(".")[0]}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
                names = {node.attr}  # np.random
            else:
                continue
            found += [f"{path.relative_to(PACKAGE)}: {name}" for name in names & forbidden]
    assert not found
