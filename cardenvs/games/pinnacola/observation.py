"""The observation of Pinnacola."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.pinnacola import legal, melds, state
from cardenvs.games.pinnacola.state import (
    DECK_SIZE,
    FACE_LABELS,
    JOKER,
    NUM_RANKS,
    NUM_SIDES,
    NUM_STEPS,
    NUM_SUITS,
    RUN,
    SET,
)
from cardenvs.kits.cards import CARD_LABELS, NUM_CARDS, RANKS, SUITS
from cardenvs.kits.sections import (
    Observation,
    cards,
    number,
    one_hot,
    one_seat,
    only,
    per_seat,
    per_side,
    steps,
    together,
    written,
)

_STOCK_STEPS = np.array((1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 21, 25, 30, 35, 40, 45, 50, 60, 70))
_ROW_STEPS = np.array((1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30, 40))
_HAND_STEPS = np.array((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 25, 30, 40))
_POINT_STEPS = np.array((1, 25, 50, 75, 100, 150, 200, 250, 300, 400, 500, 700, 1000))
_SCORE_STEPS = np.array((-500, -250, -100, 0, 100, 250, 400, 550, 700, 850, 1000, 1250, 1500, 2000))

_CELLS = tuple(
    "A23456789TJQKa"[step] + suit for suit in SUITS for step in range(NUM_STEPS)
)  # a: the ace above the king
_STARTS = NUM_STEPS - 2
_RUNS = tuple(f"{_CELLS[suit * NUM_STEPS + low]} {k}" for suit in range(NUM_SUITS) for low in range(_STARTS)
              for k in range(2))  # fmt: skip
_SETS = tuple(f"{rank} {k}" for rank in RANKS for k in range(2))
_COPIES = tuple(f"{label} {copy}" for label in CARD_LABELS for copy in range(2)) + tuple(f"JK {k}" for k in range(4))


@kernel(inline=True)
def _write_row(s, p, out, at):
    seen, jokers = np.int64(0), 0
    for place in range(s.num_row - 1, -1, -1):
        face = np.int64(s.row[place])
        if face == JOKER:
            index = 2 * NUM_CARDS + jokers
            jokers += 1
        else:
            index = 2 * face + (seen >> face & 1)
            seen |= np.int64(1) << face
        out[np.uint64(at + index)] = s.num_row - place


@kernel(inline=True)
def _last(s, p):
    return s.row[s.num_row - 1] if s.num_row else -1


@kernel
def _write_melds(s, player, out, runs, run_wilds, sets, set_wilds):
    """Write length or size, and the wild cards, of the first two melds of each kind, the observer's side first."""
    own = state.side_of(player)
    for m in range(s.num_melds):
        seat = np.int64(s.meld_side[m] != own)
        key, size = np.int64(s.meld_key[m]), s.meld_size[m]
        if s.meld_kind[m] == RUN:
            index = np.uint64((seat * NUM_SUITS * _STARTS + key * _STARTS + s.meld_low[m]) * 2)
            index += np.uint64(out[runs + index] > 0)
            out[runs + index] = size
            out[run_wilds + index] = melds.num_wilds(s, m)
        elif s.meld_kind[m] == SET:
            index = np.uint64((seat * NUM_RANKS + key) * 2)
            index += np.uint64(out[sets + index] > 0)
            out[sets + index] = size
            out[set_wilds + index] = melds.num_wilds(s, m)


@kernel(inline=True)
def _jokers_alone(s, side):
    number = np.int64(0)
    for m in range(s.num_melds):
        if s.meld_kind[m] == state.JOKERS and s.meld_side[m] == side:
            number = np.int64(s.meld_size[m])
    return number


@kernel(inline=True)
def _write_goals(s, side, out, at):
    out[at] = s.has_pinnacola[side]
    out[at + 1] = s.has_pinnacolone[side]
    out[at + 2] = s.has_poker[side]


@kernel(inline=True)
def _pinella_cells(s, side):
    cells = np.int64(0)
    for m in range(s.num_melds):
        if s.meld_side[m] == side and s.meld_kind[m] == RUN:
            steps = np.int64(s.meld_wilds[m, state.WILD_SPADES]) | s.meld_wilds[m, state.WILD_CLUBS]
            cells |= steps << s.meld_key[m] * NUM_STEPS
    return cells


