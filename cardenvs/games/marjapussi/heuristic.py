"""A rule agent for Marjapussi: marriages first, then tricks with points, and the last trick.

Everything is counted in card points. A mark, such as that of a later marriage, is worth `_MARK` of them.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.marjapussi.cards import (
    both_of,
    king_and_queen,
    led_suit,
    one_of,
    partner_of,
    points_of,
    rank_of,
    strength,
    suit_of,
    suits_with,
    trick_winner,
)
from cardenvs.games.marjapussi.marriages import calls, open_suits
from cardenvs.games.marjapussi.rules import playable
from cardenvs.games.marjapussi.state import (
    ACE,
    ANSWER,
    CARD_POINTS,
    HALF_0,
    KING,
    MARKS,
    NAME_0,
    NO_TARGET,
    NUM_PLAYERS,
    NUM_SIDES,
    NUM_SUITS,
    OWN_0,
    PACK,
    QUEEN,
    TEN,
    TOTAL_POINTS,
    WHOLE,
    ZERO,
)
from cardenvs.games.marjapussi.worlds import determinize
from cardenvs.kits.cards import chance_of_none, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.matches import side_of

_MARK = 30.0  # card points that a mark is worth
_ACE_COST, _TEN_COST = 12.0, 6.0  # what high cards are worth in hand, beside their points
_TRUMP_COST, _HEIGHT_COST = 30.0, 4.0  # what a low trump is worth there, and each step of its rank
_PARTNER_CALLS, _OPPONENT_CALLS = 0.45, 0.45  # chance that a player who gets the lead can declare something
_FEED = 4.0  # points that a partner adds to a trick that the side wins
_DECIDED = 0.1  # what a card point is worth once the majority is decided
_LAST_CARDS = 5  # cards in hand from which on the last trick is looked at
_SUITS = PACK.suit_sets
_TRIES = 12  # worlds among which `sample_belief` looks for a likely one


@kernel
def heuristic(s, legal, n, rng):
    """Call if there is something to call; otherwise play the card that is worth most."""
    if n == 1:
        return np.int64(legal[0])
    player = np.int64(s.current_player)
    if s.phase == ANSWER:
        return NAME_0 + _best_suit(s, player, open_suits(s) & both_of(s.hands[player]))
    call = _best_call(s, player)
    return call if call >= 0 else _best_card(s, player)


# ---------------------------------------------------------------------------------------------------------------
# Marriages


@kernel
def _best_suit(s, player, suits):
    """The suit to declare: before there are trumps the longest and highest, later the one that breaks first."""
    best, best_value = lowest_card(suits), -1e9
    for suit in range(NUM_SUITS):
        if suits >> suit & 1:
            value = _length_value(s.hands[player] & _SUITS[suit])
            if s.trump >= 0 and not s.rules.trump_change:
                value = -value
            if value > best_value:
                best, best_value = suit, value
    return best


@kernel(inline=True)
def _length_value(cards):
    """How good a suit is as trumps: its length, and its ace and ten."""
    return count_bits(cards) + (suits_with(cards, ACE) != 0) + 0.7 * (suits_with(cards, TEN) != 0)


@kernel
def _best_call(s, player):
    """The call to make before this lead, or -1: an own marriage, else the likeliest question."""
    possible = calls(s)
    if not possible or marriage_value(s, player) < 0:
        return np.int64(-1)
    own = possible >> OWN_0 & (1 << NUM_SUITS) - 1
    if own:
        return OWN_0 + _best_suit(s, player, own)
    best, best_chance = np.int64(-1), 0.0
    if possible >> WHOLE & 1:
        best, best_chance = np.int64(WHOLE), _chance_of_whole(s, player)
    for suit in range(NUM_SUITS):
        if possible >> HALF_0 + suit & 1:
            chance = _chance_of_half(s, player, suit) + 0.001 * count_bits(s.hands[player] & _SUITS[suit])
            if chance > max(best_chance, 0.01):
                best, best_chance = HALF_0 + suit, chance
    return best if best_chance > 0 else np.int64(-1)


@kernel
def marriage_value(s, player):
    """What the next marriage is worth to the side of `player`, in card points; negative if it costs score."""
    side = side_of(player, NUM_SIDES)
    is_first = not (s.declared[0] | s.declared[1])
    if s.rules.scoring != MARKS:
        return np.float64(s.rules.marriage_points[0 if is_first else 1])
    item = 2 if is_first else 1
    above = s.scores[side] + item - s.rules.match_target
    if s.rules.match_target == NO_TARGET or not s.rules.exact or above <= 0:
        return item * _MARK
    return -_MARK * s.scores[side] if s.rules.overshoot == ZERO else 0.0


@kernel
def _chance_with(s, player, holder, card):
    """The chance that `holder` has a card that `player` does not see, by the room of the hands that may have it."""
    if s.lacks[holder] >> card & 1:
        return 0.0
    total = 0.0
    for p in range(NUM_PLAYERS):
        if p != player and not s.lacks[p] >> card & 1:
            total += count_bits(s.hands[p])
    return count_bits(s.hands[holder]) / total


@kernel
def _chance_of_half(s, player, suit):
    """The chance that the partner has the other card of a marriage of which `player` has one."""
    other = king_and_queen(suit) & ~s.hands[player]
    return _chance_with(s, player, partner_of(player), lowest_card(other))


@kernel
def _chance_of_whole(s, player):
    """The chance that the partner has a marriage that can be declared."""
    partner, none = partner_of(player), 1.0
    suits = open_suits(s) & ~one_of(s.hands[player]) & ~both_of(s.hands[player]) & ~np.int64(s.no_pairs[partner])
    for suit in range(NUM_SUITS):
        if suits >> suit & 1:
            king = _chance_with(s, player, partner, KING * NUM_SUITS + suit)
            none *= 1 - king * _chance_with(s, player, partner, QUEEN * NUM_SUITS + suit)
    return 1 - none


# ---------------------------------------------------------------------------------------------------------------
# Cards


@kernel
def _best_card(s, player):
    """The card with the best sum of the trick's expected points and lead, less what the card is worth in hand."""
    cards, best, best_value = playable(s), np.int64(-1), -1e9
    hidden = np.int64(0)
    for p in range(NUM_PLAYERS):
        if p != player:
            hidden |= s.hands[p]
    ours, partners, theirs = _values_of_lead(s, player)
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        value = _value_of_trick(s, player, card, hidden, ours, partners, theirs) - _worth_in_hand(
            s, player, card, hidden
        )
        if value > best_value:
            best, best_value = card, value
    return best


