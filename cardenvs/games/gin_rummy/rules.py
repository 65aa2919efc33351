"""Rules of gin rummy: the course of a game. Paragraph numbers are those of rules.md.

Legal actions are in legal.py, the effects of a move in effects.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.rng import DEAL, canonical_shuffle, random_below, shuffle, shuffle_rest, start_stream
from cardenvs.games.gin_rummy import actions, effects, melds, state, table
from cardenvs.games.gin_rummy.legal import has_layoffs
from cardenvs.kits.cards import NUM_CARDS, count_bits, lowest_card
from cardenvs.kits.deck import begin_world, put_in_order
from cardenvs.kits.matches import leave

ALL_CARDS = (1 << NUM_CARDS) - 1

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first hand; player 1 is the dealer (2.1, 2.2)."""
    effects.announce_hand(s, 1, log)
    _new_deck(s)
    shuffle_rest(s, s.deck, NUM_CARDS, given)
    _deal_hand(s, log)


@kernel
def _deal_next_hand(s, dealer, log):
    """Deal the next hand of a match (6.1)."""
    s.hand_number += 1
    effects.gather_cards(s, log)
    effects.announce_hand(s, dealer, log)
    _new_deck(s)
    shuffle(s, s.deck, 0, NUM_CARDS)
    _deal_hand(s, log)


@kernel
def _new_deck(s):
    """Put the cards in order and select the random stream of the hand."""
    put_in_order(s.deck, NUM_CARDS)
    start_stream(s, DEAL, np.int64(s.hand_number))


@kernel
def _deal_hand(s, log):
    """Deal the shuffled deck, set the terms of the hand, and offer the upcard (2.1 to 2.4, 3.1)."""
    effects.deal_cards(s, log)
    upcard = np.int64(s.discard_pile[0])
    value = min(upcard % melds.NUM_RANKS + 1, melds.MAX_CARD_POINTS)
    limit = np.int64(s.rules.knock_max)
    if s.rules.oklahoma:
        limit = value if value > 1 else 0
    doubled = 1 if s.rules.oklahoma_spade_double and upcard < melds.NUM_RANKS else 0
    effects.set_terms(s, limit, doubled, log)
    s.knocker = ev.NO_PLAYER
    s.is_big_gin = 0
    s.taken = state.NO_CARD
    s.num_passes = 0
    s.num_upcard_draws = 0
    s.phase = state.FIRST_UPCARD
    s.current_player = 1 - s.dealer


# ---------------------------------------------------------------------------------------------------------------
# Moves


@kernel
def apply_action(s, action, log):
    """Apply a legal action of the player to act and go on to the next decision."""
    player = np.int64(s.current_player)
    if s.phase == state.DISCARD:
        _apply_discard(s, player, action, log)
    elif s.phase == state.DRAW:
        _apply_draw(s, player, action, log)
    elif s.phase == state.FIRST_UPCARD:
        _apply_first_upcard(s, player, action, log)
    elif s.phase == state.WALL:
        _apply_wall(s, player, action, log)
    else:
        _apply_layoff(s, player, action, log)
    if s.phase == state.HAND_OVER:
        _end_hand(s, log)


@kernel
def _apply_first_upcard(s, player, action, log):
    """Take or refuse the first upcard; after two passes the non-dealer must draw from the stock (3.1, 3.2)."""
    if action == actions.TAKE_UPCARD:
        _apply_draw(s, player, action, log)
        return
    ev.log_note(log, table.PASSES, player, 0)
    s.num_passes += 1
    s.current_player = 1 - player
    if s.num_passes == state.NUM_PLAYERS:
        s.phase = state.DRAW


@kernel
def _apply_draw(s, player, action, log):
    """Draw a card (3.3)."""
    if action == actions.TAKE_UPCARD:
        effects.take_upcard(s, player, log)
    else:
        effects.draw_from_stock(s, player, log)
    s.num_passes = 0
    s.phase = state.DISCARD


@kernel
def _apply_discard(s, player, action, log):
    """Discard a card, or knock (3.3, 4.1)."""
    if action >= actions.KNOCK_0:
        _knock(s, player, action, log)
        return
    effects.discard(s, player, action, log)
    s.taken = state.NO_CARD
    s.current_player = 1 - player
    if s.num_upcard_draws >= s.rules.max_upcard_draws:
        s.phase = state.HAND_OVER
    elif s.num_stock > s.rules.last_stock_cards:
        s.phase = state.DRAW
    else:
        s.phase = state.WALL if s.rules.wall_knock else state.HAND_OVER


