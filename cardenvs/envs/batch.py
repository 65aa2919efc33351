"""`Batch`: the arrays that `VectorEnv.reset` and `VectorEnv.step` return."""

from dataclasses import dataclass

import numpy as np

_ALIGNMENT = 64  # bytes: what XLA asks for, and a cache line


@dataclass(eq=False)
class Batch:
    """The buffers of a VectorEnv: N environments, P players, D observation entries, A actions.

    Every `step` and `reset` overwrites all of them. All but `amount_min` and `amount_max` start at multiples of 64
    bytes, so that JAX and torch take them without a copy.

    If `terminated[i]` or `truncated[i]`, the first group below describes the next episode and the second group the
    one that ended.

    Attributes:
        observation: (N, D), what the player to act sees.
        action_mask: (N, A) int8, or None with mask=False. Read-only if A is at least 16,384: a step then changes only
            the entries of the old and the new legal actions.
        legal_actions: (N, L) int32, read-only. The first num_legal[i] entries are ids, ascending, the others -1. None
            with legal_lists=False.
        num_legal: (N,) int32, read-only.
        amount_min, amount_max: (N,) int32, read-only, or None. If every amount is an action (no-limit hold'em with
            betting="full"), masks and lists contain only the ids up to `VectorEnv.amount_zero`, and these two give the
            smallest and largest legal amount, or 0 and -1 if no amount is legal. Amount a is action amount_zero + a.
        current_player: (N,) int32, the player to act.
        active: (N, P) bool, whether each player is still in the game.

        reward: (N, P) float32, each player's reward from the last step.
        terminated: (N,) bool, whether the rules ended the episode.
        truncated: (N,) bool, whether `max_plies` cut it off.
        episode_returns: (N, P) float64, total rewards of the episode.
        episode_seed: (N,) int64, the seed with which `game.new_state` deals the same episode.
        final_observation: (N, P, D) or None. If `truncated[i]`, row i is what each player saw at the end.
    """

    observation: np.ndarray
    action_mask: np.ndarray | None
    legal_actions: np.ndarray | None
    num_legal: np.ndarray
    amount_min: np.ndarray | None
    amount_max: np.ndarray | None
    current_player: np.ndarray
    active: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    episode_returns: np.ndarray
    episode_seed: np.ndarray
    final_observation: np.ndarray | None = None


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view. Unlike a cleared `writeable` flag, it cannot be made writeable again."""
    return np.asarray(array.data.toreadonly())


def aligned(shape: tuple[int, ...], dtype: np.dtype | type, value: int = 0) -> np.ndarray:
    """Return a new array filled with `value` that starts at a multiple of 64 bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    array = room[start : start + size].view(dtype).reshape(shape)
    if value:
        array[:] = value
    return array


def realigned(array: np.ndarray) -> np.ndarray:
    """Return a copy of `array` that starts at a multiple of 64 bytes."""
    copy = aligned(array.shape, array.dtype)
    copy[:] = array
    return copy
