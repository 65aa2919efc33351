"""The powers of the birds (rules.md 10 to 12): what each handler begins with, does, and gives.

A power is a short program. It *begins* with one decision of stack.py, which the table `_BEGINS` makes from the params
of the handler: take dice, lay eggs, pay an egg, tuck a card, or just use it. Most powers need no more. Where using it
does something to the table, `use` says what; where a payment is rewarded, `reward`; where every player gets something,
`share`. All of them change the game through the effects of effects.py alone.

A bird with a handler that is there already is a row of birds.json. A new handler is an entry in cards.py for its params
and one here in `_BEGINS`, and a branch in the kernels that it needs.
"""

from collections.abc import Callable

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.cards import lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.wingspan import effects, stack, table
from cardenvs.games.wingspan.cards import (
    BIRD_COLOUR,
    BIRD_EGG_LIMIT,
    BIRD_HABITATS,
    BIRD_HANDLER,
    BIRD_NEST,
    BIRD_PARAMS,
    BIRD_PREDATOR,
    BROWN,
    FEWEST_GAIN_DIE,
    HANDLER_PARAMS,
    HANDLERS,
    LAY_ON_SELF,
    NESTS,
    NUM_BIRDS,
    NUM_DICE,
    NUM_FOODS,
    NUM_HABITATS,
    NUM_SLOTS,
    PINK,
    SAME_HABITAT,
    STAR,
    TUCK_DRAW_CARD,
    TUCK_LAY_EGG,
)
from cardenvs.games.wingspan.state import MAT_SLOTS, NO_BIRD

(
    NO_POWER,
    GAIN_FOOD_SUPPLY,
    ALL_PLAYERS_GAIN_FOOD_SUPPLY,
    GAIN_FOOD_FEEDER,
    GAIN_ALL_FOOD_FEEDER,
    EACH_PLAYER_GAINS_FEEDER_DIE,
    FEWEST_BIRDS_GAIN,
    CACHE_FOOD_SUPPLY,
    PREDATOR_DICE,
    PREDATOR_WINGSPAN,
    DRAW_CARDS,
    ALL_PLAYERS_DRAW_FROM_DECK,
    DRAW_AND_DRAFT,
    DRAW_BONUS_CARDS,
    LAY_EGGS,
    LAY_EGG_EACH_NEST,
    ALL_PLAYERS_LAY_EGG_NEST,
    TUCK_FROM_HAND,
    DISCARD_FOOD_TUCK_FROM_DECK,
    DISCARD_EGG_GAIN_FOOD,
    DISCARD_EGG_DRAW_CARDS,
    TRADE_FOOD,
    MOVE_IF_RIGHTMOST,
    PLAY_ADDITIONAL_BIRD,
    REPEAT_POWER,
    REACT_LAY_EGGS,
    REACT_PLAY_BIRD_GAIN_FOOD,
    REACT_PLAY_BIRD_TUCK,
    REACT_GAIN_FOOD_CACHE,
    REACT_PREDATOR_GAIN_DIE,
) = range(len(HANDLERS))

ALL_FOODS = (1 << NUM_FOODS) - 1
_ALL_HABITATS = (1 << NUM_HABITATS) - 1

# Which slots a power is about: the nests, as bits, and whether the bird itself is the only one or none of them.
_ANY_NEST = (1 << len(NESTS)) - 1
_SELF, _OTHERS = 1 << len(NESTS), 2 << len(NESTS)

# ---------------------------------------------------------------------------------------------------------------
# What a power begins with

NO_DECISION = -1  # of pink powers that just do something: reacting is the decision
_ASK = stack.OPTIONAL | stack.ANNOUNCE
_USE = (stack.USE_POWER, 0, 0, _ASK)
_Row = tuple[int, int, int, int]


def _of_nest(nest: int) -> int:
    """The nests that count as `nest`."""
    return 1 << nest | 1 << STAR


