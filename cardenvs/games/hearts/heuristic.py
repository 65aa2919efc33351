"""A rule agent for Hearts: it passes what is dangerous, counts cards, ducks, unloads on others, and watches for moons.

It gives each legal card a cost in points: the chance that the card wins the trick, times what the trick will hold, plus
what the cards left in hand are likely to cost later. A card is less dangerous with lower ones of its suit beside it and
higher ones elsewhere; the queen of spades, and the ace and king while she is out, count for themselves. If one other
player has all points so far, taking some of them is worth the price. A hand that wins all tricks shoots the moon.
"""

import numpy as np

from cardenvs.core.events import NO_PLAYER
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.games.hearts.rules import led_suit, points_of, suit_of, trick_winner
from cardenvs.games.hearts.state import (
    ADD,
    CARDS,
    HEART,
    HEARTS,
    JACK,
    JACK_BONUS,
    MOON,
    OFF,
    PACK,
    PASS,
    POINT_CARDS,
    QUEEN,
    SPADE,
    SUBTRACT,
)
from cardenvs.kits.cards import count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD

_SUIT_SETS = PACK.suit_sets
_QUEEN_BIT, _JACK_BIT = np.int64(1) << QUEEN, np.int64(1) << JACK

# The figures below are those that did best in some hundred thousand hands of four.
# Chances that the queen in hand, or an ace or king of spades while she is elsewhere, will cost her points; by the
# number of spades below her in the same hand.
_QUEEN_FALLS = np.array([0.55, 0.45, 0.33, 0.22, 0.14, 0.08, 0.05])
_QUEEN_CAUGHT = np.array([0.27, 0.21, 0.14, 0.08, 0.05, 0.03, 0.01])
_GUARD = 0.55  # how much of its danger is left to a card for each lower one of the suit beside it
_HEART_TRICK = 2.0  # points in a trick of hearts
_LATE_TRICK, _PER_ROUND = 2.6, 0.6  # points in the last round of another suit, and how many less in each before
_HEART_THROWN = 0.9  # points other than the queen that a player throws who cannot follow
_KEEPS_LEAD = 0.3  # what it costs to lead again
_FLUSH = 0.3  # what leading a low spade is worth while the queen is elsewhere
_VOID = 0.5  # what passing a card of a short suit is worth
_HIGHER = 0.002  # what a larger id is worth: of cards that seem equal, the higher one goes
_SUSPICION = 5  # points of one player that make others think of a moon
_FAR = np.int64(1) << 40  # above all scores
_MOON_PRICE = 6.0  # what preventing a moon is worth when its shooter has nearly all points


@kernel
def heuristic(s, legal, n, rng):
    """Choose an action; see the head of this file."""
    player = np.int64(s.current_player)
    if n == 1:
        return legal[0]
    if s.phase == MOON:
        return np.int64(SUBTRACT if _adding_loses(s, player) else ADD)
    unseen = _unseen(s, player)
    if s.phase == PASS:
        return _card_to_pass(s, player, unseen, legal, n)
    if _shoots(s, player, unseen):
        return _winner_to_play(legal, n)
    best, least, threat = np.int64(legal[0]), 1e9, _threat(s, player)
    for k in range(n):
        card = np.int64(legal[k])
        cost = _cost_of_trick(s, player, card, unseen, threat) - _relief(s, s.hands[player], card, unseen)
        cost -= _HIGHER * card
        if cost < least:
            best, least = card, cost
    return best


@kernel
def _unseen(s, player):
    """Return the cards in the other hands, as a bit set."""
    cards = CARDS[s.rules.num_players] & ~s.hands[player]
    if s.phase == PASS:
        return cards & ~s.passed[player]
    for p in range(s.rules.num_players):
        cards &= ~s.cards_played[p]
    return cards


# ---------------------------------------------------------------------------------------------------------------
# What is in hand


@kernel
def _relief(s, hand, card, unseen):
    """Return by how much a hand gets less dangerous without a card."""
    suit = suit_of(card)
    return _danger(s, hand, suit, unseen) - _danger(s, hand ^ np.int64(1) << card, suit, unseen)


