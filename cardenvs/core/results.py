"""Checks of a finished game's result."""

import math

from cardenvs.core.state import State

_CLOSE = 1e-6  # tolerance for returns


class ResultCheck:
    """Checks a game's returns against their declared bounds and sum, and that conserved quantities do not change."""

    def __init__(self, state: State) -> None:
        """Store the conserved quantities of `state`, a game at its start."""
        self._before = state.game.view.conserved(state.record)

    def fault(self, state: State) -> str | None:
        """Return what is wrong with `state`, the end of that game, or None."""
        promised, returns = state.game.returns(state.options), state.returns
        name = state.game.name
        if not all(promised.low - _CLOSE <= value <= promised.high + _CLOSE for value in returns):
            return f"{name}: returns {returns} are outside their declared bounds {promised.low:g} to {promised.high:g}"
        if promised.total is not None and not math.isclose(sum(returns), promised.total, abs_tol=_CLOSE):
            return f"{name}: returns {returns} do not add up to {promised.total:g}, their declared sum"
        before, after = self._before, state.game.view.conserved(state.record)
        changed = [
            f"{what} from {before.get(what)} to {value}" for what, value in after.items() if before[what] != value
        ]
        return f"{name}: what should be conserved has changed: {', '.join(changed)}" if changed else None
