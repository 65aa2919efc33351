"""Value functions: guesses of each player's return, with all dealt cards open, that never look into the deck.

A correction for luck compares the value of what was drawn with the values of what could have been drawn. It has a
mean of exactly 0 with any value function that does not know the true order of the deck; a better one only makes it
catch more of the luck.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from cardenvs.agents.known import ChoosingPolicy, KernelPolicy, NetworkPolicy, known_policy
from cardenvs.agents.specs import make_agent
from cardenvs.arena.match import Match
from cardenvs.core.errors import ArenaError
from cardenvs.core.events import NO_LOG
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.rng import SEED_MASK

if TYPE_CHECKING:
    from cardenvs.agents.ppo import PPOAgent

PLAYOUTS, MOST_PLAYOUTS = 8, 10_000  # of each outcome of a draw
_STEP = np.uint64(0xD1342543DE82EF95)  # between seeds


class Value(Protocol):
    """A value function of one game.

    Attributes:
        name: in reports.
        shuffles: number of times that the rest of the deck is shuffled for a value, which is the mean over them. 1 if
            values do not depend on the rest of the deck.
    """

    name: str
    shuffles: int

    def of(self, states: np.ndarray, seating: Sequence[int]) -> np.ndarray:
        """Return the values of positions, float64 (N, players).

        Args:
            states: records (N,), which may be overwritten. Random numbers come from their seeds.
            seating: the number of the agent in each seat.
        """
        raise NotImplementedError


class WorthValue(Value):
    """What the game's own `worth` says."""

    def __init__(self, game: Game, options: Options) -> None:
        """Create the value.

        Raises:
            ArenaError: the game has none.
        """
        if game.worth is None:
            raise ArenaError(f"{game.name} has no worth of its own; use playouts or a network as the value")
        self.name, self.shuffles = "worth", 1
        self._game, self._players = game, options.num_players
        self._rng = np.zeros(4, np.uint64)

    def of(self, states: np.ndarray, seating: Sequence[int]) -> np.ndarray:
        """Return the values; see Value."""
        out = np.zeros((len(states), self._players))
        self._game.engine.worths(states, self._rng, out)
        return out


class PlayoutValue(Value):
    """The mean of playouts in which all players follow one policy."""

    def __init__(self, game: Game, options: Options, policy: str, shuffles: int) -> None:
        """Create the value.

        Raises:
            PolicyNotFoundError: the game has no such policy.
        """
        game.engine.policy(policy)
        self.name, self.shuffles = f"{policy} playouts", shuffles
        self._game, self._players, self._policy = game, options.num_players, policy
        self._most_plies = game.max_length(options)
        self._rng, self._legal = np.zeros(4, np.uint64), np.zeros(game.max_legal(options), np.int32)

    def of(self, states: np.ndarray, seating: Sequence[int]) -> np.ndarray:
        """Return the values; see Value."""
        out = np.zeros((len(states), self._players))
        self._game.engine.playouts(self._policy)(states, self._rng, self._legal, self._most_plies, NO_LOG, out)
        return out


class AgentsValue(Value):
    """The mean of playouts in which the match's own agents play on.

    Those that choose one turn at a time, such as search, are replaced by the policy of the game's playouts.
    """

    def __init__(self, match: Match, shuffles: int) -> None:
        """Create the value.

        Raises:
            AgentError, PolicyNotFoundError, MissingExtraError: an agent cannot be made.
        """
        self.name, self.shuffles = "the agents' playouts", shuffles
        self._game, self._options = match.game, match.options
        self._policies = [self._policy(entry.spec, entry.is_guest) for entry in match.entries]

    def _policy(self, spec: str, is_guest: bool) -> ChoosingPolicy:
        game, options = self._game, self._options
        known = None if is_guest else known_policy(spec, game, options)
        if isinstance(known, KernelPolicy | NetworkPolicy):
            return known
        return KernelPolicy(game, options, game.playout_policy)

    def of(self, states: np.ndarray, seating: Sequence[int]) -> np.ndarray:
        """Return the values; see Value."""
        agents, ply = np.array(seating), 0
        while len(running := np.flatnonzero(states["terminal"] == 0)):
            seeds = _mixed(states["seed"][running], ply)
            acting = agents[states["current_player"][running]]
            for agent in np.unique(acting):
                rows = running[acting == agent]
                actions = self._policies[agent].choose(states[rows], seeds[acting == agent])
                self._game.engine.advance_rows(states, rows, actions, NO_LOG)
            ply += 1
        found: np.ndarray = states["returns"][:, : self._options.num_players].astype(np.float64)
        return found


