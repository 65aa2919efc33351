"""Whole turns as candidates, in games where a turn takes many small actions."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardenvs.core.state import State

Play = tuple[int, ...]  # the actions of a player, one after the other


def turn_from(state: "State", action: int, goes_on: Callable[["State", int], bool], longest: int) -> Play:
    """Return the turn that begins with `action` and goes on as the policy `heuristic` does.

    Args:
        state: where the turn begins; it is not changed.
        action: legal in `state`.
        goes_on: of the state after an action, and that action, whether the same turn goes on and its player knows all
            that it then depends on.
        longest: most actions in a turn.
    """
    copy, play = state.clone(), [action]
    copy.apply_unchecked(action)
    while len(play) < longest and not copy.is_terminal and goes_on(copy, action):
        action = copy.policy_action("heuristic", 0)
        play.append(action)
        copy.apply_unchecked(action)
    return tuple(play)


def after(state: "State", play: Play) -> "State":
    """Return a copy of `state` in which `play` has been played."""
    copy = state.clone()
    for action in play:
        copy.apply_unchecked(action)
    return copy


def label_of(state: "State", play: Play) -> str:
    """Return the labels of a play, as each action is called when its turn comes."""
    copy, parts = state.clone(), []
    for action in play:
        parts.append(copy.action_label(action))
        copy.apply_unchecked(action)
    return ", ".join(parts)
