"""Evaluation on duplicate deals."""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Self

import numpy as np
import torch

from cardenvs.agents.network import Network, log_policy
from cardenvs.core.codes import HOLD
from cardenvs.core.rng import derived_seed
from cardenvs.envs.batch import Batch
from cardenvs.envs.vector import VectorEnv
from cardenvs.training.ppo.collect import columns, is_listed, sample, shortened
from cardenvs.training.ppo.opponents import Opponent, PolicyOpponent

_NO_SEAT = -2  # no player's number
_Choice = Callable[[Batch, np.ndarray, int], np.ndarray]  # of a batch, rows and a step: the actions in these rows


@dataclasses.dataclass(frozen=True)
class Score:
    """Mean return a deal against a policy in all other seats, with half its 95% interval, over duplicate deals.

    In games for one player: how much more the network gets than the policy on the same deals.

    Attributes:
        mean, half: of the network.
        chance: mean of random play in its place, on the same deals.
        gain_half: half the 95% interval of mean - chance.
        deals: how many.
    """

    mean: float
    half: float
    chance: float
    gain_half: float
    deals: int

    @classmethod
    def of(cls, returns: np.ndarray, chance: np.ndarray) -> Self:
        """The score of returns by deal, (N,), where random play gets `chance`, (N,) or (1,)."""
        return cls(float(returns.mean()), _half(returns), float(chance.mean()), _half(returns - chance), len(returns))

    @property
    def verdict(self) -> str:
        """What the interval says: "beats", "loses to" or "is level with" the policy."""
        if self.mean > self.half:
            return "beats"
        return "loses to" if self.mean < -self.half else "is level with"

    @property
    def is_above_chance(self) -> bool:
        """Whether the network does better than random play in its place: the interval of the difference is above 0."""
        return self.mean - self.chance > self.gain_half

    def __str__(self) -> str:
        """As in "+12.34 ± 0.56"."""
        return f"{self.mean:+.2f} ± {self.half:.2f}"


def _half(values: np.ndarray) -> float:
    """Half the 95% interval of the mean of values (N,)."""
    return float(1.96 * values.std(ddof=1) / math.sqrt(len(values)))


class Evaluation:
    """A fixed set of duplicate deals, on which networks are compared with policies of the game.

    Attributes:
        on_games: called with the number of games that have just ended, again and again while a score is computed.
    """

    def __init__(
        self, vec: VectorEnv, seed: int, sampled: bool = False, opponents: dict[str, Opponent] | None = None
    ) -> None:
        """Prepare an evaluation.

        Args:
            vec: its num_envs is the number of deals.
            seed: of the deals, the opponents and drawn actions.
            sampled: draw the network's actions instead of taking the most likely ones.
            opponents: by name, besides the policies of the game.
        """
        self._vec, self._seed, self._sampled = vec, seed, sampled
        self._opponents = opponents or {}
        self._chance: dict[str, np.ndarray] = {}
        self.on_games: Callable[[int], None] = lambda ended: None

    def score(self, network: Network, opponent: str) -> Score:
        """Play each deal once from every seat, an opponent in the other seats.

        In games for one player, the opponent plays the same deals, and its returns are subtracted.

        Args:
            network: the player.
            opponent: "random", one of `game.policies`, or the name of another opponent.
        """
        return Score.of(self.returns(network, opponent, self._sampled), self._chance_against(opponent))

    def num_games(self, opponent: str) -> int:
        """Return how many games `score` will play: fewer once it is known what random play gets."""
        once = self._vec.num_envs * max(self._vec.num_players, 2)
        return once if self._is_chance_known(opponent) else 2 * once

    def returns(self, network: Network, opponent: str, sampled: bool) -> np.ndarray:
        """Play as in `score`. Returns what the network gets by deal, (N,), means over the seats."""
        device = network.scale.device
        generator = torch.Generator(device).manual_seed(self._seed) if sampled else None
        return self._returns(lambda batch, rows, step: _choose(network, batch, rows, generator), opponent)

    def own_returns(self, opponent: str) -> np.ndarray:
        """Return what the opponent gets in the network's place, (N,), or (1,) where the rules say it."""
        total, players = self._vec.game.returns(self._vec.options).total, self._vec.num_players
        if total is not None:
            return np.full(1, total / players)
        return self._returns(functools.partial(self._follow, self._opponent(opponent)), opponent)

    def _opponent(self, name: str) -> Opponent:
        return self._opponents.get(name) or PolicyOpponent(name)

    def _chance_against(self, opponent: str) -> np.ndarray:
        """What random play gets by deal, (N,); (1,) where symmetry says what it gets."""
        if opponent not in self._chance:
            seed = derived_seed(self._seed, "chance")
            follow = functools.partial(self._follow, PolicyOpponent("random"), seed=seed)
            is_known = self._is_chance_known(opponent)
            self._chance[opponent] = np.zeros(1) if is_known else self._returns(follow, opponent)
        return self._chance[opponent]

    def _is_chance_known(self, opponent: str) -> bool:
        total = self._vec.game.returns(self._vec.options).total
        is_zero = opponent == "random" and (total == 0 or self._vec.num_players == 1)
        return is_zero or opponent in self._chance

    def _follow(
        self, player: Opponent, batch: Batch, rows: np.ndarray, step: int, seed: int | None = None
    ) -> np.ndarray:
        return player.actions(self._vec, rows, self._seed if seed is None else seed, step)

    def _returns(self, choose: _Choice, opponent: str) -> np.ndarray:
        """Returns by deal, (N,), means over the seats."""
        n = self._vec.num_players
        returns = np.sum([self._play(choose, seat, opponent) for seat in range(n)], axis=0) / n
        return returns - self._play(choose, _NO_SEAT, opponent) if n == 1 else returns

    @torch.inference_mode()
    def _play(self, choose: _Choice, seat: int, opponent: str) -> np.ndarray:
        """Play a game in each environment, `choose` in `seat` unless it is _NO_SEAT, an opponent in the others.

        Returns:
            returns of the player in `seat`, player 0 for _NO_SEAT, float64 (N,).
        """
        vec, step, others_play = self._vec, 0, self._opponent(opponent)
        returns = np.zeros(vec.num_envs)
        batch = vec.reset(self._seed)
        running = np.ones(vec.num_envs, np.bool_)
        while running.any():
            actions = np.full(vec.num_envs, HOLD, np.int64)
            is_mine = batch.current_player == seat
            others, mine = np.flatnonzero(running & ~is_mine), np.flatnonzero(running & is_mine)
            actions[others] = others_play.actions(vec, others, self._seed, step)
            actions[mine] = choose(batch, mine, step)
            batch = vec.step(actions)
            ended = running & (batch.terminated | batch.truncated)
            returns[ended] = batch.episode_returns[ended, max(seat, 0)]
            running &= ~ended
            self.on_games(int(ended.sum()))
            step += 1
        return returns


def _choose(network: Network, batch: Batch, rows: np.ndarray, generator: torch.Generator | None) -> np.ndarray:
    """Return the network's actions in the environments `rows`."""
    device = network.scale.device
    observation, num_legal = (
        torch.from_numpy(array[rows]).to(device) for array in (batch.observation, batch.num_legal)
    )
    legal = columns(batch, rows).to(device)
    legal = shortened(legal, num_legal) if len(rows) else legal
    listed = is_listed(legal, num_legal)
    logits, _ = network(network.features(observation), legal.long(), listed)
    log_probs = log_policy(logits, listed)
    choice = log_probs.argmax(-1) if generator is None else sample(log_probs, generator)
    return legal.gather(1, choice.unsqueeze(1)).squeeze(1).cpu().numpy()
