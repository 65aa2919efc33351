"""Rules of Uno: the course of a game. Paragraph numbers are those of rules.md.

Legal actions are in legal.py, the effects of a move in effects.py, what is known of hidden cards in knowledge.py and
worlds.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.rng import DEAL, random_below, shuffle_rest, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.uno import actions, effects, knowledge, state, table
from cardenvs.games.uno.cards import (
    ALL_KINDS,
    COLOUR_SETS,
    COLOURED,
    COPIES,
    DECK_POINTS,
    DECK_SIZE,
    DRAW_TWO,
    NUM_COLOURS,
    NUM_KINDS,
    NUM_SYMBOLS,
    POINTS,
    REVERSE,
    SEVEN,
    SKIP,
    WILD,
    WILD_BIT,
    WILD_FOUR,
    WILD_FOUR_BIT,
    WILD_FOUR_SYMBOL,
    WILD_SYMBOL,
    ZERO,
)
from cardenvs.games.uno.legal import matching, playable
from cardenvs.kits.matches import leave, pay_best, pay_scores, pay_stake, pay_winner
from cardenvs.kits.shedding import next_of_stock, next_player

RANDOM_COLOUR = 2  # chance source: the colour of a wild card that nobody names (8)
_PENALTY = 2  # cards for a player who is caught without having said Uno (7.6)
_CHALLENGER_PENALTY = 2  # more cards after a challenge that fails (4.6)


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first round; the last player is the dealer (2.1)."""
    ev.log_create(log, table.NEW_DECK, table.STOCK, DECK_SIZE)
    s.dealer = s.rules.num_players - 1
    _begin_round(s, given, log)


@kernel
def _begin_round(s, given, log):
    """Shuffle, deal, and turn up the first card (2)."""
    effects.clear_table(s)
    start_stream(s, DEAL, s.num_hands)
    shuffle_rest(s, s.deck, DECK_SIZE, given)
    s.num_hands += 1
    ev.log_set(log, table.NEW_ROUND, ev.NO_PLAYER, table.ROUND, s.num_hands)
    ev.log_set(log, table.IS_DEALER, s.dealer, table.DEALER, s.dealer)
    s.num_turns = 0
    s.author = state.NO_PLAYER
    effects.set_owed(s, 0, log)
    effects.set_direction(s, 1, log)
    effects.deal_hands(s, log)
    kind = effects.turn_up(s, log)
    while kind == WILD_FOUR:
        effects.put_back(s, log)
        kind = effects.turn_up(s, log)
    _open(s, kind, log)


