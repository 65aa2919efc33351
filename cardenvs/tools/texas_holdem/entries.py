"""Entries of a timeline: making them from a state, their sentences, and their JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import FormatError
from cardenvs.core.state import State
from cardenvs.core.text import count
from cardenvs.games.texas_holdem import GAME
from cardenvs.games.texas_holdem.play import TexasHoldemState
from cardenvs.games.texas_holdem.state import CASH, STREETS
from cardenvs.games.texas_holdem.table import TABLE
from cardenvs.kits.cards import card_label, parse_card
from cardenvs.tools.texas_holdem.recorded import FileWords, RecordedHand

_CHIPS = re.compile(r"(?<![\d/])\d+(?![\d/x])")  # in the label of an action; 1/2 and 2x are sizes
_PROLOGUE = ("unfold", "clear_table")  # events that may begin a new hand, before the event that numbers it


@dataclass(frozen=True)
class Entry:
    """One entry of a timeline."""

    index: int  # position in the timeline, from 0
    hand: int  # number of the hand, from 1; 0 before the first
    ply: int  # number of actions before it
    kind: str  # name of the event kind, or "request", "action", "standings"
    # the event as a row of eight integers, or None if the entry is not an event of the game
    row: tuple[int, ...] | None
    data: Mapping[str, Any]  # JSON values by name, if the entry is not an event of the game

    def as_json(self, viewer: int = ev.OMNISCIENT) -> dict[str, Any]:
        """Return the entry as `viewer` sees it, as JSON values. Only OMNISCIENT gets `seen_by`, who sees the card."""
        head = {"i": self.index, "hand": self.hand, "ply": self.ply, "kind": self.kind}
        return head | (dict(self.data) if self.row is None else _row_as_json(self.row, viewer))


# -- standings ----------------------------------------------------------------------------------------------------


def standings(state: TexasHoldemState, players: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the standings, best first, as JSON values.

    Places in a tournament are those of rules.md 8. Cash players, and those still in an unfinished tournament, are
    ordered by their winnings. In a finished cash game equal winnings share a place; players still in an unfinished
    tournament, and all players of an unfinished cash game, have no place. Unknown chips, of a hand of a file, are None.
    """
    s = state.record
    cash = s.rules.format == CASH
    started = state.options.first_stacks()
    won = [int(s.stacks[p]) - started[p] for p in range(state.num_players)]
    places = [
        1 + sum(other > mine for other in won) if cash else int(s.places[p]) or None for p, mine in enumerate(won)
    ]
    if cash and not state.is_terminal:
        places = [None] * len(places)
    rows = [
        {"place": place, "player": p, "name": players[p], "chips": _known(chips), "return": state.returns[p]}
        for p, (place, chips) in enumerate(zip(places, state.stacks, strict=True))
    ]
    return sorted(rows, key=lambda row: (row["place"] or 0, -won[row["player"]], row["player"]))


def _known(chips: int) -> int | None:
    return None if chips == ev.UNKNOWN else chips


# -- making entries -----------------------------------------------------------------------------------------------


def entries_of(state: State) -> Iterator[Entry]:
    """Play the match of `state` again and yield its entries: a request, the action and its events for each decision."""
    again = (
        state.restarted()
        if isinstance(state, RecordedHand)
        else GAME.new_state(seed=state.seed, deck=state.deck.tolist() or None, **state.options.as_dict())
    )
    assert isinstance(again, TexasHoldemState)
    count = _Count()
    yield from _new_events(again, 0, count)
    for ply, action in enumerate(state.actions):
        yield count.entry(ply, "request", data=_request(again))
        yield count.entry(ply, "action", data=_action(again, action))
        again.apply(action)
        yield from _new_events(again, ply + 1, count)
    if again.is_terminal:
        names = tuple(f"player_{p}" for p in range(again.num_players))
        places = [{k: v for k, v in row.items() if k != "name"} for row in standings(again, names)]
        yield count.entry(again.ply, "standings", data={"standings": places})
    else:
        yield count.entry(again.ply, "request", data=_request(again))


