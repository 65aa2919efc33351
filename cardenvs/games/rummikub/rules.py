"""Rules of Rummikub as kernels. Paragraph numbers are those of rules.md; the steps of a turn are in steps.py."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import DEAL, canonical_shuffle, random_below, shuffle, shuffle_rest, start_stream
from cardenvs.core.scratch import stack_record
from cardenvs.core.seats import next_active, num_active
from cardenvs.games.rummikub import actions, effects, past, steps, table, worlds
from cardenvs.games.rummikub.catalogue import NUM_MELDS
from cardenvs.games.rummikub.ruleset import HIGH_TILE, NO_PLAY_ONLY, RANDOM_SEAT
from cardenvs.games.rummikub.state import EXACT, NO_MELD, SCORE
from cardenvs.games.rummikub.tiles import JOKER, MAX_MELDS, NUM_NATURALS, NUM_TYPES, NUM_VALUES
from cardenvs.games.rummikub.turn import TO_LAY, TO_TAKE, TURN
from cardenvs.kits.deck import begin_world
from cardenvs.kits.matches import leave

_WHO_BEGINS = 1  # the random stream for the beginner

new_turn = stack_record(TURN)

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the racks and choose who begins (1.3, 1.4)."""
    _sort_deck(s)
    beginner = _choose_beginner(s, log)
    _sort_deck(s)
    start_stream(s, DEAL, 0)
    shuffle_rest(s, s.deck, np.int64(s.num_tiles), given)
    for k in range(MAX_MELDS):
        s.sets[k] = NO_MELD
    effects.forget_turn(s)
    effects.deal_racks(s, log)
    if s.rules.initial_meld_min == 0:
        for p in range(s.rules.num_players):
            effects.set_opened(s, p, log)
    ev.log_note(log, table.BEGIN, beginner, 0)
    s.current_player = beginner


@kernel
def _sort_deck(s):
    """Put all tiles of the game in order into s.deck."""
    n = np.int64(0)
    for c in range(s.rules.colors):
        for v in range(s.rules.values):
            for _ in range(s.rules.copies):
                s.deck[n] = c * NUM_VALUES + v
                n += 1
    for _ in range(s.rules.jokers):
        s.deck[n] = JOKER
        n += 1
    s.num_tiles = n


@kernel
def _choose_beginner(s, log):
    """Return the player who begins: seat 0, a random one, or the one who draws the highest tile (1.4)."""
    start_stream(s, _WHO_BEGINS, 0)
    num_players = np.int64(s.rules.num_players)
    if s.rules.start_player == RANDOM_SEAT:
        return random_below(s.rng, num_players)
    if s.rules.start_player != HIGH_TILE:
        return np.int64(0)
    contenders = (np.int64(1) << num_players) - 1
    while contenders & (contenders - 1):
        shuffle(s, s.deck, 0, np.int64(s.num_tiles))
        best, highest = np.int64(0), np.int64(-1)
        for p in range(num_players):
            if contenders >> p & 1:
                tile = np.int64(s.deck[p])
                effects.note_tile(table.DRAW_TO_BEGIN, p, tile, log)
                value = 0 if tile == JOKER else tile % NUM_VALUES + 1
                if value > highest:
                    best, highest = np.int64(0), value
                if value == highest:
                    best |= 1 << p
        contenders = best
    beginner = np.int64(0)
    while not contenders >> beginner & 1:
        beginner += 1
    return beginner


# ---------------------------------------------------------------------------------------------------------------
# What is legal


@kernel
def legal_actions(s, out):
    """List the legal steps of the player to act, ascending (8)."""
    if s.rules.steps == EXACT:
        return _legal_exact(s, out)
    return _legal_loose(s, out)


@kernel
def _idle(s):
    """Return DRAW, or PASS if the pool is empty (3.3, 3.4)."""
    return actions.DRAW if s.num_dealt < s.num_tiles else actions.PASS


@kernel
def idle_needs_no_play(s):
    """Return whether only a player without a legal PLAY may draw or pass (3.3, 3.4)."""
    if s.num_dealt < s.num_tiles:
        return not s.rules.allow_draw_when_play_possible
    return s.rules.pass_rule == NO_PLAY_ONLY


