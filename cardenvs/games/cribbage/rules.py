"""Rules of Cribbage: the course of a game. Paragraph numbers are those of rules.md.

What cards are worth is in counting.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.seats import wrap
from cardenvs.games.cribbage import state
from cardenvs.games.cribbage.counting import FIFTEEN, pair_points, run_points, show_points, sum_points
from cardenvs.games.cribbage.state import (
    BEST_HAND,
    COUNT_0,
    DEALT_EACH,
    DEALT_TO_CRIB,
    FITTING,
    GO,
    HAND_SIZE,
    LAID_EACH,
    LAY_AWAY,
    MAX_SUM,
    ONE,
    PACK,
    PLAY,
    SEATS,
    SHOW,
    VALUES,
    crib_of,
)
from cardenvs.kits.cards import NUM_CARDS, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD, deal_hands, next_card, shuffle_deck
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import count_sides, leave, num_sides, pay_scores, pay_stake, side_of

_JACK = PACK.ranks.index("J")

# ---------------------------------------------------------------------------------------------------------------
# Deal and lay-away


@kernel
def deal(s, given, log):
    """Deal for the first time (2.1)."""
    s.dealer = s.rules.first_dealer
    s.last_starter = NO_CARD
    _deal_cards(s, given, log)


@kernel
def _deal_cards(s, given, log):
    """Deal the hands, and a card to the crib of three players (2.1)."""
    n = s.rules.num_players
    shuffle_deck(s, NUM_CARDS, s.num_deals, given)
    s.num_deals += 1
    ev.log_set(log, state.NEW_DEAL, ev.NO_PLAYER, state.DEAL_NUMBER, s.num_deals)
    ev.log_set(log, state.IS_DEALER, s.dealer, state.DEALER, s.dealer)
    ev.log_create(log, state.SHUFFLE, state.DECK, NUM_CARDS)
    for p in range(n):
        s.hands[p] = s.laid[p] = s.played[p] = 0
        s.floors[p] = 0
    deal_hands(s, DEALT_EACH[n], state.DEALT, state.DECK, state.HAND, log)
    s.crib_card = NO_CARD
    for _ in range(DEALT_TO_CRIB[n]):
        s.crib_card = next_card(s)
        ev.log_move(log, state.DEALT_CRIB, ev.NO_PLAYER, s.crib_card, state.DECK, state.CRIB, ev.NOBODY)
    s.starter, s.crib_is_shown = NO_CARD, 0
    s.num_played = s.count_start = s.show_step = 0
    s.phase, s.current_player = LAY_AWAY, 0


@kernel(inline=True)
def _lay_away(s, player, card, log):
    """Lay a card away; once all have done so, turn up the starter (2.2, 2.3)."""
    n = s.rules.num_players
    s.hands[player] ^= np.int64(1) << card
    s.laid[player] |= np.int64(1) << card
    ev.log_move(log, state.LAYS_AWAY, player, card, state.HAND + player, state.CRIB, 1 << player)
    if count_bits(s.laid[player]) == LAID_EACH[n]:
        s.current_player += 1
        if s.current_player == n:
            _turn_up(s, log)


@kernel(inline=True)
def _turn_up(s, log):
    """Turn up the starter; a jack pays the dealer (2.3, 2.4)."""
    s.starter = next_card(s)
    ev.log_move(log, state.TURNS_UP, ev.NO_PLAYER, s.starter, state.DECK, state.STARTER, ev.EVERYBODY)
    s.phase = PLAY
    if s.starter % 13 == _JACK and s.rules.heels:
        ev.log_note(log, state.HEELS, s.dealer, s.rules.heels)
        _peg(s, s.dealer, s.rules.heels, log)
    if not s.terminal:
        s.current_player = wrap(s.dealer + 1, s.rules.num_players)


# ---------------------------------------------------------------------------------------------------------------
# The play


@kernel(inline=True)
def fitting(s, player):
    """Return the cards that `player` may play, as a bit set (3.1)."""
    return s.hands[player] & FITTING[MAX_SUM - s.total]


@kernel(inline=True)
def is_play_over(s):
    """Return whether all cards have been played. The end of the last count then belongs to the show (4.1)."""
    return s.num_played == s.rules.num_players * HAND_SIZE


@kernel(inline=True)
def _play(s, player, card, log):
    """Play a card, and score it (3.1, 3.5)."""
    s.hands[player] ^= np.int64(1) << card
    s.played[player] |= np.int64(1) << card
    s.sequence[s.num_played], s.played_by[s.num_played] = card, player
    s.num_played += 1
    s.total += VALUES[card]
    ev.log_move(log, state.PLAYS, player, card, state.HAND + player, state.COUNT, ev.EVERYBODY)
    ev.log_set(log, state.NEW_TOTAL, player, state.TOTAL, s.total)
    points = _score_card(s, player, log)
    if s.total == MAX_SUM and is_play_over(s):
        s.phase = SHOW  # the card ends the count, too (4.1)
    if points:
        _peg(s, player, points, log)
    if s.terminal:
        return
    if s.total == MAX_SUM:
        _end_count(s, player, log)
    else:
        _pass_on(s, player, log)


@kernel(inline=True)
def _score_card(s, player, log):
    """Return the points of the card just played, and log what they are for (3.5)."""
    for_sum, for_pairs, for_run = sum_points(s.total), pair_points(s, s.num_played), run_points(s, s.num_played)
    if for_sum:
        ev.log_note(log, state.FIFTEEN if s.total == FIFTEEN else state.THIRTY_ONE, player, for_sum)
    if for_pairs:
        ev.log_note(log, state.PAIR, player, for_pairs)
    if for_run:
        ev.log_note(log, state.RUN, player, for_run)
    return for_sum + for_pairs + for_run


@kernel(inline=True)
def _pass_on(s, player, log):
    """The next player who has not said go plays, or must say go; without one, the count ends (3.2 to 3.4)."""
    n = s.rules.num_players
    q = wrap(player + 1, n)
    for _ in range(n):
        if s.hands[q] and not s.goes >> q & 1:
            if s.rules.explicit_go or fitting(s, q):
                s.current_player = q
                return
            _say_go(s, q, log)
        q = wrap(q + 1, n)
    last = np.int64(s.played_by[s.num_played - 1])
    if is_play_over(s):
        s.phase = SHOW
    ev.log_note(log, state.LAST, last, 1)
    _peg(s, last, 1, log)
    if not s.terminal:
        _end_count(s, last, log)


@kernel(inline=True)
def _say_go(s, player, log):
    """Note that no card of `player` fits, which stays true of the cards in hand (3.2, 6.2)."""
    s.goes |= 1 << player
    s.floors[player] = max(np.int64(s.floors[player]), np.int64(MAX_SUM - s.total))
    ev.log_set(log, state.GOES, player, state.SAID_GO + player, 1)


@kernel(inline=True)
def _end_count(s, last, log):
    """Turn the cards over and start a new count, or go on to the show (3.4)."""
    n = s.rules.num_players
    for k in range(s.count_start, s.num_played):
        p = np.int64(s.played_by[k])
        ev.log_move(log, state.TURNS, p, s.sequence[k], state.COUNT, state.PLAYED + p, ev.EVERYBODY)
    for p in range(n):
        if s.goes >> p & 1:
            ev.log_set(log, state.NO_GOES, p, state.SAID_GO + p, 0)
    s.count_start, s.total, s.goes = s.num_played, 0, 0
    ev.log_set(log, state.NO_TOTAL, ev.NO_PLAYER, state.TOTAL, 0)
    if is_play_over(s):
        _show_on(s, log)
        return
    leader = wrap(last + 1, n)
    while not s.hands[leader]:
        leader = wrap(leader + 1, n)
    s.current_player = leader


# ---------------------------------------------------------------------------------------------------------------
# The show


@kernel(inline=True)
def shown_by(s):
    """Return whose hand is to be counted, or the dealer for the crib (4.1)."""
    n = s.rules.num_players
    if s.show_step == n:
        return np.int64(s.dealer)
    return np.int64(s.show_step) if s.rules.show_order == SEATS else wrap(np.int64(s.dealer + 1 + s.show_step), n)


@kernel(inline=True)
def points_to_show(s):
    """Return the points of the hand or crib that is to be counted (4)."""
    is_crib = s.show_step == s.rules.num_players
    cards = crib_of(s) if is_crib else s.played[shown_by(s)]
    return show_points(cards, np.int64(s.starter), is_crib, s.rules.crib_flush)


@kernel
def _show_on(s, log):
    """Count hands and crib, or with muggins let the owner of the next one count; then end the deal (4.1, 4.7)."""
    while s.show_step <= s.rules.num_players:
        player, is_crib = shown_by(s), s.show_step == s.rules.num_players
        if is_crib:
            _show_crib(s, log)
        if s.rules.muggins:
            s.current_player = player
            return
        points = points_to_show(s)
        ev.log_note(log, state.SHOWS_CRIB if is_crib else state.SHOWS, player, points)
        _peg(s, player, points, log)
        if s.terminal:
            return
        s.show_step += 1
    _end_deal(s, log)


@kernel(inline=True)
def _show_crib(s, log):
    """Turn the crib up, in ascending order, which does not tell who has laid a card away (6.1)."""
    s.crib_is_shown = 1
    cards = crib_of(s)
    while cards:
        ev.log_reveal(log, state.REVEALS, s.dealer, lowest_card(cards), state.CRIB, 1, ev.EVERYBODY)
        cards &= cards - 1


@kernel(inline=True)
def _count(s, player, number, log):
    """Peg what a player has counted, up to the points there are; the next player gets the difference (4.7)."""
    points, other = points_to_show(s), wrap(player + 1, s.rules.num_players)
    ev.log_note(log, state.COUNTS, player, number)
    is_crib = s.show_step == s.rules.num_players
    ev.log_note(log, state.SHOWS_CRIB if is_crib else state.SHOWS, player, points)
    _peg(s, player, min(number, points), log)
    if not s.terminal and number != points:
        ev.log_note(log, state.MUGGINS, other, abs(number - points))
        _peg(s, other, abs(number - points), log)
    if not s.terminal:
        s.show_step += 1
        _show_on(s, log)


# ---------------------------------------------------------------------------------------------------------------
# Score, and the end


@kernel(inline=True)
def _peg(s, player, points, log):
    """Give points to the side of `player`, who wins at the target (5.1)."""
    side = side_of(player, num_sides(s))
    s.scores[side] += points
    ev.log_set(log, state.NEW_SCORE, side, state.SCORE + side, s.scores[side])
    counts_on = s.phase == SHOW and s.rules.show_order == SEATS
    if s.rules.deals != ONE and s.scores[side] >= s.rules.target and not counts_on:
        _win(s, side, log)


@kernel
def _win(s, winner, log):
    """End the game: each loser pays the winner (5.2)."""
    sides, total = num_sides(s), 0.0
    ev.log_note(log, state.WINS, winner, 0)
    for side in range(sides):
        if side != winner:
            total += _loss(s, side) / (sides - 1)
    for p in range(s.rules.num_players):
        side = side_of(p, sides)
        s.rewards[p] = total if side == winner else -_loss(s, side) / (sides - 1)
    s.terminal = 1


@kernel(inline=True)
def _loss(s, side):
    """Return how many games a loser has lost (5.2)."""
    missing = s.rules.target - s.scores[side]
    if not s.rules.skunk or missing <= 30:
        return 1
    return 3 if missing > 60 and s.rules.target > 61 else 2


@kernel
def _end_deal(s, log):
    """End the game if it is won, or after its only deal; else the next player deals (2.1, 4.1, 5.3)."""
    sides = num_sides(s)
    if s.rules.deals == ONE:
        pay_scores(s, 1, sides)
        return
    for side in range(sides):
        if s.scores[side] >= s.rules.target:
            _win(s, side, log)
            return
    s.last_crib, s.last_starter = crib_of(s), s.starter
    for p in range(s.rules.num_players):
        s.last_hands[p] = s.played[p]
    ev.log_clear(log, state.CLEAR_TABLE)
    s.dealer = wrap(s.dealer + 1, s.rules.num_players)
    _deal_cards(s, NO_DECK, log)


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the most that there is to lose (7.1)."""
    leave(s, player, state.FORFEITS, log)
    sides = num_sides(s)
    stake = np.float64(_most_points(s.rules)) if s.rules.deals == ONE else _most_lost(s.rules) / (sides - 1)
    pay_stake(s, side_of(player, sides), stake, sides)


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel(inline=True)
def legal_actions(s, out):
    """List cards to lay away (2.2) or to play, go (3.1, 3.2), or the counts of a hand (4.7)."""
    player = np.int64(s.current_player)
    if s.phase == LAY_AWAY:
        return list_bits(s.hands[player], 0, out, 0)
    if s.phase == SHOW:
        for k in range(BEST_HAND + 1):
            out[k] = COUNT_0 + k
        return BEST_HAND + 1
    cards = fitting(s, player)
    if cards:
        return list_bits(cards, 0, out, 0)
    out[0] = GO
    return 1


