"""Actions of Ristiseiska, which are legal, and why the others are not. Paragraph numbers are those of rules.md.

id          action                                            phase
0..51       card = rank * 4 + suit: play it, or give it       play, more; give
52          beg, or pass where begging brings nothing         play
53          stop after an ace or a king                       more
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.ristiseiska import state
from cardenvs.games.ristiseiska.state import NO_CARD, NUM_CARDS, NUM_RANKS, NUM_SUITS, fitting
from cardenvs.kits.listing import list_bits

BEG, STOP = NUM_CARDS, NUM_CARDS + 1
num_actions = max_legal = NUM_CARDS + 2

# Codes that explain_illegal returns; their texts are in view.py.
NOT_HELD, NO_FIT, MUST_GIVE, MUST_PLAY, NO_EXTRA, NO_BEG_NOW, MUST_PLAY_BEGGED = range(1, 8)


@kernel(inline=True)
def choices(s):
    """Return the cards that the player to act may play or give, as a bit set (3, 4)."""
    if s.phase == state.GIVE:
        return s.hands[s.current_player]
    if s.begged != NO_CARD:
        return np.int64(1) << s.begged
    return s.hands[s.current_player] & fitting(s)


@kernel
def legal_actions(s, out):
    """List the legal actions of the player to act, ascending."""
    n = list_bits(choices(s), 0, out, 0)
    if s.phase == state.MORE:
        out[n] = STOP
        n += 1
    elif n == 0:
        out[n] = BEG
        n += 1
    return n


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else why not, as a code."""
    if action < BEG:
        return _explain_card(s, action)
    if s.phase == state.GIVE:
        return MUST_GIVE
    if action == STOP:
        return 0 if s.phase == state.MORE else NO_EXTRA
    if s.phase == state.MORE:
        return NO_BEG_NOW
    return MUST_PLAY if choices(s) else 0


@kernel
def _explain_card(s, card):
    bit = np.int64(1) << card
    if choices(s) & bit:
        return 0
    if not s.hands[s.current_player] & bit:
        return NOT_HELD
    if s.begged != NO_CARD:
        return MUST_PLAY_BEGGED
    return NO_FIT


def action_features(options):
    """Return the rank and suit of a card, or one entry for each other action."""
    features = np.zeros((num_actions, NUM_RANKS + NUM_SUITS + 2), np.int8)
    for card in range(NUM_CARDS):
        features[card, card // NUM_SUITS] = features[card, NUM_RANKS + card % NUM_SUITS] = 1
    features[BEG, -2] = features[STOP, -1] = 1
    return features
