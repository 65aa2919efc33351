"""Racks that fit idle turns (rules.md 7.4), drawn with a particle filter.

A particle is a deal of the hidden tiles. It goes back turn by turn from the present, with the rack that a player had:

    a play      the tiles put down return to the rack
    a draw      a random tile of the rack is taken out: the one drawn in this turn
    a proof     an idle turn that shows that the player had no play: the tiles of the rack that are not known yet are
                drawn from the hidden ones, so that the rack has none

Every order of the deck that allows the same turns is equally likely. A particle chooses among the tiles that fit, and
its weight is multiplied by their share of all tiles. When a few particles hold most of the weight, the filter
resamples: it replaces the particles by copies, in proportion to the weights. One player's rack follows another's, and
the last step picks one particle by weight. (N. Gordon, D. Salmond, A. Smith, "Novel approach to nonlinear/non-Gaussian
Bayesian state estimation", 1993.)

Before the filter, single particles are tried: one that is kept with the probability of its weight is an exact draw. In
the first turns this takes few attempts.

Particles look ahead: a tile that alone could have been played at an earlier proof must have been drawn after it. The
*promise* of a particle is the chance that a random order of the rack respects this. Resampling goes by *score*, weight
times promise. (M. Pitt, N. Shephard, "Filtering via simulation: auxiliary particle filters", 1999.)
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.rng import random_below, random_unit
from cardenvs.core.scratch import stack_record
from cardenvs.games.rummikub.past import DRAW, NO_TURN, PAST, PLAY, copy_present, is_proof, take_back
from cardenvs.games.rummikub.ruleset import MAX_PLAYERS
from cardenvs.games.rummikub.state import HISTORY
from cardenvs.games.rummikub.steps import is_able_to_play
from cardenvs.games.rummikub.tiles import MOST_TILES, NUM_TYPES
from cardenvs.games.rummikub.turn import TURN

NUM_PARTICLES = 64
MOST_ATTEMPTS = 32  # with a single particle
_MOST_PROOFS = HISTORY // 5 + 1  # before each is a play; the two take five entries or more
_NEVER = np.int64(MOST_TILES)  # more draws than there are
_UNKNOWN = np.int64(NUM_TYPES)  # a choice beside the tiles: one that is not known yet
_UNLIKELY = 1e-6  # instead of 0: if no particle fits a proof, all go on

FILTER = packed(
    [
        ("number", "i8"),  # of particles
        ("hands", "i8", (NUM_PARTICLES, MAX_PLAYERS, NUM_TYPES)),  # present racks, as far as they are known
        ("hidden", "i8", (NUM_PARTICLES, NUM_TYPES)),  # tiles that are not in these racks
        ("rack", "i8", (NUM_PARTICLES, NUM_TYPES)),  # known tiles of the player at the time reached
        ("num_unknown", "i8", (NUM_PARTICLES,)),  # other tiles of that rack
        ("promise", "f8", (NUM_PARTICLES,)),
        ("score", "f8", (NUM_PARTICLES,)),
        ("fits", "i8", (NUM_PARTICLES,)),  # 0: the player could have played
        ("num_copies", "i8", (NUM_PARTICLES,)),
        # the proofs of each player, the last one first
        ("num_proofs", "i8", (MAX_PLAYERS,)),
        ("proof_at", "i8", (MAX_PLAYERS, _MOST_PROOFS)),  # entry of the history after it
        ("num_draws", "i8", (MAX_PLAYERS, _MOST_PROOFS)),  # draws of the player from the present back to it
        ("playable", "i8", (MAX_PLAYERS, _MOST_PROOFS)),  # tiles that could be played alone, a bit set
        # the player whose rack is drawn
        ("rack_size", "i8"),  # at the time reached
        ("put_down", "i8", (NUM_TYPES,)),  # tiles put down after that time
        ("draws_left", "i8", (NUM_TYPES,)),  # back to a proof at which the tile alone could be played, or _NEVER
        # the next choice
        ("weights", "f8", (NUM_TYPES + 1,)),
        ("num_due", "i8", (MOST_TILES,)),  # known tiles with this number in `draws_left`
    ]
)
_new_filter = stack_record(FILTER)
_new_past = stack_record(PAST)
_new_turn = stack_record(TURN)


@kernel
def deal_fitting_racks(s, viewer, first, attempts):
    """Deal racks to all players but `viewer`.

    Args:
        s: record whose deck[first:num_tiles] are all tiles that the viewer does not know. Afterwards
            deck[num_dealt:num_tiles] are those of the pool, in order. Its `rng` is advanced.
        viewer: who knows the own rack.
        first: place in the deck.
        attempts: with a single particle, MOST_ATTEMPTS except in tests.
    """
    f, past, w = _new_filter(), _new_past(), _new_turn()
    for p in range(s.rules.num_players):
        if p != viewer:
            _list_proofs(s, f, past, w, p, first)
    for attempt in range(attempts + 1):
        _begin(s, f, first, 1 if attempt < attempts else NUM_PARTICLES)
        for p in range(s.rules.num_players):
            if p != viewer and not _is_lost(f):
                _go_back(s, f, past, w, p)
        if not _is_lost(f):
            break
    i, _ = _choose(s, f.score, f.number)  # by now the scores are weights, as no proof is left
    for p in range(s.rules.num_players):
        if p != viewer:
            for tile in range(NUM_TYPES):
                s.hands[p, tile] = f.hands[i, p, tile]
    place = np.int64(s.num_dealt)
    for tile in range(NUM_TYPES):
        for _ in range(f.hidden[i, tile]):
            s.deck[place] = tile
            place += 1


@kernel
def _begin(s, f, first, number):
    """Begin with `number` particles in which all tiles are hidden."""
    f.number = number
    for i in range(number):
        f.score[i] = 1.0
        for tile in range(NUM_TYPES):
            f.hidden[i, tile] = 0
            for p in range(MAX_PLAYERS):
                f.hands[i, p, tile] = 0
        for place in range(first, s.num_tiles):
            f.hidden[i, s.deck[place]] += 1


@kernel
def _go_back(s, f, past, w, player):
    """Draw the rack of `player` in each particle."""
    copy_present(s, past, player)
    f.rack_size = s.rack_sizes[player]
    for tile in range(NUM_TYPES):
        f.put_down[tile] = 0
    for i in range(f.number):
        f.num_unknown[i] = f.rack_size
        f.promise[i] = 1.0
        for tile in range(NUM_TYPES):
            f.rack[i, tile] = 0
    n, num_draws, proof = np.int64(s.num_history), np.int64(0), np.int64(0)
    _look_ahead(f, player, proof, num_draws)
    while not _is_lost(f):
        at = n
        n, kind, who = take_back(s, past, n)
        if kind == NO_TURN:
            break
        if who != player:
            continue
        if kind == PLAY:
            _return_tiles(f, past, player)
            continue
        proves = proof < f.num_proofs[player] and f.proof_at[player, proof] == at
        num_draws += kind == DRAW
        _look_ahead(f, player, proof + proves, num_draws)
        if kind == DRAW:
            _take_out(s, f, past, w, player, proves)
        elif proves:
            _check(s, f, past, w, player)
        if proves:
            _draw_unknown(s, f, past, w, player, f.playable[player, proof])
            proof += 1
    for i in range(f.number):
        f.fits[i] = True
        for _ in range(f.num_unknown[i]):
            _draw_any(s, f, i, player)
    _resample(s, f)


# ---------------------------------------------------------------------------------------------------------------
# Proofs


@kernel
def _list_proofs(s, f, past, w, player, first):
    """List the proofs of `player`, and which tiles could have been played alone.

    A proof is left out where a later one shows more: on the same table, and before the opening, to which the table
    does not matter.
    """
    copy_present(s, past, player)
    f.num_proofs[player] = 0
    tiles = np.int64(0)  # that the player may have had, a bit set
    for place in range(first, s.num_tiles):
        tiles |= np.int64(1) << s.deck[place]
    n, num_draws, is_new = np.int64(s.num_history), np.int64(0), True
    while True:
        at = n
        n, kind, who = take_back(s, past, n)
        if kind == NO_TURN:
            return
        if kind == PLAY:
            is_new = True
            for tile in range(NUM_TYPES if who == player else 0):
                tiles |= np.int64(past.hands[player, tile] > 0) << tile
        elif who == player:
            num_draws += kind == DRAW
            if is_new and is_proof(s, kind):
                proof = f.num_proofs[player]
                f.proof_at[player, proof] = at
                f.num_draws[player, proof] = num_draws
                f.playable[player, proof] = _playable(past, w, player, tiles)
                f.num_proofs[player] += 1
                if not past.opened[player]:
                    return
                is_new = False


@kernel
def _playable(past, w, player, tiles):
    """Return which of `tiles`, a bit set, could have been played alone."""
    playable = np.int64(0)
    for tile in range(NUM_TYPES):
        past.hands[player, tile] = 0
    for tile in range(NUM_TYPES):
        if tiles >> tile & 1:
            past.hands[player, tile] = 1
            playable |= np.int64(is_able_to_play(past, w)) << tile
            past.hands[player, tile] = 0
    return playable


@kernel
def _look_ahead(f, player, proof, num_draws):
    """Set f.draws_left after `num_draws` draws, for the proofs from `proof` on."""
    for tile in range(NUM_TYPES):
        f.draws_left[tile] = _NEVER
    if f.number == 1:  # a weight must not be above 1 then
        return
    for k in range(f.num_proofs[player] - 1, proof - 1, -1):
        for tile in range(NUM_TYPES):
            if f.playable[player, k] >> tile & 1:
                f.draws_left[tile] = f.num_draws[player, k] - num_draws


@kernel
def _promise(f, i, size):
    """Return the chance that all known tiles are among the draws left to them, if a rack of `size` comes at random."""
    last = np.int64(-1)
    for tile in range(NUM_TYPES):
        if f.rack[i, tile] and f.draws_left[tile] != _NEVER:
            while last < f.draws_left[tile]:
                last += 1
                f.num_due[last] = 0
            f.num_due[f.draws_left[tile]] += f.rack[i, tile]
    promise, num_placed = 1.0, np.int64(0)
    for draws in range(last + 1):  # the tiles with the fewest draws first
        for _ in range(f.num_due[draws]):
            promise *= max(_UNLIKELY, (draws - num_placed) / (size - num_placed))
            num_placed += 1
    return promise


@kernel
def _has_play(f, i, past, w, player):
    """Return whether the known tiles have a play."""
    for tile in range(NUM_TYPES):
        past.hands[player, tile] = f.rack[i, tile]
    return is_able_to_play(past, w)


# ---------------------------------------------------------------------------------------------------------------
# Turns


@kernel
def _return_tiles(f, past, player):
    """Return the tiles put down in a play to the rack.

    Where it held two equal tiles, and one was put down, two particles stand for the same deck: either tile may be that
    one. Each counts half.
    """
    for tile in range(NUM_TYPES):
        number = past.hands[player, tile]
        if number:
            f.put_down[tile] += number
            f.rack_size += number
            for i in range(f.number):
                if f.rack[i, tile]:
                    f.score[i] *= 0.5
                f.rack[i, tile] += number
    for i in range(f.number):
        _renew_promise(f, i)


@kernel
def _renew_promise(f, i):
    promise = _promise(f, i, f.rack_size)
    f.score[i] *= promise / f.promise[i]
    f.promise[i] = promise


@kernel
def _take_out(s, f, past, w, player, proves):
    """Take out the tile that was drawn in this turn; in a proof, one without which the known tiles have no play."""
    for i in range(f.number):
        all_fit = not proves or not _has_play(f, i, past, w, player)
        f.fits[i] = _weigh_rack(f, i, past, w, player, all_fit)
        if not f.fits[i]:
            _weigh_rack(f, i, past, w, player, True)
        tile, total = _choose(s, f.weights, NUM_TYPES + 1)
        f.score[i] *= total / (f.rack_size * f.promise[i])
        if tile == _UNKNOWN:
            f.num_unknown[i] -= 1
            _draw_any(s, f, i, player)
        else:
            f.rack[i, tile] -= 1
        f.promise[i] = _promise(f, i, f.rack_size - 1)
    f.rack_size -= 1
    _resample(s, f)


@kernel
def _weigh_rack(f, i, past, w, player, all_fit):
    """Set the weight of each tile of the rack that can be taken out; return whether there is one."""
    found = False
    for tile in range(NUM_TYPES):
        number = f.rack[i, tile]
        f.weights[tile] = 0.0
        if number:
            f.rack[i, tile] -= 1
            if all_fit or not _has_play(f, i, past, w, player):
                f.weights[tile] = number * _promise(f, i, f.rack_size - 1)
                found = True
            f.rack[i, tile] += 1
    f.weights[_UNKNOWN] = 0.0
    if all_fit and f.num_unknown[i]:
        f.weights[_UNKNOWN] = f.num_unknown[i] * _promise(f, i, f.rack_size - 1)
        found = True
    return found


@kernel
def _check(s, f, past, w, player):
    """Keep the particles whose known tiles have no play."""
    for i in range(f.number):
        _renew_promise(f, i)
        f.fits[i] = not _has_play(f, i, past, w, player)
    _resample(s, f)


@kernel
def _draw_unknown(s, f, past, w, player, playable):
    """Draw the unknown tiles of the rack, so that it has no play. The bit set `playable` is of tiles that are one."""
    goes_on = True
    while goes_on and not _is_lost(f):
        goes_on = False
        for i in range(f.number):
            f.fits[i] = True
            if f.num_unknown[i]:
                goes_on = True
                num_hidden = _weigh_hidden(f, i, playable)
                tile, total = _choose(s, f.weights, NUM_TYPES + 1)
                f.score[i] *= total / (num_hidden * f.promise[i])
                f.num_unknown[i] -= 1
                f.hidden[i, tile] -= 1
                f.hands[i, player, tile] += 1
                f.rack[i, tile] += 1
                f.promise[i] = _promise(f, i, f.rack_size)
                f.fits[i] = not _has_play(f, i, past, w, player)
        _resample(s, f)


@kernel
def _weigh_hidden(f, i, playable):
    """Set the weight of each hidden tile for the rack; return how many there are."""
    num_hidden = np.int64(0)
    for tile in range(NUM_TYPES):
        number = f.hidden[i, tile]
        num_hidden += number
        f.weights[tile] = 0.0
        if number:
            f.rack[i, tile] += 1
            f.weights[tile] = number * _promise(f, i, f.rack_size)
            f.rack[i, tile] -= 1
            if playable >> tile & 1:
                f.weights[tile] *= _UNLIKELY
            if f.put_down[tile]:  # as in _return_tiles
                f.weights[tile] *= 0.5
    f.weights[_UNKNOWN] = 0.0
    return num_hidden


@kernel
def _draw_any(s, f, i, player):
    """Draw a tile of the present rack that no proof is about."""
    k = np.int64(0)
    for tile in range(NUM_TYPES):
        k += f.hidden[i, tile]
    k = random_below(s.rng, k)
    tile = np.int64(0)
    while k >= f.hidden[i, tile]:
        k -= f.hidden[i, tile]
        tile += 1
    f.hidden[i, tile] -= 1
    f.hands[i, player, tile] += 1
    if f.put_down[tile]:  # as in _return_tiles
        f.score[i] *= 0.5


@kernel
def _choose(s, weights, number):
    """Return a random choice out of `number`, in proportion to `weights`, and the sum of these."""
    total = 0.0
    for k in range(number):
        total += weights[k]
    rest, choice = random_unit(s.rng) * total, np.int64(0)
    for k in range(number):
        if weights[k] > 0 and rest >= 0:
            choice = np.int64(k)
            rest -= weights[k]
    return choice, total


# ---------------------------------------------------------------------------------------------------------------
# Particles


@kernel
def _resample(s, f):
    """Drop the particles that do not fit, unless none does; resample if a few hold most of the score.

    A single particle is kept with the probability of its score.
    """
    if f.number == 1:
        f.score[0] = 1.0 if f.fits[0] and random_unit(s.rng) < f.score[0] else 0.0
        return
    fitting = 0.0
    for i in range(f.number):
        fitting += f.score[i] if f.fits[i] else 0.0
    total, squares = 0.0, 0.0
    for i in range(f.number):
        if fitting > 0 and not f.fits[i]:
            f.score[i] = 0.0
        total += f.score[i]
    for i in range(f.number):
        f.score[i] /= total
        squares += f.score[i] * f.score[i]
    if squares * f.number < 2:  # the effective sample size, 1 / squares, is more than half
        return
    mark = random_unit(s.rng) / f.number  # systematic resampling: evenly spaced marks
    for i in range(f.number):
        f.num_copies[i] = 0
        while mark < f.score[i]:
            f.num_copies[i] += 1
            mark += 1 / f.number
        mark -= f.score[i]
        f.score[i] = min(1, f.num_copies[i])
    source = np.int64(0)
    for i in range(f.number):
        if f.num_copies[i] == 0:
            while source < f.number and f.num_copies[source] < 2:
                source += 1
            if source < f.number:  # after rounding there may be one copy too few
                f.num_copies[source] -= 1
                _copy(f, source, i)


@kernel(inline=True)
def _is_lost(f):
    """Return whether a single particle has been dropped."""
    return f.number == 1 and f.score[0] == 0


@kernel
def _copy(f, source, i):
    """Copy a particle over particle `i`."""
    f.score[i] = f.score[source]
    f.promise[i] = f.promise[source]
    f.num_unknown[i] = f.num_unknown[source]
    for tile in range(NUM_TYPES):
        f.hidden[i, tile] = f.hidden[source, tile]
        f.rack[i, tile] = f.rack[source, tile]
        for p in range(MAX_PLAYERS):
            f.hands[i, p, tile] = f.hands[source, p, tile]
