"""A policy for Uno that plays as at a club table: it keeps wild cards, names its best colour, hits who is nearly out.

It uses only what the player to act may know: the own hand, the discards, hand sizes, and cards known to be in a hand.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.uno import actions, state
from cardenvs.games.uno.cards import (
    COLOUR_SETS,
    COLOURED,
    COPIES,
    DRAW_TWO,
    NUM_COLOURS,
    NUM_KINDS,
    NUM_SYMBOLS,
    POINTS,
    REVERSE,
    SEVEN,
    SKIP,
    SYMBOL_OF,
    WILD,
    WILD_FOUR,
    ZERO,
)
from cardenvs.games.uno.legal import cards_to_play
from cardenvs.kits.cards import chance_of_none, lowest_card
from cardenvs.kits.shedding import next_player

# Weights, checked by self-play one by one; those of a card are in tenths of a card of the colour that is then in force.
_FOLLOWING = 10  # for each card left that can be played on it
_FOLLOWING_RLCARD = -40  # the same by RLCard's rules, where a card drawn is often played at once
_WILD_COST, _WILD_FOUR_COST = 60, 80  # of using one
_HIT = 60  # a card that stops a next player who is nearly out
_FEW = 2  # cards with which a player is nearly out
_SAVED = 5  # cost of such a card while nobody is nearly out
_AGAIN = 15  # gain if its player is to move again
_SHED = 1  # for each point that a card counts, if points are paid
_HAND = 30  # for each card by which the next hand of a swap is smaller
_KEPT_WILD = 4  # cards in hand, from which on a wild card that was drawn is kept
_BLUFFS = 0.3  # share of Wild Draw Fours that are assumed to be played from a hand drawn by chance
_BREAK_EVEN = 0.2  # chance of guilt from which on a challenge pays: two more cards against eight fewer


@kernel
def heuristic(s, legal, n, rng):
    """Play the card that leaves the best hand, draw only if none can be played, and challenge if the odds are right.

    Args:
        s: one record, not terminal.
        legal: int32 array whose first `n` entries are the legal actions.
        n: int, number of legal actions.
        rng: not used; the policy is deterministic.

    Returns:
        One of the legal actions.
    """
    player = np.int64(s.current_player)
    if s.phase == state.NAME:
        return np.int64(actions.NAME_0 + _best_colour(s, player))
    if s.phase == state.CHALLENGE:
        return np.int64(actions.CHALLENGE if _chance_of_guilt(s, player) > _BREAK_EVEN else actions.ACCEPT)
    if s.phase == state.SAY:
        return np.int64(actions.SAY_UNO)
    if s.phase == state.CATCH:
        return np.int64(actions.CATCH)
    if s.phase == state.SWAP:
        return np.int64(actions.SWAP_0 + _smallest_hand(s, player))
    card = _best_card(s, player)
    if s.phase == state.DRAWN and _is_kept(s, player, card):
        return np.int64(actions.PASS)
    if card == state.NO_CARD:
        return np.int64(actions.PASS if s.phase == state.JUMP else actions.DRAW)
    if card >= WILD:
        return np.int64(NUM_SYMBOLS * _best_colour(s, player) + card - WILD + COLOURED)
    return np.int64(NUM_SYMBOLS * (card // COLOURED) + card % COLOURED)


@kernel
def _best_colour(s, player):
    """Return the colour with most cards in hand; of two such, the one with more points."""
    best, most = np.int64(0), np.int64(-1)
    for colour in range(NUM_COLOURS):
        worth = np.int64(0)
        for kind in range(COLOURED * colour, COLOURED * (colour + 1)):
            worth += s.hands[player, kind] * (1000 + POINTS[kind])
        if worth > most:
            best, most = np.int64(colour), worth
    return best


@kernel
def _best_card(s, player):
    """Return the playable card that is worth most to play, or NO_CARD."""
    best, most = np.int64(state.NO_CARD), np.int64(-(1 << 30))
    cards = cards_to_play(s)
    while cards:
        kind = lowest_card(cards)
        cards &= cards - 1
        worth = _worth(s, player, kind)
        if worth > most:
            best, most = kind, worth
    return best


@kernel
def _worth(s, player, kind):
    """Return what playing a card is worth."""
    following = next_player(s, player)
    is_close = s.hand_sizes[following] <= _FEW
    worth = (_FOLLOWING_RLCARD if s.rules.rlcard else _FOLLOWING) * _num_following(s, player, kind)
    symbol = SYMBOL_OF[kind]
    if kind == WILD:
        worth -= _WILD_COST
    elif kind == WILD_FOUR:
        worth += _HIT if is_close else 0
        worth -= _WILD_FOUR_COST
    elif symbol in (SKIP, REVERSE, DRAW_TWO):
        worth += _HIT if is_close else -_SAVED
        if s.rules.num_players == 2 and not (symbol == REVERSE and s.rules.rlcard):
            worth += _AGAIN
    elif s.rules.seven_zero and symbol in (SEVEN, ZERO):
        giver = _smallest_hand(s, player) if symbol == SEVEN else _player_before(s, player)
        worth += _HAND * (s.hand_sizes[player] - 1 - s.hand_sizes[giver])
    if s.rules.returns == state.POINTS or s.rules.target > 0:
        worth += _SHED * POINTS[kind]
    return worth


@kernel
def _num_following(s, player, kind):
    """Return how many cards left in hand could be played on a card."""
    colour = _best_colour(s, player) if kind >= WILD else kind // COLOURED
    number = np.int64(0)
    for other in range(COLOURED * colour, COLOURED * (colour + 1)):
        number += s.hands[player, other]
    if kind < WILD:
        for other in range(kind % COLOURED, WILD, COLOURED):
            if other // COLOURED != colour:
                number += s.hands[player, other]
        if s.phase != state.DRAWN:
            number -= 1
    return number


@kernel(inline=True)
def _player_before(s, player):
    """Return whose hand `player` gets when hands are passed on."""
    n = s.rules.num_players
    return (player - s.direction + n) % n


@kernel
def _smallest_hand(s, player):
    """Return the other player with fewest cards, the next one of several."""
    best = next_player(s, player)
    other = next_player(s, best)
    while other != player:
        if s.hand_sizes[other] < s.hand_sizes[best]:
            best = other
        other = next_player(s, other)
    return best


@kernel(inline=True)
def _is_kept(s, player, card):
    """Return whether to keep the card drawn: a wild card while there is time."""
    if card < WILD:
        return card == state.NO_CARD
    return s.hand_sizes[player] >= _KEPT_WILD and s.hand_sizes[next_player(s, player)] > _FEW


@kernel
def _chance_of_guilt(s, player):
    """Return the chance that a Wild Draw Four was played from a hand with a card of the colour."""
    author, cards = np.int64(s.author), COLOUR_SETS[s.old_colour]
    of_colour, unseen, known = np.int64(0), np.int64(0), np.int64(0)
    for kind in range(NUM_KINDS):
        number = COPIES[kind] - s.discarded[kind] - s.hands[player, kind]
        for p in range(s.rules.num_players):
            number -= s.known[p, player, kind]
        unseen += number
        known += s.known[author, player, kind]
        if cards >> kind & 1:
            of_colour += number
            if s.known[author, player, kind]:
                return 1.0
    drawn = s.hand_sizes[author] - known
    return _BLUFFS * (1 - chance_of_none(of_colour, drawn, unseen))
