"""How a search plays out: by a policy of the game in compiled code, or by a network, in many worlds at once."""

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np

from cardenvs.agents.base import Turn
from cardenvs.agents.worlds import positions_after
from cardenvs.core.events import NO_LOG
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State

Play = tuple[int, ...]

_MOST_WORLDS = 2048  # in which a network decides at once
_SEED_RANGE = 2.0**63


class Playouts(Protocol):
    """Who plays after the actions that a search compares.

    Attributes:
        name: name of the policy, or "network".
        is_policy: whether its own choice is worth keeping, as that of a random policy is not.
    """

    name: str
    is_policy: bool

    def own_action(self, turn: Turn) -> int:
        """Return what it would choose at a turn."""
        raise NotImplementedError

    def action(self, world: State, seed: int) -> int:
        """Return what it would choose in a world of the searching player."""
        raise NotImplementedError

    def returns(
        self, world: State, plays: Sequence[Play], seed: int, rounds: int, first_round: int, depth: int | None
    ) -> np.ndarray:
        """Return float64 (rounds, len(plays)); see State.simulate."""
        raise NotImplementedError

    def returns_in(
        self, world: State, worlds: np.ndarray, plays: Sequence[Play], seed: int, first_round: int, depth: int | None
    ) -> np.ndarray:
        """Return the same in given worlds, one a round, records (rounds,), of the player to act in `world`."""
        raise NotImplementedError


class PolicyPlayouts:
    """Playouts by "random" or a policy of the game."""

    def __init__(self, policy: str) -> None:
        self.name, self.is_policy = policy, policy != "random"

    def own_action(self, turn: Turn) -> int:
        """Return what the policy chooses at a turn."""
        return turn.policy_action(self.name)

    def action(self, world: State, seed: int) -> int:
        """Return what the policy chooses in a world."""
        return world.policy_action(self.name, seed)

    def returns(
        self, world: State, plays: Sequence[Play], seed: int, rounds: int, first_round: int, depth: int | None
    ) -> np.ndarray:
        """Return the returns of the player to act; see State.simulate."""
        return world.simulate(plays, seed, rounds, first_round=first_round, policy=self.name, max_plies=depth)

    def returns_in(
        self, world: State, worlds: np.ndarray, plays: Sequence[Play], seed: int, first_round: int, depth: int | None
    ) -> np.ndarray:
        """Return the returns of the player to act in given worlds; the policy's luck comes from their seeds."""
        game, options = world.game, world.options
        records = positions_after(game, worlds, plays)
        returns = np.zeros((len(records), options.num_players))
        rng, legal = np.zeros(4, np.uint64), np.zeros(game.max_legal(options), np.int32)
        plies = game.max_length(options) if depth is None else depth
        game.engine.playouts(self.name)(records, rng, legal, plies, NO_LOG, returns)
        return returns[:, world.current_player].reshape(len(worlds), len(plays))


