"""The observation of Canasta."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.canasta import state
from cardenvs.kits.matches import count_sides
from cardenvs.kits.sections import Observation, entries, number, one_hot, one_seat, per_seat, per_side, steps, written

_STOCK_STEPS = np.array((1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 21, 25, 30, 35, 40, 50, 60, 70, 80))
_PILE_STEPS = np.array((1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30, 40))
_HAND_STEPS = np.array((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 25, 30, 40))
_NEEDED_STEPS = np.array((1, 10, 16, 26, 36, 51, 61, 76, 91, 106))
_SCORE_STEPS = np.array((-1000, -500, 0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500))
_MELD_PARTS = tuple(f"{m} {what}" for m in state.MELD_LABELS for what in ("naturals", "jokers", "twos"))


@kernel(inline=True)
def _write_pile(s, p, out, at):
    for place in range(s.num_pile):
        out[at + s.pile[place]] += 1


@kernel(inline=True)
def _top(s, p):
    return state.KIND_OF[state.top_of_pile(s)] if s.num_pile else -1


@kernel(inline=True)
def _write_melds(s, side, out, at):
    for m in range(state.NUM_MELDS):
        out[at + 3 * m] = s.naturals[side, m]
        out[at + 3 * m + 1] = s.jokers[side, m]
        out[at + 3 * m + 2] = s.twos[side, m]


@kernel(inline=True)
def _write_turn(s, p, out, at):
    out[at] = s.has_laid
    out[at + 1] = s.has_taken
    out[at + 2] = s.no_discard
    out[at + 3] = s.is_concealed


@kernel(inline=True)
def _answer(s, p):
    return s.answer - 1 if s.answer != state.FREE else -1


def _faces(name, doc, source):
    return entries(name, state.FACE_LABELS, doc, source, high=4)


def _by_side(part, apart=False):
    return per_side(part, count_sides, "the observer's first", apart=apart)


OBSERVATION = Observation(
    state.STATE,
    _faces("own_hand", "cards in the own hand", "hands"),
    entries("own_kinds", state.KIND_LABELS, "the same by kind", "kinds", high=12),
    per_seat(_faces("known", "cards that all know in the hand of seat {}, the observer being 0", "known"), apart=True),
    written("pile", state.FACE_LABELS, "cards in the discard pile", _write_pile, high=4),
    one_hot("top", state.KIND_LABELS, "one-hot kind of the top card of the pile", _top),
    _by_side(_faces("melded", "cards melded by side {}, the observer's being 0", "melded"), apart=True),
    _by_side(written("melds", _MELD_PARTS, "what each meld of side {} consists of", _write_melds, high=8), apart=True),
    _by_side(number("canastas", "canastas of each side", state.num_canastas, high=state.NUM_MELDS)),
    per_seat(entries("red_threes", ("3d", "3h"), "red threes laid out", "red_threes", high=2)),
    steps("stock", "cards in the stock", _STOCK_STEPS, "num_stock"),
    steps("pile_size", "cards in the pile", _PILE_STEPS, "num_pile"),
    per_seat(steps("hand_size", "cards in the hand of seat {}", _HAND_STEPS, "hand_sizes"), apart=True),
    _by_side(steps("score", "points of side {} in the match", _SCORE_STEPS, "scores"), apart=True),
    steps("needed", "points that the initial meld of the player to act still needs", _NEEDED_STEPS, "needed"),
    one_hot("phase", state.PHASES, "one-hot phase", "phase"),
    one_seat("to_act", "the player to act", "current_player"),
    one_seat("asker", "the player who has asked the partner", "asker"),
    one_hot("next_meld", None, "one-hot lowest meld that may be laid next in this turn", "first_meld",
            size=state.NUM_MELDS + 1),
    per_seat(number("has_melded", "1 for each player who has melded in this deal", "has_melded")),
    _by_side(number("has_opened", "1 for each side that has melded in this deal", "has_opened")),
    number("pile_frozen", "1 if a wild card or a red three has frozen the pile", "pile_frozen"),
    written("turn", None, "this turn: cards laid, pile taken, no discard, concealed so far", _write_turn, size=4),
    one_hot("answer", None, "the partner has answered: must go out, may not go out", _answer, size=2),
)  # fmt: skip
