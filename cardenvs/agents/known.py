"""What agents would have done with other cards: the probabilities of their actions in many worlds at once.

An agent of cardenvs that keeps nothing between turns chooses by what its player knows and by its seed, which has
nothing to do with the cards. So with its seed given, it is a known function of its hand and of what everybody saw.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from cardenvs.agents.base import Turn
from cardenvs.agents.playouts import drawn
from cardenvs.agents.specs import make_agent
from cardenvs.agents.tabular import TabularAgent
from cardenvs.agents.worlds import replayed
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.rng import derived_seed, mix64

if TYPE_CHECKING:
    from cardenvs.agents.ppo import PPOAgent

SEARCHES = ("search", "ismcts")
_NETWORKS = ("ppo", "zoo")
_STEP = np.uint64(0x9E3779B97F4A7C15)
_mix = getattr(mix64, "py_func", mix64)  # for arrays


class KnownPolicy(Protocol):
    """The distribution of an agent's actions."""

    def probabilities(
        self, decks: Sequence[Sequence[int]] | np.ndarray, actions: Sequence[int], seed: int, decision: int
    ) -> np.ndarray:
        """Return the probabilities of all actions, float64 (N, num_actions), for the player to act.

        Args:
            decks: for each world the tokens drawn so far.
            actions: the actions so far, the same in all worlds.
            seed: the agent's seed for this game.
            decision: number of earlier decisions of the player in this game.
        """
        raise NotImplementedError


class ChoosingPolicy(KnownPolicy, Protocol):
    """A policy that can also play many games at once."""

    def choose(self, records: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return an action of the player to act in each of N records, int64 (N,), drawn with a seed of its own."""
        raise NotImplementedError


def known_policy(spec: str, game: Game, options: Options, *, exact: bool = True) -> KnownPolicy | None:
    """Return the policy of an agent, or None if its distribution is not known.

    Known are `random`, policies of the game, networks of the kinds `ppo` and `zoo`, tabular policies, and searches
    limited by simulations: a budget in seconds does not repeat. Networks compute as the agent does. If `exact` is
    false, they compute in float32, which is twice as fast, and those of the kind `ppo` draw their actions if they have
    a policy: a path alone does not say that they should play the likeliest.

    Raises:
        AgentError, PolicyNotFoundError, MissingExtraError: the agent cannot be made.
    """
    kind = spec.partition(":")[0]
    if spec in game.engine.policy_names():
        return KernelPolicy(game, options, spec)
    if kind not in (*_NETWORKS, *SEARCHES, "tabular"):
        return None
    agent: Any = make_agent(spec, game, options)
    if kind in _NETWORKS and not exact:
        agent = agent.single_precision()
        agent.sample = agent.sample or (kind == "ppo" and agent.has_policy)
    if kind in _NETWORKS:
        return NetworkPolicy(game, options, agent)
    repeats = isinstance(agent, TabularAgent) or agent.simulations is not None
    return TurnPolicy(game, options, agent) if repeats else None


class KernelPolicy:
    """One of the game's own policies with its seed given, or a uniform choice for `random`."""

    def __init__(self, game: Game, options: Options, policy: str) -> None:
        self._game, self._options, self._policy = game, options, policy
        self._rng, self._legal = np.zeros(4, np.uint64), np.zeros(game.max_legal(options), np.int32)

    def probabilities(
        self, decks: Sequence[Sequence[int]] | np.ndarray, actions: Sequence[int], seed: int, decision: int
    ) -> np.ndarray:
        """Return the probabilities; see KnownPolicy."""
        records = replayed(self._game, self._options, decks, actions, [0] * len(decks))
        if self._policy == "random":
            mask, _ = self._game.decisions(self._options, records)
            result: np.ndarray = mask / mask.sum(1, keepdims=True)
            return result
        chosen = self.choose(records, np.full(len(records), derived_seed(seed, decision), np.int64))
        out = np.zeros((len(records), self._game.num_actions(self._options)))
        out[np.arange(len(records)), chosen] = 1
        return out

    def choose(self, records: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return actions; see ChoosingPolicy."""
        chosen = np.zeros(len(records), np.int64)
        self._game.engine.choices(self._policy)(records, seeds, self._rng, self._legal, chosen)
        return chosen


class NetworkPolicy:
    """A trained network: its probabilities if it samples, else its most likely action."""

    def __init__(self, game: Game, options: Options, agent: "PPOAgent | Any") -> None:
        self._game, self._options, self._agent = game, options, agent

    def probabilities(
        self, decks: Sequence[Sequence[int]] | np.ndarray, actions: Sequence[int], seed: int, decision: int
    ) -> np.ndarray:
        """Return the probabilities; see KnownPolicy."""
        log_probs = self._log_probs(self._agent, replayed(self._game, self._options, decks, actions, [0] * len(decks)))
        if self._agent.sample:
            probs: np.ndarray = np.exp(log_probs)
            probs /= probs.sum(1, keepdims=True)
            return probs
        likeliest = log_probs.argmax(1)
        chosen: np.ndarray = np.eye(log_probs.shape[1])[likeliest]
        return chosen

    @functools.cached_property
    def _fast(self) -> "PPOAgent | Any":
        return self._agent.single_precision()

    def choose(self, records: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return actions, computed in float32; see ChoosingPolicy."""
        log_probs = self._log_probs(self._fast, records)
        chosen: np.ndarray = drawn(log_probs, uniforms(seeds)) if self._agent.sample else log_probs.argmax(1)
        return chosen

    def _log_probs(self, agent: "PPOAgent | Any", records: np.ndarray) -> np.ndarray:
        mask, observation = self._game.decisions(agent.reads(self._game, self._options), records)
        found: np.ndarray = agent.log_probs(observation, mask)
        return found


def uniforms(seeds: np.ndarray) -> np.ndarray:
    """Return a number in [0, 1) for each of some seeds, float64 (N,), by SplitMix64."""
    numbers: np.ndarray = (_mix(seeds.astype(np.uint64) + _STEP) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return numbers


class TurnPolicy:
    """An agent with `probabilities(turn)`, asked one world at a time. Each decision of the agent is independent."""

    def __init__(self, game: Game, options: Options, agent: Any) -> None:
        self._game, self._options, self._agent = game, options, agent

    def probabilities(
        self, decks: Sequence[Sequence[int]] | np.ndarray, actions: Sequence[int], seed: int, decision: int
    ) -> np.ndarray:
        """Return the probabilities; see KnownPolicy."""
        out = np.zeros((len(decks), self._game.num_actions(self._options)))
        for row, deck in zip(out, decks, strict=True):
            state = self._game.state_type(self._game, self._options, seed=0, deck=list(deck))
            for action in actions:
                state.apply_unchecked(action)
            turn = Turn(state, seed, decision)
            row[turn.legal_actions] = self._agent.probabilities(turn)
        return out
