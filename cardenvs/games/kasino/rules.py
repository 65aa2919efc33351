"""Rules of Kasino: the course of a game. Paragraph numbers are those of rules.md. Legal actions are in legal.py."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.cards import NUM_CARDS, count_bits, lowest_card
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.redeal import redeal_hands
from cardenvs.core.rng import DEAL, DETERMINIZE, shuffle_rest, start_stream
from cardenvs.core.rules import Returns
from cardenvs.core.seats import wrap
from cardenvs.games.kasino import state, table
from cardenvs.games.kasino.legal import capture
from cardenvs.games.kasino.state import (
    BIG_KASINO,
    COMPOSE,
    DONE,
    HAND_VALUES,
    NO_CARD,
    NO_SIDE,
    ROUND_SIZE,
    SLOTS,
    SMALL_KASINO,
    TABLE_VALUES,
    TAKE_0,
    TRAIL,
)

_ALL_CARDS = (1 << NUM_CARDS) - 1
_ACES = sum(1 << 13 * suit for suit in range(4))
_SPADES = (1 << 13) - 1


# ---------------------------------------------------------------------------------------------------------------
# Sides


@kernel(inline=True)
def num_sides(s):
    """Return the number of sides (1.1)."""
    return 2 if s.rules.teams else np.int64(s.rules.num_players)


@kernel(inline=True)
def side_of(s, player):
    """Return the side of a player."""
    return player % 2 if s.rules.teams else player


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first hand; the last player is the dealer (2.1)."""
    s.playing = NO_CARD
    s.cards_prize, s.spades_prize = 1, 2
    _deal_hand(s, s.rules.num_players - 1, given, log)


@kernel
def _deal_hand(s, dealer, given, log):
    """Shuffle and deal: four cards to each player, then four to the table (2.1)."""
    s.dealer = dealer
    s.last_taker = NO_SIDE
    s.last_table = s.table
    s.table = 0
    for side in range(num_sides(s)):
        s.last_won[side] = s.won[side]
        s.won[side] = 0
        s.sweeps[side] = 0
        ev.log_set(log, table.NEW_SWEEPS, side, table.SWEEPS + side, 0)
    for card in range(NUM_CARDS):
        s.deck[card] = card
    start_stream(s, DEAL, s.num_hands)
    shuffle_rest(s, s.deck, NUM_CARDS, given)
    s.num_hands += 1
    s.num_dealt = 0
    ev.log_set(log, table.NEW_HAND, ev.NO_PLAYER, table.HAND_NUMBER, s.num_hands)
    ev.log_set(log, table.IS_DEALER, dealer, table.DEALER, dealer)
    ev.log_create(log, table.SHUFFLE, table.STOCK, NUM_CARDS)
    _deal_round(s, log)
    for _ in range(ROUND_SIZE):
        card = _top(s)
        s.table |= 1 << card
        ev.log_move(log, table.LAID_OUT, ev.NO_PLAYER, card, table.STOCK, table.BOARD, ev.EVERYBODY)
    s.current_player = wrap(dealer + 1, s.rules.num_players)


@kernel
def _deal_round(s, log):
    """Deal four cards to each player (2.1, 2.2)."""
    for p in range(s.rules.num_players):
        for _ in range(ROUND_SIZE):
            _draw(s, p, table.DEALT, log)


@kernel(inline=True)
def _draw(s, player, kind, log):
    """`player` gets the next card of the stock."""
    card = _top(s)
    s.hands[player] |= 1 << card
    ev.log_move(log, kind, player, card, table.STOCK, table.HAND + player, 1 << player)


@kernel(inline=True)
def _top(s):
    """Take the next card of the stock."""
    card = np.int64(s.deck[s.num_dealt])
    s.deck[s.num_dealt] = NO_CARD
    s.num_dealt += 1
    return card


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
        s.hands[player] ^= 1 << card
        s.table |= 1 << card
        ev.log_move(log, table.TRAILS, player, card, table.HAND + player, table.BOARD, ev.EVERYBODY)
        _end_turn(s, player, log)
        return
    taken = np.int64(0) if slot == COMPOSE else capture(s, card, slot)
    _play_to_capture(s, player, card, log)
    while taken:
        _take_card(s, player, lowest_card(taken), log)
        taken &= taken - 1
    if slot != COMPOSE:
        _end_capture(s, player, log)


