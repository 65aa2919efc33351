"""A rule agent for Spades: bid what a hand should win, and choose the card with the best expected points.

Each card has a chance to win a trick sometime; their sum is the bid, unless nil promises more. In the play, a trick is
worth to each side what it changes of the chance to make the contract, and a bag once that is made; to a player who has
bid nil it costs nil. A card is judged by who is likely to win the trick, and by what it would have won later.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.core.seats import wrap
from cardenvs.games.spades.rules import bid_bounds
from cardenvs.games.spades.state import (
    BID_0,
    BIDDING,
    BLIND,
    COUNT,
    EXCHANGE,
    HAND_SIZE,
    LOOK,
    NUM_PLAYERS,
    PACK,
    SPADE,
    SPADES,
    TRICKS,
    num_sides,
    partner_of,
    side_of,
)
from cardenvs.games.spades.worlds import hidden_cards
from cardenvs.kits.cards import chance_of_none, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.tricks import card_in_trick

_SUIT_SETS, _suit_of, _rank_of = PACK.suit_sets, PACK.suit_of, PACK.rank_of
_led_suit, _strength = TRICKS.led_suit, TRICKS.ranking.strength

_ACE_OF_SPADES = 1 << PACK.parse("As")

# How often a card wins a trick, by the number of hidden cards that beat it and of own lower cards that guard it.
_SIDE_CHANCE = np.array([
    [0.95, 0.95, 0.95, 0.95],
    [0.20, 0.65, 0.65, 0.60],
    [0.05, 0.15, 0.35, 0.35],
    [0.01, 0.03, 0.08, 0.10],
])  # fmt: skip
_SPADE_CHANCE = np.array([
    [1.00, 1.00, 1.00, 1.00],
    [0.40, 0.90, 0.90, 0.90],
    [0.15, 0.40, 0.75, 0.75],
    [0.10, 0.20, 0.35, 0.50],
])  # fmt: skip
_LONG_SPADE = np.array([0.0, 0.0, 0.0, 0.45, 0.75, 0.85, 0.9])  # by the number of own higher spades
_RUFF = 0.25  # what a missing side suit adds for a low spade
# How often nobody ruffs a side suit, by the number of its hidden cards
_UNRUFFED = np.array([0.1, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.82, 0.88, 0.93, 0.95, 0.96, 0.97])
_BID_SHARE = 0.8  # the bid: a share of the sum of the chances
_BID_MORE, _BID_MORE_IN_MATCH = 0.3, 0.5  # and tricks above it, before it is rounded down; in a match, bags cost
_WILLING = 0.6  # how often a player who can win a trick from the other side does
_OVERTAKES = 0.05  # and from the own side
_SIDE_COVER, _SPADE_COVER = 0.6, 0.85  # what each lower card leaves of the danger that a card ends nil
_DANGER = 0.9  # at most, so that no card ends nil for certain
# Log odds of nil, and what they lose by the risks of the side suits, of the worst one, and of the spades
_NIL_SAFE, _NIL_SIDE, _NIL_WORST, _NIL_SPADES = 2.6, 0.43, 0.72, 1.48
_NIL_PRICE, _NIL_BONUS = 29.0, 70.0  # points that nil costs the side for each trick of the hand, less a constant
_KEEP = 0.7  # what a trick later on is worth beside one now
_LOW_CARD = 0.01  # points that each rank costs, so that the lower of two equal cards is played

_CHANCES = packed([("wins", "f8", (NUM_PLAYERS,)), ("value", "f8", (NUM_PLAYERS,))])
new_chances = stack_record(_CHANCES)


@kernel
def heuristic(s, legal, n, rng):
    """Choose a bid, a card to give, or the card with the best expected points."""
    player = np.int64(s.current_player)
    if s.phase == BLIND:
        return LOOK  # blind nil loses matches at every score that was tried
    hidden = hidden_cards(s, player)
    if s.phase == BIDDING:
        return BID_0 + best_bid(s, player, hidden)
    if s.phase == EXCHANGE:
        return _gift(s, player, hidden)
    c = new_chances()
    value_tricks(s, player, c)
    best, best_value = np.int64(legal[0]), -1e9
    for k in range(n):
        card = np.int64(legal[k])
        value = value_of_card(s, player, card, hidden, c)
        if value > best_value:
            best, best_value = card, value
    return best


# ---------------------------------------------------------------------------------------------------------------
# Bids


@kernel
def best_bid(s, player, hidden):
    """Return the bid: nil if it promises more points, else what the hand should win."""
    lowest, highest = bid_bounds(s)
    hand = s.hands[player]
    tricks = expected_tricks(hand, hidden)
    partner_bid = np.int64(s.bids[partner_of(player)])
    if lowest == 0 and not (s.rules.partners and partner_bid == 0):
        chance = nil_chance(hand, hidden)
        gain = s.rules.nil_points * (2 * chance - 1)
        if chance > 0.0 and gain > _NIL_PRICE * tricks - _NIL_BONUS:
            return np.int64(0)
    more = _BID_MORE if s.rules.target == NONE else _BID_MORE_IN_MATCH
    bid = np.int64(np.floor(_BID_SHARE * tricks + more))
    return min(max(bid, max(lowest, 1)), highest)


@kernel
def expected_tricks(hand, hidden):
    """Return how many tricks a hand should win, if `hidden` are the cards of all others."""
    short, total, rest = shortness(hand), 0.0, hand
    while rest:
        total += trick_chance(hand, hidden, lowest_card(rest), short)
        rest &= rest - 1
    return total


@kernel
def nil_chance(hand, hidden):
    """Return the chance that a hand wins no trick at all."""
    if hand & _ACE_OF_SPADES:
        return 0.0
    total, worst, spades = 0.0, 0.0, 0.0
    for suit in range(4):
        risk, rest = 0.0, hand & _SUIT_SETS[suit]
        while rest:
            risk -= np.log(1 - _DANGER * danger(hand, hidden, lowest_card(rest)))
            rest &= rest - 1
        if suit == SPADE:
            spades = risk
        else:
            total, worst = total + risk, max(worst, risk)
    odds = _NIL_SAFE - _NIL_SIDE * total - _NIL_WORST * worst - _NIL_SPADES * spades
    return 1 / (1 + np.exp(-odds))


@kernel
def shortness(hand):
    """Return how many side suits are missing or about to run out, for ruffs."""
    short = 0.0
    for suit in range(4):
        if suit != SPADE:
            number = count_bits(hand & _SUIT_SETS[suit])
            short += 1.0 if number == 0 else 0.6 if number == 1 else 0.2 if number == 2 else 0.0
    return short


@kernel
def trick_chance(hand, hidden, card, short):
    """Return the chance that a card wins a trick sometime."""
    suit = _suit_of(card)
    own, others = hand & _SUIT_SETS[suit], hidden & _SUIT_SETS[suit]
    above = ~((np.int64(2) << card) - 1)
    higher, guards = min(count_bits(others & above), 3), min(count_bits(own & ~above) - 1, 3)
    if suit == SPADE:
        long = _LONG_SPADE[min(count_bits(own & above), 6)]
        chance = max(_SPADE_CHANCE[higher, guards], long)
        return min(chance + _RUFF * short * (1 - chance), 1.0)
    unruffed = _UNRUFFED[count_bits(others)] if hidden & SPADES else 1.0
    return _SIDE_CHANCE[higher, guards] * unruffed


@kernel
def danger(hand, hidden, card):
    """Return the chance that a card wins a trick against the will of its owner."""
    suit = _suit_of(card)
    own, others = hand & _SUIT_SETS[suit], hidden & _SUIT_SETS[suit]
    below = (np.int64(1) << card) - 1
    total = count_bits(others)
    if total == 0:
        return 0.3
    cover = _SPADE_COVER if suit == SPADE else _SIDE_COVER
    return count_bits(others & below) / total * cover ** count_bits(own & below)


# ---------------------------------------------------------------------------------------------------------------
# Cards exchanged after blind nil


@kernel
def _gift(s, player, hidden):
    """Return the most dangerous card of a player who has bid nil, or the least dangerous one for the partner."""
    hand, best, best_value = s.hands[player], np.int64(-1), -1e9
    is_nil = s.bids[player] == 0
    rest = hand
    while rest:
        card = lowest_card(rest)
        rest &= rest - 1
        value = danger(hand, hidden, card) + 0.01 * _rank_of(card)
        if _suit_of(card) == SPADE:
            value += 0.3
        if not is_nil:
            value = -value
        if value > best_value:
            best, best_value = card, value
    return best


# ---------------------------------------------------------------------------------------------------------------
# What a trick is worth


@kernel
def value_tricks(s, player, c):
    """Write what the trick is worth to `player` if each player wins it, in points."""
    sides, own = num_sides(s), side_of(s, player)
    for p in range(NUM_PLAYERS):
        side = side_of(s, p)
        value = _worth_to_side(s, side)
        if _keeps_nil(s, p):
            value = -2.0 * (s.rules.blind_nil_points if s.blind[p] else s.rules.nil_points)
        c.value[p] = value if side == own else -value / (sides - 1)


@kernel(inline=True)
def _keeps_nil(s, player):
    """Return whether a player has bid nil and won no trick yet."""
    return s.bids[player] == 0 and s.tricks_won[player] == 0


@kernel
def _needed(s, side):
    """Return how many tricks a side still needs for its contract, and the contract."""
    need = contract = np.int64(0)
    for p in range(side, NUM_PLAYERS, num_sides(s)):
        contract += s.bids[p]
        need += s.bids[p]
        if s.bids[p] or s.rules.failed_nil == COUNT:
            need -= s.tricks_won[p]
    return need, contract


@kernel
def _worth_to_side(s, side):
    """Return what one more trick is worth to a side: a step to its contract, or a bag.

    It decides about the contract if exactly as many of the other tricks fall to the side as it then needs. Each falls
    to it with the same chance: what it needs, and its share of what nobody needs.
    """
    left = HAND_SIZE - np.int64(s.trick)
    need, contract = _needed(s, side)
    bag = _worth_of_bag(s)
    if need <= 0:
        return bag
    spare, sides = np.float64(left), num_sides(s)
    for other in range(sides):
        other_need, _ = _needed(s, other)
        spare -= max(other_need, 0)
    chance = min(max((need + spare / sides) / left, 0.05), 0.95)
    decides, later = 0.0, 0.0
    term = (1 - chance) ** (left - 1)  # of no other trick
    for won in range(left):
        if won == need - 1:
            decides = term
        elif won >= need:
            later += term
        term *= chance / (1 - chance) * (left - 1 - won) / (won + 1)
    return 20.0 * contract * decides + later * bag


@kernel(inline=True)
def _worth_of_bag(s):
    """Return the points of a bag; in a match with its part of the penalty."""
    if s.rules.target == NONE:
        return np.float64(s.rules.bag_points)
    return s.rules.bag_points - s.rules.bag_penalty / s.rules.bag_limit


# ---------------------------------------------------------------------------------------------------------------
# Cards


@kernel
def value_of_card(s, player, card, hidden, c):
    """Return the expected points of playing a card."""
    _share_trick(s, player, card, hidden, c)
    value = 0.0
    for p in range(NUM_PLAYERS):
        value += c.wins[p] * c.value[p]
    hand = s.hands[player]
    later = danger(hand, hidden, card) if _keeps_nil(s, player) else trick_chance(hand, hidden, card, shortness(hand))
    loses = c.value[wrap(player + 1, NUM_PLAYERS)]
    return value - _KEEP * later * (c.value[player] - loses) - _LOW_CARD * _rank_of(card)


@kernel
def _share_trick(s, player, card, hidden, c):
    """Write the chance of each player to win the trick once `player` has played a card."""
    led = _led_suit(s)
    if led < 0:
        led = _suit_of(card)
    best, winner = card, player
    for p in range(NUM_PLAYERS):
        c.wins[p] = 0.0
        other = np.int64(card_in_trick(s, p))
        if other != NO_CARD and _strength(s, other, led) > _strength(s, best, led):
            best, winner = other, p
    c.wins[winner] = 1.0
    p = wrap(player + 1, NUM_PLAYERS)
    while p != s.leader:
        _let_play(s, player, p, best, led, hidden, c)
        p = wrap(p + 1, NUM_PLAYERS)


@kernel
def _let_play(s, player, other, best, led, hidden, c):
    """Move to `other`, who plays later, the part of the trick that they should win."""
    if _keeps_nil(s, other):
        own = forced = _chance_to_be_forced(s, other, best, led, hidden)
    else:
        forced = _WILLING * _chance_to_beat(s, other, best, led, hidden)
        own = _OVERTAKES * forced
    for p in range(NUM_PLAYERS):
        if p != other:
            moved = c.wins[p] * (own if side_of(s, p) == side_of(s, other) else forced)
            c.wins[p] -= moved
            c.wins[other] += moved


@kernel(inline=True)
def _chance_void(s, other, suit, hidden, unseen):
    """Return the chance that another player has no card of a suit."""
    if s.voids[other] >> suit & 1:
        return 1.0
    return chance_of_none(count_bits(hidden & _SUIT_SETS[suit]), count_bits(s.hands[other]), unseen)


@kernel
def _chance_to_beat(s, other, best, led, hidden):
    """Return the chance that another player holds, and may play, a card that beats `best`."""
    unseen, size, suit = count_bits(hidden), count_bits(s.hands[other]), _suit_of(best)
    higher = count_bits(hidden & _SUIT_SETS[suit] & ~((np.int64(2) << best) - 1))
    void = _chance_void(s, other, led, hidden, unseen)
    beats = 0.0 if s.voids[other] >> suit & 1 else 1 - chance_of_none(higher, size, unseen)
    if suit != led:
        return void * beats
    if suit != SPADE:
        beats += void * (1 - _chance_void(s, other, SPADE, hidden, unseen))
    return min(beats, 1.0)


@kernel
def _chance_to_be_forced(s, other, best, led, hidden):
    """Return the chance that another player must follow suit with a card that beats `best`."""
    if _suit_of(best) != led:
        return 0.0
    unseen, size = count_bits(hidden), count_bits(s.hands[other])
    lower = count_bits(hidden & _SUIT_SETS[led] & ((np.int64(1) << best) - 1))
    void = _chance_void(s, other, led, hidden, unseen)
    return max(chance_of_none(lower, size, unseen) - void, 0.0)
