"""What the other players of liar's dice may have, given their bids: worlds for search."""

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.rng import random_unit
from cardenvs.core.scratch import stack_record
from cardenvs.games.liars_dice.heuristic import weigh_faces
from cardenvs.games.liars_dice.rules import MAX_PLAYERS, MAX_SIDES, determinize

_new_weights = stack_record(packed([("weights", "f8", (MAX_PLAYERS, MAX_SIDES))]))


@kernel
def sample_belief(s, player, seed):
    """Roll the dice of everybody else again, as if each die were loaded with the faces that its owner has bid."""
    determinize(s, player, seed)
    if s.is_shown or s.num_bids == 0:
        return
    b = _new_weights()
    weigh_faces(s, b.weights)
    for p in range(s.rules.num_players):
        if p != player:
            _roll_loaded(s, p, b.weights)


@kernel
def _roll_loaded(s, p, weights):
    total = 0.0
    for face in range(s.rules.sides):
        s.dice[p, face] = 0
        total += weights[p, face]
    for _ in range(s.num_dice[p]):
        left, face = random_unit(s.rng) * total, 0
        while face < s.rules.sides - 1 and left >= weights[p, face]:
            left -= weights[p, face]
            face += 1
        s.dice[p, face] += 1
