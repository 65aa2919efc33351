"""Hands of a file, in which cards and stacks may be unknown.

The engine needs all cards. It plays such a hand with stand-ins: known cards where the file has them, and for the rest
cards that do not occur in the hand and lead to the result on record. A stand-in is never shown, written or used in a
choice: events, tables, views and files have an unknown card in its place, and what cannot hide it raises an error. A
player who would show unknown cards is said not to show.

A player whose stack is unknown plays with one that covers all bets. What the file says of it is kept: the chips put in
and won. Only `options` and `record` have the stand-in.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NoReturn, Self, cast

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.errors import HiddenInformationError
from cardenvs.core.fold import FoldedTable
from cardenvs.core.history import History, WholeHistory
from cardenvs.core.options import Options
from cardenvs.core.record import Record, widen
from cardenvs.core.text import one_line
from cardenvs.games.texas_holdem import GAME, hand_ranks
from cardenvs.games.texas_holdem import table as kinds
from cardenvs.games.texas_holdem.play import LegalOptions, TexasHoldemState
from cardenvs.games.texas_holdem.state import NUM_BOARD, TexasHoldemOptions
from cardenvs.games.texas_holdem.table import TABLE
from cardenvs.kits.cards import NUM_CARDS

_HAND = 2  # hole cards of a player
_KINDS = {kind.name: kind for kind in TABLE.kinds}
_WITHOUT_CHIPS = ("level", "button", "new_deck", "place", "shared_place", "unfold", "fold", "out")  # kinds of event


@dataclass(frozen=True)
class FileWords:
    """How a file calls the players, seat by seat, its hand, and amounts of chips."""

    players: Sequence[str]
    number: str
    unit: int  # chips per unit of its amounts

    def amount(self, chips: int) -> Decimal:
        """Return chips as the file writes amounts, such as 2.50."""
        return Decimal(f"{Decimal(chips) / self.unit:.{len(str(self.unit - 1)) if self.unit > 1 else 0}f}")

    def event(self, event: ev.Event) -> str:
        """Return an event as a sentence."""
        if event.kind == "hand":
            return f"Hand {self.number} begins."
        if event.value is not None and event.kind not in _WITHOUT_CHIPS:
            event = replace(event, value=cast("int", self.amount(event.value)))
        return self.named(GAME.view.describe_event(event, _KINDS[event.kind]))

    def named(self, sentence: str) -> str:
        """Return a sentence with the names of the players."""
        return re.sub(r"\bplayer_(\d)\b", lambda found: self.players[int(found[1])], sentence)


class RecordedHand(TexasHoldemState):
    """A hand of a file: a State in which the hole cards and stacks of some players may be unknown.

    Attributes:
        players: names, seat by seat.
        order: seats, in the order of the file: those of p1, p2, ...
        source: the fields of the file, in its order.
        text: these fields as PHH.
        title: the name of the hand in a file of several, or "".
        unit: chips per unit of the amounts in the file.
        rake: chips that the file takes from the winners.
        notes: what was read in another way than it is written.
    """

    def __init__(
        self,
        options: TexasHoldemOptions,
        deck: Sequence[int | None],
        winners: Collection[int] = (),
        players: tuple[str, ...] = (),
        unknown_stacks: Collection[int] = (),
    ) -> None:
        """Deal a hand.

        Args:
            options: of the game.
            deck: two cards for each seat, then those of the board; None for unknown ones, in hands only.
            winners: seats with unknown cards that win at a showdown; the others with unknown cards lose.
            players: names, seat by seat.
            unknown_stacks: seats whose stacks are stand-ins.
        """
        self._unknown_stacks = tuple(sorted(unknown_stacks))
        self._unknown = np.array([place for place, card in enumerate(deck) if card is None], np.int64)
        self._dealt = stand_ins(deck, options.num_players, winners)
        self.players = players or tuple(f"player_{seat}" for seat in range(options.num_players))
        self.order = list(range(options.num_players))
        self.source: Mapping[str, Any] = {}
        self.text = self.title = ""
        self.unit, self.rake = 1, 0
        self.notes: tuple[str, ...] = ()
        super().__init__(GAME, options, seed=0, deck=self._dealt)

    def __repr__(self) -> str:
        stacks = list(self.options.stacks)
        known = ["?" if seat in self._unknown_stacks else str(chips) for seat, chips in enumerate(stacks)]
        return super().__repr__().replace(f"stacks={stacks}", f"stacks=[{', '.join(known)}]")

    def restarted(self) -> Self:
        """Return the hand before its first action."""
        again = self.clone()
        TexasHoldemState.__init__(again, GAME, self.options, seed=0, deck=self._dealt)
        return again

    @property
    def has_unknown_cards(self) -> bool:
        """Whether some hole cards are unknown."""
        return len(self._unknown) > 0

    @property
    def unknown_stacks(self) -> tuple[int, ...]:
        """The seats whose stacks are unknown, ascending."""
        return self._unknown_stacks

    @property
    def stacks(self) -> list[int]:
        """Chips behind, seat by seat, -1 if unknown."""
        return [ev.UNKNOWN if seat in self._unknown_stacks else chips for seat, chips in enumerate(super().stacks)]

    def knows(self, seat: int) -> bool:
        """Return whether both cards of a seat are known."""
        return not np.any(self._unknown // _HAND == seat)

    def legal_options(self) -> LegalOptions:
        """Return the options of the player to act; without what depends on its stack, if that is unknown."""
        found = super().legal_options()
        if found.player not in self._unknown_stacks:
            return found
        commits = {kind: chips for kind, chips in found.commits.items() if kind != "all_in"}
        return replace(
            found,
            kinds=tuple(commits),
            max_raise_to=None,
            stack=ev.UNKNOWN,
            effective_stack=ev.UNKNOWN,
            commits=commits,
        )

    @property
    def known_deck(self) -> list[int | None]:
        """Two cards for each seat, then those of the board, None for unknown ones."""
        unknown = set(self._unknown.tolist())
        return [None if place in unknown else card for place, card in enumerate(self._dealt)]

    @property
    def number(self) -> str:
        """The number of the hand in the file, or else its title, or 1."""
        return one_line(str(self.source.get("hand", self.title or 1)), 60)

    @property
    def words(self) -> FileWords:
        """The words of the file."""
        return FileWords(self.players, self.number, self.unit)

    def amount(self, chips: int) -> str:
        """Return chips as the file writes amounts, such as 2.50."""
        return str(self.words.amount(chips))

    def sentences(self, viewer: int) -> list[str]:
        """Return what `recap` does, in the words of the file."""
        rows = self.event_rows(viewer)
        return [self.words.event(TABLE.read(row)) for row in rows if row[ev.KIND] != TABLE.face_down]

    def stacks_on_record(self) -> list[tuple[str, str]]:
        """Return name and stack at the end of each player, in the order of the file; after a rake, if it has one.

        If a stack is unknown, it is "?" with the chips won or lost: "? (+2.50)".
        """
        texts = [self.amount(self.stacks[seat]) for seat in self.order]
        if self.rake:
            texts = [self.amount(int(chips * self.unit)) for chips in self.source["finishing_stacks"]]
        for place, seat in enumerate(self.order):
            if seat in self._unknown_stacks:
                texts[place] = f"? ({'+' if self.returns[seat] > 0 else ''}{self.amount(int(self.returns[seat]))})"
        return [(self.players[seat], text) for seat, text in zip(self.order, texts, strict=True)]

    # -- what shows no stand-in ---------------------------------------------------------------------------------

    def _widened(self) -> Record:
        """Return the record with unknown cards where stand-ins are, and nobody showing them."""
        if not self.has_unknown_cards:
            return super()._widened()
        wide = widen(self._states)
        wide["deck"][0, self._unknown] = ev.UNKNOWN
        wide["deck"][0, len(self._dealt) :] = ev.UNKNOWN  # the rest would tell the stand-ins
        wide["shown"] &= sum(1 << seat for seat in range(self.num_players) if self.knows(seat))
        wide.setflags(write=False)
        self._wide = wide[0]
        return self._wide

    def table(self, viewer: int) -> FoldedTable:
        """Return the table as known to `viewer`."""
        table = super().table(viewer)
        for seat in self._unknown_stacks:
            table.set("stack", None, player=seat)
            table.set("out", 0, player=seat)
        if self.has_unknown_cards:
            gone = sum(len(pile) for name, pile in self._piles(table) if name != "deck")
            table.put("deck", unknown=NUM_CARDS - gone)
        return table

    @staticmethod
    def _piles(table: FoldedTable) -> list[tuple[str, list[int]]]:
        return [(pile.name, tokens) for (pile, _), tokens in zip(TABLE.pile_of, table.piles, strict=True)]

    def _log_rows(self, kind: type[History] = History) -> np.ndarray:
        if not self._is_incomplete:
            return super()._log_rows(kind)
        rows = self._masked(super()._log_rows())
        return TABLE.visible(rows, ev.OMNISCIENT) if kind is WholeHistory else rows

    def _masked(self, rows: np.ndarray) -> np.ndarray:
        """Return events without stand-ins; a player who shows some does not show."""
        hidden = [seat for seat in range(self.num_players) if not self.knows(seat)]
        places = {(place // _HAND, self._dealt[place]) for place in self._unknown.tolist()}
        kept, silent = [], set[int]()
        for row in rows.copy():
            player, card = int(row[ev.PLAYER]), int(row[ev.TOKEN])
            if row[ev.KIND] == kinds.IS_OUT and player in self._unknown_stacks:
                continue  # as far as is known
            if row[ev.KIND] == kinds.SHOW and player in hidden:
                if player in silent:
                    continue
                silent.add(player)
                row[[ev.KIND, ev.TOKEN, ev.SOURCE, ev.VALUE]] = kinds.MUCK, ev.UNKNOWN, ev.NO_PLACE, 0
            elif row[ev.KIND] == kinds.DEAL and (player, card) in places:
                row[ev.TOKEN] = ev.UNKNOWN
            elif row[ev.KIND] == kinds.NEW_STACK and player in self._unknown_stacks:
                row[[ev.VALUE, ev.VISIBLE]] = ev.UNKNOWN, 0
            kept.append(row)
        return np.array(kept, np.int32).reshape(-1, ev.COLUMNS)

    # -- what cannot be had without all cards and stacks -----------------------------------------------------------

    @property
    def _is_incomplete(self) -> bool:
        return self.has_unknown_cards or bool(self._unknown_stacks)

    def _refuse(self, what: str) -> NoReturn:
        needed = "all cards" if self.has_unknown_cards else "all stacks"
        raise HiddenInformationError(
            f"{what} needs {needed}, and this hand of a file has unknown ones; PHH and timelines can hold it"
        )

    def view(self, viewer: int, key: bytes = b"", candidates: bool = False) -> dict[str, Any]:
        """Return what `viewer` may see as one JSON document."""
        if viewer in self._unknown_stacks and viewer == self.current_player:
            self._refuse("the choice of a player")
        return super().view(viewer, key, candidates)

    @property
    def deck(self) -> np.ndarray:
        """The explicit cards of the deal, int16."""
        if self._is_incomplete:
            self._refuse("a replay or a deck")
        return super().deck

    def _copied(self) -> np.ndarray:
        if self._is_incomplete:
            self._refuse("a record for kernels")
        return super()._copied()

    def record_bytes(self) -> bytes:
        """Return the bytes of the record, to compare states."""
        if self._is_incomplete:
            self._refuse("a saved state")
        return super().record_bytes()

    def to_bytes(self) -> bytes:
        """Return the state as bytes."""
        if self._is_incomplete:
            self._refuse("a saved state")
        return super().to_bytes()

    def observation(self, player: int, options: Options | None = None) -> np.ndarray:
        """Return what `player` may know now."""
        if self._is_incomplete:
            self._refuse("an observation")
        return super().observation(player, options)

    def write_observation(self, player: int, out: np.ndarray) -> None:
        """Write what `player` may know now into `out`."""
        if self._is_incomplete:
            self._refuse("an observation")
        super().write_observation(player, out)

    def facts(self, player: int) -> dict[str, Any]:
        """Return what a careful player would have deduced."""
        if player in self._unknown_stacks or not self.knows(player):
            self._refuse("what a player deduces")
        return super().facts(player)

    def determinize(self, player: int, seed: int) -> Self:
        """Return a twin in which everything `player` cannot know is re-dealt."""
        if self._is_incomplete:
            self._refuse("a twin")
        return cast("Self", super().determinize(player, seed))

    def policy_action(self, policy: str, seed: int) -> int:
        """Return the action that a policy chooses for the player to act."""
        if self._is_incomplete:
            self._refuse("a policy")
        return super().policy_action(policy, seed)

    def simulate(self, *args: Any, **kwargs: Any) -> np.ndarray:
        """Play out actions in random worlds."""
        if self._is_incomplete:
            self._refuse("a simulation")
        return super().simulate(*args, **kwargs)


# -- stand-ins ------------------------------------------------------------------------------------------------------


def stand_ins(deck: Sequence[int | None], num_players: int, winners: Collection[int] = ()) -> list[int]:
    """Return a deck with cards in the places of unknown ones, the same for the same arguments.

    With a whole board, a seat among `winners` gets the best hand that is left, and any other the worst; without, cards
    are taken in the order of their ids.
    """
    full = list(deck)
    board = [card for card in deck[_HAND * num_players :] if card is not None]
    seats = [seat for seat in range(num_players) if None in deck[_HAND * seat : _HAND * seat + _HAND]]
    for seat in sorted(seats, key=lambda seat: seat not in winners):
        left = [card for card in range(NUM_CARDS) if card not in full]
        hand = full[_HAND * seat : _HAND * seat + _HAND]
        full[_HAND * seat : _HAND * seat + _HAND] = _completed(hand, left, board, seat in winners)
    return [card for card in full if card is not None]


def _completed(hand: list[int | None], left: list[int], board: list[int], is_best: bool) -> list[int]:
    known = [card for card in hand if card is not None]
    if known:
        choices = [[*known, card] for card in left]
    else:
        choices = [[one, two] for k, one in enumerate(left) for two in left[k + 1 :]]
    if len(board) != NUM_BOARD:
        chosen = choices[0]
    else:
        ranks = hand_ranks(np.array([[*choice, *board] for choice in choices], np.int64))
        chosen = choices[int(np.argmax(ranks) if is_best else np.argmin(ranks))]
    if not known:
        return chosen
    return [card if card is not None else chosen[1] for card in hand]
