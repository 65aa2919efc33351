"""A rule agent for one-player poker: play what is made, draw to what may be, keep pairs for later.

Every rule has a name, so that a hint can say why. Chances are those of the cards that are left, in any order.
"""

import numpy as np

from cardenvs.core.cards import count_bits
from cardenvs.core.kernel import kernel
from cardenvs.games.one_player_poker.categories import FLUSH, STRAIGHT, best_category, has_run, suit_of_cards
from cardenvs.games.one_player_poker.rules import HAND_SIZE, MODEL_POINTS, NUM_PLAYS, POSITIONS, hand_cards

RULES = (
    "play_made_hand", "play_best_hand", "play_and_keep_pair", "draw_to_flush", "draw_to_straight", "improve_hand",
)  # fmt: skip
PLAY_MADE_HAND, PLAY_BEST_HAND, PLAY_AND_KEEP_PAIR, DRAW_TO_FLUSH, DRAW_TO_STRAIGHT, IMPROVE_HAND = range(len(RULES))

# Mean model points of the best hand after exchanging n cards that do not belong to the category, from a full deck.
IMPROVED = np.array(
    [
        [50.0, 75.7, 92.6, 107.9, 118.4, 126.0, 128.1, 124.6],  # high card
        [70.0, 108.0, 133.8, 152.2, 167.3, 174.0, 0, 0],  # one pair
        [150.0, 179.3, 203.8, 224.1, 0, 0, 0, 0],  # two pair
        [250.0, 302.1, 330.9, 348.5, 351.1, 0, 0, 0],  # three of a kind
    ]
)
_DISCARD_WORTH = 32.0  # points that a discard brings later, if there are few
_PLENTY = 3.0  # discards for each later play from which on they are worth less
_PAIR_WORTH = 25.0  # points that a pair kept for the next hand brings there
_SUITED_WORTH = 6.0  # the same for two cards of a suit
_ALL = (1 << HAND_SIZE) - 1


@kernel
def heuristic(s, legal, n, rng):
    """The action with the most points now and, by rough means, later."""
    return recommended(s)[0]


@kernel(entry=True)
def recommended(s):
    """Return (action, rule, chance): an action id, an index into RULES, and the chance that a draw succeeds, else 1."""
    best = best_category(hand_cards(s))
    action, rule, value = _best_play(s)
    chance = 1.0
    if best < STRAIGHT:
        for one in range(DRAW_TO_FLUSH, IMPROVE_HAND + 1):
            keep = _kept(s, one)
            most = min(HAND_SIZE - count_bits(keep), np.int64(s.discards_left)) if keep else 0
            for number in range(1, most + 1):
                success = _chance(s, one, keep, number)
                drawn = _value(s, one, best, success, number)
                if drawn > value:
                    action, rule, value, chance = _discard_id(keep, number), one, drawn, success
    return action, rule, chance


@kernel
def _best_play(s):
    """Return (action, rule, value) of the play whose points and remaining two cards are worth most."""
    best, best_value, best_points, most_points = 0, -1.0, 0, 0
    for action in range(NUM_PLAYS):
        cards, rest = np.int64(0), np.int64(0)
        for k in range(HAND_SIZE):
            if POSITIONS[action] >> k & 1:
                cards |= np.int64(1) << s.hand[k]
            else:
                rest |= np.int64(1) << s.hand[k]
        points = MODEL_POINTS[best_category(cards)]
        most_points = max(most_points, points)
        value = np.float64(points)
        if s.num_played + 1 < s.rules.plays:
            value += _worth_of_rest(rest)
        if value > best_value:
            best, best_value, best_points = action, value, points
    if best_points < most_points:
        return best, PLAY_AND_KEEP_PAIR, best_value
    return best, PLAY_MADE_HAND if most_points >= MODEL_POINTS[STRAIGHT] else PLAY_BEST_HAND, best_value


@kernel
def _worth_of_rest(rest):
    """Points that two cards bring in the next hand."""
    for suit in range(4):
        if count_bits(suit_of_cards(rest, suit)) == 2:
            return _SUITED_WORTH
    return 0.0 if count_bits(_ranks(rest)) == 2 else _PAIR_WORTH


@kernel(inline=True)
def _ranks(cards):
    """The ranks of cards, a set of 13 bits."""
    return suit_of_cards(cards, 0) | suit_of_cards(cards, 1) | suit_of_cards(cards, 2) | suit_of_cards(cards, 3)