@kernel
def _open(s, kind, log):
    """Let the first card take effect (2.3, 8.4)."""
    n = s.rules.num_players
    first = wrap(s.dealer + 1, n)
    if kind < WILD:
        effects.set_colour(s, ev.NO_PLAYER, kind // COLOURED, table.NEW_COLOUR, log)
    elif s.rules.rlcard:
        effects.set_colour(s, ev.NO_PLAYER, _random_colour(s), table.NEW_COLOUR, log)
    s.old_colour = s.colour
    if s.symbol == WILD_SYMBOL and not s.rules.rlcard:
        s.phase = state.NAME
        s.current_player = first
        return
    if s.symbol == REVERSE:
        effects.set_direction(s, -1, log)
        _begin_turn(s, s.dealer)
    elif s.symbol == SKIP:
        _skip(s, first, log)
    elif s.symbol == DRAW_TWO:
        effects.draw_cards(s, first, 2, log)
        if s.rules.rlcard:
            _begin_turn(s, first)
        else:
            _skip(s, first, log)
    else:
        _begin_turn(s, first)


@kernel(inline=True)
def _random_colour(s):
    start_stream(s, RANDOM_COLOUR, s.num_random_colours)
    s.num_random_colours += 1
    return random_below(s.rng, NUM_COLOURS)


# ---------------------------------------------------------------------------------------------------------------
# Turns


@kernel(inline=True)
def _begin_turn(s, player):
    """Let `player` play or draw (4.1); `apply_action` ends the round if there have been too many turns."""
    s.num_turns += 1
    s.phase = state.PLAY
    s.current_player = player


@kernel(inline=True)
def _skip(s, player, log):
    """Pass over `player`."""
    ev.log_note(log, table.IS_SKIPPED, player, 0)
    _begin_turn(s, next_player(s, player))


@kernel
def apply_action(s, action, log):
    """Apply a legal action of the player to act and go on to the next decision."""
    _act(s, np.int64(s.current_player), action, log)
    if s.num_turns > s.rules.max_turns:
        s.num_turns -= 1
        ev.log_note(log, table.NO_WINNER, ev.NO_PLAYER, s.num_turns)
        _end_round(s, state.NO_PLAYER, log)


@kernel(inline=True)
def _act(s, player, action, log):
    if action < actions.DRAW:
        _play(s, player, action, log)
    elif action == actions.DRAW:
        if s.phase == state.STACK:
            _draw_stack(s, player, log)
        elif s.rules.rlcard:
            _draw_as_rlcard(s, player, log)
        else:
            _draw(s, player, log)
    elif action == actions.PASS:
        _pass(s, player, log)
    elif action == actions.ACCEPT:
        effects.draw_cards(s, player, 4, log)
        _skip(s, player, log)
    elif action == actions.CHALLENGE:
        _challenge(s, player, log)
    elif action < actions.SAY_UNO:
        effects.set_colour(s, player, action - actions.NAME_0, table.NAMES, log)
        _begin_turn(s, player)
    elif action == actions.SAY_UNO:
        ev.log_note(log, table.SAYS_UNO, player, 0)
        _ask_to_jump_in(s, log)
    elif action == actions.CATCH:
        ev.log_note(log, table.IS_CAUGHT, s.author, player)
        effects.draw_cards(s, s.author, _PENALTY, log)
        _ask_to_jump_in(s, log)
    else:
        effects.swap_hands(s, player, action - actions.SWAP_0, log)
        _begin_turn(s, next_player(s, player))


@kernel
def _pass(s, player, log):
    """Keep the card drawn, say nothing, do not catch, or do not jump in."""
    if s.phase == state.DRAWN:
        effects.keep_drawn(s, player, log)
        _begin_turn(s, next_player(s, player))
    elif s.phase == state.SAY:
        s.phase = state.CATCH
        s.asked = 1
        s.current_player = next_player(s, player)
    else:
        s.asked += 1
        if s.asked < s.rules.num_players:
            s.current_player = next_player(s, player)
        elif s.phase == state.CATCH:
            _ask_to_jump_in(s, log)
        else:
            _take_effect(s, log)


# ---------------------------------------------------------------------------------------------------------------
# Drawing


@kernel
def _draw(s, player, log):
    """Draw, and ask whether to play the card (4.2, 7.2)."""
    if s.rules.forced_play:
        knowledge.bar_from_hand(s, player, matching(s) | WILD_BIT | WILD_FOUR_BIT)
    barred = np.int64(0)
    if s.rules.draw == state.UNTIL_PLAYABLE:
        fitting = matching(s) | WILD_BIT
        barred = fitting | (WILD_FOUR_BIT if state.may_challenge(s) else np.int64(0))
        while effects.can_draw(s, log) and not _fits(s, player, next_of_stock(s)):
            effects.draw_to_hand(s, player, barred, table.DRAWS_ON, log)
        barred = ALL_KINDS & ~(fitting | WILD_FOUR_BIT)
    if effects.can_draw(s, log):
        effects.draw_one(s, player, barred, log)
        s.phase = state.DRAWN
    else:
        ev.log_note(log, table.NO_CARDS, player, 0)
        _begin_turn(s, next_player(s, player))


@kernel
def _fits(s, player, kind):
    """Return whether `player` could play a card if it were in hand."""
    s.drawn = kind
    fits = playable(s, player) >> kind & 1
    s.drawn = state.NO_CARD
    return fits


@kernel
def _draw_stack(s, player, log):
    """Draw what a stack has grown to (7.1)."""
    number = np.int64(s.owed)
    effects.set_owed(s, 0, log)
    effects.draw_cards(s, player, number, log)
    _skip(s, player, log)


@kernel
def _draw_as_rlcard(s, player, log):
    """Draw a card, which is played at once if it is a wild card or has the colour in force (8.3)."""
    knowledge.bar_from_hand(s, player, matching(s) | WILD_BIT | WILD_FOUR_BIT)
    if not effects.can_draw(s, log):
        ev.log_note(log, table.NO_CARDS, player, 0)
        _begin_turn(s, next_player(s, player))
        return
    kind = next_of_stock(s)
    if kind >= WILD:
        effects.draw_and_play(s, player, log)
        effects.set_colour(s, player, _random_colour(s), table.NEW_COLOUR, log)
        _begin_turn(s, next_player(s, player))
    elif kind // COLOURED == s.colour:
        effects.draw_and_play(s, player, log)
        s.author = player
        _take_effect(s, log)
    else:
        barred = COLOUR_SETS[s.colour] | WILD_BIT | WILD_FOUR_BIT
        effects.draw_to_hand(s, player, barred, table.DRAWS, log)
        _begin_turn(s, next_player(s, player))


# ---------------------------------------------------------------------------------------------------------------
# Playing


@kernel
def _play(s, player, action, log):
    """Play a card, and name a colour if it is a wild one (4.1, 4.5)."""
    kind = actions.kind_played(action)
    colour = action // NUM_SYMBOLS
    allowed, phase = matching(s), s.phase
    if phase == state.DRAWN:
        effects.play_drawn(s, player, log)
    else:
        effects.play_card(s, player, kind, table.JUMPS_IN if phase == state.JUMP else table.PLAYS, log)
    s.author = player
    s.old_colour = s.colour
    if kind == WILD_FOUR and phase != state.STACK:
        if s.rules.rlcard:
            knowledge.bar_from_hand(s, player, allowed | WILD_BIT)
        elif not state.may_challenge(s):
            knowledge.bar_from_hand(s, player, COLOUR_SETS[s.old_colour])
    effects.set_colour(s, player, colour, table.NAMES if kind >= WILD else table.NEW_COLOUR, log)
    if s.rules.stacking != state.NO_STACKS:
        effects.set_owed(s, s.owed + _cards_to_draw(s), log)
    if s.hand_sizes[player] == 0:
        _go_out(s, player, log)
    elif s.hand_sizes[player] == 1 and s.rules.uno_call == state.CALL_ACTION:
        s.phase = state.SAY
        s.current_player = player
    else:
        _ask_to_jump_in(s, log)


@kernel(inline=True)
def _cards_to_draw(s):
    """Return how many cards the last card makes the next player draw (4.4, 4.6)."""
    return 2 if s.symbol == DRAW_TWO else 4 if s.symbol == WILD_FOUR_SYMBOL else 0


@kernel(inline=True)
def _ask_to_jump_in(s, log):
    """Ask all others whether they jump in, if the other copy of the last card has not been discarded (7.5)."""
    kind = np.int64(s.pile[s.num_pile - 1]) if s.num_pile else np.int64(WILD)
    if s.rules.jump_in and kind < WILD and s.discarded[kind] < COPIES[kind]:
        s.phase = state.JUMP
        s.asked = 1
        s.current_player = next_player(s, s.author)
    else:
        _take_effect(s, log)


@kernel
def _take_effect(s, log):
    """Let the last card take effect, and go on to the next decision (4.3 to 4.6, 7.1, 7.4)."""
    player = np.int64(s.author)
    following, symbol = next_player(s, player), s.symbol
    if symbol == SKIP:
        _skip(s, following, log)
    elif symbol == REVERSE:
        effects.set_direction(s, -s.direction, log)
        if s.rules.num_players == 2 and not s.rules.rlcard:
            _skip(s, following, log)
        else:
            _begin_turn(s, next_player(s, player))
    elif symbol in (DRAW_TWO, WILD_FOUR_SYMBOL):
        if s.rules.stacking != state.NO_STACKS:
            s.phase = state.STACK
            s.current_player = following
        elif symbol == WILD_FOUR_SYMBOL and state.may_challenge(s):
            s.phase = state.CHALLENGE
            s.current_player = following
        else:
            _make_draw(s, following, log)
            _skip(s, following, log)
    elif s.rules.seven_zero and symbol == SEVEN:
        _swap_for_seven(s, player, log)
    else:
        if s.rules.seven_zero and symbol == ZERO:
            effects.hand_on(s, log)
        _begin_turn(s, next_player(s, player))


@kernel(inline=True)
def _make_draw(s, player, log):
    """Let `player` draw what the last card says; RLCard makes the draw pile again before it is empty (8.5)."""
    number = _cards_to_draw(s)
    if s.rules.rlcard and s.num_stock < number:
        effects.recycle(s, log)
    effects.draw_cards(s, player, number, log)


@kernel
def _swap_for_seven(s, player, log):
    """Swap hands with the only other player, or ask with whom (7.4)."""
    if s.rules.num_players == 2:
        effects.swap_hands(s, player, 1 - player, log)
        _begin_turn(s, next_player(s, player))
    else:
        s.phase = state.SWAP
        s.current_player = player


@kernel
def _challenge(s, player, log):
    """See the hand of the player of a Wild Draw Four, and let the one who was wrong draw (4.6)."""
    author, colour = np.int64(s.author), np.int64(s.old_colour)
    ev.log_note(log, table.CHALLENGES, player, 0)
    effects.show_hand(s, author, player, log)
    if s.held[author] & COLOUR_SETS[colour]:
        ev.log_note(log, table.IS_GUILTY, author, 0)
        s.guilty[author] |= 1 << colour
        effects.draw_cards(s, author, 4, log)
        _begin_turn(s, player)
    else:
        ev.log_note(log, table.IS_INNOCENT, author, 0)
        knowledge.bar_from_hand(s, author, COLOUR_SETS[colour])
        effects.draw_cards(s, player, 4 + _CHALLENGER_PENALTY, log)
        _skip(s, player, log)


# ---------------------------------------------------------------------------------------------------------------
# The end of a round, and of the game


@kernel
def _go_out(s, player, log):
    """End the round; the next player still draws for the last card (5.1, 5.2)."""
    following = next_player(s, player)
    if s.rules.stacking != state.NO_STACKS:
        effects.draw_cards(s, following, np.int64(s.owed), log)
    else:
        _make_draw(s, following, log)
    ev.log_note(log, table.GOES_OUT, player, 0)
    _end_round(s, player, log)


@kernel
def _end_round(s, winner, log):
    """Show and count the hands, and deal again or end the game (6)."""
    effects.show_all(s, log)
    if winner != state.NO_PLAYER:
        _score(s, winner, log)
    n = s.rules.num_players
    is_over = s.rules.target == NONE or s.num_hands == state.MAX_ROUNDS
    for p in range(n):
        is_over = is_over or s.scores[p] >= s.rules.target
    if is_over:
        _end_game(s, winner, log)
    else:
        effects.gather_cards(s, log)
        s.dealer = wrap(s.dealer + 1, n)
        _begin_round(s, NO_DECK, log)


@kernel
def _end_game(s, winner, log):
    """Pay who has won the round or the match, or the points (6.3, 6.4)."""
    n = s.rules.num_players
    sign = 1 if s.rules.scoring == state.TO_WINNER else -1
    s.terminal = 1
    if s.rules.target != NONE:
        _end_match(s, sign, log)
    elif winner != state.NO_PLAYER:
        pay_winner(s, winner, n)
    if s.rules.returns == state.POINTS:
        pay_scores(s, sign, n)


@kernel
def _end_match(s, sign, log):
    """Pay the player with most points, or fewest if they are bad; players who are level share (6.3)."""
    n = s.rules.num_players
    for p in range(n):
        s.scores[p] *= sign
    best = s.scores[0]
    for p in range(1, n):
        best = max(best, s.scores[p])
    pay_best(s)
    for p in range(n):
        if s.scores[p] == best:
            ev.log_note(log, table.WINS, p, 0)
        s.scores[p] *= sign


@kernel
def _score(s, winner, log):
    """Score the cards left in hands (6.2)."""
    total = np.int64(0)
    for p in range(s.rules.num_players):
        points = hand_points(s, p)
        total += points
        if s.rules.scoring == state.AGAINST and points:
            s.scores[p] += points
            ev.log_set(log, table.NEW_SCORE, p, table.SCORE + p, s.scores[p])
    if s.rules.scoring == state.TO_WINNER:
        s.scores[winner] += total
        ev.log_set(log, table.NEW_SCORE, winner, table.SCORE + winner, s.scores[winner])


@kernel
def hand_points(s, player):
    """Return the points of a hand (1.2)."""
    points = np.int64(0)
    for kind in range(NUM_KINDS):
        points += s.hands[player, kind] * POINTS[kind]
    return points


@kernel
def forfeit(s, player, log):
    """End the game: `player` loses the most that staying could have cost (6.5)."""
    leave(s, player, table.FORFEITS, log)
    rules = s.rules
    by_points, to_winner = rules.returns == state.POINTS, rules.scoring == state.TO_WINNER
    pay_stake(s, player, _most_lost(rules.num_players, by_points, to_winner, rules.target), rules.num_players)


@kernel(inline=True)
def _most_lost(n, by_points, to_winner, target):
    """Return the most that a player can lose (6.5); a `target` below 1 stands for a single round.

    By points, a round gives at most the points of the deck, and before it all players have less than the target. What
    the winner scores is shared among the others; a player's own points count in full.
    """
    if not by_points:
        return 1 / (n - 1)
    return max(target, 1) - 1 + DECK_POINTS / (n - 1 if to_winner else 1)


# ---------------------------------------------------------------------------------------------------------------
# Sizes


def max_length(options):
    """Return a bound on the number of actions.

    In a turn a player names a colour, draws, and plays or passes; says Uno or not, and swaps hands. Another one accepts
    or challenges. All others may be asked to catch the player and to jump in. Cards added to a stack, and cards with
    which players jump in, are on top of that, but there are at most as many of them as there are cards in the game
    between two turns.
    """
    others = options.num_players - 1
    play = 1 + others * ((options.uno_call == "action") + options.jump_in) + (options.uno_call == "action")
    plays = DECK_SIZE if options.stacking != "none" or options.jump_in else 1
    turn = 3 + options.seven_zero + plays * play
    return options.max_turns * turn * (1 if options.target is None else state.MAX_ROUNDS)


def returns(options):
    """Return what is paid (6.4)."""
    n = options.num_players
    if options.returns == "win":
        return win_or_loss(n)
    most = _most_lost(n, True, options.scoring == "winner", options.target or 0)
    high = max(most, (options.target or 1) - 1 + DECK_POINTS)
    return Returns(-most, high, 0, "points")
