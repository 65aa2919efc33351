"""A rule agent for Contract Bridge: the natural bidder, and a card player who goes by the usual maxims.

The player leads the top of a sequence or a low card from length, plays second hand low and third hand high, covers
honours, wins as cheaply as possible, ruffs, draws trumps, finesses, and cashes winners. Declarer plans for both hands;
a defender knows the own hand and dummy.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.bridge.bidding import natural_call
from cardenvs.games.bridge.cards import card_at, dummy_of, led_suit, length, lowest, playable, trick_winner, trump_suit
from cardenvs.games.bridge.state import AUCTION, CARD_0
from cardenvs.games.bridge.worlds import hidden_cards
from cardenvs.kits.cards import count_bits
from cardenvs.kits.tricks import SUIT_SIZE, height, heights, suit_of

_TEN = 8  # height
_JACK = 9


@kernel
def heuristic(s, legal, n, rng):
    """Choose a call or a card."""
    if s.phase == AUCTION:
        return natural_call(s)
    if n == 1:
        return legal[0]
    seat = np.int64(s.turn)
    cards = playable(s, seat)
    unseen = hidden_cards(s, np.int64(s.current_player))
    led = led_suit(s)
    if led < 0:
        if s.trick == 0:
            return CARD_0 + _opening_lead(s, seat, cards)
        return CARD_0 + _lead(s, seat, cards, unseen)
    if suit_of(np.int64(legal[0]) - CARD_0) == led:
        return CARD_0 + _follow(s, seat, cards, led, unseen)
    return CARD_0 + _ruff_or_discard(s, seat, cards, unseen)


# ---------------------------------------------------------------------------------------------------------------
# What is known


@kernel(inline=True)
def _is_declaring(s, seat):
    return (seat ^ s.declarer) & 1 == 0


@kernel
def _partner_hand(s, seat):
    """Return partner's hand if it is known: declarer's and dummy's to each other, else nothing."""
    if _is_declaring(s, seat):
        return s.hands[(seat + 2) & 3]
    return np.int64(0)


@kernel
def _against(s, seat, unseen):
    """Return the cards that may be held against `seat`: the unseen ones, and dummy's if dummy is an opponent."""
    if _is_declaring(s, seat):
        return unseen
    return unseen | s.hands[dummy_of(s)]


@kernel
def _is_master(card, against):
    """Whether no card held against it is higher in its suit."""
    return heights(against, suit_of(card)) >> height(card) == 0


@kernel
def _highest_of(cards, suit):
    """Return the highest card of a suit in a bit set that has one."""
    ranks, level = heights(cards, suit), SUIT_SIZE - 1
    while not ranks >> level & 1:
        level -= 1
    return card_at(suit, level)


# ---------------------------------------------------------------------------------------------------------------
# Leads


@kernel
def _opening_lead(s, seat, cards):
    """Partner's suit, a sequence, a singleton against trumps, or the fourth best of the longest suit."""
    trump, partner = trump_suit(s), (seat + 2) & 3
    best_suit, best_value = 0, -1000
    for suit in range(4):
        number = length(cards, suit)
        if number == 0:
            continue
        ranks = heights(cards, suit)
        denomination = 3 if suit == 0 else suit - 1
        value = 3 * number
        if s.named[seat & 1, denomination] == partner:
            value += 14
        if s.named[1 - (seat & 1), denomination] >= 0:
            value -= 8
        if _touching(ranks):
            value += 7
        if trump >= 0:
            if suit == trump:
                value -= 6
            elif number == 1 and length(cards, trump):
                value += 12
            elif ranks >> 12 & 1 and not ranks >> 11 & 1:
                value -= 9  # do not lead away from an ace, or lay it down
            elif number >= 5:
                value -= 2
        if value > best_value:
            best_suit, best_value = suit, value
    return _card_to_lead(cards, best_suit, trump >= 0)


@kernel
def _touching(ranks):
    """Whether the two highest cards of a suit are honours in sequence."""
    level = SUIT_SIZE - 1
    while level > _TEN and not ranks >> level & 1:
        level -= 1
    return level > _TEN and ranks >> level - 1 & 1 != 0


@kernel
def _card_to_lead(cards, suit, is_trump_contract):
    """The top of a sequence or of two cards, else the fourth best, else the lowest."""
    ranks, number = heights(cards, suit), length(cards, suit)
    if number <= 2 or _touching(ranks):
        return _highest_of(cards, suit)
    if is_trump_contract and ranks >> 12 & 1:
        return _highest_of(cards, suit)
    if number <= 3:
        return lowest(cards, suit)
    for _ in range(3):
        top = np.int64(1)
        while ranks >> 1 >= top:
            top <<= 1
        ranks ^= top
    level = SUIT_SIZE - 1
    while not ranks >> level & 1:
        level -= 1
    return card_at(suit, level)