@kernel
def _play_to_capture(s, player, card, log):
    """Play a card that captures; it goes to the side's cards (3.5)."""
    side = side_of(s, player)
    s.hands[player] ^= 1 << card
    s.won[side] |= 1 << card
    s.playing = card
    s.taken = s.group = 0
    ev.log_move(log, table.PLAYS, player, card, table.HAND + player, table.WON + side, ev.EVERYBODY)


@kernel
def _take_card(s, player, card, log):
    """Take a card of the table; `group` is what does not yet add up to the value of the card played (3.2)."""
    side = side_of(s, player)
    s.table ^= 1 << card
    s.won[side] |= 1 << card
    s.taken |= 1 << card
    s.group |= 1 << card
    total, rest = 0, s.group
    while rest:
        total += TABLE_VALUES[lowest_card(rest)]
        rest &= rest - 1
    if total == HAND_VALUES[s.playing]:
        s.group = 0
    ev.log_move(log, table.TAKES, player, card, table.BOARD, table.WON + side, ev.EVERYBODY)


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
        _win(s, side, log)
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
    return count_bits(cards & _ACES) + (cards >> SMALL_KASINO & 1) + 2 * (cards >> BIG_KASINO & 1)


@kernel
def _sweep(s, side, log):
    """Score a sweep, unless sweeps are off, frozen, or this is the last deal (4.2 to 4.4)."""
    if s.rules.sweeps == state.SWEEPS_OFF or is_frozen(s, side):
        return
    if s.num_dealt == NUM_CARDS and not s.rules.sweep_last_deal:
        return
    s.sweeps[side] += 1
    ev.log_set(log, table.SWEEP, side, table.SWEEPS + side, s.sweeps[side])
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
        ev.log_set(log, table.NEW_SWEEPS, side, table.SWEEPS + side, s.sweeps[side])
        _add_score(s, side, -lost, log)


@kernel
def _add_score(s, side, points, log):
    """Add points, counted back above the target if that must be met exactly (6.4)."""
    if points == 0:
        return
    s.scores[side] += points
    if s.rules.match and s.rules.exact_target and s.scores[side] > s.rules.target:
        s.scores[side] = 2 * s.rules.target - s.scores[side]
    ev.log_set(log, table.NEW_SCORE, side, table.SCORE + side, s.scores[side])


@kernel
def _end_turn(s, player, log):
    """Draw (2.3), deal again (2.2), or end the hand."""
    n = s.rules.num_players
    if s.rules.draw_variant and s.num_dealt < NUM_CARDS:
        _draw(s, player, table.DRAWS, log)
    s.current_player = wrap(player + 1, n)
    if s.hands[s.current_player] == 0:  # then all are empty
        if s.num_dealt < NUM_CARDS:
            _deal_round(s, log)
        else:
            _end_hand(s, log)


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand


@kernel
def _end_hand(s, log):
    """Give away the rest (3.6), score (5), then deal again or end the game (6)."""
    if s.last_taker != NO_SIDE and s.table:
        side = np.int64(s.last_taker)
        s.won[side] |= s.table
        ev.log_event(log, table.GETS_REST, side, ev.UNKNOWN, table.BOARD, table.WON + side, 0, ev.NOBODY, ev.EVERYBODY)
        _add_score(s, side, worth(s.table), log)
        s.table = 0
    if s.rules.sweeps == state.VOID_IF_BOTH:
        _cancel_sweeps(s, NUM_CARDS, log)
    _score_majorities(s, log)
    for side in range(num_sides(s)):
        s.hand_scores[s.num_hands - 1, side] = s.scores[side]
    if not s.rules.match:
        _pay_points(s)
        return
    winner = _match_winner(s)
    if winner != NO_SIDE:
        _win(s, winner, log)
    elif s.num_hands == state.MAX_HANDS:
        ev.log_note(log, table.DRAWN, ev.NO_PLAYER, s.num_hands)
        s.terminal = 1
    else:
        ev.log_clear(log, table.CLEAR_TABLE)
        _deal_hand(s, wrap(s.dealer + 1, s.rules.num_players), NO_DECK, log)


