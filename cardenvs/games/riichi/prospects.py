"""What a hand of riichi promises to the player who holds it. Points are in thousands, sets of kinds bits of an int64.

A *plan* is a way to a yaku. Its *part* of the hand are the tiles that fit it, and its *distance* is the shanten of that
part. The prospect of a hand is the most that a plan promises: the chance to complete it in time, times the points, less
what it costs to discard dangerous tiles on the way.
"""

import itertools

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.riichi import yaku
from cardenvs.games.riichi.danger import points_of, yakuhai
from cardenvs.games.riichi.groups import honour_group, one_of, suit_group
from cardenvs.games.riichi.hands import CHI, PON, shanten_of_groups, waits_of_groups
from cardenvs.games.riichi.scoring import base_points, score_win
from cardenvs.games.riichi.state import (
    EAST_ONLY,
    MAX_MELDS,
    NUM_PLAYERS,
    ROUND,
    copy_kinds,
    is_closed,
    seat_wind,
    tiles_left,
)
from cardenvs.games.riichi.tiles import EAST, HONOURS, NUM_KINDS, ORPHANS, RED, bit_of
from cardenvs.kits.cards import lowest_card

# Plans: any complete hand, with riichi if it is closed; a triplet of honours that is a pair now; all simples; one suit
# and honours; all triplets.
ANY, YAKUHAI, SIMPLES, FLUSH, TRIPLETS = range(5)
NUM_PLANS = 5
FAR = 99  # distance of a plan that the hand cannot follow
_ALL_KINDS = np.int64((1 << NUM_KINDS) - 1)
_SUIT = np.int64(0o777)

# The own hand, and what its player expects.
MIND = packed(
    [
        ("draws", "f8"),  # own draws to come
        ("total", "f8"),  # unseen tiles
        ("hazard", "f8"),  # chance in a go-round that another player ends the round
        ("push", "f8"),  # expected loss in a go-round by dangerous discards
        ("prize", "f8"),  # sticks and counters
        ("caution", "f8"),  # weight of losses
        ("player", "i8"),
        ("is_closed", "i8"),
        ("is_dealer", "i8"),
        ("num_melds", "i8"),
        ("melded", "i8"),  # kinds in melds
        ("has_run", "i8"),  # whether there is a chi
        ("meld_dora", "i8"),  # han in melds
        ("meld_yakuhai", "i8"),
        ("reds", "i8", (3,)),  # red fives in hand, by suit
        ("thrown", "i8"),  # own discards
        ("least", "i8", (NUM_PLANS,)),  # the least distance of each plan that a discard can leave
        ("part_melds", "i8"),  # melds, and the triplet that the plan adds
        ("counts", "i1", (NUM_KINDS,)),
        ("part", "i1", (NUM_KINDS,)),
        ("meld_kinds", "i1", (MAX_MELDS,)),
        ("meld_types", "i1", (MAX_MELDS,)),
    ]
)
new_mind = stack_record(MIND)

