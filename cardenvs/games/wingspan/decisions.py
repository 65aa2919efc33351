"""The decisions of Wingspan: what can be chosen in each, and what choosing does. Kinds of decisions: stack.py.

`choices` and `can_stop` say what the decision on top of the stack offers; `choose` and `choose_card` make the choice.
Paragraph numbers are those of rules.md.
"""

import numpy as np

from cardenvs.core.cards import lowest_card
from cardenvs.core.events import EVERYBODY, NO_PLACE, UNKNOWN, log_event, log_note
from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.wingspan.actions import (
    DISCARD_0,
    DRAW_CARDS,
    GAIN_FOOD,
    LAY_EGGS,
    PLAY_0,
    PLAY_A_BIRD,
    TUCK_0,
)
from cardenvs.games.wingspan.cards import (
    BIRD_COST,
    BIRD_HABITATS,
    BIRD_HANDLER,
    BIRDS_DEALT,
    CARDS_DRAWN,
    DUAL_FACE,
    EGG_COST,
    EGGS_LAID,
    FOOD_GAINED,
    FOREST,
    GRASSLAND,
    HAS_TRADE,
    INVERTEBRATE,
    NUM_FACES,
    NUM_FOODS,
    NUM_HABITATS,
    NUM_SLOTS,
    SEED,
    TRAY_SIZE,
    WETLAND,
)
from cardenvs.games.wingspan.effects import (
    cache_food,
    cards_left,
    discard,
    draw_from_deck,
    draw_from_tray,
    drop_bonus,
    food_of_choice,
    gain_food,
    lay_egg,
    lose_egg,
    move_bird,
    pay_food,
    roll_feeder,
    set_debt,
    set_turns,
    show_bird,
    take_die,
    take_from_draft,
    tuck_from_hand,
)
from cardenvs.games.wingspan.payment import BIRD_WORTH, can_pay, payable_foods
from cardenvs.games.wingspan.powers import (
    ALL_FOODS,
    DISCARD_EGG_DRAW_CARDS,
    accept,
    begin_power,
    can_draw,
    can_use,
    has_room,
    reward,
    sharers,
    triggered,
    use,
)
from cardenvs.games.wingspan.stack import (
    ACCEPT,
    AFTER_EGGS,
    AFTER_FOOD,
    ALL_DICE,
    ANNOUNCE,
    CACHE,
    CHOOSE_TURN,
    DISTINCT,
    DRAFT,
    DRAW,
    EACH,
    END_TURN,
    FIRST,
    GET_FOOD,
    GIVE_EGGS,
    GIVE_FOOD,
    HAS_BEGUN,
    IS_ACTION,
    KEEP_BONUS,
    LAY,
    MAY_CACHE,
    MOVE,
    NO_SLOT,
    OPTIONAL,
    PAY_COST,
    PAY_DEBT,
    PAYS_POWER,
    PAYS_TRADE,
    PLACE,
    PLAY,
    POWER,
    REACT,
    REPEAT,
    ROW,
    SETUP_BIRDS,
    SETUP_FOOD,
    TAKE_DICE,
    TRADE_CARD,
    TUCK,
    USE_POWER,
    WINDOW,
    pop,
    push,
)
from cardenvs.games.wingspan.state import (
    BONUS_TOKEN,
    DRAFT_SIZE,
    MAT_SLOTS,
    NO_BIRD,
    NUM_WORDS,
    OP,
    SLOT,
    TABLE,
    WHO,
    WORD_BITS,
    A,
    B,
    N,
)

_CHOOSE_PLAY = TABLE.kind["choose_play"]  # the other actions follow it
_USE, _REACT, _REPEAT, _DECLINE = (TABLE.kind[name] for name in ("use_power", "react", "repeat", "decline"))
_GOES_FIRST = TABLE.kind["goes_first"]
_PLAN_DROP, _PLAN_KEEP, _PLAN_PAY, _PLAN_BONUS = (
    TABLE.kind[name] for name in ("plan_drop", "plan_keep", "plan_pay", "plan_bonus")
)

