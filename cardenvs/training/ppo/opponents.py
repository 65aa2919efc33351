"""Frozen opponents of a network: policies of the game, trained networks, and other agents of cardenvs."""

import weakref
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cardenvs.agents.base import Agent, BatchAgent
from cardenvs.agents.policy import PolicyAgent
from cardenvs.agents.ppo import PPOAgent
from cardenvs.agents.seating import Seat, checked_choice
from cardenvs.agents.specs import is_guest, make_agent
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State
from cardenvs.envs.vector import VectorEnv


class Opponent(Protocol):
    """Chooses in many environments at once."""

    is_batched: bool  # whether it keeps pace with batched environments; False if it thinks about each turn by itself

    def actions(self, vec: VectorEnv, rows: np.ndarray, seed: int, step: int) -> np.ndarray:
        """Return legal actions, (M,) integers, of the players to act in the environments `rows` (M,).

        They depend only on the episodes, rows, `seed` and `step`, so a resumed run meets the same opponent.
        """


@dataclass(frozen=True)
class PolicyOpponent:
    """A policy of the game, by name."""

    name: str
    is_batched = True

    def actions(self, vec: VectorEnv, rows: np.ndarray, seed: int, step: int) -> np.ndarray:
        """See `Opponent`."""
        return vec.policy_actions(self.name, rows, seed, step)


@dataclass(frozen=True)
class NetworkOpponent:
    """A trained network as it plays in matches: in float64, greedy or sampled."""

    agent: PPOAgent
    is_batched = True

    def actions(self, vec: VectorEnv, rows: np.ndarray, seed: int, step: int) -> np.ndarray:
        """See `Opponent`."""
        batch = vec.batch
        assert batch.legal_actions is not None  # the batch was made with legal_lists=True
        mask = np.zeros((len(rows), vec.num_actions + 1), np.bool_)
        np.put_along_axis(mask, batch.legal_actions[rows].astype(np.int64), True, axis=1)  # -1 marks the last column
        log_probs = self.agent.log_probs(batch.observation[rows], mask[:, :-1])
        if self.agent.sample:
            log_probs += np.random.default_rng(derived_seed(seed, "network", step)).gumbel(size=log_probs.shape)
        best: np.ndarray = log_probs.argmax(-1)
        return best


@dataclass
class _Game:
    """An episode of an environment as a State, and the agent in all its seats."""

    state: State
    seats: list[Seat]

    def follow(self, actions: list[int]) -> None:
        """Apply the actions of the episode that are new."""
        for action in actions[self.state.ply :]:
            self.seats[self.state.current_player].decided(self.state)
            self.state.apply(action)


class TurnOpponent:
    """Any other agent of cardenvs, which chooses one turn at a time. It gets the full history, which a batch lacks."""

    is_batched = False

    def __init__(self, agent: Agent) -> None:
        """Wrap an agent of cardenvs that keeps no state between turns."""
        self._agent = agent
        self._games: weakref.WeakKeyDictionary[VectorEnv, dict[int, _Game]] = weakref.WeakKeyDictionary()

    def actions(self, vec: VectorEnv, rows: np.ndarray, seed: int, step: int) -> np.ndarray:
        """See `Opponent`."""
        games = [self._game(vec, int(row), seed) for row in rows]
        turns = [game.seats[game.state.current_player].turn(game.state) for game in games]
        if isinstance(self._agent, BatchAgent):
            chosen = self._agent.act_batch(turns)
        else:
            chosen = [self._agent.act(turn) for turn in turns]
        pairs = zip(games, chosen, strict=True)
        return np.array([checked_choice(game.state, action) for game, action in pairs], np.int64)

    def _game(self, vec: VectorEnv, row: int, seed: int) -> _Game:
        games = self._games.setdefault(vec, {})
        (episode, actions), game = vec.running_episode(row), games.get(row)
        if game is None or game.state.seed != episode or game.state.actions != actions[: game.state.ply]:
            state = vec.game.state_type(vec.game, vec.options, seed=episode)
            own = derived_seed(seed, "agent", episode)
            seeds = [derived_seed(own, player) for player in range(vec.num_players)]
            seats = [Seat(self._agent, player, agent_seed, guest=False) for player, agent_seed in enumerate(seeds)]
            game = games[row] = _Game(state, seats)
        game.follow(actions)
        return game


def make_opponent(spec: str, game: Game, options: Options) -> Opponent:
    """Return the opponent of a spec (cardenvs.agents.specs).

    Raises:
        AgentError: unknown agent, or a guest, which plays one game at a time in a process of its own.
        FormatError: the agent's file does not fit the game.
    """
    if is_guest(spec):
        raise AgentError(
            f"{spec} has code from outside cardenvs and plays one game at a time, too slowly to learn against; take a "
            "policy of the game, or an agent of the kinds ppo, zoo, tabular, search or ismcts"
        )
    agent = make_agent(spec, game, options)
    if isinstance(agent, PolicyAgent):
        return PolicyOpponent(agent.policy)
    if isinstance(agent, PPOAgent) and agent.reads(game, options) == options:
        return NetworkOpponent(agent)
    return TurnOpponent(agent)
