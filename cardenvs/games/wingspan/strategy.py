"""Two policies for Wingspan: `greedy` takes what counts at once, `planner` builds an engine and uses it.

Both put a value on each choice, in hundredths of a point, and make the most valuable one, of equal ones the first. They
share the features and differ in the weights: `greedy` has none for what comes later. Each weight is a pair, what it is
at the first turn and at the last; in between it changes evenly. The weights of `planner` come from hill climbing over
duplicate deals, against earlier ones of its kind.

A power is reduced to what it gives, in tenths of food tokens, cards, eggs and points (`POWER_GIVES`), so that a bird
is worth its points, what its power is likely to give in the turns left, room for eggs, what it counts for bonus cards
and goals, and what it makes of its row, less what it costs. Policies know only what their player may know: the own
hand and bonus cards, and what lies open.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardenvs.core.cards import lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import actions, stack, state
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
    BIRDS_WITH_EGGS,
    BONUS_EACH,
    BONUS_KIND,
    BONUS_MIN_EGGS,
    BONUS_POINTS,
    BONUS_THRESHOLDS,
    BROWN,
    CARDS_DRAWN,
    EGG_COST,
    EGG_SETS,
    EGGS_BY_NEST,
    EGGS_IN_HABITAT,
    EGGS_LAID,
    FOOD_GAINED,
    FOREST,
    GOAL_HABITAT,
    GOAL_KIND,
    GOAL_NEST,
    HAS_TRADE,
    INVERTEBRATE,
    NUM_BONUSES,
    NUM_FOODS,
    NUM_HABITATS,
    NUM_ROUNDS,
    NUM_SLOTS,
    SEED,
    TOTAL_BIRDS,
    TURNS_PER_ROUND,
    WHITE,
)
from cardenvs.games.wingspan.decisions import ALL_SLOTS, open_habitats
from cardenvs.games.wingspan.payment import BIRD_WORTH
from cardenvs.games.wingspan.powers.parts import has_room
from cardenvs.games.wingspan.scoring import eggs_in_row, has_nest

_POINT = 100  # values are hundredths of a point
_NUM_TURNS = int(TURNS_PER_ROUND.sum())
_WORST = -(1 << 40)
_PICK = 10  # what a choice is worth that costs nothing and gives nothing that is counted

# ---------------------------------------------------------------------------------------------------------------
# What a power gives

FOOD, CARD, EGG, POINT = range(4)


def _power_gives(name: str, params: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Tenths of food tokens, cards, eggs and points that a power gives each time, what the others get taken off."""
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
"""What each bird's power gives when it is used once, in tenths, (170, 4): food, cards, eggs, points."""

# Hundredths of points for each bird that counts for a bonus card, and how many birds do
_TIER_SLOPE = _POINT * BONUS_POINTS[:, 1].astype(np.int64) // np.maximum(1, BONUS_THRESHOLDS[:, 1])
_BONUS_SLOPE = np.where(BONUS_EACH > 0, _POINT * BONUS_EACH.astype(np.int64), _TIER_SLOPE)
_BONUS_SHARE = np.array([(BIRD_BONUS >> b & 1).sum() for b in range(NUM_BONUSES)], np.int64)

# ---------------------------------------------------------------------------------------------------------------
# Weights

(
    FOOD_PRICE,  # a token
    FOOD_FEW,  # more for each that is missing to four
    CARD_PRICE,
    CARD_FEW,  # more for each that is missing to three
    EGG_PRICE,
    EGG_FEW,  # more for each that is missing to two
    WANTED,  # a token that the bird wanted most is short of
    ROOM,  # room for an egg
    PLAY_BASE,  # to play a bird, above its worth
    USES_0,  # how often a brown power is used, in hundredths of the turns left; by habitat
    USES_1,
    USES_2,
    PINK_USES,
    ROW_UNIT,  # a bird with which its row gives one more, for each turn left
    ROW_TRADE,  # a bird with which its row has the trade
    BONUS,  # hundredths of what a bird counts for bonus cards
    GOAL_NOW,  # a thing that the goal of the round counts
    GOAL_LATER,  # one that a later goal counts
    GOAL_NEST_BIRD,  # hundredths of that, for a nest that is to have eggs
    UNLOCK,  # hundredths of what the bird wanted is better, for an action that makes it payable
    SHORT,  # a token that a bird in hand is short of
    PAID,  # hundredths of the price of the food and eggs that a bird costs
    BIRD_SCALE,  # hundredths of its worth that a bird card is worth, as compared with the others
    CARD_FLOOR,  # what a bird must be worth to be worth anything as a card
    SETUP_BASE,  # what a bird must be worth as a card to be kept
    SETUP_RANK,  # more for each better one kept
    RESET,  # a reset of the feeder
    ROW_USE,  # hundredths of what the powers of a row give that count for the action
) = range(28)
NUM_WEIGHTS = 28

