"""Rules of Canasta: the course of a game. Paragraph numbers are those of rules.md.

Legal actions are in legal.py, whether a turn can be completed in completion.py, the effects of a move in effects.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import Returns
from cardenvs.core.rng import DEAL, canonical_shuffle, shuffle, shuffle_rest, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.canasta import actions, effects, scoring, state, table
from cardenvs.games.canasta.actions import cards_laid
from cardenvs.games.canasta.completion import can_go_out
from cardenvs.games.canasta.legal import cards_for, is_dead_end
from cardenvs.kits.deck import begin_world
from cardenvs.kits.matches import leave

_WORLDS = 20  # tried, when another player must be able to complete a turn (12.2)


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first time; the last player is the dealer (2.1)."""
    ev.log_create(log, table.NEW_DECK, table.STOCK, state.DECK_SIZE)
    s.dealer = s.rules.num_players - 1
    _begin_deal(s, given, log)


@kernel
def _begin_deal(s, given, log):
    """Shuffle and deal, and let the player at the dealer's left begin (2)."""
    place = 0
    for face in range(state.NUM_FACES):
        for _ in range(state.FACE_COPIES[face]):
            s.deck[place] = face
            place += 1
    start_stream(s, DEAL, s.num_deals)
    shuffle_rest(s, s.deck, state.DECK_SIZE, given)
    s.num_deals += 1
    ev.log_set(log, table.NEW_DEAL, ev.NO_PLAYER, table.DEAL_NUMBER, s.num_deals)
    ev.log_set(log, table.IS_DEALER, s.dealer, table.DEALER, s.dealer)
    if s.num_deals == 1:
        for place in range(state.DECK_SIZE):
            s.pile[place] = state.NO_CARD
    s.asker = state.NO_PLAYER
    effects.deal_cards(s, log)
    _begin_turn(s, wrap(s.dealer + 1, s.rules.num_players))


@kernel
def _begin_turn(s, player):
    """Let `player` draw (3.1)."""
    side = state.side_of(s, player)
    s.current_player = player
    s.phase = state.DRAW
    s.first_meld = 0
    s.has_laid = s.has_taken = s.no_discard = 0
    s.answer = state.FREE
    s.needed = 0 if s.has_opened[side] else state.initial_minimum(s, side)
    s.old_melds = 0
    for m in range(state.NUM_MELDS):
        if state.meld_size(s, side, m) > 0:
            s.old_melds |= 1 << m
    s.is_concealed = 0 if s.has_melded[player] else 1


# ---------------------------------------------------------------------------------------------------------------
# The turn


@kernel
def apply_action(s, action, log):
    """Make one step of a turn (3)."""
    player = np.int64(s.current_player)
    if s.phase == state.DRAW:
        _apply_draw(s, player, action, log)
    elif s.phase == state.ANSWER:
        _apply_answer(s, player, action, log)
    elif action >= actions.LAY_0:
        m, naturals, jokers, twos = cards_laid(action)
        effects.lay_cards(s, player, m, naturals, jokers, twos, log)
        _after_lay(s, player, log)
    elif action == actions.ASK:
        s.asker = player
        s.phase = state.ANSWER
        s.current_player = wrap(player + 2, s.rules.num_players)
        ev.log_note(log, table.ASKS, player, 0)
    elif action == actions.DONE:
        _end_deal(s, state.NO_PLAYER, log)
    else:
        effects.discard(s, player, action - actions.DISCARD_0, log)
        if s.hand_sizes[player] == 0:
            _go_out(s, player, log)
        else:
            _begin_turn(s, wrap(player + 1, s.rules.num_players))


@kernel
def _apply_draw(s, player, action, log):
    if action == actions.DRAW:
        for _ in range(state.draw_count(s)):
            if s.num_stock > 0:
                effects.draw_card(s, player, log)
        s.phase = state.MELD
    elif action == actions.END_DEAL:
        ev.log_note(log, table.PASSES, player, 0)
        _end_deal(s, state.NO_PLAYER, log)
    else:
        naturals, jokers, twos = cards_for(action)
        rank = state.KIND_OF[state.top_of_pile(s)]
        effects.take_top(s, player, log)
        effects.lay_cards(s, player, rank, naturals, jokers, twos, log)
        s.phase = state.TAKE
        s.first_meld = 0
        _after_lay(s, player, log)


@kernel
def _after_lay(s, player, log):
    """Take the rest of the pile once the initial minimum is reached (5.3); go out if no card is left (7.1)."""
    if s.phase == state.TAKE and s.needed <= 0:
        effects.take_rest(s, player, log)
        s.phase = state.MELD
        s.first_meld = 0
    if s.phase == state.MELD and s.hand_sizes[player] == 0:
        _go_out(s, player, log)


@kernel
def _apply_answer(s, player, action, log):
    """Bind the player who has asked, and let that player go on (7.5)."""
    ev.log_note(log, table.SAYS_YES if action == actions.YES else table.SAYS_NO, player, 0)
    s.answer = state.MUST_GO_OUT if action == actions.YES else state.MAY_NOT_GO_OUT
    s.current_player = s.asker
    s.asker = state.NO_PLAYER
    s.phase = state.MELD


# ---------------------------------------------------------------------------------------------------------------
# The end of a deal


@kernel
def _go_out(s, player, log):
    """Announce that `player` is out, perhaps concealed, and end the deal (7.2, 7.3)."""
    concealed = s.is_concealed and _has_new_canasta(s, state.side_of(s, player))
    ev.log_note(log, table.GOES_OUT_CONCEALED if concealed else table.GOES_OUT, player, 0)
    _end_deal(s, player, log)


