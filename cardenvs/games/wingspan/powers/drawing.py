"""Powers that draw bird or bonus cards for their owner alone (rules.md 11.10, 11.13)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.text import count
from cardenvs.games.wingspan import bonus_cards, stack
from cardenvs.games.wingspan.cards import BIRD_PARAMS, PowerSpec
from cardenvs.games.wingspan.powers.parts import ASK, USE, Power


def _draw(spec: PowerSpec) -> str:
    owed = spec.params["discard_at_turn_end"]
    debt = f" If you do, discard {count(owed, 'card')} at the end of your turn." if owed else ""
    return f"draw {count(spec.params['draw'], 'card')}.{debt}"


POWERS = {
    "draw_cards": Power(
        begins=lambda draw, discard_at_turn_end: (stack.DRAW, draw, discard_at_turn_end, ASK),
        words=_draw,
    ),
    "draw_bonus_cards": Power(
        begins=lambda draw, keep: USE,
        words=lambda spec: f"draw {spec.params['draw']} bonus cards and keep {spec.params['keep']}.",
    ),
}


@kernel
def offer_bonuses(s, who, slot, log):
    """Draw bonus cards, of which the player keeps one (11.13)."""
    s.bonus_offer = 0
    drawn = 0
    for _ in range(BIRD_PARAMS[s.birds[who, slot], 0]):
        card = bonus_cards.draw_bonus(s, who, log)
        if card >= 0:
            s.bonus_offer |= 1 << card
            drawn += 1
    if drawn > 1:
        stack.push(s, stack.KEEP_BONUS, who, slot, 0, 0, 0)
    else:
        s.bonus_offer = 0


@kernel
def num_bonuses_left(s):
    """Return the number of bonus cards that nobody holds."""
    held = np.int64(0)
    for p in range(s.bonus_hands.shape[0]):
        held |= np.int64(s.bonus_hands[p])
    number = s.bonus_place.shape[0]
    while held:
        held &= held - 1
        number -= 1
    return number
