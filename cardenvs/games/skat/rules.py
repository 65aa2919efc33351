"""Rules of Skat. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.events import NO_PLAYER
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import Returns
from cardenvs.games.skat import state
from cardenvs.games.skat.auction import (
    announce,
    begin_auction,
    count_passed,
    explain_announcement,
    explain_game,
    explain_word,
    lay_away,
    list_announcements,
    list_games,
    list_words,
    name_game,
    play_hand,
    set_soloist,
    speak,
    take_skat,
)
from cardenvs.games.skat.cards import TRICKS, points_of
from cardenvs.games.skat.scoring import charge_leaver, most_lost, score_game, score_ramsch
from cardenvs.games.skat.state import (
    ANNOUNCE_0,
    AUCTION,
    GRAND,
    HAND,
    HAND_SIZE,
    LAY_AWAY,
    NAME_0,
    NAME_GAME,
    NO_GAME,
    NOTHING,
    NULL,
    NUM_PLAYERS,
    NUM_TRICKS,
    NUM_VALUES,
    OPENSPIEL,
    OUVERT,
    PASS,
    PLAY,
    RAMSCH,
    SKAT,
    SKAT_SIZE,
    TAKE,
)
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.deck import next_card
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import leave
from cardenvs.kits.trick_deals import take_trick

_begin_deal, _end_deal = state.DEALS.begin, state.DEALS.end
_playable, _explain_card, _take_turn, _gather = TRICKS.playable, TRICKS.explain, TRICKS.take_turn, TRICKS.gather


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal for the first time; player 0 is forehand (2.1)."""
    s.dealer = NUM_PLAYERS - 1
    _deal_cards(s, given, log)


@kernel
def _deal_cards(s, given, log):
    """Deal ten cards to each player and two to the skat, and begin the auction (2.2, 3.1)."""
    _begin_deal(s, HAND_SIZE, given, log)
    for _ in range(SKAT_SIZE):
        card = next_card(s)
        s.skat |= np.int64(1) << card
        ev.log_move(log, state.TO_SKAT, ev.NO_PLAYER, card, state.DECK_PILE, state.SKAT_PILE, ev.NOBODY)
    _reset(s, log)
    begin_auction(s)


@kernel
def _reset(s, log):
    """Begin without bids, soloist, game and tricks."""
    s.soloist, s.game, s.took_skat, s.announced, s.phase = NO_PLAYER, NO_GAME, 0, NOTHING, AUCTION
    ev.log_set(log, state.RESETS, ev.NO_PLAYER, state.SOLOIST, NO_PLAYER)
    ev.log_set(log, state.RESETS, ev.NO_PLAYER, state.GAME, 0)
    ev.log_set(log, state.RESETS, ev.NO_PLAYER, state.ANNOUNCED, 0)
    for p in range(NUM_PLAYERS):
        s.lacks[p] = s.points[p] = s.tricks_won[p] = s.bids[p] = s.passed[p] = 0
        ev.log_set(log, state.RESETS, ev.NO_PLAYER, state.BID + p, 0)
        ev.log_set(log, state.RESETS, ev.NO_PLAYER, state.POINTS + p, 0)


# ---------------------------------------------------------------------------------------------------------------
# What is legal, and why not