# ---------------------------------------------------------------------------------------------------------------
# Draws: what is kept, how likely it is to succeed, and what that is worth


@kernel
def _kept(s, rule):
    """Return the positions that a draw keeps, a bit set; 0 if there is no such draw."""
    if rule == DRAW_TO_FLUSH:
        return _kept_suit(s)
    if rule == DRAW_TO_STRAIGHT:
        return _kept_run(s)
    keep = 0  # cards that are not alone in their rank
    for k in range(HAND_SIZE):
        for other in range(HAND_SIZE):
            if other != k and s.hand[k] % 13 == s.hand[other] % 13:
                keep |= 1 << k
    return keep if keep else 1 << HAND_SIZE  # a position that does not exist: nothing is kept


@kernel
def _kept_suit(s):
    """Return the positions of the suit of which there are most, if at least three."""
    best, most = 0, 2
    for suit in range(4):
        keep = 0
        for k in range(HAND_SIZE):
            if s.hand[k] // 13 == suit:
                keep |= 1 << k
        if count_bits(np.int64(keep)) > most:
            best, most = keep, count_bits(np.int64(keep))
    return best


@kernel
def _kept_run(s):
    """Return the positions of four ranks that lack one for a straight, those with the most cards to fill it."""
    best, most = 0, 0
    for low in range(10):
        keep, ranks = 0, 0
        for step in range(5):
            rank = (low + step) % 13
            for k in range(HAND_SIZE):
                if s.hand[k] % 13 == rank:
                    keep |= 1 << k
                    ranks |= 1 << rank
                    break
        outs = _straight_outs(s, ranks) if count_bits(np.int64(ranks)) == 4 else 0
        if outs > most:
            best, most = keep, outs
    return best


@kernel
def _straight_outs(s, ranks):
    """Return how many cards to come make a straight with `ranks`."""
    outs = 0
    for rank in range(13):
        if has_run(np.int64(ranks | 1 << rank)):
            outs += _number_left(s, rank)
    return outs


@kernel
def _number_left(s, rank):
    """Return how many cards of a rank are to come."""
    number = 0
    for suit in range(4):
        number += s.left >> 13 * suit + rank & 1
    return number


@kernel
def _chance(s, rule, keep, number):
    """Return the chance that a draw of `number` cards completes the flush or straight; 1.0 for other draws."""
    total = count_bits(s.left)
    if rule == DRAW_TO_STRAIGHT:
        ranks = np.int64(0)
        for k in range(HAND_SIZE):
            if keep >> k & 1:
                ranks |= np.int64(1) << s.hand[k] % 13
        return 1.0 - _chance_of(0, _straight_outs(s, ranks), total, number)
    if rule == DRAW_TO_FLUSH:
        suit = 0
        for k in range(HAND_SIZE):
            if keep >> k & 1:
                suit = s.hand[k] // 13
        outs, success = count_bits(suit_of_cards(s.left, suit)), 1.0
        for hits in range(5 - count_bits(keep)):
            success -= _chance_of(hits, outs, total, number)
        return success
    return 1.0


@kernel
def _chance_of(hits, outs, total, number):
    """Return the chance of exactly `hits` of `outs` cards among `number` drawn from `total` (hypergeometric)."""
    if hits > number:
        return 0.0
    chance = 1.0
    for k in range(number):
        if k < hits:
            chance *= (outs - k) / (total - k) * (number - k) / (k + 1)
        else:
            chance *= max(total - outs - (k - hits), 0) / (total - k)
    return chance


@kernel
def _value(s, rule, best, success, number):
    """Return the points to expect from a draw of `number` cards, less what the discards would bring later."""
    later_plays = s.rules.plays - s.num_played - 1
    cost = _DISCARD_WORTH * min(1.0, _PLENTY * later_plays / s.discards_left) * number
    if rule == IMPROVE_HAND:
        return IMPROVED[best, number] - cost
    target = MODEL_POINTS[FLUSH] if rule == DRAW_TO_FLUSH else MODEL_POINTS[STRAIGHT]
    return success * target + (1.0 - success) * IMPROVED[min(best, 1), min(number, 1)] - cost


@kernel
def _discard_id(keep, number):
    """Return the id of the discard of the first `number` cards that are not kept."""
    taken = 0
    for k in range(HAND_SIZE):
        if number and not keep >> k & 1:
            taken |= 1 << k
            number -= 1
    action = NUM_PLAYS
    while POSITIONS[action] != taken:
        action += 1
    return action
