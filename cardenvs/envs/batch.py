"""`Batch`: the arrays that a `VectorEnv` shows."""

from dataclasses import dataclass

import numpy as np


@dataclass(eq=False)
class Batch:
    """The buffers of a VectorEnv: N environments, P players, D observation entries, A actions.

    Where `terminated[i]` or `truncated[i]`, the first group below is the next episode's and the second group the
    ended one's.

    Attributes:
        observation: (N, D), what the player to act sees.
        action_mask: (N, A) int8, or None with mask=False.
        legal_actions: (N, L) int32, read-only: ascending ids in the first num_legal[i] entries, -1 in the others; None
            with legal_lists=False.
        num_legal: (N,) int32, read-only.
        amount_min, amount_max: (N,) int32, read-only, or None. Where every amount has an id of its own (no-limit
            hold'em with betting="full"), mask and lists have the ids up to `VectorEnv.amount_zero` only, and these are
            the smallest and the largest legal amount: amount a is action amount_zero + a. 0 and -1 where nobody may
            raise.
        current_player: (N,) int32.
        active: (N, P) bool, who is still in the game.

        reward: (N, P) float32, since the last step.
        terminated: (N,) bool, the rules ended the episode.
        truncated: (N,) bool, the ply cap cut it off.
        episode_returns: (N, P) float64, summed rewards.
        episode_seed: (N,) int64, the seed with which `game.new_state` deals the same episode.
        final_observation: (N, P, D) or None: where `truncated[i]`, what each player saw last.
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
    """A view that nobody can make writeable, unlike one whose flag is cleared."""
    return np.asarray(array.data.toreadonly())
