"""Powers that move a bird, play another one, or repeat another bird's power (rules.md 11.22 to 11.24)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import stack
from cardenvs.games.wingspan.cards import (
    BIRD_COLOUR,
    BIRD_HABITATS,
    BIRD_HANDLER,
    BIRD_PARAMS,
    BIRD_PREDATOR,
    BROWN,
    NUM_HABITATS,
    NUM_SLOTS,
    SAME_HABITAT,
    PowerSpec,
)
from cardenvs.games.wingspan.powers.parts import ASK, REPEAT_POWER, Power
from cardenvs.games.wingspan.state import NO_BIRD


def _play_another(spec: PowerSpec) -> str:
    where = "this bird's habitat" if spec.params["habitat"] == "same" else f"the {spec.params['habitat']}"
    return f"play another bird into {where}, at its normal cost."


POWERS = {
    "move_if_rightmost": Power(
        begins=lambda: (stack.MOVE, 0, 0, ASK),
        words=lambda spec: "if this bird is the rightmost of its habitat, you may move it to another one.",
    ),
    "play_additional_bird": Power(
        begins=lambda habitat: (stack.PLAY, 0, 0 if habitat == SAME_HABITAT else 1 << habitat, ASK),
        words=_play_another,
    ),
    "repeat_power": Power(
        begins=lambda filter: (stack.REPEAT, 0, 0, ASK),
        words=lambda spec: (
            f"repeat the power of another {'predator' if spec.params['filter'] == 'predator' else 'brown bird'} "
            "in this habitat."
        ),
    ),
}


@kernel
def open_rows(s, who, slot):
    """Return the bit set of habitats that the bird in a slot may move to; empty unless it is rightmost (11.22)."""
    own = slot // NUM_SLOTS
    if slot % NUM_SLOTS + 1 != s.row_size[who, own]:
        return np.int64(0)
    rows = np.int64(0)
    for habitat in range(NUM_HABITATS):
        if habitat != own and s.row_size[who, habitat] < NUM_SLOTS:
            rows |= 1 << habitat
    return rows & BIRD_HABITATS[s.birds[who, slot]]


@kernel
def repeatable(s, who, slot):
    """Return the bit set of slots whose powers the bird in a slot may repeat (11.24)."""
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
