"""Worlds that fit what a player of riichi knows. Paragraph numbers are those of rules.md (11.3).

Tiles of a face are alike, and that matters: of the deals in which a player could have discarded a 3s from the hand,
those in which two or more were there do not count double. If `g` tiles of a face have come from a hidden hand, `h` more
in it have the weight 1 / C(g + h, g), the number of ways to say which of them came. Worlds are drawn by a Markov chain:
beginning with a random deal, random pairs of tiles change places in proportion to these weights, as long as players in
riichi remain tenpai (Metropolis et al., 1953).
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.rng import random_below, random_unit, shuffle
from cardenvs.core.scratch import stack_record
from cardenvs.games.riichi.actions import PASS
from cardenvs.games.riichi.effects import find_waits, waits_with
from cardenvs.games.riichi.hands import CHI, CLOSED_KAN, PON
from cardenvs.games.riichi.state import CALLED, FROM_DRAW, MAX_MELDS, NO_TILE, NUM_PLAYERS, TURN
from cardenvs.games.riichi.tiles import HONOURS, NUM_FACES, NUM_KINDS, NUM_TILES, RED, kind_of
from cardenvs.kits.deck import begin_world

_TRIES = 1_000  # choices of sets for a tenpai hand, and deals, before a world is given up
_EXCHANGES = 8  # for each tile in a hidden hand
_WALL = NUM_PLAYERS  # the owner of what is in no hand

# The tiles that a player does not see: tiles[k] belongs to owners[k].
POOL = packed(
    [
        ("tiles", "i1", (NUM_TILES,)),
        ("owners", "i1", (NUM_TILES,)),
        ("number", "i8"),
        ("free", "i8"),  # tiles[:free] are in no hand
        ("held", "i1", (NUM_PLAYERS + 1, NUM_FACES)),  # by owner and face
        ("given", "i1", (NUM_PLAYERS + 1, NUM_FACES)),  # tiles that have come from a hidden hand
        ("counts", "i1", (NUM_KINDS,)),  # scratch: a hand by kind
    ]
)
new_pool = stack_record(POOL)


@kernel
def determinize(s, player, seed):
    """Re-deal the hands of others and the wall (11.3).

    Hands of players in riichi are tenpai, and those of players who were noten at an exhaustive draw are not.
    """
    begin_world(s, seed)
    pool = new_pool()
    _gather(s, player, pool)
    for q in range(NUM_PLAYERS + 1):
        _count_given(s, q, pool)
    for _ in range(_TRIES):
        shuffle(s, pool.tiles, 0, pool.number)
        if _deal(s, player, pool):
            _mix(s, pool)
            if _all_fit(s, player, pool):
                break
    _move_tiles(s, player, pool)
    for k in range(1, NUM_PLAYERS):
        q = (s.turn + k) & 3
        if q != player and s.answers[q]:
            s.answers[q] = 1 + PASS


@kernel(inline=True)
def _is_hidden(s, player, q):
    return q != player and not s.shown[q]


@kernel
def _gather(s, player, pool):
    """Collect the tiles that the player does not see, in an order that does not depend on where they are."""
    pool.number = 0
    for face in range(NUM_FACES):
        number = np.int64(0)
        for q in range(NUM_PLAYERS):
            if _is_hidden(s, player, q):
                number += s.hands[q, face]
        for k in range(s.num_dealt, NUM_TILES):
            if s.deck[k] == face:
                number += 1
        for _ in range(number):
            pool.tiles[pool.number] = face
            pool.number += 1


@kernel
def _count_given(s, q, pool):
    """Count by face the tiles that have come from a hand: discards other than the tile drawn, and what was laid."""
    for face in range(NUM_FACES):
        pool.given[q, face] = 0
    if q == _WALL:
        return
    for k in range(s.num_discards[q]):
        if not s.discard_marks[q, k] & FROM_DRAW:
            pool.given[q, s.discards[q, k]] += 1
    for m in range(s.num_melds[q]):
        kind, form = np.int64(s.meld_kind[q, m]), s.meld_type[q, m]
        if form == CHI:
            for k in range(3):
                pool.given[q, kind + k] += 1
        else:
            pool.given[q, kind] += 3 if form == PON else 4
        if s.meld_red[q, m]:
            pool.given[q, RED + kind // 9] += 1
            pool.given[q, kind // 9 * 9 + 4] -= 1
        if form != CLOSED_KAN:
            pool.given[q, s.meld_called[q, m]] -= 1


# ---------------------------------------------------------------------------------------------------------------
# A first deal


@kernel
def _deal(s, player, pool):
    """Deal hidden hands from the shuffled pool, those of players in riichi first; return whether they are tenpai."""
    pool.free = pool.number
    for q in range(NUM_PLAYERS + 1):
        for face in range(NUM_FACES):
            pool.held[q, face] = 0
    for in_riichi in (True, False):
        for q in range(NUM_PLAYERS):
            if _is_hidden(s, player, q) and (s.riichi[q] != 0) == in_riichi and not _deal_hand(s, pool, q):
                return False
    for k in range(pool.free):
        pool.owners[k] = _WALL
        pool.held[_WALL, pool.tiles[k]] += 1
    return True


@kernel(inline=True)
def _hidden_size(s, q):
    """Return how many tiles a player holds, without the tile just drawn."""
    size = np.int64(0)
    for face in range(NUM_FACES):
        size += s.hands[q, face]
    return size - 1 if _has_drawn(s, q) else size


@kernel(inline=True)
def _has_drawn(s, q):
    return s.phase == TURN and s.turn == q and s.drawn != NO_TILE


@kernel
def _deal_hand(s, pool, q):
    size = _hidden_size(s, q)
    if s.riichi[q]:
        tries = 0
        while not _put_together(s, pool, np.int64(s.num_melds[q])):
            tries += 1
            if tries == _TRIES:
                return False
    for _ in range(size):
        pool.free -= 1
        pool.owners[pool.free] = q
        pool.held[q, pool.tiles[pool.free]] += 1
    return True


@kernel
def _put_together(s, pool, melds):
    """Move sets and a pair, less one tile, to the end of what is free; return False if the sets chosen do not fit."""
    last = pool.free
    for k in range(MAX_MELDS - melds + 1):
        kind = kind_of(pool.tiles[random_below(s.rng, last)])
        low, step, number = kind, 0, 2 if k == 0 else 3
        if k and kind < HONOURS and random_below(s.rng, 4):
            low, step = kind - random_below(s.rng, 3), 1
            if low < kind // 9 * 9 or low > kind // 9 * 9 + 6:
                return False
        for _ in range(number):
            place = _find(s, pool, low, last)
            if place < 0:
                return False
            last -= 1
            pool.tiles[place], pool.tiles[last] = pool.tiles[last], pool.tiles[place]
            low += step
    place = last + random_below(s.rng, pool.free - last)
    pool.tiles[place], pool.tiles[last] = pool.tiles[last], pool.tiles[place]
    return True


@kernel(inline=True)
def _find(s, pool, kind, stop):
    """Return the place of a tile of a kind before `stop`, or -1; the search starts anywhere: copies are alike."""
    start = random_below(s.rng, stop)
    for k in range(stop):
        place = start + k if start + k < stop else start + k - stop
        if kind_of(pool.tiles[place]) == kind:
            return place
    return -1


# ---------------------------------------------------------------------------------------------------------------
# The chain


@kernel
def _mix(s, pool):
    """Let tiles of hidden hands change places with others, many times."""
    in_hands = pool.number - pool.free
    if in_hands == 0:
        return
    for _ in range(_EXCHANGES * in_hands):
        i, j = pool.free + random_below(s.rng, in_hands), random_below(s.rng, pool.number)
        one, other = np.int64(pool.owners[i]), np.int64(pool.owners[j])
        a, b = np.int64(pool.tiles[i]), np.int64(pool.tiles[j])
        if one == other or a == b:
            continue
        weight = _weight(pool, one, a, b) * _weight(pool, other, b, a)
        if weight < 1 and random_unit(s.rng) >= weight:
            continue
        _give(pool, one, other, a, b)
        if _fits(s, pool, one) and _fits(s, pool, other):
            pool.tiles[i], pool.tiles[j] = b, a
        else:
            _give(pool, one, other, b, a)


@kernel(inline=True)
def _weight(pool, q, lost, won):
    """Return by which factor the weight of a hand changes if it loses a tile and wins another."""
    h, k = np.int64(pool.held[q, lost]), np.int64(pool.held[q, won])
    return (pool.given[q, lost] + h) * (k + 1) / (h * (pool.given[q, won] + k + 1))


@kernel(inline=True)
def _give(pool, one, other, a, b):
    """Move a tile `a` from one owner to another, and `b` back."""
    pool.held[one, a] -= 1
    pool.held[other, a] += 1
    pool.held[one, b] += 1
    pool.held[other, b] -= 1


@kernel
def _fits(s, pool, q):
    """Return whether a hand agrees with what all know of it: riichi, noten, or the last tile that it is not."""
    if q == _WALL:
        return True
    if s.num_melds[q] == MAX_MELDS and s.kept_not[q] != NO_TILE and pool.held[q, s.kept_not[q]]:
        return False
    if not s.riichi[q] and not s.is_exhausted:
        return True
    for kind in range(NUM_KINDS):
        pool.counts[kind] = pool.held[q, kind]
    for suit in range(3):
        pool.counts[9 * suit + 4] += pool.held[q, RED + suit]
    return (waits_with(s, q, pool.counts) != 0) == (s.riichi[q] != 0)


@kernel
def _all_fit(s, player, pool):
    number = 0
    for q in range(NUM_PLAYERS):
        number += 1 if _is_hidden(s, player, q) and not _fits(s, pool, q) else 0
    return number == 0


@kernel
def _move_tiles(s, player, pool):
    """Put the tiles where they have been dealt."""
    for q in range(NUM_PLAYERS):
        if _is_hidden(s, player, q):
            has_drawn = _has_drawn(s, q)
            for face in range(NUM_FACES):
                s.hands[q, face] = pool.held[q, face]
            if s.phase == CALLED and s.turn == q:
                s.waits[q] = 0
            else:
                find_waits(s, q)
            if has_drawn:
                pool.free -= 1
                s.drawn = pool.tiles[pool.free]
                s.hands[q, s.drawn] += 1
    for k in range(pool.free):
        s.deck[NUM_TILES - 1 - k] = pool.tiles[k]