# The constants below agree with what the policy achieves in rounds with itself, or were tuned on duplicate deals.
# The chance of a usual hand to come nearer in a go-round, by its distance (at 0: to win); how much calls add to that of
# the tiles wanted now, by plan; and how much they add later.
_RATES = np.array([0.17, 0.18, 0.25, 0.31, 0.37, 0.42, 0.45])
_SPEED = np.array([1.0, 1.3, 1.6, 1.6, 2.3])
_OPEN_SPEED = 1.6  # of any hand that has an open meld
_LATER_SPEEDS = (1.0, 1.25, 1.5)
_PACE = np.array([0, 1, 1, 1, 0])  # the index of the speed later, by plan
_OPEN_PACE = 2
_NOT_NEAREST = 0.3  # rate after a discard that leaves a plan farther away, compared with a usual one
# The chance that others end the round in a go-round: at first, more for each go-round, for each player who is tenpai
_HAZARD = 0.02
_HAZARD_PER_TURN = 0.006
_HAZARD_PER_THREAT = 0.05
_HAZARD_STEP, _NUM_HAZARDS = 0.02, 16
_FOLDING = 0.6  # the same after the own riichi, compared with before
_DEAL_IN = 0.015  # cost of a go-round without folding, as a share of what others would win
_RIICHI_HAN = 0.8  # of ippatsu, tsumo and ura dora
_CLOSED_HAN, _CLOSED_SIMPLES = 0.3, 0.8  # of pinfu and other yaku; of simples, if all tiles are
_ONE_HAN_MORE = 0.4  # chance that riichi brings another han
_STICK = 1.0
_TENPAI_PAY = 2.0  # of being tenpai at a draw rather than noten
_LATE = 4.0  # draws left when a hand without a yaku is worth having
_MOST_DRAWS = 18
_EASE = 1.3  # how readily others discard a tile, compared with drawing it: at all, honours, terminals, 2 and 8, others
_EASE_HONOUR, _EASE_TERMINAL, _EASE_NEXT, _EASE_MIDDLE = 1.8, 1.5, 1.2, 0.9


def _chances():
    """Return float64 (hazards, speeds, distances, draws): the chance to win from a distance with some draws to come."""
    table = np.zeros((_NUM_HAZARDS, len(_LATER_SPEEDS), len(_RATES) + 1, _MOST_DRAWS + 1))
    for h, (p, speed) in itertools.product(range(_NUM_HAZARDS), enumerate(_LATER_SPEEDS)):
        chance, stays = table[h, p], 1.0 - _HAZARD_STEP * h
        chance[0] = 1.0  # row d + 1 is for distance d, row 0 for a complete hand
        for distance, draws in itertools.product(range(len(_RATES)), range(1, _MOST_DRAWS + 1)):
            rate = _RATES[distance] * (speed if distance else 1.0)
            nearer = chance[distance, draws - 1 if distance else 0]
            chance[distance + 1, draws] = stays * (rate * nearer + (1.0 - rate) * chance[distance + 1, draws - 1])
    return np.ascontiguousarray(table[:, :, 1:])


_CHANCES = _chances()


# ---------------------------------------------------------------------------------------------------------------
# The own hand


@kernel
def begin(s, v, risk):
    """Fill `v` for the player to act, from the record and what danger.assess found."""
    player = np.int64(s.current_player)
    v.player, v.is_closed, v.is_dealer = player, is_closed(s, player), player == s.dealer
    v.num_melds = v.melded = v.has_run = v.meld_dora = v.meld_yakuhai = 0
    for m in range(s.num_melds[player]):
        add_meld(s, v, risk, np.int64(s.meld_kind[player, m]), np.int64(s.meld_type[player, m]))
        v.meld_dora += s.meld_red[player, m]
    copy_kinds(s, player, v.counts)
    for suit in range(3):
        v.reds[suit] = s.hands[player, RED + suit]
    v.thrown = s.thrown[player]
    v.draws = tiles_left(s) / NUM_PLAYERS
    v.total = 0.0
    for kind in range(NUM_KINDS):
        v.total += risk.unseen[kind]
    v.caution = _caution(s, player)
    v.hazard = _HAZARD + _HAZARD_PER_TURN * s.num_draws / NUM_PLAYERS + _HAZARD_PER_THREAT * risk.threat
    v.push = v.caution * _DEAL_IN * risk.stake
    v.prize = 1.0 * s.sticks + 0.3 * s.honba


@kernel
def add_meld(s, v, risk, kind, form):
    """Add a meld to the hand, red fives apart."""
    v.meld_kinds[v.num_melds], v.meld_types[v.num_melds] = kind, form
    v.num_melds += 1
    if form == CHI:
        v.has_run = 1
        v.melded |= np.int64(7) << kind
        v.meld_dora += risk.dora[kind] + risk.dora[kind + 1] + risk.dora[kind + 2]
        return
    v.melded |= bit_of(kind)
    v.meld_dora += risk.dora[kind] * (3 if form == PON else 4)
    if kind >= HONOURS:
        v.meld_yakuhai += yakuhai(s, v.player, kind)


