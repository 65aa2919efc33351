"""Hands of Contract Bridge as bit sets, as the text of PBN, and from seeds.

Hands are int64 (4,), North first: bit c of hand p is set if player p holds card c. A deal is written as PBN writes it:
`N:AKQ2.543.KJ9.T86 ...`, four hands clockwise from the player in front of the colon, each with its spades, hearts,
diamonds and clubs.
"""

import functools
import operator

import numpy as np

from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError
from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.games.bridge.state import NUM_PLAYERS, NUM_TRICKS, SEATS
from cardenvs.kits.cards import NUM_CARDS
from cardenvs.kits.tricks import SUIT_SIZE

GAME = "bridge_v0"
RANKS = "23456789TJQKA"  # by height
SUITS = "SHDC"  # as PBN writes hands
SUIT_IDS = {"S": 0, "H": 3, "D": 2, "C": 1}


def hands_of_seed(seed: int) -> np.ndarray:
    """Return the hands that `seed` deals in bridge_v0, int64 (4,)."""
    return np.array(get_game(GAME).new_state(seed=seed).record.hands)


def dealt_hands(state: State) -> np.ndarray:
    """Return the hands of a deal as they were dealt, int64 (4,): those held, and the cards played."""
    s, hands = state.record, np.array(state.record.hands)
    for p in range(NUM_PLAYERS):
        for card in s.played[p]:
            if card >= 0:
                hands[p] |= np.int64(1) << np.int64(card)
    return hands


def deck_of(hands: np.ndarray) -> list[int]:
    """Return the explicit deck that deals these hands: North's cards, then East's, South's and West's."""
    return [card for hand in hands for card in range(NUM_CARDS) if int(hand) >> card & 1]


def card_text(card: int) -> str:
    """Return a card as PBN and LIN write it, suit first: "SA", "H9"."""
    suit = next(name for name, number in SUIT_IDS.items() if number == card // SUIT_SIZE)
    return suit + RANKS[(card % SUIT_SIZE - 1) % SUIT_SIZE]


def read_card(text: str) -> int:
    """Return the card of a text such as "SA", in either case; "10" is read as T.

    Raises:
        FormatError: it is no card.
    """
    plain = text.upper().replace("10", "T")
    if len(plain) != 2 or plain[0] not in SUIT_IDS or plain[1] not in RANKS:
        raise FormatError(f"{short(text)} is not a card; a card is written SA, HT or C2")
    return SUIT_SIZE * SUIT_IDS[plain[0]] + (RANKS.index(plain[1]) + 1) % SUIT_SIZE  # the ace is first in the deck


def hand_text(hand: int) -> str:
    """Return a hand as "AKQ2.543.KJ9.T86": spades, hearts, diamonds, clubs."""
    parts = []
    for name in SUITS:
        held = [card for card in range(SUIT_SIZE) if hand >> SUIT_SIZE * SUIT_IDS[name] + card & 1]
        parts.append("".join(sorted((RANKS[card - 1] for card in held), key=RANKS.index, reverse=True)))
    return ".".join(parts)


def deal_text(hands: np.ndarray, first: int = 0) -> str:
    """Return a deal in PBN, beginning with the hand of player `first`."""
    order = [(first + k) % NUM_PLAYERS for k in range(NUM_PLAYERS)]
    return f"{SEATS[first]}:" + " ".join(hand_text(int(hands[p])) for p in order)


def read_deal(text: str) -> np.ndarray:
    """Return the hands of a deal in PBN, int64 (4,).

    Raises:
        FormatError: it does not deal thirteen cards to each player, each card once.
    """
    head, colon, rest = text.strip().partition(":")
    if not colon or head.upper() not in tuple(SEATS):
        raise FormatError(f"a deal begins with N:, E:, S: or W:; got {short(text)}")
    parts = rest.split()
    if len(parts) != NUM_PLAYERS:
        raise FormatError(f"a deal has four hands; got {len(parts)}")
    hands = np.zeros(NUM_PLAYERS, np.int64)
    for k, part in enumerate(parts):
        hands[(SEATS.index(head.upper()) + k) % NUM_PLAYERS] = read_hand(part)
    check_hands(hands)
    return hands


def read_hand(text: str) -> int:
    """Return the bit set of a hand such as "AKQ2.543.KJ9.T86".

    Raises:
        FormatError: it is no hand.
    """
    suits = text.upper().replace("10", "T").split(".")
    if len(suits) != len(SUITS):
        raise FormatError(f"a hand has four suits with dots between them; got {short(text)}")
    hand = 0
    for name, ranks in zip(SUITS, suits, strict=True):
        for rank in ranks:
            card = read_card(name + rank)
            if hand >> card & 1:
                raise FormatError(f"{name}{rank} is twice in the hand {short(text)}")
            hand |= 1 << card
    return hand


def remaining(hands: list[int]) -> int:
    """Return the hand that the three others leave.

    Raises:
        FormatError: it has not thirteen cards.
    """
    hand = (1 << NUM_CARDS) - 1 & ~functools.reduce(operator.or_, hands)
    if hand.bit_count() != NUM_TRICKS:
        raise FormatError(f"a hand that is left out gets the other cards; there are {hand.bit_count()} of them")
    return hand


def check_hands(hands: np.ndarray) -> None:
    """Raise FormatError unless every player has thirteen cards, each card once."""
    seen = 0
    for p, hand in enumerate(int(hand) for hand in hands):
        if hand.bit_count() != NUM_TRICKS or hand >> NUM_CARDS:
            raise FormatError(f"{SEATS[p]} has {hand.bit_count()} cards; everybody has {NUM_TRICKS}")
        if seen & hand:
            raise FormatError(f"{card_text((seen & hand).bit_length() - 1)} is dealt twice")
        seen |= hand
