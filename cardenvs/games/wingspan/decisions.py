"""What each choice does; legal.py says what can be chosen. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.wingspan import bird_cards, bonus_cards, cards, dice, mats, powers, rounds, stack, state, table
from cardenvs.games.wingspan.actions import DISCARD_0, GAIN_FOOD, PLAY_0, PLAY_A_BIRD, TUCK_0
from cardenvs.games.wingspan.events import plan, say
from cardenvs.games.wingspan.handlers import ALL_FOODS
from cardenvs.games.wingspan.hands import bird_in_hand
from cardenvs.games.wingspan.legal import ALL_SLOTS, RESET
from cardenvs.games.wingspan.payment import BIRD_WORTH
from cardenvs.kits.cards import lowest_card

# ---------------------------------------------------------------------------------------------------------------
# Choosing


@kernel
def stop(s, log):
    """Decline the decision on top of the stack, or take no more."""
    op, who, slot, _, _, flags = stack.top(s)
    if op == stack.SETUP_BIRDS:
        plan(log, table.PLAN_KEEP, who, ev.UNKNOWN, 0)
        end_setup_birds(s, who)
        return
    if flags & stack.ANNOUNCE:
        say(log, table.DECLINE, who, s.birds[who, slot])
    else:
        say(log, table.DECLINE, who, ev.UNKNOWN)
    stack.pop(s)


@kernel
def _announce(s, log):
    """Log that a power is used, once its first choice is made."""
    _, who, slot, _, _, flags = stack.top(s)
    if flags & stack.ANNOUNCE:
        s.stack[s.depth - 1, state.ARG1] = flags & ~stack.ANNOUNCE
        say(log, table.USE, who, s.birds[who, slot])


@kernel
def choose(s, k, log):
    """Make choice k of the decision on top of the stack, which is not about cards in hand."""
    _announce(s, log)
    op, who, _, _, _, _ = stack.top(s)
    if stack.TAKES_SEVERAL[op]:
        _choose_one_of_several(s, op, who, k, log)
    elif op == stack.REACT:
        s.stack[s.depth - 1, state.ARG0] &= ~(1 << k)
        s.pink_used[who] |= 1 << k
        say(log, table.REACT, who, s.birds[who, k])
        powers.begin_power(s, who, k, log)
    else:
        _choose_once(s, op, who, k, log)


@kernel
def _choose_one_of_several(s, op, who, k, log):
    """Take or pay one die, token, egg or card of several: count down, and narrow the next choice."""
    if op == stack.TAKE_DICE and k == RESET:
        dice.roll_feeder(s, log)
        return
    _, _, slot, number, about, flags = stack.top(s)
    left = number - 1
    if op == stack.PAY_COST and s.paid[k] < cards.BIRD_COST[s.payment, k]:
        left -= 1  # a matching token is worth 2
    if left > 0:
        s.stack[s.depth - 1, state.COUNT] = left
        s.stack[s.depth - 1, state.ARG0] = _narrowed(op, about, flags, k)
    else:
        stack.pop(s)
    if op == stack.TAKE_DICE:
        _take_die(s, who, slot, left, flags, k, log)
    elif op == stack.PAY_COST:
        s.paid[k] += 1
        mats.add_food(s, who, k, -1, table.PAY_FOOD, log)
    elif op == stack.SETUP_FOOD:
        s.setup_paid[who, k] += 1
        plan(log, table.PLAN_PAY, who, ev.UNKNOWN, k)
    elif op == stack.GET_FOOD:
        mats.add_food(s, who, k, 1, table.GAIN_FOOD, log)
    elif op == stack.LAY:
        mats.add_egg(s, who, k, 1, table.LAY_EGG, log)
    elif op == stack.DRAW:
        _draw(s, who, k, about, log)
    else:
        mats.add_egg(s, who, k, -1, table.LOSE_EGG, log)
        if left == 0 and flags & stack.PAYS_TRADE:
            stack.push(s, stack.DRAW, who, stack.NO_SLOT, 1, 0, 0)
        elif left == 0 and flags & stack.PAYS_POWER:
            powers.reward(s, who, slot)


@kernel
def _narrowed(op, about, flags, k):
    """Return ARG0 of a decision after choice k, if more can be chosen: payments continue from k upwards."""
    if op == stack.GIVE_EGGS:
        return about & ~((1 << k) - 1)
    if op == stack.LAY and flags & stack.DISTINCT:
        return about & ~((2 << k) - 1)
    if op in (stack.PAY_COST, stack.SETUP_FOOD):
        return k
    return 0 if op == stack.DRAW else about  # the first card drawn has brought the debt


@kernel
def _choose_once(s, op, who, k, log):
    """Make choice k of a decision that ends with it: an action, the use of a power, or one thing chosen."""
    _, _, slot, _, about, flags = stack.top(s)
    stack.pop(s)
    if op == stack.CHOOSE_TURN:
        _take_turn(s, who, k, log)
    elif op == stack.USE_POWER:
        powers.use(s, who, slot, log)
    elif op == stack.ACCEPT:
        powers.accept(s, about, slot, who, log)
    elif op == stack.CACHE:
        mats.add_food(s, who, about, -1, table.PAY_FOOD, log)
        mats.cache_food(s, who, slot, 1, table.CACHE_FOOD, log)
    elif op == stack.GIVE_FOOD:
        mats.add_food(s, who, k, -1, table.PAY_FOOD, log)
        if flags & stack.PAYS_TRADE:
            stack.push(s, stack.LAY, who, stack.NO_SLOT, 1, ALL_SLOTS, 0)
        else:
            stack.push(s, stack.GET_FOOD, who, slot, 1, ALL_FOODS & ~(1 << k), 0)
    elif op == stack.REPEAT:
        say(log, table.REPEAT, who, s.birds[who, k])
        stack.push(s, stack.POWER, who, k, 0, 0, 0)
    elif op == stack.MOVE:
        mats.move_bird(s, who, slot, k, log)
    elif op == stack.FIRST:
        n = np.int64(s.rules.num_players)
        player = wrap(who + k, n)
        ev.log_note(log, table.GOES_FIRST, player, 0)
        stack.push(s, stack.EACH, who, slot, player, powers.turned(about, n - who, n), 0)
    elif op == stack.DRAFT:
        bird_cards.take(s, who, s.draft, k, table.DRAFT, table.TAKE_DRAFT, log)
    else:
        _keep_bonus(s, who, k, log)


@kernel
def _take_die(s, who, slot, left, flags, k, log):
    """Take a die, offer to cache its token if the power allows it, and record its food (7, 11.3, 11.4, 11.28).

    Args:
        left: dice that may still be taken; at 0, the decision has been popped from the stack.
    """
    food = dice.food_of_choice(k)
    refilled = dice.take_die(s, who, min(k, cards.DUAL_FACE), food, log)
    if flags & stack.ALL_DICE and left > 0:
        if refilled:
            stack.pop(s)
        else:
            s.stack[s.depth - 1, state.ARG1] |= stack.HAS_BEGUN
    if flags & stack.IS_ACTION:
        s.dice_foods |= 1 << food
    if flags & stack.MAY_CACHE:
        stack.push(s, stack.CACHE, who, slot, 0, food, stack.OPTIONAL)


@kernel
def _draw(s, who, k, debt, log):
    """Draw a card from the tray or the deck; the first card may bring a debt (11.10)."""
    if k < cards.TRAY_SIZE:
        bird_cards.take(s, who, s.tray, k, table.TRAY, table.DRAW_TRAY, log)
    else:
        bird_cards.draw_from_deck(s, who, table.DRAW_DECK, log)
    if debt > 0:
        rounds.set_debt(s, who, s.debts[who] + debt, log)


@kernel
def _keep_bonus(s, who, card, log):
    """Keep one of the bonus cards on offer; in the setup, this takes effect later (2.3, 11.13)."""
    if s.round_number < 0:
        s.setup_bonus[who] = 0 if s.bonus_hands[who] & (1 << card) - 1 == 0 else 1
        plan(log, table.PLAN_BONUS, who, state.BONUS_TOKEN + card, 0)
        return
    others = np.int64(s.bonus_offer) & ~(1 << card)
    s.bonus_offer = 0
    while others:
        bonus_cards.drop_bonus(s, who, lowest_card(others), log)
        others &= others - 1


@kernel
def _take_turn(s, who, k, log):
    """Take an action: its gain, its trade, the reactions, the powers of the row, the end of the turn (4, 5).

    These go on the stack in reverse order.
    """
    ev.log_note(log, table.CHOOSE_PLAY + k, who, 0)
    rounds.set_turns(s, who, s.turns_left[who] - 1, log)
    stack.push(s, stack.END_TURN, who, stack.NO_SLOT, 0, 0, 0)
    if k == PLAY_A_BIRD:
        stack.push(s, stack.PLAY, who, stack.NO_SLOT, 0, (1 << cards.NUM_HABITATS) - 1, 0)
        return
    habitat = k - GAIN_FOOD + cards.FOREST
    birds = np.int64(s.row_size[who, habitat])
    stack.push(s, stack.ROW, who, stack.NO_SLOT, birds - 1, habitat, 0)
    if habitat != cards.WETLAND:
        stack.push(
            s, stack.WINDOW, who, stack.NO_SLOT, 1, stack.AFTER_FOOD if habitat == cards.FOREST else stack.AFTER_EGGS, 0
        )
    if cards.HAS_TRADE[birds]:
        if habitat == cards.FOREST:
            stack.push(s, stack.TRADE_CARD, who, stack.NO_SLOT, 0, 0, 0)
        elif habitat == cards.GRASSLAND:
            stack.push(s, stack.GIVE_FOOD, who, stack.NO_SLOT, 1, 0, stack.OPTIONAL | stack.PAYS_TRADE)
        else:
            stack.push(s, stack.GIVE_EGGS, who, stack.NO_SLOT, 1, ALL_SLOTS, stack.OPTIONAL | stack.PAYS_TRADE)
    if habitat == cards.FOREST:
        s.dice_foods = 0
        stack.push(s, stack.TAKE_DICE, who, stack.NO_SLOT, cards.FOOD_GAINED[birds], ALL_FOODS, stack.IS_ACTION)
    elif habitat == cards.GRASSLAND:
        stack.push(s, stack.LAY, who, stack.NO_SLOT, cards.EGGS_LAID[birds], ALL_SLOTS, 0)
    else:
        stack.push(s, stack.DRAW, who, stack.NO_SLOT, cards.CARDS_DRAWN[birds], 0, 0)


@kernel
def choose_card(s, action, log):
    """Make a choice about a card in hand, or about a dealt card in the setup."""
    _announce(s, log)
    op, who, slot, number, _, flags = stack.top(s)
    left = number - 1
    if op == stack.SETUP_BIRDS:
        _plan_drop(s, who, action - DISCARD_0, log)
        return
    if op == stack.PAY_DEBT and left > 0:
        s.stack[s.depth - 1, state.COUNT] = left
    else:
        stack.pop(s)
    if op == stack.PLAY:
        bird = (action - PLAY_0) // cards.NUM_HABITATS
        _play(s, who, bird, action - PLAY_0 - cards.NUM_HABITATS * bird, log)
    elif op == stack.TUCK:
        bird_cards.tuck_from_hand(s, who, slot, action - TUCK_0, log)
        if flags & stack.PAYS_POWER:
            powers.reward(s, who, slot)
    else:
        bird_cards.discard(s, who, action - DISCARD_0, log)
        if op == stack.TRADE_CARD:
            stack.push(s, stack.TAKE_DICE, who, stack.NO_SLOT, 1, ALL_FOODS, stack.IS_ACTION)
        else:
            rounds.set_debt(s, who, left, log)


@kernel
def _play(s, who, bird, habitat, log):
    """Begin to play a bird: the player pays eggs and food, then the bird is placed (4.2 to 4.4)."""
    mats.show_bird(s, who, bird, log)
    stack.push(s, stack.PLACE, who, stack.NO_SLOT, 0, bird, habitat)
    s.payment = bird
    for f in range(cards.NUM_FOODS):
        s.paid[f] = 0
    if BIRD_WORTH[bird] > 0:
        stack.push(s, stack.PAY_COST, who, stack.NO_SLOT, BIRD_WORTH[bird], 0, 0)
    eggs = cards.EGG_COST[s.row_size[who, habitat]]
    if eggs > 0:
        stack.push(s, stack.GIVE_EGGS, who, stack.NO_SLOT, eggs, ALL_SLOTS, 0)


# ---------------------------------------------------------------------------------------------------------------
# The setup


@kernel
def _plan_drop(s, who, bird, log):
    """Record that `who` will not keep a bird, but keeps the earlier ones not yet decided (2.3)."""
    k = 0
    while bird_in_hand(s, who, k) != bird:
        k += 1
    s.setup_dropped[who] |= 1 << k
    s.stack[s.depth - 1, state.ARG0] = k + 1
    plan(log, table.PLAN_DROP, who, bird, 0)
    if k + 1 == cards.BIRDS_DEALT:
        end_setup_birds(s, who)


@kernel
def end_setup_birds(s, who):
    """End the decisions of `who` about birds, and let them pay a food for each bird kept (2.3)."""
    stack.pop(s)
    kept = np.int64(0)
    for k in range(cards.BIRDS_DEALT):
        kept += 1 - (s.setup_dropped[who] >> k & 1)
    if kept > 0:
        stack.push(s, stack.SETUP_FOOD, who, stack.NO_SLOT, kept, 0, 0)
