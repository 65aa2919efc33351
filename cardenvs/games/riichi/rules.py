"""Rules of riichi: the course of rounds and matches. Paragraph numbers are those of rules.md.

Legal actions are in legal.py, the effects of a move in effects.py, wins and payments in winning.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import Returns, by_place
from cardenvs.core.rng import DEAL, shuffle_rest, start_stream
from cardenvs.games.riichi import actions, effects, state, table, winning
from cardenvs.games.riichi.legal import FOUR_RIICHI, FOUR_WINDS, aborted_by_discard, barred_by_chi
from cardenvs.games.riichi.state import (
    ASKED,
    CALLED,
    NUM_PLAYERS,
    ROBBING,
    STICK,
    WAS_CALLED,
    tiles_left,
)
from cardenvs.games.riichi.tiles import NUM_TILES, ORPHANS, bit_of, kind_of
from cardenvs.kits.matches import leave, pay_stake

num_actions = actions.NUM_ACTIONS
_MOST_LEGAL = 64
NOTEN_PAYMENT = 3_000  # from all noten players to all tenpai ones (8.1)
_DECISIONS = 360  # of a round, see max_length
_MOST_YAKUMAN = 6  # in one hand
_MOST_PAID = 3 * _MOST_YAKUMAN * 48_000 // 1_000  # thousands by one player in one round, without honba


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Begin the first round; player 0 is the first dealer (9.1)."""
    ev.log_create(log, table.NEW_WALL, table.WALL, NUM_TILES)
    for p in range(NUM_PLAYERS):
        s.points[p] = s.rules.starting_points
        ev.log_set(log, table.STARTS_WITH, p, table.POINTS + p, s.points[p])
    ev.log_set(log, table.IS_DEALER, 0, table.DEALER, 0)
    _begin_round(s, given, log)


@kernel
def _begin_round(s, given, log):
    """Shuffle, deal, turn up the first indicator, and let the dealer draw (2)."""
    effects.clear_table(s)
    start_stream(s, DEAL, s.num_rounds)
    shuffle_rest(s, s.deck, NUM_TILES, given)
    s.num_rounds += 1
    ev.log_set(log, table.NEW_ROUND, ev.NO_PLAYER, table.ROUND, s.num_rounds)
    effects.deal_hands(s, log)
    effects.turn_up(s, log)
    effects.draw(s, np.int64(s.dealer), table.DRAWS, log)


# ---------------------------------------------------------------------------------------------------------------
# Turns


@kernel
def apply_action(s, action, log):
    """Apply a legal action of the player to act and go on to the next decision."""
    player = np.int64(s.current_player)
    if s.phase >= ASKED:
        _answer(s, player, action, log)
    elif action < actions.CLOSED_KAN:
        with_riichi = action >= actions.RIICHI
        effects.discard(s, player, action - actions.RIICHI if with_riichi else action, with_riichi, log)
        _ask(s, player, ASKED)
    elif action < actions.ADDED_KAN:
        effects.closed_kan(s, player, action - actions.CLOSED_KAN, log)
        _replace(s, player, log)
    elif action < actions.CHI:
        effects.add_to_pon(s, player, action - actions.ADDED_KAN, log)
        _ask(s, player, ROBBING)
    elif action == actions.TSUMO:
        winning.win_by_tsumo(s, player, log)
        _end_round(s, player == s.dealer, False, log)
    else:
        ev.log_note(log, table.NINE_TILES, player, 0)
        effects.show_hand(s, player, log)
        _abort(s, log)


@kernel(inline=True)
def _replace(s, player, log):
    """Draw a tile for a kan (2.3)."""
    effects.draw(s, player, table.REPLACES, log)
    s.after_kan = 1


@kernel(inline=True)
def _ask(s, player, phase):
    """Ask the three others in turn about the last tile; all answers are hidden until the last one (3.2)."""
    s.phase = phase
    s.turn = player
    for p in range(NUM_PLAYERS):
        s.answers[p] = 0
    s.current_player = (player + 1) & 3


@kernel(inline=True)
def _answer(s, player, action, log):
    """Note an answer; after the last one, carry out the highest (3.2)."""
    s.answers[player] = 1 + action
    s.current_player = (player + 1) & 3
    if s.current_player == s.turn:
        _resolve(s, log)


@kernel
def _resolve(s, log):
    """Carry out the highest answer: ron before pon and kan before chi (3.2)."""
    turn = np.int64(s.turn)
    number = _count_rons(s)
    if number:
        _win_by_ron(s, turn, number, log)
        return
    for p in range(NUM_PLAYERS):
        if p != turn:
            s.passed[p] |= bit_of(kind_of(s.tile))
    if s.phase == ROBBING:
        _forget_answers(s)
        effects.complete_added_kan(s)
        _replace(s, turn, log)
        return
    if s.is_declaring:
        effects.pay_stick(s, turn, log)
    how = aborted_by_discard(s)
    if how:
        _log_abort(s, how, log)
        _abort(s, log)
        return
    caller, action = _highest_call(s, turn)
    _forget_answers(s)
    if action != actions.PASS:
        _call(s, caller, action, log)
    elif tiles_left(s) == 0:
        _exhaust(s, log)
    else:
        effects.draw(s, (turn + 1) & 3, table.DRAWS, log)


