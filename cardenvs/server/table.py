"""One table: a game, who may do what at it, and what each viewer has been shown. No network, no clock, no threads.

Whoever looks at the table does so as a viewer: a player, SPECTATOR or OMNISCIENT. For each viewer the table counts
*turns*: how often what this viewer sees has changed. A request names the turn it answers, so a click on a table that
has moved on does nothing, and the number says nothing that the viewer has not seen.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import FormatError, IllegalActionError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.game import Game
from cardenvs.core.intents import guessed_events, resolve
from cardenvs.core.narration import Narrator
from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.pictures.svg import NARROW, WIDTH, draw_parts, summary
from cardenvs.server.records import Move, Records, TableRecord

PERSON = ""  # in place of an agent's name
_LONGEST_PLAY = 200  # actions of one request
_PERSONS = {PERSON: "person"}


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
    """

    turn: int = 0
    view: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    rewinds: int = 0
    revision: int = -1  # of the table, when this was made
    text: str = ""  # of the view
    ends: list[int] = field(default_factory=list)  # number of lines after the deal and after each action
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
        self.state = game.new_state(seed=record.seed, deck=record.deck or None, **record.options)
        self.moves: list[Move] = []
        self._event_ends = [len(self.state.event_log())]  # after the deal and after each action
        self._returnable: list[State] = []  # positions before the moves that may be taken back
        self._shown: dict[int, Shown] = {}
        self._rewinds = 0
        self._requests: Counter[int] = Counter()  # granted, by player; after each one the view counts as changed
        self.revision = 0
        for move in moves:
            self._apply(move)

    # -- who is who ---------------------------------------------------------------------------------------------

    @property
    def has_people(self) -> bool:
        """Whether a person plays."""
        return any(seat.agent == PERSON for seat in self.record.seats)

    @property
    def agent_to_act(self) -> str:
        """Name of the agent to act; PERSON if a person is, or nobody."""
        return PERSON if self.state.is_terminal else self.record.seats[self.state.current_player].agent

    def seat_of(self, link: str) -> int | None:
        """Return the player whose secret link this is."""
        return next((p for p, seat in enumerate(self.record.seats) if seat.link == link), None)

    def may_watch(self, viewer: int, link: str) -> bool:
        """Return whether a link lets somebody see what `viewer` sees."""
        seat = self.seat_of(link)
        if self.state.is_terminal or viewer == SPECTATOR:
            return True
        if seat is not None:
            return viewer == seat
        return link == self.record.host and not self.has_people

    def agent_seed(self, *place: int | str) -> int:
        """Return a seed that says nothing about the deal."""
        digest = hashlib.blake2s(repr(place).encode(), key=self.record.key, digest_size=8).digest()
        return int.from_bytes(digest, "little") >> 1

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

    def decide(self, action: int, notes: Any = None) -> None:
        """Make the move of an agent: a legal action or a forfeit."""
        self._make([Move(action, notes)])

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
        self._event_ends.pop()
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
            self._records.finish(self.record.watch)

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
        self.state.apply(move.action)
        self.moves.append(move)
        self._event_ends.append(len(self.state.event_log()))
        self.revision += 1

    # -- what viewers see ---------------------------------------------------------------------------------------

    def show(self, viewer: int) -> Shown:
        """Return what a viewer sees now."""
        shown = self._shown.setdefault(viewer, Shown())
        if shown.revision == self.revision:
            return shown
        shown.view = self.state.view(viewer, self.record.key)
        text = json.dumps([shown.view, viewer >= 0 and self.can_take_back(viewer), self._requests.get(viewer)])
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
        parts, height = draw_parts(view | {"prompt": ""}, NARROW if narrow else WIDTH)  # clients show it below
        state = self.state
        made = {
            "game": view["game"],
            "title": view["title"],
            "viewer": view["viewer"],
            "label": summary(view),
            "parts": "".join(parts),
            "width": NARROW if narrow else WIDTH,
            "height": round(height, 1),
            "players": [
                {"name": f"player_{p}", "by": _PERSONS.get(seat.agent, seat.agent), "return": state.returns[p]}
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
            shown.lines.clear()
        rows, table = self.state.event_log(), self.state.game.table
        narrator = Narrator(self.state.game, viewer, self.state.num_players)
        for ply in range(len(shown.ends), len(self._event_ends)):
            first = self._event_ends[ply - 1] if ply else 0
            seen = table.visible(rows[first : self._event_ends[ply]], viewer)
            shown.lines += narrator.sentences([table.read(row) for row in seen])
            shown.ends.append(len(shown.lines))

    # -- once it is over ----------------------------------------------------------------------------------------

    def replay(self) -> Replay:
        """Return the game so far as a replay. It shows everything, so only of a game that is over."""
        return Replay.of(self.state, [_PERSONS.get(seat.agent, seat.agent) for seat in self.record.seats])

    def replay_job(self) -> dict[str, Any]:
        """Return what draws a page that plays the game, with agents' notes (cardenvs.server.drawing)."""
        notes = {str(ply): move.notes for ply, move in enumerate(self.moves) if move.notes}
        return {"text": self.replay().text(), "notes": notes}
