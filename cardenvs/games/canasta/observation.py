"""The observation of Canasta."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap
from cardenvs.games.canasta import state
from cardenvs.games.canasta.state import (
    FACE_LABELS,
    KIND_LABELS,
    KIND_OF,
    MAX_PLAYERS,
    MELD_LABELS,
    NUM_FACES,
    NUM_KINDS,
    NUM_MELDS,
    PHASES,
    num_canastas,
    num_sides,
    side_of,
    top_of_pile,
)

_STOCK_STEPS = np.array((1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 21, 25, 30, 35, 40, 50, 60, 70, 80))
_PILE_STEPS = np.array((1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30, 40))
_HAND_STEPS = np.array((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 25, 30, 40))
_NEEDED_STEPS = np.array((1, 10, 16, 26, 36, 51, 61, 76, 91, 106))
_SCORE_STEPS = np.array((-1000, -500, 0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500))


def _faces(name, doc):
    return Section(name, NUM_FACES, doc, high=4, labels=FACE_LABELS)


def _steps(name, steps, doc):
    return Section(name, len(steps), f"{doc}: 1 for each step reached", labels=tuple(f">={step}" for step in steps))


def layout(options):
    """Return the observation sections, int8; the number of players decides how many there are."""
    return _LAYOUTS[options.num_players]


def _layout(players):
    sides = 3 if players == 3 else 2
    seats, side_numbers = range(players), range(sides)
    compositions = tuple(f"{m} {what}" for m in MELD_LABELS for what in ("naturals", "jokers", "twos"))
    return Layout(
        (
            _faces("own_hand", "cards in the own hand"),
            Section("own_kinds", NUM_KINDS, "the same by kind", high=12, labels=KIND_LABELS),
            *(
                _faces(f"known_{seat}", f"cards that all know in the hand of seat {seat}, the observer being 0")
                for seat in seats
            ),
            _faces("pile", "cards in the discard pile"),
            Section("top", NUM_KINDS, "one-hot kind of the top card of the pile", labels=KIND_LABELS),
            *(_faces(f"melded_{k}", f"cards melded by side {k}, the observer's being 0") for k in side_numbers),
            *(
                Section(f"melds_{k}", 3 * NUM_MELDS, f"what each meld of side {k} consists of", 0, 8, compositions)
                for k in side_numbers
            ),
            Section("canastas", sides, "canastas of each side, the observer's first", high=NUM_MELDS),
            Section("red_threes", 2 * players, "red threes laid out, 3d and 3h of each player, observer first", high=2),
            _steps("stock", _STOCK_STEPS, "cards in the stock"),
            _steps("pile_size", _PILE_STEPS, "cards in the pile"),
            *(_steps(f"hand_size_{seat}", _HAND_STEPS, f"cards in the hand of seat {seat}") for seat in seats),
            *(_steps(f"score_{k}", _SCORE_STEPS, f"points of side {k} in the match") for k in side_numbers),
            _steps("needed", _NEEDED_STEPS, "points that the initial meld of the player to act still needs"),
            Section("phase", len(PHASES), "one-hot phase", labels=PHASES),
            Section("to_act", players, "one-hot player to act, observer first"),
            Section("asker", players, "one-hot player who has asked the partner"),
            Section("next_meld", NUM_MELDS + 1, "one-hot lowest meld that may be laid next in this turn"),
            Section("has_melded", players, "1 for each player who has melded in this deal"),
            Section("has_opened", sides, "1 for each side that has melded in this deal"),
            Section("pile_frozen", 1, "1 if a wild card or a red three has frozen the pile"),
            Section("turn", 4, "this turn: cards laid, pile taken, no discard, concealed so far"),
            Section("answer", 2, "the partner has answered: must go out, may not go out"),
        )
    )


_LAYOUTS = {players: _layout(players) for players in range(2, MAX_PLAYERS + 1)}
_FOUND = (
    "own_hand", "own_kinds", "known_0", "pile", "top", "melded_0", "melds_0", "canastas", "red_threes", "stock",
    "pile_size", "hand_size_0", "score_0", "needed", "phase", "to_act", "asker", "next_meld", "has_melded",
    "has_opened", "pile_frozen", "turn", "answer",
)  # fmt: skip
(_OWN_HAND, _OWN_KINDS, _KNOWN, _PILE, _TOP, _MELDED, _COMPOSITION, _CANASTAS, _RED_THREES, _STOCK, _PILE_SIZE,
 _HAND_SIZE, _SCORE, _NEEDED, _PHASE, _TO_ACT, _ASKER, _NEXT_MELD, _HAS_MELDED, _HAS_OPENED, _FROZEN, _TURN,
 _ANSWER) = range(len(_FOUND))  # fmt: skip
_STARTS = np.zeros((MAX_PLAYERS + 1, len(_FOUND)), np.int64)  # by number of players: where these sections start
for _players, _one in _LAYOUTS.items():
    _start_of = dict(zip((section.name for section in _one.sections), _one.starts, strict=True))
    _STARTS[_players] = [_start_of[name] for name in _FOUND]


@kernel
def observe(s, player, out):
    """Write what `player` sees of `s` into `out`, int8 (layout.size,): the own hand, and what all know."""
    out[:] = 0
    n = np.int64(s.rules.num_players)
    hand, pile = _STARTS[n, _OWN_HAND], _STARTS[n, _PILE]
    for face in range(NUM_FACES):
        out[hand + face] = s.hands[player, face]
    for kind in range(NUM_KINDS):
        out[_STARTS[n, _OWN_KINDS] + kind] = s.kinds[player, kind]
    for place in range(s.num_pile):
        out[pile + s.pile[place]] += 1
    if s.num_pile:
        out[_STARTS[n, _TOP] + KIND_OF[top_of_pile(s)]] = 1
    _mark_steps(s.num_stock, _STOCK_STEPS, _STARTS[n, _STOCK], out)
    _mark_steps(s.num_pile, _PILE_STEPS, _STARTS[n, _PILE_SIZE], out)
    for seat in range(n):
        _observe_player(s, n, wrap(player + seat, n), seat, out)
    for k in range(num_sides(s)):
        _observe_side(s, n, wrap(side_of(s, player) + k, num_sides(s)), k, out)
    _observe_turn(s, n, out)


@kernel
def _observe_player(s, n, p, seat, out):
    known = _STARTS[n, _KNOWN] + seat * NUM_FACES
    for face in range(NUM_FACES):
        out[known + face] = s.known[p, face]
    for red in range(2):
        out[_STARTS[n, _RED_THREES] + 2 * seat + red] = s.red_threes[p, red]
    _mark_steps(s.hand_sizes[p], _HAND_STEPS, _STARTS[n, _HAND_SIZE] + seat * _HAND_STEPS.shape[0], out)
    out[_STARTS[n, _HAS_MELDED] + seat] = s.has_melded[p]
    if s.current_player == p:
        out[_STARTS[n, _TO_ACT] + seat] = 1
    if s.asker == p:
        out[_STARTS[n, _ASKER] + seat] = 1


@kernel
def _observe_side(s, n, side, k, out):
    melded = _STARTS[n, _MELDED] + k * NUM_FACES
    for face in range(NUM_FACES):
        out[melded + face] = s.melded[side, face]
    start = _STARTS[n, _COMPOSITION] + k * 3 * NUM_MELDS
    for m in range(NUM_MELDS):
        out[start + 3 * m] = s.naturals[side, m]
        out[start + 3 * m + 1] = s.jokers[side, m]
        out[start + 3 * m + 2] = s.twos[side, m]
    out[_STARTS[n, _CANASTAS] + k] = num_canastas(s, side)
    out[_STARTS[n, _HAS_OPENED] + k] = s.has_opened[side]
    _mark_steps(s.scores[side], _SCORE_STEPS, _STARTS[n, _SCORE] + k * _SCORE_STEPS.shape[0], out)


@kernel
def _observe_turn(s, n, out):
    out[_STARTS[n, _PHASE] + s.phase] = 1
    out[_STARTS[n, _NEXT_MELD] + s.first_meld] = 1
    out[_STARTS[n, _FROZEN]] = s.pile_frozen
    _mark_steps(s.needed, _NEEDED_STEPS, _STARTS[n, _NEEDED], out)
    turn = _STARTS[n, _TURN]
    out[turn] = s.has_laid
    out[turn + 1] = s.has_taken
    out[turn + 2] = s.no_discard
    out[turn + 3] = s.is_concealed
    if s.answer != state.FREE:
        out[_STARTS[n, _ANSWER] + s.answer - 1] = 1


@kernel
def _mark_steps(quantity, steps, start, out):
    """Mark the steps of a thermometer that `quantity` has reached, in entries that are 0."""
    k = 0
    while k < steps.shape[0] and quantity >= steps[k]:
        out[start + k] = 1
        k += 1