ALL_SLOTS = (1 << MAT_SLOTS) - 1
_RESET = DUAL_FACE + 2  # the choice at the birdfeeder that rolls all dice

# ---------------------------------------------------------------------------------------------------------------
# What can be chosen


@kernel
def choices(s):
    """The choices of the decision on top of the stack, as bits; for decisions about cards in a hand nothing."""
    top = s.stack[s.depth - 1]
    op, who, number, about, flags = np.int64(top[OP]), np.int64(top[WHO]), np.int64(top[N]), np.int64(top[A]), top[B]
    if op == CHOOSE_TURN:
        others = 1 << GAIN_FOOD | 1 << LAY_EGGS | 1 << DRAW_CARDS
        return others | (1 << PLAY_A_BIRD if can_play(s, who) else 0)
    if op == USE_POWER:
        return np.int64(1 if can_use(s, who, top[SLOT]) else 0)
    if op == ACCEPT:
        return np.int64(1 if can_use(s, about, top[SLOT]) else 0)
    if op == CACHE:
        return np.int64(1)
    if op == TAKE_DICE:
        return _die_choices(s, about, flags)
    if op == PAY_COST:
        return payable_foods(s, who, s.payment, number, about)
    if op == LAY:
        return has_room(s, who, about)
    if op == GIVE_EGGS:
        return _egg_choices(s, top)
    if op == DRAW:
        return _draw_choices(s)
    if op == GIVE_FOOD:
        if flags & PAYS_TRADE and has_room(s, who, ALL_SLOTS) == 0:
            return np.int64(0)
        return _foods_of(s.food[who])
    if op == REACT:
        return triggered(s, who, number, top[SLOT]) & about
    if op == SETUP_FOOD:
        return _setup_foods(s, who, number, about)
    if op == DRAFT:
        return _draft_choices(s)
    if op == KEEP_BONUS:
        return np.int64(s.bonus_hands[who] if s.round_number < 0 else s.bonus_offer)
    return about  # GET_FOOD, REPEAT, MOVE, FIRST


@kernel
def can_stop(s):
    """Whether the decision on top of the stack may be declined, or stopped."""
    top = s.stack[s.depth - 1]
    return top[OP] in (TRADE_CARD, SETUP_BIRDS) or (top[B] & OPTIONAL) != 0


@kernel
def _die_choices(s, foods, flags):
    """The dice that give a wanted food, and a reset if all dice show the same face (7.1, 7.3)."""
    bits, faces = np.int64(0), 0
    for face in range(NUM_FACES):
        if s.feeder[face] > 0:
            bits |= 1 << face
            faces += 1
    dual = bits >> DUAL_FACE & 1
    bits &= foods
    if dual:
        bits |= (foods >> INVERTEBRATE & 1) << DUAL_FACE | (foods >> SEED & 1) << DUAL_FACE + 1
    if faces == 1 and not flags & HAS_BEGUN:
        bits |= 1 << _RESET
    return bits


@kernel
def _egg_choices(s, top):
    """The slots from which an egg can be paid, the rest of the payment coming from there or from later slots."""
    who, flags = np.int64(top[WHO]), top[B]
    draws = flags & PAYS_TRADE or (
        flags & PAYS_POWER and BIRD_HANDLER[s.birds[who, top[SLOT]]] == DISCARD_EGG_DRAW_CARDS
    )
    if draws and not can_draw(s):
        return np.int64(0)
    slots, eggs = np.int64(0), np.int64(0)
    for k in range(MAT_SLOTS - 1, -1, -1):
        if top[A] >> k & 1 and s.eggs[who, k] > 0:
            eggs += s.eggs[who, k]
            if eggs >= top[N]:
                slots |= 1 << k
    return slots


