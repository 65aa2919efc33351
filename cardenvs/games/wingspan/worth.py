"""Values of powers, food, cards, eggs and birds for the policies (strategy.py)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import cards, stack, state
from cardenvs.games.wingspan import weights as w
from cardenvs.games.wingspan.hands import next_in_hand
from cardenvs.games.wingspan.payment import BIRD_WORTH
from cardenvs.games.wingspan.powers import POWERS, of_params
from cardenvs.games.wingspan.scoring import has_nest
from cardenvs.kits.cards import lowest_card

ONE_POINT = 100  # values are in hundredths of a point
WORST = -(1 << 40)

# ---------------------------------------------------------------------------------------------------------------
# Gains from powers

FOOD, CARD, EGG, POINT = range(4)
_GIVES = [of_params(POWERS[spec.power_handler_id].gives, spec.params) for spec in cards.BIRD_POWERS]
POWER_GIVES = np.array(_GIVES, np.int64)
"""Gains from one use of each bird's power in tenths of food tokens, cards, eggs and points, int64 (170, 4)."""

# Hundredths of a point for each bird that counts for a bonus card, and the number of such birds in the game
_TIER_SLOPE = ONE_POINT * cards.BONUS_POINTS[:, 1].astype(np.int64) // np.maximum(1, cards.BONUS_THRESHOLDS[:, 1])
BONUS_SLOPE = np.where(cards.BONUS_EACH > 0, ONE_POINT * cards.BONUS_EACH.astype(np.int64), _TIER_SLOPE)
BONUS_SHARE = np.array([(cards.BIRD_BONUS >> b & 1).sum() for b in range(cards.NUM_BONUSES)], np.int64)

# ---------------------------------------------------------------------------------------------------------------
# Prices


@kernel
def turns_to_come(s, who):
    """Return the number of turns that `who` has left in the game."""
    turns = np.int64(s.turns_left[who])
    for k in range(s.round_number + 1, cards.NUM_ROUNDS):
        turns += cards.TURNS_PER_ROUND[k]
    return turns


@kernel
def held(s, who, food):
    """Return the tokens of a food that `who` has, minus those promised in the setup."""
    return np.int64(s.food[who, food]) - np.int64(s.setup_paid[who, food])


@kernel
def price(s, who, what, turns, weights):
    """Return the value of one more food token, card or egg of unknown kind."""
    if what == FOOD:
        have = np.int64(0)
        for food in range(cards.NUM_FOODS):
            have += held(s, who, food)
        value = w.weight(weights, w.FOOD_PRICE, turns) + max(0, 4 - have) * w.weight(weights, w.FOOD_FEW, turns)
    elif what == CARD:
        have = np.int64(s.hand_size[who])
        value = w.weight(weights, w.CARD_PRICE, turns) + max(0, 3 - have) * w.weight(weights, w.CARD_FEW, turns)
    else:
        have = np.int64(0)
        for slot in range(state.MAT_SLOTS):
            have += s.eggs[who, slot]
        value = w.weight(weights, w.EGG_PRICE, turns) + max(0, 2 - have) * w.weight(weights, w.EGG_FEW, turns)
    return max(0, value)


@kernel
def power_value(s, who, bird, turns, weights):
    """Return the value of one use of a bird's power."""
    value = POWER_GIVES[bird, POINT] * ONE_POINT
    for what in range(POINT):
        if POWER_GIVES[bird, what] != 0:
            value += POWER_GIVES[bird, what] * price(s, who, what, turns, weights)
    return value // 10


@kernel
def row_powers(s, who, habitat, turns, weights):
    """Return the value of the brown powers of a row when its action is taken."""
    value = np.int64(0)
    for slot in range(cards.NUM_SLOTS * habitat, cards.NUM_SLOTS * habitat + s.row_size[who, habitat]):
        bird = s.birds[who, slot]
        if bird != state.NO_BIRD and cards.BIRD_COLOUR[bird] == cards.BROWN:
            value += max(0, power_value(s, who, bird, turns, weights))
    return value * w.weight(weights, w.ROW_USE, turns) // 100


# ---------------------------------------------------------------------------------------------------------------
# Birds


@kernel
def goal_weight(s, k, turns, weights):
    """Return the value of one more item that the goal of round k counts."""
    return w.weight(weights, w.GOAL_NOW if k == s.round_number else w.GOAL_LATER, turns)