@kernel(inline=True)
def _caution(s, player):
    """Return the weight of losses: in the last round, the first has much to lose, and the last has nothing."""
    if s.rules.length == ROUND or s.wind < s.rules.length - EAST_ONLY or s.dealer != NUM_PLAYERS - 1:
        return 1.0
    ahead = 0
    for p in range(NUM_PLAYERS):
        ahead += s.points[p] > s.points[player]
    return 1.3 if ahead == 0 else 0.75 if ahead == NUM_PLAYERS - 1 else 1.0


@kernel
def shanten_of(tiles, num_melds):
    """Return the shanten of int8 (34,) concealed tiles."""
    m, p, s = suit_group(tiles, 0), suit_group(tiles, 9), suit_group(tiles, 18)
    return shanten_of_groups(m, p, s, honour_group(tiles), num_melds)


@kernel
def _waits_of(tiles, num_melds):
    """Return the waits of int8 (34,) concealed tiles."""
    m, p, s = suit_group(tiles, 0), suit_group(tiles, 9), suit_group(tiles, 18)
    return waits_of_groups(m, p, s, honour_group(tiles), num_melds)


@kernel
def _wanted(tiles, num_melds, unseen):
    """Return the unseen kinds that lower the shanten, as hands.ukeire does."""
    groups = suit_group(tiles, 0), suit_group(tiles, 9), suit_group(tiles, 18), honour_group(tiles)
    m, p, s, honours = groups
    before, found = shanten_of_groups(m, p, s, honours, num_melds), np.int64(0)
    for kind in range(NUM_KINDS):
        if unseen[kind] > 0 and tiles[kind] < 4:
            suit, one = kind // 9, one_of(kind % 9)
            after = shanten_of_groups(
                m + one * (suit == 0),
                p + one * (suit == 1),
                s + one * (suit == 2),
                honours + one * (suit == 3),
                num_melds,
            )
            found |= bit_of(kind) if after < before else 0
    return found


@kernel
def num_wanted(v, risk):
    """Return how many unseen tiles lower the shanten of the hand."""
    return _count(risk.unseen, _wanted(v.counts, v.num_melds, risk.unseen))


@kernel(inline=True)
def _count(unseen, kinds):
    """Return how many tiles of a set of kinds are unseen."""
    number = np.int64(0)
    while kinds:
        number += unseen[lowest_card(kinds)]
        kinds &= kinds - 1
    return number


# ---------------------------------------------------------------------------------------------------------------
# Plans


@kernel
def find_least(s, v):
    """Note how near each plan is."""
    for plan in range(NUM_PLANS):
        v.least[plan] = _distance(s, v, plan)


@kernel
def _distance(s, v, plan):
    """Return the distance of a plan, and leave its part of the hand in `v`; or FAR."""
    fits = _fits(s, v, plan)
    for kind in range(NUM_KINDS):
        v.part[kind] = v.counts[kind] if fits >> kind & 1 else 0
    v.part_melds = v.num_melds
    if fits == 0:
        return np.int64(FAR)
    if plan == TRIPLETS:
        return _distance_of_triplets(v)
    missing = 0
    if plan == YAKUHAI:
        pair = _yakuhai_pair(s, v)
        if pair < 0:
            return np.int64(FAR)
        v.part[pair] = 0
        v.part_melds += 1
        missing = 1
    return shanten_of(v.part, v.part_melds) + missing


