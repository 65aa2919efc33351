"""The observation of riichi."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.riichi import state
from cardenvs.games.riichi.effects import new_kinds
from cardenvs.games.riichi.hands import CHI, count_ukeire, shanten, ukeire
from cardenvs.games.riichi.state import (
    ASKED,
    CALLED,
    MAX_DISCARDS,
    MAX_KANS,
    MAX_MELDS,
    NO_TILE,
    NUM_PLAYERS,
    STICK,
    copy_kinds,
    is_furiten,
    num_unseen,
    tiles_left,
)
from cardenvs.games.riichi.tiles import HONOURS, LABELS, NUM_FACES, NUM_KINDS, RED, SUITS, bit_of, kind_of, next_kind
from cardenvs.kits.sections import (
    Observation,
    cards,
    number,
    one_hot,
    one_seat,
    only,
    per_seat,
    steps,
    together,
    write_bits,
    written,
)

KINDS = LABELS[:NUM_KINDS]
_REDS = tuple(f"0{suit}" for suit in SUITS)
_LEFT_STEPS = np.array((1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68))
_POINT_STEPS = np.array((0, 1, 2, 4, 8, 12, 16, 20, 24, 26, 28, 30, 32, 36, 40, 45, 50, 60, 80, 100)) * STICK
_MOST = 127  # in one byte
_SHANTEN = tuple(map(str, range(-1, 9)))
_RIVER = tuple(f"discard {k + 1}" for k in range(MAX_DISCARDS))
_MELDS = tuple(f"meld {k + 1}" for k in range(MAX_MELDS))


@kernel(inline=True)
def _write_hand(s, p, out, at):
    for face in range(NUM_FACES):
        out[np.uint64(at + kind_of(face))] += s.hands[p, face]


@kernel(inline=True)
def _write_reds(s, p, out, at):
    for k in range(3):
        out[np.uint64(at + k)] = s.hands[p, RED + k]


@kernel(inline=True)
def _drawn(s, p):
    return s.drawn if s.turn == p else NO_TILE


@kernel(inline=True)
def _own_waits(s, p):
    return s.waits[p] if s.phase != CALLED or s.turn != p else np.int64(0)


@kernel(inline=True)
def _write_unseen(s, p, out, at):
    """Write how many tiles of each kind the observer does not see."""
    for kind in range(NUM_KINDS):
        out[np.uint64(at + kind)] = 4 - s.seen[kind] - s.hands[p, kind]
    for k in range(3):
        out[np.uint64(at + kind_of(RED + k))] -= s.hands[p, RED + k]


@kernel(inline=True)
def _write_dora(s, p, out, at):
    for k in range(s.num_indicators):
        out[np.uint64(at + next_kind(kind_of(s.indicators[k])))] += 1


@kernel(inline=True)
def _write_indicators(s, p, out, at):
    for k in range(s.num_indicators):
        out[np.uint64(at + k)] = 1 + s.indicators[k]


@kernel
def _write_rivers(s, player, out, counts, faces, marks):
    """Write the discards of all players, the observer first: counts by kind, and face and marks of each."""
    for seat in range(NUM_PLAYERS):
        q = (player + seat) & 3
        kinds, at = counts + seat * NUM_KINDS, seat * MAX_DISCARDS
        for k in range(s.num_discards[q]):
            face = np.int64(s.discards[q, k])
            out[np.uint64(kinds + kind_of(face))] += 1
            out[np.uint64(faces + at + k)] = 1 + face
            out[np.uint64(marks + at + k)] = s.discard_marks[q, k]


@kernel
def _write_melds(s, player, out, counts, reds, form, low, red, giver):
    """Write the melds of all players, the observer first: tiles by kind, and what each meld is."""
    for seat in range(NUM_PLAYERS):
        q = (player + seat) & 3
        for m in range(s.num_melds[q]):
            kind, of_type = np.int64(s.meld_kind[q, m]), np.int64(s.meld_type[q, m])
            i, at = seat * MAX_MELDS + m, counts + seat * NUM_KINDS + kind
            if of_type == CHI:
                for k in range(3):
                    out[np.uint64(at + k)] += 1
            else:
                out[np.uint64(at)] += 3 if of_type < 2 else 4
            if s.meld_red[q, m]:
                out[np.uint64(reds + seat * 3 + kind // 9)] = 1
            out[np.uint64(form + i)] = 1 + of_type
            out[np.uint64(low + i)] = 1 + kind
            out[np.uint64(red + i)] = s.meld_red[q, m]
            if s.meld_from[q, m] != state.NO_PLAYER:
                out[np.uint64(giver + i)] = (s.meld_from[q, m] - q) & 3


@kernel(inline=True)
def _safe(s, q):
    """Return the kinds by which `q` cannot win with a discard of another player (4.3)."""
    return s.thrown[q] | s.passed[q]


@kernel(inline=True)
def _write_liable(s, q, out, at):
    for which in range(2):
        out[np.uint64(at + which)] = s.liable[q, which] != state.NO_PLAYER


@kernel(inline=True)
def _write_points(s, q, out, at):
    out[at] = min(max(s.points[q] // STICK, -_MOST), _MOST)
    out[at + 1] = s.points[q] % STICK // 100


@kernel(inline=True)
def _furiten(s, p):
    return is_furiten(s, p)


@kernel(inline=True)
def _left(s, p):
    return tiles_left(s)


@kernel(inline=True)
def _discarder(s, p):
    return s.turn if s.tile != NO_TILE else state.NO_PLAYER


@kernel(inline=True)
def _last_face(s, p):
    return s.tile


@kernel(inline=True)
def _own_answer(s, p):
    return s.answers[p] - 1


@kernel
def _write_efficiency(s, p, out, at_shanten, at_ukeire, at_keeps, at_best, at_helps, at_calls):
    """Write the shanten of the own hand, and which discards, tiles and calls keep or lower it."""
    hand, rest = new_kinds(), new_kinds()
    counts, unseen, melds = hand.counts, rest.counts, np.int64(s.num_melds[p])
    copy_kinds(s, p, counts)
    number = np.int64(0)
    for kind in range(NUM_KINDS):
        number += counts[kind]
        unseen[kind] = num_unseen(s, p, kind)
    distance = shanten(counts, melds)
    out[np.uint64(at_shanten + distance + 1)] = 1
    if number % 3 != 2:
        write_bits(ukeire(counts, melds, unseen), NUM_KINDS, out, at_helps)
        if s.phase == ASKED and s.turn != p:
            _write_calls(s, p, counts, melds, distance, out, at_calls)
        return
    keeps, best, most = np.int64(0), np.int64(0), np.int64(-1)
    distance = max(distance, np.int64(0))  # no discard leaves a complete hand complete
    for kind in range(NUM_KINDS):
        if counts[kind]:
            counts[kind] -= 1
            if shanten(counts, melds) == distance:
                keeps |= bit_of(kind)
                tiles = count_ukeire(counts, melds, unseen)
                out[np.uint64(at_ukeire + kind)] = min(tiles, _MOST)
                if tiles >= most:
                    best = (best if tiles == most else np.int64(0)) | bit_of(kind)
                    most = tiles
            counts[kind] += 1
    write_bits(keeps, NUM_KINDS, out, at_keeps)
    write_bits(best, NUM_KINDS, out, at_best)


@kernel(inline=True)
def _write_calls(s, p, counts, melds, distance, out, at):
    """Write which chi, by the place of the tile in its run, and whether a pon would lower the shanten."""
    kind = kind_of(s.tile)
    if kind < HONOURS and p == (s.turn + 1) & 3:
        for place in range(3):
            low = kind - place
            if kind // 9 * 9 <= low <= kind // 9 * 9 + 6:
                one, other = low + (place == 0), low + 2 - (place == 2)
                if counts[one] and counts[other]:
                    counts[one] -= 1
                    counts[other] -= 1
                    out[np.uint64(at + place)] = shanten(counts, melds + 1) < distance
                    counts[one] += 1
                    counts[other] += 1
    if counts[kind] >= 2:
        counts[kind] -= 2
        out[np.uint64(at + 3)] = shanten(counts, melds + 1) < distance
        counts[kind] += 2


def _says_efficiency(options):
    return options.efficiency


def _is_match(options):
    return options.length != "round"


@kernel(inline=True)
def _is_match_in_record(rules):
    return rules.length != state.ROUND


OBSERVATION = Observation(
    state.STATE,
    written("hand", KINDS, "tiles of each kind in the own hand, the tile drawn included", _write_hand, high=4),
    written("own_reds", _REDS, "red fives in the own hand", _write_reds),
    one_hot("drawn", LABELS, "one-hot face of the tile that the observer has drawn", _drawn),
    cards("waits", KINDS, "kinds that complete the own hand before it draws", _own_waits),
    number("furiten", "1 if the observer is furiten", _furiten),
    one_hot("last_tile", LABELS, "one-hot face of the last discard, or of the tile added to a pon", _last_face),
    one_seat("last_from", "who discarded or added it", _discarder),
    written("unseen", KINDS, "tiles of each kind that the observer does not see", _write_unseen, high=4),
    written("dora", KINDS, "how many times each kind is dora", _write_dora, high=5),
    written("indicators", None, "faces of the indicators in order, 1 + id, 0 for none", _write_indicators,
            size=MAX_KANS + 1, high=NUM_FACES),
    *together(
        _write_rivers,
        per_seat(written("discarded", KINDS, "tiles of each kind discarded", high=4)),
        per_seat(written("river", _RIVER, "faces of the discards in order, 1 + id, 0 for none", high=NUM_FACES)),
        per_seat(written("river_marks", _RIVER, "1 for the tile drawn, plus 2 with riichi, plus 4 if called", high=7)),
    ),
    *together(
        _write_melds,
        per_seat(written("melded", KINDS, "tiles of each kind in melds", high=4)),
        per_seat(written("melded_reds", _REDS, "red fives in melds")),
        per_seat(written("meld_type", _MELDS, "1 chi, 2 pon, 3 open or added kan, 4 closed kan", high=4)),
        per_seat(written("meld_low", _MELDS, "lowest kind, 1 + id", high=NUM_KINDS)),
        per_seat(written("meld_red", _MELDS, "1 for a meld with a red five")),
        per_seat(written("meld_from", _MELDS, "seats from the owner to who discarded the tile called", high=3)),
    ),
    per_seat(cards("safe", KINDS, "kinds by which seat {} cannot win by ron, the observer being 0", _safe), apart=True),
    per_seat(number("riichi", "1 for riichi, 2 for double riichi", "riichi", high=2)),
    per_seat(number("ippatsu", "1 during the first go-round after riichi", "ippatsu")),
    per_seat(written("liable", ("dragons", "winds"), "1 if somebody is liable for these sets", _write_liable)),
    per_seat(steps("points", "points of seat {}", _POINT_STEPS, "points"), apart=True),
    per_seat(written("exact_points", ("thousands", "hundreds"), f"points, thousands clipped at {_MOST}", _write_points,
                     low=-_MOST, high=_MOST)),
    one_seat("dealer", "the dealer", "dealer"),
    one_seat("turn", "whose turn it is", "turn"),
    one_seat("to_act", "the player to act", "current_player"),
    one_hot("phase", state.PHASES, "one-hot phase", "phase"),
    steps("tiles_left", "tiles left to draw", _LEFT_STEPS, _left),
    number("kans", "kans in this round", "num_kans", high=MAX_KANS),
    number("indicators_owed", "indicators to be turned up before the next discard", "owed_indicators", high=MAX_KANS),
    number("is_untouched", "1 before any call or kan", "is_untouched"),
    number("after_kan", "1 if the tile drawn replaces one of a kan", "after_kan"),
    number("declaring", "1 if the last discard was made with riichi", "is_declaring"),
    cards("barred", KINDS, "kinds that may not be discarded after the call", "barred"),
    one_hot("answer", None, "one-hot answer that the observer has given to the present question", _own_answer,
            size=155),
    number("sticks", "riichi sticks on the table", "sticks", clip=_MOST),
    *only(
        _is_match,
        number("honba", "honba counters", "honba", clip=_MOST),
        one_hot("wind", ("east", "south", "west"), "one-hot wind of the round", "wind"),
        number("round_number", "rounds begun", "num_rounds", high=state.MAX_ROUNDS),
        rules=_is_match_in_record,
    ),
    *only(
        _says_efficiency,
        *together(
            _write_efficiency,
            written("shanten", _SHANTEN, "one-hot shanten of the own hand", high=1),
            written("ukeire", KINDS, "unseen tiles that lower the shanten after the discard of each kind in keeps",
                    high=_MOST),
            written("keeps", KINDS, "kinds whose discard leaves the least shanten there is; zeros with 13 tiles"),
            written("best", KINDS, "those of them whose discard leaves most ukeire"),
            written("helps", KINDS, "kinds that lower the shanten; zeros with 14 tiles"),
            written("calls", ("chi low", "chi middle", "chi high", "pon"), "1 for each call of the last discard that "
                    "lowers the shanten, by the place of the tile in the run"),
        ),
    ),
)  # fmt: skip
