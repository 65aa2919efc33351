"""Rule agents for Canasta.

`heuristic` opens when it can do so cheaply, takes piles that are worth it, builds canastas, keeps wild cards for them,
discards what the next player can use least, and goes out as soon as possible. `melder` is a crude opponent: it lays all
it can and discards its cheapest card. Both read only what the player to act knows.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.canasta import actions, state
from cardenvs.games.canasta.actions import cards_laid
from cardenvs.games.canasta.completion import can_go_out
from cardenvs.games.canasta.legal import ends_after
from cardenvs.games.canasta.scoring import hand_points

# Values in points, chosen by matches between versions.
_JOKER_WORTH, _TWO_WORTH = 70.0, 45.0  # of a wild card in hand
_CANASTA_WORTH = 250.0
_PROGRESS = 12.0  # of each card that a meld grows towards a canasta
_PILE_CARD = 9.0  # of each card of a pile that is taken
_LOOSE_HAND = 5  # cards to keep while the side cannot go out
_LATE_STOCK = 8  # cards in the stock with which the deal is about to end


@kernel
def heuristic(s, legal, n, rng):
    """Return what the rules of thumb above choose."""
    if s.phase == state.DRAW:
        return _draw(s, legal, n)
    if s.phase == state.ANSWER:
        return np.int64(actions.YES if _agrees(s) else actions.NO)
    player = np.int64(s.current_player)
    if s.phase == state.TAKE:
        return _cheapest_lay(s, player, legal, n)
    if can_go_out(s, player):
        return _go_out(s, player, legal, n)
    if s.needed > 0:
        lay = _cheapest_lay(s, player, legal, n)
        if s.has_laid or (lay >= 0 and _opens(s, lay)):
            return lay
    else:
        lay = _useful_lay(s, player, legal, n)
        if lay >= 0:
            return lay
    return _best_discard(s, player, legal, n)


@kernel
def melder(s, legal, n, rng):
    """Take the pile whenever possible, lay as many cards as possible, and discard the cheapest one."""
    best, best_value = np.int64(legal[0]), -1e9
    for k in range(n):
        action = np.int64(legal[k])
        value = 0.0
        if actions.TAKE_WITH_PAIR <= action <= actions.TAKE_BY_ADDING:
            value = 1.0
        elif action >= actions.LAY_0:
            m, naturals, jokers, twos = cards_laid(action)
            value = 100.0 - m + 0.01 * (naturals + jokers + twos)
        elif action >= actions.DISCARD_0:
            value = -1.0 * state.KIND_POINTS[state.KIND_OF[action - actions.DISCARD_0]]
        if value > best_value:
            best, best_value = action, value
    return best


# ---------------------------------------------------------------------------------------------------------------
# Drawing


@kernel
def _draw(s, legal, n):
    """Take the pile if it is worth more than cards from the stock."""
    best, best_value = np.int64(legal[0]), 0.0
    if legal[0] != actions.DRAW:
        best_value = -1e9
    for k in range(n):
        action = np.int64(legal[k])
        if action == actions.END_DEAL:
            value = -20.0
        elif action == actions.DRAW:
            value = 0.0
        else:
            value = _take_value(s, action)
        if value > best_value:
            best, best_value = action, value
    return best


@kernel
def _take_value(s, action):
    """Return what taking the pile is worth beyond drawing from the stock."""
    player = np.int64(s.current_player)
    rank, side = state.KIND_OF[state.top_of_pile(s)], state.side_of(s, player)
    value = _PILE_CARD * s.num_pile - 10.0 * state.draw_count(s) + state.KIND_POINTS[rank]
    for place in range(s.num_pile):
        value += _kept_worth(s, player, state.KIND_OF[s.pile[place]], 1) * 0.5
    size = state.meld_size(s, side, rank)
    if action == actions.TAKE_BY_ADDING:
        value += _PROGRESS + (_CANASTA_WORTH if size == state.CANASTA_SIZE - 1 else 0.0)
    elif action == actions.TAKE_WITH_JOKER:
        value -= _JOKER_WORTH
    elif action == actions.TAKE_WITH_TWO:
        value -= _TWO_WORTH
    return value


@kernel
def _agrees(s):
    """Whether to let the partner go out: few points in hand, or an opponent who may go out soon."""
    player = np.int64(s.current_player)
    for p in range(s.rules.num_players):
        if state.side_of(s, p) != state.side_of(s, player) and state.num_canastas(
            s, state.side_of(s, p)
        ) >= state.canastas_to_go_out(s):
            return True
    return hand_points(s, player) <= 120


# ---------------------------------------------------------------------------------------------------------------
# Melds


@kernel
def _opens(s, lay):
    """Whether to open: with few wild cards, or because the deal may end soon."""
    _, _, jokers, twos = cards_laid(lay)
    return jokers + twos <= 1 or s.num_stock <= 4 * _LATE_STOCK


@kernel
def _cheapest_lay(s, player, legal, n):
    """Return the lay that reaches the initial minimum with the cheapest wild cards, or -1."""
    best, best_value = np.int64(-1), -1e9
    for k in range(n):
        action = np.int64(legal[k])
        if action < actions.LAY_0:
            continue
        m, naturals, jokers, twos = cards_laid(action)
        points = naturals * (state.KIND_POINTS[m] if m < state.NUM_RANKS else 5) + 50 * jokers + 20 * twos
        reaches = 1.0 if points >= s.needed else 0.0
        value = 30.0 * reaches - _JOKER_WORTH * jokers - _TWO_WORTH * twos + 2.0 * naturals - 1.0 * m
        if value > best_value:
            best, best_value = action, value
    return best


@kernel
def _useful_lay(s, player, legal, n):
    """Return the most useful lay of the lowest meld for which there is one, or -1."""
    best, best_value, best_meld = np.int64(-1), 0.0, np.int64(-1)
    is_late = _is_late(s, player)
    for k in range(n):
        action = np.int64(legal[k])
        if action < actions.LAY_0:
            continue
        m, naturals, jokers, twos = cards_laid(action)
        if best_meld >= 0 and m != best_meld:
            break
        value = _lay_value(s, player, m, naturals, jokers, twos, is_late)
        if value > best_value:
            best, best_value, best_meld = action, value, np.int64(m)
    return best


@kernel
def _is_late(s, player):
    """Whether the deal may end before the next turn of `player`, so that cards in hand would cost points."""
    if s.num_stock <= _LATE_STOCK or s.no_discard:
        return True
    for p in range(s.rules.num_players):
        side = state.side_of(s, p)
        if (
            side != state.side_of(s, player)
            and state.num_canastas(s, side) >= state.canastas_to_go_out(s)
            and s.hand_sizes[p] <= 6
        ):
            return True
    return False


@kernel
def _lay_value(s, player, m, naturals, jokers, twos, is_late):
    """Return what laying these cards is worth."""
    side = state.side_of(s, player)
    if m >= state.BLACK_MELD:
        return 1.0 if is_late and m == state.WILD_MELD else -1.0
    size, cards = state.meld_size(s, side, m), naturals + jokers + twos
    left = s.hand_sizes[player] - cards
    value = _PROGRESS * min(cards, max(0, state.CANASTA_SIZE - size)) + 0.5 * naturals * state.KIND_POINTS[m]
    wild_cost = _JOKER_WORTH * jokers + _TWO_WORTH * twos
    if size < state.CANASTA_SIZE <= size + cards:
        value += _CANASTA_WORTH
        if s.jokers[side, m] + s.twos[side, m] == 0 and jokers + twos == 0:
            value += 150.0
    if size >= state.CANASTA_SIZE and jokers + twos > 0 and s.jokers[side, m] + s.twos[side, m] == 0:
        value -= 200.0  # a natural canasta becomes mixed
    if is_late:
        return value + 0.7 * (50 * jokers + 20 * twos)
    has_canastas = state.num_canastas(s, side) >= state.canastas_to_go_out(s)
    if left < _LOOSE_HAND and not has_canastas:
        value -= 15.0 * (_LOOSE_HAND - left)
    return value - wild_cost


@kernel
def _go_out(s, player, legal, n):
    """Return an action after which the player can still go out, and canastas are worth most."""
    best, best_value = np.int64(-1), -1e9
    for k in range(n):
        action = np.int64(legal[k])
        value = -1e9
        if action >= actions.LAY_0:
            m, naturals, jokers, twos = cards_laid(action)
            if ends_after(s, player, m, naturals, jokers, twos, True):
                value = _lay_value(s, player, m, naturals, jokers, twos, True) - 1000.0 * m
        elif action >= actions.DISCARD_0 and s.hand_sizes[player] == 1:
            value = -500.0
        if value > best_value:
            best, best_value = action, value
    return best if best >= 0 else np.int64(legal[0])


# ---------------------------------------------------------------------------------------------------------------
# The discard


@kernel
def _best_discard(s, player, legal, n):
    """Return the discard that costs least: what it is worth in hand, and what the next player may do with it."""
    best, best_cost = np.int64(legal[0]), 1e9
    last = -1
    cost = 0.0
    for k in range(n):
        action = np.int64(legal[k])
        if action < actions.DISCARD_0 or action >= actions.LAY_0:
            continue
        kind = state.KIND_OF[action - actions.DISCARD_0]
        if kind != last:
            cost = discard_cost(s, player, kind)
        last = kind
        if cost < best_cost:
            best, best_cost = action, cost
    return best


@kernel
def discard_cost(s, player, kind):
    """Return what it costs to discard a card of a kind, in points.

    Two players draw two cards in a turn, and keeping cards of many points for the initial meld matters more to them
    than defence; with partners it is the other way round. Matches between the two kinds of discard showed this.
    """
    if s.rules.num_players == 2:
        return 1.0 * state.KIND_POINTS[kind]
    cost = _kept_worth(s, player, kind, 0)
    if _is_late(s, player):
        cost = 0.5 * cost - state.KIND_POINTS[kind]
    return cost + take_chance(s, player, kind) * (_PILE_CARD * (s.num_pile + 1) + 30.0)


@kernel
def _kept_worth(s, player, kind, more):
    """Return what a card of a kind is worth in hand, in which `more` are added to those that it holds."""
    if kind == state.JOKER:
        return _JOKER_WORTH
    if kind == state.TWO:
        return _TWO_WORTH
    if kind == state.BLACK_THREE:
        return 12.0 if s.num_pile > 4 else 4.0
    if kind >= state.NUM_RANKS:
        return 0.0
    held, side = s.kinds[player, kind] + more, state.side_of(s, player)
    if state.meld_size(s, side, kind) > 0:
        return 26.0 if state.meld_size(s, side, kind) < state.CANASTA_SIZE else 6.0
    worth = 22.0 if held == 2 else 20.0 if held == 3 else 24.0 if held > 3 else 2.0
    return worth + 0.2 * state.KIND_POINTS[kind]


@kernel
def take_chance(s, player, kind):
    """Return the estimated chance that the next player takes the pile if a card of `kind` is discarded now."""
    if kind >= state.NUM_RANKS:
        return 0.0
    following = wrap(player + 1, s.rules.num_players)
    side = state.side_of(s, following)
    frozen = s.pile_frozen or not s.has_opened[side]
    if not frozen and s.naturals[side, kind] > 0:
        return 1.0
    known, hidden = _known_and_hidden(s, player, following, kind)
    if known >= 2:
        return 1.0 if s.has_opened[side] else 0.7
    unknown = s.hand_sizes[following]
    for face in range(state.NUM_FACES):
        unknown -= s.known[following, face]
    share = unknown / max(1.0, unknown + 1.0 * s.num_stock + _others_hidden(s, player, following))
    expected = hidden * share
    chance = 1.0 - np.exp(-expected) * (1.0 if known == 1 else 1.0 + expected)
    if not frozen:
        chance = min(1.0, 1.6 * chance)  # a wild card may replace one of the two
    return chance if s.has_opened[side] else 0.7 * chance


@kernel
def _known_and_hidden(s, player, other, kind):
    """Return the cards of a rank that `other` is known to hold, and those whose place `player` does not know."""
    hidden = 8 - s.kinds[player, kind]
    for side in range(state.num_sides(s)):
        hidden -= s.naturals[side, kind]
    for place in range(s.num_pile):
        if state.KIND_OF[s.pile[place]] == kind:
            hidden -= 1
    known = 0
    for k in range(state.NUM_OF_KIND[kind]):
        face = state.FACES_OF_KIND[kind, k]
        known += s.known[other, face]
        for p in range(s.rules.num_players):
            if p != player:
                hidden -= s.known[p, face]
    return known, hidden


@kernel
def _others_hidden(s, player, following):
    """Return the number of cards that the remaining players hold."""
    number = 0.0
    for p in range(s.rules.num_players):
        if p != player and p != following:
            number += s.hand_sizes[p]
    return number
