"""`Case`, one game to play; `Report`, counts over many games; and ConformanceError."""

import contextlib
import dataclasses
import random
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from cardenvs.core.errors import ArenaError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State

if TYPE_CHECKING:
    from cardenvs.envs.single import SeatEnv

_LARGE = 250  # a game with more events is large: `check_game` checks a sample by default
_MOST_IDS = 300  # states with more action ids have a random sample tried
_MOST_EVENTS = 6000  # approximate total of plies before the sampled states, whose histories are all checked


class ConformanceError(AssertionError):
    """A game does not conform. The message gives the reason and the position."""


@dataclasses.dataclass
class Report:
    """Statistics of a run of `check_game`."""

    # numbers of games played, states checked and twins created
    games: int = 0
    states: int = 0
    twins: int = 0
    # number of other real histories with the same events, in which all that a player gets was the same
    second_histories: int = 0
    # numbers of positions at which twins were compared with real histories, and of these histories
    compared_positions: int = 0
    compared_worlds: int = 0
    longest: int = 0  # most plies of a game
    phases: Counter[str] = dataclasses.field(default_factory=Counter)  # number of states checked by phase
    # [could differ, did differ] by (phase, place): numbers of twins in which what is hidden in a place (a pile, a
    # counter, or the next token to leave a pile) could and did differ from the truth
    hidden: dict[tuple[str, str], list[int]] = dataclasses.field(default_factory=dict)
    # what events had shown players, by what they observed; see cardenvs.testing.recoverable
    shown: dict[tuple[Any, ...], tuple[Any, ...]] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    def count(self, phase: str, place: str, differs: bool) -> None:
        """Count a twin in which what is hidden in `place` could differ from the truth, and whether it did."""
        both = self.hidden.setdefault((phase, place), [0, 0])
        both[0] += 1
        both[1] += differs


@dataclasses.dataclass(frozen=True)
class Case:
    """One game to play: options, seed of the deal, seed of the random choices, and phases that play makes for."""

    game: Game
    options: Options
    seed: int
    play_seed: int
    sought: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        sought = f" sought={sorted(self.sought)}" if self.sought else ""
        return f"{self.game.name} {self.options.changed()} seed={self.seed} play_seed={self.play_seed}{sought}"

    @property
    def keeps_tokens(self) -> bool:
        """Whether all tokens are on the table all the time.

        Those that are drawn with replacement come and go: such a game has no deck, but an explicit one.
        """
        return len(self.game.deck(self.options)) > 0 or self.game.first_roll is None

    def start(self) -> State:
        """Return the state after the deal."""
        return self.game.new_state(seed=self.seed, **self.options.as_dict())

    def positions(self) -> Iterator[State]:
        """Yield the state before every action and at the end. It is the same object every time.

        Play is random. In every second game, the game's own policies choose most actions.
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
        """Return whether checking each position takes long because the game has many events."""
        *_, last = self.positions()
        return len(last.event_log()) > _LARGE

    def _choose(self, state: State, legal: list[int], chooser: random.Random) -> int:
        if self.sought and (leading := self._leading(state, chooser.sample(legal, len(legal)))) is not None:
            return leading
        policies = sorted(self.game.policies)
        if not policies or self.play_seed % 2 == 0 or chooser.random() < 0.2:
            return chooser.choice(legal)
        name = chooser.choice(policies)
        action = state.policy_action(name, chooser.getrandbits(32))
        if action not in legal:
            raise ConformanceError(f"{self} ply={state.ply}: policy {name} chooses {action}, legal are {legal}")
        return action

    def _leading(self, state: State, legal: list[int]) -> int | None:
        """Return the first action that leads to a phase that play makes for, if there is one."""
        for action in legal:
            child = state.clone()
            child.apply_unchecked(action)
            if child.phase in self.sought:
                return action
        return None

    def sampled(self, most_states: int) -> Iterator[State]:
        """Return up to `most_states` positions spread over the game, and the first position of each phase."""
        phases = [state.phase for state in self.positions()]
        length = len(phases)
        most = max(3, min(most_states, length, _MOST_EVENTS // length))
        wanted = set(np.linspace(0, length - 1, most).astype(int).tolist())
        wanted |= {phases.index(phase) for phase in phases}
        return (state for k, state in enumerate(self.positions()) if k in wanted)


def fail(case: Case, state: State, what: str) -> NoReturn:
    """Raise ConformanceError for a position, with the message `what`."""
    _fail(str(case), state, what)


@contextlib.contextmanager
def results_checked_by(env: "SeatEnv") -> Iterator[None]:
    """Raise ConformanceError, with the game that shows it, where `env` raises ArenaError for a game's result."""
    try:
        yield
    except ArenaError as error:
        state = env.game_state
        label = f"{state.game.name} {state.options.changed()} seed={state.seed}"
        _fail(label, state, str(error).removeprefix(f"{state.game.name}: "))


def _fail(label: str, state: State, what: str) -> NoReturn:
    raise ConformanceError(f"{label} ply={state.ply}: {what}\nactions so far: {state.actions}")


def phase_of(case: Case, state: State) -> str:
    """Return the phase of a position. Fails if it is not one of the game's phases."""
    phase = state.phase
    if phase not in case.game.phases:
        fail(case, state, f"phase {phase!r} is not one of the game's {case.game.phases}")
    return phase


def sampled_ids(num_actions: int, seed: int) -> list[int]:
    """Return all action ids, or a random sample if there are many."""
    if num_actions <= _MOST_IDS:
        return list(range(num_actions))
    return random.Random(seed).sample(range(num_actions), _MOST_IDS)
