"""What a discard of riichi may cost: who threatens to win, by which tiles, and how much. It uses public facts only.

Points are in thousands. Sets of kinds are bits of an int64.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.riichi.hands import CHI, PON
from cardenvs.games.riichi.state import NUM_PLAYERS, num_unseen, seat_wind
from cardenvs.games.riichi.tiles import EAST, HONOURS, NUM_KINDS, WHITE, kind_of, next_kind

# What the player to act knows of the tiles, and what each kind costs as a discard.
RISK = packed(
    [
        ("loss", "f8", (NUM_KINDS,)),  # expected points lost by discarding a kind, if all threats are weighed
        ("shapes", "f8", (NUM_KINDS,)),  # scratch: how many shapes of one opponent wait for a kind, by their weight
        ("threat", "f8"),  # how many opponents are expected to be tenpai
        ("stake", "f8"),  # what they would win together, each by its chance to be tenpai
        ("unseen", "i1", (NUM_KINDS,)),  # tiles of a kind that may still be drawn, or are held by others
        ("dora", "i1", (NUM_KINDS,)),  # han that indicators give for a tile of a kind
    ]
)
new_risk = stack_record(RISK)

# Points of a win by han, with usual fu, and a share of wins by tsumo.
_WORTH = np.array([0.0, 1.3, 2.4, 4.4, 7.2, 8.3, 11.0, 12.5, 15.0, 16.5, 17.5, 22.0, 25.0, 32.0])
_DEALER = 1.5

# The chance that a player without riichi is tenpai: by melds, at the first discard, for each discard, and at most.
_READY_AT_ONCE = np.array([-0.04, -0.16, -0.16, 0.02, 1.0])
_READY_PER_DISCARD = np.array([0.007, 0.04, 0.055, 0.06, 0.0])
_READY_AT_MOST = np.array([0.1, 0.45, 0.65, 0.85, 1.0])

# How often a player who is tenpai holds a shape, compared with other shapes of as many tiles.
_TWO_SIDED, _MIDDLE, _EDGE, _PAIRS, _SINGLE = 1.0, 0.26, 0.27, 0.7, 0.35
_HONOUR_PAIRS = 1.2
_WAITS = 1.15  # hands that combine shapes wait for more tiles
_OTHER_SUIT = 0.25  # of a shape in another suit than that of all melds

_RIICHI_HAN, _OPEN_HAN = 3.8, 1.8  # with hidden dora, but without what can be seen
_FLUSH_HAN = 0.8


@kernel(inline=True)
def points_of(han, is_dealer):
    """Return the points of a win with an expected number of han, which need not be whole."""
    han = min(max(han, 0.0), 12.99)
    low = np.int64(han)
    points = _WORTH[low] + (han - low) * (_WORTH[low + 1] - _WORTH[low])
    return points * (_DEALER if is_dealer else 1.0)


@kernel(inline=True)
def yakuhai(s, player, kind):
    """Return the han of a triplet of a kind for a player: 2 if it is the wind of both the seat and the round."""
    if kind >= WHITE:
        return 1
    return (kind == EAST + seat_wind(s, player)) + (kind == EAST + s.wind)


@kernel
def assess(s, player, risk):
    """Fill `risk` for a player: what is unseen, and what each discard would cost."""
    for kind in range(NUM_KINDS):
        risk.unseen[kind] = num_unseen(s, player, kind)
        risk.dora[kind] = 0
        risk.loss[kind] = 0.0
    for k in range(s.num_indicators):
        risk.dora[next_kind(kind_of(s.indicators[k]))] += 1
    risk.threat = risk.stake = 0.0
    for k in range(1, NUM_PLAYERS):
        _add_threat(s, (player + k) & 3, risk)


@kernel
def _add_threat(s, q, risk):
    """Add what an opponent may win by each kind."""
    chance, suit = _chance_of_tenpai(s, q), _suit_of_melds(s, q)
    if chance < 0.005:
        return
    safe = s.thrown[q] | s.passed[q]
    total = 0.0
    for kind in range(NUM_KINDS):
        risk.shapes[kind] = 0.0
        if not safe >> kind & 1:
            factor = 1.0 if suit < 0 or kind >= HONOURS or kind // 9 == suit else _OTHER_SUIT
            total += _weigh_shapes(risk, safe, kind, factor)
    if total <= 0.0:
        return
    points = _points_at_stake(s, q, risk, suit)
    risk.threat += chance
    risk.stake += chance * points
    for kind in range(NUM_KINDS):
        risk.loss[kind] += chance * points * _WAITS * risk.shapes[kind] / total * (1.0 + 0.25 * risk.dora[kind])


@kernel(inline=True)
def _chance_of_tenpai(s, q):
    if s.riichi[q]:
        return 1.0
    melds = np.int64(s.num_melds[q])
    return min(_READY_AT_ONCE[melds] + _READY_PER_DISCARD[melds] * s.num_discards[q], _READY_AT_MOST[melds])


@kernel
def _suit_of_melds(s, q):
    """Return the suit that all melds of a player have, if there are two or more, or -1."""
    suit, number = -1, 0
    for m in range(s.num_melds[q]):
        kind = np.int64(s.meld_kind[q, m])
        if kind < HONOURS:
            if suit >= 0 and suit != kind // 9:
                return -1
            suit = kind // 9
        number += 1
    return suit if number >= 2 else -1


@kernel
def _weigh_shapes(risk, safe, kind, factor):
    """Write how many shapes wait for a kind, and return how many hands that makes: some shapes have two waits.

    A two-sided shape of which one wait is safe would be furiten.
    """
    unseen = risk.unseen
    number = np.float64(unseen[kind])
    pairs = 0.5 * number * (number - 1.0) * (_PAIRS if kind < HONOURS else _HONOUR_PAIRS)
    two_sided, one_sided = 0.0, _SINGLE * number
    if kind < HONOURS:
        rank = kind % 9
        if rank <= 6:
            ways = np.float64(unseen[kind + 1] * unseen[kind + 2])
            if rank == 6:
                one_sided += _EDGE * ways
            elif not safe >> (kind + 3) & 1:
                two_sided += _TWO_SIDED * ways
        if rank >= 2:
            ways = np.float64(unseen[kind - 1] * unseen[kind - 2])
            if rank == 2:
                one_sided += _EDGE * ways
            elif not safe >> (kind - 3) & 1:
                two_sided += _TWO_SIDED * ways
        if 1 <= rank <= 7:
            one_sided += _MIDDLE * unseen[kind - 1] * unseen[kind + 1]
    risk.shapes[kind] = factor * (two_sided + one_sided + pairs)
    return factor * (0.5 * two_sided + one_sided + 0.5 * pairs)


@kernel
def _points_at_stake(s, q, risk, suit):
    """Return what a win of an opponent would cost, as far as can be seen."""
    han = _RIICHI_HAN + 0.5 * s.ippatsu[q] if s.riichi[q] else _OPEN_HAN
    if suit >= 0:
        han += _FLUSH_HAN
    for m in range(s.num_melds[q]):
        kind, form = np.int64(s.meld_kind[q, m]), s.meld_type[q, m]
        han += s.meld_red[q, m]
        if form == CHI:
            han += risk.dora[kind] + risk.dora[kind + 1] + risk.dora[kind + 2]
        else:
            han += risk.dora[kind] * (3 if form == PON else 4)
            if kind >= HONOURS:
                han += 0.7 * yakuhai(s, q, kind)
    return points_of(han, q == s.dealer) + 0.3 * s.honba
