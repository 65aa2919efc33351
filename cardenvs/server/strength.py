"""The agents that every server offers for a game, and how strong they are by the ratings of the boards.

`cardenvs/zoo/ratings.json` has the ratings. It is written from docs/results by `python -m docs.generate`.
"""

import functools
import json
from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from cardenvs.core.game import Game
from cardenvs.core.kernel import COMPILED
from cardenvs.core.options import Options

LEVELS = ("easy", "medium", "strong")
SEARCH, TRAINED = "search", "trained"  # visible names
RANDOM = "random"


@dataclass(frozen=True)
class OwnAgent:
    """An agent that every server offers."""

    name: str  # visible name
    spec: str
    rating: int | None  # None: it is not on the board


def own_agents(game: Game, options: Options | None) -> list[OwnAgent]:
    """Return the agents that play with these options, or with any (None), from easy to strong; those without a rating
    come first.

    `search` thinks as long as on the board. Without the compiler that would take minutes, so it is left out. The
    trained policy plays only with the options it was trained with.
    """
    ratings = _board(game)["ratings"]
    specs = {name: name for name in game.engine.policy_names()}
    if COMPILED:
        specs[SEARCH] = next((spec for spec in ratings if spec.startswith(f"{SEARCH}:")), SEARCH)
    if _has_trained(game) and options in (None, _trained_options(game)):
        specs[TRAINED] = _trained_spec(game)
    found = [OwnAgent(name, spec, ratings.get(spec)) for name, spec in specs.items()]
    return sorted(found, key=lambda agent: (agent.rating or 0, agent.name != RANDOM))


def levels(game: Game, options: Options, without: Collection[str] = ()) -> dict[str, str]:
    """Return the opponent for each of LEVELS, by name: the weakest, the strongest, and the one in the middle between
    their ratings. Empty: the game has no opponents.

    Few agents make few different opponents. Games without ratings have random play and the default opponent.

    Args:
        without: names that mean other agents on this server.
    """
    if options.num_players == 1:
        return {}
    own = {agent.name: agent for agent in own_agents(game, options) if agent.name not in without}
    ladder = [agent for agent in own.values() if agent.rating is not None or agent.name == RANDOM]
    if len(ladder) < 2:
        names = (*(agent.name for agent in ladder if agent.name != game.default_opponent), game.default_opponent)
        return dict(zip(LEVELS, (names[0], names[-1], names[-1]), strict=True))
    weakest, strongest = ladder[0], ladder[-1]
    half = ((weakest.rating or 0) + (strongest.rating or 0)) / 2
    medium = min(ladder[1:-1] or [strongest], key=lambda agent: abs((agent.rating or 0) - half))
    return dict(zip(LEVELS, (agent.name for agent in (weakest, medium, strongest)), strict=True))


def label(name: str, game: Game) -> str:
    """Return what people call an agent; the owner's agents keep their names."""
    if name in game.policies:
        return f"rule player ({name.replace('_', ' ')})"
    return {RANDOM: "random mover", TRAINED: "trained policy"}.get(name, name)


def why_not_trained(game: Game) -> str:
    """Return why the trained policy does not play a game, or not with some options."""
    if not _has_trained(game):
        return f"{game.name} has no trained policy"
    given = ", ".join(f"{name}={value}" for name, value in rated_with(game).items())
    return f"it has learned {game.name} only with {given or 'the default options'}"


def rated_with(game: Game) -> dict[str, Any]:
    """Return the options of the game's board that are not the defaults."""
    return dict(_board(game)["options"])


def _has_trained(game: Game) -> bool:
    """Return whether a trained policy of the game comes with cardenvs."""
    return bool(_trained_spec(game))


def _trained_options(game: Game) -> Options:
    """Return the options with which the game's board was played, and its policy trained."""
    return game.make_options(**_board(game)["options"])


def _trained_spec(game: Game) -> str:
    return next((spec for spec in _board(game)["ratings"] if spec.startswith("zoo:")), "")


def _board(game: Game) -> dict[str, Any]:
    return _boards().get(game.name) or {"options": {}, "ratings": {}}


@functools.cache
def _boards() -> dict[str, dict[str, Any]]:
    boards: dict[str, dict[str, Any]] = json.loads(
        (files("cardenvs") / "zoo" / "ratings.json").read_text(encoding="utf-8")
    )
    return boards
