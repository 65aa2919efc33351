"""Commands of single games, from this package and from others.

A package registers the commands of a game, a typer app, in the entry-point group "cardenvs.commands":

    [project.entry-points."cardenvs.commands"]
    my_game = "my_package.my_game_commands:app"

They run as `cardenvs my_game COMMAND`. The module is imported when a command is used; to list commands, only the first
line of its file is read.
"""

import ast
import functools
import importlib
import importlib.metadata
import importlib.util
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

import typer

from cardenvs.core.errors import CardenvsError

GROUP = "cardenvs.commands"


@functools.cache
def game_commands() -> dict[str, str]:
    """Return the places of the commands of games, "module:attribute" by name, without importing anything."""
    points = importlib.metadata.entry_points(group=GROUP)
    return {point.name: point.value for point in sorted(points, key=lambda point: point.name)}


def load_group(name: str) -> "GameCommands":
    """Return the commands registered by that name. They are imported when they are needed."""
    return GameCommands(name, game_commands()[name])


class GameCommands(typer.core.TyperGroup):
    """The commands of a game."""

    def __init__(self, name: str, target: str) -> None:
        """Create the group `name`, whose help is the first line of the module's docstring."""
        self._target = target
        super().__init__(
            name=name, help=_first_line(target.partition(":")[0]), no_args_is_help=True, rich_markup_mode="markdown",
            rich_help_panel="Single games",
        )  # fmt: skip

    def _loaded(self) -> Any:
        module, _, attribute = self._target.partition(":")
        try:
            return typer.main.get_group(getattr(importlib.import_module(module), attribute))
        except (ImportError, AttributeError) as error:
            raise CardenvsError(f"the commands of {self.name} cannot be loaded from {self._target}: {error}") from error

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: D102  documented in click
        names: list[str] = self._loaded().list_commands(ctx)
        return names

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: D102
        return self._loaded().get_command(ctx, cmd_name)


def _first_line(module: str) -> str:
    """Return the first line of a module's docstring, read from its file."""
    spec = _find_spec(module)
    if spec is None or spec.origin is None:
        return f"(there is no module {module})"
    try:
        tree = ast.parse(Path(spec.origin).read_bytes())
    except (OSError, SyntaxError, ValueError) as error:  # calling the command shows the error
        return f"({module} cannot be read: {type(error).__name__})"
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def _find_spec(module: str) -> ModuleSpec | None:
    """Return a module's spec as importlib.util.find_spec does, but without importing its packages."""
    first, *rest = module.split(".")
    name, spec = first, importlib.util.find_spec(first)
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, spec.submodule_search_locations)
    return spec
