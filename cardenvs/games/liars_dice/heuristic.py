"""A rule agent for liar's dice: count, listen to the bids, and bluff a little.

The matching dice are one's own plus those of the others, whose dice are taken to be loaded: a player holds a face that
they have bid more often than another. For each bid the agent weighs the chance that it holds with the chance that the
next player calls it, and compares the best with a call.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.rng import random_below, random_unit
from cardenvs.core.scratch import stack_record
from cardenvs.games.liars_dice.rules import (
    MAX_DICE,
    MAX_PLAYERS,
    MAX_SIDES,
    bid_id,
    face_of,
    liar_of,
    lowest_quantity,
    may_call_exact,
    wild_face,
)

policies_need_legal = False

# Found by matches of rule agents with different values.
_LOAD = 3.0  # what a bid adds to the weight of its face, which is 1 for others
_DOUBT = 0.1  # standard deviations above what is expected, at which half the bids are called
_STEEPNESS = 1.1  # how fast that grows
_RAISED = 0.35  # value of a bid that the next player raises
_BLUFF = 0.05  # how often the agent bids as if one of its dice showed another face

_BELIEF = packed(
    [
        ("own", "f8", (MAX_SIDES,)),  # own dice by face, as the agent pretends
        ("weights", "f8", (MAX_PLAYERS, MAX_SIDES)),  # of the faces of each player's dice
        ("others", "f8", (MAX_PLAYERS * MAX_DICE + 1,)),  # chance of each number of matches among the others' dice
    ]
)
_new_belief = stack_record(_BELIEF)


@kernel
def heuristic(s, legal, n, rng):
    """Choose the bid or call with the best expected result of this bidding."""
    player = np.int64(s.current_player)
    b = _new_belief()
    weigh_faces(s, b.weights)
    _pretend(s, b, player, rng)
    best, best_value = np.int64(-1), -2.0
    if s.quantity:
        best, best_value = _best_call(s, b, player)
    for face in range(1, s.rules.sides + 1):
        lowest = lowest_quantity(s, face)
        if lowest > s.all_dice:
            continue
        _count_others(s, b, player, face)
        own = _matching(s, b.own, face)
        for quantity in range(lowest, s.all_dice + 1):
            called = _chance_of_call(s, quantity, face)
            value = called * (2 * _at_least(s, b, quantity - own) - 1) + (1 - called) * _RAISED
            if value > best_value:
                best, best_value = bid_id(s, quantity, face), value
    return best


@kernel
def weigh_faces(s, weights):
    """Write the weights of each face of each player's dice, given their bids of this bidding."""
    for p in range(s.rules.num_players):
        for face in range(s.rules.sides):
            weights[p, face] = 1.0
    for k in range(s.num_bids):
        weights[s.bids[k, 1], face_of(s, np.int64(s.bids[k, 0])) - 1] = 1.0 + _LOAD


@kernel
def _pretend(s, b, player, rng):
    """Write the agent's own dice; in a bluff, one of them shows another face."""
    for face in range(s.rules.sides):
        b.own[face] = s.dice[player, face]
    if random_unit(rng) < _BLUFF:
        k = random_below(rng, s.num_dice[player])
        face = 0
        while k >= s.dice[player, face]:
            k -= s.dice[player, face]
            face += 1
        b.own[face] -= 1
        b.own[random_below(rng, s.rules.sides)] += 1


@kernel(inline=True)
def _matching(s, by_face, face):
    """Return how much of what is counted by face matches a bid on `face`."""
    wild = wild_face(s)
    return by_face[face - 1] + (by_face[wild - 1] if wild and wild != face else 0)


@kernel
def _best_call(s, b, player):
    """Return the better call of the last bid, and its value."""
    face = np.int64(s.face)
    _count_others(s, b, player, face)
    own = np.int64(s.dice[player, face - 1])
    wild = wild_face(s)
    if wild and wild != face:
        own += s.dice[player, wild - 1]
    needed = s.quantity - own
    call, value = liar_of(s.rules), 1 - 2 * _at_least(s, b, needed)
    if may_call_exact(s) and 0 <= needed <= s.all_dice - s.num_dice[player]:
        exact = 2 * b.others[needed] - 1
        if exact > value:
            call, value = call + 1, exact
    return call, value


@kernel
def _count_others(s, b, player, face):
    """Write the chance of each number of dice of the others that match a bid on `face`."""
    b.others[0] = 1.0
    number = 0
    for p in range(s.rules.num_players):
        if p == player:
            continue
        total, matching = 0.0, b.weights[p, face - 1]
        wild = wild_face(s)
        if wild and wild != face:
            matching += b.weights[p, wild - 1]
        for other in range(s.rules.sides):
            total += b.weights[p, other]
        chance = matching / total
        for _ in range(s.num_dice[p]):
            number += 1
            b.others[number] = 0.0
            for k in range(number, 0, -1):
                b.others[k] += (b.others[k - 1] - b.others[k]) * chance
            b.others[0] *= 1 - chance


@kernel
def _at_least(s, b, needed):
    """Return the chance that at least `needed` dice of the others match."""
    total = 0.0
    for k in range(max(np.int64(needed), 0), s.all_dice - s.num_dice[s.current_player] + 1):
        total += b.others[k]
    return total


@kernel
def _chance_of_call(s, quantity, face):
    """Return how likely the next player is to call a bid, judged by the number of all dice."""
    wild = wild_face(s)
    chance = (2 if wild and wild != face else 1) / s.rules.sides
    mean = s.all_dice * chance
    above = (quantity - mean) / np.sqrt(mean * (1 - chance))
    return 1 / (1 + np.exp(-_STEEPNESS * (above - _DOUBT)))
