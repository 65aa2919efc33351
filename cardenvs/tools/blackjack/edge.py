"""What a round of Blackjack is worth with best play: the house edge, with its sign turned.

With an endless deck this is what the rule agent's plan says. From a shoe, cards come without replacement: every hand is
a composition, its player sticks or goes on by what is left, and the dealer's draws are enumerated. Only the hands of a
split pair are valued as if cards were put back.
"""

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.registry import get_game
from cardenvs.core.scratch import stack_record
from cardenvs.games.blackjack.heuristic import (
    NEVER,
    NUM_VALUES,
    PLAN,
    dealer_stands,
    plan_hands,
    play_dealer,
    worth_of_round,
    worth_of_split,
)
from cardenvs.games.blackjack.state import BLACKJACK, BY_VALUE, CASINO, INFINITE, NATURAL, NO_DOUBLE, PAYS, SAB

_TENS = NUM_VALUES - 1
_BUST, _NATURAL = 22, 23  # outcomes of the dealer beside his totals

_new_plan = stack_record(PLAN)
_DEALER = np.dtype([("chance", "f8", (24,)), ("hard", "i8", (24,)), ("aces", "i8", (24,)), ("value", "i8", (24,)),
                    ("weight", "f8", (24,))])  # fmt: skip
_new_dealer = stack_record(_DEALER)


@dataclass(frozen=True)
class Edge:
    """The worth of a round.

    Attributes:
        value: bets of 1 that a player wins on average with best play; negative if the house has the edge.
        is_exact: whether it is exact but for rounding; if not, split hands are valued approximately.
    """

    value: float
    is_exact: bool


def exact_edge(options) -> Edge:
    """Return what a round from a full shoe is worth to a lone player with best play, for a bet of 1."""
    if options.decks == INFINITE:
        states = get_game("blackjack_v0").blank(options)
        return Edge(float(_endless(states, 0)), not (options.obo and options.max_hands > 1))
    counts = _shoe(options)
    worths = [float(worth_against(options, up)) for up in range(NUM_VALUES)]
    return Edge(float(counts @ worths / counts.sum()), options.max_hands == 1)


def worth_against(options, up: int) -> float:
    """Return the same of rounds in which the dealer shows a card of value index `up`: 0 for the ace, 9 for a ten."""
    states = get_game("blackjack_v0").blank(options)
    counts = _shoe(options)
    hands, after = _compositions(tuple(counts.tolist()))
    return float(_against(states, 0, counts, hands, after, up, np.zeros(len(hands))))


def _shoe(options) -> np.ndarray:
    """Return how many cards of each value a full shoe has."""
    return 4 * options.decks * np.array([*[1] * _TENS, 4])