_GREEDY = np.array([
    (40, 40), (0, 0), (30, 30), (0, 0), (100, 100), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0),
    (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (100, 100), (100, 100), (0, 0), (0, 0), (100, 100),
    (20, 20), (100, 100),
], np.int64)  # fmt: skip

_PLANNER = np.array([
    (129, -1), (36, 12), (61, -4), (203, 12), (86, 69), (60, 4), (63, 0), (17, 39), (90, 0), (37, 33), (30, 27),
    (9, 14), (46, 44), (0, 32), (2, 7), (60, 62), (92, 91), (37, 32), (42, -4), (50, 0), (86, 3), (50, 80), (138, 5),
    (429, 436), (72, 30), (60, 60), (38, 28), (84, 15),
], np.int64)  # fmt: skip


@kernel
def greedy(s, legal, n, rng):
    """Take the most points and resources that can be had at once.

    Args:
        s: one record, not terminal.
        legal: int32 array whose first `n` entries are the legal actions.
        n: int.
        rng: not used, the policy is deterministic.

    Returns:
        One of the legal actions.
    """
    return best_action(s, legal, n, _GREEDY)


@kernel
def planner(s, legal, n, rng):
    """Play by what things will be worth by the end of the game: engines first, then points, eggs and goals."""
    return best_action(s, legal, n, _PLANNER)


@kernel
def best_action(s, legal, n, weights):
    """The legal action of the highest value by some weights, (NUM_WEIGHTS, 2); of equal ones the first."""
    if n == 1:
        return np.int64(legal[0])
    who = np.int64(s.current_player)
    turns = _turns_to_come(s, who)
    wanted = _wanted_bird(s, who, turns, weights)
    best, most = np.int64(legal[0]), np.int64(_WORST)
    for k in range(n):
        action = np.int64(legal[k])
        value = _value(s, who, action, turns, wanted, weights)
        if value > most:
            best, most = action, value
    return best


# ---------------------------------------------------------------------------------------------------------------
# Prices


@kernel
def _turns_to_come(s, who):
    """Turns that `who` has left in the game."""
    turns = np.int64(s.turns_left[who])
    for k in range(s.round_number + 1, NUM_ROUNDS):
        turns += TURNS_PER_ROUND[k]
    return turns


@kernel
def _weight(weights, k, turns):
    return (weights[k, 0] * turns + weights[k, 1] * (_NUM_TURNS - turns)) // _NUM_TURNS


@kernel
def _held(s, who, food):
    """Tokens of a food that `who` has, those promised in the setup taken off."""
    return np.int64(s.food[who, food]) - np.int64(s.setup_paid[who, food])


@kernel
def _price(s, who, what, turns, weights):
    """What one more food token, card or egg is worth, whatever it is."""
    if what == FOOD:
        have = np.int64(0)
        for food in range(NUM_FOODS):
            have += _held(s, who, food)
        value = _weight(weights, FOOD_PRICE, turns) + max(0, 4 - have) * _weight(weights, FOOD_FEW, turns)
    elif what == CARD:
        have = np.int64(s.hand_size[who])
        value = _weight(weights, CARD_PRICE, turns) + max(0, 3 - have) * _weight(weights, CARD_FEW, turns)
    else:
        have = np.int64(0)
        for slot in range(state.MAT_SLOTS):
            have += s.eggs[who, slot]
        value = _weight(weights, EGG_PRICE, turns) + max(0, 2 - have) * _weight(weights, EGG_FEW, turns)
    return max(0, value)


@kernel
def _power_value(s, who, bird, turns, weights):
    """What the power of a bird is worth when it is used once."""
    value = POWER_GIVES[bird, POINT] * _POINT
    for what in range(POINT):
        if POWER_GIVES[bird, what] != 0:
            value += POWER_GIVES[bird, what] * _price(s, who, what, turns, weights)
    return value // 10


@kernel
def _row_powers(s, who, habitat, turns, weights):
    """What the brown powers of a row give when its action is taken."""
    value = np.int64(0)
    for slot in range(NUM_SLOTS * habitat, NUM_SLOTS * habitat + s.row_size[who, habitat]):
        bird = s.birds[who, slot]
        if bird != state.NO_BIRD and BIRD_COLOUR[bird] == BROWN:
            value += max(0, _power_value(s, who, bird, turns, weights))
    return value * _weight(weights, ROW_USE, turns) // 100