@kernel
def _values_of_lead(s, player):
    """What the lead is worth, since the leader may call: to `player`, to the partner, and to the opponents."""
    side, possible = side_of(player, NUM_SIDES), open_suits(s)
    value = max(marriage_value(s, player), 0.0)
    if not possible or s.bagged[side]:
        value = 0.0
    ours = value if possible & both_of(s.hands[player]) else _PARTNER_CALLS * value
    theirs = 0.0
    if possible & ~suits_with(s.hands[player], KING) & ~suits_with(s.hands[player], QUEEN) and not s.bagged[1 - side]:
        theirs = _OPPONENT_CALLS * max(marriage_value(s, wrap(player + 1, NUM_PLAYERS)), 0.0)
    return ours, _PARTNER_CALLS * value, theirs


@kernel
def _value_of_trick(s, player, card, hidden, ours, partners, theirs):
    """The points of the trick with `card` and the lead after it, by the chance that the side of `player` wins it."""
    on_table, to_come, winner, best = points_of(s, card), NUM_PLAYERS - 1, player, card
    led = led_suit(s)
    if led < 0:
        led = suit_of(card)
    else:
        for p in range(NUM_PLAYERS):
            other = np.int64(s.played[p, s.trick])
            if other != NO_CARD:
                on_table += points_of(s, other)
                to_come -= 1
        before = trick_winner(s)
        if strength(s, card, led) < strength(s, np.int64(s.played[before, s.trick]), led):
            winner, best = before, np.int64(s.played[before, s.trick])
    is_ours = side_of(winner, NUM_SIDES) == side_of(player, NUM_SIDES)
    chance = 1.0 if is_ours else 0.0
    for k in range(1, to_come + 1):
        seat = wrap(player + k, NUM_PLAYERS)
        beats = _chance_to_beat(s, seat, best, led, hidden)
        if seat == partner_of(player):
            chance += (1 - chance) * beats
        else:
            chance -= chance * beats
    lead = ours if winner == player else partners
    points = (on_table + (_FEED if to_come else 0.0)) * _weight_of_points(s)
    return (2 * chance - 1) * points + chance * lead - (1 - chance) * theirs