@kernel
def legal_actions(s, out):
    """List words, games, announcements or cards."""
    if s.phase == PLAY:
        return list_bits(_playable(s, s.current_player), 0, out, 0)
    if s.phase == AUCTION:
        return list_words(s, out)
    if s.phase == LAY_AWAY:
        return list_bits(s.hands[s.current_player], 0, out, 0)
    if s.phase == SKAT:
        out[0], out[1] = TAKE, HAND
        return 2
    return list_games(s, out) if s.phase == NAME_GAME else list_announcements(s, out)


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else one of the codes of state.py."""
    if s.phase == AUCTION:
        return explain_word(s, action)
    if s.phase == SKAT:
        return 0 if action in (TAKE, HAND) else state.TAKE_OR_HAND
    if s.phase == NAME_GAME:
        return explain_game(s, action)
    if s.phase == state.ANNOUNCE:
        return explain_announcement(s, action)
    if action >= PASS:
        return state.MUST_LAY_AWAY if s.phase == LAY_AWAY else state.MUST_PLAY
    return _explain_card(s, s.current_player, action)


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel
def apply_action(s, action, log):
    """Speak, take the skat or leave it, lay a card away, name a game, announce, or play a card."""
    if s.phase == PLAY:
        _play(s, action, log)
    elif s.phase == AUCTION:
        _speak(s, action, log)
    elif s.phase == LAY_AWAY:
        lay_away(s, action, log)
    elif action == TAKE:
        take_skat(s, log)
    elif action == HAND:
        play_hand(s, log)
    elif action < ANNOUNCE_0:
        name_game(s, action - NAME_0, log)
    else:
        announce(s, action - ANNOUNCE_0, log)


@kernel(inline=True)
def _speak(s, action, log):
    """Say a word; the auction may end with a soloist, or because all have passed (3.4, 3.5)."""
    soloist = speak(s, action, log)
    if soloist != NO_PLAYER:
        set_soloist(s, soloist, log)
        if s.rules.bidding == OPENSPIEL:
            take_skat(s, log)
            name_game(s, action - NAME_0, log)
            s.phase, s.current_player = LAY_AWAY, soloist
    elif count_passed(s) == NUM_PLAYERS:
        _all_pass(s, log)


@kernel(inline=True)
def _all_pass(s, log):
    """Throw the deal in, or play ramsch (3.5)."""
    if s.rules.all_pass == RAMSCH:
        ev.log_note(log, state.PLAYS_RAMSCH, ev.NO_PLAYER, 0)
        s.game, s.phase, s.current_player = GRAND, PLAY, s.leader
        ev.log_set(log, state.NAMES, ev.NO_PLAYER, state.GAME, GRAND + 1)
    else:
        ev.log_note(log, state.ALL_PASS, ev.NO_PLAYER, 0)
        _deal_again(s, log)


@kernel(inline=True)
def _play(s, card, log):
    """Play a card; the last one of a trick ends it (5)."""
    winner = _take_turn(s, card, log)
    if winner == NO_PLAYER:
        return
    points = np.int64(0)
    for p in range(NUM_PLAYERS):
        points += points_of(s.played[p, s.trick - 1])
    s.points[winner] += points
    s.tricks_won[winner] += 1
    take_trick(s, winner)
    _gather(s, winner, log)
    ev.log_note(log, state.WINS_TRICK, winner, points)
    ev.log_set(log, state.HAS_POINTS, winner, state.POINTS + winner, s.points[winner])
    if s.trick == NUM_TRICKS or (s.game == NULL and winner == s.soloist):
        _end_play(s, winner, log)


@kernel
def _end_play(s, last, log):
    """Show the skat, and score; player `last` has won the last trick (5.5, 6, 7)."""
    s.skat_is_shown = 1
    cards = s.skat
    while cards:
        ev.log_reveal(log, state.SHOWS_SKAT, ev.NO_PLAYER, lowest_card(cards), state.SKAT_PILE, 1, ev.EVERYBODY)
        cards &= cards - 1
    if s.soloist == NO_PLAYER:
        score_ramsch(s, last, log)
    else:
        score_game(s, log)
    _deal_again(s, log)


@kernel
def _deal_again(s, log):
    """Let the next player deal, or end the game (2.3)."""
    s.terminal = s.num_deals == s.rules.deals
    if s.terminal:
        return
    s.last_open = s.hands[s.soloist] if s.announced == OUVERT else 0
    for p in range(NUM_PLAYERS):
        s.last_hands[p], s.hands[p] = s.hands[p], 0
    s.last_skat, s.skat, s.skat_is_shown = s.skat if s.skat_is_shown else 0, 0, 0
    _end_deal(s, log)
    _deal_cards(s, NO_DECK, log)


@kernel
def forfeit(s, player, log):
    """End the game: `player` pays the most that staying could cost (8.1)."""
    leave(s, player, state.FORFEITS, log)
    charge_leaver(s, player)
    s.terminal = 1


# ---------------------------------------------------------------------------------------------------------------
# Spaces


num_actions = state.NUM_ACTIONS
max_legal = 1 + NUM_VALUES  # pass, and all values
_MOST_WORDS = 2 * NUM_VALUES + NUM_PLAYERS  # each value named and accepted once, and all pass


def max_length(options):
    """Return the number of decisions: words, the skat, two cards laid away, a game, an announcement, and all cards."""
    is_by_value = options.bidding == "value"
    words = _MOST_WORDS + 3 if is_by_value else NUM_PLAYERS
    return options.deals * (words + SKAT_SIZE + NUM_PLAYERS * NUM_TRICKS)


def returns(options):
    """Return the bounds: the most that can be lost in each deal; a soloist wins at most 264, or 314, less than half."""
    by_points = options.bidding == "openspiel"
    most = options.deals * most_lost(by_points, options.scoring == "seeger_fabian")
    return Returns(-most, most if by_points else most / 2, 0, "points above 60 in 120" if by_points else "points")
