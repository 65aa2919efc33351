"""Boards: one deal as it was bid and played at a table, from a file, a replay or a match.

A board is a state of bridge_v0 and what a file says besides. A claim ends the play early: the rules of the game know no
claims (rules.md 9.2), so the state of such a board is unfinished, and the board has the tricks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError, IllegalActionError
from cardenvs.core.registry import get_game
from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.games.bridge import state as bridge
from cardenvs.games.bridge.scoring import duplicate_score
from cardenvs.tools.bridge.deals import GAME, deck_of

VULNERABLE = ("none", "NS", "EW", "both")  # by bit set
NOBODY = ("",) * bridge.NUM_PLAYERS
MOST_TEXT = 1000  # characters of a name, tag or note


@dataclass(frozen=True)
class Board:
    """A deal as it was bid and played.

    Attributes:
        state: of bridge_v0 after the last call or card on record. It has all actions if the calls are known.
        number: of the board, or None.
        players: names from North clockwise, "" if unknown.
        tricks: of declarer's side, as counted, claimed or stated; None if unknown or passed out.
        is_claimed: whether the play ended before the last card, with `tricks`.
        has_auction: whether the calls are on record. If only the contract is, the state has the shortest auction to it.
        explanations: what was said about calls, by number of the call from 0; "" for an alert without words.
        comments: on cards, by number of the card from 0.
        tags: what else a PBN file says, by name of the tag.
        label: what the file calls the board, if that is no number, such as "5A".
    """

    state: State
    number: int | None = None
    players: tuple[str, ...] = NOBODY
    tricks: int | None = None
    is_claimed: bool = False
    has_auction: bool = True
    explanations: dict[int, str] = field(default_factory=dict)
    comments: dict[int, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    label: str = ""

    @property
    def name(self) -> str:
        """The number or the label of the board, "" if it has none."""
        return self.label or str(self.number or "")

    @property
    def contract(self) -> str | None:
        """The contract, as in "4Sx by W"; "passed out"; None during the auction."""
        s = self.state.record
        if s.contract == bridge.NO_BID:
            return "passed out" if self.state.is_terminal else None
        if s.declarer < 0:
            return None
        bid, declarer = bridge.call_label(bridge.BID_0 + int(s.contract)), bridge.SEATS[int(s.declarer)]
        return f"{bid}{'x' * int(s.doubled)} by {declarer}"

    @property
    def calls(self) -> list[int]:
        """All calls, as action ids."""
        s = self.state.record
        return s.calls[: int(s.num_calls)].tolist()

    @property
    def cards(self) -> list[int]:
        """All cards played, in order."""
        return [card for trick in tricks_of(self.state.record) for _, card in trick]

    @property
    def score(self) -> int | None:
        """Points of North and South; None if the result is unknown."""
        s = self.state.record
        if self.tricks is None:
            return 0 if self.contract == "passed out" else None
        side = int(s.declarer) & 1
        points = int(duplicate_score(np.int64(s.contract), int(s.doubled), int(s.vulnerable) >> side & 1, self.tricks))
        return -points if side else points

    def replay(self) -> Replay:
        """Return the replay, which ends at a claim."""
        return Replay.of(self.state, [name or f"player_{p}" for p, name in enumerate(self.players)])

    @classmethod
    def of(cls, played: State | Replay, number: int | None = None) -> "Board":
        """Return the board of a game of duplicate bridge, finished or not.

        Raises:
            FormatError: it is another game, or a rubber.
        """
        names = NOBODY
        if isinstance(played, Replay):
            names = tuple(one_line_name(name) for name in played.players)
            played = played.state_at(len(played.actions))
        if played.game.name != GAME:
            raise FormatError(f"boards are games of {GAME}; this is {played.game.name}")
        s = played.record
        if s.rules.scoring == bridge.RUBBER:
            raise FormatError("a rubber has several deals; only duplicate games are boards")
        is_over = played.is_terminal and s.trick == bridge.NUM_TRICKS
        tricks = int(s.tricks_won[int(s.declarer) & 1]) if is_over else None
        return cls(played, int(s.board) if number is None else number, names, tricks)


def one_line_name(name: str) -> str:
    """Return a name without characters that would break a line of a file."""
    return "".join(one if one.isprintable() else " " for one in name)


def tricks_of(s: Any) -> Iterator[list[tuple[int, int]]]:
    """Yield for each trick of a record its (player, card) pairs in the order of play; the last may be short."""
    if s.declarer < 0:
        return
    leader = (int(s.declarer) + 1) % bridge.NUM_PLAYERS
    for k in range(bridge.NUM_TRICKS):
        order = [(leader + j) % bridge.NUM_PLAYERS for j in range(bridge.NUM_PLAYERS)]
        cards = [(p, int(s.played[p, k])) for p in order if s.played[p, k] >= 0]
        if not cards:
            return
        yield cards
        leader = int(s.winners[k])


@dataclass(frozen=True)
class BoardRecord:
    """A board of a file, whether it could be read or not.

    Attributes:
        place: its place in the file, from 1.
        board: the board, or None if it could not be read.
        error: why it could not be read, with line and tag or key, or "".
        notes: what was read in another way than it is written, each with line and tag or key.
    """

    place: int
    board: Board | None
    error: str = ""
    notes: tuple[str, ...] = ()


# -- for readers of files -----------------------------------------------------------------------------------------


def new_board_state(
    hands: np.ndarray, number: int | None, dealer: int, vulnerable: int | None, **options: Any
) -> State:
    """Return the state of a deal, int64 (4,), before the first call.

    `vulnerable` is a bit set of sides, by default that of the board's number. The options are those of bridge_v0.
    """
    board = 1 if number is None else (number - 1) % 16 + 1
    side = "board" if vulnerable is None else VULNERABLE[vulnerable]
    return get_game(GAME).new_state(
        seed=0, deck=deck_of(hands), board=board, dealer=bridge.SEATS[dealer], vulnerable=side, **options
    )


def shortest_auction(dealer: int, declarer: int, bid: int, doubled: int) -> tuple[int, ...]:
    """Return the calls that lead to a contract at once: declarer's bid, and the calls that double it."""
    passes = (bridge.PASS,) * ((declarer - dealer) % bridge.NUM_PLAYERS)
    return (*passes, bridge.BID_0 + bid, *(1, 2)[:doubled], bridge.PASS, bridge.PASS, bridge.PASS)