_BEGINS: dict[str, Callable[..., _Row]] = {
    "no_power": lambda: (NO_DECISION, 0, 0, 0),
    "gain_food_supply": lambda food, amount: _USE,
    "all_players_gain_food_supply": lambda food, amount: _USE,
    "gain_food_feeder": lambda foods, may_cache: (stack.TAKE_DICE, 1, foods, _ASK | stack.MAY_CACHE * may_cache),
    "gain_all_food_feeder": lambda food: (stack.TAKE_DICE, NUM_DICE, 1 << food, _ASK | stack.ALL_DICE),
    "each_player_gains_feeder_die": lambda: (stack.FIRST, 0, 0, _ASK),
    "fewest_birds_gain": lambda habitat, reward: (stack.FIRST, 0, 0, _ASK) if reward == FEWEST_GAIN_DIE else _USE,
    "cache_food_supply": lambda food, amount: _USE,
    "predator_dice": lambda food: _USE,
    "predator_wingspan": lambda under_cm: _USE,
    "draw_cards": lambda draw, discard_at_turn_end: (stack.DRAW, draw, discard_at_turn_end, _ASK),
    "all_players_draw_from_deck": lambda amount: _USE,
    "draw_and_draft": lambda extra: _USE,
    "draw_bonus_cards": lambda draw, keep: _USE,
    "lay_eggs": lambda target, amount: (stack.LAY, amount, _SELF if target == LAY_ON_SELF else _ANY_NEST, _ASK),
    "lay_egg_each_nest": lambda nest: (stack.LAY, MAT_SLOTS, _of_nest(nest), _ASK | stack.DISTINCT),
    "all_players_lay_egg_nest": lambda nest: _USE,
    "tuck_from_hand": lambda reward, foods: (stack.TUCK, 1, 0, _ASK | stack.PAYS_POWER),
    "discard_food_tuck_from_deck": lambda food, cost, tuck: _USE,
    "discard_egg_gain_food": lambda amount, exclude_self: _egg_payment(exclude_self),
    "discard_egg_draw_cards": lambda draw, exclude_self: _egg_payment(exclude_self),
    "trade_food": lambda: (stack.GIVE_FOOD, 1, 0, _ASK | stack.PAYS_POWER),
    "move_if_rightmost": lambda: (stack.MOVE, 0, 0, _ASK),
    "play_additional_bird": lambda habitat: (stack.PLAY, 0, 0 if habitat == SAME_HABITAT else 1 << habitat, _ASK),
    "repeat_power": lambda filter: (stack.REPEAT, 0, 0, _ASK),
    "react_lay_eggs": lambda nest: (stack.LAY, 1, _of_nest(nest) | _OTHERS, 0),
    "react_play_bird_gain_food": lambda habitat, food, amount: (NO_DECISION, 0, 0, 0),
    "react_play_bird_tuck": lambda habitat: (stack.TUCK, 1, 0, 0),
    "react_gain_food_cache": lambda food, amount: (NO_DECISION, 0, 0, 0),
    "react_predator_gain_die": lambda: (stack.TAKE_DICE, 1, ALL_FOODS, 0),
}


def _egg_payment(exclude_self: int) -> _Row:
    return stack.GIVE_EGGS, 1, _ANY_NEST | _OTHERS * exclude_self, _ASK | stack.PAYS_POWER


def _first_rows() -> np.ndarray:
    """OP, COUNT, ARG0, ARG1 of the decision with which each bird's power begins."""
    rows = []
    for bird in range(NUM_BIRDS):
        name = HANDLERS[BIRD_HANDLER[bird]]
        params = dict(zip(HANDLER_PARAMS[name], BIRD_PARAMS[bird].tolist(), strict=False))
        rows.append(_BEGINS[name](**params))
    return np.array(rows, np.int16)


_FIRST_ROWS = _first_rows()


@kernel
def begin_power(s, who, slot, log):
    """The power of the bird in a slot begins: its first decision goes on the stack."""
    bird = s.birds[who, slot]
    row = _FIRST_ROWS[bird]
    op, about = np.int64(row[0]), np.int64(row[2])
    if op == NO_DECISION:
        use(s, who, slot, log)
        return
    if op in (stack.LAY, stack.GIVE_EGGS):
        about = slots_of(s, who, slot, about)
    elif op == stack.MOVE:
        about = _open_rows(s, who, slot)
    elif op == stack.REPEAT:
        about = _repeatable(s, who, slot)
    elif op == stack.PLAY and about == 0:
        about = 1 << slot // NUM_SLOTS
    elif op == stack.FIRST:
        about = _seats_of(s, who, sharers(s, who, slot))
    stack.push(s, op, who, slot, row[1], about, row[3])


