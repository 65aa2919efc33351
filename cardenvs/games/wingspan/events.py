"""The two commonest kinds of event of Wingspan, compiled once.

The logging functions of core are inlined, which would make every effect long.
"""

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel


@kernel
def log_set(log, kind, player, counter, value):
    ev.log_set(log, kind, player, counter, value)


@kernel
def log_move(log, kind, player, token, source, target, visible):
    ev.log_move(log, kind, player, token, source, target, visible)