@kernel
def _fits(s, v, plan):
    """Return the kinds that fit a plan, or 0 if the melds do not, or its yaku would not count."""
    kinds = _ALL_KINDS
    if plan == SIMPLES:
        kinds = _ALL_KINDS & ~ORPHANS if v.is_closed or s.rules.open_tanyao else np.int64(0)
    elif plan == FLUSH:
        kinds = _ALL_KINDS >> HONOURS << HONOURS | _SUIT << 9 * _longest_suit(v)
    elif plan == TRIPLETS and v.has_run:
        kinds = np.int64(0)
    return kinds if v.melded & ~kinds == 0 else np.int64(0)


@kernel(inline=True)
def _longest_suit(v):
    longest, most = 0, -1
    for suit in range(3):
        number = 14 if v.melded >> 9 * suit & _SUIT else 0
        for rank in range(9):
            number += v.counts[9 * suit + rank]
        if number > most:
            longest, most = suit, number
    return longest


@kernel(inline=True)
def _yakuhai_pair(s, v):
    """Return a pair in hand whose triplet would be a yaku, or -1."""
    found = -1
    if v.num_melds < MAX_MELDS:
        for kind in range(HONOURS, NUM_KINDS):
            if v.counts[kind] == 2 and yakuhai(s, v.player, kind):
                found = kind
    return found


@kernel(inline=True)
def _distance_of_triplets(v):
    triplets, pairs = 0, 0
    for kind in range(NUM_KINDS):
        triplets += v.counts[kind] >= 3
        pairs += v.counts[kind] == 2
    wanted = max(4 - v.num_melds - triplets, 0)
    return np.int64(2 * wanted - min(pairs, wanted + 1))  # a pair saves one tile of a triplet, or the pair itself


@kernel
def _num_useful(s, v, risk, plan, distance):
    """Return how many unseen tiles bring a plan nearer; those of honours to call count double."""
    if plan == TRIPLETS:
        number = np.int64(0)
        for kind in range(NUM_KINDS):
            if v.counts[kind] == 2:
                number += risk.unseen[kind]
        return number
    number = np.int64(0)
    if plan == YAKUHAI:
        number = 2 * np.int64(risk.unseen[_yakuhai_pair(s, v)])
        if number == 0 or distance == 0:
            return number
    return number + _count(risk.unseen, _wanted(v.part, v.part_melds, risk.unseen))


@kernel
def _han(s, v, risk, plan):
    """Return the han that the part of a plan promises; 0 without a yaku."""
    dora, han, orphans = np.float64(v.meld_dora), np.float64(v.meld_yakuhai), np.int64(0)
    fits = _fits(s, v, plan)
    for kind in range(NUM_KINDS):
        if v.counts[kind] and fits >> kind & 1:
            dora += v.counts[kind] * risk.dora[kind]
            orphans += ORPHANS >> kind & 1
            if v.counts[kind] >= 3 and kind >= HONOURS:
                han += yakuhai(s, v.player, kind)
    for suit in range(3):
        dora += v.reds[suit] * (fits >> (9 * suit + 4) & 1)
    if plan == YAKUHAI:
        han += yakuhai(s, v.player, _yakuhai_pair(s, v))
    elif plan == SIMPLES:
        han += 1.0
    elif plan != ANY:
        han += 2.0
    elif v.is_closed:
        han += 1.0 + _RIICHI_HAN + _CLOSED_HAN + (_CLOSED_SIMPLES if orphans == 0 else 0.0)
    return han + dora if han > 0.0 else 0.0


# ---------------------------------------------------------------------------------------------------------------
# Prospects


@kernel
def prospect(s, v, risk, with_riichi):
    """Return the points that a hand of 13 promises under its best plan; with riichi it must be tenpai."""
    best = -9.0
    for plan in range(NUM_PLANS):
        distance = _distance(s, v, plan)
        if plan == ANY and distance == 0:
            best = _prospect_of_tenpai(s, v, risk, with_riichi)
            if with_riichi:
                return best
        if 1 <= distance < len(_RATES) and distance <= v.least[plan] + 1 and distance <= v.draws:
            best = max(best, _prospect_of_plan(s, v, risk, plan, distance, best))
    return best