@kernel
def _draw_choices(s):
    bits = np.int64(0)
    for k in range(TRAY_SIZE):
        if s.tray[k] != NO_BIRD:
            bits |= 1 << k
    return bits | 1 << TRAY_SIZE if cards_left(s) > 0 else bits


@kernel
def _foods_of(food):
    bits = np.int64(0)
    for f in range(NUM_FOODS):
        if food[f] > 0:
            bits |= 1 << f
    return bits


@kernel
def _setup_foods(s, who, number, lowest):
    """The foods of which the next token can be given up, the others coming from there or from later foods (2.3)."""
    foods, left = np.int64(0), np.int64(0)
    for f in range(NUM_FOODS - 1, lowest - 1, -1):
        own = np.int64(s.food[who, f]) - s.setup_paid[who, f]
        left += own
        if own > 0 and left >= number:
            foods |= 1 << f
    return foods


@kernel
def _draft_choices(s):
    bits = np.int64(0)
    for k in range(DRAFT_SIZE):
        if s.draft[k] != NO_BIRD:
            bits |= 1 << k
    return bits


# ---------------------------------------------------------------------------------------------------------------
# Playing birds


@kernel
def open_habitats(s, who):
    """The habitats, as bits, in which `who` has a free slot and the eggs for it (4.1, 4.2)."""
    eggs = np.int64(0)
    for slot in range(MAT_SLOTS):
        eggs += s.eggs[who, slot]
    habitats = np.int64(0)
    for h in range(NUM_HABITATS):
        if s.row_size[who, h] < NUM_SLOTS and EGG_COST[s.row_size[who, h]] <= eggs:
            habitats |= 1 << h
    return habitats


@kernel
def can_play(s, who):
    """Whether `who` has a bird in hand that can be played (4)."""
    habitats = open_habitats(s, who)
    for w in range(NUM_WORDS):
        bits = s.hands[who, w]
        while bits:
            bird = w * WORD_BITS + lowest_card(bits)
            bits &= bits - 1
            if BIRD_HABITATS[bird] & habitats and can_pay(s, who, bird):
                return True
    return False


@kernel
def list_plays(s, who, habitats, out, n):
    """Write the plays of birds in hand into some habitats, ascending, to `out` from place n; returns the next place."""
    habitats &= open_habitats(s, who)
    for w in range(NUM_WORDS):
        bits = s.hands[who, w]
        while bits:
            bird = w * WORD_BITS + lowest_card(bits)
            bits &= bits - 1
            fits = BIRD_HABITATS[bird] & habitats
            if fits and can_pay(s, who, bird):
                for h in range(NUM_HABITATS):
                    if fits >> h & 1:
                        out[n] = PLAY_0 + NUM_HABITATS * bird + h
                        n += 1
    return n


@kernel
def list_hand(s, who, first_id, out, n):
    """Write first_id + bird for the birds in hand, ascending, to `out` from place n; returns the next place."""
    for w in range(NUM_WORDS):
        bits = s.hands[who, w]
        while bits:
            out[n] = first_id + w * WORD_BITS + lowest_card(bits)
            bits &= bits - 1
            n += 1
    return n


# ---------------------------------------------------------------------------------------------------------------
# Choosing


@kernel
def _say(log, kind, player, token):
    log_event(log, kind, player, token, NO_PLACE, NO_PLACE, 0, EVERYBODY, EVERYBODY)


@kernel
def stop(s, log):
    """Decline the decision on top of the stack, or take no more."""
    top = s.stack[s.depth - 1]
    who, slot = np.int64(top[WHO]), np.int64(top[SLOT])
    if top[OP] == SETUP_BIRDS:
        log_event(log, _PLAN_KEEP, who, UNKNOWN, NO_PLACE, NO_PLACE, 0, 1 << who, 1 << who)
        end_setup_birds(s, who)
        return
    if top[B] & ANNOUNCE:
        _say(log, _DECLINE, who, s.birds[who, slot])
    else:
        _say(log, _DECLINE, who, UNKNOWN)
    pop(s)


