"""`Returns`: bounds and units of what players win and lose."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Returns:
    """Properties of a game's returns.

    Attributes:
        low, high: bounds of one player's return.
        total: sum of all players' returns, or None if it varies.
        unit: unit of a return (chips, points, ...).
        result_factor, result_unit: matches report the mean return times this factor, in this unit (such as big blinds
            per 100 hands); by default the mean return in `unit` a deal.
        meaning: what the bounds stand for, if they are not amounts, such as "1 for a win, -1 for a loss".
        cooperative: whether all players always get the same. Nobody wins then, and arenas show who plays how well with
            whom.
    """

    low: float
    high: float
    total: float | None
    unit: str
    result_factor: float = 1.0
    result_unit: str = ""
    meaning: str = ""
    cooperative: bool = False

    @property
    def text(self) -> str:
        """The bounds in words, such as "-123 to 123 points" or "1 for a win, -1 for a loss"."""
        return self.meaning or f"{self.low:,g} to {self.high:,g} {self.unit}"

    @property
    def result_unit_label(self) -> str:
        """The unit in which matches report results."""
        return self.result_unit or f"{self.unit} a deal"


def win_or_loss(sides: int, low: float | None = None) -> Returns:
    """Return the returns of a game that pays 1 to the winning side of `sides`, at the expense of all others.

    Args:
        sides: how many sides there are.
        low: bound of one player's return; by default what a loss costs.
    """
    loss = -1 / (sides - 1)
    return Returns(loss if low is None else low, 1, 0, "wins", meaning=f"1 for a win, {loss:.3g} for a loss")


def by_place(players: int) -> Returns:
    """Return the returns of a game that pays evenly by place. Between two, that is a win or a loss."""
    if players == 2:
        return win_or_loss(2)
    return Returns(-1, 1, 0, "points", meaning="1 for first place, -1 for last place")
