"""Cards and tricks of Skat, and what games are worth. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.skat.state import (
    DIAMONDS,
    GRAND,
    NO_GAME,
    NULL,
    NUM_CARDS,
    PACK,
    SCHNEIDER,
    SCHWARZ,
    TABLE,
)
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.tricks import Ranking, Tricks

TRUMPS = len(PACK.suits)  # the suit that jacks belong to, with the other trumps; suits 0 to 3 are d h s c (4.2)
SUITS = (*PACK.suits, "trumps")
JACK = PACK.ranks.index("J")
JACKS = np.int64(sum(1 << card for card in range(NUM_CARDS) if PACK.rank_index[card] == JACK))
_NULL_ORDER = "789TJQKA"  # (4.2)
_POINTS = np.array([{"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2}.get(rank, 0) for rank in PACK.ranks], np.int64)  # (1.2)
_BASES = np.array([9, 10, 11, 12, 24], np.int64)  # (6.1)
_NULL_VALUES = np.array([[23, 46], [35, 59]], np.int64)  # by whether hand, and whether ouvert (6.4)


def _suit_in(game: int, card: int) -> int:
    if game != NULL and (PACK.rank_index[card] == JACK or PACK.suit_index[card] == game):
        return TRUMPS
    return PACK.suit_index[card]


def _height_in(game: int, card: int) -> int:
    rank = PACK.rank_index[card]
    if game == NULL:
        return _NULL_ORDER.index(PACK.ranks[rank])
    return rank + PACK.suit_index[card] if rank == JACK else rank


_rank_of = PACK.rank_of
_GAMES = range(NULL + 1)


@kernel(inline=True)
def _row(s):
    return np.int64(GRAND if s.game == NO_GAME else s.game)


RANKING = Ranking.tables(
    PACK,
    SUITS,
    suit=np.array([[_suit_in(game, card) for card in range(NUM_CARDS)] for game in _GAMES]),
    height=np.array([[_height_in(game, card) for card in range(NUM_CARDS)] for game in _GAMES]),
    trump=np.array([TRUMPS] * NULL + [-1]),
    row=_row,
)
TRICKS = Tricks(TABLE, RANKING, notes_lacks=True)
led_suit, trick_winner = TRICKS.led_suit, TRICKS.winner
strength, suit_cards = RANKING.strength, RANKING.suit_cards


def _trumps_from_top(game: int) -> list[int]:
    """Return the trumps of a suit game or grand, the highest first, filled up with -1."""
    trumps = [card for card in range(NUM_CARDS) if _suit_in(game, card) == TRUMPS]
    found = sorted(trumps, key=lambda card: -_height_in(game, card))
    return found + [-1] * (11 - len(found))


_FROM_TOP = np.array([_trumps_from_top(game) for game in range(DIAMONDS, GRAND + 1)], np.int64)


@kernel(inline=True)
def points_of(card):
    """Return the points of a card (1.2)."""
    return _POINTS[_rank_of(card)]


@kernel
def points_in(cards):
    """Return the points of a bit set of cards (1.2)."""
    points = np.int64(0)
    while cards:
        points += points_of(lowest_card(cards))
        cards &= cards - 1
    return points


@kernel
def tops(game, cards):
    """Return with, or without, how many trumps from the top a soloist plays who has `cards`, skat included (6.2)."""
    has_top, number = cards >> _FROM_TOP[game, 0] & 1, np.int64(0)
    for card in _FROM_TOP[game]:
        if card < 0 or cards >> card & 1 != has_top:
            break
        number += 1
    return number


@kernel
def level_of(num_tops, is_hand, announced, is_schneider, is_schwarz):
    """Return the level of a suit game or grand (6.2, 6.3)."""
    level = num_tops + 1 + is_hand
    if is_schneider or announced >= SCHNEIDER:
        level += 1
    if is_schwarz or announced >= SCHWARZ:
        level += 1
    return level + announced


@kernel(inline=True)
def base_of(game):
    """Return the base value of a suit game or grand (6.1)."""
    return _BASES[game]


@kernel(inline=True)
def null_value(is_hand, is_ouvert):
    """Return the value of a null game (6.4)."""
    return _NULL_VALUES[np.int64(is_hand), np.int64(is_ouvert)]


@kernel
def cards_of_soloist(s):
    """Return the cards that count for the tops: those dealt to the soloist, and the skat (6.2)."""
    soloist = np.int64(s.soloist)
    return s.hands[soloist] | s.cards_played[soloist] | s.skat


@kernel(inline=True)
def raised(game, bid):
    """Return the smallest multiple of the base value that is not below a bid (6.6)."""
    base = base_of(game)
    return (bid + base - 1) // base * base