# ---------------------------------------------------------------------------------------------------------------
# Birds


@kernel
def _goal_weight(s, k, turns, weights):
    """What one more thing is worth that the goal of round k counts."""
    return _weight(weights, GOAL_NOW if k == s.round_number else GOAL_LATER, turns)


@kernel
def _bird_goals(s, bird, habitat, turns, weights):
    """What a bird counts for the goals to come."""
    value = np.int64(0)
    for k in range(max(np.int64(0), np.int64(s.round_number)), NUM_ROUNDS):
        goal = s.goals[k]
        kind = GOAL_KIND[goal]
        if kind == TOTAL_BIRDS or (kind == BIRDS_IN_HABITAT and GOAL_HABITAT[goal] == habitat):
            value += _goal_weight(s, k, turns, weights)
        elif kind in (BIRDS_WITH_EGG_BY_NEST, EGGS_BY_NEST) and has_nest(bird, GOAL_NEST[goal]):
            value += _goal_weight(s, k, turns, weights) * _weight(weights, GOAL_NEST_BIRD, turns) // 100
    return value


@kernel
def _bird_worth(s, who, bird, habitat, turns, weights):
    """What it is worth to have a bird in a row, whatever it costs."""
    value = _POINT * np.int64(BIRD_POINTS[bird]) + BIRD_EGG_LIMIT[bird] * _weight(weights, ROOM, turns)
    gives = _power_value(s, who, bird, turns, weights)
    if BIRD_COLOUR[bird] == WHITE:
        value += max(0, gives)
    elif BIRD_COLOUR[bird] != 0:
        uses = _weight(weights, USES_0 + habitat if BIRD_COLOUR[bird] == BROWN else PINK_USES, turns)
        value += max(0, gives) * turns * uses // 100
    has = np.int64(s.row_size[who, habitat])
    value += turns * _weight(weights, ROW_UNIT if has & 1 else ROW_TRADE, turns)
    listed = np.int64(s.bonus_hands[who]) & np.int64(BIRD_BONUS[bird])
    while listed:
        value += _BONUS_SLOPE[lowest_card(listed)] * _weight(weights, BONUS, turns) // 100
        listed &= listed - 1
    return value + _bird_goals(s, bird, habitat, turns, weights)


@kernel
def _play_value(s, who, bird, habitat, turns, weights):
    """What it is worth to play a bird into a row: what it is worth there less the food and the eggs."""
    food = (np.int64(BIRD_WORTH[bird]) + 1) // 2 * _price(s, who, FOOD, turns, weights)
    eggs = np.int64(EGG_COST[min(np.int64(s.row_size[who, habitat]), NUM_SLOTS - 1)])
    cost = food * _weight(weights, PAID, turns) // 100 + eggs * _weight(weights, EGG_PRICE, turns)
    return _bird_worth(s, who, bird, habitat, turns, weights) - cost


@kernel
def _best_play(s, who, bird, habitats, turns, weights):
    """The value of the best play of a bird into some habitats with a free slot, or _WORST."""
    most = np.int64(_WORST)
    for habitat in range(NUM_HABITATS):
        if habitats & BIRD_HABITATS[bird] & 1 << habitat and s.row_size[who, habitat] < NUM_SLOTS:
            most = max(most, _play_value(s, who, bird, habitat, turns, weights))
    return most


@kernel
def _missing(s, who, bird):
    """How many tokens of the right food a bird is short of."""
    total, matched = np.int64(0), np.int64(0)
    for food in range(NUM_FOODS):
        have = _held(s, who, food)
        total += have
        matched += min(have, np.int64(BIRD_COST[bird, food]))
    return max(0, BIRD_WORTH[bird] - total - matched + 1) // 2


@kernel
def _card_worth(s, who, bird, turns, weights):
    """What a bird card is worth in hand, for comparison with others."""
    value = _best_play(s, who, bird, (1 << NUM_HABITATS) - 1, turns, weights)
    if value == _WORST:
        return np.int64(0)
    value -= _missing(s, who, bird) * _weight(weights, SHORT, turns) + _weight(weights, CARD_FLOOR, turns)
    return max(0, value) * _weight(weights, BIRD_SCALE, turns) // 100


