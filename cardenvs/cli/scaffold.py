"""The files of a new game. They are those of the example High Card under another name, so they always work."""

import importlib.util
import keyword
import re
import sys
from pathlib import Path
from string import Template

import cardenvs
from cardenvs.core.errors import CardenvsError
from cardenvs.core.registry import list_games

GAME_FILES = ("__init__.py", "observation.py", "rules.md", "rules.py", "view.py")
_ENTRY_POINTS = '[project.entry-points."cardenvs.games"]\n'
_LONGEST = 30  # characters of a name, so that no line of the code gets too long

_PAGE = Template("""\
A new game, so far with the rules of a very small one: keep your card or swap it, the higher card wins.

## Rewards and termination

One reward comes at the end: the winner gets the stake from the loser. A player who forfeits loses.

## Status

The rules are tested paragraph by paragraph, and the game passes `check_game`.

## Version history

- `v0`: first version.
""")

_SCENARIO = Template("""\
# The rules by paragraph of rules.md. `cardenvs scenario inspect` shows each position and its legal actions.
game: ${name}_v0
scenarios:
  - name: 2.1 only the owner sees a card
    deck: 7 K
    steps:
      - expect:
          player: 0
          legal: [keep, swap]
          seen_by: {0: {table: {hand: ["7", "?"]}}, 1: {table: {hand: ["?", K]}}}

  - name: 2.2 a swap draws the top card and sets the old one aside
    deck: 7 K 3 9
    steps:
      - {do: swap, expect: {player: 1, table: {hand: ["3", K], aside: ["7", ""]}}}
      - {do: swap, expect: {table: {hand: ["3", "9"], aside: ["7", K]}}}

  - name: 3.1 the higher card wins
    options: {stake: 5}
    deck: 9 T
    steps:
      - {do: [keep, keep], expect: {over: true, winner: 1, returns: [-5, 5]}}

  - name: 4.1 a player who forfeits loses
    deck: A 2
    steps:
      - {forfeit: 0, expect: {over: true, returns: [-1, 1]}}
""")

_SCENARIO_TEST = """

@pytest.mark.parametrize("scenario", read_scenarios(Path(__file__).parent / "scenarios"), ids=str)
def test_scenario(scenario):
    scenario.check()
"""

_PYPROJECT = Template("""\
[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = "$dashed"
version = "0.1.0"
description = "$title, a game for cardenvs"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["cardenvs"]

[project.optional-dependencies]
test = ["cardenvs[arena]", "pytest>=8", "hypothesis>=6.100"]

[project.entry-points."cardenvs.games"]
${name}_v0 = "$name:GAME"

[tool.hatch.build.targets.wheel]
packages = ["$name"]
""")

_README = Template("""\
# $title

A game for cardenvs, in a package of its own.

```bash
pip install --editable ".[test]"
cardenvs play ${name}_v0
cardenvs scenario inspect tests/scenarios/$name.yaml
python -m pytest
```

| file | contents |
| --- | --- |
| `$name/rules.md` | the rules, in numbered paragraphs |
| `$name/rules.py` | options, state, table, and the rules as kernels |
| `$name/observation.py` | what a player observes |
| `$name/view.py` | the texts: labels, tables, reasons |
| `$name/page.md` | the prose of the game's page |
| `$name/__init__.py` | `GAME`, which combines the parts |
| `tests/` | tests of the paragraphs, scenarios, and the conformance suite |
| `pyproject.toml` | the entry point through which cardenvs finds the game |
""")


