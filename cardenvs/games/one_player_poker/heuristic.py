"""A rule agent for one-player poker: play what is made, draw to what may be, keep pairs for later.

Every rule has a name, so that a hint can say why. Chances are those of the cards that are left, in any order.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.one_player_poker.rules import HAND_SIZE, MODEL_POINTS, NUM_PLAYS, POSITIONS, hand_cards
from cardenvs.kits.cards import count_bits
from cardenvs.kits.poker_hands import FLUSH, STRAIGHT, best_model_category, has_run, held_twice, suit_of_cards

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
SUIT_STARTS = np.int64(1 | 1 << 13 | 1 << 26 | 1 << 39)  # the aces; times a set of ranks: all cards of these ranks


@kernel
def heuristic(s, legal, n, rng):
    """The action with the most points now and, by rough means, later."""
    return recommended(s)[0]


@kernel(entry=True)
def recommended(s):
    """Return (action, rule, chance): an action id, an index into RULES, and the chance that a draw succeeds, else 1."""
    plays_left = np.int64(s.rules.plays) - s.num_played
    taken, rule, chance = advice(hand_cards(s), np.int64(s.left), plays_left, np.int64(s.discards_left))
    return action_of(s, taken, rule < DRAW_TO_FLUSH), rule, chance


@kernel
def action_of(s, taken, is_play):
    """Return the id of the action that plays or discards the cards `taken`, a bit set."""
    positions = 0
    for k in range(HAND_SIZE):
        positions |= (taken >> s.hand[k] & 1) << k
    action = 0 if is_play else NUM_PLAYS
    while POSITIONS[action] != positions:
        action += 1
    return action


@kernel
def advice(hand, left, plays_left, discards_left):
    """Return (taken, rule, chance) for a hand, bit sets of cards: what to play or discard, and as `recommended`."""
    best = best_model_category(hand)
    taken, rule, value = _best_play(hand, plays_left)
    chance = 1.0
    if best >= STRAIGHT or discards_left == 0:
        return taken, rule, chance
    cost = _DISCARD_WORTH * min(1.0, _PLENTY * (plays_left - 1) / discards_left)
    for one in range(DRAW_TO_FLUSH, IMPROVE_HAND + 1):
        keep = _kept(hand, left, one)
        if keep < 0:
            continue
        free = hand & ~keep
        most = min(count_bits(free), discards_left)
        for number in range(1, most + 1):
            success = _chance(keep, left, one, number)
            drawn = _value(one, best, success, number) - cost * number
            if drawn > value:
                taken, rule, value, chance = _lowest(free, number), one, drawn, success
    return taken, rule, chance


@kernel
def _best_play(hand, plays_left):
    """Return (taken, rule, value) of the play whose points and remaining two cards are worth most."""
    best, best_value, best_points, most_points = np.int64(0), -1.0, np.int64(0), np.int64(0)
    first = hand
    while first:
        a = first & -first
        first ^= a
        second = first
        while second:
            b = second & -second
            second ^= b
            cards = hand ^ (a | b)
            points = MODEL_POINTS[best_model_category(cards)]
            most_points = max(most_points, points)
            value = np.float64(points)
            if plays_left > 1:
                value += _worth_of_rest(a | b)
            if value > best_value:
                best, best_value, best_points = cards, value, points
    if best_points < most_points:
        return best, PLAY_AND_KEEP_PAIR, best_value
    return best, PLAY_MADE_HAND if most_points >= MODEL_POINTS[STRAIGHT] else PLAY_BEST_HAND, best_value


@kernel
def _worth_of_rest(rest):
    """Points that two cards bring in the next hand."""
    ranks = ranks_of(rest)
    if ranks & ranks - 1 == 0:
        return _PAIR_WORTH
    for suit in range(4):
        if suit_of_cards(rest, suit) == ranks:
            return _SUITED_WORTH
    return 0.0


@kernel(inline=True)
def ranks_of(cards):
    """The ranks of cards, a set of 13 bits."""
    return suit_of_cards(cards, 0) | suit_of_cards(cards, 1) | suit_of_cards(cards, 2) | suit_of_cards(cards, 3)


@kernel
def _lowest(cards, number):
    """The `number` lowest of the cards."""
    rest = cards
    for _ in range(number):
        rest &= rest - 1
    return cards ^ rest


# ---------------------------------------------------------------------------------------------------------------
# Draws: what is kept, how likely it is to succeed, and what that is worth


@kernel
def _kept(hand, left, rule):
    """Return the cards that a draw keeps; -1 if there is no such draw."""
    if rule == DRAW_TO_FLUSH:
        return _kept_suit(hand)
    if rule == DRAW_TO_STRAIGHT:
        return _kept_run(hand, left)
    a, b, c, d = suit_of_cards(hand, 0), suit_of_cards(hand, 1), suit_of_cards(hand, 2), suit_of_cards(hand, 3)
    return hand & SUIT_STARTS * held_twice(a, b, c, d)


@kernel
def _kept_suit(hand):
    """Return the cards of the suit of which there are most, if at least three; else -1."""
    best, most = np.int64(-1), 2
    for suit in range(4):
        cards = suit_of_cards(hand, suit)
        if count_bits(cards) > most:
            best, most = cards << 13 * suit, count_bits(cards)
    return best


@kernel
def _kept_run(hand, left):
    """Return four cards that lack one rank for a straight, with the most cards to fill it; -1 if there are none."""
    best, most = np.int64(0), 0
    ranks = ranks_of(hand)
    for low in range(10):
        window = np.int64(31) << low
        present = ranks & (window | window >> 13)  # the ace is also above the king
        outs = straight_outs(left, present) if count_bits(present) == 4 else 0
        if outs > most:
            best, most = present, outs
    if most == 0:
        return np.int64(-1)
    keep = np.int64(0)
    while best:
        same = hand & SUIT_STARTS * (best & -best)
        keep |= same & -same
        best &= best - 1
    return keep


@kernel
def straight_outs(left, ranks):
    """Return how many cards to come make a straight with `ranks`."""
    outs = 0
    for rank in range(13):
        if has_run(ranks | np.int64(1) << rank):
            outs += count_bits(left & SUIT_STARTS << rank)
    return outs


@kernel
def _chance(keep, left, rule, number):
    """Return the chance that a draw of `number` cards completes the flush or straight; 1.0 for other draws."""
    total = count_bits(left)
    if rule == DRAW_TO_STRAIGHT:
        return 1.0 - chance_of(0, straight_outs(left, ranks_of(keep)), total, number)
    if rule == DRAW_TO_FLUSH:
        outs = 0
        for suit in range(4):
            if suit_of_cards(keep, suit):
                outs = count_bits(suit_of_cards(left, suit))
        return chance_of_flush(count_bits(keep), outs, total, number)
    return 1.0


@kernel
def chance_of_flush(held, outs, total, number):
    """Return the chance that `number` cards from `total`, `outs` of them of a suit, make five with those held."""
    success = 1.0
    for hits in range(5 - held):
        success -= chance_of(hits, outs, total, number)
    return success


@kernel
def chance_of(hits, outs, total, number):
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
def _value(rule, best, success, number):
    """Return the points to expect from a draw of `number` cards."""
    if rule == IMPROVE_HAND:
        return IMPROVED[best, number]
    target = MODEL_POINTS[FLUSH] if rule == DRAW_TO_FLUSH else MODEL_POINTS[STRAIGHT]
    return success * target + (1.0 - success) * IMPROVED[min(best, 1), 1]
