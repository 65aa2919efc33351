"""What can be chosen in each decision. stack.py lists the decisions; paragraph numbers are those of rules.md.

`choices` returns the choices of most decisions as a bit set. For decisions about cards in hand, `list_plays` and
`list_hand` list them. `can_stop` says whether a decision can be declined.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import cards, powers, stack, state
from cardenvs.games.wingspan.actions import DRAW_CARDS, GAIN_FOOD, LAY_EGGS, PLAY_0, PLAY_A_BIRD
from cardenvs.games.wingspan.bird_cards import can_draw, cards_left
from cardenvs.games.wingspan.mats import has_room
from cardenvs.games.wingspan.payment import can_pay, payable_foods
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.listing import list_bits

ALL_SLOTS = (1 << state.MAT_SLOTS) - 1
RESET = cards.DUAL_FACE + 2  # the choice at the birdfeeder that rolls all dice

# ---------------------------------------------------------------------------------------------------------------
# What can be chosen


@kernel
def choices(s):
    """Return the bit set of choices of the decision on top of the stack, which is not about cards in hand."""
    op, who, slot, number, about, flags = stack.top(s)
    if op == stack.CHOOSE_TURN:
        others = 1 << GAIN_FOOD | 1 << LAY_EGGS | 1 << DRAW_CARDS
        return others | (1 << PLAY_A_BIRD if can_play(s, who) else 0)
    if op == stack.USE_POWER:
        return np.int64(1 if powers.can_use(s, who, slot) else 0)
    if op == stack.ACCEPT:
        return np.int64(1 if powers.can_use(s, about, slot) else 0)
    if op == stack.CACHE:
        return np.int64(1)
    if op == stack.TAKE_DICE:
        return _die_choices(s, about, flags)
    if op == stack.PAY_COST:
        return payable_foods(s, who, s.payment, number, about)
    if op == stack.LAY:
        return has_room(s, who, about)
    if op == stack.GIVE_EGGS:
        return _egg_choices(s)
    if op == stack.DRAW:
        return _laid_out(s.tray) | (1 << cards.TRAY_SIZE if cards_left(s) > 0 else 0)
    if op == stack.GIVE_FOOD:
        if flags & stack.PAYS_TRADE and has_room(s, who, ALL_SLOTS) == 0:
            return np.int64(0)
        return _foods_of(s.food[who])
    if op == stack.REACT:
        return powers.triggered(s, who, number, slot) & about
    if op == stack.SETUP_FOOD:
        return _setup_foods(s, who, number, about)
    if op == stack.DRAFT:
        return _laid_out(s.draft)
    if op == stack.KEEP_BONUS:
        return np.int64(s.bonus_hands[who] if s.round_number < 0 else s.bonus_offer)
    return about  # GET_FOOD, REPEAT, MOVE, FIRST


@kernel
def can_stop(s):
    """Return whether the decision on top of the stack may be declined or ended."""
    op, _, _, _, _, flags = stack.top(s)
    return op in (stack.TRADE_CARD, stack.SETUP_BIRDS) or (flags & stack.OPTIONAL) != 0


@kernel
def _die_choices(s, foods, flags):
    """Return the dice that give a wanted food, and the reset if all dice show the same face (7.1, 7.3)."""
    bits, faces = np.int64(0), 0
    for face in range(cards.NUM_FACES):
        if s.feeder[face] > 0:
            bits |= 1 << face
            faces += 1
    dual = bits >> cards.DUAL_FACE & 1
    bits &= foods
    if dual:
        bits |= (foods >> cards.INVERTEBRATE & 1) << cards.DUAL_FACE | (foods >> cards.SEED & 1) << cards.DUAL_FACE + 1
    if faces == 1 and not flags & stack.HAS_BEGUN:
        bits |= 1 << RESET
    return bits


@kernel
def _egg_choices(s):
    """Return the slots from which the next egg can be paid, if the others come from the same or later slots."""
    _, who, slot, number, allowed, flags = stack.top(s)
    draws = flags & stack.PAYS_TRADE or (flags & stack.PAYS_POWER and powers.draws_after_payment(s, who, slot))
    if draws and not can_draw(s):
        return np.int64(0)
    slots, eggs = np.int64(0), np.int64(0)
    for k in range(state.MAT_SLOTS - 1, -1, -1):
        if allowed >> k & 1 and s.eggs[who, k] > 0:
            eggs += s.eggs[who, k]
            if eggs >= number:
                slots |= 1 << k
    return slots


@kernel
def _laid_out(places):
    """Return the bit set of places, of the tray or a draft, where a card lies."""
    bits = np.int64(0)
    for k in range(places.shape[0]):
        if places[k] != state.NO_BIRD:
            bits |= 1 << k
    return bits


@kernel
def _foods_of(food):
    bits = np.int64(0)
    for f in range(cards.NUM_FOODS):
        if food[f] > 0:
            bits |= 1 << f
    return bits


@kernel
def _setup_foods(s, who, number, lowest):
    """Return the foods that can be paid next, if the other tokens are of the same or later foods (2.3)."""
    foods, left = np.int64(0), np.int64(0)
    for f in range(cards.NUM_FOODS - 1, lowest - 1, -1):
        own = np.int64(s.food[who, f]) - s.setup_paid[who, f]
        left += own
        if own > 0 and left >= number:
            foods |= 1 << f
    return foods


# ---------------------------------------------------------------------------------------------------------------
# Playing birds


@kernel
def open_habitats(s, who):
    """Return the bit set of habitats in which `who` has a free slot and the eggs for it (4.1, 4.2)."""
    eggs = np.int64(0)
    for slot in range(state.MAT_SLOTS):
        eggs += s.eggs[who, slot]
    habitats = np.int64(0)
    for h in range(cards.NUM_HABITATS):
        if s.row_size[who, h] < cards.NUM_SLOTS and cards.EGG_COST[s.row_size[who, h]] <= eggs:
            habitats |= 1 << h
    return habitats


@kernel
def can_play(s, who):
    """Return whether `who` has a bird in hand that can be played (4)."""
    habitats = open_habitats(s, who)
    for w in range(state.NUM_WORDS):
        bits = s.hands[who, w]
        while bits:
            bird = w * state.WORD_BITS + lowest_card(bits)
            bits &= bits - 1
            if cards.BIRD_HABITATS[bird] & habitats and can_pay(s, who, bird):
                return True
    return False


@kernel
def list_plays(s, who, habitats, out, n):
    """Write the ids of plays into some habitats to `out` from index n, ascending; returns the next index."""
    habitats &= open_habitats(s, who)
    for w in range(state.NUM_WORDS):
        bits = s.hands[who, w]
        while bits:
            bird = w * state.WORD_BITS + lowest_card(bits)
            bits &= bits - 1
            fits = cards.BIRD_HABITATS[bird] & habitats
            if fits and can_pay(s, who, bird):
                for h in range(cards.NUM_HABITATS):
                    if fits >> h & 1:
                        out[n] = PLAY_0 + cards.NUM_HABITATS * bird + h
                        n += 1
    return n


@kernel
def list_hand(s, who, first_id, out, n):
    """Write first_id + bird for each bird in hand to `out` from index n, ascending; returns the next index."""
    for w in range(state.NUM_WORDS):
        n = list_bits(s.hands[who, w], first_id + w * state.WORD_BITS, out, n)
    return n