@kernel
def _danger(s, hand, suit, unseen):
    """Return the points that the cards of a suit are likely to cost."""
    own, others = hand & _SUIT_SETS[suit], unseen & _SUIT_SETS[suit]
    number, higher, danger, guard = count_bits(others), count_bits(own), 0.0, 1.0
    is_queen_out = suit == SPADE and (hand | unseen) & _QUEEN_BIT
    while own:
        card = lowest_card(own)
        own &= own - 1
        higher -= 1
        if is_queen_out and card >= QUEEN:
            danger += _danger_of_high_spade(s, hand, others, card)
        else:
            wins = count_bits(others & (np.int64(1) << card) - 1) / number if number else 0.4
            rounds = min(max(number / (s.rules.num_players - 1) - higher, 0.0), 3.0)
            danger += guard * wins * (_HEART_TRICK if suit == HEART else _LATE_TRICK - _PER_ROUND * rounds)
        if card == JACK and s.rules.jd_bonus:
            danger -= 0.6 * JACK_BONUS
        guard *= _GUARD
    return danger


@kernel(inline=True)
def _danger_of_high_spade(s, hand, others, card):
    """Return what the queen, or an ace or king while she is out, is likely to cost."""
    guards = min(count_bits(hand & _SUIT_SETS[SPADE] & _QUEEN_BIT - 1), len(_QUEEN_FALLS) - 1)
    if card == QUEEN:
        return s.rules.queen_points * (_QUEEN_FALLS[guards] if others else 0.25)
    return s.rules.queen_points * (_QUEEN_CAUGHT[guards] if others & _QUEEN_BIT else 0.1)


@kernel
def _card_to_pass(s, player, unseen, legal, n):
    """Choose the most dangerous card to pass, or one of a short suit; with a hand for a moon, a card that loses."""
    hand = s.hands[player]
    left = s.rules.pass_count - count_bits(s.passed[player])
    losers = _losers(hand, unseen)
    is_for_moon = s.rules.moon != OFF and losers <= left
    best, most = np.int64(legal[0]), -1e9
    for k in range(n):
        card = np.int64(legal[k])
        if is_for_moon:
            value = losers - _losers(hand ^ np.int64(1) << card, unseen) - _HIGHER * card
        else:
            value = _relief(s, hand, card, unseen) + _HIGHER * card + _value_of_void(hand, card, left)
        if value > most:
            best, most = card, value
    return best


@kernel(inline=True)
def _value_of_void(hand, card, left):
    """Return what passing a card of clubs or diamonds is worth if the whole suit can be passed."""
    suit = suit_of(card)
    number = count_bits(hand & _SUIT_SETS[suit])
    return _VOID * (left + 1 - number) if suit != SPADE and suit != HEART and number <= left else 0.0


# ---------------------------------------------------------------------------------------------------------------
# The trick


@kernel
def _cost_of_trick(s, player, card, unseen, threat):
    """Return the points that the trick is likely to cost if `card` is played, moons included."""
    led, points = led_suit(s), points_of(s, card)
    for p in range(s.rules.num_players):
        if led >= 0 and s.played[p, s.trick] != NO_CARD:
            points += points_of(s, np.int64(s.played[p, s.trick]))
    if led >= 0:
        winner = trick_winner(s)
        if suit_of(card) != led or card < s.played[winner, s.trick]:
            return _cost_of_giving(s, winner, card, threat)
    wins, later = _chance_to_win(s, player, card, unseen)
    cost = wins * (points + later + _KEEPS_LEAD)
    if led < 0 and suit_of(card) == SPADE and card < QUEEN and unseen & _QUEEN_BIT:
        cost -= _FLUSH
    if threat != NO_PLAYER and points > 0:
        cost -= wins * _price_of_moon(s, threat)
    return cost


@kernel
def _chance_to_win(s, player, card, unseen):
    """Return the chance that the best card so far wins the trick, and the points that later players are likely to add.

    Others duck if they can: only a player whose cards of the suit are all higher beats the card.
    """
    suit = suit_of(card)
    others = unseen & _SUIT_SETS[suit]
    may_follow = 0
    for p in range(s.rules.num_players):
        may_follow += 1 if p != player and not s.voids[p] >> suit & 1 else 0
    lacks = 1 - 1 / max(may_follow, 1)  # the chance that a player who may have the suit lacks a certain card of it
    is_void, has_no_lower = lacks ** count_bits(others), lacks ** count_bits(others & (np.int64(1) << card) - 1)
    wins, points = 1.0, 0.0
    for p in range(s.rules.num_players):
        if p == player or s.played[p, s.trick] != NO_CARD:
            continue
        void = 1.0 if s.voids[p] >> suit & 1 else is_void
        points += void * _points_thrown(s, unseen)
        if void < 1:
            wins *= 1 - (has_no_lower - is_void)
            points += 1 - void if suit == HEART else 0.0
            if suit == SPADE and card > QUEEN and unseen & _QUEEN_BIT:
                points += s.rules.queen_points / may_follow
    return wins, points