@kernel
def _prospect_of_plan(s, v, risk, plan, distance, best):
    """Return the points that a plan promises, or less than `best` if it cannot be better."""
    is_open = plan == ANY and not v.is_closed
    speed, pace = (_OPEN_SPEED, np.int64(_OPEN_PACE)) if is_open else (_SPEED[plan], np.int64(_PACE[plan]))
    points = points_of(_han(s, v, risk, plan), v.is_dealer) + v.prize
    pushing = v.push * min(distance + 1.0, 3.0)
    rate = speed * _RATES[distance]
    if _chance(v, distance, pace, 1.5 * rate) * points - pushing <= best:
        return best
    if distance > v.least[plan]:
        rate *= _NOT_NEAREST
    elif distance == 1 and plan != YAKUHAI and plan != TRIPLETS:
        return _prospect_of_one_away(s, v, risk, speed) - pushing
    else:
        rate = speed * _num_useful(s, v, risk, plan, distance) / v.total
    return _chance(v, distance, pace, rate) * points - pushing


@kernel
def _chance(v, distance, pace, rate):
    """Return the chance to win with a hand that comes nearer at a given rate now, and at usual ones later."""
    level = min(np.int64(v.hazard / _HAZARD_STEP + 0.5), _NUM_HAZARDS - 1)
    draws = np.int64(v.draws)
    chance, weight = 0.0, rate * (1.0 - v.hazard)
    for k in range(draws):
        chance += weight * _CHANCES[level, pace, distance - 1, draws - 1 - k]
        weight *= (1.0 - rate) * (1.0 - v.hazard)
    return chance


@kernel
def _prospect_of_one_away(s, v, risk, speed):
    """Return the points that the part of a plan promises which lacks one tile to wait: look at each such tile."""
    size = 3 * v.num_melds
    for kind in range(NUM_KINDS):
        size += v.part[kind]
    wanted = _wanted(v.part, v.num_melds, risk.unseen)
    rate = speed * _count(risk.unseen, wanted) / v.total
    stays = max(1.0 - rate, 0.0) * (1.0 - v.hazard)
    draws, promise = v.draws, 0.0
    v.draws = max(draws - min(0.5 * draws, 1.0 / (rate + 0.05)), 0.0)  # those left when the tile comes
    while wanted:
        kind = lowest_card(wanted)
        wanted &= wanted - 1
        number = np.int64(risk.unseen[kind])
        v.part[kind] += 1
        risk.unseen[kind] -= 1
        promise += number * max(_prospect_after_draw(s, v, risk, size >= 13), 0.0)
        risk.unseen[kind] += 1
        v.part[kind] -= 1
    v.draws = draws
    turns = (1.0 - stays**draws) / (1.0 - stays)
    return promise * speed / v.total * turns * (1.0 - v.hazard)


@kernel
def _prospect_after_draw(s, v, risk, must_discard):
    """Return the points that the part of a plan promises after the discard that leaves most waits.

    If a tile that does not fit is left in hand, that one goes.
    """
    most, best = 0.0, -1
    for kind in range(NUM_KINDS if must_discard else 0):
        if v.part[kind]:
            v.part[kind] -= 1
            number, left = -2.0 * risk.dora[kind], _waits_of(v.part, v.num_melds)
            while left:
                number += risk.unseen[lowest_card(left)] * (1.0 + _ease(lowest_card(left)))
                left &= left - 1
            v.part[kind] += 1
            if number > most:
                most, best = number, kind
    if must_discard and best < 0:
        return 0.0
    if must_discard:
        v.part[best] -= 1
    promise = _prospect_of_tenpai(s, v, risk, v.is_closed != 0 and v.draws >= 1.0)
    if must_discard:
        v.part[best] += 1
    return promise


