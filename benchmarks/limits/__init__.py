"""The limit: a game written by hand in C for fixed options, compiled here and now.

It writes observation, mask, player, rewards and ends, and samples legal actions. It checks no action, lists none, and
knows no options, seeds, events or forfeits.
"""

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SOURCES = Path(__file__).parent
GAMES = {"kuhn_poker_v0": "kuhn.c", "leduc_poker_v0": "leduc.c", "gin_rummy_v0": "gin_rummy.c"}


class NoLimitError(Exception):
    """The C program cannot be built here."""


class Limit:
    """N games in C; the attributes are the arrays of a `cardenvs.envs.batch.Batch`."""

    def __init__(self, name: str, num_envs: int, seed: int = 0) -> None:
        """Compile the program and allocate the arrays.

        Raises:
            NoLimitError: there is no C compiler, or it fails.
        """
        self._library = _build(SOURCES / GAMES[name])
        size, self.num_ranks, self.num_cards, num_actions, observation_size = (
            ctypes.c_long.in_dll(self._library, constant).value
            for constant in ("game_size", "num_ranks", "num_cards", "num_actions", "observation_size")
        )
        self.num_envs = num_envs
        self._games = np.zeros((num_envs, size), np.uint8)
        self._random = np.array([seed], np.uint64)
        self.actions = np.zeros(num_envs, np.int32)
        self.observation = np.zeros((num_envs, observation_size), np.int8)
        self.action_mask = np.zeros((num_envs, num_actions), np.int8)
        self.current_player = np.zeros(num_envs, np.int32)
        self.reward = np.zeros((num_envs, 2), np.float32)
        self.terminated = np.zeros(num_envs, np.bool_)
        self._encoded = [_pointer(array) for array in (self.observation, self.action_mask, self.current_player)]
        self._results = [_pointer(array) for array in (self.reward, self.terminated)]
        self._batch = [_pointer(self._games), ctypes.c_long(num_envs), _pointer(self._random)]

    def reset(self) -> None:
        """Deal in every environment."""
        self._library.reset(*self._batch, *self._encoded)

    def place(self, env: int, cards: np.ndarray) -> None:
        """Start environment `env` with explicit cards, (num_cards,) int8."""
        cards = np.ascontiguousarray(cards, np.int8)
        assert cards.shape == (self.num_cards,)
        self._library.place(self._batch[0], ctypes.c_long(env), _pointer(cards), *self._encoded)

    def sample_actions(self) -> None:
        """Write a legal action for every environment to `actions`."""
        self._library.sample(*self._batch, _pointer(self.actions))

    def step(self) -> None:
        """Apply `actions`, which must be legal; ended episodes restart."""
        self._library.step(*self._batch, _pointer(self.actions), *self._encoded, *self._results)


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _build(source: Path) -> ctypes.CDLL:
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not compiler or shutil.which(compiler[0]) is None:
        raise NoLimitError(f"no C compiler for {source.name}; install one, or name it with CC")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"{source.stem}.so"
        command = [*compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", str(target), str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise NoLimitError(f"{shlex.join(command)} failed: {done.stderr.strip()}")
        return ctypes.CDLL(str(target))
