"""The size of returns, by which rewards are scaled so that no game needs a factor of its own."""

import math
from typing import Any

import numpy as np

from cardenvs.core.errors import FormatError

_FADE = 0.99  # weight of the past at each update: about the last hundred updates count


class ReturnScale:
    """The factor that brings returns to a root mean square of 1, from the games that ended lately.

    That is the standard deviation where what one player wins the others lose. Where everybody gains, the mean counts as
    well, so that values stay about 1. All players count alike, since one network plays for all.

    As the policy changes, so do returns; whoever predicts scaled returns has to follow (H. van Hasselt et al.,
    "Learning values across many orders of magnitude", 2016).

    Attributes:
        factor: from the game's unit to scaled reward; 1 until a return differed from 0.
    """

    def __init__(self, fixed: float = 0.0) -> None:
        """Create a scale; with `fixed` above 0 it is this factor for ever."""
        self._fixed = fixed
        self.factor = fixed or 1.0
        self._sums = np.zeros(2)  # number of returns and sum of their squares, both fading

    def update(self, returns: np.ndarray) -> float:
        """Take in the returns of the games that ended in a rollout.

        Args:
            returns: (M, P), of all players of these games.

        Returns:
            the ratio of the new factor to the old one.
        """
        before = self.factor
        self._sums = _FADE * self._sums + [returns.size, np.square(returns).sum()]
        count, squares = self._sums
        if squares > 0 and not self._fixed:
            self.factor = float(math.sqrt(count / squares))
        return self.factor / before

    def get_state(self) -> dict[str, Any]:
        """Return what `set_state` takes."""
        return {"factor": self.factor, "sums": self._sums.tolist()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from `get_state`.

        Raises:
            FormatError: it is not what `get_state` gives.
        """
        factor, sums = state.get("factor"), state.get("sums")
        numbers = [factor, *(sums if isinstance(sums, list) else [])]
        if len(numbers) != 3 or not all(type(one) is float and math.isfinite(one) for one in numbers):
            raise FormatError("the scale of returns is not three numbers")
        if factor <= 0 or min(sums) < 0:
            raise FormatError("the scale of returns has a negative number")
        self.factor, self._sums = factor, np.array(sums)
