"""Trajectories: the transitions of each player, and a buffer for them."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from cardenvs.envs.vector import VectorEnv

NO_ADVICE = -1
_STEP_BITS = 40  # bits for the game in the number of a slot; the step is above them


class Trajectories:
    """Cuts the play of N games into chains: the turns of one player in one episode, each linked to the next.

    A transition begins when a player acts and stays *open* while the others act: rewards that arrive meanwhile are
    credited to it. It closes when the player acts again, with the next observation, or when the episode ends:

        env 0    player_0 acts   player_1 acts   player_1 acts   player_0 acts    ... the episode ends
        slot           a               b               c               d
        closed by      d               c           the end          the end
        reward of a: all that player_0 gets up to d.   Of c and d: up to and including the end.

    A player who never acts in an episode has no transition, and its rewards are ignored.

    Transitions that are open when a rollout ends are not cut there. They are left out of this update and carried into
    the next rollout, where they close as usual; the transition before them bootstraps from their value. So values are
    needed only at the network's own turns, on which it is trained. The price: about one in `rollout_steps` transitions
    is learnt one update late, with the probabilities it was played with.

    Slots: 0..C-1 are carried, with slot i * P + p for player p in environment i; slot C + t * N + i is for environment
    i at step t of the rollout. Slots rise along a chain.
    """

    UNUSED, OPEN, ENDED = -1, -2, -3

    def __init__(self, num_envs: int, num_players: int, num_steps: int, first_env: int = 0) -> None:
        """Start without transitions, for N environments numbered from `first_env`, P players and T steps."""
        self._first_env = first_env
        self._num_envs, self._num_players, self._num_steps = num_envs, num_players, num_steps
        self.num_carried = num_envs * num_players  # C = N * P
        self.num_slots = self.num_carried + num_steps * num_envs  # C + T * N
        # (num_slots,) int64, the slot of the player's next turn, or UNUSED, OPEN, ENDED
        self.next_slot = np.full(self.num_slots, self.UNUSED, np.int64)
        # (num_slots,) float32, reward credited so far, in the game's unit
        self.reward = np.zeros(self.num_slots, np.float32)
        # (num_slots,) float32, the network's value after an ENDED slot; 0 unless truncated
        self.end_value = np.zeros(self.num_slots, np.float32)
        self._open = np.full((num_envs, num_players), self.UNUSED, np.int64)  # each player's open slot

    def rows(self, step: int) -> slice:
        """Return the slots of a step of the rollout, one per environment."""
        start = self.num_carried + step * self._num_envs
        return slice(start, start + self._num_envs)

    def act(self, step: int, players: np.ndarray, learning: np.ndarray) -> None:
        """Open the transitions of step 0..T-1; each closes the player's previous one.

        `players`, (N,) integers, act; `learning`, (N,) bool, says whether to learn from them.
        """
        envs = np.flatnonzero(learning)
        players, slots = players[envs], self.rows(step).start + envs
        last = self._open[envs, players]
        self.next_slot[last[last >= 0]] = slots[last >= 0]
        self.next_slot[slots] = self.OPEN
        self._open[envs, players] = slots

    def truncate(self, envs: np.ndarray, values: np.ndarray) -> None:
        """Record the values, (M, P) float32, of truncated episodes, (M,) environments; call it before `credit`."""
        slots = self._open[envs]
        self.end_value[slots[slots >= 0]] = values[slots >= 0]

    def credit(self, rewards: np.ndarray, ended: np.ndarray) -> None:
        """Add rewards, (N, P) float32, to the open transitions, then close those of ended episodes, (N,) bool."""
        waiting = self._open >= 0
        self.reward[self._open[waiting]] += rewards[waiting]
        last = self._open[ended]
        self.next_slot[last[last >= 0]] = self.ENDED
        self._open[ended] = self.UNUSED

    def closed(self) -> np.ndarray:
        """Return the slots to learn from, ascending."""
        return np.flatnonzero((self.next_slot >= 0) | (self.next_slot == self.ENDED))

    def numbers(self, slots: np.ndarray) -> np.ndarray:
        """Return numbers that order the slots of several processes like those of one process with all games."""
        step, env = np.divmod(slots - self.num_carried, self._num_envs)
        carried = slots + self._first_env * self._num_players
        return np.where(slots < self.num_carried, carried, ((step + 1) << _STEP_BITS) + self._first_env + env)

    def advantages(self, values: np.ndarray, gamma: float, gae_lambda: float, reward_scale: float = 1.0) -> np.ndarray:
        """Return generalised advantage estimates along each chain (Schulman et al. 2016, equation 16).

        `values`, (num_slots,) float32, are those of the network during play, in scaled reward: the game's unit times
        `reward_scale`. `gamma` discounts from one turn of a player to its next. Returns (num_slots,) float32; 0 where a
        slot is not closed.
        """
        chained = self.next_slot >= 0
        follower = np.where(chained, self.next_slot, 0)
        expected = np.where(chained, values[follower], self.end_value)
        advantage: np.ndarray = np.float32(reward_scale) * self.reward + np.float32(gamma) * expected - values
        advantage[(self.next_slot == self.OPEN) | (self.next_slot == self.UNUSED)] = 0
        weight = np.where(chained, np.float32(gamma * gae_lambda), np.float32(0))
        blocks = [self.rows(step) for step in reversed(range(self._num_steps))]
        for block in [*blocks, slice(0, self.num_carried)]:  # slots rise along a chain, so later blocks are complete
            advantage[block] += weight[block] * advantage[follower[block]]
        return advantage

    def carry(self) -> tuple[np.ndarray, np.ndarray]:
        """Begin the next rollout: move the open transitions to their carried slots and drop the others.

        Returns:
            source and target slots, for other arrays to follow.
        """
        envs, players = np.nonzero(self._open >= 0)
        source, target = self._open[envs, players], envs * self._num_players + players
        reward = self.reward[source]
        self.next_slot[:] = self.UNUSED
        self.reward[:] = 0
        self.end_value[:] = 0
        self.next_slot[target], self.reward[target] = self.OPEN, reward
        self._open[envs, players] = target
        return source, target

    def get_state(self) -> dict[str, np.ndarray]:
        """Return what `set_state` takes, after a `carry`: the carried slots and their rewards."""
        slots = np.flatnonzero(self.next_slot[: self.num_carried] == self.OPEN)
        return {"slots": slots, "reward": self.reward[slots]}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Continue from a state of `get_state`, in a new object of the same shape."""
        slots = state["slots"]
        self.next_slot[slots], self.reward[slots] = self.OPEN, state["reward"]
        self._open.reshape(-1)[slots] = slots


