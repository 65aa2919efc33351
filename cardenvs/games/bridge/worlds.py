"""What a player cannot know, dealt again. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below
from cardenvs.games.bridge.agreement import has_natural_auction, missed_calls
from cardenvs.games.bridge.cards import dummy_of
from cardenvs.games.bridge.state import NOT_KNOWN, NUM_PLAYERS, NUM_RESULTS
from cardenvs.kits.cards import SUIT_SETS, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD, begin_world
from cardenvs.kits.redeal import add_place, cards_at, deal_to_places, list_cards, new_places
from cardenvs.kits.tricks import suit_of

_MOST_DEALS = 6000
_STEPS = 8000


@kernel(inline=True)
def sees_hand(s, viewer, player):
    """Whether the hand of `player` is known to `viewer`: the own one, and dummy's once it is faced."""
    return viewer == player or (s.is_faced and player == dummy_of(s))


@kernel
def hidden_cards(s, player):
    """Return the cards that `player` does not see, as a bit set."""
    hidden = np.int64(0)
    for p in range(NUM_PLAYERS):
        if not sees_hand(s, player, p):
            hidden |= s.hands[p]
    return hidden


@kernel
def determinize(s, player, seed):
    """Re-deal the hidden hands; none gets a suit that its owner has shown not to hold. Forget the results (7.4)."""
    begin_world(s, seed)
    for k in range(NUM_RESULTS):  # whatever the true deal pays, a world does not know
        s.tricks[k] = s.rules.tricks[k] = NOT_KNOWN
    players = np.int64(0)
    for p in range(NUM_PLAYERS):
        players |= np.int64(not sees_hand(s, player, p)) << p
    redeal(s, players)
    if has_natural_auction(s):
        _agree(s, players)


@kernel
def redeal(s, players):
    """Deal the hands of some players, a bit set, again, all deals that respect their voids being equally likely."""
    hidden = np.int64(0)
    places = new_places()
    places.number = 0
    for p in range(NUM_PLAYERS):
        hand = s.hands[p] if players >> p & 1 else np.int64(0)
        hidden |= hand
        add_place(places, count_bits(hand), s.voids[p])
    number = list_cards(hidden, s.dealt, 0)
    deal_to_places(s, places, SUIT_SETS, s.dealt, 0, number)
    for p in range(NUM_PLAYERS):
        if players >> p & 1:
            s.hands[p] = cards_at(places, p, s.dealt)
    for k in range(number):
        s.dealt[k] = NO_CARD


@kernel
def _agree(s, players):
    """Deal again until natural bidders make the calls (7.1).

    The first of _MOST_DEALS deals that agrees is taken, so that all that do are equally likely. If none does, a walk
    goes on from the last one. A step deals the cards of two players again, or exchanges two cards, unless more calls
    are missed then. Once none is missed, all deals that agree become equally likely in the course of the walk.
    """
    for _ in range(_MOST_DEALS):
        if missed_calls(s, 0) == 0:
            return
        redeal(s, players)
    walk(s, players)


@kernel
def walk(s, players):
    """Change the hands of some players, a bit set, step by step, until natural bidders make the calls, and go on."""
    missed = missed_calls(s, s.num_calls)
    for step in range(_STEPS):
        p, q = random_below(s.rng, NUM_PLAYERS), random_below(s.rng, NUM_PLAYERS)
        pair = np.int64(1) << p | np.int64(1) << q
        if p == q or pair & ~players:
            continue
        hand_p, hand_q = s.hands[p], s.hands[q]
        if step & 1:
            redeal(s, pair)
        else:
            exchange_cards(s, p, q)
        now = missed_calls(s, missed)
        if now > missed:
            s.hands[p], s.hands[q] = hand_p, hand_q
        else:
            missed = now


@kernel
def exchange_cards(s, p, q):
    """Exchange a card of `p` with one of `q` at random; return whether their voids allow it, and both have cards."""
    if s.hands[p] == 0 or s.hands[q] == 0:
        return False
    one, two = _any_card(s, s.hands[p]), _any_card(s, s.hands[q])
    if s.voids[q] >> suit_of(one) & 1 or s.voids[p] >> suit_of(two) & 1:
        return False
    both = np.int64(1) << one | np.int64(1) << two
    s.hands[p] ^= both
    s.hands[q] ^= both
    return True


@kernel(inline=True)
def _any_card(s, cards):
    """Return a random card of a bit set, which is not empty."""
    for _ in range(random_below(s.rng, count_bits(cards))):
        cards &= cards - 1
    return np.int64(lowest_card(cards))
