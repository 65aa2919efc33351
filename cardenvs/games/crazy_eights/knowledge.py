"""What all players know of hidden cards (9): when they came into play, and what they cannot be.

The stock is empty whenever it is made again. So a card in a hand that was drawn from a stock is one of those of which
this stock was made, and it can be told when each hidden card came. Each time has a *mark*: the deal, putting back a
first eight, and each time the stock was made again. A slot of a hand bars the marks of other times in the same bit set
as the cards that it cannot be; see kits/shedding.py.

Slots are kept if draws prove something, if an eight was put back, or if equal cards of two packs have different marks.
Otherwise the marks alone say how many cards of a hand came when.

There are marks for nine times that the stock is made again; then they are used once more. A card that has been held for
that long then counts as one that was dealt.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.crazy_eights.state import NUM_CARDS, packs_of
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.shedding import add_slot, bar_from_slots, forget_slots, vacate

_FIRST_MARK, NUM_MARKS = NUM_CARDS, 11
MARKS = np.int64((1 << NUM_MARKS) - 1 << _FIRST_MARK)
DEALT_MARK, PUT_BACK_MARK = np.int64(1 << _FIRST_MARK), np.int64(2 << _FIRST_MARK)
_AGAIN, _NUM_AGAIN = _FIRST_MARK + 2, NUM_MARKS - 2  # of the marks for making the stock again


@kernel
def forget(s):
    """Begin a hand, in which nothing is known."""
    forget_slots(s)
    s.marks[:] = DEALT_MARK
    s.stock_marks = DEALT_MARK
    s.recycled = s.double_recycled = s.recycled_before = s.double_recycled_before = 0


@kernel
def _keep(s):
    """Begin to keep slots, as many with each mark as there are cards with it."""
    if s.is_plain:
        s.is_plain = 0
        for p in range(s.rules.num_players):
            for k in range(NUM_MARKS):
                mark = DEALT_MARK << k
                for _ in range(num_marked(s, p, mark)):
                    add_slot(s, p, MARKS & ~mark)


@kernel
def num_marked(s, player, mark):
    """Return how many cards in the hand of `player` have a mark, which all know while no slots are kept."""
    number = np.int64(0)
    cards = s.hands[player]
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        if s.marks[0, card] == mark:
            number += 1 + (s.doubles[player] >> card & 1)
    return number


@kernel(inline=True)
def num_hidden(s, card):
    """Return how many copies of a card do not lie in the discard pile."""
    return packs_of(s.rules) - (s.discards >> card & 1) - (s.double_discards >> card & 1)


@kernel(inline=True)
def note_drawn(s, player):
    """Note that `player` draws a card; call this before the card is in the hand."""
    if not s.is_plain:
        add_slot(s, player, MARKS & ~s.stock_marks)


@kernel
def bar_from_hand(s, player, cards):
    """Note that `player` holds none of these cards, a bit set (9.2)."""
    _keep(s)
    bar_from_slots(s, player, cards)


@kernel(inline=True)
def note_played(s, player, card):
    """Note that a card leaves the hand of `player`; call this before it lies in the discard pile."""
    if not s.is_plain:
        _note_played(s, player, card)


@kernel
def _note_played(s, player, card):
    """Of two equal cards with different marks, of which either may be the one that leaves, the other keeps both."""
    leaves, stays = np.int64(s.marks[0, card]), np.int64(s.marks[1, card])
    if num_hidden(s, card) == 2:
        if not _may_hold(s, player, card, leaves):
            leaves, stays = stays, leaves
        elif _may_hold(s, player, card, stays):
            leaves = stays = leaves | stays
        s.marks[0, card] = stays
    s.num_slots = vacate(s.slot_owner, s.slot_barred, s.num_slots, player, card, leaves)


@kernel
def _may_hold(s, player, card, marks):
    """Return whether a slot of `player` takes a card with these marks."""
    for k in range(s.num_slots):
        barred = s.slot_barred[k]
        if s.slot_owner[k] == player and not barred >> card & 1 and marks & ~barred:
            return True
    return False


@kernel
def note_put_back(s, card):
    """Note that a first card, which all have seen, goes back into the stock; call this when it has left the pile."""
    _keep(s)
    s.marks[packs_of(s.rules) - 1, card] = PUT_BACK_MARK
    s.stock_marks |= PUT_BACK_MARK
    s.recycled |= np.int64(1) << card


@kernel
def note_recycled(s, cards, doubles):
    """Note that these cards are the new stock, as bit sets; call this when they have left the pile.

    With one pack, the marks of cards then say all that slots would.
    """
    if packs_of(s.rules) == 2:
        _keep(s)
    s.stock_marks = np.int64(1) << (_AGAIN + s.num_shuffles % _NUM_AGAIN)
    if s.num_shuffles >= _NUM_AGAIN:
        _free_mark(s, s.stock_marks)
    left = cards
    while left:
        card = lowest_card(left)
        left &= left - 1
        number = num_hidden(s, card)
        s.marks[number - 1, card] = s.stock_marks
        if doubles >> card & 1:
            s.marks[number - 2, card] = s.stock_marks
    s.recycled_before, s.double_recycled_before = s.recycled, s.double_recycled
    s.recycled, s.double_recycled = cards, doubles


@kernel
def _free_mark(s, mark):
    """Give cards and slots with a mark that of the deal."""
    for card in range(NUM_CARDS):
        for copy in range(2):
            if s.marks[copy, card] & mark:
                s.marks[copy, card] = s.marks[copy, card] & ~mark | DEALT_MARK
    for k in range(s.num_slots):
        if not s.slot_barred[k] & mark:
            s.slot_barred[k] = (s.slot_barred[k] | mark) & ~DEALT_MARK