@kernel
def _bird_goals(s, bird, habitat, turns, weights):
    """Return the value of a bird for the current and later goals."""
    value = np.int64(0)
    for k in range(max(np.int64(0), np.int64(s.round_number)), cards.NUM_ROUNDS):
        goal = s.goals[k]
        kind = cards.GOAL_KIND[goal]
        if kind == cards.TOTAL_BIRDS or (kind == cards.BIRDS_IN_HABITAT and cards.GOAL_HABITAT[goal] == habitat):
            value += goal_weight(s, k, turns, weights)
        elif kind in (cards.BIRDS_WITH_EGG_BY_NEST, cards.EGGS_BY_NEST) and has_nest(bird, cards.GOAL_NEST[goal]):
            value += goal_weight(s, k, turns, weights) * w.weight(weights, w.GOAL_NEST_BIRD, turns) // 100
    return value


@kernel
def _bird_worth(s, who, bird, habitat, turns, weights):
    """Return the value of having a bird in a row, without its cost."""
    value = ONE_POINT * np.int64(cards.BIRD_POINTS[bird]) + cards.BIRD_EGG_LIMIT[bird] * w.weight(
        weights, w.ROOM, turns
    )
    gives = power_value(s, who, bird, turns, weights)
    if cards.BIRD_COLOUR[bird] == cards.WHITE:
        value += max(0, gives)
    elif cards.BIRD_COLOUR[bird] != 0:
        uses = w.weight(weights, w.USES_0 + habitat if cards.BIRD_COLOUR[bird] == cards.BROWN else w.PINK_USES, turns)
        value += max(0, gives) * turns * uses // 100
    has = np.int64(s.row_size[who, habitat])
    value += turns * w.weight(weights, w.ROW_UNIT if has & 1 else w.ROW_TRADE, turns)
    listed = np.int64(s.bonus_hands[who]) & np.int64(cards.BIRD_BONUS[bird])
    while listed:
        value += BONUS_SLOPE[lowest_card(listed)] * w.weight(weights, w.BONUS, turns) // 100
        listed &= listed - 1
    return value + _bird_goals(s, bird, habitat, turns, weights)


@kernel
def play_value(s, who, bird, habitat, turns, weights):
    """Return the value of playing a bird into a row, after its cost in food and eggs."""
    food = (np.int64(BIRD_WORTH[bird]) + 1) // 2 * price(s, who, FOOD, turns, weights)
    eggs = np.int64(cards.EGG_COST[min(np.int64(s.row_size[who, habitat]), cards.NUM_SLOTS - 1)])
    cost = food * w.weight(weights, w.PAID, turns) // 100 + eggs * w.weight(weights, w.EGG_PRICE, turns)
    return _bird_worth(s, who, bird, habitat, turns, weights) - cost


@kernel
def best_play(s, who, bird, habitats, turns, weights):
    """Return the value of the best play of a bird into one of some habitats with a free slot, or WORST."""
    most = np.int64(WORST)
    for habitat in range(cards.NUM_HABITATS):
        if habitats & cards.BIRD_HABITATS[bird] & 1 << habitat and s.row_size[who, habitat] < cards.NUM_SLOTS:
            most = max(most, play_value(s, who, bird, habitat, turns, weights))
    return most


@kernel
def food_missing(s, who, bird):
    """Return the number of tokens of matching food that `who` lacks for a bird."""
    total, matched = np.int64(0), np.int64(0)
    for food in range(cards.NUM_FOODS):
        have = held(s, who, food)
        total += have
        matched += min(have, np.int64(cards.BIRD_COST[bird, food]))
    return max(0, BIRD_WORTH[bird] - total - matched + 1) // 2


@kernel
def card_worth(s, who, bird, turns, weights):
    """Return the value of a bird card in hand, for comparing cards."""
    value = best_play(s, who, bird, (1 << cards.NUM_HABITATS) - 1, turns, weights)
    if value == WORST:
        return np.int64(0)
    value -= food_missing(s, who, bird) * w.weight(weights, w.SHORT, turns) + w.weight(weights, w.CARD_FLOOR, turns)
    return max(0, value) * w.weight(weights, w.BIRD_SCALE, turns) // 100


@kernel
def wanted_bird(s, who, turns, weights):
    """Return the most valuable bird in hand, counting the food that it lacks, or NO_BIRD."""
    paying = s.stack[s.depth - 1, state.OP] == stack.PAY_COST
    wanted, most = np.int64(state.NO_BIRD), np.int64(0)
    bird, k = next_in_hand(s, who, state.NO_BIRD), 0
    while bird != state.NO_BIRD:
        if not (paying and bird == s.payment) and not s.setup_dropped[who] >> k & 1:
            value = best_play(s, who, bird, (1 << cards.NUM_HABITATS) - 1, turns, weights)
            value -= food_missing(s, who, bird) * w.weight(weights, w.SHORT, turns)
            if value > most:
                wanted, most = bird, value
        bird = next_in_hand(s, who, bird)
        k += 1
    return wanted
