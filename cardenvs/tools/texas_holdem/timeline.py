"""The timeline of a match: everything that happened, in order, as data that never changes.

An entry is one of these:

    an event of the game     what changes the table, and notes such as a pot that is settled (state.py lists the kinds)
    request                  who is asked, and what this player may do, in chips
    action                   the answer to it, or a forfeit
    standings                after the last event of a finished match: places and chips

The table at entry i is the fold of the entries before it, for any viewer: a player, SPECTATOR (what is public) or
OMNISCIENT (all hands; cards that are never dealt stay unknown). Requests, actions and standings are public, and do not
change the table.

A file holds JSON lines: a head (format, game, options, setup, players, number of entries, digest), then one entry a
line. The same setup, options, players and actions give the same file, byte for byte.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from cardenvs.core.cards import card_label, parse_card
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.events import (
    AUDIENCE,
    COLUMNS,
    EVERYBODY,
    KIND,
    NO_PLACE,
    NO_PLAYER,
    OMNISCIENT,
    PLAYER,
    SOURCE,
    SPECTATOR,
    TARGET,
    TOKEN,
    TOP,
    UNKNOWN,
    VALUE,
    VISIBLE,
    Op,
    viewer_bit,
)
from cardenvs.core.files import write_whole
from cardenvs.core.fold import FoldedTable, fold
from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.core.view import table_as_json
from cardenvs.games.texas_holdem import GAME
from cardenvs.games.texas_holdem.play import TexasHoldemState
from cardenvs.games.texas_holdem.state import CASH, STREETS
from cardenvs.games.texas_holdem.table import TABLE

FORMAT = "cardenvs-holdem-timeline"
FORMAT_VERSION = 1
_HEAD = {
    "format": str, "format_version": int, "game": str, "options": dict, "setup": dict, "players": list,
    "finished": bool, "entries": int, "digest": str,
}  # fmt: skip
_KINDS = {kind.name: kind for kind in TABLE.kinds}
_PROLOGUE = ("unfold", "clear_table")  # what a new hand begins with, before the event that numbers it


@dataclass(frozen=True)
class Entry:
    """One entry of a timeline.

    Attributes:
        index: its place, from 0.
        hand: number of the hand, from 1; 0 before the first.
        ply: actions made before it.
        kind: name of the event kind, or "request", "action", "standings".
        row: the event as core writes it, eight integers; None if this is no event of the game.
        data: JSON values by name, of an entry that is no event of the game.
    """

    index: int
    hand: int
    ply: int
    kind: str
    row: tuple[int, ...] | None
    data: Mapping[str, Any]

    def as_json(self, viewer: int = OMNISCIENT) -> dict[str, Any]:
        """The entry as `viewer` sees it, as JSON values. Only OMNISCIENT learns who sees a card (`seen_by`)."""
        head = {"i": self.index, "hand": self.hand, "ply": self.ply, "kind": self.kind}
        return head | (dict(self.data) if self.row is None else _row_as_json(self.row, viewer))


class Timeline:
    """The timeline of one match. Made by `of`, `load` or `loads`; it does not change.

    Attributes:
        options: option values by name.
        setup: {"seed": int, "deck": [card id, ...]}.
        players: a name for each seat.
        finished: whether the match came to its end.
        entries: all entries, in order.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        setup: Mapping[str, Any],
        players: tuple[str, ...],
        finished: bool,
        entries: tuple[Entry, ...],
    ) -> None:
        self.options, self.setup = MappingProxyType(dict(options)), MappingProxyType(dict(setup))
        self.players, self.finished, self.entries = players, finished, entries
        rows = [entry.row for entry in entries if entry.row is not None]
        self._rows = np.array(rows, np.int32).reshape(-1, COLUMNS)
        # rows_before[i]: how many of the first i entries are events of the game
        self._rows_before = np.cumsum([0, *(entry.row is not None for entry in entries)])

    @classmethod
    def of(cls, state: State, players: list[str] | None = None) -> Self:
        """The timeline of a state's match so far. `players` are names, by default player_0, player_1, ...

        Raises:
            ValueError: the state does not go back to the deal, or the names are not one a seat.
            CardenvsError: it is a state of another game.
        """
        if state.game is not GAME:
            raise CardenvsError(f"this is a timeline of {GAME.name}; got a state of {state.game.name}")
        replay = Replay.of(state, players)  # checks history and names
        entries = tuple(_entries(state))
        return cls(replay.options, replay.setup, replay.players, state.is_terminal, entries)

    def __len__(self) -> int:
        return len(self.entries)

    # -- what a viewer sees -------------------------------------------------------------------------------------

    def events(self, viewer: int = OMNISCIENT) -> list[dict[str, Any]]:
        """All entries as `viewer` sees them, as JSON values."""
        self._check_viewer(viewer)
        return [entry.as_json(viewer) for entry in self.entries]

    def table(self, i: int, viewer: int) -> FoldedTable:
        """The table as `viewer` knows it before entry `i`: the fold of the entries 0 to i - 1, 0 <= i <= len(self)."""
        self._check_viewer(viewer)
        self._check_place(i)
        return fold(TABLE, TABLE.visible(self._rows[: self._rows_before[i]], viewer))

    def view(self, i: int, viewer: int) -> dict[str, Any]:
        """The table before entry `i` as JSON values, with `i`, the hand, and the last entry that `viewer` saw."""
        table = self.table(i, viewer)
        last = self.entries[i - 1] if i else None
        return {
            "i": i,
            "hand": last.hand if last else 0,
            "viewer": viewer,
            "last": last.as_json(viewer) if last else None,
            "table": table_as_json(table, GAME.view, len(self.players)),
        }

    def sentence(self, i: int, viewer: int) -> str:
        """Entry `i` in words, as `viewer` saw it."""
        entry = self.entries[i]
        if entry.row is None:
            return _WORDS[entry.kind](entry.data)
        (row,) = TABLE.visible(np.array([entry.row], np.int32), viewer)
        return GAME.view.describe_event(TABLE.read(row), _KINDS[entry.kind])

    def playback(self, viewer: int) -> "Playback":
        """A place in the timeline to step from, as `viewer` sees it."""
        return Playback(self, viewer)

    # -- playing it again ---------------------------------------------------------------------------------------

    @property
    def actions(self) -> list[int]:
        """The ids and codes of all actions, in order."""
        return [entry.data["id"] for entry in self.entries if entry.kind == "action"]

    def state_at(self, k: int | None = None) -> TexasHoldemState:
        """The state after the first `k` actions, by default all, played by the rules.

        Raises:
            FormatError: the setup cannot be dealt, or an action is refused.
        """
        actions = self.actions
        replay = Replay(GAME, dict(self.options), dict(self.setup), self.players, tuple(actions), (), "")
        state = replay.state_at(len(actions) if k is None else k, "timeline")
        assert isinstance(state, TexasHoldemState)
        return state

    def verify(self) -> None:
        """Play the match again.

        Raises:
            FormatError: an action is refused, or what follows is not what is written here.
        """
        again = Timeline.of(self.state_at(), list(self.players))
        for mine, theirs in zip(self.entries, again.entries, strict=False):
            if mine != theirs:
                raise FormatError(
                    f"timeline: entry {mine.index} reads {mine.as_json()}, but played again {theirs.as_json()}"
                )
        if len(self) != len(again):
            raise FormatError(f"timeline: it has {len(self)} entries, but played again {len(again)}")

    # -- files --------------------------------------------------------------------------------------------------

    def dumps(self) -> str:
        """The timeline as text: JSON lines."""
        body = "".join(_line(entry.as_json()) for entry in self.entries)
        head = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "game": GAME.name,
            "options": dict(self.options),
            "setup": dict(self.setup),
            "players": list(self.players),
            "finished": self.finished,
            "entries": len(self.entries),
            "digest": hashlib.sha256(body.encode()).hexdigest(),
        }
        return _line(head) + body

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the timeline; an existing file is replaced in one go."""
        write_whole(path, self.dumps())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a timeline.

        Raises:
            FormatError: the file is no timeline, cut short, edited, or of another version.
        """
        try:
            return cls.loads(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise FormatError(f"{path}: not UTF-8 text ({error})") from None
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None

    @classmethod
    def loads(cls, text: str) -> Self:
        """The timeline of a text; see `load`."""
        first, _, body = text.partition("\n")
        head = _checked_head(_object(first, 1))
        if hashlib.sha256(body.encode()).hexdigest() != head["digest"]:
            lines = body.count("\n")
            why = f"it has {lines} of {head['entries']} entries" if lines != head["entries"] else "an entry was changed"
            raise FormatError(f"the digest does not match: the timeline was cut short or edited ({why})")
        objects = [_object(line, number) for number, line in enumerate(body.splitlines(), 2)]
        entries = tuple(_entry(data, index) for index, data in enumerate(objects))
        return cls(head["options"], head["setup"], tuple(head["players"]), head["finished"], entries)

    # -- helpers ------------------------------------------------------------------------------------------------

    def _check_place(self, i: int) -> None:
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i <= len(self):
            raise IndexError(f"the timeline has places 0 to {len(self)}; got {i!r}")

    def _check_viewer(self, viewer: int) -> None:
        if viewer not in (SPECTATOR, OMNISCIENT) and not 0 <= viewer < len(self.players):
            raise ValueError(f"players are 0 to {len(self.players) - 1}; got {viewer!r}")


class Playback:
    """A place in a timeline, as one viewer sees it. Stepping is replay: it changes nothing in the match.

    Attributes:
        timeline: what is stepped through.
        viewer: who looks.
        index: how many entries have been seen, 0 to len(timeline).
        table: the table after these.
    """

    def __init__(self, timeline: Timeline, viewer: int) -> None:
        self.timeline, self.viewer = timeline, viewer
        self.seek(0)

    def forward(self) -> Entry | None:
        """Go one entry on and return it; None at the end."""
        if self.index == len(self.timeline):
            return None
        entry = self.timeline.entries[self.index]
        if entry.row is not None:
            for row in TABLE.visible(np.array([entry.row], np.int32), self.viewer):
                self.table.apply(row)
        self.index += 1
        return entry

    def back(self) -> Entry | None:
        """Go one entry back, by playing all before it again, and return the entry that is undone; None at the start."""
        if self.index == 0:
            return None
        self.seek(self.index - 1)
        return self.timeline.entries[self.index]

    def seek(self, i: int) -> None:
        """Go to place `i`, 0 <= i <= len(timeline)."""
        self.table = self.timeline.table(i, self.viewer)
        self.index = i


# ---------------------------------------------------------------------------------------------------------------
# Standings


def standings(state: TexasHoldemState, players: tuple[str, ...]) -> list[dict[str, Any]]:
    """Who finished where, best first, as JSON values.

    In a tournament the places are those of rules.md 8. In cash, and for those still in an unfinished tournament, the
    order is by what they have won; in cash equal winnings share a place, in an unfinished tournament who is still in
    has none.
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
        {"place": place, "player": p, "name": players[p], "chips": int(s.stacks[p]), "return": state.returns[p]}
        for p, place in enumerate(places)
    ]
    return sorted(rows, key=lambda row: (row["place"] or 0, -won[row["player"]], row["player"]))


# ---------------------------------------------------------------------------------------------------------------
# Making entries


def _entries(state: State) -> Iterator[Entry]:
    """The entries of a match: it is played again, and the events of each action are put between request and answer."""
    again = GAME.new_state(seed=state.seed, deck=state.deck.tolist() or None, **state.options.as_dict())
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
    """Numbers entries, and the hands they belong to."""

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
        yield count.entry(ply, TABLE.kinds[int(row[KIND])].name, tuple(row.tolist()))


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
        "stack": options.stack,
    }


def _action(state: TexasHoldemState, action: int) -> dict[str, Any]:
    if action >= FORFEIT:
        return {"player": action - FORFEIT, "id": action, "label": "forfeit"}
    return {"player": state.current_player, "id": action, "label": GAME.view.action_label(state.record, action)}


# ---------------------------------------------------------------------------------------------------------------
# Words of the entries that are no events


def _request_in_words(data: Mapping[str, Any]) -> str:
    amounts = {"call": data["to_call"], "bet": data["min_raise_to"], "raise": data["min_raise_to"]}
    words = []
    for kind in data["may"]:
        amount = amounts.get(kind)
        up_to = f" up to {data['max_raise_to']}" if kind in ("bet", "raise") else ""
        words.append(kind.replace("_", " ") + (f" {'to ' if kind == 'raise' else ''}{amount}{up_to}" if amount else ""))
    return f"player_{data['player']} may {', '.join(words)}."


def _standings_in_words(data: Mapping[str, Any]) -> str:
    rows = [f"{row['place']}. player_{row['player']} ({row['chips']} chips)" for row in data["standings"]]
    return f"The match is over: {', '.join(rows)}."


_WORDS = {
    "request": _request_in_words,
    "action": lambda data: f"player_{data['player']} answers: {data['label']} (action {data['id']:d}).",
    "standings": _standings_in_words,
}


# ---------------------------------------------------------------------------------------------------------------
# Entries as JSON


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def _row_as_json(row: tuple[int, ...], viewer: int) -> dict[str, Any]:
    """An event without what does not apply: player, card, from, to, counter, value, seen_by."""
    op = TABLE.kinds[row[KIND]].op
    places = TABLE.counter_of if op == Op.SET else TABLE.pile_of
    data: dict[str, Any] = {} if row[PLAYER] == NO_PLAYER else {"player": row[PLAYER]}
    if row[TOKEN] != UNKNOWN and (viewer == OMNISCIENT or row[VISIBLE] & viewer_bit(viewer)):
        data["card"] = card_label(row[TOKEN])
    if row[SOURCE] != NO_PLACE:
        data["counter" if op == Op.SET else "from"] = _place_name(places, row[SOURCE])
    if row[TARGET] != NO_PLACE:
        data["to"] = _place_name(TABLE.pile_of, row[TARGET])
    if (op, row[VALUE]) != (Op.MOVE, TOP):
        data["value"] = row[VALUE]
    if viewer == OMNISCIENT and row[VISIBLE] != EVERYBODY:
        data["seen_by"] = [p for p in range(TABLE.max_players) if row[VISIBLE] >> p & 1]
    return data


def _place_name(places: list[tuple], number: int) -> str:
    place, owner = places[number]
    return place.name if owner is None else f"{place.name}/{owner}"


_PILES = {_place_name(TABLE.pile_of, number): number for number in range(len(TABLE.pile_of))}
_COUNTERS = {_place_name(TABLE.counter_of, number): number for number in range(len(TABLE.counter_of))}


def _object(text: str, line: int) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"line {line} is not JSON ({error}); the file may have been cut short") from None
    if not isinstance(data, dict):
        raise FormatError(f"line {line} should be a JSON object, it is {data!r}")
    return data


def _checked_head(head: dict[str, Any]) -> dict[str, Any]:
    if head.get("format") != FORMAT:
        raise FormatError(f'this is no timeline: line 1 lacks "format": "{FORMAT}"')
    for name, kind in _HEAD.items():
        if not isinstance(head.get(name), kind):
            raise FormatError(f"line 1: {name!r} should be a {kind.__name__}, it is {head.get(name)!r}")
    if head["format_version"] != FORMAT_VERSION:
        raise FormatError(f"this timeline has format {head['format_version']}; this cardenvs reads {FORMAT_VERSION}")
    if head["game"] != GAME.name:
        raise FormatError(f"this is a timeline of {head['game']!r}; this reads those of {GAME.name}")
    try:
        options = GAME.make_options(**head["options"])
    except CardenvsError as error:
        raise FormatError(f"line 1: {error}") from None
    if len(head["players"]) != options.num_players or not all(isinstance(name, str) for name in head["players"]):
        raise FormatError(f"line 1: 'players' should be {options.num_players} names, it is {head['players']!r}")
    if not isinstance(head["setup"].get("seed"), int) or not isinstance(head["setup"].get("deck"), list):
        raise FormatError("line 1: 'setup' needs a seed and a deck")
    return head


def _entry(data: dict[str, Any], index: int) -> Entry:
    """The entry of a JSON object. What it does not say is refused rather than guessed."""
    where = f"line {index + 2}"
    try:
        place, hand, ply, kind = data.pop("i"), data.pop("hand"), data.pop("ply"), data.pop("kind")
        if (place, type(hand), type(ply)) != (index, int, int):
            raise FormatError(f"{where}: 'i' should be {index}, 'hand' and 'ply' integers; got {place}, {hand}, {ply}")
        if kind in _WORDS:
            _WORDS[kind](data)  # what the words need is there
            return Entry(index, hand, ply, kind, None, MappingProxyType(data))
        return Entry(index, hand, ply, kind, _row(kind, data), MappingProxyType({}))
    except FormatError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"{where} does not describe an entry: {type(error).__name__} {error}") from None


def _row(kind: str, data: dict[str, Any]) -> tuple[int, ...]:
    row = [0] * 8
    row[KIND] = TABLE.kind_ids[kind]
    row[PLAYER] = int(data.get("player", NO_PLAYER))
    row[TOKEN] = parse_card(data["card"]) if "card" in data else UNKNOWN
    row[SOURCE] = NO_PLACE
    if "counter" in data:
        row[SOURCE] = _COUNTERS[data["counter"]]
    elif "from" in data:
        row[SOURCE] = _PILES[data["from"]]
    row[TARGET] = _PILES[data["to"]] if "to" in data else NO_PLACE
    row[VALUE] = int(data["value"] if TABLE.kinds[row[KIND]].op != Op.MOVE else data.get("value", TOP))
    row[VISIBLE] = sum(1 << range(TABLE.max_players)[p] for p in data["seen_by"]) if "seen_by" in data else EVERYBODY
    row[AUDIENCE] = EVERYBODY  # everything that happens at the table is seen to happen
    return tuple(np.array(row, np.int32).tolist())  # refuses what is no 32-bit integer
