"""A board with what its contract and each of its cards cost, compared with double-dummy play."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardenvs.core.errors import FormatError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.replay import Replay
from cardenvs.core.text import count
from cardenvs.games.bridge.scoring import duplicate_score, imps
from cardenvs.games.bridge.state import CARD_0, DENOMINATIONS, NUM_DENOMINATIONS, NUM_PLAYERS, NUM_TRICKS, SEATS
from cardenvs.tools.bridge.boards import Board
from cardenvs.tools.bridge.deals import card_text, deal_text, dealt_hands
from cardenvs.tools.bridge.double_dummy import card_tricks, tables
from cardenvs.tools.bridge.par import Par, par_of


@dataclass(frozen=True)
class CardCost:
    """A card that was played, and what it cost."""

    trick: int  # 1..13
    player: int  # whose hand it came from
    decided_by: int  # who chose it: declarer for dummy
    card: int  # 0..51
    cost: int  # tricks that its side lost by it, 0 for one of the best cards
    best: tuple[int, ...]  # the cards that would have cost nothing
    tricks: int  # those that declarer takes in all if everybody makes no mistake from then on
    ply: int  # number of actions before it


@dataclass(frozen=True)
class Annotation:
    """An annotated board."""

    board: Board  # the Board
    table: np.ndarray  # int8 (5, 4), double-dummy tricks by denomination and declarer
    par: Par  # what perfect bidding and play would have been worth
    expected: int | None  # declarer's double-dummy tricks in the contract, or None without one
    cards: tuple[CardCost, ...]  # all cards played, in order

    @property
    def contract_score(self) -> int | None:
        """North and South's points if the contract is played without a mistake; None during the auction."""
        s = self.board.state.record
        if self.expected is None:
            return 0 if self.board.contract == "passed out" else None
        side = int(s.declarer) & 1
        points = int(duplicate_score(int(s.contract), int(s.doubled), int(s.vulnerable) >> side & 1, self.expected))
        return -points if side else points

    @property
    def bidding_cost(self) -> int | None:
        """IMPs that North and South won by the auction, compared with par; negative if East and West did."""
        return None if self.contract_score is None else int(imps(self.contract_score - self.par.score))

    def lost(self, player: int) -> int:
        """Return the tricks that a player lost by cards, dummy's included if it is declarer."""
        return sum(one.cost for one in self.cards if one.decided_by == player)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        board, s = self.board, self.board.state.record
        return {
            "board": board.number,
            "players": dict(zip(SEATS, board.players, strict=True)),
            "deal": deal_text(dealt_hands(board.state)),
            "contract": board.contract,
            "tricks": board.tricks,
            "is_claimed": board.is_claimed,
            "score_NS": board.score,
            "double_dummy": table_dict(self.table),
            "par": {"contract": str(self.par), "score_NS": self.par.score},
            "double_dummy_tricks": self.expected,
            "double_dummy_score_NS": self.contract_score,
            "bidding_imps_NS": self.bidding_cost,
            "tricks_lost": {SEATS[p]: self.lost(p) for p in range(NUM_PLAYERS)} if s.declarer >= 0 else {},
            "cards": [
                {
                    "trick": one.trick,
                    "hand": SEATS[one.player],
                    "decided_by": SEATS[one.decided_by],
                    "card": card_text(one.card),
                    "cost": one.cost,
                    "best": [card_text(card) for card in one.best],
                    "tricks": one.tricks,
                }
                for one in self.cards
            ],
        }

    def page(self) -> str:
        """Return a self-contained HTML page that plays the board, with the cost of each card beside it."""
        notes = {
            one.ply: {
                "cost": count(one.cost, "trick"),
                "best": " ".join(card_text(card) for card in one.best),
                "declarer's tricks": one.tricks,
            }
            for one in self.cards
        }
        return self.board.replay().page(OMNISCIENT, notes)


def annotate(board: Board) -> Annotation:
    """Return the board with what its contract and cards cost.

    Raises:
        MissingExtraError: endplay is not installed.
        FormatError: the game was not dealt by the rules of duplicate bridge.
    """
    s = board.state.record
    hands = dealt_hands(board.state)
    table = tables(hands[None])[0]
    expected = None
    if s.declarer >= 0:
        expected = int(table[int(s.contract) % NUM_DENOMINATIONS, int(s.declarer)])
    return Annotation(board, table, par_of(table, int(s.dealer), int(s.vulnerable)), expected, tuple(_costs(board)))


def table_dict(table: np.ndarray) -> dict[str, dict[str, int]]:
    """Return a table of tricks by declarer and denomination."""
    return {SEATS[p]: {name: int(table[k, p]) for k, name in enumerate(DENOMINATIONS)} for p in range(NUM_PLAYERS)}


def _costs(board: Board) -> Iterator[CardCost]:
    replay = Replay.of(board.state)
    state = replay.state_at(0)
    positions, played = [], []
    for ply, action in enumerate(replay.actions):
        if action >= CARD_0 + 52:
            raise FormatError("a player left this game, so it cannot be annotated")
        if action >= CARD_0:
            positions.append(state.record)
            played.append((ply, action - CARD_0))
        state.apply(action)
    if not positions:
        return
    for s, (ply, card), tricks in zip(positions, played, card_tricks(positions), strict=True):
        player, decided_by = int(s.turn), int(s.current_player)
        best = int(tricks.max())
        further = int(tricks[card])  # of the side that plays
        if (player ^ int(s.declarer)) & 1:
            further = NUM_TRICKS - int(s.trick) - further
        yield CardCost(
            int(s.trick) + 1, player, decided_by, card, best - int(tricks[card]),
            tuple(np.flatnonzero(tricks == best).tolist()), int(s.tricks_won[int(s.declarer) & 1]) + further, ply,
        )  # fmt: skip
