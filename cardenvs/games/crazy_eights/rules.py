"""Rules of Crazy Eights: the course of a game. Paragraph numbers are those of rules.md.

Legal actions are in actions.py, moves of cards in effects.py, what is known of hidden cards in knowledge.py and
worlds.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.rng import DEAL, random_below, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.crazy_eights import actions, effects, knowledge, state, table
from cardenvs.games.crazy_eights.state import (
    ANY_SUIT,
    CARD_POINTS,
    EIGHT,
    MAX_HANDS,
    NUM_CARDS,
    NUM_SUITS,
    RANK_OF,
    is_own_penalty,
    num_packs,
    packs_of,
    passes_to_block,
    plays_in_hand,
    points_of,
)
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.matches import goes_on, leave, pay_stake
from cardenvs.kits.shedding import next_player

FIRST_DEALER = 2  # chance source
_NO_EFFECT = -2  # instead of a rank


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first hand (2)."""
    ev.log_create(log, table.NEW_DECK, table.STOCK, packs_of(s.rules) * NUM_CARDS)
    s.dealer = s.rules.dealer
    if s.rules.dealer == NONE:
        start_stream(s, FIRST_DEALER, 0)
        s.dealer = random_below(s.rng, s.rules.num_players)
    _begin_hand(s, given, log)


@kernel
def _begin_hand(s, given, log):
    """Shuffle, deal, turn up the first card, and let it take effect (2, 4.5)."""
    effects.clear_table(s)
    start_stream(s, DEAL, s.num_hands)
    effects.fill_stock(s, given)
    s.num_hands += 1
    ev.log_set(log, table.NEW_HAND, ev.NO_PLAYER, table.NUM_HANDS, s.num_hands)
    ev.log_set(log, table.IS_DEALER, s.dealer, table.DEALER, s.dealer)
    s.num_plays = s.num_passes = 0
    effects.set_owed(s, 0, log)
    effects.set_direction(s, 1, log)
    effects.deal_hands(s, log)
    card = effects.turn_up(s, log)
    while card // NUM_SUITS == EIGHT and s.rules.start_eight == state.REDRAW:
        effects.put_back(s, log)
        card = effects.turn_up(s, log)
    rank = card // NUM_SUITS
    effects.set_suit(s, ev.NO_PLAYER, ANY_SUIT if rank == EIGHT else card % NUM_SUITS, table.NEW_SUIT, log)
    _take_effect(s, np.int64(s.dealer), rank if s.rules.start_special else _NO_EFFECT, log)


# ---------------------------------------------------------------------------------------------------------------
# Turns


@kernel(inline=True)
def _begin_turn(s, player):
    s.phase = state.PLAY
    s.num_drawn = 0
    s.current_player = player


@kernel
def _take_effect(s, player, rank, log):
    """Let a card that `player` has played take effect, and go on to the next turn (4)."""
    if rank == RANK_OF[s.rules.reverse]:
        effects.set_direction(s, -s.direction, log)
    following = next_player(s, player)
    if rank == RANK_OF[s.rules.skip]:
        ev.log_note(log, table.IS_SKIPPED, following, 0)
        following = next_player(s, following)
    elif rank == RANK_OF[s.rules.draw_two] and s.num_stock:
        effects.set_owed(s, s.owed + 2, log)
    _begin_turn(s, following)


@kernel
def apply_action(s, action, log):
    """Apply a legal action of the player to act and go on to the next decision."""
    player = np.int64(s.current_player)
    if action == actions.PASS:
        _pass(s, player, log)
        return
    s.num_passes = 0
    if action < actions.DRAW:
        _play(s, player, action, log)
    elif action >= actions.NAME_0:
        effects.set_suit(s, player, action - actions.NAME_0, table.NAMES, log)
        _begin_turn(s, next_player(s, player))
    elif s.owed:
        _draw_owed(s, player, log)
    else:
        _draw(s, player, log)


@kernel
def _draw(s, player, log):
    """Draw one card, and choose again (3.3)."""
    if not s.rules.draw_when_able:
        knowledge.bar_from_hand(s, player, actions.fitting(s))
    effects.draw_card(s, player, log)
    s.num_drawn += 1


@kernel
def _draw_owed(s, player, log):
    """Draw all that is owed, or as many as there are; the turn ends (4.3, 4.4)."""
    number = np.int64(s.owed)
    effects.set_owed(s, 0, log)
    while number and s.num_stock:
        effects.draw_card(s, player, log)
        number -= 1
    if s.rules.openspiel and s.num_stock == 0 and number == 0:  # 8.3
        s.num_passes = 1
    _begin_turn(s, next_player(s, player))


@kernel
def _pass(s, player, log):
    """End the turn, and the hand if it is blocked (3.4, 5.2)."""
    ev.log_note(log, table.PASSES, player, 0)
    s.num_passes = 0 if s.num_stock else s.num_passes + 1
    if s.num_passes == passes_to_block(s.rules):
        ev.log_note(log, table.IS_BLOCKED, ev.NO_PLAYER, s.num_passes)
        _end_hand(s, log)
    else:
        _begin_turn(s, next_player(s, player))


