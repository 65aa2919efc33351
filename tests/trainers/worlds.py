"""What the tests of the trainers share: their files as modules, and pairs of deals that one player cannot tell apart."""

import importlib.util
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import cardenvs
from cardenvs.core.events import OMNISCIENT

ROOT = Path(__file__).resolve().parents[2]


def load(path: str) -> ModuleType:
    """Import a file of this repository that is not part of a package."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Twins:
    """Two deals of a game that differ, and actions after each of which `player` still cannot tell them apart."""

    player: int
    seeds: tuple[int, int]
    actions: list[int]


def twins(name: str, count: int = 6, **options) -> Iterator[Twins]:
    """Yield `count` pairs of deals with actions for each player of a game."""
    rng = random.Random(name)
    players = cardenvs.get_game(name).new_state(seed=0, **options).num_players
    for player in range(players):
        found = 0
        while found < count:
            pair = _twins(name, player, rng, options)
            if pair:
                found += 1
                yield pair


def _twins(name: str, player: int, rng: random.Random, options: dict) -> Twins | None:
    seeds = rng.randrange(1000), rng.randrange(1000)
    one, two = (cardenvs.get_game(name).new_state(seed=seed, **options) for seed in seeds)
    actions: list[int] = []
    if not one.table(OMNISCIENT).differences(two.table(OMNISCIENT)):
        return None
    while one.information_state_key(player) == two.information_state_key(player):
        if one.is_terminal:
            return Twins(player, seeds, actions)
        action = rng.choice(one.legal_actions())
        one.apply(action)
        two.apply(action)
        actions.append(action)
    return Twins(player, seeds, actions[:-1]) if len(actions) > 2 else None


def replayed(name: str, seed: int, actions: list[int], **options) -> list[float]:
    """Return the returns of a game of the suite after these actions."""
    state = cardenvs.get_game(name).new_state(seed=seed, **options)
    for action in actions:
        state.apply(action)
    assert state.is_terminal
    return state.returns
