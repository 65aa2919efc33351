"""One table: a game, who may do what at it, and what each viewer has been shown. No network, no clock, no threads.

Whoever looks at the table does so as a viewer: a player, SPECTATOR or OMNISCIENT. For each viewer the table counts
*turns*: how often what this viewer sees has changed. A request names the turn it answers, so a click on a table that
has moved on does nothing, and the number says nothing that the viewer has not seen.
"""

import bisect
import hashlib
import json
import logging
import secrets
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cardenvs.core.checks import short
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import FormatError, IllegalActionError
from cardenvs.core.events import AUDIENCE, KIND, SPECTATOR, Part, viewer_bit
from cardenvs.core.game import Game
from cardenvs.core.intents import guessed_events, resolve
from cardenvs.core.narration import Narrator
from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.server.failures import reason_of
from cardenvs.server.history import Moment, drawn
from cardenvs.server.records import Move, Records, SeatRecord, TableRecord

_log = logging.getLogger("cardenvs.server")

PERSON = ""  # in place of an agent's name
_LONGEST_PLAY = 200  # actions of one request
_MOST_LOGGED, _LOGGED_CHARACTERS = 20, 200_000  # decisions of an agent that are shown at once, and about how much text
_MOST_TRIES = 3  # of an agent that cannot be asked whose notes are kept, the latest
_LINK_BYTES = 16


class RefusedError(Exception):
    """A request that is not granted. The message is for the person who made it."""


@dataclass
class Shown:
    """What one viewer has been shown.

    Attributes:
        turn: how often it has changed.
        view: the game view.
        lines: what happened, for people.
        rewinds: how often moves were taken back, after which `lines` may be shorter.
        rounds: number of events after each hand or round that has ended.
    """

    turn: int = 0
    view: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    rewinds: int = 0
    rounds: list[int] = field(default_factory=list)
    revision: int = -1  # of the table, when this was made
    text: str = ""  # of the view
    ends: list[int] = field(default_factory=list)  # number of lines after the deal and after each action
    event_ends: list[int] = field(default_factory=list)  # the same of events
    pictures: dict[bool, str] = field(default_factory=dict)  # JSON, by whether it is narrow