@kernel
def slots_of(s, who, slot, which):
    """The slots, as bits, with the nests of a power, the bird in `slot` being the only one, or none of them."""
    if which & _SELF:
        return np.int64(1) << slot
    slots = np.int64(0)
    for k in range(MAT_SLOTS):
        if s.birds[who, k] != NO_BIRD and which >> BIRD_NEST[s.birds[who, k]] & 1:
            slots |= 1 << k
    return slots & ~(1 << slot) if which & _OTHERS else slots


@kernel
def has_room(s, who, slots):
    """Those of some slots, as bits, whose birds have room for an egg."""
    open_slots = np.int64(0)
    for k in range(MAT_SLOTS):
        if slots >> k & 1 and s.birds[who, k] != NO_BIRD and s.eggs[who, k] < BIRD_EGG_LIMIT[s.birds[who, k]]:
            open_slots |= 1 << k
    return open_slots


@kernel
def _open_rows(s, who, slot):
    """The habitats, as bits, to which the bird in a slot may move: none unless it is rightmost in its row (11.22)."""
    own = slot // NUM_SLOTS
    if slot % NUM_SLOTS + 1 != s.row_size[who, own]:
        return np.int64(0)
    rows = np.int64(0)
    for habitat in range(NUM_HABITATS):
        if habitat != own and s.row_size[who, habitat] < NUM_SLOTS:
            rows |= 1 << habitat
    return rows & BIRD_HABITATS[s.birds[who, slot]]


@kernel
def _repeatable(s, who, slot):
    """The slots, as bits, of the powers that the bird in a slot may repeat (11.24)."""
    wants_predator = BIRD_PARAMS[s.birds[who, slot], 0] == 1
    first = slot // NUM_SLOTS * NUM_SLOTS
    slots = np.int64(0)
    for k in range(first, first + NUM_SLOTS):
        bird = s.birds[who, k]
        if k == slot or bird == NO_BIRD or BIRD_COLOUR[bird] != BROWN or BIRD_HANDLER[bird] == REPEAT_POWER:
            continue
        if not wants_predator or BIRD_PREDATOR[bird]:
            slots |= 1 << k
    return slots


@kernel
def sharers(s, who, slot):
    """The players, as bits, who get a share of the power in a slot: all, or those with the fewest birds (11.6)."""
    bird = s.birds[who, slot]
    players, fewest = np.int64(0), np.int64(NUM_SLOTS + 1)
    counts = BIRD_HANDLER[bird] == FEWEST_BIRDS_GAIN
    for p in range(s.rules.num_players):
        if not s.active[p]:
            continue
        number = np.int64(s.row_size[p, BIRD_PARAMS[bird, 0]]) if counts else np.int64(0)
        if number < fewest:
            fewest, players = number, np.int64(0)
        if number == fewest:
            players |= 1 << p
    return players


@kernel
def _seats_of(s, who, players):
    """A set of players as a set of seats, counted from `who`."""
    n = np.int64(s.rules.num_players)
    return (players >> who | players << n - who) & (1 << n) - 1


# ---------------------------------------------------------------------------------------------------------------
# Using a power


@kernel
def can_use(s, who, slot):
    """Whether using the power in a slot would do anything, for those that begin with USE_POWER. All see the answer."""
    bird = s.birds[who, slot]
    handler, params = BIRD_HANDLER[bird], BIRD_PARAMS[bird]
    if handler == PREDATOR_DICE:
        return effects.num_outside(s) > 0
    if handler == DISCARD_FOOD_TUCK_FROM_DECK:
        return s.food[who, params[0]] >= params[1] and effects.cards_left(s) > 0
    if handler in (PREDATOR_WINGSPAN, ALL_PLAYERS_DRAW_FROM_DECK, DRAW_AND_DRAFT):
        return effects.cards_left(s) > 0
    if handler == FEWEST_BIRDS_GAIN:
        return can_draw(s)
    if handler == DRAW_BONUS_CARDS:
        return num_bonuses_left(s) > 0
    if handler == ALL_PLAYERS_LAY_EGG_NEST:
        for p in range(s.rules.num_players):
            if s.active[p] and has_room(s, p, slots_of(s, p, slot, 1 << params[0] | 1 << STAR)) != 0:
                return True
        return False
    return True


@kernel
def can_draw(s):
    """Whether there is a card to draw, in the tray or the deck."""
    for k in range(s.tray.shape[0]):
        if s.tray[k] != NO_BIRD:
            return True
    return effects.cards_left(s) > 0