@kernel(inline=True)
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else one of the codes of state.py."""
    player = np.int64(s.current_player)
    if action >= COUNT_0:
        return 0 if s.phase == SHOW else state.NO_COUNT
    if s.phase == SHOW:
        return state.MUST_COUNT
    if action == GO:
        if s.phase == LAY_AWAY:
            return state.NO_GO
        return state.CAN_PLAY if fitting(s, player) else 0
    if not s.hands[player] >> action & 1:
        return state.NOT_HELD
    return 0 if s.phase == LAY_AWAY or fitting(s, player) >> action & 1 else state.TOO_MUCH


@kernel(inline=True)
def apply_action(s, action, log):
    """Lay a card away, play one, say go, or count."""
    player = np.int64(s.current_player)
    if s.phase == LAY_AWAY:
        _lay_away(s, player, action, log)
    elif s.phase == SHOW:
        _count(s, player, action - COUNT_0, log)
    elif action == GO:
        _say_go(s, player, log)
        _pass_on(s, player, log)
    else:
        _play(s, player, action, log)


# ---------------------------------------------------------------------------------------------------------------
# Spaces

_MOST_OF_CARD = 14  # four cards of a rank that make thirty-one


def most_points(rules):
    """Return a bound on the points of a side in one deal; `rules` are options or those of a record.

    Each card played scores at most 14: with 12 for four of a rank, only the 2 of thirty-one (3.5). A side counts its
    hands and the crib, 29 each at most; with muggins, it may get the points of all others, and as many for counts that
    are too high.
    """
    hands = 1 if rules.num_players != 4 else 2
    shown = rules.num_players + 1 if rules.muggins else hands + 1
    return rules.heels + _MOST_OF_CARD * HAND_SIZE * hands + BEST_HAND * shown


def most_lost(rules):
    """Return how many games can be lost at once; `rules` are options or those of a record (5.2)."""
    return 1 if not rules.skunk else 3 if rules.target > 61 else 2


_most_points, _most_lost = kernel(inline=True)(most_points), kernel(inline=True)(most_lost)


def num_actions(options):
    """Return the number of ids: 52 cards, go, and with muggins counts from 0 to 29."""
    return COUNT_0 + (BEST_HAND + 1 if options.muggins else 0)


def max_legal(options):
    """Return the length of the longest list: all counts, or the cards dealt."""
    return BEST_HAND + 1 if options.muggins else int(DEALT_EACH[options.num_players])


def max_length(options):
    """Return a bound on the decisions.

    Each deal brings a point at least, that of the last card. A go needs a count of 22 or more, so three cards, and each
    player says go once in a count.
    """
    n = options.num_players
    played = n * HAND_SIZE
    goes = n * (played // 3) if options.explicit_go else 0
    decisions = n * int(LAID_EACH[n]) + played + goes + (n + 1 if options.muggins else 0)
    sides = count_sides(options)
    return decisions * (1 if options.deals == "one" else sides * (options.target - 1) + 1)


def returns(options):
    """Return the bounds: a game won or lost, perhaps more than once, or the points of a deal (5.2, 5.3)."""
    sides = count_sides(options)
    if options.deals == "one":
        most = most_points(options)
        return Returns(-most, most, 0, "points")
    most = most_lost(options)
    if most == 1:
        return win_or_loss(sides)
    return Returns(-most / (sides - 1), most, 0, "games")