@kernel
def _legal_exact(s, out):
    """List the steps with which the turn can be completed (8.4)."""
    w = new_turn()
    n = 0
    if s.num_laid == 0 and s.opened[s.current_player]:
        steps.mark_steps(s, w, TO_TAKE)
        for k in range(MAX_MELDS):
            if s.sets[k] != NO_MELD and w.marks[s.sets[k]] and steps.explain_take(s, k) == 0:
                out[n] = actions.TAKE_0 + k
                n += 1
    steps.mark_steps(s, w, TO_LAY)
    for number in range(NUM_MELDS):
        if w.marks[number]:
            out[n] = actions.LAY_0 + number
            n += 1
    if steps.is_building(s):
        first, offered = actions.COMMIT, steps.explain_commit(s, w) == 0
    else:
        first, offered = _idle(s), n == 0 or not idle_needs_no_play(s)
    if not offered:
        return n
    for k in range(n, 0, -1):
        out[k] = out[k - 1]
    out[0] = first
    return n + 1


@kernel
def _legal_loose(s, out):
    """List the steps for which there are tiles; a play can always be given up (8.5)."""
    n = 0
    if steps.is_building(s):
        out[0] = _idle(s)
        out[1] = actions.COMMIT
        n = 2 if steps.explain_commit(s, new_turn()) == 0 else 1
    elif not idle_needs_no_play(s) or not steps.is_able_to_play(s, new_turn()):
        out[0] = _idle(s)
        n = 1
    if s.num_laid == 0:
        for k in range(MAX_MELDS):
            if steps.explain_take(s, k) == 0:
                out[n] = actions.TAKE_0 + k
                n += 1
    return steps.list_lays(s, out, n)


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else a code of actions.py."""
    if action < actions.COMMIT:
        return _explain_idle(s, action)
    w = new_turn()
    if action == actions.COMMIT:
        return steps.explain_commit(s, w)
    if action < actions.LAY_0:
        code = steps.explain_take(s, action - actions.TAKE_0)
        if code == 0 and s.rules.steps == EXACT:
            steps.mark_steps(s, w, TO_TAKE)
            return 0 if w.marks[s.sets[action - actions.TAKE_0]] else actions.CANNOT_BE_COMPLETED
        return code
    code = steps.explain_lay(s, action - actions.LAY_0)
    if code == 0 and s.rules.steps == EXACT:
        steps.mark_steps(s, w, TO_LAY)
        return 0 if w.marks[action - actions.LAY_0] else actions.CANNOT_BE_COMPLETED
    return code


@kernel
def _explain_idle(s, action):
    """Return the code of why the player may not draw or pass, or 0."""
    if action != _idle(s):
        return actions.POOL_EMPTY if action == actions.DRAW else actions.POOL_NOT_EMPTY
    if steps.is_building(s):
        return actions.IS_BUILDING if s.rules.steps == EXACT else 0
    return actions.COULD_PLAY if idle_needs_no_play(s) and steps.is_able_to_play(s, new_turn()) else 0


# ---------------------------------------------------------------------------------------------------------------
# Moves


@kernel
def apply_action(s, action, log):
    """Make one step; if it ends the turn, go on to the next player or end the game."""
    player = np.int64(s.current_player)
    if action >= actions.LAY_0:
        effects.step_lay(s, player, action - actions.LAY_0, log)
    elif action >= actions.TAKE_0:
        effects.step_take_apart(s, player, action - actions.TAKE_0, log)
    elif action == actions.COMMIT:
        effects.commit(s, player, log)
        _end_turn(s, player, log)
    else:
        if steps.is_building(s):
            effects.undo_steps(s, player, log)
        if action == actions.DRAW:
            effects.draw(s, player, log)
        else:
            effects.pass_turn(s, player, log)
        _end_turn(s, player, log)


@kernel
def _end_turn(s, player, log):
    """End the game if `player` is out or everybody has passed, else go on to the next player (6.1, 6.2)."""
    if s.rack_sizes[player] == 0:
        ev.log_note(log, table.OUT, player, 0)
        _settle(s, player, log)
    elif s.num_passes >= num_active(s):
        ev.log_note(log, table.BLOCKED, ev.NO_PLAYER, 0)
        _settle(s, ev.NO_PLAYER, log)
    else:
        s.current_player = next_active(s, np.int64(s.current_player))


@kernel
def rack_sum(s, player):
    """Return the points of the rack of `player` at the end (6.1)."""
    return tiles_sum(s, s.hands[player])


@kernel
def tiles_sum(s, tiles):
    """Return the points of tiles in a rack, numbers by tile (6.1)."""
    total = np.int64(tiles[JOKER] * s.rules.joker_value_at_end)
    for tile in range(NUM_NATURALS):
        total += tiles[tile] * (tile % NUM_VALUES + 1)
    return total


@kernel
def _settle(s, out, log):
    """Score a game that `out` has ended by going out, or a blocked one with NO_PLAYER (6.1, 6.2)."""
    s.terminal = 1
    base = np.int64(0)
    if out == ev.NO_PLAYER:
        base = np.int64(1 << 30)
        for p in range(s.rules.num_players):
            if s.active[p]:
                base = min(base, rack_sum(s, p))
    num_winners, total = 0, 0.0
    for p in range(s.rules.num_players):
        if s.active[p]:
            ev.log_note(log, table.RACK, p, rack_sum(s, p))
            if rack_sum(s, p) == base and (out == ev.NO_PLAYER or p == out):
                num_winners += 1
            else:
                total += _loss(s, p, base)
    for p in range(s.rules.num_players):
        if s.active[p]:
            if rack_sum(s, p) == base and (out == ev.NO_PLAYER or p == out):
                s.rewards[p] = total / num_winners
            else:
                s.rewards[p] = -_loss(s, p, base)


@kernel
def _loss(s, player, base):
    """Return what a loser pays: the rack sum less `base`, or an equal part of 1 (6.1, 6.2, 8.7)."""
    if s.rules.returns == SCORE:
        return np.float64(rack_sum(s, player) - base)
    return 1.0 / (s.rules.num_players - 1)


@kernel
def forfeit(s, player, log):
    """Remove `player`, who pays the others the most that a loser can still pay; two or more play on (8.8)."""
    leave(s, player, table.FORFEIT, log)
    effects.forget_turn(s)
    loss = np.float64(points_to_play(s)) if s.rules.returns == SCORE else 1.0 / (s.rules.num_players - 1)
    remaining = num_active(s)
    for p in range(s.rules.num_players):
        if s.active[p]:
            s.rewards[p] = loss / remaining
    s.rewards[player] = -loss
    s.num_passes = 0
    if remaining == 1:
        s.terminal = 1
    else:
        s.current_player = next_active(s, np.int64(s.current_player))


@kernel
def points_to_play(s):
    """Return the points of all tiles that are not on the table, the most that a rack can come to hold (8.8)."""
    total = np.int64(0)
    for p in range(s.rules.num_players):
        total += rack_sum(s, p)
    for place in range(s.num_dealt, s.num_tiles):
        tile = np.int64(s.deck[place])
        total += s.rules.joker_value_at_end if tile == JOKER else tile % NUM_VALUES + 1
    return total


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` cannot know: the other racks, the pool, and the turn that another player is building.

    Where a draw or pass proves that there was no play, each rack is drawn so that it fits (7.4).
    """
    redeal(s, player, seed, worlds.MOST_ATTEMPTS)


