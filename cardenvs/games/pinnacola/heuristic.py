"""A rule agent for Pinnacola.

It values a position by the points of its side and what its hand may become: cards that can be melded now, cards that
wait for one more, jokers, and what is left in hand when somebody closes. It takes from the row if that is worth more
than a card of the stock, lays whatever raises the value, closes when it can, and discards what it misses least and the
next player can use least. It reads only what the player to act knows.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_copy, stack_record
from cardenvs.core.seats import wrap
from cardenvs.games.pinnacola import actions, hands, legal, melds, state
from cardenvs.games.pinnacola.actions import parts
from cardenvs.games.pinnacola.state import JOKER, NUM_RANKS, NUM_STEPS, NUM_SUITS, side_of
from cardenvs.kits.cards import lowest_card

# Values in points, chosen by matches between versions.
_MELDABLE = 0.8  # of the value of a card that can be melded
_PINNACOLA = 1.0  # the same again for the cards of a run that can be a pinnacola
_BESIDE, _NEAR, _SAME_RANK = 4.0, 2.5, 3.0  # for each card that is one or two steps away, or of the same rank
_JOKER_EARLY, _JOKER_LATE = 48.0, 5.0  # of a joker in hand
_BLACK_TWO = 30.0  # of a pinella in hand
_DRAW = 9.0  # of a card from the stock
_TAKEN = 6.0  # of a card from the row, beside what it is worth at once
_CARD_OF_OTHERS = 6.0  # what a card in an opponent's hand costs them when somebody closes
_FITS, _MAY_FIT = 20.0, 0.5  # of a discard beside its value that the next player can add to a meld; of others
_EXPOSED = 8.0  # of a joker on the table, for each unseen card with which an opponent could take it
_NEARLY = 12.0  # of a run without wild cards to which one card is missing to count double, or to be a pinnacolone
_NEEDED = 60.0  # the same where the side needs it to close
_CRAMPED = 10.0  # of each card less than _ROOM in the hand of a side that cannot close yet
_ROOM = 7
_UNLIKELY = 0.05  # urgency while the others cannot close
_NONE = -1e9

new_worths = stack_record(packed([("of", "f8", (actions.END_OF_IDS,))]))  # of legal actions, in their order


@kernel
def heuristic(s, legal_list, n, rng):
    """Return what the rules of thumb above choose."""
    w = new_worths()
    note_worths(s, legal_list, n, w)
    return np.int64(legal_list[choose(s, legal_list, n, w)])


@kernel
def melder(s, legal_list, n, rng):
    """Take as much of the row as possible, lay all that can be laid, and discard the card of the lowest value."""
    best, best_value = np.int64(legal_list[0]), _NONE
    for k in range(n):
        op, x, y, _ = parts(np.int64(legal_list[k]))
        value = 0.0
        if op == actions.OP_TAKE:
            value = 1.0 * (s.num_row - hands.place_in_row(s, x, y))
        elif op >= actions.OP_RUN and not melds.is_swap(op):
            value = 1.0 + (y if op == actions.OP_RUN else 0)
        elif op == actions.OP_DISCARD:
            value = -1.0 * state.value_of(s, x)
        if value > best_value:
            best, best_value = np.int64(legal_list[k]), value
    return best


# ---------------------------------------------------------------------------------------------------------------
# What a hand is worth


@kernel
def urgency(s, player):
    """Return how likely the cards in hand will count against the side, from 0 to 1."""
    least = np.int64(100)
    for p in range(np.int64(s.rules.num_players)):
        if side_of(p) != side_of(player):
            least = min(least, np.int64(s.hand_sizes[p]))
    by_hands = 0.9 if least <= 2 else 0.7 if least <= 4 else 0.45 if least <= 7 else 0.25
    if _lacks_something(s, 1 - side_of(player)):
        by_hands = _UNLIKELY
    turns = 1.0 * state.num_stock(s) / s.rules.num_players
    return max(by_hands, 1.0 if turns < 1 else 0.8 if turns < 3 else 0.0)


@kernel
def _hand_value(s, player, held, twice, jokers, risk):
    """Return what these cards in the hand of `player` are worth, with the melds on the table."""
    side = side_of(player)
    value = jokers * (_JOKER_EARLY + (_JOKER_LATE - _JOKER_EARLY) * risk)
    value += 25.0 * (jokers == 3) * (1.0 - risk) + 400.0 * (jokers >= 4)
    ranks = legal.ranks_in(held, 3, s.rules.pinelle)
    for suit in range(NUM_SUITS):
        steps = legal.steps_of(held, suit)
        if steps:
            value += _suit_value(s, side, held, twice, suit, steps, ranks, risk)
    return value


@kernel(inline=True)
def _suit_value(s, side, held, twice, suit, steps, ranks, risk):
    """Return the part of `_hand_value` for a suit; `ranks` are those of which three suits are held."""
    all_steps = np.int64((1 << NUM_STEPS) - 1)
    ends = (s.above[side] | s.below[side]) >> NUM_STEPS * suit & all_steps
    three = steps & steps >> 1 & steps >> 2
    run = three | three << 1 | three << 2
    added = ends & steps
    for _ in range(4):  # what follows upon a card that can be added
        added |= (added << 1 | added >> 1) & steps
    long = _has_long_run(s, run | added, suit)
    sets = s.set_faces[side] >> NUM_RANKS * suit
    soon = (ends << 1 | ends >> 1) & all_steps
    bits, value = held >> NUM_RANKS * suit & 8191, 0.0
    while bits:
        rank = lowest_card(bits)
        bits &= bits - 1
        face = suit * NUM_RANKS + rank
        own = np.int64(1) << rank | np.int64(rank == 0) << NUM_RANKS
        points = 1.0 * state.value_of(s, face)
        if (run | added) & own:
            value += points * (_MELDABLE + (_PINNACOLA if long else 0.0))
        elif ranks >> rank & 1 or sets >> rank & 1:
            value += points * _MELDABLE
        else:
            value += _waiting_value(held, suit, rank, own, steps) + (_NEAR if soon & own else 0.0) - risk * points
        if twice >> face & 1:
            value += 1.0 - risk * points
        if s.rules.pinelle and rank == state.TWO:
            value += _BLACK_TWO * (1.0 - risk)
    return value


@kernel(inline=True)
def _has_long_run(s, steps, suit):
    """Return whether the cards at these steps can be, or are, part of a pinnacola."""
    length = np.int64(0)
    longest = np.int64(0)
    for step in range(NUM_STEPS):
        length = length + 1 if steps >> step & 1 else 0
        longest = max(longest, length)
    return longest >= s.rules.pinnacola_length


@kernel(inline=True)
def _waiting_value(held, suit, rank, own, steps):
    """Return the value of a card that needs others, by the cards beside it and those of its rank."""
    value = 0.0
    if (own << 1 | own >> 1) & steps:
        value += _BESIDE
    if (own << 2 | own >> 2) & steps:
        value += _NEAR
    same = (held >> rank & 1) + (held >> NUM_RANKS + rank & 1)
    same += (held >> 2 * NUM_RANKS + rank & 1) + (held >> 3 * NUM_RANKS + rank & 1)
    return value + _SAME_RANK * (same > 1)


@kernel
def _position_value(s, player, risk):
    """Return the points of the side, the value of the hand, and what closing is worth, if it is possible now."""
    value = 1.0 * s.points[side_of(player)]
    if s.hand_sizes[player] > 1:
        if s.rules.joker_replace == state.ANY_SIDE:
            value -= _EXPOSED * (1.0 - risk) * _num_exposing(s, player)
        value += (1.0 - risk) * _potential(s, side_of(player))
        if _lacks_something(s, side_of(player)):
            value -= (1.0 - risk) * _CRAMPED * max(_ROOM - np.int64(s.hand_sizes[player]), 0)
        held, twice = np.int64(s.held[player]), np.int64(s.twice[player])
        return value + _hand_value(s, player, held, twice, np.int64(s.jokers[player]), risk)
    value += s.rules.close_bonus
    for p in range(s.rules.num_players):
        if side_of(p) != side_of(player):
            value += _CARD_OF_OTHERS * s.hand_sizes[p]
        elif p != player:
            value -= _CARD_OF_OTHERS * s.hand_sizes[p]
    if s.rules.in_mano and s.num_turns < s.rules.num_players:
        value += value + s.rules.close_bonus
    return value


@kernel(inline=True)
def _lacks_something(s, side):
    """Return whether a side has not yet on the table what it needs to close."""
    return legal.needs_pinnacola(s, side) or legal.needs_poker(s, side)


@kernel
def _potential(s, side):
    """Return what the melds of a side are worth beside their points, for what they may become (3.6, 5.2)."""
    value = 0.0
    needs_pinnacola, needs_poker = legal.needs_pinnacola(s, side), legal.needs_poker(s, side)
    for m in range(np.int64(s.num_melds)):
        if s.meld_side[m] != side:
            continue
        size = np.int64(s.meld_size[m])
        if s.meld_kind[m] == state.SET and needs_poker and size < state.MAX_SET:
            value += _NEEDED
        if s.meld_kind[m] == state.RUN and melds.num_wilds(s, m) == 0:
            is_short = size < s.rules.pinnacola_length
            missing = (s.rules.pinnacola_length if is_short else state.PINNACOLONE) - size
            if 0 < missing <= 3:
                value += (_NEEDED if is_short and needs_pinnacola else _NEARLY) / missing
    return value


@kernel
def _num_exposing(s, player):
    """Return how many cards that `player` has not seen could replace a joker of the side."""
    side, number = side_of(player), np.int64(0)
    for suit in range(NUM_SUITS):
        cells = s.joker_cells[side] >> NUM_STEPS * suit & ((1 << NUM_STEPS) - 1)
        faces = s.joker_faces[side] >> NUM_RANKS * suit | cells | cells >> NUM_RANKS
        bits = faces & 8191
        while bits:
            face = suit * NUM_RANKS + lowest_card(bits)
            bits &= bits - 1
            number += 2 - state.num_held(s, player, face)
            for k in range(state.NUM_SIDES):
                number -= (s.melded[k] >> face & 1) + (s.melded_twice[k] >> face & 1)
            for k in range(np.int64(s.num_row)):
                number -= s.row[k] == face
    return number


# ---------------------------------------------------------------------------------------------------------------
# Choices


@kernel
def note_worths(s, legal_list, n, w):
    """Write to w.of[k] what legal action k is worth: in the draw, as a lay or as a discard; lays from 0 up raise it."""
    player = np.int64(s.current_player)
    if s.phase == state.DRAW:
        _note_draws(s, player, legal_list, n, w)
        return
    risk = urgency(s, player)
    now = _position_value(s, player, risk)
    for k in range(n):
        action = np.int64(legal_list[k])
        if action >= actions.RUN_0:
            tried = stack_copy(s)
            melds.lay(tried, player, action)
            w.of[k] = _position_value(tried, player, risk) - now
        else:
            w.of[k] = _value_without(s, player, action - actions.DISCARD_0, risk)


@kernel
def choose(s, legal_list, n, w):
    """Return the index of the best legal action: a lay that raises the value, or that must be, else a discard."""
    first = 0  # of those to choose from; discards come first
    if s.phase != state.DRAW:
        while first < n and legal_list[first] < actions.RUN_0:
            first += 1
        lay = _best_of(w, first, n)
        if first < n and (s.phase == state.USE or w.of[lay] > 0.0):
            return lay
        return _best_of(w, 0, first)
    return _best_of(w, 0, n)


@kernel(inline=True)
def _best_of(w, first, end):
    best = first
    for k in range(first + 1, end):
        best = k if w.of[k] > w.of[best] else best
    return best


@kernel
def _note_draws(s, player, legal_list, n, w):
    """Write what a card of the stock is worth, and what can be taken from the row."""
    risk = urgency(s, player)
    side = side_of(player)
    held, twice = np.int64(s.held[player]), np.int64(s.twice[player])
    jokers = np.int64(s.jokers[player])
    before = _hand_value(s, player, held, twice, jokers, risk)
    w.of[0] = 0.0 if legal_list[0] == actions.STOP else _DRAW * (1.0 - 0.5 * risk)
    for k in range(1, n):
        _, x, y, _ = parts(np.int64(legal_list[k]))
        place = hands.place_in_row(s, x, y)
        value = _take_value(s, player, place, held, twice, jokers, risk) - before
        value += _TAKEN * (1.0 - risk) * (s.num_row - hands.first_taken(s, place))
        if not _is_natural_use(s, side, held, x):
            value -= _JOKER_EARLY * (1.0 - risk)
        w.of[k] = value


@kernel
def _take_value(s, player, place, held, twice, jokers, risk):
    """Return the value of the hand with the cards of the row from a place on."""
    for k in range(hands.first_taken(s, place), s.num_row):
        face = np.int64(s.row[k])
        if face == JOKER:
            jokers += 1
        else:
            bit = np.int64(1) << face
            twice |= held & bit
            held |= bit
    return _hand_value(s, player, held, twice, jokers, risk)


@kernel(inline=True)
def _is_natural_use(s, side, held, face):
    """Return whether a card can be melded with natural cards of the hand, or added to a meld."""
    if face == JOKER:
        return True
    return legal.natural_is_usable(s, side, held | np.int64(1) << face, np.int64(0), face)


@kernel
def discard_value(s, player, face):
    """Return how good it is for `player` to discard a card; only differences between cards mean something."""
    return _value_without(s, player, np.int64(face), urgency(s, player))


@kernel
def _value_without(s, player, face, risk):
    held, twice, jokers = np.int64(s.held[player]), np.int64(s.twice[player]), np.int64(s.jokers[player])
    if face == JOKER:
        jokers -= 1
    else:
        bit = np.int64(1) << face
        held &= ~(bit & ~twice)
        twice &= ~bit
    return _hand_value(s, player, held, twice, jokers, risk) - danger(s, player, face)


@kernel
def danger(s, player, face):
    """Return what a discard is worth to the next player."""
    following = wrap(player + 1, s.rules.num_players)
    side = side_of(following)
    if face == JOKER:
        return 60.0
    points = 1.0 * state.value_of(s, face)
    held = s.known_held[following] | np.int64(1) << face
    if legal.natural_is_usable(s, side, held, np.int64(0), face):
        return points + _FITS
    return _MAY_FIT * points
