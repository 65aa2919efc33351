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
from cardenvs.core.returns import Returns
from cardenvs.core.rng import derived_seed
from cardenvs.envs.batch import Batch
from cardenvs.envs.vector import VectorEnv
from cardenvs.training.ppo.collect import columns, is_listed, sample, shortened
from cardenvs.training.ppo.opponents import Opponent, PolicyOpponent

_NO_SEAT, _EVERY_SEAT = -2, -3  # no player's numbers
_Choice = Callable[[Batch, np.ndarray, int], np.ndarray]  # from a batch, rows and a step to the actions in these rows


@dataclasses.dataclass(frozen=True)
class Score:
    """How much more the network gets per duplicate deal than a policy in its place, which has all other seats.

    Where returns sum to zero, that is the network's mean return. In a cooperative game, each is in all seats.
    """

    mean: float  # of the network
    half: float  # half the 95% interval of the mean
    chance: float  # the same of random play in place of the network, on the same deals
    gain_half: float  # half the 95% interval of mean - chance
    deals: int  # number of deals

    @classmethod
    def of(cls, returns: np.ndarray, chance: np.ndarray) -> Self:
        """Return the score of a lead by deal, (N,), where random play has the lead `chance`, (N,) or (1,)."""
        return cls(float(returns.mean()), _half(returns), float(chance.mean()), _half(returns - chance), len(returns))

    @property
    def verdict(self) -> str:
        """What the interval shows: "beats", "loses to" or "is level with" the policy."""
        if self.mean > self.half:
            return "beats"
        return "loses to" if self.mean < -self.half else "is level with"

    @property
    def is_above_chance(self) -> bool:
        """Whether the network beats random play in its place: the interval of the difference is above 0."""
        return self.mean - self.chance > self.gain_half

    def __str__(self) -> str:
        """As in "+12.34 ± 0.56"."""
        return f"{self.mean:+.2f} ± {self.half:.2f}"


def _half(values: np.ndarray) -> float:
    """Return half the 95% interval of the mean of values (N,)."""
    return float(1.96 * values.std(ddof=1) / math.sqrt(len(values)))


class Evaluation:
    """A fixed set of duplicate deals, on which networks are compared with policies of the game."""

    def __init__(
        self, vec: VectorEnv, seed: int, sampled: bool = False, opponents: dict[str, Opponent] | None = None,
        threshold: float = 0.0,
    ) -> None:  # fmt: skip
        """Prepare an evaluation; the num_envs of `vec` is the number of deals, and `seed` is for deals and choices.

        `sampled` samples the network's actions instead of taking the most likely ones, but none with a
        probability below `threshold`. `opponents`, by name, come on top of the policies of the game.
        """
        self._vec, self._seed, self._sampled, self._threshold = vec, seed, sampled, threshold
        self._opponents = opponents or {}
        self._seats = [_EVERY_SEAT] if self._rewards.cooperative else [*range(vec.num_players)]
        self._own: dict[str, np.ndarray] = {}
        self._chance: dict[str, np.ndarray] = {}
        # called with the number of games that have just ended, repeatedly while a score is computed
        self.on_games: Callable[[int], None] = lambda ended: None

    @property
    def _rewards(self) -> Returns:
        return self._vec.game.returns(self._vec.options)

    def score(self, network: Network, opponent: str) -> Score:
        """Play each deal once from every seat, with an opponent in the other seats, and return the score.

        In a cooperative game the network has all seats, and is compared with the opponent in all seats.

        The opponent is "random", one of `game.policies`, or another by name.
        """
        returns = self.returns(network, opponent, self._sampled)
        return Score.of(returns - self._own_returns(opponent), self._chance_against(opponent))

    def num_games(self, opponent: str) -> int:
        """Return how many games `score` will play: fewer once the returns of the others are known."""
        once = self._vec.num_envs * (2 if self._vec.num_players == 1 else len(self._seats))
        return once * (1 + (not self._is_own_known(opponent)) + (not self._is_chance_known(opponent)))

    def returns(self, network: Network, opponent: str, sampled: bool) -> np.ndarray:
        """Play as in `score`. Returns the network's returns by deal, (N,), means over the seats."""
        device = network.scale.device
        generator = torch.Generator(device).manual_seed(self._seed) if sampled else None
        return self._returns(
            lambda batch, rows, step: _choose(network, batch, rows, generator, self._threshold), opponent
        )

    def own_returns(self, opponent: str) -> np.ndarray:
        """Return what the opponent gets in place of the network, (N,), or (1,) where the rules determine it."""
        total, players = self._rewards.total, self._vec.num_players
        if players == 1:  # from whose returns it is subtracted
            return np.zeros(1)
        if total is not None:
            return np.full(1, total / players)
        return self._returns(functools.partial(self._follow, self._opponent(opponent)), opponent)

    def _own_returns(self, opponent: str) -> np.ndarray:
        if opponent not in self._own:
            self._own[opponent] = self.own_returns(opponent)
        return self._own[opponent]

    def _is_own_known(self, opponent: str) -> bool:
        total = self._rewards.total
        return total is not None or self._vec.num_players == 1 or opponent in self._own

    def _opponent(self, name: str) -> Opponent:
        return self._opponents.get(name) or PolicyOpponent(name)

    def _chance_against(self, opponent: str) -> np.ndarray:
        """Return the lead of random play by deal, (N,), or (1,) where symmetry determines it."""
        if self._is_chance_known(opponent):
            return self._chance.get(opponent, np.zeros(1))
        seed = derived_seed(self._seed, "chance")
        follow = functools.partial(self._follow, PolicyOpponent("random"), seed=seed)
        self._chance[opponent] = self._returns(follow, opponent) - self._own_returns(opponent)
        return self._chance[opponent]

    def _is_chance_known(self, opponent: str) -> bool:
        return opponent == "random" or opponent in self._chance

    def _follow(
        self, player: Opponent, batch: Batch, rows: np.ndarray, step: int, seed: int | None = None
    ) -> np.ndarray:
        return player.actions(self._vec, rows, self._seed if seed is None else seed, step)

    def _returns(self, choose: _Choice, opponent: str) -> np.ndarray:
        """Return the returns by deal, (N,), means over the seats."""
        played = [self._play(choose, seat, opponent) for seat in self._seats]
        returns: np.ndarray = np.sum(played, axis=0) / len(played)
        if self._vec.num_players == 1:
            returns -= self._play(choose, _NO_SEAT, opponent)
        return returns

    @torch.inference_mode()
    def _play(self, choose: _Choice, seat: int, opponent: str) -> np.ndarray:
        """Play a game in each environment: `choose` in `seat`, and an opponent in the others.

        With _NO_SEAT the opponent has all seats, with _EVERY_SEAT it has none.

        Returns:
            float64 (N,), returns of the player in `seat`; otherwise of player 0.
        """
        vec, step, others_play = self._vec, 0, self._opponent(opponent)
        returns = np.zeros(vec.num_envs)
        batch = vec.reset(self._seed)
        running = np.ones(vec.num_envs, np.bool_)
        while running.any():
            actions = np.full(vec.num_envs, HOLD, np.int64)
            is_mine = (batch.current_player == seat) | (seat == _EVERY_SEAT)
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


