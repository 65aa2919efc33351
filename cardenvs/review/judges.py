"""Who judges a review: a policy of the game, a network, or any other agent plays out what players might have done."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.playouts import Decider, NetworkPlayouts, Play, Playouts, PolicyPlayouts
from cardenvs.agents.policy import PolicyAgent
from cardenvs.agents.search import SearchAgent
from cardenvs.agents.specs import is_guest, load_agent
from cardenvs.core.errors import AgentError, CardenvsError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State

_BUDGETS = ("simulations", "seconds", "depth")


class _Tries(Protocol):
    """How the plays that a review compares are tried."""

    def returns(self, state: State, plays: Sequence[Play], seed: int, rounds: int) -> np.ndarray:
        """Return float64 (rounds, len(plays)), the returns of the player to act; see `Judge.returns`."""
        raise NotImplementedError


@dataclass(frozen=True)
class Judge:
    """Who judges, and from which knowledge.

    Attributes:
        spec: the agent that plays out for everybody, as given.
        sees_all: whether it judges by the cards as they lay, not by what the player could know.
    """

    spec: str
    sees_all: bool
    _tries: _Tries

    def returns(self, state: State, plays: Sequence[Play], seed: int, rounds: int) -> np.ndarray:
        """Return float64 (rounds, len(plays)): the returns of the player to act after each play, played out.

        All plays of a round share a world and its luck. Without `sees_all`, the worlds are dealt from what the player
        knows, so the result is the same in every world that the player cannot tell from this one.
        """
        return self._tries.returns(state, plays, seed, rounds)


def judge_of(spec: str, game: Game, options: Options, sees_all: bool = False) -> Judge:
    """Return the judge that plays out by an agent.

    Args:
        spec: "search" plays out by the policy that the search agent would use, `search:network=...` by its network; a
            policy of the game and an agent with a network by themselves. Any other agent, such as `tabular:FILE`, needs
            whole histories: it can judge games whose deals can be listed, such as Kuhn and Leduc poker, and all games
            by the cards as they lay.
        game, options: what is reviewed.
        sees_all: judge by the cards as they lay.

    Raises:
        AgentError, PolicyNotFoundError, MissingExtraError: the agent cannot be made, is none of cardenvs, or cannot
            judge this game.
    """
    if is_guest(spec):
        raise AgentError(f"a review is judged by an agent of cardenvs, not by other code; got {spec!r}")
    budgets = [name for name in _BUDGETS if f"{name}=" in spec]
    if spec.partition(":")[0] == "search" and budgets:
        raise AgentError(f"a review tries plays in a number of worlds of its own; leave out {budgets[0]!r} in {spec!r}")
    agent = load_agent(spec, game, options)
    playouts = _playouts_of(agent)
    if sees_all:
        return Judge(spec, True, _Histories(agent, playouts, lambda state, seed: state))
    if playouts is not None:
        return Judge(spec, False, _Worlds(playouts))
    if not game.can_list_deals(**options.as_dict()):
        raise AgentError(
            f"{spec!r} needs whole histories, which cannot be listed in {game.name}; judge by search, "
            "search:network=..., a policy of the game, or a network (ppo:, zoo:), or by all cards"
        )
    return Judge(spec, False, _Histories(agent, None, _listed_history))


def _playouts_of(agent: Agent) -> Playouts | None:
    """Return how an agent plays out in positions without a history; None if it cannot."""
    if isinstance(agent, SearchAgent):
        return agent.playouts
    if isinstance(agent, PolicyAgent):
        return PolicyPlayouts(agent.policy)
    return NetworkPlayouts(cast(Decider, agent)) if hasattr(agent, "log_probs") else None


class _Worlds:
    """Plays are tried in worlds re-dealt from what the player knows."""

    def __init__(self, playouts: Playouts) -> None:
        self._playouts = playouts

    def returns(self, state: State, plays: Sequence[Play], seed: int, rounds: int) -> np.ndarray:
        """Return the returns of the player to act; see `Judge.returns`."""
        world = state.determinize(state.current_player, seed)
        return self._playouts.returns(world, plays, seed, rounds, 0, None)


class _Histories:
    """Plays are tried in whole games, which an agent plays to the end for all players, action by action."""

    def __init__(self, agent: Agent, playouts: Playouts | None, history: Callable[[State, int], State]) -> None:
        self._agent, self._history = agent, history
        self._policy = playouts.name if isinstance(playouts, PolicyPlayouts) else None
        self._act = playouts.own_action if isinstance(playouts, NetworkPlayouts) else agent.act

    def returns(self, state: State, plays: Sequence[Play], seed: int, rounds: int) -> np.ndarray:
        """Return the returns of the player to act; see `Judge.returns`."""
        player = state.current_player
        returns = np.zeros((rounds, len(plays)))
        for k in range(rounds):
            luck = derived_seed(seed, "world", k)
            dealt = self._history(state, luck)
            for column, play in enumerate(plays):
                returns[k, column] = self._played_out(dealt.clone(), play, luck)[player]
        return returns

    def _played_out(self, state: State, play: Play, seed: int) -> Sequence[float]:
        for action in play:
            state.apply(action)
        self._agent.reset(seed)
        decisions, last = [0] * state.num_players, -1
        while not state.is_terminal:
            player = state.current_player
            state.apply(self._action(state, seed, decisions[player], player == last))
            decisions[player] += 1
            last = player
        return state.returns

    def _action(self, state: State, seed: int, decision: int, goes_on: bool) -> int:
        if self._policy is not None:
            return state.policy_action(self._policy, derived_seed(seed, state.ply))
        legal = state.legal_actions()
        if len(legal) == 1:
            return legal[0]
        return self._act(Turn(state, derived_seed(seed, state.current_player), decision, goes_on))


def _listed_history(state: State, seed: int) -> State:
    """Return a game that the player to act cannot tell from `state`, drawn as often as its deal is dealt."""
    decks, weights = _consistent_deals(
        state.game, state.options, tuple(state.actions), state.information_state_key(state.current_player),
        state.current_player,
    )  # fmt: skip
    chosen = np.random.default_rng(seed).choice(len(decks), p=weights)
    return _played(state.game, state.options.as_dict(), decks[chosen], state.actions)


@functools.lru_cache(maxsize=64)
def _consistent_deals(
    game: Game, options: Options, actions: tuple[int, ...], key: str, player: int
) -> tuple[list[str], np.ndarray]:
    """Return the deals after which these actions look like `key` to a player, and their probabilities."""
    found: list[str] = []
    weights: list[float] = []
    for deck, probability in game.enumerate_deals(**options.as_dict()):
        try:
            other = _played(game, options.as_dict(), deck, actions)
        except CardenvsError:
            continue
        if other.information_state_key(player) == key:
            found.append(deck)
            weights.append(probability)
    return found, np.array(weights) / sum(weights)


def _played(game: Game, options: dict[str, Any], deck: str, actions: Sequence[int]) -> State:
    state = game.new_state(seed=0, deck=deck, **options)
    for action in actions:
        state.apply(action)
    return state