def checked_name(name: str, *, is_package: bool) -> str:
    """Return `name` if a new game can have it.

    Args:
        name: without version.
        is_package: whether the game becomes a top-level package.

    Raises:
        CardenvsError: it is not a name for a Python package, too long, or taken.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise CardenvsError(f"a game's name is lower-case letters, digits and _, such as my_game; got {name[:60]!r}")
    if len(name) > _LONGEST:
        raise CardenvsError(f"a game's name has at most {_LONGEST} characters; {name[:60]!r} has {len(name)}")
    if re.search(r"_v[0-9]+$", name):
        raise CardenvsError(f"leave out the version: {name!r} would become {name}_v0")
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise CardenvsError(f"{name!r} is a word of Python and cannot name a package; take another name")
    if name in {known.rsplit("_v", 1)[0] for known in list_games()}:
        raise CardenvsError(f"there is a game named {name!r} already; take another name")
    if is_package and (name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None):
        raise CardenvsError(f"there is a Python package named {name!r} already; take another name")
    return name


def package_files(name: str) -> dict[Path, str]:
    """Return the texts of a package of its own for a game, by path in the package's folder."""
    words = _words(name)
    files = {Path(name, file): _renamed(_template(file), name) for file in GAME_FILES}
    test = _renamed(_template("test.py"), name).replace(
        "import cardenvs\n", "from pathlib import Path\n\nimport cardenvs\n", 1
    )
    test = test.replace("check_game\n", "check_game\nfrom cardenvs.testing.scenarios import read_scenarios\n", 1)
    return {
        Path("pyproject.toml"): _PYPROJECT.substitute(words),
        Path("README.md"): _README.substitute(words),
        **files,
        Path(name, "page.md"): _PAGE.substitute(words),
        Path("tests", f"test_{name}.py"): test + _SCENARIO_TEST,
        Path("tests", "scenarios", f"{name}.yaml"): _SCENARIO.substitute(words),
    }


def checkout_files(name: str) -> dict[Path, str]:
    """Return the texts of a game inside cardenvs, by path in a checkout."""
    folder, words = Path("cardenvs", "games", name), _words(name)
    return {
        **{folder / file: _inside(_renamed(_template(file), name), name) for file in GAME_FILES},
        folder / "page.md": _PAGE.substitute(words),
        Path("tests", "games", f"test_{name}.py"): _inside(_renamed(_template("test.py"), name), name),
        Path("tests", "scenarios", name, "rules.yaml"): _SCENARIO.substitute(words),
    }


def registered(pyproject: str, name: str) -> str:
    """Return the text of cardenvs's pyproject.toml with one more game.

    Raises:
        CardenvsError: it does not register games.
    """
    before, found, after = pyproject.partition(_ENTRY_POINTS)
    if not found:
        raise CardenvsError(f"pyproject.toml has no section {_ENTRY_POINTS.strip()}; is this a checkout of cardenvs?")
    entries, end, rest = after.partition("\n\n")
    lines = sorted([*entries.splitlines(), f'{name}_v0 = "cardenvs.games.{name}:GAME"'])
    return before + found + "\n".join(lines) + end + rest


def _words(name: str) -> dict[str, str]:
    title = name.replace("_", " ").strip().title()
    return {"name": name, "title": title, "dashed": f"cardenvs-{name.replace('_', '-').strip('-')}"}


def _renamed(text: str, name: str) -> str:
    """Return a text of High Card with the names of the new game."""
    title = _words(name)["title"]
    names = {"high_card": name, "High Card": title, "HighCard": title.replace(" ", "")}
    return re.sub("|".join(names), lambda match: names[match[0]], text)


def _inside(text: str, name: str) -> str:
    """Return the code of a package as that of a folder of cardenvs, whose imports are grouped differently."""
    text = re.sub(rf"\n?\nfrom {name}\b", rf"\nfrom cardenvs.games.{name}", text)
    text = text.replace("import numpy as np\nfrom cardenvs", "import numpy as np\n\nfrom cardenvs")
    return text.replace("import cardenvs\nimport pytest\n", "import pytest\n\nimport cardenvs\n")


def _template(file: str) -> str:
    """Return a file of High Card: in an installation it lies beside this module, in a checkout in examples/."""
    installed = Path(__file__).parent / "high_card"
    example = Path(cardenvs.__file__).parents[1] / "examples" / "high_card"
    if installed.is_dir():
        path = installed / file
    else:
        path = example / ("tests/test_high_card.py" if file == "test.py" else f"high_card/{file}")
    return path.read_text(encoding="utf-8")