class Table:
    """A game that people and agents play.

    Attributes:
        record: what is kept of the table.
        state: the game. Change it through the methods only.
        moves: all actions, with agents' notes.
        revision: counts all changes; secret, as some of them are.
    """

    def __init__(self, record: TableRecord, game: Game, records: Records, moves: Sequence[Move] = ()) -> None:
        """Set up a table and make the moves that were kept."""
        self.record, self._records = record, records
        self._game = game
        self.state = self._new_state()
        self.moves: list[Move] = []
        self._deciders: list[tuple[int, str]] = []  # of each move: the player, and its label
        self._tried: list[dict[str, Any]] = []  # notes of an agent that could not be asked, about the next decision
        self._event_ends = [len(self.state.event_log())]  # after the deal and after each action
        self._round_ends: list[int] = []  # events after each hand or round that has ended
        self._returnable: list[State] = []  # positions before the moves that may be taken back
        self._shown: dict[int, Shown] = {}
        self._rewinds = 0
        self._requests: Counter[int] = Counter()  # granted, by player; after each one the view counts as changed
        self.revision = 0
        self._ends_rounds = np.array([kind.closes == Part.HAND for kind in game.table.kinds])
        for move in moves:
            self._apply(move)
        if moves and self.state.is_terminal:
            self._finish()

    # -- who is who ---------------------------------------------------------------------------------------------

    @property
    def people(self) -> list[int]:
        """The players that are people's, also while agents play for them."""
        return [player for player, seat in enumerate(self.record.seats) if seat.link]

    @property
    def num_rounds(self) -> int:
        """How many hands or rounds have ended; the game has gone on after each."""
        return len(self._round_ends)

    @property
    def agent_to_act(self) -> str:
        """Name of the agent to act; PERSON if a person is, or nobody."""
        return PERSON if self.state.is_terminal else self.record.seats[self.state.current_player].agent

    def seat_of(self, link: str) -> int | None:
        """Return the player whose secret link this is."""
        return next((p for p, seat in enumerate(self.record.seats) if seat.link and seat.link == link), None)

    def may_watch(self, viewer: int, link: str) -> bool:
        """Return whether a link lets somebody see what `viewer` sees."""
        seat = self.seat_of(link)
        if self.state.is_terminal or viewer == SPECTATOR:
            return True
        if seat is not None:
            return viewer == seat
        return link == self.record.host and not self.people

    def agent_seed(self, *place: int | str) -> int:
        """Return a seed that says nothing about the deal."""
        digest = hashlib.blake2s(repr(place).encode(), key=self.record.key, digest_size=8).digest()
        return int.from_bytes(digest, "little") >> 1

    def change_seat(self, link: str, player: int, agent: str, is_here: bool, think: float) -> str:
        """Change who plays a player.

        A person may let an agent play for them, and play again. Whoever opened the table may seat another agent in
        place of one, let the game's usual opponent play for somebody who is away, and open one seat of a table without
        people to a person. Nobody gets to see cards that another person has held, or a second hand.

        Args:
            link: of whoever asks for it.
            player: whose seat it is.
            agent: who is to play, or PERSON.
            is_here: whether the person whose seat it is looks at the table.
            think: seconds that agents take at least when the table gets its first person.

        Returns:
            the new link of a seat that was opened to a person, or "".

        Raises:
            RefusedError: it is not allowed.
        """
        seat, opened = self.record.seats[player], ""
        if self.state.is_terminal:
            raise RefusedError("the game is over")
        if not seat.link or link != seat.link:
            self._check_host_may_seat(link, player, agent, is_here)
            if agent == PERSON:
                opened = secrets.token_urlsafe(_LINK_BYTES)
        seats = list(self.record.seats)
        seats[player] = SeatRecord(agent, opened or seat.link)
        changed = replace(self.record, seats=tuple(seats))
        if opened:
            changed = replace(changed, think=max(think, self.record.think))
        self._records.change_seats(changed)
        self.record = changed
        self._returnable.clear()
        self.revision += 1
        return opened

    def _check_host_may_seat(self, link: str, player: int, agent: str, is_here: bool) -> None:
        seat, usual = self.record.seats[player], self._game.default_opponent
        if link != self.record.host:
            raise RefusedError("only the person whose seat it is, or whoever opened the table, can change who plays")
        if seat.link:
            if is_here or seat.agent != PERSON:
                raise RefusedError(
                    f"only player_{player} can change that: they are here or left a moment ago, "
                    "or an agent plays for them"
                )
            if agent != usual:
                raise RefusedError(f"for somebody who is away, only {usual} can play")
        elif agent == PERSON and self.people:
            raise RefusedError("a person can take an agent's seat only at a table without people")

    # -- moves --------------------------------------------------------------------------------------------------

    def act(self, seat: int, turn: int, intents: Sequence[Any]) -> None:
        """Make moves of a person: all of them, or none.

        Args:
            seat: the player.
            turn: of the view that the person saw.
            intents: as in `cardenvs.core.intents`; after the first one as actions by id.

        Raises:
            RefusedError: the table has moved on, or a move is illegal.
        """
        self._check_turn(seat, turn)
        if not 0 < len(intents) <= _LONGEST_PLAY:
            raise RefusedError(f"a play has 1 to {_LONGEST_PLAY} actions")
        trial, actions = self.state.clone(), []
        for intent in intents:
            try:
                actions.append(resolve(trial, seat, intent, self.record.key))
            except (FormatError, IllegalActionError) as error:
                raise RefusedError(str(error)) from None
            trial.apply(actions[-1])
        self._requests[seat] += 1
        self._make([Move(action) for action in actions])

    def forfeit(self, seat: int, turn: int) -> None:
        """A person leaves the game, on their own turn.

        Raises:
            RefusedError: it is not their turn.
        """
        self._check_turn(seat, turn)
        if self.state.current_player != seat:
            raise RefusedError("you can leave the game when it is your turn")
        self._make([Move(FORFEIT + seat)])

    def decide(self, action: int, notes: dict[str, Any]) -> None:
        """Make the move of an agent: a legal action or a forfeit."""
        seat = self.record.seats[self.state.current_player]
        kept = notes | ({"earlier": self._tried} if self._tried else {})
        kept |= {"by": seat.agent} if seat.agent and seat.link else {}
        self._make([Move(action, kept or None)])

    def note_try(self, notes: dict[str, Any]) -> None:
        """Keep what an agent noted about a decision that it could not make; it is part of the next move's notes."""
        self._tried = [*self._tried, notes][-_MOST_TRIES:]

    def can_take_back(self, seat: int) -> bool:
        """Return whether a player may take the last move back: their turn goes on and nothing was revealed to them."""
        return bool(self._returnable) and self.state.current_player == seat

    def take_back(self, seat: int, turn: int) -> None:
        """Take the last move of an unfinished turn back.

        Raises:
            RefusedError: there is none, or it revealed something.
        """
        self._check_turn(seat, turn)
        if not self.can_take_back(seat):
            raise RefusedError(
                "no move can be taken back: your turn has just begun, or the last move showed you something"
            )
        self._requests[seat] += 1
        self._records.take_back(self.record.watch, len(self.moves) - 1)
        self.state = self._returnable.pop()
        self.moves.pop()
        self._deciders.pop()
        self._event_ends.pop()
        self._round_ends = [end for end in self._round_ends if end <= self._event_ends[-1]]
        self._rewinds += 1
        self.revision += 1

    def _check_turn(self, seat: int, turn: int) -> None:
        if self.show(seat).turn != turn:
            raise RefusedError("the table has changed in the meantime; look again")

    def _make(self, moves: list[Move]) -> None:
        self._records.add_moves(self.record.watch, len(self.moves), moves)
        for move in moves:
            self._note_whether_returnable(move)
        if self.state.is_terminal:
            self._finish()

    def _finish(self) -> None:
        """Note that the game is over. If that cannot be written now, it is when the table is opened again."""
        try:
            self._records.finish(self.record.watch)
        except sqlite3.Error as error:
            _log.error("the end of table %s cannot be kept: %s", self.record.watch, error)

    def _note_whether_returnable(self, move: Move) -> None:
        """Make a move, and note whether it may be taken back."""
        player, before = self.state.current_player, self.state.clone()
        is_person = self.record.seats[player].agent == PERSON and move.action < FORFEIT
        guesses = guessed_events(before, player, move.action) if is_person else []
        self._apply(move)
        happened = self.state.events(player)[len(before.event_rows(player)) :]
        goes_on = is_person and self.state.current_player == player
        if goes_on and all(guess == happened for guess in guesses):
            self._returnable.append(before)
        else:
            self._returnable.clear()

    def _apply(self, move: Move) -> None:
        is_leaving = move.action >= FORFEIT
        label = "leaves the game" if is_leaving else self.state.action_label(move.action)
        self._deciders.append((self.state.current_player, label))
        self._tried = []
        self.state.apply(move.action)
        self.moves.append(move)
        rows, before = self.state.event_log(), self._event_ends[-1]
        self._event_ends.append(len(rows))
        closing = np.flatnonzero(self._ends_rounds[rows[before:, KIND]])
        if len(closing) and not self.state.is_terminal:
            self._round_ends.append(before + int(closing[-1]) + 1)
        self.revision += 1

    def _new_state(self) -> State:
        record = self.record
        return self._game.new_state(seed=record.seed, deck=record.deck or None, **record.options)

    # -- what viewers see ---------------------------------------------------------------------------------------

    def show(self, viewer: int) -> Shown:
        """Return what a viewer sees now."""
        shown = self._shown.setdefault(viewer, Shown())
        if shown.revision == self.revision:
            return shown
        shown.view = self.state.view(viewer, self.record.key)
        seats = [(seat.agent, bool(seat.link)) for seat in self.record.seats]
        text = json.dumps([shown.view, viewer >= 0 and self.can_take_back(viewer), self._requests.get(viewer), seats])
        said = len(shown.lines)
        self._tell(shown, viewer)
        if text != shown.text or len(shown.lines) != said or shown.rewinds != self._rewinds:
            shown.turn += 1
            shown.pictures.clear()
        shown.text, shown.revision, shown.rewinds = text, self.revision, self._rewinds
        return shown

    def picture(self, viewer: int, narrow: bool) -> str:
        """Return what a viewer sees as the JSON members that clients draw and act on, without the braces."""
        shown = self.show(viewer)
        if narrow not in shown.pictures:
            shown.pictures[narrow] = self._picture(viewer, shown.view, narrow)
        return shown.pictures[narrow]

    def _picture(self, viewer: int, view: dict[str, Any], narrow: bool) -> str:
        state = self.state
        made = {
            "game": view["game"],
            "title": view["title"],
            "viewer": view["viewer"],
            **drawn(view | {"prompt": ""}, narrow),  # clients show it below
            "players": [
                {"name": f"player_{p}", "by": seat.by, "person": bool(seat.link), "return": state.returns[p]}
                for p, seat in enumerate(self.record.seats)
            ],
            "current": state.current_player,
            "over": state.is_terminal,
            "prompt": view["prompt"],
            "choices": view["choices"],
            "undo": viewer >= 0 and self.can_take_back(viewer),
        }
        return json.dumps(made, separators=(",", ":"))[1:-1]

    def _tell(self, shown: Shown, viewer: int) -> None:
        """Bring the lines of a viewer up to date, action by action."""
        if shown.rewinds != self._rewinds:
            shown.ends.clear()
            shown.event_ends.clear()
            shown.lines.clear()
        rows, table = self.state.event_log(), self.state.game.table
        narrator = Narrator(self.state.game, viewer, self.state.num_players)
        for ply in range(len(shown.ends), len(self._event_ends)):
            first = self._event_ends[ply - 1] if ply else 0
            seen = table.visible(rows[first : self._event_ends[ply]], viewer)
            shown.lines += narrator.sentences([table.read(row) for row in seen])
            shown.ends.append(len(shown.lines))
            shown.event_ends.append(len(seen) + (shown.event_ends[-1] if ply else 0))
        sees = (rows[:, AUDIENCE] & viewer_bit(viewer)) != 0
        shown.rounds = [int(np.count_nonzero(sees[:end])) for end in self._round_ends if sees[end - 1]]

    def moment(self, viewer: int, event: int) -> Moment:
        """Return what shows the table as a viewer saw it after the first `event` of its events.

        Raises:
            RefusedError: there are not so many.
        """
        ends = self.show(viewer).event_ends
        if not 0 < event <= ends[-1]:
            raise RefusedError(f"there are events 1 to {ends[-1]}; got {short(event)}")
        actions = [move.action for move in self.moves[: bisect.bisect_left(ends, event)]]
        return Moment(self._new_state(), actions, viewer, event, self.record.key)

    def log(self, player: int, link: str, before: int) -> dict[str, Any]:
        """Return what a player's agents noted about their decisions, for people.

        Whoever may not see what the player sees learns only how decisions failed.

        Args:
            player: int.
            link: of whoever asks.
            before: only decisions before this number, counted from 0.

        Returns:
            {"entries": [{"number", "label", "notes"} or {"number", "failed": [{"reason", "times"}, ...]}, ...],
            latest first, "is_full": whether they show everything}.
        """
        is_full = self.may_watch(player, link)
        entries = self._decisions(player) if is_full else self._failures(player)
        found: list[dict[str, Any]] = []
        room = _LOGGED_CHARACTERS
        for entry in reversed(entries[: max(0, before)]):
            if len(found) == _MOST_LOGGED or room <= 0:
                break
            room -= len(json.dumps(entry))
            found.append(entry)
        return {"entries": found, "is_full": is_full}

    def _decisions(self, player: int) -> list[dict[str, Any]]:
        """Return everything that agents noted about the decisions of a player."""
        noted = [
            {"label": label, "notes": move.notes}
            for move, (decider, label) in zip(self.moves, self._deciders, strict=True)
            if decider == player and move.notes
        ]
        if self._tried and self.state.current_player == player:
            noted += [{"label": "", "notes": notes} for notes in self._tried]
        return [{"number": number} | entry for number, entry in enumerate(noted)]

    def _failures(self, player: int) -> list[dict[str, Any]]:
        """Return how decisions of a player failed, in words that say nothing about cards."""
        found: list[dict[str, Any]] = []
        for entry in self._decisions(player):
            tries = [*entry["notes"].get("earlier", []), entry["notes"]]
            kinds = [kind for notes in tries for kind in notes.get("failed", [])]
            if kinds:
                counts = Counter(reason_of(kind) for kind in kinds)
                failed = [{"reason": reason, "times": times} for reason, times in counts.items()]
                found.append({"number": len(found), "failed": failed})
        return found

    # -- once it is over ----------------------------------------------------------------------------------------

    def replay(self) -> Replay:
        """Return the game so far as a replay. It shows everything, so only of a game that is over."""
        return Replay.of(self.state, [seat.by for seat in self.record.seats])

    def replay_job(self) -> dict[str, Any]:
        """Return what draws a page that plays the game, with agents' notes (cardenvs.server.drawing)."""
        notes = {str(ply): move.notes for ply, move in enumerate(self.moves) if move.notes}
        return {"text": self.replay().text(), "notes": notes}