@kernel(inline=True)
def _weight_of_points(s):
    """1, or little once a side has the majority, for which alone card points count."""
    if s.rules.scoring != MARKS or s.rules.majority != CARD_POINTS:
        return 1.0
    return _DECIDED if 2 * max(s.points[0], s.points[1]) > TOTAL_POINTS[s.rules.values] else 1.0


@kernel
def _chance_to_beat(s, seat, best, led, hidden):
    """The chance that a player who is still to play can beat the best card, by what they may hold."""
    may_hold = hidden & ~s.lacks[seat]
    number, room = count_bits(may_hold), count_bits(s.hands[seat])
    following = may_hold & _SUITS[led]
    suit = suit_of(best)
    higher = may_hold & _SUITS[suit] & ~((np.int64(2) << best) - 1)
    none_following = chance_of_none(count_bits(following), room, number)
    if s.trump < 0 or s.trump == led:
        return 1 - chance_of_none(count_bits(higher), room, number)
    trumps = higher if suit == s.trump else may_hold & _SUITS[s.trump]
    ruffs = none_following * (1 - chance_of_none(count_bits(trumps), room, number - count_bits(following)))
    if suit == s.trump:
        return ruffs
    return 1 - chance_of_none(count_bits(higher), room, number) + ruffs


@kernel
def _worth_in_hand(s, player, card, hidden):
    """What a card is worth if it is kept: for control, for its marriage, and for the last trick."""
    suit, rank = suit_of(card), rank_of(card)
    worth = 0.1 * rank
    if suit == s.trump:
        worth += _TRUMP_COST + _HEIGHT_COST * rank
    elif rank == ACE:
        worth += _ACE_COST
    elif rank == TEN:
        worth += _TEN_COST
    if rank in (KING, QUEEN) and open_suits(s) >> suit & 1:
        value = max(marriage_value(s, player), 0.0)
        if both_of(s.hands[player]) >> suit & 1:
            worth += 0.8 * value
        else:
            worth += 0.8 * value * _chance_of_half(s, player, suit)
    if count_bits(s.hands[player]) <= _LAST_CARDS:
        worth += _worth_for_last_trick(s, card, hidden)
    return worth


@kernel
def _worth_for_last_trick(s, card, hidden):
    """What a card that nobody can beat is worth for the last trick."""
    suit = suit_of(card)
    if hidden & _SUITS[suit] & ~((np.int64(2) << card) - 1):
        return 0.0
    if s.trump >= 0 and suit != s.trump and hidden & _SUITS[s.trump]:
        return 0.0
    return _MARK if s.rules.scoring == MARKS else np.float64(s.rules.last_trick)


# ---------------------------------------------------------------------------------------------------------------
# Likelier worlds


@kernel
def sample_belief(s, player, seed):
    """Like `determinize`, but prefer deals in which nobody kept a marriage that they could have declared."""
    determinize(s, player, seed)
    for k in range(1, _TRIES):
        if not _is_silly(s, player):
            return
        determinize(s, player, seed + k)


@kernel
def _is_silly(s, player):
    """Whether somebody other than `player` holds a marriage that they did not declare when they could have."""
    possible, kept = open_suits(s), np.int64(0)
    for p in range(NUM_PLAYERS):
        if p != player:
            kept |= possible & both_of(s.hands[p]) & s.silent[p]
    return kept != 0