@kernel
def num_bonuses_left(s):
    """How many bonus cards nobody holds."""
    held = np.int64(0)
    for p in range(s.bonus_hands.shape[0]):
        held |= np.int64(s.bonus_hands[p])
    number = s.bonus_place.shape[0]
    while held:
        held &= held - 1
        number -= 1
    return number


@kernel
def use(s, who, slot, log):
    """Do what a power does that begins with USE_POWER, or with no decision at all."""
    bird = s.birds[who, slot]
    handler, params = BIRD_HANDLER[bird], BIRD_PARAMS[bird]
    if handler == GAIN_FOOD_SUPPLY:
        effects.gain_food(s, who, params[0], params[1], log)
    elif handler in (CACHE_FOOD_SUPPLY, REACT_GAIN_FOOD_CACHE):
        effects.cache_food(s, who, slot, params[1], log)
    elif handler in (PREDATOR_DICE, PREDATOR_WINGSPAN):
        _hunt(s, who, slot, log)
    elif handler == DISCARD_FOOD_TUCK_FROM_DECK:
        effects.pay_food(s, who, params[0], params[1], log)
        for _ in range(min(np.int64(params[2]), effects.cards_left(s))):
            effects.tuck_from_deck(s, who, slot, log)
    elif handler == DRAW_BONUS_CARDS:
        _offer_bonuses(s, who, slot, log)
    elif handler == REACT_PLAY_BIRD_GAIN_FOOD:
        effects.gain_food(s, who, params[1], params[2], log)
    else:
        if handler == DRAW_AND_DRAFT:
            _turn_up(s, who, slot, log)
        _share_out(s, who, slot, log)


@kernel
def _hunt(s, who, slot, log):
    """Hunt with dice or by wingspan (11.8, 11.9); a success opens a window of reactions (12.2)."""
    bird = s.birds[who, slot]
    param = BIRD_PARAMS[bird, 0]
    if BIRD_HANDLER[bird] == PREDATOR_DICE:
        effects.roll_outside(s, who, log)
        success = s.outside[param] > 0
        if success:
            effects.catch_food(s, who, slot, log)
    else:
        success = effects.hunt_in_deck(s, who, slot, param, log)
    ev.log_event(
        log,
        table.SUCCEEDS if success else table.FAILS,
        who,
        bird,
        ev.NO_PLACE,
        ev.NO_PLACE,
        0,
        ev.EVERYBODY,
        ev.EVERYBODY,
    )
    if success:
        stack.push(s, stack.WINDOW, who, slot, 1, stack.AFTER_HUNT, 0)


@kernel
def _offer_bonuses(s, who, slot, log):
    """Draw bonus cards, of which one is to be kept (11.13)."""
    s.bonus_offer = 0
    drawn = 0
    for _ in range(BIRD_PARAMS[s.birds[who, slot], 0]):
        card = effects.draw_bonus(s, who, log)
        if card >= 0:
            s.bonus_offer |= 1 << card
            drawn += 1
    if drawn > 1:
        stack.push(s, stack.KEEP_BONUS, who, slot, 0, 0, 0)
    else:
        s.bonus_offer = 0


@kernel
def _turn_up(s, who, slot, log):
    """Turn up one card for each player and one more, which is left for the owner (11.12)."""
    cards = np.int64(BIRD_PARAMS[s.birds[who, slot], 0])
    for p in range(s.rules.num_players):
        cards += s.active[p]
    effects.turn_up_draft(s, cards, log)
    stack.push(s, stack.END_DRAFT, who, slot, 0, 0, 0)


@kernel
def _share_out(s, who, slot, log):
    """Everybody who gets something gets it, clockwise from the owner."""
    stack.push(s, stack.EACH, who, slot, who, sharers(s, who, slot), 0)


