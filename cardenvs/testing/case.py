"""One played game, what a run counts over many, and how a broken promise is reported."""

import dataclasses
import random
from collections import Counter
from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from cardenvs.core.events import OMNISCIENT
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State

_LARGE = 250  # events of a game; of one with more, only a sample is checked unless the check is to be thorough
_MOST_IDS = 300  # action ids of one state that are tried; a random sample beyond
_MOST_EVENTS = 6000  # plies behind the sampled states in all, about: each is checked with all its history


class ConformanceError(AssertionError):
    """A game breaks a promise; the message says which, in which position."""


@dataclasses.dataclass
class Report:
    """What a run of `check_game` looked at.

    Attributes:
        games, states, twins: how many were played, looked at closely, determinized.
        phases: states seen of each phase.
        hidden: by (phase, place): twins in which the hidden tokens of the place (a pile, or the next one to come out
            of it) could differ from the real ones, and did.
        longest: most plies of a game.
        told: what events had shown players, by what they observed (recoverable.py).
    """

    games: int = 0
    states: int = 0
    twins: int = 0
    longest: int = 0
    phases: Counter = dataclasses.field(default_factory=Counter)
    hidden: dict[tuple[str, str], list[int]] = dataclasses.field(default_factory=dict)
    told: dict[tuple, tuple] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    def count(self, phase: str, place: str, differs: bool) -> None:
        """Note a twin in which what is hidden in `place` could differ from the real one, and whether it did."""
        both = self.hidden.setdefault((phase, place), [0, 0])
        both[0] += 1
        both[1] += differs


@dataclasses.dataclass(frozen=True)
class Case:
    """One game to play: options, the deal's seed, and the seed of the random choices."""

    game: Game
    options: Options
    seed: int
    play_seed: int

    def __repr__(self) -> str:
        return f"{self.game.name} {self.options.changed()} seed={self.seed} play_seed={self.play_seed}"

    def start(self) -> State:
        """The state at the start."""
        return self.game.new_state(seed=self.seed, **self.options.as_dict())

    def positions(self) -> Iterator[State]:
        """The state before every action, and at the end; the same object, moving on.

        Play is random; in every second game the game's own policies choose most actions.
        """
        state, chooser = self.start(), random.Random(self.play_seed)
        bound = self.game.max_length(self.options)
        while True:
            yield state
            if state.is_terminal:
                return
            if state.ply >= bound:
                raise ConformanceError(f"{self}: not over after {bound} plies, the bound the game states")
            legal = state.legal_actions()
            if not legal:
                raise ConformanceError(f"{self}: no legal action at ply {state.ply}, but the game is not over")
            state.apply(self._choose(state, legal, chooser))

    def is_large(self) -> bool:
        """Whether the game has so many events that each position takes long to check."""
        *_, last = self.positions()
        return len(last.event_rows(OMNISCIENT)) > _LARGE

    def _choose(self, state: State, legal: list[int], chooser: random.Random) -> int:
        policies = sorted(self.game.policies)
        if not policies or self.play_seed % 2 == 0 or chooser.random() < 0.2:
            return chooser.choice(legal)
        name = chooser.choice(policies)
        action = state.policy_action(name, chooser.getrandbits(32))
        if action not in legal:
            raise ConformanceError(f"{self} ply={state.ply}: policy {name} chooses {action}, legal are {legal}")
        return action

    def sampled(self, most_states: int) -> Iterator[State]:
        """Positions spread over the game, `most` at most, and the first one of each phase."""
        phases = [state.phase for state in self.positions()]
        length = len(phases)
        most = max(3, min(most_states, length, _MOST_EVENTS // length))
        wanted = set(np.linspace(0, length - 1, most).astype(int).tolist())
        wanted |= {phases.index(phase) for phase in phases}
        return (state for k, state in enumerate(self.positions()) if k in wanted)


def fail(case: Case, state: State, what: str) -> NoReturn:
    """Raise ConformanceError for a position."""
    raise ConformanceError(f"{case} ply={state.ply}: {what}\nactions so far: {state.actions}")


def phase_of(case: Case, state: State) -> str:
    """The phase of a position, one of the game's."""
    phase = state.phase
    if phase not in case.game.phases:
        fail(case, state, f"phase {phase!r} is not one of the game's {case.game.phases}")
    return phase


def sampled_ids(num_actions: int, seed: int) -> list[int]:
    """All action ids, or a random sample of a long list."""
    if num_actions <= _MOST_IDS:
        return list(range(num_actions))
    return random.Random(seed).sample(range(num_actions), _MOST_IDS)
