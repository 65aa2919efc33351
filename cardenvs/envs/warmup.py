"""Warm-up steps for batches; see cardenvs.core.warmup."""

import functools

import numpy as np

from cardenvs.core.game import Game
from cardenvs.core.legal import first_illegal_or_amount, sample_legal_or_amount
from cardenvs.core.warmup import Step
from cardenvs.envs.vector import VectorEnv

_NUM_ENVS = 2


def batch_steps(game: Game) -> list[Step]:
    """Return steps for `warm_up` that call every kernel that a `VectorEnv` of `game` can call."""
    steps: list[Step] = [("batches", lambda: _play(game))]
    for policy in game.engine.policy_names():
        steps.append((f"batches with {policy}", functools.partial(_choose, game, policy)))
    if game.amounts is not None:
        steps.append(("batches with amounts", _bet))
    return steps


def _started(game: Game) -> VectorEnv:
    batch = VectorEnv(game, num_envs=_NUM_ENVS, num_threads=1)
    batch.reset()
    return batch


def _play(game: Game) -> None:
    batch = _started(game)
    batch.step(batch.sample_actions())
    batch.observe(0)


def _choose(game: Game, policy: str) -> None:
    if game.amounts is None or game.amounts.zero(game.make_options()) is None:
        _started(game).policy_actions(policy, np.arange(_NUM_ENVS), 0, 0)


def _bet() -> None:
    """Call two kernels directly, because only the game knows which of its options make amounts actions."""
    actions, num_legal = np.zeros(_NUM_ENVS, np.int64), np.ones(_NUM_ENVS, np.int32)
    legal, bits = np.zeros((_NUM_ENVS, 1), np.int32), np.ones((_NUM_ENVS, 1), np.uint64)
    amounts = np.tile(np.array([0, -1], np.int32), (_NUM_ENVS, 1))
    first_illegal_or_amount(actions, bits, amounts, 0)
    sample_legal_or_amount(legal, num_legal, amounts, 0, 0, 0, 0, np.zeros(_NUM_ENVS, np.int32))