@kernel
def _next_in_hand(s, who, bird):
    """The next bird in hand after `bird` (-1 for the first), or NO_BIRD."""
    start = bird + 1
    for w in range(start // state.WORD_BITS, state.NUM_WORDS):
        bits = np.int64(s.hands[who, w])
        if w == start // state.WORD_BITS:
            bits = bits >> start % state.WORD_BITS << start % state.WORD_BITS
        if bits:
            return w * state.WORD_BITS + lowest_card(bits)
    return np.int64(state.NO_BIRD)


@kernel
def _wanted_bird(s, who, turns, weights):
    """The bird in hand that is worth most, the food that it is short of counted, or NO_BIRD."""
    paying = s.stack[s.depth - 1, state.OP] == stack.PAY_COST
    wanted, most = np.int64(state.NO_BIRD), np.int64(0)
    bird, k = _next_in_hand(s, who, state.NO_BIRD), 0
    while bird != state.NO_BIRD:
        if not (paying and bird == s.payment) and not s.setup_dropped[who] >> k & 1:
            value = _best_play(s, who, bird, (1 << NUM_HABITATS) - 1, turns, weights)
            value -= _missing(s, who, bird) * _weight(weights, SHORT, turns)
            if value > most:
                wanted, most = bird, value
        bird = _next_in_hand(s, who, bird)
        k += 1
    return wanted


# ---------------------------------------------------------------------------------------------------------------
# Values of choices


@kernel
def _value(s, who, action, turns, wanted, weights):
    """The value of one legal action."""
    if action >= actions.PLAY_0:
        bird = (action - actions.PLAY_0) // NUM_HABITATS
        return _play_value(s, who, bird, (action - actions.PLAY_0) % NUM_HABITATS, turns, weights)
    if action >= actions.DISCARD_0:
        return _value_of_card(s, who, action, turns, weights)
    if action >= actions.KEEP_BONUS_0:
        return _bonus_worth(s, who, action - actions.KEEP_BONUS_0)
    if action >= actions.DRAFT_0:
        return _PICK + _card_worth(s, who, np.int64(s.draft[action - actions.DRAFT_0]), turns, weights)
    if action >= actions.MOVE_TO_0:
        return np.int64(_PICK if action == actions.GOES_FIRST_0 else -_PICK)
    if action >= actions.DRAW_TRAY_0:
        return _value_of_draw(s, who, action, turns, weights)
    if action >= actions.CHOOSE_BIRD_0:
        bird = np.int64(s.birds[who, action - actions.CHOOSE_BIRD_0])
        return _PICK + _power_value(s, who, bird, turns, weights)
    if action >= actions.LAY_EGG_0:
        return _value_of_egg(s, who, action, turns, weights)
    if action >= actions.TAKE_DIE_0:
        return _value_of_food(s, who, action, turns, wanted, weights)
    if action >= actions.TURN_0:
        return _value_of_turn(s, who, action - actions.TURN_0, turns, wanted, weights)
    return np.int64(0) if action == actions.STOP else _value_of_use(s, who, turns, wanted, weights)


@kernel
def _value_of_use(s, who, turns, wanted, weights):
    """The value of using a power, of taking a share, or of caching the food just gained."""
    top = s.stack[s.depth - 1]
    if top[state.OP] == stack.CACHE:
        return _POINT - _food_value(s, who, np.int64(top[state.ARG0]), turns, wanted, weights)
    if top[state.OP] == stack.ACCEPT:
        return np.int64(_PICK)
    return _PICK + _power_value(s, who, np.int64(s.birds[who, top[state.SLOT]]), turns, weights)


@kernel
def _food_value(s, who, food, turns, wanted, weights):
    """What one more token of a food is worth."""
    value = _price(s, who, FOOD, turns, weights)
    if wanted != state.NO_BIRD and _held(s, who, food) < BIRD_COST[wanted, food]:
        value += _weight(weights, WANTED, turns)
    bird = _next_in_hand(s, who, state.NO_BIRD)
    while bird != state.NO_BIRD:
        if _held(s, who, food) < BIRD_COST[bird, food]:
            value += 5
        bird = _next_in_hand(s, who, bird)
    return value


@kernel
def _kept_value(s, who, food, turns, wanted, weights):
    """What a token of a food is worth that could be paid."""
    value = _price(s, who, FOOD, turns, weights)
    if wanted != state.NO_BIRD and _held(s, who, food) <= BIRD_COST[wanted, food]:
        value += _weight(weights, WANTED, turns)
    return value - 2 * _held(s, who, food)


@kernel
def _value_of_food(s, who, action, turns, wanted, weights):
    """The value of taking a die, of rolling all dice, of paying or of gaining a token."""
    top = s.stack[s.depth - 1]
    if action >= actions.GAIN_FOOD_0:
        return _PICK + _food_value(s, who, action - actions.GAIN_FOOD_0, turns, wanted, weights)
    if action >= actions.PAY_FOOD_0:
        food = action - actions.PAY_FOOD_0
        value = -_kept_value(s, who, food, turns, wanted, weights)
        if top[state.OP] == stack.PAY_COST and s.paid[food] < BIRD_COST[s.payment, food]:
            value += _price(s, who, FOOD, turns, weights)  # one token less to pay
        if top[state.OP] == stack.GIVE_FOOD:
            value += _price(s, who, EGG if top[state.ARG1] & stack.PAYS_TRADE else FOOD, turns, weights)
        return value
    if action == actions.RESET_FEEDER:
        return _price(s, who, FOOD, turns, weights) + _weight(weights, RESET, turns)
    food = action - actions.TAKE_DIE_0
    if action >= actions.TAKE_DUAL_0:
        food = np.int64(INVERTEBRATE if action == actions.TAKE_DUAL_0 else SEED)
    return _PICK + _food_value(s, who, food, turns, wanted, weights)


@kernel
def _egg_goals(s, who, slot, has, turns, weights):
    """What an egg on the bird in a slot, which `has` some others, counts for goals and bonus cards."""
    bird, habitat = s.birds[who, slot], slot // NUM_SLOTS
    value = np.int64(0)
    for k in range(max(np.int64(0), np.int64(s.round_number)), NUM_ROUNDS):
        goal = s.goals[k]
        kind = GOAL_KIND[goal]
        counts = kind == EGGS_IN_HABITAT and GOAL_HABITAT[goal] == habitat
        if kind == EGGS_BY_NEST or (kind == BIRDS_WITH_EGG_BY_NEST and has == 0):
            counts = has_nest(bird, GOAL_NEST[goal])
        elif kind == EGG_SETS:
            own = eggs_in_row(s, who, habitat)
            counts = True
            for other in range(NUM_HABITATS):
                counts = counts and own <= eggs_in_row(s, who, other)
        if counts:
            value += _goal_weight(s, k, turns, weights)
    cards = np.int64(s.bonus_hands[who])
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        if BONUS_KIND[card] == BIRDS_WITH_EGGS and has < BONUS_MIN_EGGS[card]:
            value += _BONUS_SLOPE[card] * _weight(weights, BONUS, turns) // (100 * BONUS_MIN_EGGS[card])
    return value


@kernel
def _value_of_egg(s, who, action, turns, weights):
    """The value of laying an egg in a slot, or of discarding one from there for what that gives."""
    if action < actions.DISCARD_EGG_0:
        slot = action - actions.LAY_EGG_0
        has = np.int64(s.eggs[who, slot])
        room = np.int64(BIRD_EGG_LIMIT[s.birds[who, slot]]) - has
        value = _price(s, who, EGG, turns, weights) + _egg_goals(s, who, slot, has, turns, weights)
        return _PICK + value + room
    top = s.stack[s.depth - 1]
    slot = action - actions.DISCARD_EGG_0
    has = np.int64(s.eggs[who, slot])
    room = np.int64(BIRD_EGG_LIMIT[s.birds[who, slot]]) - has
    value = -_egg_goals(s, who, slot, has - 1, turns, weights) - room
    if top[state.OP] == stack.GIVE_EGGS and top[state.ARG1] & stack.PAYS_POWER:
        value += _power_value(s, who, np.int64(s.birds[who, top[state.SLOT]]), turns, weights)
    elif top[state.ARG1] & stack.PAYS_TRADE:
        value += _price(s, who, CARD, turns, weights) - _price(s, who, EGG, turns, weights)
    return value


@kernel
def _value_of_draw(s, who, action, turns, weights):
    """The value of a card from the tray or the deck."""
    if action == actions.DRAW_DECK:
        return _PICK + _price(s, who, CARD, turns, weights)
    return _PICK + _card_worth(s, who, np.int64(s.tray[action - actions.DRAW_TRAY_0]), turns, weights)


@kernel
def _value_of_card(s, who, action, turns, weights):
    """The value of discarding or tucking a card, for what that gives."""
    top = s.stack[s.depth - 1]
    if action >= actions.TUCK_0:
        worth = _card_worth(s, who, action - actions.TUCK_0, turns, weights)
        gives = _POINT + _price(s, who, CARD, turns, weights)
        if top[state.ARG1] & stack.PAYS_POWER:
            gives += _power_value(s, who, np.int64(s.birds[who, top[state.SLOT]]), turns, weights) - _POINT
        return gives - worth
    bird = action - actions.DISCARD_0
    worth = _card_worth(s, who, bird, turns, weights)
    if top[state.OP] == stack.SETUP_BIRDS:
        return _value_of_drop(s, who, bird, worth, turns, weights)
    return _price(s, who, FOOD, turns, weights) - worth


@kernel
def _value_of_drop(s, who, bird, worth, turns, weights):
    """The value of not keeping a bird in the setup: the lowest one that is not worth it comes first."""
    better = np.int64(0)
    other = _next_in_hand(s, who, state.NO_BIRD)
    while other != state.NO_BIRD:
        value = _card_worth(s, who, other, turns, weights)
        better += value > worth or (value == worth and other < bird)
        other = _next_in_hand(s, who, other)
    least = _weight(weights, SETUP_BASE, turns) + better * _weight(weights, SETUP_RANK, turns)
    return np.int64(-1) if worth >= least else np.int64(1000 - bird)


@kernel
def _bonus_worth(s, who, card):
    """What a bonus card is worth: how common its birds are, and how many of them lie there or are in hand."""
    count = np.int64(0)
    for slot in range(state.MAT_SLOTS):
        if s.birds[who, slot] != state.NO_BIRD:
            count += BIRD_BONUS[s.birds[who, slot]] >> card & 1
    k, bird = 0, _next_in_hand(s, who, state.NO_BIRD)
    while bird != state.NO_BIRD:
        if not s.setup_dropped[who] >> k & 1:
            count += BIRD_BONUS[bird] >> card & 1
        k += 1
        bird = _next_in_hand(s, who, bird)
    return _BONUS_SLOPE[card] * (count + _BONUS_SHARE[card] // 20)


@kernel
def _value_of_turn(s, who, k, turns, wanted, weights):
    """The value of one of the four actions."""
    if k == actions.PLAY_A_BIRD:
        return _weight(weights, PLAY_BASE, turns) + _best_payable(s, who, turns, weights)
    habitat = k - actions.GAIN_FOOD + FOREST
    birds = np.int64(s.row_size[who, habitat])
    value = _row_powers(s, who, habitat, turns, weights)
    food, card = _price(s, who, FOOD, turns, weights), _price(s, who, CARD, turns, weights)
    egg = _price(s, who, EGG, turns, weights)
    if k == actions.GAIN_FOOD:
        gained = np.int64(FOOD_GAINED[birds])
        value += gained * food + (max(0, food - card) if HAS_TRADE[birds] else 0)
        if wanted != state.NO_BIRD:
            missing = _missing(s, who, wanted)
            if missing > 0:
                value += min(missing, gained) * _weight(weights, WANTED, turns)
                if missing <= gained:
                    better = _best_play(s, who, wanted, (1 << NUM_HABITATS) - 1, turns, weights)
                    better -= max(0, _best_payable(s, who, turns, weights))
                    value += max(0, better) * _weight(weights, UNLOCK, turns) // 100
        return value
    if k == actions.LAY_EGGS:
        room, best = np.int64(0), np.int64(0)
        slots = has_room(s, who, ALL_SLOTS)
        while slots:
            slot = lowest_card(slots)
            slots &= slots - 1
            has = np.int64(s.eggs[who, slot])
            room += np.int64(BIRD_EGG_LIMIT[s.birds[who, slot]]) - has
            best = max(best, _egg_goals(s, who, slot, has, turns, weights))
        value += min(room, np.int64(EGGS_LAID[birds])) * (egg + best)
        return value + (max(0, egg - food) if HAS_TRADE[birds] and room > EGGS_LAID[birds] else 0)
    return value + CARDS_DRAWN[birds] * card + (max(0, card - egg) if HAS_TRADE[birds] else 0)


@kernel
def _best_payable(s, who, turns, weights):
    """The value of the best play that can be made now, or _WORST."""
    habitats = open_habitats(s, who)
    most = np.int64(_WORST)
    bird = _next_in_hand(s, who, state.NO_BIRD)
    while bird != state.NO_BIRD:
        if habitats & BIRD_HABITATS[bird] and _missing(s, who, bird) == 0:
            most = max(most, _best_play(s, who, bird, habitats, turns, weights))
        bird = _next_in_hand(s, who, bird)
    return most
