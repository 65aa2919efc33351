"""Two policies for gin rummy: a strong one, and a plain one as its baseline.

Both use only what the player to act may know: the own hand, the discard pile and who put each card there, and the cards
that the opponent has taken from it. Card sets are int64 bit sets. Quantities are in points of deadwood.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.gin_rummy import melds
from cardenvs.games.gin_rummy.actions import BIG_GIN, DONE, KNOCK_0, LAY_OFF_ON_RUN_0, PASS, TAKE_UPCARD
from cardenvs.games.gin_rummy.legal import knocking_hand, top_discard
from cardenvs.games.gin_rummy.state import DISCARD, LAYOFF, WALL
from cardenvs.kits.cards import NUM_CARDS, count_bits

_ALL_CARDS = (1 << NUM_CARDS) - 1
_NO_ACTION = -1
_MORE_THAN_ANY_BURDEN = 1e9

# Weights, tuned by self-play on duplicate deals, first all together, then one by one. Changing most of them by a third
# costs less than 0.3 points a hand.
_LAST_CARDS = 5.0  # no look-ahead once the stock has this many cards
_DRAWS_PER_CARD = 0.1  # draws to look ahead, for each card of the stock above these
_ABOVE_LIMIT = 0.7  # extra weight of deadwood above the knock limit
_KNOCK_NEXT = 17.0  # value of a certain knock after the next draw
_TAKE_MARGIN = 1.0  # required advantage of taking the upcard over drawing from the stock
_FED, _FED_PER_POINT = 3.0, 0.45  # cost of a discard that the opponent can meld
_COLD = 0.6  # relative chance that the opponent holds a card related to one of his discards
_KNOCK_AT_20, _KNOCK_PER_CARD = 7, 1  # most deadwood to knock with when the stock has 20 cards, and its slope
_KNOCK_PER_GIN_OUT, _MOST_GIN_OUTS = 4, 3  # reduction for each card that would make gin instead


@kernel
def heuristic(s, legal, n, rng):
    """Play well: draw towards a knock, discard safely, knock early, and late in the hand wait for gin or an undercut.

    Args:
        s: one record, not terminal.
        legal: int32 array whose first `n` entries are the legal actions.
        n: int, number of legal actions.
        rng: not used; the policy is deterministic.

    Returns:
        One of the legal actions.
    """
    if s.phase == DISCARD:
        action = _choose_knock(s, legal, n)
        return action if action != _NO_ACTION else _choose_discard(s, legal, n)
    if s.phase == WALL:
        action = _choose_knock(s, legal, n)
        return action if action != _NO_ACTION else PASS
    if s.phase == LAYOFF:
        return _choose_layoff(s, legal, n)
    return _choose_draw(s, legal, n)


@kernel
def greedy(s, legal, n, rng):
    """Play plainly: draw and discard for the least immediate deadwood, and knock as soon as possible."""
    if s.phase == LAYOFF:
        return _choose_layoff(s, legal, n)
    if s.phase == DISCARD or s.phase == WALL:
        action = _least_knock(s, legal, n)
        if action != _NO_ACTION:
            return action
        return _least_discard(s, legal, n) if s.phase == DISCARD else PASS
    hand = s.hands[s.current_player]
    if legal[0] == TAKE_UPCARD and melds.min_deadwood_after_discard(hand | 1 << top_discard(s)) < melds.min_deadwood(
        hand
    ):
        return TAKE_UPCARD
    return np.int64(legal[n - 1])


# ---------------------------------------------------------------------------------------------------------------
# Drawing


@kernel
def _choose_draw(s, legal, n):
    """Take the upcard if the hand with it has a lower burden than expected after a draw from the stock."""
    if legal[0] != TAKE_UPCARD:
        return np.int64(legal[0])
    hand, unseen, draws = s.hands[s.current_player], unseen_cards(s), draws_ahead(s)
    limit = np.int64(s.knock_limit)
    taken, _ = burden_with_upcard(s, hand, unseen, limit, draws)
    drawn = burden_of(hand, unseen, limit, draws + 1.0)
    return TAKE_UPCARD if taken < drawn - _TAKE_MARGIN else np.int64(legal[n - 1])


@kernel
def burden_with_upcard(s, hand, unseen, limit, draws):
    """Return the least burden after taking the upcard and discarding a loose card, and the ten cards left.

    With gin, the burden is less than any other.
    """
    upcard = 1 << top_discard(s)
    eleven = hand | upcard
    discards = eleven & ~melds.best_melded(eleven) & ~upcard
    if discards == 0:
        return -_MORE_THAN_ANY_BURDEN, hand
    least, ten = _MORE_THAN_ANY_BURDEN, hand
    while discards:
        card = discards & -discards
        discards ^= card
        burden = burden_of(eleven ^ card, unseen, limit, draws)
        if burden < least:
            least, ten = burden, eleven ^ card
    return least, ten


@kernel
def unseen_cards(s):
    """Return the cards that the player to act cannot locate: in the stock or in the opponent's hand."""
    player = s.current_player
    return _ALL_CARDS & ~(s.hands[player] | s.known[1 - player] | s.discards)


