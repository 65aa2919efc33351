"""A policy for Ristiseiska that plays as at a club table: it opens the way for its own cards, and blocks the others.

It uses only what the player to act may know: the own hand and the layout.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.ristiseiska import actions, state
from cardenvs.games.ristiseiska.state import (
    ACE,
    HIGH,
    KING,
    LOW,
    NUM_RANKS,
    NUM_SUITS,
    SEVEN,
    SIX,
    card_points,
)

# Weights, compared in self-play
_OWN_NEXT, _OWN_LATER = 6, 5  # for own cards that wait behind the one played
_OTHER_NEXT, _OTHER_LATER = 6, 1  # against cards of others that do
_MISSING = 8  # for giving a card, for each other player's card that must lie before it
_OPENS_OWN = 3  # against giving a card, for each own card behind it
_POINT = 1  # for each point that a card given counts


@kernel
def heuristic(s, legal, n, rng):
    """Play the card that opens most for the own hand and least for others; give the card that waits for most others.

    Args:
        s: one record, not terminal.
        legal: int32 array whose first `n` entries are the legal actions.
        n: int, number of legal actions.
        rng: not used; the policy is deterministic.

    Returns:
        One of the legal actions.
    """
    own = s.hands[s.current_player]
    best, most = np.int64(legal[0]), np.int64(-(1 << 30))
    for k in range(n):
        card = np.int64(legal[k])
        if card < actions.BEG:
            worth = _worth_of_giving(s, own, card) if s.phase == state.GIVE else _worth_of_playing(s, own, card)
            if worth > most:
                best, most = card, worth
    return best


@kernel
def _worth_of_playing(s, own, card):
    """Return what it is worth to play a card, by the cards that wait behind it."""
    rank = card // NUM_SUITS
    worth = np.int64(0)
    if rank <= SEVEN:
        worth += _worth_behind(s, own, card, -1)
    if rank >= SEVEN:
        worth += _worth_behind(s, own, card, 1)
    elif rank == SIX and s.rules.six_before_eight:
        worth += _worth_behind(s, own, card + NUM_SUITS, 1)  # the eight, too, has waited
    return worth


@kernel
def _worth_behind(s, own, card, step):
    """Return what it is worth to open the way outwards from a card."""
    worth, is_next = np.int64(0), True
    following = _outwards(s, card, step)
    while following >= 0:
        if own >> following & 1:
            worth += _OWN_NEXT if is_next else _OWN_LATER
        else:
            worth -= _OTHER_NEXT if is_next else _OTHER_LATER
        is_next = False
        following = _outwards(s, following, step)
    return worth


@kernel(inline=True)
def _outwards(s, card, step):
    """Return the card that waits for this one in its direction, or -1. An ace that waits for all cards is left out."""
    rank = card // NUM_SUITS + step
    if rank == NUM_RANKS:
        return card - KING * NUM_SUITS if s.rules.ace == HIGH else np.int64(-1)
    if rank < 0 or (rank == ACE and (s.rules.ace != LOW or step > 0)) or card // NUM_SUITS == ACE:
        return np.int64(-1)
    return card + step * NUM_SUITS


@kernel
def _worth_of_giving(s, own, card):
    """Return what it is worth to be rid of a card."""
    rank, step = card // NUM_SUITS, 1
    if rank < SEVEN and not (rank == ACE and s.rules.ace == HIGH):
        step = -1
    worth = _POINT * card_points(s.rules, card)
    before = np.int64(SEVEN * NUM_SUITS + card % NUM_SUITS)
    while before >= 0 and before != card:
        if not (own | s.laid) >> before & 1:
            worth += _MISSING
        before = _outwards(s, before, step)
    behind = _outwards(s, card, step)
    while behind >= 0:
        if own >> behind & 1:
            worth -= _OPENS_OWN
        behind = _outwards(s, behind, step)
    return worth
