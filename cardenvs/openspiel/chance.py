"""How a deal becomes chance nodes: one node that lists the deals, or a few that draw a seed.

Both are explicit: applying an outcome is deterministic, and the outcomes in a history name the deal.
"""

from abc import ABC, abstractmethod

from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State

_DIGITS, _BASE = 9, 128  # 128 ** 9 == 2 ** 63, the number of seeds


class Chance(ABC):
    """The chance nodes at the root of a game."""

    nodes: int  # how many follow each other
    most_outcomes: int  # of one node

    @abstractmethod
    def outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of each node, with their probabilities."""

    @abstractmethod
    def label(self, drawn: tuple[int, ...], outcome: int) -> str:
        """Return an outcome of the node after the outcomes `drawn`, for people."""

    @abstractmethod
    def dealt(self, drawn: tuple[int, ...]) -> State:
        """Return the state that the outcomes of all nodes lead to."""


class DealChance(Chance):
    """One node, whose outcomes are the deals of `Game.enumerate_deals`."""

    nodes = 1

    def __init__(self, game: Game, options: Options, deals: list[tuple[str, float]]) -> None:
        """Chance over `deals`."""
        self.deals = deals  # as (deck text, probability)
        self._game, self._options = game, options
        self.most_outcomes = len(deals)

    def outcomes(self) -> list[tuple[int, float]]:
        """Return each deal by its number."""
        return [(number, probability) for number, (_, probability) in enumerate(self.deals)]

    def label(self, drawn: tuple[int, ...], outcome: int) -> str:
        """Return the cards, in dealing order."""
        return f"Deal: {self.deals[outcome][0]}"

    def dealt(self, drawn: tuple[int, ...]) -> State:
        """Return the deal of that number. The cards decide everything; the seed is always 0."""
        return self._game.state_type(self._game, self._options, seed=0, deck=self.deals[drawn[0]][0])


class SeedChance(Chance):
    """Nine nodes of 128 equally likely outcomes: the digits of a seed, which decides all chance of the game."""

    nodes, most_outcomes = _DIGITS, _BASE
    _outcomes = tuple((digit, 1.0 / _BASE) for digit in range(_BASE))

    def __init__(self, game: Game, options: Options) -> None:
        """Chance over all seeds."""
        self._game, self._options = game, options

    def outcomes(self) -> list[tuple[int, float]]:
        """Return the digits."""
        return list(self._outcomes)

    def label(self, drawn: tuple[int, ...], outcome: int) -> str:
        """Return which digit it is."""
        return f"Seed digit {len(drawn) + 1} of {_DIGITS}: {outcome}"

    def dealt(self, drawn: tuple[int, ...]) -> State:
        """Return the game of that seed."""
        seed = 0
        for digit in drawn:
            seed = seed * _BASE + digit
        return self._game.state_type(self._game, self._options, seed=seed)


def chance_of(game: Game, options: Options) -> Chance:
    """Return the chance nodes of a game: its deals if they can be listed, else a seed."""
    try:
        deals = game.enumerate_deals(**options.as_dict())
    except NotImplementedError:
        return SeedChance(game, options)
    return DealChance(game, options, deals)
