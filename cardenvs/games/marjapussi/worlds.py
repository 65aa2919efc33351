"""What a player of Marjapussi cannot know: worlds that fit everything shown (rules.md 8).

What is shown concerns the cards that a player was dealt: those in hand and those played. Which hands may get a card is
exact in the deal; what concerns a king and a queen together is checked, and a deal that does not fit is dealt again.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.marjapussi.cards import both_of, king_and_queen, one_of, partner_of
from cardenvs.games.marjapussi.marriages import open_suits
from cardenvs.games.marjapussi.state import ANSWER, NUM_PLAYERS, NUM_SUITS
from cardenvs.kits.cards import count_bits
from cardenvs.kits.deck import begin_world
from cardenvs.kits.redeal import deal_to_three, new_three_hands

_OTHERS = NUM_PLAYERS - 1
_ALL = (1 << NUM_PLAYERS) - 1


@kernel
def determinize(s, player, seed):
    """Deal the other hands again; all deals that fit what `player` knows are equally likely (8)."""
    begin_world(s, seed)
    hidden = np.int64(0)
    hands = new_three_hands()
    for k in range(_OTHERS):
        p = wrap(player + 1 + k, NUM_PLAYERS)
        hidden |= s.hands[p]
        hands.room[k], hands.barred[k] = count_bits(s.hands[p]), s.lacks[p]
    for suit in range(NUM_SUITS):
        holders = _holders(s, player, suit)
        for k in range(_OTHERS):
            if not holders >> wrap(player + 1 + k, NUM_PLAYERS) & 1:
                hands.barred[k] |= king_and_queen(suit)
    asked = open_suits(s) if s.phase == ANSWER else np.int64(0)
    fits = False
    while not fits:
        deal_to_three(s, hands, hidden)
        fits = True
        for k in range(_OTHERS):
            p = wrap(player + 1 + k, NUM_PLAYERS)
            s.hands[p] = hands.cards[k]
            fits = fits and _fits(s, player, p, asked if p == s.current_player else np.int64(0))


@kernel
def _holders(s, player, suit):
    """The players who may hold a king or queen of a suit that `player` does not see, as a bit set (8.3, 8.6)."""
    pairs, halves, seen = np.int64(0), np.int64(0), np.int64(0)
    for p in range(NUM_PLAYERS):
        dealt = s.cards_played[p] | (s.hands[p] if p == player else 0)
        has_pair = s.pairs[p] | (s.shown_pairs[player] if p == partner_of(player) else 0)
        pairs |= (np.int64(has_pair) >> suit & 1) << p
        halves |= (np.int64(s.halves[p]) >> suit & 1) << p
        seen |= (one_of(dealt) >> suit & 1) << p
    if pairs:
        return pairs
    if not halves:
        return np.int64(_ALL)
    if seen & halves:  # the owner of the card that is seen has only that one
        halves ^= seen
        return halves if halves else _ALL ^ seen
    return halves if seen or count_bits(halves) == 2 else np.int64(_ALL)


@kernel(inline=True)
def _fits(s, player, p, asked):
    """Whether the hand of `p` fits what is shown of a king and a queen together (8.4 to 8.8).

    Of the suits in `asked`, a bit set, `p` holds several marriages, since it may choose (4.4).
    """
    dealt = s.hands[p] | s.cards_played[p]
    both, no_pairs = both_of(dealt), np.int64(s.no_pairs[p])
    if p == partner_of(player):
        no_pairs |= s.shown_no_pairs[player]
    if both & no_pairs or s.halves[p] & ~one_of(dealt):
        return False
    if asked and count_bits(both & asked) < 2:
        return False
    return s.some_pair[p] == 0 or both & s.some_pair[p] != 0