@kernel
def _apply_wall(s, player, action, log):
    """Knock with the last discard, or let the hand be void (3.8)."""
    if action == actions.PASS:
        ev.log_note(log, table.PASSES, player, 0)
        s.phase = state.HAND_OVER
    else:
        effects.take_upcard(s, player, log)
        _knock(s, player, action, log)


@kernel
def _knock(s, player, action, log):
    """Knock with a discard, or go big gin without one, and show the hand (4.1 to 4.5)."""
    ev.log_note(log, table.KNOCKS, player, 0)
    s.knocker = player
    if action == actions.BIG_GIN:
        s.is_big_gin = 1
    else:
        effects.discard(s, player, action - actions.KNOCK_0, log)
    s.taken = state.NO_CARD
    hand = s.hands[player]
    melds.knocker_arrangement(hand, hand | s.discards, s.melds[player])
    _lay_open(s, player, log)
    s.current_player = 1 - player
    s.phase = state.LAYOFF if s.rules.layoff == state.MANUAL and has_layoffs(s) else state.HAND_OVER


@kernel
def _lay_open(s, player, log):
    """Show a whole hand with its chosen melds (4.5)."""
    effects.lay_melds(s, player, log)
    effects.show_hand(s, player, log)
    ev.log_note(log, table.DEADWOOD, player, melds.hand_points(s.hands[player]))


@kernel
def _apply_layoff(s, player, action, log):
    """Lay off one card of the defender or be done, which is automatic when no other card fits (4.8)."""
    if action == actions.DONE:
        s.phase = state.HAND_OVER
        return
    on_set = action >= actions.LAY_OFF_ON_SET_0
    card = 1 << action - (actions.LAY_OFF_ON_SET_0 if on_set else actions.LAY_OFF_ON_RUN_0)
    effects.lay_off_cards(s, player, _meld_for(s, card, on_set), card, log)
    if not has_layoffs(s):
        s.phase = state.HAND_OVER


@kernel
def _meld_for(s, card, on_set):
    """Return the index of the first of the knocker's sets or runs that `card`, a bit set, fits on."""
    k = 0
    while melds.is_set(s.melds[s.knocker, k]) != on_set or melds.next_layoffs(s.melds[s.knocker, k]) & card == 0:
        k += 1
    return k


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand


@kernel
def _end_hand(s, log):
    """Score the hand, then end the game or deal the next hand (5, 6.1)."""
    dealer = np.int64(s.dealer)
    if s.knocker == ev.NO_PLAYER:
        ev.log_note(log, table.VOID, ev.NO_PLAYER, 0)
    else:
        _defend(s, log)
        points = _knock_points(s)
        if points == 0:
            ev.log_note(log, table.NO_POINTS, ev.NO_PLAYER, 0)
        else:
            winner = np.int64(s.knocker if points > 0 else 1 - s.knocker)
            dealer = 1 - winner
            _give_points(s, winner, abs(points), log)
    if s.rules.match_target == NONE:
        s.terminal = 1
    elif max(s.scores[0], s.scores[1]) >= s.rules.match_target or s.hand_number + 1 >= state.MAX_HANDS:
        _end_match(s, log)
    else:
        _deal_next_hand(s, dealer, log)


@kernel
def _defend(s, log):
    """Lay off for the defender, unless the defender chose or it is not allowed, and show the rest (4.5 to 4.7)."""
    knocker = np.int64(s.knocker)
    defender = 1 - knocker
    hand = s.hands[defender]
    if s.rules.layoff == state.MANUAL or s.hands[knocker] == 0:
        melds.arrangement(hand, s.melds[defender])
    else:
        # All of s.melds[knocker]: nothing fits on the zeros after the last meld.
        melds.best_defence(hand, s.melds[knocker], melds.MAX_MELDS, s.laid_off, s.melds[defender])
        for k in range(melds.MAX_MELDS):
            effects.lay_off_cards(s, defender, k, s.laid_off[k], log)
    _lay_open(s, defender, log)


@kernel
def _knock_points(s):
    """Count the points of the hand: positive for the knocker, negative for the defender (5.1 to 5.6)."""
    own, theirs = melds.hand_points(s.hands[s.knocker]), melds.hand_points(s.hands[1 - s.knocker])
    if s.is_big_gin:
        points = theirs + s.rules.big_gin_bonus
    elif own == 0:
        points = theirs + s.rules.gin_bonus
    elif own < theirs:
        points = theirs - own
    elif own > theirs or s.rules.tie_is_undercut:
        points = theirs - own - s.rules.undercut_bonus
    else:
        points = 0
    return points * (1 + s.doubled)


