"""A rule agent for riichi: it weighs what its hand promises against what each discard may cost.

It uses only what the player to act may know: the own hand, and what lies open. The value of a discard is the prospect
of the hand that is left (prospects.py) less the danger of the tile (danger.py), so that whether to push or to fold, to
call or to stay closed, to declare riichi or not, are one question. Points are in thousands.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.scratch import stack_copy
from cardenvs.games.riichi.actions import ADDED_KAN, CHI, CLOSED_KAN, NINE, OPEN_KAN, PASS, PON, RIICHI, RON, TSUMO
from cardenvs.games.riichi.danger import assess, new_risk, yakuhai
from cardenvs.games.riichi.hands import CHI as RUN
from cardenvs.games.riichi.hands import PON as TRIPLET
from cardenvs.games.riichi.legal import barred_by_chi, num_orphans
from cardenvs.games.riichi.prospects import (
    ANY,
    FAR,
    NUM_PLANS,
    add_meld,
    begin,
    find_least,
    new_mind,
    prospect,
    shanten_of,
)
from cardenvs.games.riichi.state import ASKED
from cardenvs.games.riichi.tiles import HONOURS, NUM_KINDS, RED, bit_of, kind_of

_KINDS_FOR_ORPHANS = 11  # different terminals and honours with which to try thirteen orphans
_MOST_THREAT_FOR_KAN = 0.6
_CALL_MARGIN = 0.2  # required advantage of a call: an open hand is hard to defend, and others see it
_FOLDED = 0.05  # weight of a prospect that is worse than folding, which orders safe discards
_USE = 0.002  # points of a unit of usefulness, for discards that are equal otherwise
NO_ACTION = -1
_LOW = -1e9


@kernel
def heuristic(s, legal, n, rng):
    """Play well: win, come nearer to a hand that pays, and fold it when it costs more than it promises.

    Args:
        s: one record, not terminal.
        legal: int32 array whose first `n` entries are the legal actions.
        n: int, number of legal actions.
        rng: not used; the policy is deterministic.

    Returns:
        One of the legal actions.
    """
    choice = plain_choice(s, legal, n)
    if choice != NO_ACTION:
        return choice
    v, risk = new_mind(), new_risk()
    assess(s, np.int64(s.current_player), risk)
    begin(s, v, risk)
    if s.phase >= ASKED:
        return _choose_answer(s, v, risk, legal, n)
    if s.riichi[v.player]:
        return choice_in_riichi(risk, legal, n)
    find_least(s, v)
    kan = choose_kan(v, risk, legal, n)
    return kan if kan != NO_ACTION else _choose_discard(s, v, risk, legal, n)


@kernel
def plain_choice(s, legal, n):
    """Return what needs no thought: the only action, a win, or an abortive draw with a bad hand; else NO_ACTION."""
    last = np.int64(legal[n - 1])
    if n == 1 or last == TSUMO:
        return last
    before = np.int64(legal[n - 2])
    if before in (TSUMO, RON):
        return before
    if last == NINE and num_orphans(s, np.int64(s.current_player)) < _KINDS_FOR_ORPHANS:
        return last
    return np.int64(NO_ACTION)


@kernel(inline=True)
def choice_in_riichi(risk, legal, n):
    """Return a closed kan, or the drawn tile if somebody threatens: others in riichi have as much of new dora."""
    return np.int64(legal[n - 1 if risk.threat < _MOST_THREAT_FOR_KAN else 0])


# ---------------------------------------------------------------------------------------------------------------
# Discards and kans


@kernel(inline=True)
def choose_kan(v, risk, legal, n):
    """Return a kan that leaves the hand as near as it is, while nobody threatens, or NO_ACTION."""
    if risk.threat < _MOST_THREAT_FOR_KAN:
        for k in range(n):
            action = np.int64(legal[k])
            if CLOSED_KAN <= action < CHI:
                is_closed = action < ADDED_KAN
                kind = action - (CLOSED_KAN if is_closed else ADDED_KAN)
                held = v.counts[kind]
                v.counts[kind] = 0
                distance = shanten_of(v.counts, v.num_melds + is_closed)
                v.counts[kind] = held
                if distance <= v.least[ANY]:
                    return action
    return np.int64(NO_ACTION)


@kernel(inline=True)
def _choose_discard(s, v, risk, legal, n):
    most, best = _LOW, np.int64(legal[0])
    for k in range(n):
        action = np.int64(legal[k])
        if action < CLOSED_KAN:
            value = value_of_discard(s, v, risk, action % RIICHI, action >= RIICHI)
            if value > most:
                most, best = value, action
    return best


@kernel
def value_of_discard(s, v, risk, face, with_riichi):
    """Return the prospect of the hand after a discard, less what the discard may cost."""
    kind = kind_of(face)
    after = stack_copy(v)
    after.counts[kind] -= 1
    if face >= RED:
        after.reds[face - RED] -= 1
    after.thrown |= bit_of(kind)
    value = prospect(s, after, risk, with_riichi)
    if value < 0.0 and not with_riichi:
        value *= _FOLDED
    return value - v.caution * risk.loss[kind] - _USE * _use_of(s, v, risk, kind)


@kernel(inline=True)
def _use_of(s, v, risk, kind):
    """Return how useful a tile may become: tiles that would join it, and dora."""
    unseen, use = risk.unseen, 3.0 * risk.dora[kind]
    if kind >= HONOURS:
        return use + unseen[kind] * (0.5 + 1.5 * yakuhai(s, v.player, kind))
    rank = kind % 9
    for other in range(max(0, rank - 2), min(9, rank + 3)):
        use += unseen[kind - rank + other] / (1.0 + abs(other - rank) if other == rank else 2.0 * abs(other - rank))
    return use


# ---------------------------------------------------------------------------------------------------------------
# Calls


@kernel(inline=True)
def _choose_answer(s, v, risk, legal, n):
    """Return the call after which the hand is worth most, if that is more than without one, or PASS."""
    most, best = value_of_pass(s, v, risk), np.int64(PASS)
    find_least(s, v)
    for k in range(n):
        action = np.int64(legal[k])
        if CHI <= action < OPEN_KAN:
            value = value_of_call(s, v, risk, action)
            if value > most:
                most, best = value, action
    return best


@kernel
def value_of_pass(s, v, risk):
    """Return what a call must promise to be made."""
    for plan in range(NUM_PLANS):
        v.least[plan] = FAR
    return max(prospect(s, v, risk, False), 0.0) + _CALL_MARGIN


@kernel
def value_of_call(s, v, risk, action):
    """Return the prospect after a pon or chi and the best discard; a large loss if it brings no plan nearer."""
    after, called = stack_copy(v), np.int64(s.tile)
    kind, is_pon = kind_of(called), action >= PON
    with_red, place = (action == PON + 1, np.int64(0)) if is_pon else (action >= CHI + 3, (action - CHI) % 3)
    low, barred = kind - place, bit_of(kind) if is_pon else barred_by_chi(s, kind, place)
    for k in range(3):
        if k != place:
            after.counts[kind if is_pon else low + k] -= 1
    if with_red:
        after.reds[kind // 9] -= 1
    after.meld_dora += with_red + (called >= RED)
    after.is_closed = 0
    add_meld(s, after, risk, low, np.int64(TRIPLET if is_pon else RUN))
    find_least(s, after)
    comes_nearer = False
    for plan in range(NUM_PLANS):
        comes_nearer = comes_nearer or after.least[plan] < v.least[plan]
    most = _LOW
    for own in range(NUM_KINDS if comes_nearer else 0):
        if after.counts[own] and not barred >> own & 1:
            only_red = own < HONOURS and own % 9 == 4 and after.counts[own] == after.reds[own // 9]
            most = max(most, value_of_discard(s, after, risk, RED + own // 9 if only_red else own, False))
    return most
