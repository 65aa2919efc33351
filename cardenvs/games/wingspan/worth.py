"""Values of powers, food, cards, eggs and birds for the policies (strategy.py)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardenvs.core.cards import lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import stack, state
from cardenvs.games.wingspan.cards import (
    BIRD_BONUS,
    BIRD_COLOUR,
    BIRD_COST,
    BIRD_EGG_LIMIT,
    BIRD_HABITATS,
    BIRD_POINTS,
    BIRD_POWERS,
    BIRD_WINGSPAN,
    BIRDS_IN_HABITAT,
    BIRDS_WITH_EGG_BY_NEST,
    BONUS_EACH,
    BONUS_POINTS,
    BONUS_THRESHOLDS,
    BROWN,
    EGG_COST,
    EGGS_BY_NEST,
    GOAL_HABITAT,
    GOAL_KIND,
    GOAL_NEST,
    NUM_BONUSES,
    NUM_FOODS,
    NUM_HABITATS,
    NUM_ROUNDS,
    NUM_SLOTS,
    TOTAL_BIRDS,
    TURNS_PER_ROUND,
    WHITE,
)
from cardenvs.games.wingspan.payment import BIRD_WORTH
from cardenvs.games.wingspan.scoring import has_nest
from cardenvs.games.wingspan.weights import (
    BIRD_SCALE,
    BONUS,
    CARD_FEW,
    CARD_FLOOR,
    CARD_PRICE,
    EGG_FEW,
    EGG_PRICE,
    FOOD_FEW,
    FOOD_PRICE,
    GOAL_LATER,
    GOAL_NEST_BIRD,
    GOAL_NOW,
    PAID,
    PINK_USES,
    ROOM,
    ROW_TRADE,
    ROW_UNIT,
    ROW_USE,
    SHORT,
    USES_0,
    weight,
)

ONE_POINT = 100  # values are in hundredths of a point
WORST = -(1 << 40)

# ---------------------------------------------------------------------------------------------------------------
# Gains from powers

FOOD, CARD, EGG, POINT = range(4)


def _power_gives(name: str, params: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Return the gains from one use of a power in tenths of food tokens, cards, eggs and points, less others' gains."""
    amount = 10 * params.get("amount", 1)
    under = params.get("under_cm", 0)
    fixed = {
        "no_power": (0, 0, 0, 0),
        "gain_food_supply": (amount, 0, 0, 0),
        "all_players_gain_food_supply": (amount // 2, 0, 0, 0),
        "gain_food_feeder": (6, 0, 0, 1 if params.get("may_cache") else 0),
        "gain_all_food_feeder": (8, 0, 0, 0),
        "each_player_gains_feeder_die": (6, 0, 0, 0),
        "fewest_birds_gain": (3, 3, 0, 0),
        "cache_food_supply": (0, 0, 0, amount),
        "predator_dice": (0, 0, 0, 4),
        "predator_wingspan": (0, 0, 0, int(10 * (under > BIRD_WINGSPAN).mean())),
        "draw_cards": (0, 10 * params.get("draw", 0) - 6 * params.get("discard_at_turn_end", 0), 0, 0),
        "all_players_draw_from_deck": (0, 5, 0, 0),
        "draw_and_draft": (0, 8, 0, 0),
        "draw_bonus_cards": (0, 0, 0, 35),
        "lay_eggs": (0, 0, amount, 0),
        "lay_egg_each_nest": (0, 0, 15, 0),
        "all_players_lay_egg_nest": (0, 0, 8, 0),
        "discard_food_tuck_from_deck": (-10 * params.get("cost", 0), 0, 0, 10 * params.get("tuck", 0)),
        "discard_egg_gain_food": (amount, 0, -10, 0),
        "discard_egg_draw_cards": (0, 10 * params.get("draw", 0), -10, 0),
        "trade_food": (2, 0, 0, 0),
        "move_if_rightmost": (0, 0, 0, 0),
        "play_additional_bird": (0, 0, 0, 25),
        "repeat_power": (0, 0, 0, 5),
        "react_lay_eggs": (0, 0, 10, 0),
        "react_play_bird_gain_food": (6, 0, 0, 0),
        "react_play_bird_tuck": (0, -5, 0, 8),
        "react_gain_food_cache": (0, 0, 0, 8),
        "react_predator_gain_die": (5, 0, 0, 0),
    }
    if name == "tuck_from_hand":
        return _TUCK_GIVES[params["reward"]]
    return fixed[name]


_TUCK_GIVES = {"draw_card": (0, 0, 0, 10), "lay_egg_on_self": (0, -10, 10, 10), "gain_food_supply": (10, -10, 0, 10)}

POWER_GIVES = np.array([_power_gives(power.power_handler_id, power.params) for power in BIRD_POWERS], np.int64)
"""Gains from one use of each bird's power in tenths of food tokens, cards, eggs and points, int64 (170, 4)."""

# Hundredths of a point for each bird that counts for a bonus card, and the number of such birds in the game
_TIER_SLOPE = ONE_POINT * BONUS_POINTS[:, 1].astype(np.int64) // np.maximum(1, BONUS_THRESHOLDS[:, 1])
BONUS_SLOPE = np.where(BONUS_EACH > 0, ONE_POINT * BONUS_EACH.astype(np.int64), _TIER_SLOPE)
BONUS_SHARE = np.array([(BIRD_BONUS >> b & 1).sum() for b in range(NUM_BONUSES)], np.int64)

# ---------------------------------------------------------------------------------------------------------------
# Prices


@kernel
def turns_to_come(s, who):
    """Return the number of turns that `who` has left in the game."""
    turns = np.int64(s.turns_left[who])
    for k in range(s.round_number + 1, NUM_ROUNDS):
        turns += TURNS_PER_ROUND[k]
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
        for food in range(NUM_FOODS):
            have += held(s, who, food)
        value = weight(weights, FOOD_PRICE, turns) + max(0, 4 - have) * weight(weights, FOOD_FEW, turns)
    elif what == CARD:
        have = np.int64(s.hand_size[who])
        value = weight(weights, CARD_PRICE, turns) + max(0, 3 - have) * weight(weights, CARD_FEW, turns)
    else:
        have = np.int64(0)
        for slot in range(state.MAT_SLOTS):
            have += s.eggs[who, slot]
        value = weight(weights, EGG_PRICE, turns) + max(0, 2 - have) * weight(weights, EGG_FEW, turns)
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
    for slot in range(NUM_SLOTS * habitat, NUM_SLOTS * habitat + s.row_size[who, habitat]):
        bird = s.birds[who, slot]
        if bird != state.NO_BIRD and BIRD_COLOUR[bird] == BROWN:
            value += max(0, power_value(s, who, bird, turns, weights))
    return value * weight(weights, ROW_USE, turns) // 100


# ---------------------------------------------------------------------------------------------------------------
# Birds


@kernel
def goal_weight(s, k, turns, weights):
    """Return the value of one more item that the goal of round k counts."""
    return weight(weights, GOAL_NOW if k == s.round_number else GOAL_LATER, turns)


@kernel
def _bird_goals(s, bird, habitat, turns, weights):
    """Return the value of a bird for the current and later goals."""
    value = np.int64(0)
    for k in range(max(np.int64(0), np.int64(s.round_number)), NUM_ROUNDS):
        goal = s.goals[k]
        kind = GOAL_KIND[goal]
        if kind == TOTAL_BIRDS or (kind == BIRDS_IN_HABITAT and GOAL_HABITAT[goal] == habitat):
            value += goal_weight(s, k, turns, weights)
        elif kind in (BIRDS_WITH_EGG_BY_NEST, EGGS_BY_NEST) and has_nest(bird, GOAL_NEST[goal]):
            value += goal_weight(s, k, turns, weights) * weight(weights, GOAL_NEST_BIRD, turns) // 100
    return value


@kernel
def _bird_worth(s, who, bird, habitat, turns, weights):
    """Return the value of having a bird in a row, without its cost."""
    value = ONE_POINT * np.int64(BIRD_POINTS[bird]) + BIRD_EGG_LIMIT[bird] * weight(weights, ROOM, turns)
    gives = power_value(s, who, bird, turns, weights)
    if BIRD_COLOUR[bird] == WHITE:
        value += max(0, gives)
    elif BIRD_COLOUR[bird] != 0:
        uses = weight(weights, USES_0 + habitat if BIRD_COLOUR[bird] == BROWN else PINK_USES, turns)
        value += max(0, gives) * turns * uses // 100
    has = np.int64(s.row_size[who, habitat])
    value += turns * weight(weights, ROW_UNIT if has & 1 else ROW_TRADE, turns)
    listed = np.int64(s.bonus_hands[who]) & np.int64(BIRD_BONUS[bird])
    while listed:
        value += BONUS_SLOPE[lowest_card(listed)] * weight(weights, BONUS, turns) // 100
        listed &= listed - 1
    return value + _bird_goals(s, bird, habitat, turns, weights)


@kernel
def play_value(s, who, bird, habitat, turns, weights):
    """Return the value of playing a bird into a row, after its cost in food and eggs."""
    food = (np.int64(BIRD_WORTH[bird]) + 1) // 2 * price(s, who, FOOD, turns, weights)
    eggs = np.int64(EGG_COST[min(np.int64(s.row_size[who, habitat]), NUM_SLOTS - 1)])
    cost = food * weight(weights, PAID, turns) // 100 + eggs * weight(weights, EGG_PRICE, turns)
    return _bird_worth(s, who, bird, habitat, turns, weights) - cost


@kernel
def best_play(s, who, bird, habitats, turns, weights):
    """Return the value of the best play of a bird into one of some habitats with a free slot, or WORST."""
    most = np.int64(WORST)
    for habitat in range(NUM_HABITATS):
        if habitats & BIRD_HABITATS[bird] & 1 << habitat and s.row_size[who, habitat] < NUM_SLOTS:
            most = max(most, play_value(s, who, bird, habitat, turns, weights))
    return most


@kernel
def food_missing(s, who, bird):
    """Return the number of tokens of matching food that `who` lacks for a bird."""
    total, matched = np.int64(0), np.int64(0)
    for food in range(NUM_FOODS):
        have = held(s, who, food)
        total += have
        matched += min(have, np.int64(BIRD_COST[bird, food]))
    return max(0, BIRD_WORTH[bird] - total - matched + 1) // 2


@kernel
def card_worth(s, who, bird, turns, weights):
    """Return the value of a bird card in hand, for comparing cards."""
    value = best_play(s, who, bird, (1 << NUM_HABITATS) - 1, turns, weights)
    if value == WORST:
        return np.int64(0)
    value -= food_missing(s, who, bird) * weight(weights, SHORT, turns) + weight(weights, CARD_FLOOR, turns)
    return max(0, value) * weight(weights, BIRD_SCALE, turns) // 100


@kernel
def next_in_hand(s, who, bird):
    """Return the next bird in hand after `bird` (-1 for the first), or NO_BIRD."""
    start = bird + 1
    for w in range(start // state.WORD_BITS, state.NUM_WORDS):
        bits = np.int64(s.hands[who, w])
        if w == start // state.WORD_BITS:
            bits = bits >> start % state.WORD_BITS << start % state.WORD_BITS
        if bits:
            return w * state.WORD_BITS + lowest_card(bits)
    return np.int64(state.NO_BIRD)


@kernel
def wanted_bird(s, who, turns, weights):
    """Return the most valuable bird in hand, counting the food that it lacks, or NO_BIRD."""
    paying = s.stack[s.depth - 1, state.OP] == stack.PAY_COST
    wanted, most = np.int64(state.NO_BIRD), np.int64(0)
    bird, k = next_in_hand(s, who, state.NO_BIRD), 0
    while bird != state.NO_BIRD:
        if not (paying and bird == s.payment) and not s.setup_dropped[who] >> k & 1:
            value = best_play(s, who, bird, (1 << NUM_HABITATS) - 1, turns, weights)
            value -= food_missing(s, who, bird) * weight(weights, SHORT, turns)
            if value > most:
                wanted, most = bird, value
        bird = next_in_hand(s, who, bird)
        k += 1
    return wanted
