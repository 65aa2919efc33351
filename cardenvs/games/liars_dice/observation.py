"""What a player of liar's dice observes: own dice, everybody's number of dice, the bids, the dice shown last."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.liars_dice.rules import EXACT_BIDDINGS, STATE, most_bids
from cardenvs.kits.sections import Observation, entries, number, one_hot, one_seat, only, per_seat, written


def _faces(sides):
    return [str(face + 1) for face in range(sides)]


def _all_dice(options):
    return options.num_players * options.dice


@kernel(inline=True)
def _write_bids(s, p, out, at):
    n = np.int64(s.rules.num_players)
    for k in range(s.num_bids):
        out[np.uint64(at + s.bids[k, 0])] = 1 + wrap(s.bids[k, 1] - p + n, n)


@kernel(inline=True)
def _last_face(s, p):
    return s.face - 1


@kernel(inline=True)
def _exact_left(s, p):
    return max(EXACT_BIDDINGS + 1 - s.num_biddings, 0)


def _calls_exact(options):
    return options.exact_call


def _has_palifico(options):
    return options.palifico


OBSERVATION = Observation(
    STATE,
    entries("own_dice", _faces, "own dice by face", "dice", high="dice", size="sides"),
    per_seat(number("num_dice", "dice of each player", "num_dice", high="dice")),
    one_seat("to_act", "the player to act", "current_player"),
    written("bids", None, "by bid: 1 + the seat of who made it, 0 if nobody did", _write_bids, high="num_players",
            size=most_bids),
    number("last_quantity", "dice named by the last bid, 0 before the first", "quantity", high=_all_dice),
    one_hot("last_face", _faces, "one-hot face of the last bid, zeros before the first", _last_face, size="sides"),
    per_seat(entries("shown", _faces, "dice shown last by face; zeros in the first bidding", "shown", high="dice",
                     size="sides")),
    *only(_has_palifico,
          number("palifico", "1 if no dice are wild and the first bid fixes the face", "is_palifico"),
          per_seat(number("had_palifico", "1 for each player who has had a palifico", "had_palifico"))),
    *only(_calls_exact,
          number("exact_biddings", "biddings, this one included, in which exact may be called", _exact_left,
                 high=EXACT_BIDDINGS)),
)  # fmt: skip