@functools.cache
def _compositions(counts):
    """Return all hands that are not bust as counts by value, those with the highest sums first.

    Also returns for each hand and value the number of the hand with one more such card, or -1.
    """
    found = [(0,) * NUM_VALUES]
    for value in range(NUM_VALUES - 1, -1, -1):
        found = [
            (*hand[:value], number, *hand[value + 1 :])
            for hand in found
            for number in range(min(int(counts[value]), BLACKJACK // (value + 1)) + 1)
            if _hard(hand) + number * (value + 1) <= BLACKJACK
        ]
    found.sort(key=_hard, reverse=True)
    index = {hand: k for k, hand in enumerate(found)}
    after = np.full((len(found), NUM_VALUES), -1)
    for (hand, k), value in itertools.product(index.items(), range(NUM_VALUES)):
        after[k, value] = index.get((*hand[:value], hand[value] + 1, *hand[value + 1 :]), -1)
    return np.array(found), after


def _hard(hand):
    return sum(number * (value + 1) for value, number in enumerate(hand))


@kernel(entry=True)
def _endless(states, i):
    plan = _new_plan()
    for value in range(NUM_VALUES):
        plan.weights[value] = 1 / 13 if value < _TENS else 4 / 13
    plan.same_rank = 0.25
    return worth_of_round(states[i].rules, plan)


@kernel(entry=True)
def _against(states, i, counts, hands, after, up, worth):
    """Return the worth of a round in which the dealer shows a card of value index `up`. Overwrites worth."""
    rules = states[i].rules
    dealer, plan = _new_dealer(), _new_plan()
    barred = _TENS - up if up == 0 or up == _TENS else -1
    is_known = rules.peek != 0 and barred >= 0  # whether the dealer has looked
    for k in range(hands.shape[0]):
        _value_hand(rules, counts, hands, after, up, barred, is_known, k, worth, dealer, plan)
    total = 0.0
    rest = np.float64(-1.0)
    for value in range(NUM_VALUES):
        rest += counts[value]
    for first in range(NUM_VALUES):
        for second in range(NUM_VALUES):
            chance = (counts[first] - (first == up)) / rest
            chance *= (counts[second] - (second == up) - (second == first)) / (rest - 1.0)
            if chance <= 0.0:
                continue
            k = after[after[hands.shape[0] - 1, first], second]  # the empty hand is the last
            bad = 0.0
            if barred >= 0:
                bad = (counts[barred] - (barred == first) - (barred == second)) / (rest - 2.0)
            total += chance * _opening(rules, counts, hands, up, first, second, k, bad, is_known, worth, plan)
    return total


@kernel
def _opening(rules, counts, hands, up, first, second, k, bad, is_known, worth, plan):
    """Return the worth of two cards before the dealer looks; `bad` is the chance of his blackjack."""
    is_natural = (first == 0 and second == _TENS) or (first == _TENS and second == 0)
    best = worth[k]
    if first == second and rules.max_hands > 1:
        total = 0.0
        for value in range(NUM_VALUES):
            plan.weights[value] = np.float64(counts[value] - hands[k, value] - (value == up))
            total += plan.weights[value]
        for value in range(NUM_VALUES):
            plan.weights[value] /= total
        plan.same_rank = 0.25
        play_dealer(rules, plan, up, is_known)
        plan_hands(rules, plan)
        split = worth_of_split(rules, plan, first, np.int64(1))
        share = 1.0
        if first == _TENS and rules.split_by != BY_VALUE:
            share = (counts[_TENS] / 4.0 - 1.0) / (counts[_TENS] - 1.0)
        best = share * max(best, split) + (1.0 - share) * best
    if rules.surrender and not (is_natural and rules.naturals == CASINO):
        best = max(best, -0.5)
    insured = max(0.0, 1.5 * bad - 0.5) if rules.insurance and up == 0 else 0.0
    if not is_known:
        return insured + best
    return insured + (1.0 - bad) * best - (0.0 if is_natural else bad)


@kernel
def _value_hand(rules, counts, hands, after, up, barred, is_known, k, worth, dealer, plan):
    """Set worth[k]: that of a hand after the dealer has looked, if he does, and without splits."""
    hard, size = np.int64(0), np.int64(0)
    for value in range(NUM_VALUES):
        hard += hands[k, value] * (value + 1)
        size += hands[k, value]
        plan.weights[value] = np.float64(counts[value] - hands[k, value] - (value == up))  # cards left
    if size < 2:
        worth[k] = NEVER
        return
    for value in range(NUM_VALUES):
        if plan.weights[value] < 0.0:  # the dealer has that card
            worth[k] = NEVER
            return
    has_ace = hands[k, 0] > 0
    total = hard + 10 if has_ace and hard <= 11 else hard
    is_natural = size == 2 and total == BLACKJACK
    best = _stick(rules, plan, dealer, up, barred, is_known, total, is_natural, False)
    if (total == BLACKJACK and not rules.hit_21) or (is_natural and rules.naturals == CASINO):
        worth[k] = best
        return
    hit, double = 0.0, 0.0
    lowest = np.int64(9) if rules.double == 1 else np.int64(10)
    may_double = rules.double == 0 or (rules.double != NO_DOUBLE and lowest <= total <= 11)
    may_double = may_double and size == 2
    for value in range(NUM_VALUES):
        chance = _chance_of(plan, value, barred, is_known)
        if chance == 0.0:
            continue
        if hard + value + 1 > BLACKJACK:
            hit -= chance
            double -= 2.0 * chance
            continue
        hit += chance * worth[after[k, value]]
        if may_double:
            plan.weights[value] -= 1.0
            more = hard + value + 1
            reached = more + 10 if (has_ace or value == 0) and more <= 11 else more
            double += chance * _stick(rules, plan, dealer, up, barred, is_known, reached, False, True)
            plan.weights[value] += 1.0
    best = max(best, hit)
    worth[k] = max(best, double) if may_double else best


@kernel(inline=True)
def _chance_of(plan, value, barred, is_known):
    """Return the chance that the next card has a value, given that the hidden card is none of the barred ones."""
    cards = 0.0
    for other in range(NUM_VALUES):
        cards += plan.weights[other]
    count = plan.weights[value]
    if not is_known:
        return count / cards
    bad = plan.weights[barred]
    hidden = cards - bad - (0.0 if value == barred else 1.0)  # cards that may be hidden if that one comes next
    return count * hidden / ((cards - bad) * (cards - 1.0))


@kernel
def _stick(rules, plan, dealer, up, barred, is_known, total, is_natural, is_doubled):
    """Return what a hand wins that sticks, for its stake; `plan.weights` are the cards left."""
    _draw_all(rules, plan, dealer, up, barred, is_known)
    stake = 2.0 if is_doubled else 1.0
    won, lost = dealer.chance[_BUST], 0.0
    for other in range(17, 22):
        if total > other:
            won += dealer.chance[other]
        elif total < other:
            lost += dealer.chance[other]
    dealt = dealer.chance[_NATURAL]
    if rules.naturals == CASINO:
        if is_natural:
            return (1.0 - dealt) * PAYS[np.uint64(rules.blackjack_pays)]
        return stake * (won - lost) - dealt * (1.0 if rules.obo else stake)
    if total < BLACKJACK:
        lost += dealt
    if is_natural and rules.naturals == SAB:
        return 1.0 - dealt
    if is_natural and rules.naturals == NATURAL:
        won *= PAYS[0]
    return stake * (won - lost)


@kernel
def _draw_all(rules, plan, dealer, up, barred, is_known):
    """Set the chances of the dealer's outcomes, by trying all his draws from the cards left one after the other.

    Level k of the search has k + 1 of his cards on the table; `value` is the card tried next there.
    """
    cards = 0.0
    for value in range(NUM_VALUES):
        cards += plan.weights[value]
    for k in range(24):
        dealer.chance[k] = 0.0
    level = np.int64(0)
    dealer.hard[0], dealer.aces[0], dealer.value[0], dealer.weight[0] = up + 1, up == 0, 0, 1.0
    while level >= 0:
        value = dealer.value[level]
        if value == NUM_VALUES:  # all tried: go back
            level -= 1
            if level >= 0:
                plan.weights[dealer.value[level]] += 1.0
                cards += 1.0
                dealer.value[level] += 1
            continue
        is_hidden = level == 0 and value == barred
        if plan.weights[value] <= 0.0 or (is_hidden and is_known):
            dealer.value[level] += 1
            continue
        among = cards - plan.weights[barred] if level == 0 and is_known else cards
        weight = dealer.weight[level] * plan.weights[value] / among
        hard, aces = dealer.hard[level] + value + 1, dealer.aces[level] + (value == 0)
        if is_hidden:
            dealer.chance[_NATURAL] += weight
        elif hard > BLACKJACK:
            dealer.chance[_BUST] += weight
        elif dealer_stands(rules, aces > 0, hard):
            dealer.chance[hard + 10 if aces and hard <= 11 else hard] += weight
        else:
            plan.weights[value] -= 1.0
            cards -= 1.0
            level += 1
            dealer.hard[level], dealer.aces[level] = hard, aces
            dealer.value[level], dealer.weight[level] = 0, weight
            continue
        dealer.value[level] += 1