@kernel
def _give_points(s, winner, points, log):
    """Give the winner of a hand `points` from the opponent, and a box (5.7, 6.3)."""
    ev.log_note(log, table.WINS, winner, points)
    s.rewards[winner] = points
    s.rewards[1 - winner] = -points
    effects.set_score(s, winner, s.scores[winner] + points, log)
    effects.set_hands_won(s, winner, s.hands_won[winner] + 1, log)


@kernel
def _end_match(s, log):
    """Add the bonuses: the returns become the margin of the final totals (6.3 to 6.5)."""
    s.terminal = 1
    margin = match_total(s, 0) - match_total(s, 1)
    s.rewards[0] = margin - s.returns[0]
    s.rewards[1] = -margin - s.returns[1]
    for p in range(state.NUM_PLAYERS):
        ev.log_note(log, table.MATCH_TOTAL, p, match_total(s, p))


@kernel
def match_total(s, player):
    """Count the points of `player` in a match that ends now, bonuses included (6.3, 6.4)."""
    total = s.scores[player] + s.rules.box_bonus * s.hands_won[player]
    if s.scores[player] > s.scores[1 - player]:
        total += s.rules.game_bonus
        is_shutout = s.hands_won[1 - player] == 0
        if is_shutout and s.rules.shutout == state.SHUTOUT_ALL:
            total *= 2
        elif is_shutout and s.rules.shutout == state.SHUTOUT_BONUS:
            total += s.rules.game_bonus
    return total


@kernel
def forfeit(s, player, log):
    """End the game: `player` loses the most that a hand, or a match, can cost (7)."""
    leave(s, player, table.FORFEIT, log)
    effects.show_hand(s, player, log)
    most = _most_points(s.rules, s.rules.shutout, s.rules.match_target != NONE)
    s.rewards[player] = -most - s.returns[player]
    s.rewards[1 - player] = most - s.returns[1 - player]
    s.phase = state.HAND_OVER
    s.terminal = 1


def most_points(rules, shutout, is_match):
    """Return the most points that a player can win or lose (5, 6).

    A match costs most if it is lost by hands of one point and a last hand of most points.

    Args:
        rules: options, or those of a record.
        shutout: SHUTOUT_ALL, SHUTOUT_BONUS or SHUTOUT_OFF.
        is_match: whether a match is played.
    """
    most = state.MAX_DEADWOOD + max(rules.gin_bonus, rules.big_gin_bonus if rules.big_gin else 0)
    limit = 10 if rules.oklahoma else rules.knock_max
    if limit > 0:
        most = max(most, limit + rules.undercut_bonus)
    most *= 2 if rules.oklahoma_spade_double else 1
    if is_match:
        hands = min(rules.match_target, state.MAX_HANDS)
        most += rules.match_target - 1 + hands * rules.box_bonus + rules.game_bonus
        if shutout == state.SHUTOUT_ALL:
            most *= 2
        elif shutout == state.SHUTOUT_BONUS:
            most += rules.game_bonus
    return most


_most_points = kernel(most_points)


@kernel
def least_deadwood(hand):
    """Count the least deadwood of up to ten cards, or of eleven cards after the best discard (1.4)."""
    eleventh = hand
    for _ in range(state.HAND_SIZE):
        eleventh &= eleventh - 1
    return melds.min_deadwood_after_discard(hand) if eleventh else melds.min_deadwood(hand)


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` has not seen: the opponent's hidden cards and the stock."""
    begin_world(s, seed)
    opponent = 1 - player
    hidden = s.hands[opponent] & ~s.known[opponent]
    s.hands[opponent] ^= hidden
    first = NUM_CARDS - np.int64(s.num_stock)
    lowest = first  # deck[lowest:] becomes the hidden cards and the stock; dealt cards have left room below it
    while hidden:
        lowest -= 1
        s.deck[lowest] = lowest_card(hidden)
        hidden &= hidden - 1
    canonical_shuffle(s, s.deck, lowest, NUM_CARDS)
    for place in range(lowest, first):
        s.hands[opponent] |= 1 << s.deck[place]
        s.deck[place] = state.NO_CARD
    _redeal_last_hand(s, player)


@kernel
def _redeal_last_hand(s, player):
    """Re-deal the unseen cards of the opponent in the previous hand, if it was void (8.2)."""
    opponent = 1 - player
    unseen = s.last_hands[opponent] & ~s.last_known[opponent]
    s.last_hands[opponent] ^= unseen
    left = ALL_CARDS & ~(s.last_hands[player] | s.last_hands[opponent] | s.last_discards)
    while unseen:
        unseen &= unseen - 1
        rest = left
        for _ in range(random_below(s.rng, count_bits(left))):
            rest &= rest - 1
        card = rest & -rest
        left ^= card
        s.last_hands[opponent] |= card