@kernel
def _has_new_canasta(s, side):
    """Whether a meld that was begun in this turn is a canasta (7.3)."""
    number = 0
    for m in range(state.NUM_MELDS):
        if not s.old_melds >> m & 1 and state.meld_size(s, side, m) >= state.CANASTA_SIZE:
            number += 1
    return number > 0


@kernel
def _end_deal(s, out, log):
    """Show the hands, score, and deal again or end the game (9, 10)."""
    for p in range(s.rules.num_players):
        effects.show_hand(s, p, log)
    points, count = np.int64(0), state.num_sides(s)
    for side in range(count):
        bonus = 0
        if out != state.NO_PLAYER and side == state.side_of(s, out):
            concealed = s.is_concealed and _has_new_canasta(s, side)
            bonus = scoring.CONCEALED if concealed else scoring.OUT
        score = scoring.score_side(s, side, bonus, log)
        points += scoring.pack(score, side)
        s.scores[side] += score
        ev.log_set(log, table.NEW_SCORE, side, table.SCORE + side, s.scores[side])
    scoring.pay_scores(s, points, _most_points(s.rules))
    if not s.rules.match:
        s.terminal = 1
        return
    leader, reached = scoring.leading_side(s), False
    for side in range(count):
        if s.scores[side] >= s.rules.target:
            reached = True
    if reached and leader >= 0:
        ev.log_note(log, table.WINS, leader, 0)
        s.terminal = 1
    elif s.num_deals == state.MAX_DEALS:
        ev.log_note(log, table.DRAWN, ev.NO_PLAYER, s.num_deals)
        s.terminal = 1
    else:
        effects.gather_cards(s, log)
        s.dealer = wrap(s.dealer + 1, s.rules.num_players)
        _begin_deal(s, NO_DECK, log)


@kernel
def forfeit(s, player, log):
    """End the game: the side of `player` loses the most that a game can cost (11.1)."""
    leave(s, player, table.FORFEITS, log)
    most, others = _most_points(s.rules), state.num_sides(s) - 1
    for p in range(s.rules.num_players):
        s.rewards[p] = (-most if state.side_of(s, p) == state.side_of(s, player) else most / others) - s.returns[p]
    s.terminal = 1


_MOST_CARD_POINTS = 1180  # 4 jokers, 8 twos, 8 aces, 48 cards of 10, 36 of 5


def most_points(rules):
    """Return the most that a player can win or lose; `rules` are options or those of a record (10.1, 10.4).

    In a deal a side is at most eleven natural canastas and one of wild cards, four red threes, a concealed hand, and
    all card points ahead of another, which are either melded or left in the other's hands.
    """
    in_deal = 11 * scoring.NATURAL_CANASTA + scoring.ALL_RED_THREES + scoring.CONCEALED + _MOST_CARD_POINTS
    in_deal += scoring.WILD_CANASTA if rules.wild_only_melds else 0
    return in_deal + (rules.target if rules.match else 0)


_most_points = kernel(inline=True)(most_points)


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def determinize(s, player, seed):
    """Deal again what `player` cannot know: the stock, and the cards of others that nobody has seen.

    Red threes are never in a hand, so those that have not appeared are in the stock. If another player has begun to
    meld or has asked, worlds are preferred in which that turn can be completed (12.2).
    """
    begin_world(s, seed)
    for _ in range(_WORLDS):
        _deal_world(s, player)
        if s.current_player == player and s.phase != state.ANSWER:
            return
        if s.phase == state.ANSWER:
            if s.asker == player or can_go_out(s, np.int64(s.asker)):
                return
        elif s.phase == state.DRAW or not is_dead_end(s):
            return


@kernel
def _deal_world(s, player):
    """Deal the hidden cards; `deck` below the stock has room for those of the hands, as they have left it."""
    first = np.int64(state.DECK_SIZE - s.num_stock)
    for p in range(s.rules.num_players):
        if p != player:
            for face in range(state.NUM_FACES):
                for _ in range(s.hands[p, face] - s.known[p, face]):
                    first -= 1
                    s.deck[first] = face
                    s.kinds[p, state.KIND_OF[face]] -= 1
                s.hands[p, face] = s.known[p, face]
    end = np.int64(state.DECK_SIZE)
    for place in range(state.DECK_SIZE - 1, first - 1, -1):  # red threes to the end
        if state.KIND_OF[s.deck[place]] == state.RED_THREE:
            end -= 1
            s.deck[place], s.deck[end] = s.deck[end], s.deck[place]
    canonical_shuffle(s, s.deck, first, end)
    canonical_shuffle(s, s.deck, end, np.int64(state.DECK_SIZE))
    for p in range(s.rules.num_players):
        if p != player:
            number = np.int64(s.hand_sizes[p])
            for face in range(state.NUM_FACES):
                number -= s.known[p, face]
            for _ in range(number):
                s.hands[p, s.deck[first]] += 1
                s.kinds[p, state.KIND_OF[s.deck[first]]] += 1
                s.deck[first] = state.NO_CARD
                first += 1
    shuffle(s, s.deck, first, state.DECK_SIZE)


# ---------------------------------------------------------------------------------------------------------------
# Sizes


def max_length(options):
    """Return a bound on the number of actions.

    Each draw takes a card off the stock, and each take of the pile puts a card on the table for good: at most 216 turns
    in a deal, and one more to end it. Each turn has at most four actions that lay nothing, and each of the other
    actions lays at least one card.
    """
    return (4 * (2 * state.DECK_SIZE + 1) + state.DECK_SIZE) * (state.MAX_DEALS if options.match else 1)


def returns(options):
    """Return the bounds on the points of a side less the mean of the others'."""
    most = most_points(options)
    return Returns(-most, most, 0, "points")
