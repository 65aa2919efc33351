"""The timeline of a match: an immutable list of everything that happened, in order.

An entry is one of:

    an event of the game     a change of the table, or a note such as a settled pot (table.py lists the kinds)
    request                  the player to act and its legal options, in chips
    action                   the answer to a request, or a forfeit
    standings                places and chips, after the last event of a finished match

The table at entry i is the fold of the entries before it, for any viewer: a player, SPECTATOR (public information) or
OMNISCIENT (all hands; cards that are never dealt stay unknown). Requests, actions and standings are public and do not
change the table.

A file contains JSON lines: a head (format, game, options, setup, players, number of entries, digest), then one line per
entry. Equal setup, options, players and actions give identical files, byte for byte.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.events import COLUMNS, OMNISCIENT, SPECTATOR
from cardenvs.core.files import write_whole
from cardenvs.core.fold import FoldedTable, fold
from cardenvs.core.game_view import folded_texts
from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.games.texas_holdem import GAME
from cardenvs.games.texas_holdem.play import TexasHoldemState
from cardenvs.games.texas_holdem.table import TABLE
from cardenvs.tools.texas_holdem.entries import (
    WORDS,
    WORDS_OF_FILE,
    Entry,
    entries_of,
    entry_of,
    json_line,
    json_object,
)
from cardenvs.tools.texas_holdem.recorded import FileWords, RecordedHand

FORMAT = "cardenvs-holdem-timeline"
FORMAT_VERSION = 1
_HEAD = {
    "format": str, "format_version": int, "game": str, "options": dict, "setup": dict, "players": list,
    "finished": bool, "entries": int, "digest": str,
}  # fmt: skip
_KINDS = {kind.name: kind for kind in TABLE.kinds}


class Timeline:
    """The timeline of one match. Immutable; created by `of`, `load` or `loads`.

    Attributes:
        options: option values by name.
        setup: {"seed": int, "deck": [card id, ...]}; of a hand of a file also its text, "phh", its "number" there, and
            "chips_per_unit", and None for an unknown card.
        players: a name for each seat.
        finished: whether the match is over.
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
        """Make the timeline of the match of a state so far. `players` are names, by default player_0, player_1, ...

        Raises:
            ValueError: the history of the state does not go back to the deal, or `players` has the wrong length.
            CardenvsError: the state is of another game.
        """
        if state.game is not GAME:
            raise CardenvsError(f"this is a timeline of {GAME.name}; got a state of {state.game.name}")
        if isinstance(state, RecordedHand):
            setup = {
                "seed": state.seed, "deck": state.known_deck, "phh": state.text, "number": state.number,
                "chips_per_unit": state.unit,
            }  # fmt: skip
            options, names = state.options.as_dict(), state.players if players is None else tuple(players)
            if state.unknown_stacks:
                options["stacks"] = ()  # some of them are stand-ins
            if len(names) != state.num_players:
                raise ValueError(f"{state.num_players} players need {state.num_players} names; got {names}")
        else:
            replay = Replay.of(state, players)  # checks history and names
            setup, options, names = replay.setup, replay.options, replay.players
        return cls(options, setup, names, state.is_terminal, tuple(entries_of(state)))

    def __len__(self) -> int:
        return len(self.entries)

    # -- what a viewer sees -------------------------------------------------------------------------------------

    def events(self, viewer: int = OMNISCIENT) -> list[dict[str, Any]]:
        """Return all entries as `viewer` sees them, as JSON values."""
        self._check_viewer(viewer)
        return [entry.as_json(viewer) for entry in self.entries]

    def table(self, i: int, viewer: int) -> FoldedTable:
        """Return the table as `viewer` knows it before entry `i`, 0 <= i <= len(self)."""
        self._check_viewer(viewer)
        self._check_place(i)
        return fold(TABLE, TABLE.visible(self._rows[: self._rows_before[i]], viewer))

    def view(self, i: int, viewer: int) -> dict[str, Any]:
        """Return the table before entry `i` as JSON values, with `i`, the hand, and the previous entry."""
        table = self.table(i, viewer)
        last = self.entries[i - 1] if i else None
        return {
            "i": i,
            "hand": last.hand if last else 0,
            "viewer": viewer,
            "last": last.as_json(viewer) if last else None,
            "table": folded_texts(table, GAME.view, len(self.players)),
        }

    def sentence(self, i: int, viewer: int) -> str:
        """Return entry `i` as a sentence, as `viewer` saw it; of a hand of a file, in its words."""
        entry, words = self.entries[i], self.words
        if entry.row is None:
            return WORDS[entry.kind](entry.data) if words is None else WORDS_OF_FILE[entry.kind](entry.data, words)
        (row,) = TABLE.visible(np.array([entry.row], np.int32), viewer)
        event = TABLE.read(row)
        return GAME.view.describe_event(event, _KINDS[entry.kind]) if words is None else words.event(event)

    @property
    def words(self) -> FileWords | None:
        """The words of the file from which the hand is, or None."""
        if self.phh is None:
            return None
        return FileWords(self.players, self.setup.get("number", "1"), self.setup.get("chips_per_unit", 1))

    def playback(self, viewer: int) -> "Playback":
        """Return a Playback at the start of the timeline, as `viewer` sees it."""
        return Playback(self, viewer)

    # -- replay -------------------------------------------------------------------------------------------------

    @property
    def actions(self) -> list[int]:
        """The ids and codes of all actions, in order."""
        return [entry.data["id"] for entry in self.entries if entry.kind == "action"]

    def state_at(self, k: int | None = None) -> TexasHoldemState:
        """Return the state after the first `k` actions, by default all, played by the rules.

        Raises:
            FormatError: the setup cannot be dealt, or an action is illegal.
        """
        actions = self.actions
        if self.phh is not None:
            return self._hand_at(actions if k is None else actions[:k])
        replay = Replay(GAME, dict(self.options), dict(self.setup), self.players, tuple(actions), (), "")
        state = replay.state_at(len(actions) if k is None else k, "timeline")
        assert isinstance(state, TexasHoldemState)
        return state

    @property
    def phh(self) -> str | None:
        """The PHH text of a hand of a file, from which the timeline was made; None for a match played here."""
        return self.setup.get("phh")

    def _hand_at(self, actions: list[int]) -> TexasHoldemState:
        """Return the state of a hand of a file after some actions; its unknown cards stay unknown."""
        from cardenvs.tools.texas_holdem import phh

        state = phh.loads(self.phh or "", self.setup.get("chips_per_unit", 1)).restarted()
        state.title = self.setup.get("number", "")
        for ply, action in enumerate(actions):
            try:
                state.apply(action)
            except CardenvsError as error:
                raise FormatError(f"timeline: recorded action {ply} is illegal: {error}") from None
        return state

    def verify(self) -> None:
        """Replay the match and compare all entries.

        Raises:
            FormatError: an action is illegal, or an entry differs.
        """
        again = Timeline.of(self.state_at(), list(self.players))
        for mine, theirs in zip(self.entries, again.entries, strict=False):
            if mine != theirs:
                raise FormatError(
                    f"timeline: entry {mine.index} reads {mine.as_json()}, but replaying gives {theirs.as_json()}"
                )
        if len(self) != len(again):
            raise FormatError(f"timeline: it has {len(self)} entries, but replaying gives {len(again)}")

    # -- files --------------------------------------------------------------------------------------------------

    def dumps(self) -> str:
        """Return the timeline as JSON lines."""
        body = "".join(json_line(entry.as_json()) for entry in self.entries)
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
        return json_line(head) + body

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the timeline to a file, replacing an existing one atomically."""
        write_whole(path, self.dumps())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a timeline from a file.

        Raises:
            FormatError: the file is not a timeline, was truncated or edited, or has another version.
        """
        try:
            return cls.loads(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise FormatError(f"{path}: not UTF-8 text ({error})") from None
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None

    @classmethod
    def loads(cls, text: str) -> Self:
        """Read a timeline from a text; see `load`."""
        first, _, body = text.partition("\n")
        head = _checked_head(json_object(first, 1))
        if hashlib.sha256(body.encode()).hexdigest() != head["digest"]:
            lines = body.count("\n")
            why = f"it has {lines} of {head['entries']} entries" if lines != head["entries"] else "an entry was changed"
            raise FormatError(f"the digest does not match: the timeline was cut short or edited ({why})")
        objects = [json_object(line, number) for number, line in enumerate(body.splitlines(), 2)]
        entries = tuple(entry_of(data, index) for index, data in enumerate(objects))
        return cls(head["options"], head["setup"], tuple(head["players"]), head["finished"], entries)

    # -- helpers ------------------------------------------------------------------------------------------------

    def _check_place(self, i: int) -> None:
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i <= len(self):
            raise IndexError(f"the timeline has places 0 to {len(self)}; got {i!r}")

    def _check_viewer(self, viewer: int) -> None:
        if viewer not in (SPECTATOR, OMNISCIENT) and not 0 <= viewer < len(self.players):
            raise ValueError(f"players are 0 to {len(self.players) - 1}; got {viewer!r}")


def timeline_of(match: Timeline | Replay | State) -> Timeline:
    """Return the timeline of a match in any of these forms; the players of a state are player_0, player_1, ..."""
    if isinstance(match, Timeline):
        return match
    if isinstance(match, Replay):
        return Timeline.of(match.state_at(len(match.actions)), list(match.players))
    return Timeline.of(match)


class Playback:
    """A position in a timeline, as one viewer sees it. Stepping does not change the timeline.

    Attributes:
        timeline: the timeline.
        viewer: a player, SPECTATOR or OMNISCIENT.
        index: number of entries passed, 0 to len(timeline).
        table: the table after these entries.
    """

    def __init__(self, timeline: Timeline, viewer: int) -> None:
        self.timeline, self.viewer = timeline, viewer
        self.seek(0)

    def forward(self) -> Entry | None:
        """Go forward one entry and return it, or None at the end."""
        if self.index == len(self.timeline):
            return None
        entry = self.timeline.entries[self.index]
        if entry.row is not None:
            for row in TABLE.visible(np.array([entry.row], np.int32), self.viewer):
                self.table.apply(row)
        self.index += 1
        return entry

    def back(self) -> Entry | None:
        """Go back one entry and return it, or None at the start. Folds all entries before it again."""
        if self.index == 0:
            return None
        self.seek(self.index - 1)
        return self.timeline.entries[self.index]

    def seek(self, i: int) -> None:
        """Go to the position before entry `i`, 0 <= i <= len(timeline)."""
        self.table = self.timeline.table(i, self.viewer)
        self.index = i


def _checked_head(head: dict[str, Any]) -> dict[str, Any]:
    if head.get("format") != FORMAT:
        raise FormatError(f'this is not a timeline: line 1 lacks "format": "{FORMAT}"')
    for name, kind in _HEAD.items():
        if not isinstance(head.get(name), kind):
            raise FormatError(f"line 1: {name!r} should be of type {kind.__name__}; got {head.get(name)!r}")
    if head["format_version"] != FORMAT_VERSION:
        raise FormatError(f"this timeline has format {head['format_version']}; this cardenvs reads {FORMAT_VERSION}")
    if head["game"] != GAME.name:
        raise FormatError(f"this is a timeline of {head['game']!r}; expected one of {GAME.name}")
    try:
        options = GAME.make_options(**head["options"])
    except CardenvsError as error:
        raise FormatError(f"line 1: {error}") from None
    if len(head["players"]) != options.num_players or not all(isinstance(name, str) for name in head["players"]):
        raise FormatError(f"line 1: 'players' should be {options.num_players} names; got {head['players']!r}")
    if not isinstance(head["setup"].get("seed"), int) or not isinstance(head["setup"].get("deck"), list):
        raise FormatError("line 1: 'setup' needs a seed and a deck")
    given = head["setup"].get("phh"), head["setup"].get("chips_per_unit")
    if given != (None, None) and not (isinstance(given[0], str) and isinstance(given[1], int)):
        raise FormatError("line 1: 'setup' has a hand of a file, which needs its text and chips_per_unit")
    if not isinstance(head["setup"].get("number", ""), str):
        raise FormatError("line 1: the 'number' of a hand of a file is a text")
    return head