def _choose(
    network: Network, batch: Batch, rows: np.ndarray, generator: torch.Generator | None, threshold: float
) -> np.ndarray:
    """Return the network's actions in the environments `rows`."""
    device = network.scale.device
    observation, num_legal = (
        torch.from_numpy(array[rows]).to(device) for array in (batch.observation, batch.num_legal)
    )
    legal = columns(batch, rows).to(device)
    legal = shortened(legal, num_legal) if len(rows) else legal
    listed = is_listed(legal, num_legal)
    logits, _ = network(network.features(observation), legal.long(), listed)
    log_probs = log_policy(logits, listed, threshold)
    choice = log_probs.argmax(-1) if generator is None else sample(log_probs, generator)
    return legal.gather(1, choice.unsqueeze(1)).squeeze(1).cpu().numpy()


def meaning(scores: dict[str, Score], returns: Returns) -> str:
    """Return what the final scores mean, in a sentence or two."""
    by_verdict: dict[str, list[str]] = {}
    for name, score in scores.items():
        by_verdict.setdefault(score.verdict, []).append(name)
    story = "; it ".join(f"{verdict} {' and '.join(names)}" for verdict, names in by_verdict.items())
    unit = returns.unit
    if returns.total == 0:
        what = f"A score is the policy's mean result per deal, in {unit}, against an opponent in all other seats"
    elif returns.cooperative:
        what = f"A score is how much more the policy gets per deal in all seats than the opponent does, in {unit}"
    else:
        what = f"A score is how much more the policy gets per deal than the opponent in its place, in {unit}"
    return f"{what}, ± half its 95% interval. The policy {story}."


def warning(scores: dict[str, Score]) -> str | None:
    """Return a warning if the policy does no better than random play in its place; else None."""
    level = [
        f"{score} against {name}, where random play gets {score.chance:+.2f}"
        for name, score in scores.items()
        if not score.is_above_chance
    ]
    if not level:
        return None
    return (
        f"Warning: the policy is no better than random play: it scores {'; '.join(level)}. "
        "Try more steps (--total-steps), another learning rate (--set lr=1e-4 or 2e-3), more exploration "
        "(--set entropy=0.05), larger rollouts (--set num_envs=2048), or a shorter variant of the game (--option)."
    )
