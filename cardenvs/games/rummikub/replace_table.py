"""A whole turn as a new table: checked by the kernels, turned into steps, and as JSON.

    actions = replace_table(state, "R2", ["R2 R3 R4", "R5 B5 K5"])    # tiles from the rack, and the whole new table
    for action in actions:
        state.apply(action)

A turn as JSON is {"type": "DRAW"}, {"type": "PASS"}, {"type": "FORFEIT"}, or

    {"type": "PLAY", "delta_from_hand": [[1, 1]], "new_table_melds": [[1, 2, 3], [4, 17, [52, 2, 5]]]}

with multisets as [[tile, count], ...] and melds as lists of slots: a tile 0..51, or [52, colour, value] for a joker.
Paragraph numbers are those of rules.md.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, FormatError, IllegalActionError
from cardenvs.core.events import NO_LOG
from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.games.rummikub.actions import (
    COMMIT,
    DRAW,
    JOKER_IN_OPENING,
    JOKER_NOT_REPLACED,
    LAY_0,
    NOT_OPEN,
    OPENING_TOO_LOW,
    PASS,
    TAKE_0,
)
from cardenvs.games.rummikub.catalogue import MELD_NUMBER, MELDS
from cardenvs.games.rummikub.melds import (
    Meld,
    Slot,
    Table,
    canonical_table,
    split_table,
    table_from_json,
    table_of,
    table_tiles,
    table_to_json,
)
from cardenvs.games.rummikub.state import LOOSE, NO_MELD
from cardenvs.games.rummikub.tiles import (
    Multiset,
    add,
    multiset,
    multiset_from_json,
    multiset_to_json,
    sub,
    tile_label,
    tiles_in,
)

# The rules that a turn may break.
NOT_NOW = "not_now"  # the game is over, or a play is being built
RACK = "rack"  # 3.2 a, d
VALIDITY = "validity"  # 3.2 b
CONSERVATION = "conservation"  # 3.2 c
OPENING = "opening"  # 4
JOKER = "joker"  # 5

_RULES = {NOT_OPEN: OPENING, OPENING_TOO_LOW: OPENING, JOKER_IN_OPENING: OPENING, JOKER_NOT_REPLACED: JOKER}
_IDLE = {"DRAW": DRAW, "PASS": PASS}
_MOST_SHOWN = 12  # tiles in a message


class IllegalPlayError(IllegalActionError):
    """A new table that the rules do not allow.

    Attributes:
        rule: which one: "not_now", "rack", "validity", "conservation", "opening" or "joker".
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


def replace_table(
    state: State, delta: str | Iterable[str | int], table: Iterable[str | Iterable[str | Slot] | Meld]
) -> tuple[int, ...]:
    """Check a PLAY that is given as a whole, and return the actions that reach it.

    Args:
        state: at the start of a turn; it is not changed.
        delta: the tiles taken from the rack of the player to act, such as "R5 J" or types 0..52.
        table: the whole table after the play, in any order, such as ["R3 R4 R5", "B7 K7 J(O7)"]; every joker says what
            it represents.

    Returns:
        sets taken apart, melds laid, done: legal one after the other. A run of six or more is laid in parts (2.6).

    Raises:
        IllegalPlayError: a rule is broken; nothing else is wrong with the input.
        DeckError: a text is not a tile or a slot.
    """
    try:
        taken, melds = multiset(delta), table_of(table)
    except TypeError as error:  # for example a number instead of a list
        raise DeckError(f"tiles and melds must be given as texts or lists ({error})") from None
    s = state.record
    if state.is_terminal:
        raise IllegalPlayError(NOT_NOW, "the game is over")
    if s.last_taken != NO_MELD or s.num_laid > 0:
        raise IllegalPlayError(NOT_NOW, "a play is being built; complete it, or go on from the start of a turn")
    _check_rack(tuple(int(n) for n in s.hands[state.current_player]), taken)
    for meld in melds:
        _check_meld(meld, state.options)
    old = [int(number) for number in s.sets if number != NO_MELD]
    _check_conservation(add(table_tiles(MELDS[number] for number in old), taken), table_tiles(melds))
    if not any(taken):
        raise IllegalPlayError(RACK, "a play puts down at least one rack tile (rules.md 3.2 d)")
    actions = _steps(s.sets.tolist(), [MELD_NUMBER[meld] for meld in split_table(melds)])
    _check_steps(state, actions)
    return actions


