"""The league: the opponents of the network besides itself.

Sources: O. Vinyals et al., "Grandmaster level in StarCraft II using multi-agent reinforcement learning" (2019) for past
selves drawn by how hard they are to beat (prioritised fictitious self-play) and for exploiters.
"""

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cardenvs.agents.checkpoint_file import checked_tensor
from cardenvs.agents.network import Network
from cardenvs.core.errors import FormatError
from cardenvs.training.config import Config

EVERY_PLAYER = -1  # the learner of games in which all players learn
_NO_RULE = -1
_MEMORY = 0.99  # weight of earlier games against a past self when a game is added
_LEAST_PRIORITY = 0.05  # so that a past self that always loses is still drawn now and then


class Tables:
    """Who learns in each of N games, and against whom.

    The last `pool_share` of the games have one learner against networks, and the `rule_share` before them one learner
    against rule policies. In game i the learner is player i modulo P. In all other games everybody learns.
    """

    def __init__(
        self, config: Config, num_envs: int, num_players: int, rule_policies: list[str], part: slice = slice(None)
    ) -> None:
        """Seat the opponents of a config in `num_envs` games, and keep only the games in `part`.

        `rule_policies` share the games of `rule_share`.
        """
        pooled = round(config.pool_share * num_envs)
        ruled = min(round(config.rule_share * num_envs), num_envs - pooled) if rule_policies else 0
        games = np.arange(num_envs)
        # (N,) int64, the player who learns, or EVERY_PLAYER
        self.learner = np.where(games >= num_envs - pooled - ruled, games % num_players, EVERY_PLAYER)
        number = np.full(num_envs, _NO_RULE)
        rows = np.arange(num_envs - pooled - ruled, num_envs - pooled)
        if len(rows):
            number[rows] = rows // num_players % len(rule_policies)
        self.learner, number = self.learner[part], number[part]
        # names of the rule policies, each with the rows of its games
        self.rules = [(name, np.flatnonzero(number == k)) for k, name in enumerate(rule_policies)]
        self.is_ruled = number != _NO_RULE  # (N,) bool, which games have rule policies

    def learning(self, players: np.ndarray) -> np.ndarray:
        """Return, (N,) bool, where the player to act, `players` (N,), is a learner."""
        is_learner: np.ndarray = (self.learner == EVERY_PLAYER) | (players == self.learner)
        return is_learner


class Latest:
    """The network itself, as it is now, as the opponent of an exploiter."""

    def __init__(self, network: Network) -> None:
        """Follow `network`."""
        self.opponent = network

    def draw(self, generator: torch.Generator) -> None:
        """Do nothing: there is only one opponent."""

    def note(self, results: np.ndarray) -> None:
        """Do nothing: results do not matter."""

    def get_state(self) -> dict[str, Any]:
        """Return an empty state."""
        return {}

    def check(self, state: dict[str, Any]) -> None:
        """Do nothing."""

    def set_state(self, state: dict[str, Any]) -> None:
        """Do nothing."""


class Pool:
    """Past selves of the network and exploiters, oldest first. One at a time is the opponent."""

    def __init__(self, network: Network, size: int, priority: float = 0.0) -> None:
        """Create a pool that holds the present network, and at most `size` past selves; the oldest go first.

        `priority` is the exponent of the share of games that a self does not lose; 0 draws all with equal probability.
        """
        self._size, self._priority, self._chosen = size, priority, 0
        self.selves: list[Tensor] = []  # the parameters of each, as one vector
        # (number of selves,) float64, how often each has recently lost to the learner, draws counting half
        self.lost = np.zeros(0)
        self.opponent = copy.deepcopy(network).requires_grad_(False)  # a network with the parameters of the chosen one
        self.add(network)
        self.choose(0)

    def add(self, network: Network) -> None:
        """Add a copy of a network; drop the oldest self if there are too many."""
        self.selves.append(nn.utils.parameters_to_vector(network.parameters()).detach().clone())
        self.lost = np.append(self.lost, 0.5)
        del self.selves[: -self._size]
        self.lost = self.lost[-self._size :]

    def choose(self, number: int) -> None:
        """Make self number `number` the opponent."""
        self._chosen = number
        nn.utils.vector_to_parameters(self.selves[number], self.opponent.parameters())

    def draw(self, generator: torch.Generator) -> None:
        """Draw the opponent from the selves, those that are hard to beat more often."""
        weights = torch.from_numpy((1 - self.lost + _LEAST_PRIORITY) ** self._priority).to(generator.device)
        self.choose(int(torch.multinomial(weights, 1, generator=generator)))

    def note(self, results: np.ndarray) -> None:
        """Record returns of the learner, (M,), in games that ended against the present opponent.

        A game may have begun against another opponent: opponents are drawn for each rollout.
        """
        if len(results):
            kept = _MEMORY ** len(results)
            share = ((results > 0) + 0.5 * (results == 0)).mean()
            self.lost[self._chosen] = kept * self.lost[self._chosen] + (1 - kept) * share

    def get_state(self) -> dict[str, Any]:
        """Return what `set_state` takes."""
        return {"selves": list(self.selves), "lost": torch.from_numpy(self.lost.copy())}

    def check(self, state: dict[str, Any]) -> None:
        """Check that a state fits this pool. Raises FormatError if it does not; the message says why."""
        selves = state.get("selves")
        if not isinstance(selves, list) or not 1 <= len(selves) <= self._size:
            raise FormatError(f"the pool should have 1 to {self._size} past selves")
        (size,) = self.selves[0].shape
        for past in selves:
            checked_tensor(past, "pool", (size,), torch.float32)
        lost = checked_tensor(state.get("lost"), "pool.lost", (len(selves),), torch.float64)
        if ((lost < 0) | (lost > 1)).any():
            raise FormatError("pool.lost is not between 0 and 1")

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state that `check` has accepted."""
        self.selves = [past.to(self.selves[0].device) for past in state["selves"]]
        self.lost = state["lost"].numpy().copy()
