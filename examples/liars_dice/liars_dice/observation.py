"""What a player of liar's dice observes: own dice, everybody's number of dice, the bids, the dice shown last."""

import functools

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap

from liars_dice.rules import LiarsDiceOptions, num_bids


def layout(options: LiarsDiceOptions) -> Layout:
    """The observation sections, int8."""
    return _layout(options.num_players, options.dice, options.sides)


@functools.cache
def _layout(num_players, dice, sides):
    faces = tuple(str(face + 1) for face in range(sides))
    seats = "observer first, then in turn"
    return Layout(
        (
            Section("own_dice", sides, "number of own dice by face", high=dice, labels=faces),
            Section("num_dice", num_players, f"dice of each player, {seats}", high=dice),
            Section("to_act", num_players, f"1 for the player to act, {seats}"),
            Section("bids", num_players * dice * sides, "by bid: 1 + the seat of who made it, 0 if nobody did",
                    high=num_players),
            Section("last_quantity", 1, "dice named by the last bid, 0 before the first", high=num_players * dice),
            Section("last_face", sides, "one-hot face of the last bid, zeros before the first", labels=faces),
            Section("palifico", 1, "1 if no dice are wild and the first bid fixes the face"),
            Section("had_palifico", num_players, f"1 for each player who has had a palifico, {seats}"),
            Section("shown", num_players * sides, f"dice of the bidding before by face, {seats}; zeros in the first",
                    high=dice),
        )
    )  # fmt: skip


@kernel(inline=True)
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (layout.size,)."""
    n, sides = s.rules.num_players, s.rules.sides
    out[:] = 0
    for face in range(sides):
        out[face] = s.dice[player, face]
    at = sides
    for seat in range(n):
        owner = wrap(player + seat, n)
        out[at + seat] = s.num_dice[owner]
        out[at + n + seat] = owner == s.current_player
    at += 2 * n
    for bid in range(num_bids(s)):
        if s.bids[bid]:
            out[at + bid] = 1 + wrap(s.bids[bid] - 1 - player + n, n)
    at += num_bids(s)
    out[at] = s.quantity
    if s.quantity:
        out[at + s.face] = 1
    at += 1 + sides
    out[at] = s.is_palifico
    at += 1
    for seat in range(n):
        owner = wrap(player + seat, n)
        out[at + seat] = s.had_palifico[owner]
        for face in range(sides):
            out[at + n + seat * sides + face] = s.shown[owner, face]
