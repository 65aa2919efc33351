"""One table: a game, who may do what, and what each viewer has seen. No network, no clock, no threads.

A viewer is a player, SPECTATOR or OMNISCIENT. For each viewer, the table counts *turns*: how often the viewer's view
has changed. A request names the turn that it answers, so a click on an outdated view does nothing. The number reveals
nothing that the viewer has not seen.
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

from cardenvs.core.beats import beats, closings
from cardenvs.core.checks import short
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import FormatError, IllegalActionError
from cardenvs.core.events import SPECTATOR, Part
from cardenvs.core.game import Game
from cardenvs.core.intents import guessed_events, resolve_play
from cardenvs.core.narration import Narrator
from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.server.failures import reason_of
from cardenvs.server.history import Moment, drawn
from cardenvs.server.records import Move, Records, SeatRecord, TableRecord

_log = logging.getLogger("cardenvs.server")

PERSON = ""  # replaces an agent's name
_LONGEST_PLAY = 200  # actions of one request
_MOST_LOGGED, _LOGGED_CHARACTERS = 20, 200_000  # size of a log: decisions, and approximate number of characters
_MOST_TRIES = 3  # latest failed decisions whose notes are kept for the next move
_LINK_BYTES = 16


class RefusedError(Exception):
    """A refused request. The message is for the person who made it."""


@dataclass
class Shown:
    """What one viewer has seen.

    Attributes:
        turn: how often it has changed.
        view: the game view.
        lines: sentences about the events.
        rewinds: how often moves were taken back, which may shorten `lines`.
        folds: for each finished trick, hand or round, the number of lines up to its end and the part of the game, as a
            `Part`.
        rounds: number of the viewer's events at the end of each finished hand or round, before the next one begins.
        revision: revision of the table for which this was made.
        text: JSON by which a change is noticed.
        ends: number of lines after the deal and after each action.
        event_ends: number of events after the deal and after each action.
        beats: for each moment since the deal that is worth a look, the number of events up to it and the part of the
            game that it closes (see `cardenvs.core.beats`).
        pictures: JSON of the picture, by whether it is narrow.
    """

    turn: int = 0
    view: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    rewinds: int = 0
    folds: list[tuple[int, int]] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    revision: int = -1
    text: str = ""
    ends: list[int] = field(default_factory=list)
    event_ends: list[int] = field(default_factory=list)
    beats: list[tuple[int, int]] = field(default_factory=list)
    pictures: dict[bool, str] = field(default_factory=dict)


Asked = tuple[int, int, SeatRecord | None]


class Table:
    """A game that people and agents play."""

    def __init__(self, record: TableRecord, game: Game, records: Records, moves: Sequence[Move] = ()) -> None:
        """Create a table and replay its moves."""
        self.record = record  # its entry in the database
        self._records = records
        self._game = game
        self.state = self._new_state()  # the game. Only the methods may change it.
        self.moves: list[Move] = []  # all actions with agents' notes
        self._deciders: list[tuple[int, str]] = []  # player and label of each move
        self._tried: list[dict[str, Any]] = []  # notes on failed attempts at the next decision
        self._event_ends = [len(self.state.event_log())]  # number of events after the deal and after each action
        self._round_ends: list[int] = []  # number of events after each action that ended a hand or round
        self._returnable: list[State] = []  # positions before the moves that can be taken back
        self._shown: dict[int, Shown] = {}
        self._rewinds = 0
        self._requests: Counter[int] = Counter()  # granted requests by player; each one starts a new turn
        self.revision = 0  # counts all changes. Secret, because viewers do not see all of them.
        for move in moves:
            self._apply(move)
        if moves and self.state.is_terminal:
            self._finish()

    # -- seats --------------------------------------------------------------------------------------------------

    @property
    def people(self) -> list[int]:
        """The players owned by people, even while agents play for them."""
        return [player for player, seat in enumerate(self.record.seats) if seat.link]

    @property
    def num_rounds(self) -> int:
        """How many hands or rounds have ended, except for the last of a finished game."""
        return len(self._round_ends)

    @property
    def usual_agent(self) -> str:
        """Name of the agent that plays for whoever is absent."""
        return self._game.default_opponent

    @property
    def agent_to_act(self) -> str:
        """Name of the agent to act; PERSON if it is a person's turn or the game is over."""
        return PERSON if self.state.is_terminal else self.record.seats[self.state.current_player].agent

    @property
    def asked(self) -> Asked:
        """What a decision that is being made depends on: the position, and whose it is. Other seats may change."""
        seat = None if self.state.is_terminal else self.record.seats[self.state.current_player]
        return len(self.moves), self._rewinds, seat

    def seat_of(self, link: str) -> int | None:
        """Return the player with this secret link, or None."""
        return next((p for p, seat in enumerate(self.record.seats) if seat.link and seat.link == link), None)

    def may_watch(self, viewer: int, link: str) -> bool:
        """Return whether the owner of a link may see what `viewer` sees."""
        seat = self.seat_of(link)
        if self.state.is_terminal or viewer == SPECTATOR:
            return True
        if seat is not None:
            return viewer == seat
        return link == self.record.host and not self.people

    def agent_seed(self, *place: int | str) -> int:
        """Return a seed that reveals nothing about the deal."""
        digest = hashlib.blake2s(repr(place).encode(), key=self.record.key, digest_size=8).digest()
        return int.from_bytes(digest, "little") >> 1

    def change_seat(
        self, link: str, player: int, agent: str, is_here: bool, think: float, has_stopped: bool = False
    ) -> str:
        """Change who plays a seat.

        People may let agents play for them and take their seats back. The host may replace an agent by another one, let
        the game's default opponent play for an absent person, and give one seat of a table without people to a person.
        Any player may let the default opponent play for an agent that has stopped, so that nobody can make the others
        wait. No person gets to see cards that another person has held, or a second hand.

        Args:
            link: secret link of the person who asks.
            player: the seat's player.
            agent: name of an agent, or PERSON.
            is_here: whether the seat's owner is present.
            think: least thinking time, in seconds, that applies if this is the first person at the table.
            has_stopped: whether the game waits because the seat's agent gave no answer.

        Returns:
            the new secret link of a seat given to a person, or "".

        Raises:
            RefusedError: this is not allowed.
        """
        seat, opened = self.record.seats[player], ""
        if self.state.is_terminal:
            raise RefusedError("the game is over")
        is_relieved = has_stopped and agent == self.usual_agent and self.seat_of(link) is not None
        if not is_relieved and (not seat.link or link != seat.link):
            self._check_host_may_seat(link, player, agent, is_here)
            if agent == PERSON:
                opened = secrets.token_urlsafe(_LINK_BYTES)
        if agent == seat.agent and not opened and not is_relieved:
            return ""
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
        seat, usual = self.record.seats[player], self.usual_agent
        if link != self.record.host:
            raise RefusedError("only the person whose seat it is, or whoever opened the table, can change who plays")
        if seat.link:
            if is_here or seat.agent != PERSON:
                raise RefusedError(
                    f"only player_{player} can change that: they are here or left a moment ago, "
                    "or an agent plays for them"
                )
            if agent != usual:
                raise RefusedError(f"only {usual} can play for an absent person")
        elif agent == PERSON and self.people:
            raise RefusedError("a person can take an agent's seat only at a table without people")

    # -- moves --------------------------------------------------------------------------------------------------

    def act(self, seat: int, turn: int, intents: Sequence[Any]) -> None:
        """Make the moves of a person's request; `turn` is that of the view they saw, and `intents` as in core.intents.

        Raises:
            RefusedError: the view is outdated, a move is illegal, or one before the last may show something. No move
                is made then.
        """
        self._check_turn(seat, turn)
        if not 0 < len(intents) <= _LONGEST_PLAY:
            raise RefusedError(f"a play must have 1 to {_LONGEST_PLAY} actions")
        try:
            actions = resolve_play(self.state, seat, intents, self.record.key)
        except (FormatError, IllegalActionError) as error:
            raise RefusedError(str(error)) from None
        self._requests[seat] += 1
        self._make([Move(action) for action in self._possible(seat, actions)])

    def _possible(self, seat: int, actions: list[int]) -> list[int]:
        """Return the actions up to the first that a player cannot take, which is rare (see `resolve_play`)."""
        trial = self.state.clone()
        for number, action in enumerate(actions):
            if trial.current_player != seat or action not in trial.legal_actions():
                return actions[:number]
            trial.apply_unchecked(action)
        return actions

    def forfeit(self, seat: int, turn: int) -> None:
        """Forfeit for a person, on their own turn.

        Raises:
            RefusedError: the view is outdated, or it is another player's turn.
        """
        self._check_turn(seat, turn)
        if self.state.is_terminal:
            raise RefusedError("the game is over")
        if self.state.current_player != seat:
            raise RefusedError("you can leave the game when it is your turn")
        self._make([Move(FORFEIT + seat)])

    def decide(self, action: int, notes: dict[str, Any]) -> None:
        """Make a move that no person has chosen: an agent's legal action, or a forfeit."""
        seat = self.record.seats[self.state.current_player]
        kept = notes | ({"earlier": self._tried} if self._tried else {})
        kept |= {"by": seat.agent} if seat.agent and seat.link else {}
        self._make([Move(action, kept or None)])

    def note_try(self, notes: dict[str, Any]) -> None:
        """Keep the notes on a failed decision. They become part of the next move's notes."""
        self._tried = [*self._tried, notes][-_MOST_TRIES:]

    def can_take_back(self, seat: int) -> bool:
        """Return whether a player can take back the last move: it is still their turn, and they learned nothing new."""
        return bool(self._returnable) and self.state.current_player == seat

    def take_back(self, seat: int, turn: int) -> None:
        """Take back the last move of an unfinished turn.

        Raises:
            RefusedError: the view is outdated, there is no such move, or the move revealed something.
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
            self._apply_and_check(move)
        if self.state.is_terminal:
            self._finish()

    def _finish(self) -> None:
        """Record the end of the game. If that fails, it is tried again when the table is loaded."""
        try:
            self._records.finish(self.record.watch)
        except sqlite3.Error as error:
            _log.error("the end of table %s cannot be kept: %s", self.record.watch, error)

    def _apply_and_check(self, move: Move) -> None:
        """Make a move and find out whether it can be taken back."""
        player, before = self.state.current_player, self.state.clone()
        is_person = self.record.seats[player].agent == PERSON and move.action < FORFEIT
        guesses = guessed_events(before, player, move.action) if is_person else []
        self._apply(move)
        happened = self.state.events(player)[len(before.event_rows(player)) :]
        same_turn = is_person and self.state.current_player == player
        if same_turn and all(guess == happened for guess in guesses):
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
        if not self.state.is_terminal and Part.HAND in closings(self.state.game.table, rows[before:], False):
            self._round_ends.append(len(rows))
        self.revision += 1

    def _new_state(self) -> State:
        record = self.record
        return self._game.new_state(seed=record.seed, deck=record.deck or None, **record.options)

    # -- views --------------------------------------------------------------------------------------------------

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
        """Return a viewer's picture and choices as JSON members without the braces."""
        shown = self.show(viewer)
        if narrow not in shown.pictures:
            shown.pictures[narrow] = self._picture(viewer, shown.view, narrow)
        return shown.pictures[narrow]

    def _picture(self, viewer: int, view: dict[str, Any], narrow: bool) -> str:
        state = self.state
        made = {
            "game": view["game"],
            "title": view["title"],
            "options": self._option_texts(),
            "viewer": view["viewer"],
            **drawn(view | {"prompt": ""}, narrow),  # clients show the prompt below the picture
            "players": [
                {"name": f"player_{p}", "by": seat.by, "person": bool(seat.link), "return": state.returns[p]}
                for p, seat in enumerate(self.record.seats)
            ],
            "current": state.current_player,
            "over": state.is_terminal,
            "prompt": view["prompt"],
            "choices": view["choices"],
            "goal": view.get("goal"),
            "undo": viewer >= 0 and self.can_take_back(viewer),
        }
        return json.dumps(made, separators=(",", ":"))[1:-1]

    def _option_texts(self) -> dict[str, str]:
        """Return the options that differ from the defaults, as a request for a table takes them."""
        changed = self.state.options.changed()
        return {
            name: ",".join(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in changed.items()
        }

    def _tell(self, shown: Shown, viewer: int) -> None:
        """Update a viewer's lines, action by action."""
        if shown.rewinds != self._rewinds:
            shown.ends.clear()
            shown.event_ends.clear()
            shown.lines.clear()
            shown.beats.clear()
            shown.folds.clear()
            shown.rounds.clear()
        rows, table = self.state.event_log(), self.state.game.table
        narrator = Narrator(self.state.game, viewer, self.state.num_players)
        for ply in range(len(shown.ends), len(self._event_ends)):
            first = self._event_ends[ply - 1] if ply else 0
            seen = table.visible(rows[first : self._event_ends[ply]], viewer)
            before = shown.event_ends[-1] if ply else 0
            shown.event_ends.append(before + len(seen))
            is_over = ply == len(self.moves) and self.state.is_terminal
            found = beats(table, seen, is_over=is_over) if ply and len(seen) else []
            told = 0
            for beat in found:
                if beat.closes:
                    shown.lines += narrator.sentences([table.read(row) for row in seen[told : beat.told_to]])
                    shown.folds.append((len(shown.lines), int(beat.closes)))
                    told = beat.told_to
            shown.lines += narrator.sentences([table.read(row) for row in seen[told:]])
            shown.ends.append(len(shown.lines))
            shown.beats += [(before + beat.end, int(beat.closes)) for beat in found]
            if not is_over:
                shown.rounds += [before + beat.end for beat in found if beat.closes == Part.HAND]

    def moment(self, viewer: int, event: int) -> Moment:
        """Return the position that a viewer saw after the first `event` of its events.

        Raises:
            RefusedError: there is no such event.
        """
        ends = self.show(viewer).event_ends
        if not 0 < event <= ends[-1]:
            raise RefusedError(f"events are 1 to {ends[-1]}; got {short(event)}")
        actions = [move.action for move in self.moves[: bisect.bisect_left(ends, event)]]
        return Moment(self._new_state(), actions, viewer, event, self.record.key)

    def log(self, player: int, link: str, before: int) -> dict[str, Any]:
        """Return the notes of a player's agents on decisions before number `before`, for the person with this link.

        People who may not see the player's cards get only the reasons of failures.

        Returns:
            "entries": [{"number", "label", "notes"}, ...] or [{"number", "failed": [{"reason", "times"}, ...]}, ...],
            latest first; "is_full": whether these are all notes.
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
        """Return all notes of agents on the decisions of a player, oldest first."""
        noted = [
            {"label": label, "notes": move.notes}
            for move, (decider, label) in zip(self.moves, self._deciders, strict=True)
            if decider == player and move.notes
        ]
        if self._tried and self.state.current_player == player:
            noted += [{"label": "", "notes": notes} for notes in self._tried]
        return [{"number": number} | entry for number, entry in enumerate(noted)]

    def _failures(self, player: int) -> list[dict[str, Any]]:
        """Return the failures in the decisions of a player, described without revealing cards."""
        found: list[dict[str, Any]] = []
        for entry in self._decisions(player):
            tries = [*entry["notes"].get("earlier", []), entry["notes"]]
            kinds = [kind for notes in tries for kind in notes.get("failed", [])]
            if kinds:
                counts = Counter(reason_of(kind) for kind in kinds)
                failed = [{"reason": reason, "times": times} for reason, times in counts.items()]
                found.append({"number": len(found), "failed": failed})
        return found

    # -- replays ------------------------------------------------------------------------------------------------

    def replay(self) -> Replay:
        """Return the game so far as a replay. It shows all cards, so only a finished game's may be published."""
        return Replay.of(self.state, [seat.by for seat in self.record.seats])

    def replay_job(self) -> dict[str, Any]:
        """Return the drawing job for the replay, with agents' notes (cardenvs.server.drawing)."""
        notes = {str(ply): move.notes for ply, move in enumerate(self.moves) if move.notes}
        return {"text": self.replay().text(), "notes": notes}
