"""Compiling under one bar, before a command asks or prints anything."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cardenvs.cli.progress import ProgressBar

if TYPE_CHECKING:
    from cardenvs.core.game import Game
    from cardenvs.core.options import Options

_NETWORKS = ("ppo", "zoo")  # kinds of agents


def compile_for(game: "Game", options: "Options", agents: Sequence[str] = (), *, batches: bool = False) -> None:
    """Compile or load the kernels that a command needs, under a bar if something has to be compiled.

    `agents` are the specs of the players; `batches`: the game is played in batches.
    """
    from cardenvs.core.kernel import COMPILED
    from cardenvs.core.warmup import outcomes_steps, state_steps, take_steps

    if not COMPILED:
        return
    steps = state_steps(game, options, _policies(game, agents), _playout_policies(game, agents, "search"))
    if any(spec.partition(":")[0] in _NETWORKS for spec in agents):
        steps += outcomes_steps(game, options)  # many policies read them
    if playouts := _playout_policies(game, agents, "ismcts"):
        from cardenvs.agents.tree import tree_steps

        steps += tree_steps(game, options, playouts)
    if batches:
        from cardenvs.envs.warmup import batch_steps

        steps += batch_steps(game)
    title = f"Compiling {game.title}"
    with _quiet(), ProgressBar(title, unit="steps", total=len(steps), transient=True) as bar:
        done, is_compiling = 0, False

        def show() -> None:
            nonlocal is_compiling
            is_compiling = True
            bar.show(done)

        for _ in take_steps(steps, on_compile=show):
            done += 1
            if is_compiling:
                bar.show(done)


def _policies(game: "Game", agents: Sequence[str]) -> list[str]:
    """Return the policies of the game among the agents, and the policy of trial games."""
    wanted = {"random", *(spec.partition(":")[0] for spec in agents)}
    return [name for name in game.engine.policy_names() if name in wanted]


def _playout_policies(game: "Game", agents: Sequence[str], kind: str) -> list[str]:
    """Return the playout policies of agents of a kind, "search" or "ismcts"."""
    searches = [spec for spec in agents if spec.partition(":")[0] == kind]
    named = {name for name in game.engine.policy_names() for spec in searches if f"playout={name}" in spec}
    if any("playout=" not in spec for spec in searches):
        named.add(game.playout_policy)
    return [name for name in game.engine.policy_names() if name in named]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the compiler's own messages: the bar replaces them."""
    before = os.environ.get("CARDENVS_QUIET")
    os.environ["CARDENVS_QUIET"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["CARDENVS_QUIET"]
        else:
            os.environ["CARDENVS_QUIET"] = before
