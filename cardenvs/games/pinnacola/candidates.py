"""Candidates of Pinnacola for language models and search: whole turns."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cardenvs.core.view import Candidate
from cardenvs.games.pinnacola import actions
from cardenvs.games.pinnacola.heuristic import discard_value
from cardenvs.games.pinnacola.state import DRAW, side_of
from cardenvs.kits.turns import Play, after, label_of, turn_from

if TYPE_CHECKING:
    from cardenvs.core.state import State

_DISCARDS = 3  # tried after each way to meld
_LAYS = 8  # ways to begin to meld that are tried
_LONGEST = 40  # actions in a turn


def candidates(state: "State", player: int) -> list[Candidate]:
    """Return the choices of `player`, who is to act in `state`: whole turns, as far as they do not depend on a draw.

    Before the draw: to draw, and each way to take from the row, followed by what the heuristic does. After it: no meld,
    what the heuristic melds, and what it melds after each of some first melds, each with the best discards.
    """
    legal = state.legal_actions()
    if state.record.phase == DRAW:
        plays = [_turn_from(state, player, action) for action in legal]
    else:
        plays = list(dict.fromkeys(_turns(state, player, legal)))
    return [Candidate(label_of(state, play), play) for play in plays]


def _turn_from(state: "State", player: int, action: int) -> Play:
    def goes_on(copy: "State", action: int) -> bool:
        return action != actions.DRAW and copy.current_player == player and copy.record.phase != DRAW

    return turn_from(state, action, goes_on, _LONGEST)


def _turns(state: "State", player: int, legal: list[int]) -> Iterator[Play]:
    """Yield turns: the heuristic's own, without a meld, and beginning with each of some melds."""
    yield from _with_discards(state, player, _turn_from(state, player, state.policy_action("heuristic", 0)))
    yield from ((action,) for action in _discards(state, player, legal, 2 * _DISCARDS))
    for action in _best_lays(state, player, legal):
        yield from _with_discards(state, player, _turn_from(state, player, action))


def _best_lays(state: "State", player: int, legal: list[int]) -> list[int]:
    """Return the melds and additions that are worth most on the table, in the order of their ids."""
    side = side_of(player)
    points = {action: int(after(state, (action,)).record.points[side]) for action in legal if _is_lay(action)}
    return sorted(sorted(points, key=lambda action: (-points[action], action))[:_LAYS])


def _is_lay(action: int) -> bool:
    return action >= actions.RUN_0


def _is_discard(action: int) -> bool:
    return actions.DISCARD_0 <= action < actions.RUN_0


def _with_discards(state: "State", player: int, play: Play) -> Iterator[Play]:
    """Yield a turn, and the same with other discards."""
    yield play
    if _is_discard(play[-1]):
        copy = after(state, play[:-1])
        for action in _discards(copy, player, copy.legal_actions(), _DISCARDS):
            yield (*play[:-1], action)


def _discards(state: "State", player: int, legal: list[int], number: int) -> list[int]:
    """Return the discards that the heuristic likes best."""
    found = [action for action in legal if _is_discard(action)]
    values = {action: discard_value(state.record, player, action - actions.DISCARD_0) for action in found}
    return sorted(found, key=lambda action: (-values[action], action))[:number]
