"""Actions of Crazy Eights, which are legal, and why the others are not. Paragraph numbers are those of rules.md.

    id          action                                     phase
    0..51       play a card: rank * 4 + suit               play
    52          draw a card, or all that is owed           play
    53          pass                                       play
    54..57      name a suit: clubs, diamonds, hearts, spades   name

These ids are those of OpenSpiel.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.crazy_eights import state
from cardenvs.games.crazy_eights.state import FITTING, NUM_CARDS, NUM_RANKS, NUM_SUITS, RANK_OF, RANK_SETS
from cardenvs.kits.listing import list_bits

DRAW, PASS, NAME_0 = NUM_CARDS, NUM_CARDS + 1, NUM_CARDS + 2
num_actions = NAME_0 + NUM_SUITS

# Codes that explain_illegal returns; their texts are in view.py.
(
    NAME_A_SUIT, NO_EIGHT, NOT_HELD, NO_FIT, OWES_CARDS, NO_STOCK, LIMIT_REACHED, MUST_PLAY, MUST_DRAW, MAY_NOT_PASS,
) = range(1, 11)  # fmt: skip


@kernel(inline=True)
def fitting(s):
    """Return the cards that fit when nothing is owed, as a bit set (3.1)."""
    return FITTING[s.top // NUM_SUITS, s.suit]


@kernel(inline=True)
def playable(s, player):
    """Return the cards that `player` may play, as a bit set (3.1, 4.3)."""
    if s.owed == 0:
        return s.hands[player] & fitting(s)
    return s.hands[player] & RANK_SETS[RANK_OF[s.rules.draw_two]] if s.rules.stack else np.int64(0)


@kernel(inline=True)
def may_draw(s, cards):
    """Return whether a player whose `cards` fit may draw instead (3.3)."""
    return s.rules.draw_when_able or cards == 0


@kernel(inline=True)
def may_pass(s):
    """Return whether a player who owes nothing may pass (3.4)."""
    return s.num_stock == 0 or s.num_drawn == s.rules.draw_limit


@kernel
def legal_actions(s, out):
    """List the legal actions of the player to act, ascending."""
    if s.phase == state.NAME:
        for suit in range(NUM_SUITS):
            out[suit] = NAME_0 + suit
        return NUM_SUITS
    cards = playable(s, s.current_player)
    n = list_bits(cards, 0, out, 0)
    passes = s.owed == 0 and may_pass(s)
    if passes:
        out[n] = PASS
        n += 1
    elif s.owed or may_draw(s, cards):
        out[n] = DRAW
        n += 1
    return n


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else why not, as a code."""
    if s.phase == state.NAME:
        return 0 if action >= NAME_0 else NAME_A_SUIT
    if action >= NAME_0:
        return NO_EIGHT
    cards = playable(s, s.current_player)
    if action < DRAW:
        return _explain_play(s, cards, action)
    if action == DRAW:
        if s.owed:
            return 0
        if s.num_stock == 0:
            return NO_STOCK
        if may_pass(s):
            return LIMIT_REACHED
        return 0 if may_draw(s, cards) else MUST_PLAY
    if s.owed:
        return MUST_DRAW
    return 0 if may_pass(s) else MAY_NOT_PASS


@kernel
def _explain_play(s, cards, card):
    bit = np.int64(1) << card
    if cards & bit:
        return 0
    if not s.hands[s.current_player] & bit:
        return NOT_HELD
    return OWES_CARDS if s.owed else NO_FIT


def max_legal(options):
    """Return a bound on the number of legal actions: all cards, and one more."""
    return NUM_CARDS + 1


def action_features(options):
    """Return the rank and suit that are played, the suit that is named, or one entry for each other action."""
    features = np.zeros((num_actions, NUM_RANKS + 2 * NUM_SUITS + 2), np.int8)
    for card in range(NUM_CARDS):
        features[card, card // NUM_SUITS] = features[card, NUM_RANKS + card % NUM_SUITS] = 1
    for suit in range(NUM_SUITS):
        features[NAME_0 + suit, NUM_RANKS + NUM_SUITS + suit] = 1
    features[DRAW, -2] = features[PASS, -1] = 1
    return features
