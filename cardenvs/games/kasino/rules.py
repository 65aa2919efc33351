"""Rules of Kasino: the course of a game. Paragraph numbers are those of rules.md. Legal actions are in legal.py."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.games.kasino import state, table
from cardenvs.games.kasino.legal import capture
from cardenvs.games.kasino.state import (
    BIG_KASINO,
    COMPOSE,
    DONE,
    HAND_VALUES,
    SLOTS,
    SMALL_KASINO,
    TABLE_VALUES,
    TAKE_0,
    TRAIL,
)
from cardenvs.kits.cards import NUM_CARDS, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD, draw_card
from cardenvs.kits.fishing import table as shared
from cardenvs.kits.fishing.captures import total_of
from cardenvs.kits.fishing.rules import (
    deal_hand,
    finish_hand,
    give_rest,
    is_hand_over,
    lay_card,
    lose_game,
    most_of,
    num_sides,
    play_to_capture,
    side_of,
    side_with_most,
    take_card,
    win_match,
)
from cardenvs.kits.fishing.state import ACES, ALL_CARDS, MAX_HANDS, ROUND_SIZE, SPADES
from cardenvs.kits.matches import NO_SIDE
from cardenvs.kits.redeal import redeal_unseen

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first hand; the last player is the dealer (2.1)."""
    s.playing = NO_CARD
    s.cards_prize, s.spades_prize = 1, 2
    deal_hand(s, s.rules.num_players - 1, given, log)


# ---------------------------------------------------------------------------------------------------------------
# The play


@kernel
def apply_action(s, action, log):
    """Trail, capture, or go on with a capture that is taken card by card."""
    player = np.int64(s.current_player)
    if action >= TAKE_0:
        if action == DONE:
            _end_capture(s, player, log)
        else:
            _take_card(s, player, action - TAKE_0, log)
        return
    card, slot = action // SLOTS, action % SLOTS
    if slot == TRAIL:
        lay_card(s, player, card, shared.TRAILS, log)
        _end_turn(s, player, log)
        return
    taken = np.int64(0) if slot == COMPOSE else capture(s, card, slot)
    play_to_capture(s, player, side_of(s, player), card, shared.PLAYS, shared.WON, log)
    s.playing = card
    s.taken = s.group = 0
    while taken:
        _take_card(s, player, lowest_card(taken), log)
        taken &= taken - 1
    if slot != COMPOSE:
        _end_capture(s, player, log)


@kernel
def _take_card(s, player, card, log):
    """Take a card of the table; `group` is what does not yet add up to the value of the card played (3.2)."""
    s.taken |= 1 << card
    s.group |= 1 << card
    if total_of(s.group, TABLE_VALUES) == HAND_VALUES[s.playing]:
        s.group = 0
    take_card(s, player, side_of(s, player), card, shared.TAKES, shared.WON, log)


@kernel
def _end_capture(s, player, log):
    """Score the cards taken (4.1) and a sweep (4.2), which may end the match (6.2)."""
    side = side_of(s, player)
    s.last_taker = side
    _add_score(s, side, worth(s.taken | np.int64(1) << s.playing), log)
    if s.table == 0:
        _sweep(s, side, log)
    s.playing = NO_CARD
    s.taken = s.group = 0
    if _has_won(s, side):
        win_match(s, side, log)
    else:
        _end_turn(s, player, log)


@kernel
def _has_won(s, side):
    """Whether a side has just won the match in the middle of a hand (6.2 to 6.4)."""
    if not s.rules.match or s.rules.misere:
        return False
    return s.scores[side] == s.rules.target if s.rules.exact_target else s.scores[side] >= s.rules.target


@kernel
def worth(cards):
    """Return the points of captured cards: aces and kasinos (4.1)."""
    return count_bits(cards & ACES) + (cards >> SMALL_KASINO & 1) + 2 * (cards >> BIG_KASINO & 1)


@kernel
def _sweep(s, side, log):
    """Score a sweep, unless sweeps are off, frozen, or this is the last deal (4.2 to 4.4)."""
    if s.rules.sweeps == state.SWEEPS_OFF or is_frozen(s, side):
        return
    if s.num_dealt == NUM_CARDS and not s.rules.sweep_last_deal:
        return
    s.sweeps[side] += 1
    ev.log_set(log, shared.SWEEP, side, shared.SWEEPS + side, s.sweeps[side])
    _add_score(s, side, 1, log)
    if s.rules.sweeps == state.CANCEL_MIN:
        _cancel_sweeps(s, 1, log)


@kernel
def is_frozen(s, side):
    """Whether sweeps of a side score nothing any more (4.4)."""
    if s.rules.sweep_freeze_scope != state.ANY:
        return s.scores[side] >= s.rules.sweep_freeze_at
    most = np.int64(s.scores[0])
    for other in range(1, num_sides(s)):
        most = max(most, np.int64(s.scores[other]))
    return most >= s.rules.sweep_freeze_at


