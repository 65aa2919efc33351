"""Trajectories: whose transition is whose."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from cardenvs.envs.vector import VectorEnv

NO_ADVICE = -1
_STEP_BITS = 40  # of numbers of slots, for the game


class Trajectories:
    """Cuts the play of N games into chains: the turns of one player in one episode, each linked to its next.

    A transition begins when a player acts and stays *open* while the others act: rewards that arrive meanwhile are
    credited to it. It is closed when the player acts again, which is its next observation, or when the episode ends:

        env 0    player_0 acts   player_1 acts   player_1 acts   player_0 acts    ... the episode ends
        slot           a               b               c               d
        closed by      d               c           the end          the end
        reward of a: all that player_0 gets up to d.   Of c and d: up to and including the end.

    A player who never acts in an episode has no transition, and its rewards are ignored.

    Transitions that are open when a rollout ends are not cut there. They are left out of this update and carried into
    the next rollout, where they close as if nothing had happened; the transition before them bootstraps from their
    value. So the network is only ever asked for values of its own turns, on which it is trained. The price is that one
    transition in `rollout_steps` or so is learnt from one update late, with the probabilities it was played with.

    Slots: 0..C-1 are carried ones, slot i * P + p that of player p in environment i; after them slot C + t * N + i is
    what environment i does at step t of the rollout. A chain's slots rise.

    Attributes:
        num_carried: C = N * P.
        num_slots: C + T * N.
        next_slot: (num_slots,) int64, the slot of the player's next turn, or UNUSED, OPEN, ENDED.
        reward: (num_slots,) float32, credited so far, in the game's unit.
        end_value: (num_slots,) float32, the network's value after an ENDED slot: 0 unless truncated.
    """

    UNUSED, OPEN, ENDED = -1, -2, -3

    def __init__(self, num_envs: int, num_players: int, num_steps: int, first_env: int = 0) -> None:
        """Nothing open yet, for N environments, numbered from `first_env`, P players and rollouts of T steps."""
        self._first_env = first_env
        self._num_envs, self._num_players, self._num_steps = num_envs, num_players, num_steps
        self.num_carried = num_envs * num_players
        self.num_slots = self.num_carried + num_steps * num_envs
        self.next_slot = np.full(self.num_slots, self.UNUSED, np.int64)
        self.reward = np.zeros(self.num_slots, np.float32)
        self.end_value = np.zeros(self.num_slots, np.float32)
        self._open = np.full((num_envs, num_players), self.UNUSED, np.int64)  # each player's open slot

    def rows(self, step: int) -> slice:
        """Return the slots of a step of the rollout, one an environment."""
        start = self.num_carried + step * self._num_envs
        return slice(start, start + self._num_envs)

    def act(self, step: int, players: np.ndarray, learning: np.ndarray) -> None:
        """Open the transitions of a step, each closing the player's last one.

        Args:
            step: 0..T-1.
            players: (N,) integers, who acts.
            learning: (N,) bool, false where the player who acts is not to be learnt from.
        """
        envs = np.flatnonzero(learning)
        players, slots = players[envs], self.rows(step).start + envs
        last = self._open[envs, players]
        self.next_slot[last[last >= 0]] = slots[last >= 0]
        self.next_slot[slots] = self.OPEN
        self._open[envs, players] = slots

    def truncate(self, envs: np.ndarray, values: np.ndarray) -> None:
        """Note what players may still expect where an episode was cut off; call it before `credit`.

        Args:
            envs: (M,) integers, which environments.
            values: (M, P) float32, by player.
        """
        slots = self._open[envs]
        self.end_value[slots[slots >= 0]] = values[slots >= 0]

    def credit(self, rewards: np.ndarray, ended: np.ndarray) -> None:
        """Give rewards to the open transitions, then close those of ended episodes.

        Args:
            rewards: (N, P) float32, what each player got in this step.
            ended: (N,) bool.
        """
        waiting = self._open >= 0
        self.reward[self._open[waiting]] += rewards[waiting]
        last = self._open[ended]
        self.next_slot[last[last >= 0]] = self.ENDED
        self._open[ended] = self.UNUSED

    def closed(self) -> np.ndarray:
        """Return the slots to learn from, ascending."""
        return np.flatnonzero((self.next_slot >= 0) | (self.next_slot == self.ENDED))

    def numbers(self, slots: np.ndarray) -> np.ndarray:
        """Return numbers that order slots of several processes as the slots of one process that has all games."""
        step, env = np.divmod(slots - self.num_carried, self._num_envs)
        carried = slots + self._first_env * self._num_players
        return np.where(slots < self.num_carried, carried, ((step + 1) << _STEP_BITS) + self._first_env + env)

    def advantages(self, values: np.ndarray, gamma: float, gae_lambda: float, reward_scale: float = 1.0) -> np.ndarray:
        """Generalised advantage estimates along each chain (Schulman et al. 2016, equation 16).

        Args:
            values: (num_slots,) float32, the network's values when it played, in scaled reward.
            gamma: discount, from one turn of a player to its next.
            gae_lambda: lambda.
            reward_scale: factor from the game's unit to scaled reward.

        Returns:
            (num_slots,) float32; 0 where a slot is not closed.
        """
        chained = self.next_slot >= 0
        follower = np.where(chained, self.next_slot, 0)
        expected = np.where(chained, values[follower], self.end_value)
        advantage = np.float32(reward_scale) * self.reward + np.float32(gamma) * expected - values
        advantage[(self.next_slot == self.OPEN) | (self.next_slot == self.UNUSED)] = 0
        weight = np.where(chained, np.float32(gamma * gae_lambda), np.float32(0))
        blocks = [self.rows(step) for step in reversed(range(self._num_steps))]
        for block in [*blocks, slice(0, self.num_carried)]:  # a chain's slots rise, so later blocks are complete
            advantage[block] += weight[block] * advantage[follower[block]]
        return advantage

    def carry(self) -> tuple[np.ndarray, np.ndarray]:
        """Begin the next rollout: move the open transitions to their carried slots and forget the others.

        Returns:
            source and target slots, for arrays kept elsewhere.
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
        """Return what `set_state` needs to go on after a `carry`: the carried slots and their rewards."""
        slots = np.flatnonzero(self.next_slot[: self.num_carried] == self.OPEN)
        return {"slots": slots, "reward": self.reward[slots]}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go on from `get_state`, in a new object of the same shape."""
        slots = state["slots"]
        self.next_slot[slots], self.reward[slots] = self.OPEN, state["reward"]
        self._open.reshape(-1)[slots] = slots


class RolloutBuffer:
    """What the network saw and did in each slot of a rollout, allocated once.

    Observations stay as small as the game makes them: turning int8 into floats when a minibatch is gathered is faster
    than gathering floats. Actions are numbers in the legal list, L of them rather than A: all that is worked out about
    a policy costs so much less.

    Attributes:
        observation: (num_slots, D) of the game's dtype.
        legal: (num_slots, L) int64, ids of the legal actions, first num_legal ones.
        num_legal: (num_slots,) int64.
        choice: (num_slots,) int64, the action taken, as an index into `legal`.
        advice: (num_slots,) int64, the id of the action that the teacher would have taken; -1: nobody asked.
        log_prob: (num_slots,) float32, of the action when it was taken.
        value: (num_slots,) float32.
    """

    def __init__(self, num_slots: int, vec: VectorEnv, device: torch.device) -> None:
        """Room for num_slots transitions of the games in `vec`."""
        dtype = torch.from_numpy(vec.batch.observation).dtype
        self.observation = torch.zeros(num_slots, vec.observation_size, dtype=dtype, device=device)
        self.legal = torch.zeros(num_slots, vec.game.max_legal(vec.options), dtype=torch.int64, device=device)
        self.num_legal = torch.ones(num_slots, dtype=torch.int64, device=device)
        self.choice = torch.zeros(num_slots, dtype=torch.int64, device=device)
        self.advice = torch.full((num_slots,), NO_ADVICE, dtype=torch.int64, device=device)
        self.log_prob = torch.zeros(num_slots, device=device)
        self.value = torch.zeros(num_slots, device=device)

    def take(self, other: "RolloutBuffer") -> None:
        """Copy all slots of another one of the same size."""
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
        """Write back what `get_state` copied."""
        for name, array in vars(self).items():
            array[slots] = state[name].to(array.device)


def as_tensors(tree: Any) -> Any:
    """Return a tree of dicts with its NumPy arrays as tensors, which torch reads back without running code."""
    if isinstance(tree, dict):
        return {name: as_tensors(value) for name, value in tree.items()}
    return torch.from_numpy(tree) if isinstance(tree, np.ndarray) else tree


def as_arrays(tree: Any) -> Any:
    """Return the reverse of `as_tensors`."""
    if isinstance(tree, dict):
        return {name: as_arrays(value) for name, value in tree.items()}
    return tree.cpu().numpy() if isinstance(tree, Tensor) else tree
