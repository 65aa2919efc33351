"""Rules of Ristiseiska: the course of a game. Paragraph numbers are those of rules.md.

Legal actions are in actions.py, moves of cards in effects.py, what is known of hidden cards in knowledge.py and
worlds.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.rng import random_below, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.ristiseiska import actions, effects, knowledge, state, table
from cardenvs.games.ristiseiska.state import (
    ACES_AND_KINGS,
    FIRST_CARD,
    FIRST_OUT,
    NO_MATCH,
    NO_PLAYER,
    NUM_CARDS,
    all_points,
    begs_to_stall,
    card_points,
    fitting,
    target_of,
)
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.matches import leave, pay_stake

DRAW = 1  # chance source: cards drawn from hands
_all_points = kernel(all_points)


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first hand (2)."""
    ev.log_create(log, table.NEW_DECK, table.STOCK, NUM_CARDS)
    s.dealer = s.rules.dealer
    _begin_hand(s, given, log)


@kernel
def _begin_hand(s, given, log):
    """Deal; the player with 7♣ begins, which all see (2, 3.1)."""
    s.num_hands += 1
    ev.log_set(log, table.NEW_HAND, ev.NO_PLAYER, table.NUM_HANDS, s.num_hands)
    ev.log_set(log, table.IS_DEALER, s.dealer, table.DEALER, s.dealer)
    effects.clear_table(s, log)
    starter = effects.deal_hands(s, given, log)
    ev.log_reveal(log, table.STARTS, starter, FIRST_CARD, table.HAND + starter, 1, ev.EVERYBODY)
    for p in range(s.rules.num_players):
        if p != starter:
            s.known[p, starter] = np.int64(1) << FIRST_CARD
    _begin_turn(s, starter)


# ---------------------------------------------------------------------------------------------------------------
# Turns


@kernel(inline=True)
def _begin_turn(s, player):
    s.phase = state.PLAY
    s.beggar = NO_PLAYER
    s.current_player = player


@kernel
def _end_turn(s, player, log):
    """Go on to the next player with cards, or end a hand in which begging goes round in a circle (4.8, 5.3)."""
    s.num_turns = min(s.num_turns + 1, s.rules.num_players)
    if s.num_begs == begs_to_stall(s.rules):
        ev.log_note(log, table.IS_STALLED, ev.NO_PLAYER, s.num_begs)
        _end_hand(s, log)
    else:
        _begin_turn(s, _next_with_cards(s, player, 1))


@kernel
def _next_with_cards(s, player, step):
    """Return the nearest player with cards after `player`, or before if `step` is one less than the players."""
    n = s.rules.num_players
    other = np.int64(wrap(player + step, n))
    while s.hand_sizes[other] == 0:
        other = np.int64(wrap(other + step, n))
    return other


@kernel
def apply_action(s, action, log):
    """Apply a legal action of the player to act and go on to the next decision."""
    player = np.int64(s.current_player)
    if action == actions.BEG:
        _beg(s, player, log)
    elif action == actions.STOP:
        ev.log_note(log, table.STOPS, player, 0)
        _end_turn(s, player, log)
    elif s.phase == state.GIVE:
        _give(s, player, np.int64(s.beggar), action, table.GIVES, log)
    else:
        _play(s, player, action, log)


@kernel
def _play(s, player, card, log):
    """Play a card, and perhaps another one after an ace or a king (4.1, 4.7)."""
    effects.play_card(s, player, card, log)
    if s.hand_sizes[player] == 0:
        if not _is_over_without(s, player, log):
            _end_turn(s, player, log)
    elif s.rules.extra and ACES_AND_KINGS >> card & 1:
        _offer_another(s, player, log)
    else:
        _end_turn(s, player, log)


@kernel
def _offer_another(s, player, log):
    """Ask for another card if one fits; the others see whether one does (4.7)."""
    if s.hands[player] & fitting(s):
        knowledge.note_has(s, player)
        s.phase = state.MORE
        s.beggar = NO_PLAYER
    else:
        knowledge.note_lacks(s, player)
        _end_turn(s, player, log)


@kernel
def _is_over_without(s, player, log):
    """Note that a player has no cards left, and end the hand if it is over; return whether it is (5.1, 5.2)."""
    effects.go_out(s, player, log)
    if s.rules.end != FIRST_OUT and s.num_out < s.rules.num_players - 1:
        return False
    _end_hand(s, log)
    return True


# ---------------------------------------------------------------------------------------------------------------
# Begging


@kernel
def _beg(s, player, log):
    """Beg for a card, or pass (4.2 to 4.5)."""
    knowledge.note_lacks(s, player)
    effects.set_begs(s, s.num_begs + 1, log)
    giver = _giver_to(s, player)
    if giver == NO_PLAYER:
        if s.rules.beg == state.TOKEN and not _is_too_early(s):
            effects.set_token(s, player, table.TAKES_TOKEN, log)
        else:
            ev.log_note(log, table.PASSES, player, 0)
        _end_turn(s, player, log)
        return
    ev.log_note(log, table.ASKS, player, 0)
    if s.hand_sizes[giver] == 1 and not s.rules.give_last:
        ev.log_note(log, table.KEEPS, giver, 0)
        _end_turn(s, player, log)
    elif s.rules.beg == state.GIVER:
        s.phase = state.GIVE
        s.beggar = player
        s.current_player = giver
    else:
        _give(s, giver, player, _draw_from(s, giver), table.DRAWS, log)


@kernel(inline=True)
def _is_too_early(s):
    """Return whether nobody begs yet (4.4)."""
    return not s.rules.beg_first_round and s.num_turns < s.rules.num_players