@kernel
def draws_ahead(s):
    """Return the number of draws to look ahead."""
    return _DRAWS_PER_CARD * max(0.0, s.num_stock - _LAST_CARDS)


@kernel
def burden_of(hand, unseen, limit, draws):
    """Return how far ten cards are from winning: their deadwood less the expected savings of future draws.

    Args:
        hand: int64 bit set of ten cards.
        unseen: int64 bit set, the cards that a draw may bring with equal chances.
        limit: int, the knock limit.
        draws: float, draws to look ahead.
    """
    loose = hand ^ melds.best_melded(hand)
    deadwood, highest = melds.hand_points(loose), melds.highest_points(loose)
    outs = melds.meld_outs(hand) & unseen
    others = unseen & ~outs  # which can replace a loose card that is higher
    lower = others & melds.cards_up_to(highest - 1)
    saved = highest * count_bits(lower) - melds.hand_points(lower)
    can_knock = others if deadwood <= limit else others & melds.cards_up_to(highest - (deadwood - limit))
    num_knocks = count_bits(can_knock)
    while outs:
        left = melds.min_deadwood_after_discard(hand | outs & -outs)
        outs &= outs - 1
        saved += deadwood - left
        num_knocks += left <= limit
    expected = (draws * saved + _KNOCK_NEXT * num_knocks) / max(1, count_bits(unseen))
    return deadwood + _ABOVE_LIMIT * max(0, deadwood - limit) - expected


# ---------------------------------------------------------------------------------------------------------------
# Discarding


@kernel
def _choose_discard(s, legal, n):
    """Discard the loose card that leaves the least burden, including the risk that the opponent melds it."""
    hand, melded = s.hands[s.current_player], melds.best_melded(s.hands[s.current_player])
    unseen, draws, limit = unseen_cards(s), draws_ahead(s), np.int64(s.knock_limit)
    least, best = _MORE_THAN_ANY_BURDEN, np.int64(_NO_ACTION)
    for k in range(n):
        card = np.int64(legal[k])
        if card < NUM_CARDS and not melded >> card & 1:
            bit = 1 << card
            risk = risk_of(s, card, unseen)
            burden = burden_of(hand ^ bit, unseen, limit, draws) + risk * (
                _FED + _FED_PER_POINT * melds.hand_points(bit)
            )
            if burden < least:
                least, best = burden, card
    return best if best != _NO_ACTION else _least_discard(s, legal, n)


@kernel
def risk_of(s, card, unseen):
    """Return the chance that the opponent melds `card`."""
    player = np.int64(s.current_player)
    known = s.known[1 - player]
    chance = count_bits(s.hands[1 - player] & ~known) / max(1, count_bits(unseen))
    cold = melds.related(s.discarded[1 - player])
    return _chance_of_meld(card, known, unseen & ~cold, unseen & cold, chance)


