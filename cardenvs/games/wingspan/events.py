"""Logging of moves, counters and sayings, compiled once: core's functions are inlined wherever they are called."""

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


@kernel
def say(log, kind, player, token):
    """Log something about a card, or about ev.UNKNOWN, that everybody hears."""
    ev.log_event(log, kind, player, token, ev.NO_PLACE, ev.NO_PLACE, 0, ev.EVERYBODY, ev.EVERYBODY)


@kernel
def plan(log, kind, player, token, value):
    """Log a choice of the setup, which only `player` sees (2.3)."""
    ev.log_event(log, kind, player, token, ev.NO_PLACE, ev.NO_PLACE, value, 1 << player, 1 << player)