@kernel
def _cancel_sweeps(s, most, log):
    """If every side has a sweep, each loses up to `most` of its sweeps again (4.3)."""
    sides = num_sides(s)
    for side in range(sides):
        if s.sweeps[side] == 0:
            return
    ev.log_note(log, table.SWEEPS_CANCEL, ev.NO_PLAYER, most)
    for side in range(sides):
        lost = min(np.int64(s.sweeps[side]), most)
        s.sweeps[side] -= lost
        ev.log_set(log, shared.NEW_SWEEPS, side, shared.SWEEPS + side, s.sweeps[side])
        _add_score(s, side, -lost, log)


@kernel
def _add_score(s, side, points, log):
    """Add points, counted back above the target if that must be met exactly (6.4)."""
    if points == 0:
        return
    s.scores[side] += points
    if s.rules.match and s.rules.exact_target and s.scores[side] > s.rules.target:
        s.scores[side] = 2 * s.rules.target - s.scores[side]
    ev.log_set(log, shared.NEW_SCORE, side, shared.SCORE + side, s.scores[side])


@kernel
def _end_turn(s, player, log):
    """Draw (2.3), deal again (2.2), or end the hand."""
    if s.rules.draw_variant and s.num_dealt < NUM_CARDS:
        draw_card(s, player, table.DRAWS, shared.STOCK, shared.HAND, log)
    if is_hand_over(s, ROUND_SIZE, shared.DEALT, log):
        _end_hand(s, log)


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand


@kernel
def _end_hand(s, log):
    """Give away the rest (3.6), score (5), then deal again or end the game (6)."""
    _add_score(s, np.int64(s.last_taker), worth(give_rest(s, shared.GETS_REST, shared.WON, log)), log)
    if s.rules.sweeps == state.VOID_IF_BOTH:
        _cancel_sweeps(s, NUM_CARDS, log)
    _score_majorities(s, log)
    finish_hand(s, -1 if s.rules.misere else 1, log)


@kernel
def _score_majorities(s, log):
    """Most cards and most spades (5.1); what is tied goes to nobody, to the next hand, or is split (5.2)."""
    carries = s.rules.ties == state.CARRY_OVER
    side, _ = side_with_most(s, ALL_CARDS, num_sides(s))
    if side != NO_SIDE:
        ev.log_note(log, shared.MOST_CARDS, side, 0)
        _add_score(s, side, np.int64(s.cards_prize), log)
    s.cards_prize = s.cards_prize + 1 if carries and side == NO_SIDE else 1
    side, num_tied = side_with_most(s, SPADES, num_sides(s))
    if side != NO_SIDE:
        ev.log_note(log, shared.MOST_SPADES, side, 0)
        _add_score(s, side, np.int64(s.spades_prize), log)
    elif s.rules.ties == state.SPLIT and num_tied == 2 and num_sides(s) > 2:
        most = most_of(s, SPADES, num_sides(s))
        for other in range(num_sides(s)):
            if count_bits(s.won[other] & SPADES) == most:
                _add_score(s, other, 1, log)
    s.spades_prize = s.spades_prize + 2 if carries and side == NO_SIDE else 2


def most_points(rules, sides, has_sweeps):
    """Return a bound on the points of some sides in a hand (4, 5).

    A side is below the freeze when it scores a sweep (4.4). After a sweep the next card is laid, so at most every other
    card sweeps.

    Args:
        rules: options, or those of a record.
        sides: how many sides.
        has_sweeps: whether sweeps are worth anything.
    """
    if not has_sweeps:
        return 10
    played = NUM_CARDS - ROUND_SIZE - (0 if rules.sweep_last_deal else ROUND_SIZE * rules.num_players)
    return 10 + min(played // 2, sides * rules.sweep_freeze_at)


_most_points = kernel(inline=True)(most_points)


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the match, or the most that a hand can cost (7.1)."""
    others, has_sweeps = num_sides(s) - 1, s.rules.sweeps != state.SWEEPS_OFF
    if s.rules.match:
        cost = 1.0
    elif s.rules.misere:
        cost = 1.0 * _most_points(s.rules, 1, has_sweeps)
    else:
        cost = _most_points(s.rules, others, has_sweeps) / others
    lose_game(s, player, cost, log)


determinize = redeal_unseen


# ---------------------------------------------------------------------------------------------------------------
# Spaces


def max_length(options):
    """Return a bound on the decisions: a card is played once, taken one by one at most once, and each play is done."""
    return 3 * NUM_CARDS * (MAX_HANDS if options.match else 1)


def returns(options):
    """Return the bounds: a match won or lost, or all points of a hand, won by one side or by the others (6.1)."""
    others, has_sweeps = 1 if options.teams else options.num_players - 1, options.sweeps != "off"
    if options.match:
        return win_or_loss(others + 1, low=-1)
    of_one, of_others = most_points(options, 1, has_sweeps), most_points(options, others, has_sweeps) / others
    return Returns(-of_one, of_others, 0, "points") if options.misere else Returns(-of_others, of_one, 0, "points")