class _Count:
    """Counter of entries, and of the hands they belong to."""

    def __init__(self) -> None:
        self.index, self.hand, self.events = 0, 0, 0
        self._in_prologue = False

    def entry(
        self, ply: int, kind: str, row: tuple[int, ...] | None = None, data: dict[str, Any] | None = None
    ) -> Entry:
        begins = kind in _PROLOGUE
        self.hand += begins and not self._in_prologue
        self._in_prologue = begins
        self.index += 1
        return Entry(self.index - 1, self.hand, ply, kind, row, MappingProxyType(data or {}))


def _new_events(state: TexasHoldemState, ply: int, count: _Count) -> Iterator[Entry]:
    rows = state.event_log()[count.events :]
    count.events += len(rows)
    for row in rows:
        yield count.entry(ply, TABLE.kinds[int(row[ev.KIND])].name, tuple(row.tolist()))


def _request(state: TexasHoldemState) -> dict[str, Any]:
    options = state.legal_options()
    return {
        "player": options.player,
        "street": STREETS[int(state.record.street)],
        "may": list(options.kinds),
        "to_call": options.call_amount,
        "min_raise_to": options.min_raise_to,
        "max_raise_to": options.max_raise_to,
        "pot": options.pot,
        "stack": _known(options.stack),
    }


def _action(state: TexasHoldemState, action: int) -> dict[str, Any]:
    if action >= FORFEIT:
        return {"player": action - FORFEIT, "id": action, "label": "forfeit"}
    return {"player": state.current_player, "id": action, "label": GAME.view.action_label(state.record, action)}


# -- sentences of the entries that are not events -----------------------------------------------------------------


def _request_in_words(data: Mapping[str, Any]) -> str:
    low, high = data["min_raise_to"], data["max_raise_to"]
    amounts = {"call": data["to_call"]} | dict.fromkeys(("bet", "raise", "complete"), low)
    words = []
    for kind in data["may"]:
        amount = amounts.get(kind)
        up_to = (
            f" up to {high}"
            if kind in ("bet", "raise", "complete") and high is not None and (low != high or "all_in" in data["may"])
            else ""
        )
        to = "to " if kind in ("raise", "complete") else ""
        words.append(kind.replace("_", " ") + (f" {to}{amount}{up_to}" if amount else ""))
    return f"player_{data['player']} may {', '.join(words)}."


def _standings_in_words(data: Mapping[str, Any]) -> str:
    rows = [f"{row['place']}. player_{row['player']} ({count(row['chips'], 'chip')})" for row in data["standings"]]
    return f"The match is over: {', '.join(rows)}."


WORDS = {
    "request": _request_in_words,
    "action": lambda data: f"player_{data['player']} answers: {data['label']} (action {data['id']:d}).",
    "standings": _standings_in_words,
}


def _request_of_file(data: Mapping[str, Any], words: FileWords) -> str:
    amounts = {name: data[name] for name in ("to_call", "min_raise_to", "max_raise_to")}
    amounts = {name: None if chips is None else words.amount(chips) for name, chips in amounts.items()}
    return words.named(_request_in_words({**data, **amounts}))


def _action_of_file(data: Mapping[str, Any], words: FileWords) -> str:
    label = _CHIPS.sub(lambda found: str(words.amount(int(found[0]))), data["label"])
    return f"{words.named('player_' + str(data['player']))} answers: {label} (action {data['id']:d})."


def _standings_of_file(data: Mapping[str, Any], words: FileWords) -> str:
    rows = []
    for row in data["standings"]:
        chips = "unknown" if row["chips"] is None else words.amount(row["chips"])
        rows.append(f"{row['place']}. {words.players[row['player']]} ({chips})")
    return f"The hand is over: {', '.join(rows)}."


WORDS_OF_FILE = {"request": _request_of_file, "action": _action_of_file, "standings": _standings_of_file}


# -- entries as JSON ----------------------------------------------------------------------------------------------


