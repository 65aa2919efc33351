"""Powers of predators (rules.md 11.8, 11.9)."""

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import bird_cards, dice, mats, stack, table
from cardenvs.games.wingspan.cards import BIRD_HANDLER, BIRD_PARAMS
from cardenvs.games.wingspan.powers.parts import PREDATOR_DICE, USE, Power, one_of

POWERS = {
    "predator_dice": Power(
        begins=lambda food: USE,
        words=lambda spec: (
            f"roll the dice outside the birdfeeder. If any shows {one_of([spec.params['food']])}, "
            f"cache 1 {spec.params['food']} from the supply on this bird."
        ),
    ),
    "predator_wingspan": Power(
        begins=lambda under_cm: USE,
        words=lambda spec: (
            f"turn up the top card of the deck. If its wingspan is under {spec.params['under_cm']} cm, "
            "tuck it behind this bird; otherwise discard it."
        ),
    ),
}


@kernel
def can_hunt(s, who, slot):
    """Return whether there are dice to roll or a card to turn up."""
    if BIRD_HANDLER[s.birds[who, slot]] == PREDATOR_DICE:
        return dice.num_outside(s) > 0
    return bird_cards.cards_left(s) > 0


@kernel
def hunt(s, who, slot, log):
    """Hunt with dice or by wingspan (11.8, 11.9), and let others react if it succeeds (12.2)."""
    bird = s.birds[who, slot]
    param = BIRD_PARAMS[bird, 0]
    if BIRD_HANDLER[bird] == PREDATOR_DICE:
        dice.roll_outside(s, who, log)
        success = s.outside[param] > 0
        if success:
            mats.catch_food(s, who, slot, log)
    else:
        success = bird_cards.hunt_in_deck(s, who, slot, param, log)
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