@kernel(inline=True)
def _forget_answers(s):
    for p in range(NUM_PLAYERS):
        s.answers[p] = 0


@kernel(inline=True)
def _count_rons(s):
    number = 0
    for p in range(NUM_PLAYERS):
        if s.answers[p] == 1 + actions.RON:
            number += 1
    return number


@kernel(inline=True)
def _highest_call(s, turn):
    """Return who calls the last discard, and the call, or PASS: only one player can pon or kan (3.2)."""
    caller, call = turn, np.int64(actions.PASS)
    for k in range(1, NUM_PLAYERS):
        p = (turn + k) & 3
        action = np.int64(s.answers[p]) - 1
        if actions.PON <= action <= actions.OPEN_KAN or (actions.is_call(action) and call == actions.PASS):
            caller, call = p, action
    return caller, call


@kernel
def _call(s, player, action, log):
    """Take the last discard (3.3)."""
    if action == actions.OPEN_KAN:
        effects.call_kan(s, player, log)
        effects.find_waits(s, player)
        _replace(s, player, log)
        return
    if action >= actions.PON:
        s.barred = np.int64(0) if s.rules.swap_calling else bit_of(kind_of(s.tile))
        effects.call_pon(s, player, action - actions.PON, log)
    else:
        with_red, place = (action - actions.CHI) // 3, (action - actions.CHI) % 3
        s.barred = barred_by_chi(s, kind_of(s.tile), place)
        effects.call_chi(s, player, place, with_red, log)
    s.phase = CALLED
    s.tile = state.NO_TILE


# ---------------------------------------------------------------------------------------------------------------
# The end of a round


@kernel
def _win_by_ron(s, turn, number, log):
    """Let one, two or three players win by the last tile (5.6)."""
    if number == 3 and s.rules.multiple_ron == state.DOUBLE:
        if s.is_declaring:
            effects.pay_stick(s, turn, log)
        ev.log_note(log, table.THREE_RONS, ev.NO_PLAYER, 0)
        _abort(s, log)
        return
    wins, dealer_wins = 0, False
    for k in range(1, NUM_PLAYERS):
        p = (turn + k) & 3
        if s.answers[p] == 1 + actions.RON and not (wins and s.rules.multiple_ron == state.HEAD_BUMP):
            winning.win_by_ron(s, p, turn, wins == 0, log)
            wins += 1
            dealer_wins = dealer_wins or p == s.dealer
    _end_round(s, dealer_wins, False, log)


@kernel(inline=True)
def _log_abort(s, how, log):
    event = table.FOUR_WINDS if how == FOUR_WINDS else table.FOUR_RIICHI if how == FOUR_RIICHI else table.FOUR_KANS
    ev.log_note(log, event, ev.NO_PLAYER, 0)


@kernel
def _abort(s, log):
    """End the round without a result; the dealer deals again (8.3, 9.2)."""
    _end_round(s, True, True, log)


@kernel
def _exhaust(s, log):
    """End the round with an empty wall: pay hands that are tenpai, or discards of terminals and honours (8.1, 8.2)."""
    ev.log_note(log, table.EXHAUSTED, ev.NO_PLAYER, 0)
    s.is_exhausted = 1
    number = 0
    for k in range(NUM_PLAYERS):
        p = (s.dealer + k) & 3
        s.tenpai[p] = s.waits[p] != 0
        number += s.tenpai[p]
        ev.log_note(log, table.IS_TENPAI if s.tenpai[p] else table.IS_NOTEN, p, 0)
        if s.tenpai[p]:
            effects.show_hand(s, p, log)
    if not (s.rules.nagashi and _pay_nagashi(s, log)) and 0 < number < NUM_PLAYERS:
        for p in range(NUM_PLAYERS):
            change = NOTEN_PAYMENT // number if s.tenpai[p] else -(NOTEN_PAYMENT // (NUM_PLAYERS - number))
            winning.change_points(s, p, change, log)
    _end_round(s, s.tenpai[s.dealer] != 0, True, log)


@kernel
def _pay_nagashi(s, log):
    """Pay players who have discarded only terminals and honours, none of them called; return whether there are any."""
    is_paid = False
    for k in range(NUM_PLAYERS):
        p = (s.dealer + k) & 3
        if s.thrown[p] & ~ORPHANS == 0 and not _was_called(s, p):
            ev.log_note(log, table.NAGASHI, p, 0)
            winning.pay_nagashi(s, p, log)
            is_paid = True
    return is_paid


@kernel(inline=True)
def _was_called(s, player):
    called = np.int64(0)
    for k in range(s.num_discards[player]):
        called |= s.discard_marks[player, k] & WAS_CALLED
    return called != 0


