"""Reading scenario files: YAML, checked against the schema and the game, with the line of what is wrong."""

import os
from pathlib import Path
from typing import Any

from cardenvs.core.errors import CardenvsError, FormatError, require
from cardenvs.core.files import check_input
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.text import did_you_mean, one_line, read_yaml, yaml_loader
from cardenvs.core.validation import validation_text
from cardenvs.testing.scenarios.scenario import Scenario
from cardenvs.testing.scenarios.schema import ScenarioFile, ScenarioSection

require("pydantic", "arena")
from pydantic import ValidationError  # noqa: E402

_Place = tuple[str | int, ...]


def read_scenarios(*paths: str | os.PathLike[str]) -> list[Scenario]:
    """Return the scenarios, in order, of YAML files of at most 256 KiB, or of all `*.yaml` files in folders and
    subfolders.

    Raises:
        FileError: a path does not exist or is not a regular file.
        FormatError: a file is not a scenario file, or its game, options or deck are invalid; a folder has no files.
        MissingExtraError: pydantic or pyyaml is not installed.
    """
    return [scenario for path in paths for file in _files(Path(path)) for scenario in _read(file)]


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(path.rglob("*.yaml"))
    if not found:
        raise FormatError(f"{path} has no scenario files (*.yaml)")
    return found


def _read(path: Path) -> list[Scenario]:
    check_input(path)
    values = read_yaml(path, "arena", FormatError)
    if not isinstance(values, dict):
        raise FormatError(f"{path} is not a scenario file: it must be a mapping with `game` and `scenarios`")
    lines = _lines(path)
    try:
        file = ScenarioFile.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]["loc"]
        where = f"{path}, line {_line_of(lines, first)}"
        raise FormatError(validation_text(error, ScenarioFile, where)) from None
    try:
        game = get_game(file.game)
    except CardenvsError as error:
        raise FormatError(f"{path}, line {_line_of(lines, ('game',))}: {error}") from None
    names = [section.name for section in file.scenarios]
    scenarios = []
    for number, section in enumerate(file.scenarios):
        line = _line_of(lines, ("scenarios", number))
        if section.name in names[:number]:
            raise FormatError(f"{path}, line {line}: another scenario has the name {section.name!r}")
        step_lines = tuple(_line_of(lines, ("scenarios", number, "steps", k)) for k in range(len(section.steps)))
        scenarios.append(_scenario(path, line, game, file, section, step_lines))
    return scenarios


def _scenario(
    path: Path, line: int, game: Game, file: ScenarioFile, section: ScenarioSection, step_lines: tuple[int, ...]
) -> Scenario:
    given = {**file.options, **section.options}
    deck = file.deck if section.deck is None else section.deck
    try:
        options = game.make_options(**{str(name): value for name, value in given.items()})
        game.parse_deck(deck, options)
    except CardenvsError as error:
        raise FormatError(f"{path}, line {line}: {error}") from None
    policies = game.engine.policy_names()
    for step, step_line in zip(section.steps, step_lines, strict=True):
        if step.auto is not None and step.auto.policy not in (None, *policies):
            hint = did_you_mean(step.auto.policy, policies)
            raise FormatError(
                f"{path}, line {step_line}: {game.name} has no policy {one_line(str(step.auto.policy), 60)!r}; "
                f"{hint}policies are: {', '.join(policies)}"
            )
    return Scenario(
        section.name, str(path), line, game, given, section.seed, deck, tuple(section.steps), step_lines
    )  # fmt: skip


# -- lines --------------------------------------------------------------------------------------------------------


def _lines(path: Path) -> dict[_Place, int]:
    """Return the line, from 1, of every value of a YAML file that `read_yaml` has accepted.

    Raises:
        FormatError: a mapping has a key twice, of which YAML would silently drop one.
    """
    yaml = require("yaml", "arena")
    found: dict[_Place, int] = {}

    def walk(node: Any, place: _Place) -> None:
        found[place] = node.start_mark.line + 1
        if isinstance(node, yaml.SequenceNode):
            for number, inner in enumerate(node.value):
                walk(inner, (*place, number))
        elif isinstance(node, yaml.MappingNode):
            keys: set[str] = set()
            for key, inner in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue
                if key.value in keys:
                    line = key.start_mark.line + 1
                    raise FormatError(f"{path}, line {line}: {one_line(key.value, 60)!r} appears twice")
                keys.add(key.value)
                walk(inner, (*place, key.value))

    walk(yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml_loader(yaml)), ())
    return found


def _line_of(lines: dict[_Place, int], place: _Place) -> int:
    """Return the line of the innermost part of `place` that the file has."""
    while place not in lines:
        place = place[:-1]
    return lines[place]