@kernel
def share(s, owner, slot, player, log):
    """`player` gets a share of the power in a slot of `owner`; the others may refuse theirs (10.5)."""
    bird = s.birds[owner, slot]
    handler, params = BIRD_HANDLER[bird], BIRD_PARAMS[bird]
    if handler == EACH_PLAYER_GAINS_FEEDER_DIE or (handler == FEWEST_BIRDS_GAIN and params[1] == FEWEST_GAIN_DIE):
        stack.push(s, stack.TAKE_DICE, player, NO_BIRD, 1, ALL_FOODS, stack.OPTIONAL)
    elif handler == FEWEST_BIRDS_GAIN:
        stack.push(s, stack.DRAW, player, NO_BIRD, 1, 0, stack.OPTIONAL)
    elif handler == DRAW_AND_DRAFT:
        stack.push(s, stack.DRAFT, player, NO_BIRD, 0, 0, stack.OPTIONAL if player != owner else 0)
    elif handler == ALL_PLAYERS_LAY_EGG_NEST:
        slots = slots_of(s, player, slot, 1 << params[0] | 1 << STAR)
        stack.push(s, stack.LAY, player, NO_BIRD, 2 if player == owner else 1, slots, stack.OPTIONAL | stack.DISTINCT)
    elif player == owner:
        accept(s, owner, slot, player, log)
    else:
        stack.push(s, stack.ACCEPT, player, slot, 0, owner, stack.OPTIONAL)


@kernel
def accept(s, owner, slot, player, log):
    """`player` takes a share of a power that gives the same to everybody."""
    bird = s.birds[owner, slot]
    params = BIRD_PARAMS[bird]
    if BIRD_HANDLER[bird] == ALL_PLAYERS_GAIN_FOOD_SUPPLY:
        effects.gain_food(s, player, params[0], params[1], log)
        return
    for _ in range(min(np.int64(params[0]), effects.cards_left(s))):
        effects.draw_from_deck(s, player, log)


@kernel
def reward(s, who, slot):
    """What follows when the card or the egg that a power asks for has been given."""
    bird = s.birds[who, slot]
    handler, params = BIRD_HANDLER[bird], BIRD_PARAMS[bird]
    if handler == DISCARD_EGG_GAIN_FOOD:
        stack.push(s, stack.GET_FOOD, who, slot, params[0], ALL_FOODS, stack.OPTIONAL)
    elif handler == DISCARD_EGG_DRAW_CARDS:
        stack.push(s, stack.DRAW, who, slot, params[0], 0, stack.OPTIONAL)
    elif params[0] == TUCK_DRAW_CARD:
        stack.push(s, stack.DRAW, who, slot, 1, 0, stack.OPTIONAL)
    elif params[0] == TUCK_LAY_EGG:
        stack.push(s, stack.LAY, who, slot, 1, 1 << slot, stack.OPTIONAL)
    else:
        stack.push(s, stack.GET_FOOD, who, slot, 1, params[1], stack.OPTIONAL)


# ---------------------------------------------------------------------------------------------------------------
# Reactions


@kernel
def triggered(s, player, kind, param):
    """The slots, as bits, of the pink birds with which `player` can react now (12).

    Args:
        kind: AFTER_FOOD ... AFTER_HUNT.
        param: of AFTER_PLAY the habitat.
    """
    slots = np.int64(0)
    for habitat in range(NUM_HABITATS):
        for column in range(s.row_size[player, habitat]):
            slot = NUM_SLOTS * habitat + column
            if BIRD_COLOUR[s.birds[player, slot]] != PINK or s.pink_used[player] >> slot & 1:
                continue
            if _reacts(s, player, slot, kind, param):
                slots |= 1 << slot
    return slots


@kernel
def _reacts(s, player, slot, kind, param):
    """Whether the pink bird in a slot has its moment, and can do something."""
    bird = s.birds[player, slot]
    handler, first = BIRD_HANDLER[bird], np.int64(BIRD_PARAMS[bird, 0])
    if kind == stack.AFTER_FOOD:
        return handler == REACT_GAIN_FOOD_CACHE and s.dice_foods >> first & 1 == 1
    if kind == stack.AFTER_EGGS:
        if handler != REACT_LAY_EGGS:
            return False
        return has_room(s, player, slots_of(s, player, slot, 1 << first | 1 << STAR | _OTHERS)) != 0
    if kind == stack.AFTER_PLAY:
        if first != param:
            return False
        return handler == REACT_PLAY_BIRD_GAIN_FOOD or (handler == REACT_PLAY_BIRD_TUCK and s.hand_size[player] > 0)
    return handler == REACT_PREDATOR_GAIN_DIE


@kernel
def next_player(players, first, n):
    """The first of a set of players, clockwise from `first`."""
    later = players >> first << first
    return lowest_card(later if later else players)


@kernel
def after(player, n):
    """The player to the left of `player`."""
    return wrap(player + 1, n)
