"""The scale of returns, so that no game needs a reward factor of its own."""

import math
from typing import Any

import numpy as np

from cardenvs.agents.checkpoint_file import checked_fields
from cardenvs.core.errors import FormatError

_FADE = 0.99  # weight of the past in each update; about the last hundred updates count


class ReturnScale:
    """The factor that brings returns to a root mean square of 1, from recently finished games.

    In zero-sum games that is the standard deviation. Where everybody gains, the mean counts as well, so that values
    stay about 1. All players count equally, since one network plays for all.

    Returns change with the policy, so predictions of scaled returns have to follow (H. van Hasselt et al., "Learning
    values across many orders of magnitude", 2016).
    """

    def __init__(self, fixed: float = 0.0) -> None:
        """Create a scale; with `fixed` above 0, that is always the factor."""
        self._fixed = fixed
        self.factor = fixed or 1.0  # from the game's unit to scaled reward; 1 until a return differs from 0
        self._sums = np.zeros(2)  # number of returns and sum of their squares, both decaying

    def update(self, returns: np.ndarray) -> float:
        """Add the returns of the games that ended in a rollout, (M, P). Returns the ratio of the new factor to the old
        one.
        """
        before = self.factor
        self._sums = _FADE * self._sums + [returns.size, np.square(returns).sum()]
        count, squares = self._sums
        if squares > 0 and not self._fixed:
            self.factor = float(math.sqrt(count / squares))
        return self.factor / before

    def adopt(self, factor: float) -> float:
        """Start with the factor of an earlier run, unless this one is fixed. Returns the ratio of this factor to it."""
        if not self._fixed:
            self.factor = factor
        return self.factor / factor

    def get_state(self) -> dict[str, Any]:
        """Return what `set_state` takes."""
        return {"factor": self.factor, "sums": self._sums.tolist()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state of `get_state`. Raises FormatError if the state is not valid."""
        numbers = [state.get("factor"), *checked_fields(state, {"sums": list}, "the scale of returns")["sums"]]
        if len(numbers) != 3 or not all(type(one) is float and math.isfinite(one) and one >= 0 for one in numbers):
            raise FormatError("the scale of returns is not three numbers of 0 or more")
        if numbers[0] == 0:
            raise FormatError("the scale of returns is 0")
        self.factor, self._sums = numbers[0], np.array(numbers[1:])