@kernel
def _lead(s, seat, cards, unseen):
    """The lead with the most promise: a winner, trumps as long as they have some, or towards honours."""
    trump, partner = trump_suit(s), _partner_hand(s, seat)
    declaring = _is_declaring(s, seat)
    against = _against(s, seat, unseen)
    outstanding = length(against, trump) if trump >= 0 else 0
    if declaring and trump >= 0 and outstanding and length(cards, trump):
        ours = length(cards, trump) + length(partner, trump)
        if ours > outstanding:
            high = _highest_of(cards, trump)
            if _is_master(high, against) or not _has_master(partner, trump, against):
                return high
            return lowest(cards, trump)
    best, best_value = np.int64(-1), -1000
    for suit in range(4):
        number = length(cards, suit)
        if number == 0:
            continue
        high, low = _highest_of(cards, suit), lowest(cards, suit)
        card, value = low, number
        theirs = length(against, suit)
        if _is_master(high, against) and (trump < 0 or suit == trump or outstanding == 0 or theirs >= 4):
            card, value = high, 30 + number
            if declaring and _has_master(partner, suit, against) and length(partner, suit) < number:
                # Play the short hand's winners first.
                card, value = low, 29 + number
        elif declaring:
            their_length = length(partner, suit)
            if _has_master(partner, suit, against):
                value = 22 + max(number, their_length)  # to partner's winners
            elif heights(partner, suit) >> _JACK:
                value = 14 + number + their_length  # towards an honour
            elif heights(cards, suit) >> _TEN and _touching(heights(cards, suit)):
                card, value = high, 12 + number + their_length  # knock out theirs
            else:
                value = number + their_length
            if trump >= 0 and suit == trump:
                value -= 10
        else:
            value = _defensive_lead(s, seat, suit, cards, number)
            card = _card_to_lead(cards, suit, trump >= 0)
        if value > best_value:
            best, best_value = card, value
    return best


@kernel
def _has_master(cards, suit, against):
    """Whether the highest card of a suit in `cards` beats all held against it."""
    mine = heights(cards, suit)
    return mine > heights(against, suit)


@kernel
def _defensive_lead(s, seat, suit, cards, number):
    """Return how promising a suit is for a defender: partner's, the own long one, through strength or to weakness."""
    trump, partner = trump_suit(s), (seat + 2) & 3
    value = number
    for trick in range(s.trick):
        # Suits that the side has led before.
        first = s.declarer + 1 if trick == 0 else s.winners[trick - 1]
        leader = first & 3
        if suit_of(np.int64(s.played[leader, trick])) == suit:
            value += 6 if leader == partner else 4 if leader == seat else -3
    dummys = heights(s.hands[dummy_of(s)], suit)
    honours = (dummys >> 12 & 1) + (dummys >> 11 & 1) + (dummys >> 10 & 1)
    is_before_dummy = (seat + 1) & 3 == dummy_of(s)
    value += honours if is_before_dummy else 3 - 2 * honours
    if suit == trump:
        value -= 4
    ranks = heights(cards, suit)
    if ranks >> 12 & 1 and not ranks >> 11 & 1 and trump >= 0:
        value -= 5
    return value


# ---------------------------------------------------------------------------------------------------------------
# Following


@kernel
def _follow(s, seat, cards, led, unseen):
    """Second hand low, third hand high, fourth hand as cheaply as possible."""
    trump = trump_suit(s)
    place = (seat - s.leader) & 3
    winner = trick_winner(s)
    best = np.int64(s.played[winner, s.trick])
    low = lowest(cards, led)
    if suit_of(best) != led or height(_highest_of(cards, led)) < height(best):
        return low  # it cannot win
    against = _against(s, seat, unseen)
    partner_wins = place >= 2 and winner == (seat + 2) & 3
    cheapest = _cheapest_above(cards, led, height(best))
    if place == 3:
        return low if partner_wins else cheapest
    highest = _highest_of(cards, led)
    if place == 2:
        if partner_wins and (_is_master(best, against) or height(best) >= height(highest) - 1):
            return low
        if partner_wins and not _is_declaring(s, seat) and height(best) >= _JACK:
            return low
        finesse = _finesse(s, seat, cards, led, best, against)
        if finesse >= 0:
            return finesse
        return _bottom_of_sequence(cards, highest, against)
    # Second hand: cover an honour, take the trick late, otherwise low.
    if height(best) >= _JACK - 1 and height(best) < SUIT_SIZE - 1 and length(cards, led) <= 4:
        return cheapest if height(cheapest) >= _JACK else low
    last_chance = length(cards, led) == 1 or s.trick >= 10 or (trump >= 0 and suit_of(best) != trump and s.trick >= 6)
    if last_chance and _is_master(highest, against):
        return highest
    if _is_declaring(s, seat) and _is_master(highest, against) and _is_master(cheapest, against):
        return cheapest
    return low