class Decider(Protocol):
    """An agent with a network that scores actions.

    Attributes:
        sample: whether it draws its actions instead of taking the likeliest.
    """

    sample: bool

    def act(self, turn: Turn) -> int:
        """Choose one of `turn.legal_actions`."""
        raise NotImplementedError

    def single_precision(self) -> Self:
        """Return a copy that computes in float32."""
        raise NotImplementedError

    def reads(self, game: Game, options: Options) -> Options:
        """Return the options whose observations it reads where `options` are played."""
        raise NotImplementedError

    def log_probs(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return log-probabilities (N, A) for observations (N, D) and masks (N, A), -inf for illegal actions."""
        raise NotImplementedError

    def evaluate(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities (N, A) and the expected further returns (N,) of the players to act."""
        raise NotImplementedError


class NetworkPlayouts:
    """Playouts by a network, for all players, in up to 2,048 worlds at once, computed in float32.

    With a depth, a playout ends at the searching player's first choice after that many plies, and the network's value
    of the position stands for the rest, as in D. Silver et al., "Mastering the game of Go without human knowledge"
    (2017). Values of other seats would not do: they say what the game is worth to others. Nor would values before
    forced actions, which training may have skipped.
    """

    name, is_policy = "network", True

    def __init__(self, network: Decider) -> None:
        self._network, self._fast = network, network.single_precision()

    def own_action(self, turn: Turn) -> int:
        """Return what the network chooses at a turn."""
        return self._network.act(turn)

    def action(self, world: State, seed: int) -> int:
        """Return what the network chooses in a world."""
        options = self._network.reads(world.game, world.options)
        observation = world.observation(world.current_player, options)[None]
        luck = np.array([_uniform(seed)]) if self._network.sample else None
        return int(self._chosen(observation, world.action_mask()[None], luck)[0])

    def returns(
        self, world: State, plays: Sequence[Play], seed: int, rounds: int, first_round: int, depth: int | None
    ) -> np.ndarray:
        """Return the returns of the player to act; as State.simulate, all plays of a round share worlds and luck."""
        together = max(1, _MOST_WORLDS // len(plays))
        last = first_round + rounds
        parts = [
            self._played(
                world, world.worlds_after(plays, seed, min(together, last - first), first_round=first), len(plays),
                seed, first, depth,
            )
            for first in range(first_round, last, together)
        ]  # fmt: skip
        return np.concatenate(parts) if parts else np.zeros((0, len(plays)))

    def returns_in(
        self, world: State, worlds: np.ndarray, plays: Sequence[Play], seed: int, first_round: int, depth: int | None
    ) -> np.ndarray:
        """Return the returns of the player to act in given worlds."""
        together = max(1, _MOST_WORLDS // len(plays))
        parts = [
            self._played(
                world, positions_after(world.game, worlds[first : first + together], plays), len(plays),
                seed, first_round + first, depth,
            )
            for first in range(0, len(worlds), together)
        ]  # fmt: skip
        return np.concatenate(parts) if parts else np.zeros((0, len(plays)))

    def _played(
        self, world: State, records: np.ndarray, num_plays: int, seed: int, first: int, depth: int | None
    ) -> np.ndarray:
        """Play the positions after the plays of some rounds to the end, and return the returns."""
        game, options, player = world.game, world.options, world.current_player
        rounds, read = len(records) // num_plays, self._network.reads(game, options)
        row_round = np.repeat(np.arange(rounds), num_plays)
        running, expected = np.flatnonzero(records["terminal"] == 0), np.zeros(len(records))
        for ply in range(game.max_length(options)):
            masks, seen = game.decisions(read, records[running])
            if depth is not None and ply >= depth:
                is_cut = (records["current_player"][running] == player) & (masks.sum(1) > 1)
                if is_cut.any():
                    expected[running[is_cut]] = self._fast.evaluate(seen[is_cut], masks[is_cut])[1]
                    running, masks, seen = running[~is_cut], masks[~is_cut], seen[~is_cut]
            if not len(running):
                break
            luck = np.array([_uniform(seed, first + k, ply) for k in range(rounds)]) if self._network.sample else None
            actions = self._chosen(seen, masks, luck[row_round[running]] if luck is not None else None)
            game.engine.advance_rows(records, running, actions, NO_LOG)
            running = running[records["terminal"][running] == 0]
        returns: np.ndarray = np.asarray(records["returns"][:, player], np.float64) + expected
        return returns.reshape(rounds, num_plays)

    def _chosen(self, seen: np.ndarray, masks: np.ndarray, luck: np.ndarray | None) -> np.ndarray:
        """Return an action for each row, int64 (N,): drawn by numbers from 0 to 1, or the likeliest without `luck`."""
        log_probs = self._fast.log_probs(seen, masks)
        actions: np.ndarray = log_probs.argmax(1) if luck is None else drawn(log_probs, luck)
        return actions


def drawn(log_probs: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Return an action for each row of log-probabilities (N, A), int64 (N,), drawn by numbers from 0 to 1, (N,)."""
    total = np.exp(log_probs).cumsum(1)
    found = (total <= luck[:, None] * total[:, -1:]).sum(1)
    last_legal = log_probs.shape[1] - 1 - (log_probs[:, ::-1] > -np.inf).argmax(1)
    actions: np.ndarray = np.minimum(found, last_legal)
    return actions


def _uniform(*key: int) -> float:
    seed, *rest = key
    return derived_seed(seed, "playout", *rest) / _SEED_RANGE