class RolloutBuffer:
    """What the network saw and did in each slot of a rollout, allocated once.

    Observations keep the game's dtype: converting int8 to floats after gathering a minibatch is faster than gathering
    floats. Actions are indices into the list of L legal actions, not ids among all A actions, which makes everything
    computed about a policy cheaper.
    """

    def __init__(self, num_slots: int, vec: VectorEnv, device: torch.device) -> None:
        """Allocate num_slots transitions of the games in `vec`."""
        dtype = torch.from_numpy(vec.batch.observation).dtype
        # (num_slots, D) of the game's dtype
        self.observation = torch.zeros(num_slots, vec.observation_size, dtype=dtype, device=device)
        # (num_slots, L) int64, ids of the num_legal legal actions, then padding
        self.legal = torch.zeros(num_slots, vec.game.max_legal(vec.options), dtype=torch.int64, device=device)
        self.num_legal = torch.ones(num_slots, dtype=torch.int64, device=device)  # (num_slots,) int64
        # (num_slots,) int64, the action taken, as an index into `legal`
        self.choice = torch.zeros(num_slots, dtype=torch.int64, device=device)
        # (num_slots,) int64, the id of the teacher's action; -1: no advice
        self.advice = torch.full((num_slots,), NO_ADVICE, dtype=torch.int64, device=device)
        # (num_slots,) float32, log-probability of the action when it was taken
        self.log_prob = torch.zeros(num_slots, device=device)
        self.value = torch.zeros(num_slots, device=device)  # (num_slots,) float32, the network's value then

    def take(self, other: "RolloutBuffer") -> None:
        """Copy all slots of another buffer of the same size."""
        for name, array in vars(self).items():
            array.copy_(getattr(other, name))

    def move(self, source: Tensor, target: Tensor) -> None:
        """Copy slots `source` to slots `target`."""
        for array in vars(self).values():
            array[target] = array[source]

    def get_state(self, slots: Tensor) -> dict[str, Tensor]:
        """Return a copy of some slots."""
        return {name: array[slots] for name, array in vars(self).items()}

    def set_state(self, slots: Tensor, state: dict[str, Tensor]) -> None:
        """Write back slots that `get_state` copied."""
        for name, array in vars(self).items():
            array[slots] = state[name].to(array.device)


def as_tensors(tree: Any) -> Any:
    """Return a tree of dicts with its NumPy arrays as tensors, which torch loads without running code."""
    if isinstance(tree, dict):
        return {name: as_tensors(value) for name, value in tree.items()}
    return torch.from_numpy(tree) if isinstance(tree, np.ndarray) else tree


def as_arrays(tree: Any) -> Any:
    """Return a tree of dicts with its tensors as NumPy arrays, the reverse of `as_tensors`."""
    if isinstance(tree, dict):
        return {name: as_arrays(value) for name, value in tree.items()}
    return tree.cpu().numpy() if isinstance(tree, Tensor) else tree
