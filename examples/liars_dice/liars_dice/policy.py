"""The heuristic: bid what is most likely to hold, and call when that is less likely than a bluff by the other."""

from cardenvs.core.kernel import kernel

from liars_dice.rules import dice_in_play, face_of, num_bids, quantity_of, wild_face


@kernel
def holds_probability(s, player, quantity, face):
    """The probability that a bid holds, if all dice that `player` does not see fall at random.

    The number of matching dice is `player`'s own plus a binomial one.
    """
    wild = wild_face(s)
    own = s.dice[player, face - 1]
    chance = 1 / s.rules.sides
    if wild and wild != face:
        own += s.dice[player, wild - 1]
        chance *= 2
    unseen = dice_in_play(s) - s.num_dice[player]
    needed = max(quantity - own, 0)
    if needed > unseen:
        return 0.0
    term, total = 1.0, 0.0  # the binomial term of k dice, summed from k = needed
    for _ in range(unseen):
        term *= 1 - chance
    for k in range(unseen + 1):
        if k >= needed:
            total += term
        term *= (unseen - k) / (k + 1) * chance / (1 - chance)
    return total


@kernel
def heuristic(s, legal, n, rng):
    """The legal bid that is most likely to hold, the lowest of these; *liar* if the last bid is likelier to fail."""
    player = s.current_player
    best, best_probability = -1, -1.0
    for k in range(n):
        if legal[k] < num_bids(s):
            probability = holds_probability(s, player, quantity_of(s, legal[k]), face_of(s, legal[k]))
            if probability > best_probability + 1e-9:
                best, best_probability = legal[k], probability
    if s.quantity and 1 - holds_probability(s, player, s.quantity, s.face) > best_probability:
        return num_bids(s)
    return best