@kernel
def _chance_of_meld(card, known, warm, cold, chance):
    """Return the chance that the opponent holds two cards that form a meld with `card`.

    Args:
        card: int, a card id.
        known: int64 bit set, the known cards of the opponent.
        warm, cold: int64 bit sets of the unseen cards; `cold` has those related to the opponent's discards.
        chance: float, that the opponent holds a warm card.
    """
    suit, rank = card // melds.NUM_RANKS, card % melds.NUM_RANKS
    none = 1.0
    for one in range(melds.NUM_SUITS):
        for other in range(one):
            if one != suit and other != suit:
                pair = _chance_held(one * melds.NUM_RANKS + rank, known, warm, cold, chance)
                none *= 1.0 - pair * _chance_held(other * melds.NUM_RANKS + rank, known, warm, cold, chance)
    for low in range(max(0, rank - 2), min(rank, melds.NUM_RANKS - 3) + 1):
        run = 1.0
        for step in range(low, low + 3):
            if step != rank:
                run *= _chance_held(suit * melds.NUM_RANKS + step, known, warm, cold, chance)
        none *= 1.0 - run
    return 1.0 - none


@kernel
def _chance_held(card, known, warm, cold, chance):
    """Return the chance that the opponent holds `card`."""
    if known >> card & 1:
        return 1.0
    if warm >> card & 1:
        return chance
    return _COLD * chance if cold >> card & 1 else 0.0


@kernel
def _least_discard(s, legal, n):
    """Return the discard that leaves the least deadwood; ties go to the highest rank, then to the first card."""
    hand = s.hands[s.current_player]
    least, best = NUM_CARDS * 100, np.int64(legal[0])
    for k in range(n):
        card = np.int64(legal[k])
        if card < NUM_CARDS:
            key = melds.min_deadwood(hand ^ 1 << card) * 100 - card % melds.NUM_RANKS
            if key < least:
                least, best = key, card
    return best


# ---------------------------------------------------------------------------------------------------------------
# Knocking and laying off


@kernel
def _choose_knock(s, legal, n):
    """Go gin, or knock if the deadwood is low enough for the stage of the hand and the chance of gin, or _NO_ACTION."""
    action = _least_knock(s, legal, n)
    if action in (_NO_ACTION, BIG_GIN):
        return action
    ten = knocking_hand(s) ^ 1 << action - KNOCK_0
    deadwood = melds.min_deadwood(ten)
    most = _KNOCK_AT_20 + _KNOCK_PER_CARD * (s.num_stock - 20) - _KNOCK_PER_GIN_OUT * gin_outs(ten, unseen_cards(s))
    return action if deadwood == 0 or deadwood <= most else _NO_ACTION


@kernel
def _least_knock(s, legal, n):
    """Return big gin, else the knock with the least deadwood, else _NO_ACTION."""
    hand = knocking_hand(s)
    least, best = NUM_CARDS * 100, _NO_ACTION
    for k in range(n):
        action = np.int64(legal[k])
        if action == BIG_GIN:
            return action
        if action >= KNOCK_0:
            deadwood = melds.min_deadwood(hand ^ 1 << action - KNOCK_0)
            if deadwood < least:
                least, best = deadwood, action
    return best


@kernel
def gin_outs(ten, unseen):
    """Return the number of unseen cards that turn ten cards into gin, at most _MOST_GIN_OUTS."""
    outs = melds.meld_outs(ten) & unseen
    number = 0
    while outs and number < _MOST_GIN_OUTS:
        number += melds.min_deadwood_after_discard(ten | outs & -outs) == 0
        outs &= outs - 1
    return number


@kernel
def _choose_layoff(s, legal, n):
    """Lay off the next card of the best defence, or be done; runs come first, as their ids are lower."""
    cards = melds.best_layoffs(s.hands[s.current_player], s.melds[s.knocker], melds.MAX_MELDS)
    for k in range(n - 1):
        action = np.int64(legal[k])
        if cards >> (action - LAY_OFF_ON_RUN_0) % NUM_CARDS & 1:
            return action
    return np.int64(DONE)