@kernel
def _prospect_of_tenpai(s, v, risk, with_riichi):
    """Return the points that the part of a plan promises which waits."""
    left = _waits_of(v.part, v.num_melds)
    is_furiten = left & v.thrown != 0
    rates, points = 0.0, 0.0
    while left:
        kind = lowest_card(left)
        left &= left - 1
        rate = risk.unseen[kind] / v.total
        if rate > 0.0:
            by_ron, by_tsumo = _points_of_win(s, v, risk, kind, with_riichi)
            rates += rate if by_tsumo > 0.0 else 0.0
            points += rate * by_tsumo
            if by_ron > 0.0 and not is_furiten:
                rate *= _EASE * _ease(kind)
                rates += rate
                points += rate * by_ron
    if points == 0.0 and v.draws > _LATE:
        return 0.0
    stays = max(1.0 - rates, 0.0) * (1.0 - (_FOLDING if with_riichi else 1.0) * v.hazard)
    drawn_out = stays**v.draws
    turns = (1.0 - drawn_out) / (1.0 - stays)
    chance = rates * turns
    promise = points * turns + v.prize * chance + _TENPAI_PAY * drawn_out
    if with_riichi:
        return promise - _STICK * (1.0 - chance) - v.push * turns
    return promise - v.push * min(turns, 2.0)


@kernel(inline=True)
def _ease(kind):
    """Return how readily others discard a kind."""
    rank = kind % 9
    if kind >= HONOURS:
        return _EASE_HONOUR
    return _EASE_TERMINAL if rank in (0, 8) else _EASE_NEXT if rank in (1, 7) else _EASE_MIDDLE


# ---------------------------------------------------------------------------------------------------------------
# Points


@kernel
def _points_of_win(s, v, risk, kind, with_riichi):
    """Return the points of a win with a kind, by ron and by tsumo; 0 without a yaku."""
    v.part[kind] += 1
    bonus = v.meld_dora + v.reds[0] + v.reds[1] + v.reds[2]
    for own in range(NUM_KINDS):
        bonus += v.part[own] * risk.dora[own]
    circumstances, han, fu, yakuman = np.int64(yaku.RIICHI if with_riichi else 0), np.int64(0), np.int64(0), np.int64(0)
    has_ron = True
    for _ in range(2 if v.is_closed else 1):
        han, fu, yakuman, _ = _score(s, v, kind, circumstances, bonus)
        if han:
            break
        has_ron = False
        circumstances = np.int64(yaku.TSUMO)  # a closed hand without a yaku wins by tsumo only
    v.part[kind] -= 1
    by_tsumo = _expected(s, v, han + (v.is_closed if has_ron and han else 0), fu, yakuman, with_riichi)
    return _expected(s, v, han, fu, yakuman, with_riichi) if has_ron else 0.0, by_tsumo


@kernel
def _expected(s, v, han, fu, yakuman, with_riichi):
    """Return the points of a win, which with riichi may have more han."""
    kiriage, counted = s.rules.kiriage_mangan != 0, s.rules.counted_yakuman != 0
    base = np.float64(base_points(han, fu, yakuman, kiriage, counted))
    if with_riichi:
        base += _ONE_HAN_MORE * (base_points(han + 1, fu, yakuman, kiriage, counted) - base)
    return base * (0.006 if v.is_dealer else 0.004)


@kernel(inline=True)
def _score(s, v, kind, circumstances, bonus):
    rules = s.rules
    return score_win(
        v.part, v.meld_kinds, v.meld_types, v.num_melds, kind, circumstances, EAST + seat_wind(s, v.player),
        EAST + np.int64(s.wind), bonus, rules.open_tanyao != 0, rules.kiriage_mangan != 0, rules.double_yakuman != 0,
        rules.counted_yakuman != 0, np.int64(rules.double_wind_fu),
    )  # fmt: skip