@kernel
def _giver_to(s, player):
    """Return who gives a card to `player`, or NO_PLAYER (4.2 to 4.4)."""
    if (s.rules.beg != state.GIVER and s.rules.beg != state.RANDOM) or _is_too_early(s):
        return np.int64(NO_PLAYER)
    return _next_with_cards(s, player, 1 if s.rules.beg_from else s.rules.num_players - 1)


@kernel
def _draw_from(s, giver):
    """Draw a card at random from a hand (4.2).

    The stream depends on the hand, too, as if it were shuffled first: the same seed draws other places of other hands.
    """
    cards = s.hands[giver]
    start_stream(s, DRAW, cards ^ np.int64(s.num_draws) << NUM_CARDS)
    s.num_draws += 1
    for _ in range(random_below(s.rng, s.hand_sizes[giver])):
        cards &= cards - 1
    return lowest_card(cards)


@kernel
def _give(s, giver, player, card, event, log):
    """Give a card; the beggar plays it if that is a rule, or the turn ends (4.2, 4.5, 4.6)."""
    effects.move_gift(s, giver, player, card, event, log)
    if s.hand_sizes[giver] == 0 and _is_over_without(s, giver, log):
        return
    if not s.rules.play_begged:
        _end_turn(s, player, log)
    elif fitting(s) >> card & 1:
        _begin_turn(s, player)
        s.begged = card
        knowledge.note_has(s, player)
    else:
        knowledge.note_lacks(s, player)
        _end_turn(s, player, log)


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand, and of the game


@kernel
def _end_hand(s, log):
    """Show and count the hands, and deal again or end the game (5, 6, 7)."""
    ev.log_note(log, table.ENDS, ev.NO_PLAYER, 0)
    effects.show_all(s, log)
    is_over = False
    for p in range(s.rules.num_players):
        s.scores[p] += hand_points(s, p)
        is_over = is_over or s.scores[p] >= target_of(s.rules)
        ev.log_set(log, table.NEW_SCORE, p, table.SCORE + p, s.scores[p])
    if s.rules.match_target != NO_MATCH:
        if is_over:
            _end_match(s, log)
        else:
            effects.gather_cards(s, log)
            s.dealer = wrap(s.dealer + 1, s.rules.num_players)
            _begin_hand(s, NO_DECK, log)
        return
    if s.rules.end == FIRST_OUT:
        _pay_points(s)
    else:
        _pay_places(s, NO_PLAYER)
    s.terminal = 1


@kernel
def hand_points(s, player):
    """Return the penalty points of a player: of the hand, and of the token (6.1, 6.2)."""
    points = np.int64(s.rules.token_points) if s.token == player else np.int64(0)
    cards = s.hands[player]
    while cards:
        points += card_points(s.rules, lowest_card(cards))
        cards &= cards - 1
    return points


@kernel
def _pay_points(s):
    """Pay what a player's points are below the mean (6.3)."""
    n, total = s.rules.num_players, np.int64(0)
    for p in range(n):
        total += s.scores[p]
    for p in range(n):
        s.rewards[p] = total / n - s.scores[p]


@kernel
def _pay_places(s, last):
    """Pay from 1 to 0 by places; players with cards share those that are left, except for `last`, who gets 0 (6.4)."""
    n = s.rules.num_players
    shared = (s.num_out + n - 1 - (last != NO_PLAYER)) / 2
    for p in range(n):
        place = s.place[p] if s.place[p] >= 0 else shared
        s.rewards[p] = 0 if p == last else 1 - place / (n - 1)


@kernel
def _end_match(s, log):
    """Each player pays an equal part of 1, except for those with fewest points, who share it (7.2)."""
    n, level = s.rules.num_players, 0
    lowest = s.scores[0]
    for p in range(1, n):
        lowest = min(lowest, s.scores[p])
    for p in range(n):
        level += s.scores[p] == lowest
    for p in range(n):
        if s.scores[p] == lowest:
            s.rewards[p] = (n / level - 1) / (n - 1)
            ev.log_note(log, table.WINS, p, 0)
        else:
            s.rewards[p] = -1 / (n - 1)
    s.terminal = 1


@kernel
def forfeit(s, player, log):
    """End the game: `player` loses the most that a hand can cost, the last place, or the match (8.1)."""
    n = s.rules.num_players
    leave(s, player, table.FORFEITS, log)
    if s.rules.match_target != NO_MATCH:
        pay_stake(s, player, 1 / (n - 1), n)
    elif s.rules.end == FIRST_OUT:
        pay_stake(s, player, _all_points(s.rules) * (n - 1) / n, n)
    else:
        _pay_places(s, player)
        s.terminal = 1


# ---------------------------------------------------------------------------------------------------------------
# Sizes


def max_length(options):
    """Return a bound on the number of actions.

    Before, between and after the cards played there are at most `stall` rounds of begs, each of which may need a gift;
    there may be a stop after each ace and king. In each hand of a match somebody is left with a point at least.
    """
    n = options.num_players
    hand = NUM_CARDS + 8 + (NUM_CARDS + 1) * 2 * n * options.stall
    return hand * (1 if options.match_target == "none" else n * int(options.match_target))


def returns(options):
    """Return what is paid (6.3, 6.4, 7.2)."""
    n = options.num_players
    if options.match_target != "none":
        return win_or_loss(n)
    if options.end == "places":
        return Returns(0, 1, n / 2, "points", meaning="1 for the first place, 0 for the last")
    most = int(all_points(options))
    return Returns(-most * (n - 1) / n, most / n, 0, "points")