def json_line(data: dict[str, Any]) -> str:
    """Return `data` as one line of a timeline file."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def _row_as_json(row: tuple[int, ...], viewer: int) -> dict[str, Any]:
    """Return those of player, card, from, to, counter, value and seen_by that apply to an event."""
    op = TABLE.kinds[row[ev.KIND]].op
    places = TABLE.counter_of if op == ev.Op.SET else TABLE.pile_of
    data: dict[str, Any] = {} if row[ev.PLAYER] == ev.NO_PLAYER else {"player": row[ev.PLAYER]}
    if row[ev.TOKEN] != ev.UNKNOWN and (viewer == ev.OMNISCIENT or row[ev.VISIBLE] & ev.viewer_bit(viewer)):
        data["card"] = card_label(row[ev.TOKEN])
    if row[ev.SOURCE] != ev.NO_PLACE:
        data["counter" if op == ev.Op.SET else "from"] = _place_name(places, row[ev.SOURCE])
    if row[ev.TARGET] != ev.NO_PLACE:
        data["to"] = _place_name(TABLE.pile_of, row[ev.TARGET])
    if (op, row[ev.VALUE]) != (ev.Op.MOVE, ev.TOP):
        data["value"] = None if _is_unknown(op, row) else row[ev.VALUE]
    if viewer == ev.OMNISCIENT and row[ev.VISIBLE] != ev.EVERYBODY:
        data["seen_by"] = [p for p in range(TABLE.max_players) if row[ev.VISIBLE] >> p & 1]
    return data


def _is_unknown(op: ev.Op, row: tuple[int, ...]) -> bool:
    """Whether an event of a hand of a file sets a counter to an unknown value."""
    return op == ev.Op.SET and row[ev.VALUE] == ev.UNKNOWN and row[ev.VISIBLE] == 0


def _place_name(places: list[tuple[Any, ...]], number: int) -> str:
    place, owner = places[number]
    return place.name if owner is None else f"{place.name}/{owner}"


_PILES = {_place_name(TABLE.pile_of, number): number for number in range(len(TABLE.pile_of))}
_COUNTERS = {_place_name(TABLE.counter_of, number): number for number in range(len(TABLE.counter_of))}


def json_object(text: str, line: int) -> dict[str, Any]:
    """Parse line number `line` of a timeline file. Raises FormatError if the text is not a JSON object."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"line {line} is not JSON ({error}); the file may have been cut short") from None
    if not isinstance(data, dict):
        raise FormatError(f"line {line} is not a JSON object: {data!r}")
    return data


def entry_of(data: dict[str, Any], index: int) -> Entry:
    """Return the entry of a JSON object. Raises FormatError if a value is missing or invalid."""
    where = f"line {index + 2}"
    try:
        place, hand, ply, kind = data.pop("i"), data.pop("hand"), data.pop("ply"), data.pop("kind")
        if (place, type(hand), type(ply)) != (index, int, int):
            raise FormatError(f"{where}: 'i' should be {index}, 'hand' and 'ply' integers; got {place}, {hand}, {ply}")
        if kind in WORDS:
            WORDS[kind](data)  # raises if a value for the sentence is missing
            return Entry(index, hand, ply, kind, None, MappingProxyType(data))
        return Entry(index, hand, ply, kind, _row(kind, data), MappingProxyType({}))
    except FormatError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"{where} does not describe an entry: {type(error).__name__} {error}") from None


def _row(kind: str, data: dict[str, Any]) -> tuple[int, ...]:
    row = [0] * 8
    row[ev.KIND] = TABLE.kind_ids[kind]
    row[ev.PLAYER] = int(data.get("player", ev.NO_PLAYER))
    row[ev.TOKEN] = parse_card(data["card"]) if "card" in data else ev.UNKNOWN
    row[ev.SOURCE] = ev.NO_PLACE
    if "counter" in data:
        row[ev.SOURCE] = _COUNTERS[data["counter"]]
    elif "from" in data:
        row[ev.SOURCE] = _PILES[data["from"]]
    row[ev.TARGET] = _PILES[data["to"]] if "to" in data else ev.NO_PLACE
    value = data["value"] if TABLE.kinds[row[ev.KIND]].op != ev.Op.MOVE else data.get("value", ev.TOP)
    row[ev.VALUE] = ev.UNKNOWN if value is None else int(value)
    row[ev.VISIBLE] = (
        sum(1 << range(TABLE.max_players)[p] for p in data["seen_by"]) if "seen_by" in data else ev.EVERYBODY
    )
    row[ev.AUDIENCE] = ev.EVERYBODY  # everybody sees that an event happens
    return tuple(np.array(row, np.int32).tolist())  # raises OverflowError beyond 32 bits