@kernel
def _score_majorities(s, log):
    """Most cards and most spades (5.1); what is tied goes to nobody, to the next hand, or is split (5.2)."""
    carries = s.rules.ties == state.CARRY_OVER
    side, _ = _most(s, _ALL_CARDS)
    if side != NO_SIDE:
        ev.log_note(log, table.MOST_CARDS, side, 0)
        _add_score(s, side, np.int64(s.cards_prize), log)
    s.cards_prize = s.cards_prize + 1 if carries and side == NO_SIDE else 1
    side, num_tied = _most(s, _SPADES)
    if side != NO_SIDE:
        ev.log_note(log, table.MOST_SPADES, side, 0)
        _add_score(s, side, np.int64(s.spades_prize), log)
    elif s.rules.ties == state.SPLIT and num_tied == 2 and num_sides(s) > 2:
        most = _most_of(s, _SPADES)
        for other in range(num_sides(s)):
            if count_bits(s.won[other] & _SPADES) == most:
                _add_score(s, other, 1, log)
    s.spades_prize = s.spades_prize + 2 if carries and side == NO_SIDE else 2


@kernel
def _most_of(s, cards):
    """Return the most of some cards that a side has."""
    most = 0
    for side in range(num_sides(s)):
        most = max(most, count_bits(s.won[side] & cards))
    return most


@kernel
def _most(s, cards):
    """Return the side with most of some cards, or NO_SIDE, and how many sides have most."""
    most, winner, number = _most_of(s, cards), NO_SIDE, 0
    for side in range(num_sides(s)):
        if count_bits(s.won[side] & cards) == most:
            winner = side
            number += 1
    return winner if number == 1 and most > 0 else NO_SIDE, number


@kernel
def _match_winner(s):
    """Return the side that has won at the end of a hand, or NO_SIDE (6.2 to 6.4)."""
    best, winner, is_over = np.int64(0), NO_SIDE, False
    for side in range(num_sides(s)):
        score = np.int64(s.scores[side])
        is_over = is_over or score >= s.rules.target
        rank = -score if s.rules.misere else score
        if side == 0 or rank > best:
            best, winner = rank, side
        elif rank == best:
            winner = NO_SIDE
    return winner if is_over else NO_SIDE


@kernel
def _win(s, winner, log):
    """Each player of the winning side gets 1, the others pay for it in equal parts (6.2)."""
    ev.log_note(log, table.WINS, winner, 0)
    for p in range(s.rules.num_players):
        s.rewards[p] = 1 if side_of(s, p) == winner else -1 / (num_sides(s) - 1)
    s.terminal = 1


@kernel
def _pay_points(s):
    """Each player gets the side's points less the mean of the others', or the opposite (6.1)."""
    sides, total = num_sides(s), np.int64(0)
    for side in range(sides):
        total += s.scores[side]
    for p in range(s.rules.num_players):
        own = np.int64(s.scores[side_of(s, p)])
        margin = own - (total - own) / (sides - 1)
        s.rewards[p] = -margin if s.rules.misere else margin
    s.terminal = 1


@kernel
def forfeit(s, player, log):
    """The side of `player` loses (7.1)."""
    s.active[player] = 0
    ev.log_note(log, table.FORFEITS, player, 0)
    loser, sides = side_of(s, player), num_sides(s)
    stake = 1 if s.rules.match else state.FORFEIT_POINTS
    for p in range(s.rules.num_players):
        s.rewards[p] = -stake if side_of(s, p) == loser else stake / (sides - 1)
    s.terminal = 1


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def hidden_cards(s, player):
    """Return the cards that `player` does not see: in the other hands and in the stock."""
    seen = s.hands[player] | s.table
    for side in range(num_sides(s)):
        seen |= s.won[side]
    return _ALL_CARDS & ~seen


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not see."""
    s.seed = seed
    start_stream(s, DETERMINIZE, 0)
    redeal_hands(s, player, hidden_cards(s, player), NUM_CARDS)


# ---------------------------------------------------------------------------------------------------------------
# Spaces


def max_length(options):
    """Return a bound on the decisions: a card is played once, taken one by one at most once, and each play is done."""
    return 3 * NUM_CARDS * (state.MAX_HANDS if options.match else 1)


def returns(options):
    """Return the bounds: a match won or lost, or the points of a hand with all its sweeps."""
    most = 10 + NUM_CARDS // 2
    return Returns(-1, 1, 0, "wins") if options.match else Returns(-most, most, 0, "points")
