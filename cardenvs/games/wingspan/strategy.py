"""Two policies: `greedy` takes immediate gains, `planner` builds an engine and uses it.

Both evaluate each choice in hundredths of a point and make the most valuable one, the first of equal ones. They use the
same features with different weights; those of `greedy` for later gains are 0. Each weight is a pair, its value at the
first turn and at the last, interpolated linearly. The weights of `planner` were found by hill climbing on duplicate
deals against its earlier versions.

A power is reduced to its gains in tenths of food tokens, cards, eggs and points (`POWER_GIVES`). The value of a bird is
its points, the expected gains from its power in the turns left, room for eggs, its value for bonus cards and goals, and
what it adds to its row, minus its cost. The policies use only what their player may know: their own hand and bonus
cards, and public information.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import actions, cards, stack, state, worth
from cardenvs.games.wingspan import weights as w
from cardenvs.games.wingspan.hands import next_in_hand
from cardenvs.games.wingspan.legal import ALL_SLOTS, open_habitats
from cardenvs.games.wingspan.mats import has_room
from cardenvs.games.wingspan.scoring import eggs_in_row, has_nest
from cardenvs.kits.cards import lowest_card

_PICK = 10  # value of a free choice without any gain that the features count


@kernel
def greedy(s, legal, n, rng):
    """Take the most points and resources available at once.

    Args:
        s: one record, not terminal.
        legal: int32 array whose first `n` entries are the legal actions.
        n: int.
        rng: not used; the policy is deterministic.

    Returns:
        One of the legal actions.
    """
    return best_action(s, legal, n, w.GREEDY)


@kernel
def planner(s, legal, n, rng):
    """Play for the end of the game: build an engine first, then take points, eggs and goals.

    Arguments and result are those of `greedy`.
    """
    return best_action(s, legal, n, w.PLANNER)


@kernel
def best_action(s, legal, n, weights):
    """Return the first legal action with the highest value under `weights`, int64 (NUM_WEIGHTS, 2)."""
    if n == 1:
        return np.int64(legal[0])
    who = np.int64(s.current_player)
    turns = worth.turns_to_come(s, who)
    wanted = worth.wanted_bird(s, who, turns, weights)
    best, most = np.int64(legal[0]), np.int64(worth.WORST)
    for k in range(n):
        action = np.int64(legal[k])
        value = value_of(s, who, action, turns, wanted, weights)
        if value > most:
            best, most = action, value
    return best


# ---------------------------------------------------------------------------------------------------------------
# Values of choices


@kernel
def value_of(s, who, action, turns, wanted, weights):
    """Return the value of a legal action."""
    if action >= actions.PLAY_0:
        bird = (action - actions.PLAY_0) // cards.NUM_HABITATS
        return worth.play_value(s, who, bird, (action - actions.PLAY_0) % cards.NUM_HABITATS, turns, weights)
    if action >= actions.DISCARD_0:
        return _value_of_card(s, who, action, turns, weights)
    if action >= actions.KEEP_BONUS_0:
        return _bonus_worth(s, who, action - actions.KEEP_BONUS_0)
    if action >= actions.DRAFT_0:
        return _PICK + worth.card_worth(s, who, np.int64(s.draft[action - actions.DRAFT_0]), turns, weights)
    if action >= actions.MOVE_TO_0:
        return np.int64(_PICK if action == actions.GOES_FIRST_0 else -_PICK)
    if action >= actions.DRAW_TRAY_0:
        return _value_of_draw(s, who, action, turns, weights)
    if action >= actions.CHOOSE_BIRD_0:
        bird = np.int64(s.birds[who, action - actions.CHOOSE_BIRD_0])
        return _PICK + worth.power_value(s, who, bird, turns, weights)
    if action >= actions.LAY_EGG_0:
        return _value_of_egg(s, who, action, turns, weights)
    if action >= actions.TAKE_DIE_0:
        return _value_of_food(s, who, action, turns, wanted, weights)
    if action >= actions.TURN_0:
        return _value_of_turn(s, who, action - actions.TURN_0, turns, wanted, weights)
    return np.int64(0) if action == actions.STOP else _value_of_use(s, who, turns, wanted, weights)


@kernel
def _value_of_use(s, who, turns, wanted, weights):
    """Return the value of using a power, taking a share, or caching the food just gained."""
    top = s.stack[s.depth - 1]
    if top[state.OP] == stack.CACHE:
        return worth.ONE_POINT - _food_value(s, who, np.int64(top[state.ARG0]), turns, wanted, weights)
    if top[state.OP] == stack.ACCEPT:
        return np.int64(_PICK)
    return _PICK + worth.power_value(s, who, np.int64(s.birds[who, top[state.SLOT]]), turns, weights)


@kernel
def _food_value(s, who, food, turns, wanted, weights):
    """Return the value of one more token of a food."""
    value = worth.price(s, who, worth.FOOD, turns, weights)
    if wanted != state.NO_BIRD and worth.held(s, who, food) < cards.BIRD_COST[wanted, food]:
        value += w.weight(weights, w.WANTED, turns)
    bird = next_in_hand(s, who, state.NO_BIRD)
    while bird != state.NO_BIRD:
        if worth.held(s, who, food) < cards.BIRD_COST[bird, food]:
            value += 5
        bird = next_in_hand(s, who, bird)
    return value


@kernel
def _kept_value(s, who, food, turns, wanted, weights):
    """Return the value of keeping a token of a food instead of paying it."""
    value = worth.price(s, who, worth.FOOD, turns, weights)
    if wanted != state.NO_BIRD and worth.held(s, who, food) <= cards.BIRD_COST[wanted, food]:
        value += w.weight(weights, w.WANTED, turns)
    return value - 2 * worth.held(s, who, food)


@kernel
def _value_of_food(s, who, action, turns, wanted, weights):
    """Return the value of taking a die, rolling all dice, or paying or gaining a token."""
    top = s.stack[s.depth - 1]
    if action >= actions.GAIN_FOOD_0:
        return _PICK + _food_value(s, who, action - actions.GAIN_FOOD_0, turns, wanted, weights)
    if action >= actions.PAY_FOOD_0:
        food = action - actions.PAY_FOOD_0
        value = -_kept_value(s, who, food, turns, wanted, weights)
        if top[state.OP] == stack.PAY_COST and s.paid[food] < cards.BIRD_COST[s.payment, food]:
            value += worth.price(s, who, worth.FOOD, turns, weights)  # one token less to pay
        if top[state.OP] == stack.GIVE_FOOD:
            value += worth.price(
                s, who, worth.EGG if top[state.ARG1] & stack.PAYS_TRADE else worth.FOOD, turns, weights
            )
        return value
    if action == actions.RESET_FEEDER:
        return worth.price(s, who, worth.FOOD, turns, weights) + w.weight(weights, w.RESET, turns)
    food = action - actions.TAKE_DIE_0
    if action >= actions.TAKE_DUAL_0:
        food = np.int64(cards.INVERTEBRATE if action == actions.TAKE_DUAL_0 else cards.SEED)
    return _PICK + _food_value(s, who, food, turns, wanted, weights)


@kernel
def _egg_goals(s, who, slot, has, turns, weights):
    """Return the value for goals and bonus cards of one more egg on the bird in a slot, which `has` some already."""
    bird, habitat = s.birds[who, slot], slot // cards.NUM_SLOTS
    value = np.int64(0)
    for k in range(max(np.int64(0), np.int64(s.round_number)), cards.NUM_ROUNDS):
        goal = s.goals[k]
        kind = cards.GOAL_KIND[goal]
        counts = kind == cards.EGGS_IN_HABITAT and cards.GOAL_HABITAT[goal] == habitat
        if kind == cards.EGGS_BY_NEST or (kind == cards.BIRDS_WITH_EGG_BY_NEST and has == 0):
            counts = has_nest(bird, cards.GOAL_NEST[goal])
        elif kind == cards.EGG_SETS:
            own = eggs_in_row(s, who, habitat)
            counts = True
            for other in range(cards.NUM_HABITATS):
                counts = counts and own <= eggs_in_row(s, who, other)
        if counts:
            value += worth.goal_weight(s, k, turns, weights)
    bonuses = np.int64(s.bonus_hands[who])
    while bonuses:
        card = lowest_card(bonuses)
        bonuses &= bonuses - 1
        if cards.BONUS_KIND[card] == cards.BIRDS_WITH_EGGS and has < cards.BONUS_MIN_EGGS[card]:
            value += worth.BONUS_SLOPE[card] * w.weight(weights, w.BONUS, turns) // (100 * cards.BONUS_MIN_EGGS[card])
    return value


@kernel
def _value_of_egg(s, who, action, turns, weights):
    """Return the value of laying an egg in a slot, or of discarding one from it for what that pays for."""
    if action < actions.DISCARD_EGG_0:
        slot = action - actions.LAY_EGG_0
        has = np.int64(s.eggs[who, slot])
        room = np.int64(cards.BIRD_EGG_LIMIT[s.birds[who, slot]]) - has
        value = worth.price(s, who, worth.EGG, turns, weights) + _egg_goals(s, who, slot, has, turns, weights)
        return _PICK + value + room
    top = s.stack[s.depth - 1]
    slot = action - actions.DISCARD_EGG_0
    has = np.int64(s.eggs[who, slot])
    room = np.int64(cards.BIRD_EGG_LIMIT[s.birds[who, slot]]) - has
    value = -_egg_goals(s, who, slot, has - 1, turns, weights) - room
    if top[state.OP] == stack.GIVE_EGGS and top[state.ARG1] & stack.PAYS_POWER:
        value += worth.power_value(s, who, np.int64(s.birds[who, top[state.SLOT]]), turns, weights)
    elif top[state.ARG1] & stack.PAYS_TRADE:
        value += worth.price(s, who, worth.CARD, turns, weights) - worth.price(s, who, worth.EGG, turns, weights)
    return value


@kernel
def _value_of_draw(s, who, action, turns, weights):
    """Return the value of drawing a card from the tray or the deck."""
    if action == actions.DRAW_DECK:
        return _PICK + worth.price(s, who, worth.CARD, turns, weights)
    return _PICK + worth.card_worth(s, who, np.int64(s.tray[action - actions.DRAW_TRAY_0]), turns, weights)


@kernel
def _value_of_card(s, who, action, turns, weights):
    """Return the value of discarding or tucking a card for what that pays for."""
    top = s.stack[s.depth - 1]
    if action >= actions.TUCK_0:
        kept = worth.card_worth(s, who, action - actions.TUCK_0, turns, weights)
        gives = worth.ONE_POINT + worth.price(s, who, worth.CARD, turns, weights)
        if top[state.ARG1] & stack.PAYS_POWER:
            gives += (
                worth.power_value(s, who, np.int64(s.birds[who, top[state.SLOT]]), turns, weights) - worth.ONE_POINT
            )
        return gives - kept
    bird = action - actions.DISCARD_0
    kept = worth.card_worth(s, who, bird, turns, weights)
    if top[state.OP] == stack.SETUP_BIRDS:
        return _value_of_drop(s, who, bird, kept, turns, weights)
    return worth.price(s, who, worth.FOOD, turns, weights) - kept


@kernel
def _value_of_drop(s, who, bird, kept, turns, weights):
    """Return the value of discarding a bird in the setup: positive if it is not worth keeping, higher for lower ids."""
    better = np.int64(0)
    other = next_in_hand(s, who, state.NO_BIRD)
    while other != state.NO_BIRD:
        value = worth.card_worth(s, who, other, turns, weights)
        better += value > kept or (value == kept and other < bird)
        other = next_in_hand(s, who, other)
    least = w.weight(weights, w.SETUP_BASE, turns) + better * w.weight(weights, w.SETUP_RANK, turns)
    return np.int64(-1) if kept >= least else np.int64(1000 - bird)


@kernel
def _bonus_worth(s, who, card):
    """Return the value of a bonus card: how common its birds are, and how many the player has played or holds."""
    count = np.int64(0)
    for slot in range(state.MAT_SLOTS):
        if s.birds[who, slot] != state.NO_BIRD:
            count += cards.BIRD_BONUS[s.birds[who, slot]] >> card & 1
    k, bird = 0, next_in_hand(s, who, state.NO_BIRD)
    while bird != state.NO_BIRD:
        if not s.setup_dropped[who] >> k & 1:
            count += cards.BIRD_BONUS[bird] >> card & 1
        k += 1
        bird = next_in_hand(s, who, bird)
    return worth.BONUS_SLOPE[card] * (count + worth.BONUS_SHARE[card] // 20)


@kernel
def _value_of_turn(s, who, k, turns, wanted, weights):
    """Return the value of one of the four actions."""
    if k == actions.PLAY_A_BIRD:
        return w.weight(weights, w.PLAY_BASE, turns) + _best_payable(s, who, turns, weights)
    habitat = k - actions.GAIN_FOOD + cards.FOREST
    birds = np.int64(s.row_size[who, habitat])
    value = worth.row_powers(s, who, habitat, turns, weights)
    food, card = worth.price(s, who, worth.FOOD, turns, weights), worth.price(s, who, worth.CARD, turns, weights)
    egg = worth.price(s, who, worth.EGG, turns, weights)
    if k == actions.GAIN_FOOD:
        gained = np.int64(cards.FOOD_GAINED[birds])
        value += gained * food + (max(0, food - card) if cards.HAS_TRADE[birds] else 0)
        if wanted != state.NO_BIRD:
            missing = worth.food_missing(s, who, wanted)
            if missing > 0:
                value += min(missing, gained) * w.weight(weights, w.WANTED, turns)
                if missing <= gained:
                    better = worth.best_play(s, who, wanted, (1 << cards.NUM_HABITATS) - 1, turns, weights)
                    better -= max(0, _best_payable(s, who, turns, weights))
                    value += max(0, better) * w.weight(weights, w.UNLOCK, turns) // 100
        return value
    if k == actions.LAY_EGGS:
        room, best = np.int64(0), np.int64(0)
        slots = has_room(s, who, ALL_SLOTS)
        while slots:
            slot = lowest_card(slots)
            slots &= slots - 1
            has = np.int64(s.eggs[who, slot])
            room += np.int64(cards.BIRD_EGG_LIMIT[s.birds[who, slot]]) - has
            best = max(best, _egg_goals(s, who, slot, has, turns, weights))
        value += min(room, np.int64(cards.EGGS_LAID[birds])) * (egg + best)
        return value + (max(0, egg - food) if cards.HAS_TRADE[birds] and room > cards.EGGS_LAID[birds] else 0)
    return value + cards.CARDS_DRAWN[birds] * card + (max(0, card - egg) if cards.HAS_TRADE[birds] else 0)


@kernel
def _best_payable(s, who, turns, weights):
    """Return the value of the best play that can be made now, or WORST."""
    habitats = open_habitats(s, who)
    most = np.int64(worth.WORST)
    bird = next_in_hand(s, who, state.NO_BIRD)
    while bird != state.NO_BIRD:
        if habitats & cards.BIRD_HABITATS[bird] and worth.food_missing(s, who, bird) == 0:
            most = max(most, worth.best_play(s, who, bird, habitats, turns, weights))
        bird = next_in_hand(s, who, bird)
    return most
