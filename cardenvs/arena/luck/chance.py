"""The luck of the draws of a game, with a mean of exactly 0.

For each draw, the luck of a player is the value of the position after it, less the mean value over everything that
could have been drawn instead. Given all that happened before a draw, each outcome is equally likely (see `draws`), so
its luck has a mean of 0 by itself, whoever plays, and so has the sum over a game. The value function must not know the
order of the deck, and must not be fitted on the game that it corrects. This is MIVAT's advantage-sum estimator with
chance alone (M. White and M. Bowling, "Learning a Value Analysis Tool for Agent Evaluation", IJCAI 2009, section 3).
"""

import random
from collections.abc import Sequence

import numpy as np

from cardenvs.arena.luck.draws import Draw, Draws
from cardenvs.arena.luck.values import Value
from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord
from cardenvs.core.rng import SEED_MASK, derived_seed


class ChanceLuck:
    """The luck of the draws of a match's games.

    Attributes:
        parts: names of the parts of the luck that `of` returns.
    """

    parts = ("deal", "draws")

    def __init__(self, match: Match, value: Value, seed: int = 0) -> None:
        """Prepare for the games of a match.

        Args:
            match: the match.
            value: the value function.
            seed: of everything that is drawn here: other outcomes, shuffles, playouts.
        """
        self._match, self._value, self._seed = match, value, seed

    def of(self, record: GameRecord) -> np.ndarray:
        """Return the luck of each player in a game, float64 (parts, players)."""
        match = self._match
        draws = Draws(match.game, match.options, record.seed, record.actions)
        # All games of a deal have the same random numbers: where they go the same way, their luck is the same.
        return self.of_draws(draws, record.seating, record.seed)

    def of_draws(self, draws: Draws, seating: Sequence[int], number: int = 0) -> np.ndarray:
        """Return the same for a game given by its draws; `number` gives it random numbers of its own."""
        luck = np.zeros((len(self.parts), self._match.options.num_players))
        for place, draw in enumerate(draws.draws):
            luck[min(place, 1)] += self._luck(draws, draw, seating, derived_seed(self._seed, number, place))
        return luck

    def _luck(self, draws: Draws, draw: Draw, seating: Sequence[int], seed: int) -> np.ndarray:
        """Return the luck of each player in a draw."""
        outcomes, weights = draws.alternatives(draw, random.Random(derived_seed(seed, "outcomes")))
        shuffles = self._value.shuffles
        # With playouts, the value of the true outcome counts as much as all others together: it is played as often.
        often = shuffles * len(outcomes) if shuffles > 1 else 1
        repeated = [outcome for outcome in outcomes for _ in range(shuffles)]
        others = self._values(draws, draw, seating, repeated, seed)
        drawn = self._values(draws, draw, seating, [draw.tokens] * often, derived_seed(seed, "drawn"))
        result: np.ndarray = drawn.mean(0) - weights @ others.reshape(len(outcomes), shuffles, -1).mean(1)
        return result

    def _values(
        self, draws: Draws, draw: Draw, seating: Sequence[int], outcomes: list[tuple[int, ...]], seed: int
    ) -> np.ndarray:
        """Return the values after each outcome, float64 (n, players), each with a shuffle of its own."""
        seeds = np.random.default_rng(seed).integers(0, SEED_MASK, len(outcomes), endpoint=True)
        return self._value.of(draws.worlds(draw, outcomes, seeds.tolist()), seating)