@kernel(inline=True)
def _points_thrown(s, unseen):
    """Return the points that a player who cannot follow is likely to throw on a trick."""
    if s.trick == 0 and not s.rules.first_trick_points:
        return 0.0
    points = _HEART_THROWN if unseen & HEARTS else 0.0
    return points + s.rules.queen_points / (s.rules.num_players - 1) if unseen & _QUEEN_BIT else points


# ---------------------------------------------------------------------------------------------------------------
# Moons


@kernel
def _threat(s, player):
    """Return another player who has all points that are out, if they are many enough to think of a moon."""
    threat = NO_PLAYER
    for p in range(s.rules.num_players):
        if s.won[p] & POINT_CARDS:
            if threat != NO_PLAYER or p == player:
                return NO_PLAYER
            threat = p
    if threat == NO_PLAYER or s.rules.moon == OFF or _moon_points(s, threat) < _SUSPICION:
        return NO_PLAYER
    if _lacks_jack(s, threat):
        return NO_PLAYER
    return threat


@kernel(inline=True)
def _moon_points(s, player):
    """Return the points of hearts and the queen that a player has taken."""
    return count_bits(s.won[player] & HEARTS) + (s.rules.queen_points if s.won[player] & _QUEEN_BIT else 0)


@kernel(inline=True)
def _price_of_moon(s, shooter):
    """Return what preventing a moon is worth: more, the more points its shooter has."""
    return _MOON_PRICE * _moon_points(s, shooter) / (count_bits(HEARTS) + s.rules.queen_points)


@kernel(inline=True)
def _cost_of_giving(s, winner, card, threat):
    """Return what it costs to play a card on a trick of another; points for a second player prevent a moon."""
    if threat == NO_PLAYER or winner == threat or not POINT_CARDS >> card & 1:
        return 0.0
    return -_price_of_moon(s, threat)


@kernel
def _shoots(s, player, unseen):
    """Return whether a player is likely to win all tricks that are left, and nobody else has points."""
    for p in range(s.rules.num_players):
        if p != player and s.won[p] & POINT_CARDS:
            return False
    if _lacks_jack(s, player):
        return False
    return s.rules.moon != OFF and _losers(s.hands[player], unseen) == 0


@kernel
def _lacks_jack(s, player):
    """Return whether somebody else has taken the J♦ that a moon needs."""
    if s.rules.moon_needs_jd:
        for p in range(s.rules.num_players):
            if p != player and s.won[p] & _JACK_BIT:
                return True
    return False


@kernel
def _adding_loses(s, shooter):
    """Return whether giving the points of a moon to the others ends the match, and the shooter does not win it."""
    if s.rules.target == NONE:
        return False
    total = count_bits(HEARTS) + s.rules.queen_points
    own, most, least = s.scores[shooter] + s.points[shooter] - total, -_FAR, _FAR
    for p in range(s.rules.num_players):
        if p != shooter:
            most, least = max(most, s.scores[p] + s.points[p] + total), min(least, s.scores[p] + s.points[p] + total)
    return max(own, most) >= s.rules.target and least <= own


@kernel
def _losers(hand, unseen):
    """Return how many cards of a hand are unlikely to win a trick if its owner leads."""
    losers = 0
    for suit in range(4):
        own, others = hand & _SUIT_SETS[suit], unseen & _SUIT_SETS[suit]
        winners = own
        rest = others
        while rest:  # those above the highest card elsewhere are left
            winners &= ~(rest | rest - 1)
            rest &= rest - 1
        if 2 * count_bits(winners) < count_bits(others):  # after so many rounds somebody still has the suit
            losers += count_bits(own ^ winners)
    return losers


@kernel(inline=True)
def _winner_to_play(legal, n):
    """Return the highest card that is not a heart, or else the highest heart."""
    best, most = np.int64(legal[0]), -1
    for k in range(n):
        value = legal[k] + (0 if suit_of(legal[k]) == HEART else 52)
        if value > most:
            best, most = np.int64(legal[k]), value
    return best
