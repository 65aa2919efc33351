"""The registry of games: those of this package and those registered by other packages.

Another package registers its games with the entry-point group "cardenvs.games":

    [project.entry-points."cardenvs.games"]
    my_game_v0 = "my_package.my_game:GAME"

A game is imported on first use. A package that makes games from texts registers a function of the text with the group
"cardenvs.game_families"; its games are named FAMILY:TEXT.
"""

import functools
import importlib
import importlib.metadata
import re
from typing import TYPE_CHECKING

from cardenvs.core.errors import GameNotFoundError
from cardenvs.core.text import did_you_mean

if TYPE_CHECKING:
    from cardenvs.core.game import Game

GROUP = "cardenvs.games"
FAMILIES_GROUP = "cardenvs.game_families"
_NAME = re.compile(r"[a-z][a-z0-9_]*_v[0-9]+")
_added: dict[str, str] = {}


def register_game(name: str, target: str) -> None:
    """Add a game for this process: its name with version, as in "my_game_v0", and "module:attribute" of the Game.

    Raises:
        ValueError: malformed name or target.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"a game's name is lower-case letters, digits and _, then _v and a number; got {name!r}")
    if not all(target.partition(":")[::2]):
        raise ValueError(f"a game's target has the form module:attribute; got {target!r}")
    _added[name] = target


@functools.cache
def _families() -> dict[str, importlib.metadata.EntryPoint]:
    return {point.name: point for point in importlib.metadata.entry_points(group=FAMILIES_GROUP)}


@functools.cache
def _installed() -> dict[str, str]:
    return {point.name: point.value for point in importlib.metadata.entry_points(group=GROUP)}


def game_targets() -> dict[str, str]:
    """Return the targets ("module:attribute") of all registered games by name."""
    return dict(sorted({**_installed(), **_added}.items()))


def list_games() -> list[str]:
    """Return the names of all registered games, sorted."""
    return list(game_targets())


def registered_game(name: str) -> "Game":
    """Return a registered game, as `get_game` does, for names from strangers: a game that is made from a text, such as
    those of OpenSpiel, may take any time and memory.

    Raises:
        GameNotFoundError: no registered game has this name.
    """
    if isinstance(name, str) and ":" in name:
        raise GameNotFoundError(f"no game named {name[:40]!r}; games are: {', '.join(game_targets())}")
    return get_game(name)


def get_game(name: str) -> "Game":
    """Return the game with this name. A name without version means the newest version.

    Raises:
        GameNotFoundError: no game has this name. The message suggests the closest name.
    """
    if not isinstance(name, str):
        raise GameNotFoundError(f"a game is given by its name, such as {min(game_targets())!r}; got {name!r}")
    family, is_made, text = name.partition(":")
    if is_made and family in _families():
        return _families()[family].load()(text)
    targets = game_targets()
    if name not in targets:
        versions = [known for known in targets if known.rsplit("_v", 1)[0] == name]
        if not versions:
            hint = did_you_mean(name, targets)
            raise GameNotFoundError(f"no game named {name!r}; {hint}games are: {', '.join(targets)}")
        name = max(versions, key=lambda known: int(known.rsplit("_v", 1)[1]))
    module, attribute = targets[name].split(":")
    return getattr(importlib.import_module(module), attribute)