def _mixed(seeds: np.ndarray, ply: int) -> np.ndarray:
    """Return other seeds, int64 (N,), for a ply of playouts."""
    mixed = (seeds.astype(np.uint64) + np.array(ply + 1, np.uint64) * _STEP) & np.uint64(SEED_MASK)
    result: np.ndarray = mixed.astype(np.int64)
    return result


class NetworkValue(Value):
    """The value head of a trained network for the player to act, with zero-sum results for two players."""

    def __init__(self, game: Game, options: Options, agent: "PPOAgent", name: str) -> None:
        """Create the value of a network; see `cardenvs.agents.ppo`."""
        self.name, self.shuffles = name, 1
        self._game, self._options, self._agent = game, options, agent

    def of(self, states: np.ndarray, seating: Sequence[int]) -> np.ndarray:
        """Return the values; see Value."""
        players = self._options.num_players
        out = states["returns"][:, :players].copy()
        rows = np.flatnonzero(states["terminal"] == 0)
        if len(rows):
            asked = states[rows]
            _, seen = self._game.decisions(self._agent.reads(self._game, self._options), asked)
            # many positions look the same to the player to act
            numbers: dict[bytes, int] = {}
            which = [numbers.setdefault(row.tobytes(), len(numbers)) for row in seen]
            first = np.unique(which, return_index=True)[1]
            masks = np.ones((len(first), self._game.num_actions(self._options)), np.int8)
            own = self._agent.evaluate(seen[first], masks)[1][which]
            actor = asked["current_player"].astype(np.int64)
            out[rows] -= (own / (players - 1))[:, None]
            out[rows, actor] += own + own / (players - 1)
        return out


def value_of(spec: str, match: Match) -> Value:
    """Return the value function of a spec.

    Specs are "worth" (the game's own, if it has one), "playouts" or "playouts:POLICY" (the mean of playouts by the
    game's default policy or another one), "agents" or "agents:PLAYOUTS" (the same by the match's own agents), a network
    such as "zoo:GAME/NAME" or "ppo:PATH" (its value head), and "auto": worth if there is one, else playouts.

    Raises:
        ArenaError: the spec is unknown, or does not fit the game.
        AgentError, PolicyNotFoundError, MissingExtraError, FormatError: the value cannot be made.
    """
    game, options = match.game, match.options
    kind, _, argument = spec.partition(":")
    if spec == "auto":
        spec = kind = "worth" if game.worth is not None else "playouts"
    if spec == "worth":
        return WorthValue(game, options)
    if kind == "playouts":
        return PlayoutValue(game, options, argument or game.playout_policy, PLAYOUTS)
    if kind == "agents":
        return AgentsValue(match, _number_of(argument or str(PLAYOUTS)))
    if kind in ("zoo", "ppo"):
        agent: Any = make_agent(spec, game, options)
        return NetworkValue(game, options, agent, spec)
    raise ArenaError(
        "a value is auto, worth, playouts, playouts:POLICY, agents, agents:PLAYOUTS, or a network as zoo:GAME/NAME or "
        f"ppo:PATH; got {spec!r}"
    )


def _number_of(playouts: str) -> int:
    if not (playouts.isascii() and playouts.isdecimal() and 1 <= int(playouts[:9]) <= MOST_PLAYOUTS):
        raise ArenaError(f"agents takes a number of playouts, 1 to {MOST_PLAYOUTS:,}, as in agents:8; got {playouts!r}")
    return int(playouts)