@kernel
def _announce(s, log):
    """Say that a power is used, with the first choice that it asks for."""
    top = s.stack[s.depth - 1]
    if top[B] & ANNOUNCE:
        top[B] &= ~ANNOUNCE
        _say(log, _USE, top[WHO], s.birds[top[WHO], top[SLOT]])


@kernel
def choose(s, k, log):
    """Make choice k of the decision on top of the stack, one that is not about a card in hand."""
    _announce(s, log)
    top = s.stack[s.depth - 1]
    op, who = np.int64(top[OP]), np.int64(top[WHO])
    if op in (TAKE_DICE, PAY_COST, SETUP_FOOD, GET_FOOD, LAY, GIVE_EGGS, DRAW):
        _choose_one_of_several(s, op, who, k, log)
    elif op == REACT:
        top[A] &= ~(1 << k)
        s.pink_used[who] |= 1 << k
        _say(log, _REACT, who, s.birds[who, k])
        begin_power(s, who, k, log)
    else:
        _choose_once(s, op, who, k, log)


@kernel
def _choose_one_of_several(s, op, who, k, log):
    """A die, a token, an egg, a card out of a number of them: count it down, and narrow what can be chosen next."""
    if op == TAKE_DICE and k == _RESET:
        roll_feeder(s, log)
        return
    top = s.stack[s.depth - 1]
    slot, about, flags = np.int64(top[SLOT]), np.int64(top[A]), np.int64(top[B])
    left = np.int64(top[N]) - 1
    if op == PAY_COST and s.paid[k] < BIRD_COST[s.payment, k]:
        left -= 1  # a matching token is worth 2
    if left > 0:
        top[N] = left
        top[A] = _narrowed(op, about, flags, k)
    else:
        pop(s)
    if op == TAKE_DICE:
        _take_die(s, who, slot, left, flags, k, log)
    elif op == PAY_COST:
        s.paid[k] += 1
        pay_food(s, who, k, 1, log)
    elif op == SETUP_FOOD:
        s.setup_paid[who, k] += 1
        log_event(log, _PLAN_PAY, who, UNKNOWN, NO_PLACE, NO_PLACE, k, 1 << who, 1 << who)
    elif op == GET_FOOD:
        gain_food(s, who, k, 1, log)
    elif op == LAY:
        lay_egg(s, who, k, log)
    elif op == DRAW:
        _draw(s, who, k, about, log)
    else:
        lose_egg(s, who, k, log)
        if left == 0 and flags & PAYS_TRADE:
            push(s, DRAW, who, NO_SLOT, 1, 0, 0)
        elif left == 0 and flags & PAYS_POWER:
            reward(s, who, slot)


@kernel
def _narrowed(op, about, flags, k):
    """What a decision is about after choice k, when more is to be chosen: payments go on from there, upwards."""
    if op == GIVE_EGGS:
        return about & ~((1 << k) - 1)
    if op == LAY and flags & DISTINCT:
        return about & ~((2 << k) - 1)
    if op in (PAY_COST, SETUP_FOOD):
        return k
    return 0 if op == DRAW else about  # the debt of drawn cards comes with the first one