def _check_rack(rack: Multiset, taken: Multiset) -> None:
    lacking = [tile for tile, number in enumerate(taken) if number > rack[tile]]
    if lacking:
        raise IllegalPlayError(RACK, f"the rack has too few of {_listed(lacking)} (rules.md 3.2 a)")


def _check_meld(meld: Meld, options: Any) -> None:
    reason = meld.why_invalid()
    if reason:
        raise IllegalPlayError(VALIDITY, f"{reason} (rules.md 3.2 b)")
    if any(slot.colour >= options.colors or slot.value > options.values for slot in meld.slots):
        raise IllegalPlayError(VALIDITY, f"{meld.label} stands for a tile that is not in this game (rules.md 2.3)")


def _check_conservation(before: Multiset, after: Multiset) -> None:
    gone = _listed(tiles_in([max(0, a - b) for a, b in zip(before, after, strict=True)]))
    new = _listed(tiles_in([max(0, b - a) for a, b in zip(before, after, strict=True)]))
    if gone or new:
        what = [f"{gone} would vanish"] * bool(gone) + [f"{new} would come from nowhere"] * bool(new)
        raise IllegalPlayError(
            CONSERVATION,
            f"the new table must have the tiles of the old one and those taken from the rack: {' and '.join(what)} "
            "(rules.md 3.2 c)",
        )


def _listed(tiles: Sequence[int]) -> str:
    shown = " ".join(tile_label(tile) for tile in tiles[:_MOST_SHOWN])
    return shown if len(tiles) <= _MOST_SHOWN else f"{shown} ..."


def _steps(places: list[int], wanted: list[int]) -> tuple[int, ...]:
    """Return the steps from the sets at these places to the melds `wanted`: take apart, lay, done (8.2, 8.3)."""
    stays = Counter(wanted) & Counter(number for number in places if number != NO_MELD)
    laid = Counter(wanted) - stays
    apart = []
    for place in range(len(places) - 1, -1, -1):  # of equal sets the first ones are taken apart
        number = places[place]
        if stays[number] > 0:
            stays[number] -= 1
        elif number != NO_MELD:
            apart.append((number, place))
    taken = [TAKE_0 + place for _, place in sorted(apart)]
    return (*taken, *(LAY_0 + number for number in sorted(laid.elements())), COMMIT)


def _check_steps(state: State, actions: Sequence[int]) -> None:
    """Ask the kernels about each step, as with steps="loose", which name the rule that is broken.

    Raises:
        IllegalPlayError: one of them is not legal.
    """
    engine = state.game.engine
    states = np.array([state.record], copy=True)
    states["rules"]["steps"] = LOOSE
    legal = np.zeros(state.game.num_actions(state.options), np.int32)
    for action in actions:
        code = int(engine.explain(states, 0, action))
        if code:
            reason = state.game.view.illegal_reason(states[0], action, code)
            raise IllegalPlayError(_RULES[code], reason)
        engine.apply(states, 0, action, NO_LOG, legal)


# ---------------------------------------------------------------------------------------------------------------
# Turns as JSON


def turns_of(state: State) -> list[dict[str, Any]]:
    """Return the finished turns of a game as JSON values, oldest first. They hold nothing that was not public.

    Each has "player" and "table_key", the key of the table after it, besides the members above.

    Raises:
        HistoryError: the history of the state does not go back to the deal.
    """
    again = Replay.of(state).state_at(0)
    turns: list[dict[str, Any]] = []
    before = _table_of(again)
    for action in state.actions:
        player = again.current_player
        again.apply(action)
        if TAKE_0 <= action < FORFEIT:
            continue
        after = _table_of(again)
        turn: dict[str, Any] = {"player": player, "type": _type_of(action)}
        if action == COMMIT:
            turn["delta_from_hand"] = multiset_to_json(sub(table_tiles(after), table_tiles(before)))
            turn["new_table_melds"] = table_to_json(after)
        turns.append({**turn, "table_key": table_key(after)})
        before = after
    return turns


