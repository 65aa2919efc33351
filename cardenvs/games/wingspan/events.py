"""Logging of moves and counters, compiled once: core's functions are inlined wherever they are called."""

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel


@kernel
def log_set(log, kind, player, counter, value):
    """Log that a counter has a new value, visible to everybody."""
    ev.log_set(log, kind, player, counter, value)


@kernel
def log_move(log, kind, player, token, source, target, visible):
    """Log that a card moves from the top of one pile to another; the viewers in `visible` see its face."""
    ev.log_move(log, kind, player, token, source, target, visible)
