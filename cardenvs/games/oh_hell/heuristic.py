"""A rule agent for Oh Hell: count the tricks that a hand should win, bid, and play for exactly as many.

Each card has a chance to win a trick sometime. Players steer: who needs more tricks than these chances promise wins
some more, and tricks that the others do not want have to be taken by somebody. A bid, or a card, is chosen for the
expected points of the deal if each card then wins or not by itself.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.core.seats import wrap
from cardenvs.games.oh_hell.rules import (
    BID_0,
    BIDDING,
    MAX_HAND,
    PACK,
    SUIT_SETS,
    TRICKS,
    bids_are_hidden,
    points_of,
)
from cardenvs.kits.bids import NO_BID
from cardenvs.kits.cards import chance_of_none, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.tricks import card_in_trick

_ALL_CARDS = PACK.all_cards
_points_of = kernel(points_of, inline=True)
_suit_of, _led_suit, _winner, _strength = PACK.suit_of, TRICKS.led_suit, TRICKS.winner, TRICKS.ranking.strength

# Found by duplicate games of rule agents with different values.
_SIDE = 0.7  # how often a card of a side suit that no hidden card beats gets to win a trick
_SIDE_LATER, _TRUMP_LATER = 0.2, 0.39  # how often a card that one hidden card beats does so after all
_RUFF = 0.25  # what a missing side suit adds for each trump
_SHARE = 0.29  # how far tricks that nobody else needs move what a hand promises
_STEER, _MOST_STEERED = 0.38, 0.6  # how far players get from that towards their bid: a share of it, and tricks at most
_WANT, _DUCK = 1.2, 0.67  # factors of the chance to beat a card, for players who need tricks and for others
_SPOIL = 0.024  # points that spoiling the bid of another player is worth

_CHANCES = packed([("number", "i8"), ("wins", "f8", (MAX_HAND,)), ("tricks", "f8", (MAX_HAND + 1,))])
_new_chances = stack_record(_CHANCES)


@kernel
def heuristic(s, legal, n, rng):
    """Choose the bid or card with the best expected points."""
    player = np.int64(s.current_player)
    hidden = hidden_cards(s, player)
    best, best_value = np.int64(legal[0]), -1e9
    for k in range(n):
        action = np.int64(legal[k])
        if s.phase == BIDDING:
            value = value_of_bid(s, player, action - BID_0, hidden)
        else:
            value = _value_of_card(s, player, action, hidden)
        if value > best_value:
            best, best_value = action, value
    return best


@kernel
def hidden_cards(s, player):
    """Return the cards that `player` does not see: in the other hands and in the deck."""
    seen = s.hands[player]
    if s.turned_up != NO_CARD:
        seen |= np.int64(1) << s.turned_up
    for p in range(s.rules.num_players):
        seen |= s.cards_played[p]
    return _ALL_CARDS & ~seen


@kernel
def value_of_bid(s, player, bid, hidden):
    """Return the expected points of a bid."""
    return _value(s, player, s.hands[player], hidden, bid, 0, False)


@kernel
def _value_of_card(s, player, card, hidden):
    """Return the expected points after playing a card."""
    rest = s.hands[player] ^ np.int64(1) << card
    chance = chance_now(s, player, card, hidden)
    won = value_of_rest(s, player, rest, hidden, True) if chance > 0 else 0.0
    lost = value_of_rest(s, player, rest, hidden, False) if chance < 1 else 0.0
    return worth_of_card(chance, won, lost, harm(s))


@kernel(inline=True)
def worth_of_card(chance, won, lost, spoiling):
    """Return the expected points of a card that wins the trick with a chance, if it wins and if it does not."""
    return chance * won + (1 - chance) * (lost + _SPOIL * spoiling)


@kernel
def value_of_rest(s, player, rest, hidden, wins):
    """Return the expected points with the rest of the hand, once the card that is played wins the trick or not."""
    bid, won = np.int64(s.bids[player]), np.int64(s.tricks_won[player])
    return _value(s, player, rest, hidden, bid, won + 1 if wins else won, not wins)


@kernel(inline=True)
def harm(s):
    """Return 1 if who wins the trick so far would have too many, -1 if they need it, 0 before the lead."""
    if _led_suit(s) < 0:
        return 0
    winner = _winner(s)
    return -1 if s.tricks_won[winner] < s.bids[winner] else 1


@kernel
def _value(s, player, cards, hidden, bid, won, lost):
    """Return the expected points of a player who holds some cards and has won some tricks; `lost`: not this one."""
    c = _new_chances()
    c.number = 0
    total = 0.0
    n = s.rules.num_players
    left = count_bits(cards)
    held, short = left * (n - 1), shortness(s, cards)
    rest = cards
    while rest:
        card = lowest_card(rest)
        rest &= rest - 1
        c.wins[c.number] = card_chance(s.trump, card, hidden, held, n - 1, short)
        total += c.wins[c.number]
        c.number += 1
    total = _move_mean(c, total, total + _SHARE * (_unwanted(s, player, left, lost) - total))
    _move_mean(c, total, total + min(max(_STEER * (bid - won - total), -_MOST_STEERED), _MOST_STEERED))
    _count_tricks(c)
    value = 0.0
    for tricks in range(c.number + 1):
        value += c.tricks[tricks] * _points_of(s.rules.scoring, s.rules.points_per_trick, bid, won + tricks)
    return value


@kernel
def expected_tricks(s, player):
    """Return how many tricks the hand that was dealt to `player` promises to its owner."""
    hand, n, total = s.hands[player] | s.cards_played[player], s.rules.num_players, 0.0
    hidden = _ALL_CARDS & ~hand
    if s.turned_up != NO_CARD:
        hidden &= ~(np.int64(1) << s.turned_up)
    short, rest = shortness(s, hand), hand
    while rest:
        total += card_chance(s.trump, lowest_card(rest), hidden, s.hand_size * (n - 1), n - 1, short)
        rest &= rest - 1
    return total


@kernel
def shortness(s, cards):
    """Return how many side suits are about to run out, for ruffs."""
    short = 0.0
    for suit in range(4):
        if suit != s.trump:
            number = count_bits(cards & SUIT_SETS[suit])
            short += 1.0 if number == 0 else 0.5 if number == 1 else 0.0
    return short


@kernel
def card_chance(trump, card, hidden, held, others, short):
    """Return the chance that a card wins a trick sometime, if its owner neither needs nor avoids tricks."""
    suit, unseen = _suit_of(card), count_bits(hidden)
    higher = count_bits(hidden & SUIT_SETS[suit] & ~((np.int64(2) << card) - 1))
    top = chance_of_none(higher, min(held, unseen), unseen)
    if suit == trump:
        return min(top + (1 - top) * (_TRUMP_LATER / max(higher, 1) + _RUFF * short), 1.0)
    safe = 1.0
    if trump >= 0:
        size = held // others
        void = chance_of_none(count_bits(hidden & SUIT_SETS[suit]), size, unseen)
        ruff = void * (1 - chance_of_none(count_bits(hidden & SUIT_SETS[trump]), size, unseen))
        safe = (1 - ruff) ** others
    return _SIDE * safe * (top + (1 - top) * _SIDE_LATER / max(higher, 1))


@kernel
def _unwanted(s, player, left, lost):
    """Return how many of the tricks that are left no other player needs; who has not bid is taken to bid a share."""
    wanted, hidden = 0.0, bids_are_hidden(s)
    for p in range(s.rules.num_players):
        if p != player:
            if s.bids[p] == NO_BID or hidden:
                wanted += s.hand_size / s.rules.num_players
            else:
                wanted += max(s.bids[p] - s.tricks_won[p], 0)
    if lost and wanted >= 1:
        wanted -= 1
    return min(max(left - wanted, 0.0), left)


@kernel
def _move_mean(c, mean, target):
    """Raise all chances to win, or lower them, so that their sum is `target`."""
    target = min(max(target, 0.0), c.number)
    for k in range(c.number):
        if target > mean:
            c.wins[k] += (1 - c.wins[k]) * (target - mean) / (c.number - mean)
        elif target < mean:
            c.wins[k] *= target / mean
    return target


@kernel
def _count_tricks(c):
    """Write the chance of each number of tricks, if cards win independently of each other."""
    c.tricks[0] = 1.0
    for k in range(c.number):
        c.tricks[k + 1] = 0.0
        for tricks in range(k + 1, 0, -1):
            c.tricks[tricks] += (c.tricks[tricks - 1] - c.tricks[tricks]) * c.wins[k]
        c.tricks[0] *= 1 - c.wins[k]


@kernel
def chance_now(s, player, card, hidden):
    """Return the chance that a card wins the current trick."""
    led, n = _led_suit(s), s.rules.num_players
    if led < 0:
        led = _suit_of(card)
    elif _strength(s, card, led) < _strength(s, np.int64(card_in_trick(s, _winner(s))), led):
        return 0.0
    chance = 1.0
    p = wrap(player + 1, n)
    while p != s.leader:
        needs = s.bids[p] > s.tricks_won[p]
        chance *= max(1 - (_WANT if needs else _DUCK) * _chance_to_beat(s, p, card, led, hidden), 0.0)
        p = wrap(p + 1, n)
    return chance


@kernel
def _chance_to_beat(s, p, card, led, hidden):
    """Return the chance that a player holds, and may play, a card that beats `card`."""
    unseen, size, suit = count_bits(hidden), np.int64(s.hand_size - s.trick), _suit_of(card)
    higher = count_bits(hidden & SUIT_SETS[suit] & ~((np.int64(2) << card) - 1))
    void = 1.0 if s.voids[p] >> led & 1 else chance_of_none(count_bits(hidden & SUIT_SETS[led]), size, unseen)
    beats = 0.0 if s.voids[p] >> suit & 1 else 1 - chance_of_none(higher, size, unseen)
    if suit != led:  # a trump on another suit
        return void * beats
    if suit != s.trump and s.trump >= 0 and not s.voids[p] >> s.trump & 1:
        beats += void * (1 - chance_of_none(count_bits(hidden & SUIT_SETS[s.trump]), size, unseen))
    return min(beats, 1.0)