@kernel
def _cheapest_above(cards, suit, level):
    """Return the lowest card of a suit above a height; there is one."""
    above = heights(cards, suit) >> level + 1
    step = 0
    while not above >> step & 1:
        step += 1
    rank = level + 1 + step
    return card_at(suit, rank)


@kernel
def _bottom_of_sequence(cards, card, against):
    """Return the lowest card that is as good as `card`: nobody against has one in between."""
    suit = suit_of(card)
    mine, theirs = heights(cards, suit), heights(against, suit)
    level = height(card)
    result = level
    while level > 0:
        level -= 1
        if theirs >> level & 1:
            break
        if mine >> level & 1:
            result = level
    return card_at(suit, result)


@kernel
def _finesse(s, seat, cards, suit, best, against):
    """Return the lower card of a tenace that beats all but one card held against it, or -1."""
    if not _is_declaring(s, seat):
        return np.int64(-1)
    highest = _highest_of(cards, suit)
    if not _is_master(highest, against) or length(against, suit) == 0:
        return np.int64(-1)
    theirs = heights(against, suit)
    mine = heights(cards, suit)
    level, passed = height(highest), 0
    while level > height(best) + 1:
        level -= 1
        if theirs >> level & 1:
            passed += 1
            if passed > 1:
                break
        elif mine >> level & 1 and passed == 1 and level >= _TEN:
            # With nine cards or more the queen falls as often.
            is_queen = not mine >> 10 & 1 and theirs >> 10 & 1 and level < 10
            ours = length(cards, suit) + length(_partner_hand(s, seat), suit)
            if is_queen and ours >= 8:
                return np.int64(-1)
            return np.int64(card_at(suit, level))
    return np.int64(-1)


# ---------------------------------------------------------------------------------------------------------------
# Ruffs and discards


@kernel
def _ruff_or_discard(s, seat, cards, unseen):
    """Ruff with the lowest trump that wins, unless partner wins; else throw what is worth least."""
    trump, winner = trump_suit(s), trick_winner(s)
    best, place = np.int64(s.played[winner, s.trick]), (seat - s.leader) & 3
    against = _against(s, seat, unseen)
    partner_wins = place >= 2 and winner == (seat + 2) & 3
    safe = partner_wins and (place == 3 or _is_master(best, against))
    if trump >= 0 and length(cards, trump) and not safe:
        ruff = lowest(cards, trump)
        if suit_of(best) == trump and not _wins(ruff, best, trump):
            ruff = _highest_of(cards, trump)
            if _wins(ruff, best, trump):
                ruff = _cheapest_above(cards, trump, height(best))
        if _wins(ruff, best, trump):
            return ruff
    return _discard(s, seat, cards, trump, against)


@kernel
def _discard(s, seat, cards, trump, against):
    """The lowest card of the suit that needs keeping least: long and weak, without winners."""
    best, best_value = np.int64(-1), -1000
    partner = _partner_hand(s, seat)
    for suit in range(4):
        number = length(cards, suit)
        if number == 0:
            continue
        value = 2 * number
        if suit == trump:
            value -= 40
        low, high = lowest(cards, suit), _highest_of(cards, suit)
        if _is_master(low, against):
            value -= 12 if length(against, suit) else 20
        elif _is_master(high, against):
            value -= 2
        elif heights(cards, suit) >> 10 and number <= 2:
            value -= 5  # it guards an honour
        value -= height(low) // 3
        if count_bits(partner) and length(partner, suit) == 0 and trump >= 0:
            value += 1
        if value > best_value:
            best, best_value = low, value
    return best


@kernel(inline=True)
def _wins(ruff, best, trump):
    """Whether a trump beats the best card of the trick so far."""
    return suit_of(best) != trump or height(ruff) > height(best)