@kernel
def _play(s, player, card, log):
    """Play a card, and name a suit if it is an eight (3.2, 5.1, 5.3)."""
    effects.play_card(s, player, card, log)
    effects.set_suit(s, ev.NO_PLAYER, card % NUM_SUITS, table.NEW_SUIT, log)
    s.num_plays += 1
    if s.hand_sizes[player] == 0:
        ev.log_note(log, table.GOES_OUT, player, 0)
        _end_hand(s, log)
    elif s.num_plays == plays_in_hand(s.rules):
        ev.log_note(log, table.IS_LONG, ev.NO_PLAYER, s.num_plays)
        _end_hand(s, log)
    else:
        effects.refill(s, log)
        if card // NUM_SUITS == EIGHT:
            s.phase = state.NAME
        else:
            _take_effect(s, player, card // NUM_SUITS, log)


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand, and of the game


@kernel
def _end_hand(s, log):
    """Show and count the hands, and deal again or end the game (6, 7)."""
    effects.show_all(s, log)
    if s.rules.target == NONE:
        _pay_points(s)
        _score(s, log)
        s.terminal = 1
        return
    _score(s, log)
    sign = -1 if is_own_penalty(s.rules) else 1
    if goes_on(s, sign, s.rules.num_players, MAX_HANDS, table.WINS, table.DRAWN_MATCH, log):
        effects.gather_cards(s, log)
        s.dealer = wrap(s.dealer + 1, s.rules.num_players)
        _begin_hand(s, NO_DECK, log)


@kernel
def _pay_points(s):
    """Pay for a single hand (6.4)."""
    if is_own_penalty(s.rules):
        for p in range(s.rules.num_players):
            s.rewards[p] = -hand_points(s, p)
        return
    lowest, level, total = _lowest_hands(s)
    for p in range(s.rules.num_players):
        points = hand_points(s, p)
        s.rewards[p] = total / level if points == lowest else lowest - points


@kernel
def _lowest_hands(s):
    """Return the points of the lowest hand, how many have them, and by how much all hands are above it (6.2, 6.3).

    The hand of a player who is out counts nothing, less than any other.
    """
    n = s.rules.num_players
    lowest, level, total = hand_points(s, 0), 0, 0
    for p in range(1, n):
        lowest = min(lowest, hand_points(s, p))
    for p in range(n):
        points = hand_points(s, p)
        level += points == lowest
        total += points - lowest
    return lowest, level, total


@kernel
def _score(s, log):
    """Add up points, in whole ones (6.2, 6.3, 7.2)."""
    lowest, level, total = _lowest_hands(s)
    for p in range(s.rules.num_players):
        points = hand_points(s, p)
        if not is_own_penalty(s.rules):
            points = total // level if points == lowest else 0
        if points:
            s.scores[p] += points
            ev.log_set(log, table.NEW_SCORE, p, table.SCORE + p, s.scores[p])


@kernel
def hand_points(s, player):
    """Return the points of a hand (6.1)."""
    points = np.int64(0)
    cards = s.hands[player]
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        points += points_of(s.rules, card) * (1 + (s.doubles[player] >> card & 1))
    return points


@kernel
def forfeit(s, player, log):
    """End the game: `player` loses the most that a hand can cost, or the match (7.4)."""
    n = s.rules.num_players
    leave(s, player, table.FORFEITS, log)
    if s.rules.target != NONE:
        pay_stake(s, player, 1 / (n - 1), n)
        return
    most = np.int64(0)
    for card in range(NUM_CARDS):
        most += points_of(s.rules, card) * packs_of(s.rules)
    if is_own_penalty(s.rules):
        s.rewards[player] = -most
        s.terminal = 1
    else:
        pay_stake(s, player, most, n)


# ---------------------------------------------------------------------------------------------------------------
# Sizes


def max_length(options):
    """Return a bound on the number of actions.

    A card that is drawn was in the first stock, or has been played. After each play a suit may be named. A pass follows
    a draw of the same turn, or finds an empty stock; between two plays there are at most `block_passes` of these.
    """
    plays = options.max_plays or (state.LONG_OPENSPIEL_HAND if options.openspiel else state.LONG_HAND)
    block = options.block_passes or options.num_players + 1
    draws = num_packs(options) * NUM_CARDS + plays
    return (2 * plays + 2 * draws + (plays + 1) * block) * (1 if options.target is None else MAX_HANDS)


def returns(options):
    """Return what is paid (6.4, 7.3)."""
    if options.target is not None:
        return win_or_loss(options.num_players)
    is_openspiel = options.openspiel or options.card_points == "openspiel"
    most = int(CARD_POINTS[int(is_openspiel)].sum()) * num_packs(options)
    if options.openspiel or options.scoring == "own_penalty":
        return Returns(-most, 0, None, "points")
    return Returns(-most, most, 0, "points")