@kernel
def _end_round(s, dealer_stays, is_draw, log):
    """End the round: count honba, move the deal on, and begin the next round or end the game (9)."""
    ev.log_note(log, table.ENDS, ev.NO_PLAYER, 0)
    if s.rules.length == state.ROUND or _is_over(s, dealer_stays, is_draw):
        _end_game(s, log)
        return
    effects.gather_tiles(s, log)
    effects.set_honba(s, s.honba + 1 if dealer_stays or is_draw else 0, log)
    if not dealer_stays:
        s.dealer = (s.dealer + 1) & 3
        if s.dealer == 0:
            s.wind += 1
            ev.log_set(log, table.NEW_WIND, ev.NO_PLAYER, table.WIND, s.wind)
        ev.log_set(log, table.IS_DEALER, s.dealer, table.DEALER, s.dealer)
    _begin_round(s, NO_DECK, log)


@kernel
def _is_over(s, dealer_stays, is_draw):
    """Return whether a match is over after a round (9.3 to 9.6)."""
    first, last_wind = winning.leader(s), s.rules.length - state.EAST_ONLY
    for p in range(NUM_PLAYERS):
        if s.points[p] < 0:
            return True
    if s.num_rounds == state.MAX_ROUNDS:
        return True
    reached = s.points[first] >= state.TARGET
    if s.wind > last_wind:
        return reached or (s.dealer == 3 and not dealer_stays)
    if s.wind < last_wind or s.dealer != 3:
        return False
    is_won = s.tenpai[3] != 0 if is_draw else dealer_stays
    return reached and (not dealer_stays or (is_won and first == 3))


# ---------------------------------------------------------------------------------------------------------------
# The end of the game


@kernel
def _end_game(s, log):
    """Give the sticks left in a match to the first, and pay points or places (9.5, 10)."""
    first = winning.leader(s)
    if s.rules.length != state.ROUND:
        if s.sticks:
            s.points[first] += STICK * s.sticks
            ev.log_set(log, table.TAKES_STICKS, first, table.POINTS + first, s.points[first])
            effects.set_sticks(s, 0, log)
        ev.log_note(log, table.IS_FIRST, first, 0)
    _forget_answers(s)
    s.terminal = 1
    for p in range(NUM_PLAYERS):
        place = _place(s, p)
        if s.rules.returns == state.RANK:
            s.rewards[p] = 1 - 2 * place / (NUM_PLAYERS - 1)
        else:
            bonus = state.UMA[s.rules.uma, place] - s.rules.oka + (NUM_PLAYERS * s.rules.oka if place == 0 else 0)
            s.rewards[p] = (s.points[p] - s.rules.starting_points) / 1_000 + bonus


@kernel
def _place(s, player):
    """Return the place of a player, from 0; of equal ones, the one nearer the first dealer is higher (9.5)."""
    place = 0
    for p in range(NUM_PLAYERS):
        if s.points[p] > s.points[player] or (s.points[p] == s.points[player] and p < player):
            place += 1
    return place


@kernel
def forfeit(s, player, log):
    """End the game: `player` loses the most that staying could have cost, and the others share it (10.3)."""
    leave(s, player, table.FORFEITS, log)
    _forget_answers(s)
    pay_stake(s, player, _most_lost(s.rules), NUM_PLAYERS)


# ---------------------------------------------------------------------------------------------------------------
# Sizes


@kernel(inline=True)
def _most_lost(rules):
    """Return the most that a player can lose (10.3): all points, and one round more."""
    if rules.returns == state.RANK:
        return 1.0
    most = float(_MOST_PAID + state.MAX_ROUNDS)
    if rules.length != state.ROUND:
        most += rules.starting_points / 1_000
    return most - state.UMA[rules.uma, NUM_PLAYERS - 1] + rules.oka


def max_legal(options):
    """Return a bound on the number of legal actions: fourteen discards, as many with riichi, kans and others."""
    return _MOST_LEGAL


def max_length(options):
    """Return a bound on the number of actions.

    A player's turn begins with a draw from the live wall or with a call. There are at most 70 draws and 16 calls, hence
    86 turns, each with one discard about which three others are asked; and at most four kans, which add a decision and
    three answers.

    No player has more than 28 discards: whoever draws has had a turn of the player before, so that the draws of
    neighbours differ by at most five; with 70 draws together nobody has more than 24, and four calls.
    """
    return _DECISIONS * (1 if options.length == "round" else state.MAX_ROUNDS)


def returns(options):
    """Return what is paid (10). Sticks may be left on the table after a single round."""
    if options.returns == "rank":
        return by_place(NUM_PLAYERS)
    low = _MOST_PAID + state.MAX_ROUNDS + options.oka + state.UMAS[options.uma][1]
    if options.length != "round":
        low += options.starting_points / 1_000
    return Returns(-low, 3 * low, None if options.length == "round" else 0, "thousand points")