def play_turns(state: State, turns: Iterable[dict[str, Any]]) -> None:
    """Play turns, as `turns_of` returns them, from the start of a turn.

    Args:
        state: is changed.
        turns: JSON values. "player" and "table_key" may be left out; where they are given, they are checked.

    Raises:
        FormatError: a turn is not of the form above, or contradicts the game. The turns before it have been played.
        IllegalActionError: a turn is illegal; its message has the number of the turn.
    """
    for number, turn in enumerate(turns):
        try:
            actions = actions_of(state, turn)
            if "player" in turn and turn["player"] != state.current_player:
                raise FormatError(f"it is of player {turn['player']!r}, and player {state.current_player} is to act")
            for action in actions:
                state.apply(action)
            if "table_key" in turn and turn["table_key"] != table_key(_table_of(state)):
                raise FormatError("the table after it has another table_key")
        except (FormatError, DeckError) as error:
            raise FormatError(f"turn {number}: {error}") from None
        except IllegalActionError as error:
            raise IllegalActionError(f"turn {number}: {error}") from None


def actions_of(state: State, turn: Any) -> tuple[int, ...]:
    """Return the actions of a turn given as JSON values.

    Raises:
        FormatError, DeckError: it is not of the form above.
        IllegalPlayError: a PLAY breaks a rule.
    """
    if not isinstance(turn, dict) or not isinstance(turn.get("type"), str):
        raise FormatError('a turn is an object with a "type": DRAW, PASS, PLAY or FORFEIT')
    kind = turn["type"]
    if kind == "PLAY":
        return replace_table(
            state,
            tiles_in(multiset_from_json(turn.get("delta_from_hand"))),
            table_from_json(turn.get("new_table_melds")),
        )
    if kind == "FORFEIT":
        return (FORFEIT + state.current_player,)
    if kind not in _IDLE:
        raise FormatError(f"the type of a turn is DRAW, PASS, PLAY or FORFEIT; got {kind[:40]!r}")
    return (_IDLE[kind],)


def _type_of(action: int) -> str:
    if action >= FORFEIT:
        return "FORFEIT"
    return "PLAY" if action == COMMIT else next(name for name, idle in _IDLE.items() if idle == action)


def _table_of(state: State) -> Table:
    return canonical_table(MELDS[int(number)] for number in state.record.sets if number != NO_MELD)


# ---------------------------------------------------------------------------------------------------------------
# Keys


def table_key(table: Iterable[str | Iterable[str | Slot] | Meld]) -> str:
    """Return the key of a table, 32 hexadecimal digits: equal for equal sets in any order, with runs in split form."""
    return _hash(table_to_json(split_table(table_of(table))))


def state_key(state: State) -> str:
    """Return the key of a whole state: racks, table, pool, player to act, what is open, passes, the turn being built.

    It tells which racks it was made of to whoever tries them; do not give it to players.
    """
    s, n = state.record, state.num_players
    return _hash(
        {
            "hands": [multiset_to_json([int(count) for count in s.hands[p]]) for p in range(n)],
            "table_key": table_key(_table_of(state)),
            "pool": s.deck[int(s.num_dealt) : int(s.num_tiles)].tolist(),
            "deck_index": int(s.num_dealt),
            "current_player": int(s.current_player),
            "opened": s.opened[:n].tolist(),
            "num_passes": int(s.num_passes),
            "active": s.active[:n].tolist(),
            "turn": [s.taken.tolist(), s.laid[: int(s.num_laid)].tolist()],
            "terminal": bool(s.terminal),
            "options": state.options.as_dict(),
        }
    )


def _hash(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
