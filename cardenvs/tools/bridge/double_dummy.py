"""Double-dummy results: what each side takes if all four players see all cards and make no mistake.

Solved by Bo Haglund's DDS, which comes with `endplay` (the extra `bridge`). Its Python classes cost more than a late
ending takes to solve, so positions are written into its C structures at once; `endplay._dds` is what endplay itself
calls. Hands are bit sets, see `deals`.
"""

import ctypes
import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from cardenvs.core.errors import require
from cardenvs.core.record import Record
from cardenvs.games.bridge.cards import SUIT_CARDS, SUIT_OF_DENOMINATION
from cardenvs.games.bridge.state import NUM_DENOMINATIONS, NUM_PLAYERS
from cardenvs.kits.cards import NUM_CARDS
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.tricks import SUIT_SIZE

EXTRA = "bridge"
MOST_TABLES = 40  # DDS solves at most 200 boards in a call: 40 deals in five denominations,
MOST_POSITIONS = 200  # or that many positions

_DDS_SUITS = np.array([0, 1, 2, 3])  # spades, hearts, diamonds, clubs, as DDS counts them,
_OUR_SUITS = np.array([0, 3, 2, 1])  # and the same suits of the deck, which are s c d h
_DDS_SUIT_OF = np.argsort(_OUR_SUITS)
_DDS_DENOMINATIONS = np.array([3, 2, 1, 0, 4])  # by denomination: clubs, diamonds, hearts, spades, no-trump
_LOWEST_RANK = 2  # the bit of the 2


def dds(threads: int | None = None) -> ModuleType:
    """Return the bindings of DDS, with room for `threads` threads; None: as many as there are cores.

    Raises:
        MissingExtraError: endplay is not installed.
    """
    require("endplay", EXTRA)
    from endplay import _dds

    if threads is not None:
        _dds.SetMaxThreads(threads)
    return _dds


def tables(hands: np.ndarray) -> np.ndarray:
    """Return the tricks that every player takes as declarer in every denomination.

    Args:
        hands: int64 (n, 4), full deals.

    Returns:
        int8 (n, 5, 4): [deal, denomination (clubs, diamonds, hearts, spades, no-trump), declarer (N, E, S, W)],
        tricks of declarer's side, 0..13.

    Raises:
        MissingExtraError: endplay is not installed.
    """
    library, cards = dds(), _as_dds(np.asarray(hands, np.int64))
    found = np.empty((len(cards), NUM_DENOMINATIONS, NUM_PLAYERS), np.int8)
    for start in range(0, len(cards), MOST_TABLES):
        chunk = cards[start : start + MOST_TABLES]
        deals, results = library.ddTableDeals(), library.ddTablesRes()
        deals.noOfTables = len(chunk)
        _array(deals.ddTableDeal, np.uint32, (-1, NUM_PLAYERS, 4))[: len(chunk)] = chunk
        library.CalcAllTables(deals, -1, [0] * NUM_DENOMINATIONS, results, library.allParResults())
        solved = _array(results.results, np.int32, (-1, NUM_DENOMINATIONS, NUM_PLAYERS))
        found[start : start + len(chunk)] = solved[: len(chunk), _DDS_DENOMINATIONS]
    return found


def card_tricks(positions: Sequence[Record]) -> np.ndarray:
    """Return for every card that may be played now how many tricks its side then takes, this trick included.

    Args:
        positions: n records of bridge_v0, in the play, not over. All hands are read, so they are worlds or open cards.

    Returns:
        int8 (n, 52): tricks still to be taken by the side of the hand that plays, or -1 for other cards.

    Raises:
        MissingExtraError: endplay is not installed.
    """
    library = dds()
    found = np.full((len(positions), NUM_CARDS), -1, np.int8)
    for start in range(0, len(positions), MOST_POSITIONS):
        chunk = positions[start : start + MOST_POSITIONS]
        boards, results = library.boards(), library.solvedBoards()
        boards.noOfBoards = len(chunk)
        for k, record in enumerate(chunk):
            _write_position(boards.deals[k], record)
        for name, value in (("target", 0), ("solutions", 3), ("mode", 1)):  # every card with its own result
            _array(getattr(boards, name), np.int32, (-1,))[:] = value
        library.SolveAllBoardsBin(boards, results)
        for k in range(len(chunk)):
            _read_solution(results.solvedBoard[k], found[start + k])
    return found


def _write_position(deal: ctypes.Structure, s: Record) -> None:
    """Write a record as DDS describes a position: trumps, who led, the cards of this trick, and the cards held."""
    trump = int(SUIT_OF_DENOMINATION[int(s["contract"]) % NUM_DENOMINATIONS])
    deal.trump = 4 if trump < 0 else int(_DDS_SUIT_OF[trump])
    leader, trick = int(s["leader"]), int(s["trick"])
    deal.first = leader
    for k in range(NUM_PLAYERS - 1):
        card = int(s["played"][(leader + k) % NUM_PLAYERS, trick])
        if card == NO_CARD:
            break
        deal.currentTrickSuit[k] = int(_DDS_SUIT_OF[card // SUIT_SIZE])
        deal.currentTrickRank[k] = (card % SUIT_SIZE - 1) % SUIT_SIZE + _LOWEST_RANK
    _array(deal.remainCards, np.uint32, (NUM_PLAYERS, 4))[:] = _as_dds(s["hands"])


def _read_solution(future: ctypes.Structure, out: np.ndarray) -> None:
    """Write the tricks of all cards of a solution; of cards in sequence DDS lists the highest and others as bits."""
    for k in range(future.cards):
        ranks = future.equals[k] | 1 << future.rank[k]
        first = SUIT_SIZE * int(_OUR_SUITS[future.suit[k]])
        for level in range(SUIT_SIZE):
            if ranks >> level + _LOWEST_RANK & 1:
                out[first + (level + 1) % SUIT_SIZE] = future.score[k]


def _as_dds(hands: np.ndarray) -> np.ndarray:
    """Return hands as uint32 (..., 4): by suit as DDS counts them, bit 2 for the 2 up to bit 14 for the ace."""
    ranks = hands[..., None] >> SUIT_SIZE * _OUR_SUITS & SUIT_CARDS
    return ((ranks >> 1 | (ranks & 1) << SUIT_SIZE - 1) << _LOWEST_RANK).astype(np.uint32)


def _array(field: "ctypes.Array[Any]", dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array that shares the memory of a ctypes array."""
    return np.frombuffer(memoryview(field), dtype).reshape(shape)


def num_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
