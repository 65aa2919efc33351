"""The files of a new game: those of an example under another name, so they always work."""

import importlib.util
import keyword
import re
import sys
from pathlib import Path
from string import Template

import cardenvs
from cardenvs.core.errors import CardenvsError
from cardenvs.core.registry import list_games

EXAMPLES = {"none": "high_card", "tricks": "plain_whist"}  # by kit
GAME_FILES = ("__init__.py", "observation.py", "page.md", "rules.md", "rules.py", "view.py")
_ENTRY_POINTS = '[project.entry-points."cardenvs.games"]\n'
_LONGEST = 30  # characters of a name, which keep the lines of code short enough

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
    """Return `name`, which has no version, if a new game can have it.

    Raises:
        CardenvsError: the name cannot name a Python package, is too long, or is taken.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise CardenvsError(f"a game's name is lower-case letters, digits and _, such as my_game; got {name[:60]!r}")
    if len(name) > _LONGEST:
        raise CardenvsError(f"a game's name has at most {_LONGEST} characters; {name[:60]!r} has {len(name)}")
    if re.search(r"_v[0-9]+$", name):
        raise CardenvsError(f"leave out the version: {name!r} would become {name}_v0")
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise CardenvsError(f"{name!r} is a Python keyword and cannot name a package; choose another name")
    if name in {known.rsplit("_v", 1)[0] for known in list_games()}:
        raise CardenvsError(f"there is a game named {name!r} already; choose another name")
    if is_package and (name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None):
        raise CardenvsError(f"there is a Python package named {name!r} already; choose another name")
    return name


def package_files(name: str, kit: str) -> dict[Path, str]:
    """Return the texts of a separate package for a game on a kit, by path in the package's folder."""
    words, template = _words(name), _Template(EXAMPLES[kit], name)
    test = template.text("test.py").replace("import cardenvs\n", "from pathlib import Path\n\nimport cardenvs\n", 1)
    test = test.replace("check_game\n", "check_game\nfrom cardenvs.testing.scenarios import read_scenarios\n", 1)
    return {
        Path("pyproject.toml"): _PYPROJECT.substitute(words),
        Path("README.md"): _README.substitute(words),
        **{Path(name, file): template.text(file) for file in GAME_FILES},
        Path("tests", f"test_{name}.py"): test + _SCENARIO_TEST,
        Path("tests", "scenarios", f"{name}.yaml"): template.text("scenario.yaml"),
    }


def checkout_files(name: str, kit: str) -> dict[Path, str]:
    """Return the texts of a game on a kit inside cardenvs, by path in a checkout."""
    folder, template = Path("cardenvs", "games", name), _Template(EXAMPLES[kit], name)
    return {
        **{folder / file: _inside(template.text(file), name) for file in GAME_FILES},
        Path("tests", "games", f"test_{name}.py"): _inside(template.text("test.py"), name),
        Path("tests", "scenarios", name, "rules.yaml"): template.text("scenario.yaml"),
    }


def registered(pyproject: str, name: str) -> str:
    """Return the text of the pyproject.toml of cardenvs with one more game.

    Raises:
        CardenvsError: the text does not register games.
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


def _inside(text: str, name: str) -> str:
    """Return code of a package as code inside cardenvs, where imports are grouped differently."""
    text = re.sub(rf"\n?\nfrom {name}\b", rf"\nfrom cardenvs.games.{name}", text)
    text = text.replace("import numpy as np\nfrom cardenvs", "import numpy as np\n\nfrom cardenvs")
    return text.replace("import cardenvs\nimport pytest\n", "import pytest\n\nimport cardenvs\n")


class _Template:
    """The files of an example with the names of the new game."""

    def __init__(self, example: str, name: str) -> None:
        old, new = _words(example), _words(name)
        self._example = example
        self._names = {
            example: name, old["title"]: new["title"], old["title"].replace(" ", ""): new["title"].replace(" ", ""),
        }  # fmt: skip

    def text(self, file: str) -> str:
        """Return a file: of an installation it lies beside this module, in a checkout in examples/."""
        installed = Path(__file__).parent / self._example
        folder = Path(cardenvs.__file__).parents[1] / "examples" / self._example
        places = {
            "test.py": folder / "tests" / f"test_{self._example}.py",
            "scenario.yaml": folder / "tests" / "scenarios" / f"{self._example}.yaml",
        }
        path = installed / file if installed.is_dir() else places.get(file, folder / self._example / file)
        text = path.read_text(encoding="utf-8")
        return re.sub("|".join(self._names), lambda match: self._names[match[0]], text)
