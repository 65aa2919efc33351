"""Candidates of Canasta for people, language models and search: whole turns."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cardenvs.core.view import Candidate
from cardenvs.games.canasta import actions
from cardenvs.games.canasta.heuristic import discard_cost
from cardenvs.games.canasta.state import ANSWER, DRAW, KIND_OF, MELD
from cardenvs.kits.turns import Play, after, label_of, turn_from

if TYPE_CHECKING:
    from cardenvs.core.state import State

_DISCARDS = 3  # tried after each way to meld
_LAYS = 8  # ways to begin to meld that are tried
_LONGEST = 40  # actions in a turn


def candidates(state: "State", player: int) -> list[Candidate]:
    """Return the choices of `player`, who is to act in `state`: whole turns, as far as they do not depend on a draw.

    Before the draw: to draw, and each way to take the pile, followed by what the heuristic does. After it: no meld,
    what the heuristic melds, and what it melds after each of some first melds, each with the cheapest discards.
    """
    legal = state.legal_actions()
    s = state.record
    if s.phase == ANSWER:
        plays: list[Play] = [(action,) for action in legal]
    elif s.phase == DRAW:
        plays = [_turn_from(state, player, action) for action in legal]
    else:
        plays = list(dict.fromkeys(_turns(state, player, legal)))
    return [Candidate(label_of(state, play), play) for play in plays]


def _turn_from(state: "State", player: int, action: int) -> Play:
    def goes_on(copy: "State", action: int) -> bool:
        is_known = action not in (actions.DRAW, actions.ASK)
        return is_known and copy.current_player == player and copy.record.phase != DRAW

    return turn_from(state, action, goes_on, _LONGEST)


def _turns(state: "State", player: int, legal: list[int]) -> Iterator[Play]:
    """Yield turns: the heuristic's own, without a meld, and beginning with each of some melds."""
    yield from _with_discards(state, player, _turn_from(state, player, state.policy_action("heuristic", 0)))
    for action in legal:
        if action in (actions.DONE, actions.ASK):
            yield (action,)
    yield from ((action,) for action in _discards(state, player, 2 * _DISCARDS))
    lays = [action for action in legal if action >= actions.LAY_0]
    for action in _varied(lays):
        yield from _with_discards(state, player, _turn_from(state, player, action))


def _varied(lays: list[int]) -> list[int]:
    """Return some of many lays: without wild cards as many natural ones as possible, then with few wild cards."""
    details = {action: tuple(int(number) for number in actions.cards_laid(action)) for action in lays}
    best: dict[tuple[int, int], int] = {}
    for action, (m, naturals, jokers, twos) in details.items():
        key = (m, jokers + twos)
        if key not in best or (naturals, -jokers) > (details[best[key]][1], -details[best[key]][2]):
            best[key] = action
    return sorted(sorted(best.values(), key=lambda a: (sum(details[a][2:]), details[a][0]))[:_LAYS])


def _with_discards(state: "State", player: int, play: Play) -> Iterator[Play]:
    """Yield a turn, and the same with other discards."""
    yield play
    if not actions.DISCARD_0 <= play[-1] < actions.LAY_0 or len(play) > _LONGEST:
        return
    copy = after(state, play[:-1])
    if copy.record.phase == MELD:
        for action in _discards(copy, player, _DISCARDS):
            yield (*play[:-1], action)


def _discards(state: "State", player: int, number: int) -> list[int]:
    """Return the discards of the cheapest kinds, one of each."""
    by_kind: dict[int, int] = {}
    for action in state.legal_actions():
        if actions.DISCARD_0 <= action < actions.LAY_0:
            by_kind.setdefault(int(KIND_OF[action - actions.DISCARD_0]), action)
    cheapest = sorted(by_kind, key=lambda kind: (_cost(state, player, kind), kind))
    return [by_kind[kind] for kind in cheapest[:number]]


def _cost(state: "State", player: int, kind: int) -> float:
    return float(discard_cost(state.record, player, kind))