def apply(state: State, action: int) -> None:
    """Apply a call or card of a file.

    Raises:
        FormatError: it is not legal.
    """
    if state.is_terminal:
        raise FormatError("the deal is over")
    if state.phase == "auction" and action >= bridge.NUM_CALLS:
        raise FormatError("a card is played before the auction is over")
    try:
        state.apply(action)
    except IllegalActionError:
        raise FormatError(state.explain_illegal(action)) from None


def checked_tricks(state: State, tricks: int | None) -> tuple[int | None, bool]:
    """Return declarer's tricks and whether they were claimed, from the tricks that a file states.

    Raises:
        FormatError: they contradict the cards played.
    """
    s = state.record
    if s.declarer < 0:
        if tricks:
            raise FormatError(f"{tricks} tricks are stated, but there is no contract")
        return None, False
    side = int(s.declarer) & 1
    won, lost = int(s.tricks_won[side]), int(s.tricks_won[1 - side])
    if s.trick == bridge.NUM_TRICKS:
        if tricks not in (None, won):
            raise FormatError(f"{tricks} tricks are stated, but declarer takes {won} with the cards on record")
        return won, False
    if tricks is None:
        return None, False
    most = bridge.NUM_TRICKS - lost
    if not won <= tricks <= most:
        raise FormatError(f"{tricks} tricks are stated, but after the cards on record declarer takes {won} to {most}")
    return tricks, True


def checked_text(text: str, what: str) -> str:
    """Return a text of a file.

    Raises:
        FormatError: it is too long, or has control characters.
    """
    if len(text) > MOST_TEXT or not text.isprintable():
        raise FormatError(f"{what} has more than {MOST_TEXT} characters or unprintable ones: {short(text)}")
    return text
