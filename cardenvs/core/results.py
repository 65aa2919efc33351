"""Whether a finished game's result is one that the game allows."""

import math

from cardenvs.core.state import State

_CLOSE = 1e-6  # how far returns may be from what a game promises


class ResultCheck:
    """Holds a game to what it promises: bounds and sum of its returns, and what is conserved from start to end."""

    def __init__(self, state: State) -> None:
        """Note what is conserved in `state`, a game at its start."""
        self._before = state.game.view.conserved(state.record)

    def fault(self, state: State) -> str | None:
        """What is wrong with the end of that game; None: nothing."""
        promised, returns = state.game.returns(state.options), state.returns
        name = state.game.name
        if not all(promised.low - _CLOSE <= value <= promised.high + _CLOSE for value in returns):
            return f"{name}: returns {returns} are not all from {promised.low:g} to {promised.high:g}, as promised"
        if promised.total is not None and not math.isclose(sum(returns), promised.total, abs_tol=_CLOSE):
            return f"{name}: returns {returns} do not add up to {promised.total:g}, as promised"
        before, after = self._before, state.game.view.conserved(state.record)
        changed = [
            f"{what} from {before.get(what)} to {value}" for what, value in after.items() if before[what] != value
        ]
        return f"{name}: what should be conserved has changed: {', '.join(changed)}" if changed else None