@kernel
def redeal(s, player, seed, attempts):
    """Do as `determinize`; for `attempts` see worlds.py."""
    begin_world(s, seed)
    if s.current_player != player:
        effects.forget_turn(s)
    first = np.int64(s.num_dealt)  # deck[first:] becomes the hidden tiles; dealt tiles have left room before it
    for p in range(s.rules.num_players):
        if p != player:
            for tile in range(NUM_TYPES):
                for _ in range(s.hands[p, tile]):
                    first -= 1
                    s.deck[first] = tile
    canonical_shuffle(s, s.deck, first, np.int64(s.num_tiles))
    if past.proves(s):
        worlds.deal_fitting_racks(s, player, first, attempts)
        shuffle(s, s.deck, np.int64(s.num_dealt), np.int64(s.num_tiles))
    else:
        for p in range(s.rules.num_players):
            if p != player:
                first = _deal_rack(s, p, first)
    for place in range(s.num_dealt):
        s.deck[place] = NO_MELD


@kernel
def _deal_rack(s, player, first):
    """Deal the rack of `player` from deck[first:]; return the next place."""
    for tile in range(NUM_TYPES):
        s.hands[player, tile] = 0
    for place in range(first, first + s.rack_sizes[player]):
        s.hands[player, s.deck[place]] += 1
    return first + s.rack_sizes[player]
