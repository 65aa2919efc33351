"""The powers of birds (rules.md 11): each has one entry in POWERS, right below the kernels that only it needs.

A power begins with a decision of stack.py: take dice, lay eggs, pay an egg, tuck a card, or just use it. Most powers
need nothing else; others ask for a second decision, give each player a share, or have kernels. For example, the pink
"when another player lays eggs, lay an egg on a bird with a cup nest" begins with LAY at the moment AFTER_EGGS, and its
kernel `can_use` says that there must be room for an egg.

Kernels change the table only through the effects in mats.py, dice.py, bird_cards.py and bonus_cards.py. They are called
with the params of the bird in `slot`, a row of BIRD_PARAMS. powers.py calls them. Ids of handlers are in the order of
the entries, which is part of the layout of observations.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.text import count
from cardenvs.games.wingspan import bird_cards, bonus_cards, cards, dice, mats, stack, table
from cardenvs.games.wingspan.cards import FOOD, HABITAT, MANY, Encode, flag, food_mask, one_of, real_nest, whole
from cardenvs.games.wingspan.events import say
from cardenvs.games.wingspan.state import MAT_SLOTS

Row = tuple[int, int, int, int]  # OP, COUNT, ARG0, ARG1 of a decision (stack.py)
ALL_FOODS = (1 << cards.NUM_FOODS) - 1
# ARG0 of LAY and GIVE_EGGS: a bit set of nests, or SELF for the bird's own slot; OTHERS leaves out the bird's own slot.
ANY_NEST = (1 << len(cards.NESTS)) - 1
SELF, OTHERS = 1 << len(cards.NESTS), 2 << len(cards.NESTS)
EVERYBODY = -1  # ARG0 of FIRST, instead of the habitat in which players need the fewest birds

ASK = stack.OPTIONAL | stack.ANNOUNCE
USE: Row = (stack.USE_POWER, 0, 0, ASK)
NEVER, NO_DECISION = -1, -1
NOTHING: Row = (NO_DECISION, 0, 0, 0)


@dataclass(frozen=True)
class Power:
    """A power handler. All but the params and kernels are values, or functions of the params by name.

    Attributes:
        params: names of the params, with functions that check them and convert them to numbers.
        words: the sentence on the card, without the moment; from the params as in birds.json.
        gives: gains from one use, less those of others, in tenths of food tokens, cards, eggs and points, for the
            policies (worth.py); from the params as in birds.json.
        begins: the first decision, or NOTHING for a pink power that is used by reacting; from the params as numbers.
        then: the decision that comes after a payment, or with each player's share; from the params as numbers.
        moment: when a pink power reacts: AFTER_FOOD to AFTER_HUNT. AFTER_PLAY only for the habitat in its first param.
        can_use: kernel can_use(s, who, slot, params): whether the power, which begins with USE or is pink, would do
            anything; depends on public information only. Without it, always.
        use: kernel use(s, who, slot, params, log) that applies a power which begins with USE or NOTHING.
        share: kernel share(s, who, slot, params, log) that gives `who` a share, if `then` asks to ACCEPT it.
    """

    words: str | Callable[..., str]
    gives: tuple[int, int, int, int] | Callable[..., tuple[int, int, int, int]] = (0, 0, 0, 0)
    params: dict[str, Encode] = field(default_factory=dict)
    begins: Row | Callable[..., Row] = USE
    then: Row | Callable[..., Row] = NOTHING
    moment: int = NEVER
    can_use: Any = None
    use: Any = None
    share: Any = None


POWERS: dict[str, Power] = {}
"""All handlers by name, in the order of their ids."""

# ---------------------------------------------------------------------------------------------------------------
# What several powers need


def _any_of(things: list[str]) -> str:
    """Return alternatives with articles, such as "a seed or a fruit"."""
    return " or ".join(f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}" for thing in things)


def _of_nest(nest: int) -> int:
    """Return the bit set of nests that count as `nest` (10.6)."""
    return 1 << nest | 1 << cards.STAR


@kernel
def slots_of(s, who, slot, which):
    """Return the bit set of slots that a power concerns, from its nests, SELF and OTHERS; its bird is in `slot`."""
    if which & SELF:
        return np.int64(1) << slot
    slots = np.int64(0)
    for k in range(MAT_SLOTS):
        if s.birds[who, k] >= 0 and which >> cards.BIRD_NEST[s.birds[who, k]] & 1:
            slots |= 1 << k
    return slots & ~(1 << slot) if which & OTHERS else slots


@kernel
def sharers(s, habitat):
    """Return the bit set of players who get a share: EVERYBODY, or those with the fewest birds in a habitat (11.6)."""
    players, fewest = np.int64(0), np.int64(cards.NUM_SLOTS + 1)
    for p in range(s.rules.num_players):
        if not s.active[p]:
            continue
        number = np.int64(s.row_size[p, habitat]) if habitat != EVERYBODY else np.int64(0)
        if number < fewest:
            fewest, players = number, np.int64(0)
        if number == fewest:
            players |= 1 << p
    return players


@kernel
def _share_out(s, who, slot, params, log):
    """Give all players their shares, clockwise from the owner."""
    stack.push(s, stack.EACH, who, slot, who, sharers(s, np.int64(EVERYBODY)), 0)


@kernel
def _has_deck(s, who, slot, params):
    """Return whether a card can be drawn from the deck."""
    return bird_cards.cards_left(s) > 0


@kernel
def _end_hunt(s, who, slot, success, log):
    """Say whether a hunt succeeds, and let others react if it does (12.2)."""
    say(log, table.SUCCEEDS if success else table.FAILS, who, s.birds[who, slot])
    if success:
        stack.push(s, stack.WINDOW, who, slot, 1, stack.AFTER_HUNT, 0)


POWERS["no_power"] = Power(words="No power.", begins=NOTHING)

# ---------------------------------------------------------------------------------------------------------------
# Food


@kernel
def _gain_food(s, who, slot, params, log):
    mats.add_food(s, who, params[0], params[1], table.GAIN_FOOD, log)


POWERS["gain_food_supply"] = Power(  # 11.1
    params={"food": FOOD, "amount": MANY},
    words=lambda food, amount: f"gain {count(amount, food)} from the supply.",
    gives=lambda food, amount: (10 * amount, 0, 0, 0),
    use=_gain_food,
)
POWERS["all_players_gain_food_supply"] = Power(  # 11.2
    params={"food": FOOD, "amount": MANY},
    words=lambda food, amount: f"all players gain {count(amount, food)} from the supply.",
    gives=lambda food, amount: (5 * amount, 0, 0, 0),
    then=(stack.ACCEPT, 0, 0, 0),
    use=_share_out,
    share=_gain_food,
)
POWERS["gain_food_feeder"] = Power(  # 11.3
    params={"foods": food_mask, "may_cache": flag},
    words=lambda foods, may_cache: (
        f"take a die that gives {_any_of(foods)} from the birdfeeder, if there is one."
        + (" You may cache it on this bird." if may_cache else "")
    ),
    gives=lambda foods, may_cache: (6, 0, 0, int(may_cache)),
    begins=lambda foods, may_cache: (stack.TAKE_DICE, 1, foods, ASK | stack.MAY_CACHE * may_cache),
)
POWERS["gain_all_food_feeder"] = Power(  # 11.4
    params={"food": FOOD},
    words=lambda food: f"take all dice that give {food} from the birdfeeder.",
    gives=(8, 0, 0, 0),
    begins=lambda food: (stack.TAKE_DICE, cards.NUM_DICE, 1 << food, ASK | stack.ALL_DICE),
)
POWERS["each_player_gains_feeder_die"] = Power(  # 11.5
    words="each player takes a die from the birdfeeder, clockwise from a player of your choice.",
    gives=(6, 0, 0, 0),
    begins=(stack.FIRST, 0, EVERYBODY, ASK),
    then=(stack.TAKE_DICE, 1, ALL_FOODS, stack.OPTIONAL),
)


@kernel
def _can_draw(s, who, slot, params):
    return bird_cards.can_draw(s)


@kernel
def _share_with_fewest(s, who, slot, params, log):
    stack.push(s, stack.EACH, who, slot, who, sharers(s, np.int64(params[0])), 0)


_A_DIE_OR_CARD = {"feeder_die": "gain a die of their choice from the birdfeeder", "draw_card": "draw a card"}
POWERS["fewest_birds_gain"] = Power(  # 11.6
    params={"habitat": HABITAT, "reward": one_of(tuple(_A_DIE_OR_CARD))},
    words=lambda habitat, reward: f"the players with the fewest birds in the {habitat} {_A_DIE_OR_CARD[reward]}.",
    gives=(3, 3, 0, 0),
    begins=lambda habitat, reward: ((stack.FIRST, 0, habitat, ASK), USE)[reward],
    then=lambda habitat, reward: ((stack.TAKE_DICE, 1, ALL_FOODS, stack.OPTIONAL), (stack.DRAW, 1, 0, stack.OPTIONAL))[
        reward
    ],
    can_use=_can_draw,
    use=_share_with_fewest,
)


@kernel
def _cache_food(s, who, slot, params, log):
    mats.cache_food(s, who, slot, params[1], table.CACHE_FOOD, log)


POWERS["cache_food_supply"] = Power(  # 11.7
    params={"food": FOOD, "amount": MANY},
    words=lambda food, amount: f"cache {count(amount, food)} from the supply on this bird.",
    gives=lambda food, amount: (0, 0, 0, 10 * amount),
    use=_cache_food,
)

# ---------------------------------------------------------------------------------------------------------------
# Hunting

_PREY = (cards.FOODS[cards.FISH], cards.FOODS[cards.RODENT])


def _prey(value: Any) -> int:
    """Encode the prey of a hunt: a food that the dual face does not show, as no ruling says whether that is a hit."""
    return FOOD(_PREY[one_of(_PREY)(value)])


@kernel
def _has_dice_outside(s, who, slot, params):
    return dice.num_outside(s) > 0


@kernel
def _hunt_with_dice(s, who, slot, params, log):
    dice.roll_outside(s, who, log)
    success = s.outside[params[0]] > 0
    if success:
        mats.cache_food(s, who, slot, 1, table.CATCH, log)
    _end_hunt(s, who, slot, success, log)


POWERS["predator_dice"] = Power(  # 11.8
    params={"food": _prey},
    words=lambda food: (
        f"roll the dice outside the birdfeeder. If any shows {_any_of([food])}, "
        f"cache 1 {food} from the supply on this bird."
    ),
    gives=(0, 0, 0, 4),
    can_use=_has_dice_outside,
    use=_hunt_with_dice,
)


@kernel
def _hunt_in_deck(s, who, slot, params, log):
    _end_hunt(s, who, slot, bird_cards.hunt_in_deck(s, who, slot, params[0], log), log)


POWERS["predator_wingspan"] = Power(  # 11.9
    params={"under_cm": whole(1, 300)},
    words=lambda under_cm: (
        f"turn up the top card of the deck. If its wingspan is under {under_cm} cm, "
        "tuck it behind this bird; otherwise discard it."
    ),
    gives=lambda under_cm: (0, 0, 0, int(10 * (under_cm > cards.BIRD_WINGSPAN).mean())),
    can_use=_has_deck,
    use=_hunt_in_deck,
)

# ---------------------------------------------------------------------------------------------------------------
# Drawing cards

POWERS["draw_cards"] = Power(  # 11.10
    params={"draw": MANY, "discard_at_turn_end": whole(0, 20)},
    words=lambda draw, discard_at_turn_end: (
        f"draw {count(draw, 'card')}."
        + (
            f" If you do, discard {count(discard_at_turn_end, 'card')} at the end of your turn."
            * bool(discard_at_turn_end)
        )
    ),
    gives=lambda draw, discard_at_turn_end: (0, 10 * draw - 6 * discard_at_turn_end, 0, 0),
    begins=lambda draw, discard_at_turn_end: (stack.DRAW, draw, discard_at_turn_end, ASK),
)


@kernel
def _draw_from_deck(s, who, slot, params, log):
    for _ in range(min(np.int64(params[0]), bird_cards.cards_left(s))):
        bird_cards.draw_from_deck(s, who, table.DRAW_DECK, log)


POWERS["all_players_draw_from_deck"] = Power(  # 11.11
    params={"amount": MANY},
    words=lambda amount: f"all players draw {count(amount, 'card')} from the deck.",
    gives=(0, 5, 0, 0),
    then=(stack.ACCEPT, 0, 0, 0),
    can_use=_has_deck,
    use=_share_out,
    share=_draw_from_deck,
)


@kernel
def _turn_up_draft(s, who, slot, params, log):
    """Turn up one card for each player, and one more, which the owner gets last."""
    number = np.int64(params[0])
    for p in range(s.rules.num_players):
        number += s.active[p]
    bird_cards.turn_up_draft(s, number, log)
    stack.push(s, stack.END_DRAFT, who, slot, 0, 0, 0)
    _share_out(s, who, slot, params, log)


POWERS["draw_and_draft"] = Power(  # 11.12
    params={"extra": whole(1, 1)},
    words=(
        "turn up a card of the deck for each player and one more. Clockwise from you each player takes one; "
        "you take the one that is left."
    ),
    gives=(0, 8, 0, 0),
    then=(stack.DRAFT, 0, 0, stack.OPTIONAL),
    can_use=_has_deck,
    use=_turn_up_draft,
)


@kernel
def _has_bonus_left(s, who, slot, params):
    """Return whether there is a bonus card that nobody holds."""
    held = np.int64(0)
    for p in range(s.bonus_hands.shape[0]):
        held |= np.int64(s.bonus_hands[p])
    return held != (1 << cards.NUM_BONUSES) - 1


@kernel
def _offer_bonuses(s, who, slot, params, log):
    s.bonus_offer = 0
    drawn = 0
    for _ in range(params[0]):
        card = bonus_cards.draw_bonus(s, who, table.DRAW_BONUS, log)
        if card >= 0:
            s.bonus_offer |= 1 << card
            drawn += 1
    if drawn > 1:
        stack.push(s, stack.KEEP_BONUS, who, slot, 0, 0, 0)
    else:
        s.bonus_offer = 0


POWERS["draw_bonus_cards"] = Power(  # 11.13
    params={"draw": whole(2, 2), "keep": whole(1, 1)},
    words=lambda draw, keep: f"draw {draw} bonus cards and keep {keep}.",
    gives=(0, 0, 0, 35),
    can_use=_has_bonus_left,
    use=_offer_bonuses,
)

# ---------------------------------------------------------------------------------------------------------------
# Laying eggs

_TARGETS = {"self": "this bird", "any": "any of your birds"}
POWERS["lay_eggs"] = Power(  # 11.14
    params={"target": one_of(tuple(_TARGETS)), "amount": MANY},
    words=lambda target, amount: f"lay {count(amount, 'egg')} on {_TARGETS[target]}.",
    gives=lambda target, amount: (0, 0, 10 * amount, 0),
    begins=lambda target, amount: (stack.LAY, amount, (SELF, ANY_NEST)[target], ASK),
)
POWERS["lay_egg_each_nest"] = Power(  # 11.15
    params={"nest": real_nest},
    words=lambda nest: f"lay an egg on each of your birds with a {nest} nest.",
    gives=(0, 0, 15, 0),
    begins=lambda nest: (stack.LAY, MAT_SLOTS, _of_nest(nest), ASK | stack.DISTINCT),
)


@kernel
def _has_room_of_anybody(s, who, slot, params):
    for p in range(s.rules.num_players):
        if s.active[p] and mats.has_room(s, p, slots_of(s, p, slot, 1 << params[0] | 1 << cards.STAR)) != 0:
            return True
    return False


POWERS["all_players_lay_egg_nest"] = Power(  # 11.16
    params={"nest": real_nest},
    words=lambda nest: (
        f"all players lay an egg on a bird of theirs with a {nest} nest; you may lay one on another such bird."
    ),
    gives=(0, 0, 8, 0),
    then=lambda nest: (stack.LAY, 1, _of_nest(nest), stack.OPTIONAL | stack.DISTINCT),
    can_use=_has_room_of_anybody,
    use=_share_out,
)

# ---------------------------------------------------------------------------------------------------------------
# Tucking

_FOR_A_TUCK = {
    "draw_card": "draw a card",
    "lay_egg_on_self": "you may lay an egg on this bird",
    "gain_food_supply": "gain {} from the supply",
}
POWERS["tuck_from_hand"] = Power(  # 11.17
    params={"reward": one_of(tuple(_FOR_A_TUCK)), "foods": food_mask},
    words=lambda reward, foods=(): (
        f"tuck a card from your hand behind this bird. If you do, {_FOR_A_TUCK[reward].format(_any_of(foods))}."
    ),
    gives=lambda reward, foods=(): {
        "draw_card": (0, 0, 0, 10),
        "lay_egg_on_self": (0, -10, 10, 10),
        "gain_food_supply": (10, -10, 0, 10),
    }[reward],
    begins=lambda reward, foods: (stack.TUCK, 1, 0, ASK | stack.PAYS_POWER),
    then=lambda reward, foods: (
        (stack.DRAW, 1, 0, stack.OPTIONAL),
        (stack.LAY, 1, SELF, stack.OPTIONAL),
        (stack.GET_FOOD, 1, foods, stack.OPTIONAL),
    )[reward],
)


@kernel
def _can_tuck_for_food(s, who, slot, params):
    return s.food[who, params[0]] >= params[1] and bird_cards.cards_left(s) > 0


@kernel
def _tuck_for_food(s, who, slot, params, log):
    mats.add_food(s, who, params[0], -params[1], table.PAY_FOOD, log)
    for _ in range(min(np.int64(params[2]), bird_cards.cards_left(s))):
        bird_cards.tuck_from_deck(s, who, slot, log)


POWERS["discard_food_tuck_from_deck"] = Power(  # 11.18
    params={"food": FOOD, "cost": MANY, "tuck": MANY},
    words=lambda food, cost, tuck: (
        f"discard {count(cost, food)} to tuck {count(tuck, 'card')} from the deck behind this bird."
    ),
    gives=lambda food, cost, tuck: (-10 * cost, 0, 0, 10 * tuck),
    can_use=_can_tuck_for_food,
    use=_tuck_for_food,
)

# ---------------------------------------------------------------------------------------------------------------
# Exchanges


def _an_egg(exclude_self: int) -> Row:
    return stack.GIVE_EGGS, 1, ANY_NEST | OTHERS * exclude_self, ASK | stack.PAYS_POWER


def _an_egg_from(exclude_self: bool) -> str:
    return f"discard an egg from {'another' if exclude_self else 'any'} of your birds"


POWERS["discard_egg_gain_food"] = Power(  # 11.19
    params={"amount": MANY, "exclude_self": flag},
    words=lambda amount, exclude_self: (
        f"{_an_egg_from(exclude_self)} to gain {count(amount, 'food')} of your choice from the supply."
    ),
    gives=lambda amount, exclude_self: (10 * amount, 0, -10, 0),
    begins=lambda amount, exclude_self: _an_egg(exclude_self),
    then=lambda amount, exclude_self: (stack.GET_FOOD, amount, ALL_FOODS, stack.OPTIONAL),
)
POWERS["discard_egg_draw_cards"] = Power(  # 11.20
    params={"draw": MANY, "exclude_self": flag},
    words=lambda draw, exclude_self: f"{_an_egg_from(exclude_self)} to draw {count(draw, 'card')}.",
    gives=lambda draw, exclude_self: (0, 10 * draw, -10, 0),
    begins=lambda draw, exclude_self: _an_egg(exclude_self),
    then=lambda draw, exclude_self: (stack.DRAW, draw, 0, stack.OPTIONAL),
)
POWERS["trade_food"] = Power(  # 11.21
    words="exchange a food of yours for one of another type from the supply.",
    gives=(2, 0, 0, 0),
    begins=(stack.GIVE_FOOD, 1, 0, ASK | stack.PAYS_POWER),
)

# ---------------------------------------------------------------------------------------------------------------
# Birds

POWERS["move_if_rightmost"] = Power(  # 11.22
    words="if this bird is the rightmost of its habitat, you may move it to another one.",
    begins=(stack.MOVE, 0, 0, ASK),
)
_THIS_ROW = "this bird's habitat"
POWERS["play_additional_bird"] = Power(  # 11.23; ARG0 is 0 for the row of the bird itself
    params={"habitat": one_of((*cards.HABITATS, cards.SAME))},
    words=lambda habitat: (
        f"play another bird into {_THIS_ROW if habitat == cards.SAME else f'the {habitat}'}, at its normal cost."
    ),
    gives=(0, 0, 0, 25),
    begins=lambda habitat: (stack.PLAY, 0, (1 << habitat) % (1 << cards.NUM_HABITATS), ASK),
)
POWERS["repeat_power"] = Power(  # 11.24
    params={"filter": one_of(("brown", "predator"))},
    words=lambda filter: (
        f"repeat the power of another {'predator' if filter == 'predator' else 'brown bird'} in this habitat."
    ),
    gives=(0, 0, 0, 5),
    begins=lambda filter: (stack.REPEAT, 0, filter, ASK),
)

# ---------------------------------------------------------------------------------------------------------------
# Reactions


@kernel
def _has_room_elsewhere(s, who, slot, params):
    return mats.has_room(s, who, slots_of(s, who, slot, 1 << params[0] | 1 << cards.STAR | OTHERS)) != 0


POWERS["react_lay_eggs"] = Power(  # 11.25
    params={"nest": real_nest},
    words=lambda nest: f"when another player lays eggs, lay an egg on another bird of yours with a {nest} nest.",
    gives=(0, 0, 10, 0),
    begins=lambda nest: (stack.LAY, 1, _of_nest(nest) | OTHERS, 0),
    moment=stack.AFTER_EGGS,
    can_use=_has_room_elsewhere,
)


@kernel
def _gain_food_for_play(s, who, slot, params, log):
    mats.add_food(s, who, params[1], params[2], table.GAIN_FOOD, log)


POWERS["react_play_bird_gain_food"] = Power(  # 11.26
    params={"habitat": HABITAT, "food": FOOD, "amount": MANY},
    words=lambda habitat, food, amount: (
        f"when another player plays a bird into the {habitat}, gain {count(amount, food)} from the supply."
    ),
    gives=(6, 0, 0, 0),
    begins=NOTHING,
    moment=stack.AFTER_PLAY,
    use=_gain_food_for_play,
)


@kernel
def _has_hand(s, who, slot, params):
    return s.hand_size[who] > 0


POWERS["react_play_bird_tuck"] = Power(  # 11.27
    params={"habitat": HABITAT},
    words=lambda habitat: (
        f"when another player plays a bird into the {habitat}, tuck a card from your hand behind this bird."
    ),
    gives=(0, -5, 0, 8),
    begins=(stack.TUCK, 1, 0, 0),
    moment=stack.AFTER_PLAY,
    can_use=_has_hand,
)


@kernel
def _was_taken(s, who, slot, params):
    """Return whether the dice of the gain food action gave the food."""
    return s.dice_foods >> params[0] & 1 == 1


POWERS["react_gain_food_cache"] = Power(  # 11.28
    params={"food": FOOD, "amount": MANY},
    words=lambda food, amount: (
        f"when another player gains food and takes {_any_of([food])}, "
        f"cache {count(amount, food)} from the supply on this bird."
    ),
    gives=(0, 0, 0, 8),
    begins=NOTHING,
    moment=stack.AFTER_FOOD,
    can_use=_was_taken,
    use=_cache_food,
)
POWERS["react_predator_gain_die"] = Power(  # 11.29
    words="when another player's hunt succeeds, take a die from the birdfeeder.",
    gives=(5, 0, 0, 0),
    begins=(stack.TAKE_DICE, 1, ALL_FOODS, 0),
    moment=stack.AFTER_HUNT,
)