@kernel
def _choose_once(s, op, who, k, log):
    """Take an action, use a power, or choose one thing of a kind: the decision is off the stack."""
    top = s.stack[s.depth - 1]
    slot, about, flags = np.int64(top[SLOT]), np.int64(top[A]), np.int64(top[B])
    pop(s)
    if op == CHOOSE_TURN:
        _take_turn(s, who, k, log)
    elif op == USE_POWER:
        use(s, who, slot, log)
    elif op == ACCEPT:
        accept(s, about, slot, who, log)
    elif op == CACHE:
        pay_food(s, who, about, 1, log)
        cache_food(s, who, slot, 1, log)
    elif op == GIVE_FOOD:
        pay_food(s, who, k, 1, log)
        if flags & PAYS_TRADE:
            push(s, LAY, who, NO_SLOT, 1, ALL_SLOTS, 0)
        else:
            push(s, GET_FOOD, who, slot, 1, ALL_FOODS & ~(1 << k), 0)
    elif op == REPEAT:
        _say(log, _REPEAT, who, s.birds[who, k])
        push(s, POWER, who, k, 0, 0, 0)
    elif op == MOVE:
        move_bird(s, who, slot, k, log)
    elif op == FIRST:
        player = wrap(who + k, np.int64(s.rules.num_players))
        log_note(log, _GOES_FIRST, player, 0)
        push(s, EACH, who, slot, player, sharers(s, who, slot), 0)
    elif op == DRAFT:
        take_from_draft(s, who, k, log)
    else:
        _keep_bonus(s, who, k, log)


@kernel
def _take_die(s, who, slot, left, flags, k, log):
    """Take a die, cache its token if the power offers that, and remember what the action gave (7, 11.3, 11.4, 11.28).

    Args:
        left: dice that may still be taken; with none, the decision is off the stack already.
    """
    food = food_of_choice(k)
    refilled = take_die(s, who, min(k, DUAL_FACE), food, log)
    if flags & ALL_DICE and left > 0:
        if refilled:
            pop(s)
        else:
            s.stack[s.depth - 1, B] |= HAS_BEGUN
    if flags & IS_ACTION:
        s.dice_foods |= 1 << food
    if flags & MAY_CACHE:
        push(s, CACHE, who, slot, 0, food, OPTIONAL)


@kernel
def _draw(s, who, k, debt, log):
    """Draw a card from the tray or the deck; the first one may bring a debt (11.10)."""
    if k < TRAY_SIZE:
        draw_from_tray(s, who, k, log)
    else:
        draw_from_deck(s, who, log)
    if debt > 0:
        set_debt(s, who, s.debts[who] + debt, log)


@kernel
def _keep_bonus(s, who, card, log):
    """Keep one of the bonus cards on offer; in the setup that takes effect later (2.3, 11.13)."""
    if s.round_number < 0:
        s.setup_bonus[who] = 0 if s.bonus_hands[who] & (1 << card) - 1 == 0 else 1
        log_event(log, _PLAN_BONUS, who, BONUS_TOKEN + card, NO_PLACE, NO_PLACE, 0, 1 << who, 1 << who)
        return
    others = np.int64(s.bonus_offer) & ~(1 << card)
    s.bonus_offer = 0
    while others:
        drop_bonus(s, who, lowest_card(others), log)
        others &= others - 1


@kernel
def _take_turn(s, who, k, log):
    """Take an action: what it gives, its trade, the reactions, the powers of the row, the end of the turn (4, 5).

    The stack is filled from the end.
    """
    log_note(log, _CHOOSE_PLAY + k, who, 0)
    set_turns(s, who, s.turns_left[who] - 1, log)
    push(s, END_TURN, who, NO_SLOT, 0, 0, 0)
    if k == PLAY_A_BIRD:
        push(s, PLAY, who, NO_SLOT, 0, (1 << NUM_HABITATS) - 1, 0)
        return
    habitat = k - GAIN_FOOD + FOREST
    birds = np.int64(s.row_size[who, habitat])
    push(s, ROW, who, NO_SLOT, birds - 1, habitat, 0)
    if habitat != WETLAND:
        push(s, WINDOW, who, NO_SLOT, 1, AFTER_FOOD if habitat == FOREST else AFTER_EGGS, 0)
    if HAS_TRADE[birds]:
        if habitat == FOREST:
            push(s, TRADE_CARD, who, NO_SLOT, 0, 0, 0)
        elif habitat == GRASSLAND:
            push(s, GIVE_FOOD, who, NO_SLOT, 1, 0, OPTIONAL | PAYS_TRADE)
        else:
            push(s, GIVE_EGGS, who, NO_SLOT, 1, ALL_SLOTS, OPTIONAL | PAYS_TRADE)
    if habitat == FOREST:
        s.dice_foods = 0
        push(s, TAKE_DICE, who, NO_SLOT, FOOD_GAINED[birds], ALL_FOODS, IS_ACTION)
    elif habitat == GRASSLAND:
        push(s, LAY, who, NO_SLOT, EGGS_LAID[birds], ALL_SLOTS, 0)
    else:
        push(s, DRAW, who, NO_SLOT, CARDS_DRAWN[birds], 0, 0)


