"""Compilation ahead of time: call every kernel once, so that later processes load it from the cache."""

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardenvs.core.codes import MASK_DTYPE
from cardenvs.core.events import SPECTATOR
from cardenvs.core.game import Game
from cardenvs.core.kernel import COMPILED
from cardenvs.core.options import Options
from cardenvs.core.state import State


@dataclass(frozen=True)
class WarmUpStep:
    """The outcome of one step of a warm-up."""

    what: str  # name of the step
    seconds: float  # its duration
    compiled: int  # number of kernels compiled; 0 if all came from the cache


Step = tuple[str, Callable[[], object]]

_PLIES_IN_WORDS = 60  # plies of the game whose positions are described


def warm_up(game: Game, options: Options, further: Sequence[Step] = ()) -> Iterator[WarmUpStep]:
    """Call every kernel that a `State` of `game` and its View can call, and yield each step when it is done.

    Of the options, only `outcomes` changes compiled code; both forms are called. `further` has steps for kernels that
    only other interfaces call; see cardenvs.envs.warmup.
    """
    policies = game.engine.policy_names()
    steps = [*state_steps(game, options, policies, policies), *outcomes_steps(game, options), *further]
    yield from take_steps(steps)


def take_steps(steps: Sequence[Step], on_compile: Callable[[], None] = lambda: None) -> Iterator[WarmUpStep]:
    """Run steps of a warm-up one by one. Calls `on_compile` whenever a kernel starts to compile."""
    for what, call in steps:
        started = time.perf_counter()
        with _counted_compiles(on_compile) as compiles:
            call()
        yield WarmUpStep(what, time.perf_counter() - started, len(compiles))


def state_steps(game: Game, options: Options, policies: Sequence[str], playouts: Sequence[str]) -> list[Step]:
    """Return steps that call every kernel that a `State` of `game` and its View can call, with the policies that will
    choose actions and those that will be used in playouts.
    """
    state = _LazyState(lambda: game.state_type(game, options, seed=0))
    steps: list[Step] = [
        ("deal", state.get),
        ("legal actions", lambda: state.get().legal_actions()),
        ("observation", lambda: state.get().observation(0)),
        ("check an action", lambda: state.get().explain_illegal(state.get().legal_actions()[0])),
        ("re-deal what is hidden", lambda: state.get().determinize(state.get().current_player, 0)),
        ("apply an action", lambda: state.get().clone().apply(state.get().legal_actions()[0])),
        ("events", lambda: state.get().information_state_key(0)),
        ("mask", lambda: _write_mask(state.get())),
    ]
    steps += [(f"policy {policy}", functools.partial(_choose, state, policy)) for policy in policies]
    steps += [(f"simulate with {policy}", functools.partial(_simulate, state, policy)) for policy in playouts]
    steps.append(("words", lambda: _put_into_words(state.get().clone())))
    return steps


def outcomes_steps(game: Game, options: Options) -> list[Step]:
    """Return the step that observes with outcomes, if the game has those."""
    if game.outcomes is None:
        return []
    state = _LazyState(lambda: game.state_type(game, options, seed=0))
    read = game.as_read(options, {"outcomes": True})
    return [("outcomes", lambda: state.get().observation(state.get().current_player, read))]


class _LazyState:
    """A state created by the first `get`, so that its creation is timed in that step."""

    def __init__(self, make: Callable[[], State]) -> None:
        self._make = make
        self._made: State | None = None

    def get(self) -> State:
        if self._made is None:
            self._made = self._make()
        return self._made


def _choose(state: _LazyState, policy: str) -> None:
    state.get().policy_action(policy, 0)


def _simulate(state: _LazyState, policy: str) -> None:
    first = state.get().legal_actions()[:1]
    state.get().simulate(first, 0, 1, policy=policy, max_plies=1)


def _write_mask(state: State) -> None:
    mask = np.zeros(state.game.num_actions(state.options), MASK_DTYPE)
    state.write_mask(mask)


def _put_into_words(state: State) -> None:
    """Describe the positions of a random game to every player, because views call kernels of their games."""
    for seed in range(_PLIES_IN_WORDS):
        for player in range(state.num_players):
            state.view(player)
            state.facts(player)
        if state.is_terminal:
            break
        state.candidates()
        state.forced_action()
        state.apply(state.policy_action("random", seed))
    state.render(SPECTATOR)
    str(state)


@contextlib.contextmanager
def _counted_compiles(on_compile: Callable[[], None]) -> Iterator[list[Any]]:
    """Yield a list that gets an entry for each kernel compiled in the block. Calls `on_compile` as each starts."""
    compiles: list[Any] = []
    if not COMPILED:
        yield compiles
        return
    from numba.core import event

    class Counter(event.Listener):
        def on_start(self, event):
            compiles.append(event)
            on_compile()

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Counter()):
        yield compiles
