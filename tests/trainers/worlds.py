"""What the tests of the trainers share.

* `load` imports an example, which is not part of a package.
* `Recorded` is an environment that keeps the games played in it; `trajectories` says what a trainer should have been
  given in such a game, seat by seat.
* `twins` are pairs of deals that one player cannot tell apart.
* `right_in_kuhn` measures what a policy has learnt.
"""

import importlib.util
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

import cardenvs
from cardenvs.core.events import OMNISCIENT
from cardenvs.envs.aec import Env

ROOT = Path(__file__).resolve().parents[2]
LEDUC3 = ("leduc_poker_v0", {"num_players": 3})
# A tournament: players are eliminated while others play on, and some are paid without having acted.
HOLDEM = ("texas_holdem_v0", {"num_players": 3, "starting_stack": 60})


def load(path: str) -> ModuleType:
    """Import a file of this repository that is not part of a package."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Recorded(Env):
    """`cardenvs.make`'s environment that appends (seed, actions) of each game that ends to `games`."""

    games: ClassVar[list[tuple[int, list[int]]]] = []

    def step(self, action: int | None) -> None:
        """Apply an action; see Env.step."""
        over = self.game_state.is_terminal
        super().step(action)
        if self.game_state.is_terminal and not over:
            self.games.append((self.game_state.seed, self.game_state.actions))


def recorded(monkeypatch) -> list[tuple[int, list[int]]]:
    """Let `cardenvs.make` make `Recorded` environments, and return their empty list of games."""
    monkeypatch.setattr(cardenvs, "make", lambda name, **options: Recorded(name, **options))
    monkeypatch.setattr(Recorded, "games", [])
    return Recorded.games


@dataclass
class Turn:
    """A turn of a player: what it saw, what it might do, what it did, and all it got from then to its next turn."""

    observation: list[int]
    mask: list[int]
    action: int
    reward: float


@dataclass
class Game:
    """What each player should be given in a game.

    Attributes:
        turns: of each player.
        returns: of each player.
        last: what each player sees when it leaves the game, or at the end.
    """

    turns: list[list[Turn]]
    returns: list[float]
    last: list[list[int]]


def replay(name: str, seed: int, actions: list[int], **options) -> Game:
    """Play a game again on the rules alone, from the seed of its deal."""
    state = cardenvs.get_game(name).new_state(seed=seed, **options)
    turns: list[list[Turn]] = [[] for _ in range(state.num_players)]
    last: dict[int, list[int]] = {}
    for action in actions:
        player = state.current_player
        seen = state.observation(player).tolist(), state.action_mask().tolist()
        turns[player].append(Turn(*seen, action, 0.0))
        state.apply(action)
        for own, reward in zip(turns, state.rewards, strict=True):
            if own:
                own[-1].reward += reward
        for player, active in enumerate(state.active):
            if player not in last and (state.is_terminal or not active):
                last[player] = state.observation(player).tolist()
    assert state.is_terminal
    return Game(turns, state.returns, [last[player] for player in range(len(turns))])


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


def plain(value: Any) -> Any:
    """Return nested containers of arrays and numbers as lists and dicts that `==` compares."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return np.asarray(value).tolist() if hasattr(value, "__array__") else value


def right_in_kuhn(choose: Callable[[np.ndarray, np.ndarray], int], samples: int = 25) -> float:
    """Return how often a policy calls a bet with the king and folds the jack, in either seat of Kuhn poker.

    The other choice loses a chip or more in every such deal, so what is trained on its own rewards finds out soon. What
    is trained on the other seat's learns the opposite.

    Args:
        choose: returns an action for an observation (D,) and a mask (A,).
        samples: choices in each of the four situations.
    """
    right = 0
    for deck, before, expected in (("K Q", [0, 1], 1), ("J Q", [0, 1], 0), ("Q K", [1], 1), ("Q J", [1], 0)):
        state = cardenvs.get_game("kuhn_poker_v0").new_state(seed=0, deck=deck)
        for action in before:
            state.apply(action)
        seen = state.observation(state.current_player), state.action_mask()
        right += sum(choose(*seen) == expected for _ in range(samples))
    return right / (4 * samples)
