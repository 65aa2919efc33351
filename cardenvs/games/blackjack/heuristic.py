"""The rule agent for Blackjack: the best play against the cards that nobody has seen.

`plan` computes what each hand is worth against the dealer's first card, by dynamic programming over totals, for any
options. Cards come with the frequencies of those not seen, and as if each were put back. With replacement that is exact
basic strategy; in a shoe it counts all cards, and errs only by what a few cards change. Results are in bets of 1.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.blackjack.rules import explain_illegal, num_bets
from cardenvs.games.blackjack.state import (
    ACE,
    BET,
    BET_0,
    BLACKJACK,
    BY_VALUE,
    CASINO,
    DECLINE,
    DOUBLE,
    HIT,
    HIT_SOFT17,
    INFINITE,
    INSURANCE,
    INSURE,
    NATURAL,
    NO_CARD,
    NO_DOUBLE,
    NUM_RANKS,
    PAYS,
    PIPS,
    SAB,
    SHIFT,
    SPLIT,
    STICK,
    SURRENDER,
    TEN,
)

NUM_VALUES = 10  # of cards: index 0 is the ace, 9 a ten
BUST, DEALT_21 = 22, 23  # outcomes of the dealer beside his totals: bust, and 21 with two cards
NEVER = -100.0  # worth of what is not allowed

PLAN = packed(
    [
        ("weights", "f8", (NUM_VALUES,)),  # chance of each value of the next card
        ("same_rank", "f8"),  # chance that a ten has the rank of another one
        ("dealer", "f8", (24,)),  # chance of each outcome, by total, BUST or DEALT_21
        ("reached", "f8", (2, 32)),  # by (has an ace, sum): chance that the dealer gets there
        ("stick", "f8", (22,)),  # what a total wins, without what a dealer's blackjack takes
        ("hit", "f8", (2, 22)),  # by (has an ace, sum): worth of one more card and then the best play
        ("double", "f8", (2, 22)),  # of doubling
        ("best", "f8", (2, 22)),  # of the better of sticking and hitting
    ]
)
_new_plan = stack_record(PLAN)


@kernel(entry=True)
def heuristic(s, legal, n, rng):
    """Play the best action of `plan`; bet most if that has an advantage, and else least."""
    plan = _new_plan()
    weigh(s, plan)
    if s.phase == BET:
        worth = worth_of_round(s.rules, plan)
        return BET_0 + (num_bets(s.rules) - 1 if worth > 0.0 else 0)
    if s.phase == INSURANCE:
        return INSURE if plan.weights[NUM_VALUES - 1] > _INSURANCE_BREAKS_EVEN else DECLINE
    play_dealer(s.rules, plan, PIPS[s.up] - 1, s.has_looked)
    plan_hands(s.rules, plan)
    return _best_action(s, plan)


_INSURANCE_BREAKS_EVEN = 1 / 3


@kernel
def weigh(s, plan):
    """Set the chances of cards to the shares of those that nobody has seen."""
    total, tens, pairs = 0.0, 0.0, 0.0
    for value in range(NUM_VALUES):
        plan.weights[value] = 0.0
    for rank in range(NUM_RANKS):
        count = 1.0
        if s.rules.decks != INFINITE:
            count = np.float64(s.left[rank])
            if s.hole == rank and s.hole != NO_CARD:
                count += 1.0
        plan.weights[PIPS[rank] - 1] += count
        total += count
        if rank >= TEN:
            tens += count
            pairs += count * count
    for value in range(NUM_VALUES):
        plan.weights[value] /= max(total, 1.0)
    plan.same_rank = pairs / max(tens * tens, 1.0)


@kernel
def _best_action(s, plan):
    """Return the legal action that is worth most."""
    p, h = np.int64(s.current_player), np.int64(s.hand)
    cards, hard = np.int64(s.hands[p, h]), np.int64(s.hard[p, h])
    has_ace = np.int64(cards >> SHIFT[ACE] != 0)
    best, action = worth_of_sticking(s.rules, plan, has_ace, hard, s.num_hands[p] == 1 and s.sizes[p, h] == 2), STICK
    if explain_illegal(s, HIT) == 0 and plan.hit[has_ace, hard] > best:
        best, action = plan.hit[has_ace, hard], HIT
    if s.sizes[p, h] > 2:
        return action
    if explain_illegal(s, DOUBLE) == 0 and plan.double[has_ace, hard] > best:
        best, action = plan.double[has_ace, hard], DOUBLE
    if explain_illegal(s, SPLIT) == 0:
        worth = worth_of_split(s.rules, plan, hard // 2 - 1, np.int64(s.num_hands[p]))
        if worth > best:
            best, action = worth, SPLIT
    if explain_illegal(s, SURRENDER) == 0 and best < -0.5:
        action = SURRENDER
    return action


# ---------------------------------------------------------------------------------------------------------------
# The dealer


@kernel
def play_dealer(rules, plan, up, has_looked):
    """Set `plan.dealer`: the chance of each outcome behind a first card of value index `up`.

    After the dealer has looked, the second card is one that makes no blackjack.
    """
    for k in range(24):
        plan.dealer[k] = 0.0
    for k in range(32):
        plan.reached[0, k] = plan.reached[1, k] = 0.0
    barred = -1
    if up == 0 or up == NUM_VALUES - 1:
        barred = NUM_VALUES - 1 - up
    allowed = 1.0 - plan.weights[barred] if has_looked and barred >= 0 else 1.0
    for value in range(NUM_VALUES):
        chance = plan.weights[value] / max(allowed, 1e-12)
        if value != barred:
            plan.reached[np.int64(up == 0 or value == 0), up + value + 2] += chance
        elif not has_looked:
            plan.dealer[DEALT_21] = chance
    for hard in range(2, 17):  # ascending, since each card adds to the sum
        for has_ace in range(2):
            chance = plan.reached[has_ace, hard]
            if chance == 0.0:
                continue
            if dealer_stands(rules, has_ace, hard):
                plan.dealer[hard + 10] += chance
                continue
            for value in range(NUM_VALUES):
                plan.reached[np.int64(has_ace or value == 0), hard + value + 1] += chance * plan.weights[value]
    for hard in range(17, 32):
        plan.dealer[hard if hard <= BLACKJACK else BUST] += plan.reached[0, hard] + plan.reached[1, hard]


@kernel(inline=True)
def dealer_stands(rules, has_ace, hard):
    """Return whether the dealer stands on a sum with aces as 1 (5.2)."""
    if has_ace and hard <= 11:
        return hard >= 8 or (hard == 7 and rules.dealer_soft17 != HIT_SOFT17)
    return hard >= 17


# ---------------------------------------------------------------------------------------------------------------
# Hands


@kernel
def plan_hands(rules, plan):
    """Set what sticking, hitting and doubling are worth for every hand, from `plan.dealer`."""
    is_blackjack = rules.naturals == CASINO
    for total in range(22):
        won = plan.dealer[BUST]
        for dealer in range(17, 22):
            if total > dealer:
                won += plan.dealer[dealer]
            elif total < dealer:
                won -= plan.dealer[dealer]
        if not is_blackjack and total < BLACKJACK:
            won -= plan.dealer[DEALT_21]
        plan.stick[total] = won
    taken = plan.dealer[DEALT_21] if is_blackjack else 0.0
    doubled = taken if rules.obo else 2.0 * taken
    for hard in range(BLACKJACK, 1, -1):
        for has_ace in range(2):
            hit, double = 0.0, 0.0
            for value in range(NUM_VALUES):
                sum_, ace = hard + value + 1, np.int64(has_ace or value == 0)
                if sum_ > BLACKJACK:
                    hit -= plan.weights[value]
                    double -= 2.0 * plan.weights[value]
                else:
                    hit += plan.weights[value] * plan.best[ace, sum_]
                    double += plan.weights[value] * (2.0 * plan.stick[_total(ace, sum_)] - doubled)
            plan.hit[has_ace, hard] = hit
            plan.double[has_ace, hard] = double
            total = _total(np.int64(has_ace), hard)
            stick = plan.stick[total] - taken
            can_hit = total < BLACKJACK or rules.hit_21
            plan.best[has_ace, hard] = max(stick, hit) if can_hit else stick


@kernel(inline=True)
def _total(has_ace, hard):
    return hard + 10 if has_ace and hard <= 11 else hard


@kernel
def worth_of_sticking(rules, plan, has_ace, hard, is_dealt):
    """Return what a hand wins that sticks. `is_dealt`: these are the first two cards of a hand that was not split."""
    total = _total(has_ace, hard)
    stick = plan.stick[total]
    taken = plan.dealer[DEALT_21] if rules.naturals == CASINO else 0.0
    if not is_dealt or total != BLACKJACK:
        return stick - taken
    if rules.naturals == CASINO:
        return (1.0 - taken) * PAYS[np.uint64(rules.blackjack_pays)]
    if rules.naturals == NATURAL:
        return stick * PAYS[0]  # 21 does not lose
    if rules.naturals == SAB:
        return 1.0 - plan.dealer[DEALT_21]
    return stick


@kernel
def worth_of_two(rules, plan, first, second, is_split):
    """Return the worth of two cards, value indices, without a split. `is_split`: they are a hand of a split pair."""
    hard, has_ace = first + second + 2, np.int64(first == 0 or second == 0)
    stick = worth_of_sticking(rules, plan, has_ace, hard, not is_split)
    if is_split and first == 0 and rules.split_aces_one_card:
        return stick
    total = _total(has_ace, hard)
    if not is_split and total == BLACKJACK and rules.naturals == CASINO:
        return stick
    if total == BLACKJACK and not rules.hit_21:
        return stick
    best = max(stick, plan.hit[has_ace, hard])
    lowest = 9 if rules.double == 1 else 10
    may_double = rules.double == 0 or (rules.double != NO_DOUBLE and lowest <= total <= 11)
    if may_double and (not is_split or rules.double_after_split):
        best = max(best, plan.double[has_ace, hard])
    return best


@kernel
def worth_of_split(rules, plan, card, num_hands):
    """Return the worth of the two hands made of a pair of value index `card` by a player with `num_hands` hands.

    Hands are worth the same in any order, so what counts is how many of them lack their second card, and how many
    more hands there may be: worth[u] is that of u cards without a second one.
    """
    pair, others = 0.0, 0.0
    chance = 0.0
    for value in range(NUM_VALUES):
        worth = worth_of_two(rules, plan, card, value, True)
        same = plan.weights[value] if value == card else 0.0
        if card == NUM_VALUES - 1 and rules.split_by != BY_VALUE:
            same *= plan.same_rank
        chance += same
        if value == card:
            pair = worth
        others += (plan.weights[value] - same) * worth
    may_again = card != 0 or rules.resplit_aces
    return _worth_of_cards(2, rules.max_hands - num_hands - 1 if may_again else 0, chance, pair, others)


@kernel
def _worth_of_cards(number, room, chance, pair, others):
    """Return the worth of `number` cards that lack their second one, with `room` for more hands.

    A second card makes a pair with `chance`, worth `pair` if it is not split; `others` is the share of other cards.
    """
    single = chance * pair + others
    # w[r][u]: by room and number. Room is at most two: three hands more need two splits after the first.
    w0_2, w0_3, w0_4 = 2.0 * single, 3.0 * single, 4.0 * single
    if room <= 0:
        return w0_2
    w1_1 = _next_worth(0.0, w0_2, chance, pair, others)
    w1_2 = _next_worth(w1_1, w0_3, chance, pair, others)
    w1_3 = _next_worth(w1_2, w0_4, chance, pair, others)
    if room == 1:
        return w1_2
    w2_1 = _next_worth(0.0, w1_2, chance, pair, others)
    return _next_worth(w2_1, w1_3, chance, pair, others)


@kernel(inline=True)
def _next_worth(fewer, split, chance, pair, others):
    """Return the worth of one card more than `fewer`, whose pair may become `split`, the worth of one more yet."""
    return chance * max(pair + fewer, split) + others + (1.0 - chance) * fewer


# ---------------------------------------------------------------------------------------------------------------
# A whole round


@kernel
def worth_of_round(rules, plan):
    """Return what a round with best play wins on average, if cards come with the chances `plan.weights`."""
    total = 0.0
    for up in range(NUM_VALUES):
        if plan.weights[up] > 0.0:
            total += plan.weights[up] * _worth_against(rules, plan, up)
    return total


@kernel
def _worth_against(rules, plan, up):
    looks = rules.peek and (up == 0 or up == NUM_VALUES - 1)
    blackjack = plan.weights[NUM_VALUES - 1 - up] if looks else 0.0  # of the dealer, who then ends the round
    play_dealer(rules, plan, up, looks)
    plan_hands(rules, plan)
    natural, worth = 2.0 * plan.weights[0] * plan.weights[NUM_VALUES - 1], 0.0
    for first in range(NUM_VALUES):
        for second in range(NUM_VALUES):
            chance = plan.weights[first] * plan.weights[second]
            if chance > 0.0:
                worth += chance * _worth_of_hand(rules, plan, first, second)
    insured = 0.0
    if rules.insurance and up == 0:
        insured = max(0.0, 1.5 * plan.weights[NUM_VALUES - 1] - 0.5)
    return insured + (1.0 - blackjack) * worth - blackjack * (1.0 - natural)


@kernel
def _worth_of_hand(rules, plan, first, second):
    best = worth_of_two(rules, plan, first, second, False)
    if first == second and rules.max_hands > 1:
        split = worth_of_split(rules, plan, first, 1)
        if first == NUM_VALUES - 1 and rules.split_by != BY_VALUE:
            best = plan.same_rank * max(best, split) + (1.0 - plan.same_rank) * best
        else:
            best = max(best, split)
    is_blackjack = first + second == NUM_VALUES - 1 and (first == 0 or second == 0) and rules.naturals == CASINO
    return max(best, -0.5) if rules.surrender and not is_blackjack else best