@kernel
def choose_card(s, action, log):
    """Make a choice about a card in hand, or in the setup about one that was dealt."""
    _announce(s, log)
    top = s.stack[s.depth - 1]
    op, who, slot, flags = np.int64(top[OP]), np.int64(top[WHO]), np.int64(top[SLOT]), np.int64(top[B])
    number = np.int64(top[N]) - 1
    if op == SETUP_BIRDS:
        _plan_drop(s, who, action - DISCARD_0, log)
        return
    if op == PAY_DEBT and number > 0:
        top[N] = number
    else:
        pop(s)
    if op == PLAY:
        bird = (action - PLAY_0) // NUM_HABITATS
        _play(s, who, bird, action - PLAY_0 - NUM_HABITATS * bird, log)
    elif op == TUCK:
        tuck_from_hand(s, who, slot, action - TUCK_0, log)
        if flags & PAYS_POWER:
            reward(s, who, slot)
    else:
        discard(s, who, action - DISCARD_0, log)
        if op == TRADE_CARD:
            push(s, TAKE_DICE, who, NO_SLOT, 1, ALL_FOODS, IS_ACTION)
        else:
            set_debt(s, who, number, log)


@kernel
def _play(s, who, bird, habitat, log):
    """Begin to play a bird: its eggs, its food, then it is placed (4.2 to 4.4)."""
    show_bird(s, who, bird, log)
    push(s, PLACE, who, NO_SLOT, 0, bird, habitat)
    s.payment = bird
    for f in range(NUM_FOODS):
        s.paid[f] = 0
    if BIRD_WORTH[bird] > 0:
        push(s, PAY_COST, who, NO_SLOT, BIRD_WORTH[bird], 0, 0)
    eggs = EGG_COST[s.row_size[who, habitat]]
    if eggs > 0:
        push(s, GIVE_EGGS, who, NO_SLOT, eggs, ALL_SLOTS, 0)


# ---------------------------------------------------------------------------------------------------------------
# The setup


@kernel
def setup_bird(s, who, k):
    """The k-th of the birds dealt to `who`, ascending."""
    for w in range(NUM_WORDS):
        bits = s.hands[who, w]
        while bits:
            if k == 0:
                return w * WORD_BITS + lowest_card(bits)
            k -= 1
            bits &= bits - 1
    return np.int64(NO_BIRD)


@kernel
def _plan_drop(s, who, bird, log):
    """`who` will not keep a bird; earlier birds are decided by that (2.3)."""
    k = 0
    while setup_bird(s, who, k) != bird:
        k += 1
    s.setup_dropped[who] |= 1 << k
    s.stack[s.depth - 1, A] = k + 1
    log_event(log, _PLAN_DROP, who, bird, NO_PLACE, NO_PLACE, 0, 1 << who, 1 << who)
    if k + 1 == BIRDS_DEALT:
        end_setup_birds(s, who)


@kernel
def end_setup_birds(s, who):
    """`who` has decided about all birds, and pays a food for each of those kept (2.3)."""
    pop(s)
    kept = np.int64(0)
    for k in range(BIRDS_DEALT):
        kept += 1 - (s.setup_dropped[who] >> k & 1)
    if kept > 0:
        push(s, SETUP_FOOD, who, NO_SLOT, kept, 0, 0)