@kernel(inline=True)
def _is_first_round(s, p):
    return s.num_turns < s.rules.num_players


@kernel(inline=True)
def _in_stock(s, p):
    return state.num_stock(s)


@kernel(inline=True)
def _may_close(s, p):
    return legal.may_close(s, p)


def _has_pinelle(rules):
    return rules.pinelle


def _is_match(rules):
    return rules.target is not None


@kernel(inline=True)
def _is_match_in_record(rules):
    return rules.target >= 0


def _by_side(part, apart=True):
    return per_side(part, NUM_SIDES, "the observer's first", apart=apart)


OBSERVATION = Observation(
    state.STATE,
    cards("own_hand", CARD_LABELS, "cards in the own hand", "held"),
    cards("own_twice", CARD_LABELS, "those held twice", "twice"),
    number("own_jokers", "jokers in the own hand", "jokers", high=4),
    per_seat(cards("known", CARD_LABELS, "cards that all know in the hand of seat {}, the observer being 0",
                   "known_held"), apart=True),
    per_seat(cards("known_twice", CARD_LABELS, "those that seat {} is known to hold twice", "known_twice"), apart=True),
    per_seat(number("known_jokers", "jokers known in each hand", "known_jokers", high=4)),
    written("row", _COPIES, "for each card in the row, the last copy of a face first: cards from it to the end",
            _write_row, high=DECK_SIZE),
    one_hot("last", FACE_LABELS, "one-hot last card of the row", _last),
    _by_side(cards("melded", CARD_LABELS, "cards melded by side {}, the observer's being 0", "melded")),
    _by_side(cards("melded_twice", CARD_LABELS, "those melded twice by side {}", "melded_twice")),
    _by_side(number("melded_jokers", "jokers in the melds of each side", "melded_jokers", high=4), apart=False),
    _by_side(cards("above", _CELLS, "cards that continue a run of side {}", "above")),
    _by_side(cards("below", _CELLS, "cards that precede a run of side {}", "below")),
    _by_side(cards("to_sets", CARD_LABELS, "cards for which a set of side {} has room", "set_faces")),
    _by_side(cards("joker_cells", _CELLS, "cards for which jokers stand in runs of side {}", "joker_cells")),
    _by_side(cards("joker_faces", CARD_LABELS, "cards that may replace a joker in a set of side {}", "joker_faces")),
    *together(
        _write_melds,
        _by_side(written("runs", _RUNS, "by lowest card, the lengths of the two oldest runs, first of the observer's "
                         "side", high=NUM_STEPS), apart=False),
        _by_side(written("run_wilds", _RUNS, "wild cards in these runs", high=2), apart=False),
        _by_side(written("sets", _SETS, "by rank, the sizes of the two oldest sets, first of the observer's side",
                         high=4), apart=False),
        _by_side(written("set_wilds", _SETS, "wild cards in these sets", high=2), apart=False),
    ),
    *only(_has_pinelle,
          _by_side(cards("pinelle", _CELLS, "cards for which twos stand in runs of side {}", _pinella_cells))),
    _by_side(number("jokers_alone", "jokers in a meld of jokers of each side", _jokers_alone, high=4), apart=False),
    _by_side(written("goals", ("pinnacola", "pinnacolone", "poker"), "what side {} has on the table", _write_goals)),
    _by_side(steps("points", "points of the melds of side {}", _POINT_STEPS, "points")),
    steps("stock", "cards in the stock", _STOCK_STEPS, _in_stock),
    steps("row_size", "cards in the row", _ROW_STEPS, "num_row"),
    per_seat(steps("hand_size", "cards in the hand of seat {}", _HAND_STEPS, "hand_sizes"), apart=True),
    one_hot("phase", state.PHASES, "one-hot phase", "phase"),
    one_seat("to_act", "the player to act", "current_player"),
    one_seat("dealer", "the dealer", "dealer"),
    one_hot("must_use", FACE_LABELS, "one-hot card that must be melded now", "must_use"),
    number("first_round", "1 while players have their first turns", _is_first_round),
    number("may_close", "1 if the observer's side has on the table what it needs to close, and the time has come",
           _may_close),
    *only(_is_match, _by_side(steps("score", "points of side {} in the match", _SCORE_STEPS, "scores")),
          rules=_is_match_in_record),
)  # fmt: skip
